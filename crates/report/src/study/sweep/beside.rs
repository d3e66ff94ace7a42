//! Published figures beside ours, in words: the same on the terminal and on the page.

use model::StudyRecord;
use model::record::study::{
    Agreement, Bound, Claim, ClaimOrder, Estimate, Published, PublishedPair, PublishedRow, Sweep, Trial,
};

use super::cells;
use crate::figures;
use crate::study::words;

/// Contradictions that are named at most; the others are only counted.
const MAX_NAMED: usize = 6;

/// A row as people read it.
pub(crate) struct Row {
    pub(crate) label: String,
    /// The published value.
    pub(crate) published: String,
    /// Ours, with how many trials there are.
    pub(crate) ours: String,
    pub(crate) interval: String,
    /// The published value as a ratio to the base row's.
    pub(crate) ratio: String,
    pub(crate) ours_ratio: String,
    pub(crate) ratio_interval: String,
}

/// The rows in the order in which they were published.
pub(crate) fn rows(table: &Published) -> Vec<Row> {
    let row = |row: &PublishedRow| Row {
        label: row.label.clone(),
        // Every digit that was printed.
        published: if table.relative { figures::NOTHING.to_string() } else { row.value.to_string() },
        ours: figures::number(row.ours.map(|ours| ours.value)),
        interval: interval(row.ours),
        ratio: bounded(row.bound, ratio(row.ratio)),
        ours_ratio: ratio(row.ours_ratio.map(|ours| ours.value)),
        ratio_interval: ratios(row.ours_ratio),
    };
    table.rows.iter().map(row).collect()
}

/// `8.12`, `up to 8.12`.
fn bounded(bound: Option<Bound>, ratio: String) -> String {
    match bound {
        None => ratio,
        Some(Bound::Least) => format!("at least {ratio}"),
        Some(Bound::Most) => format!("up to {ratio}"),
    }
}

/// `12.1 to 12.9`.
pub(super) fn interval(estimate: Option<Estimate>) -> String {
    ends(estimate, figures::number)
}

fn ratios(estimate: Option<Estimate>) -> String {
    ends(estimate, ratio)
}

/// An interval that reaches ten times as far as its figure on either side is nothing that was measured: two repeats that
/// differ by half come to that.
const FAR_RATIO: f64 = 10.0;
/// What stands for the ends of such a one.
const TOO_WIDE: &str = "over ×10 either way";

/// Both ends as `show` writes them, where they are not too far apart; a dash where they are not known.
pub(super) fn ends(estimate: Option<Estimate>, show: impl Fn(Option<f64>) -> String) -> String {
    match estimate.and_then(|estimate| estimate.low.zip(estimate.high)) {
        Some((low, high)) if high > low * FAR_RATIO * FAR_RATIO => TOO_WIDE.to_string(),
        Some((low, high)) => format!("{} to {}", show(Some(low)), show(Some(high))),
        None => figures::NOTHING.to_string(),
    }
}

/// `0.488`, `1.00`, `12.3`, `0.00556`.
fn ratio(value: Option<f64>) -> String {
    match value.filter(|value| value.is_finite()) {
        None => figures::NOTHING.to_string(),
        Some(value) if value > 0.0 && value < 0.0995 => {
            format!("{value:.0$}", 2 + (-value.log10()).ceil() as usize)
        }
        Some(value) if value < 0.995 => format!("{value:.3}"),
        Some(value) if value < 9.995 => format!("{value:.2}"),
        Some(_) => figures::number(value),
    }
}

/// Of what the ratios are taken.
pub(crate) fn base(table: &Published) -> String {
    match table.base.and_then(|base| table.rows.get(base)) {
        _ if table.of.is_empty() => "Nothing of ours is of this kind.".to_string(),
        Some(row) => format!("Ratios are to {}, on either side.", row.label),
        None if table.relative => "What the published ratios are to was not measured.".to_string(),
        None => "No cell of this table has a figure of ours.".to_string(),
    }
}

/// Whether a row and the base row are ordered as they were published; a dash where they are no pair.
pub(super) fn order_to_base(table: &Published, row: usize) -> &'static str {
    let of_row = |pair: &&PublishedPair| {
        table.base.is_some_and(|base| [(base, row), (row, base)].contains(&(pair.first, pair.second)))
    };
    match table.pairs.iter().find(of_row).map(|pair| pair.says) {
        Some(Agreement::Agrees) => "as published",
        Some(Agreement::Contradicts) => "the other way round",
        Some(Agreement::Open) => "not distinguishable",
        None => figures::NOTHING,
    }
}

/// Whether our order is the published one, and only as far as it can be told.
pub(crate) fn order(table: &Published) -> Vec<String> {
    let measured = table.rows.iter().filter(|row| row.ours.is_some()).count();
    if table.rows.is_empty() || table.of.is_empty() {
        return Vec::new();
    }
    if table.pairs.is_empty() {
        let what = if measured < 2 {
            "Fewer than two of these cells have a figure of ours"
        } else {
            "No two differ in print"
        };
        return vec![format!("{what}: there is no order to compare.")];
    }
    if unknown(&table.pairs) {
        return vec![TOO_FEW.to_string()];
    }
    let count = |says: Agreement| table.pairs.iter().filter(|pair| pair.says == says).count();
    let (agree, contrary, open) =
        (count(Agreement::Agrees), count(Agreement::Contradicts), count(Agreement::Open));
    let pairs = table.pairs.len();
    let mut sentences = vec![format!(
        "Order: of {pairs} pair{} {agree} as published, {contrary} the other way round, {open} not distinguishable \
         (95 %, for all pairs at once).",
        if pairs == 1 { "" } else { "s" }
    )];
    let contrary = table.pairs.iter().filter(|pair| pair.says == Agreement::Contradicts);
    let label = |row: usize| table.rows.get(row).map_or("?", |row| row.label.as_str());
    sentences.extend(contrary.take(MAX_NAMED).map(|pair| {
        format!(
            "The other way round: {} against {} is {} here ({}) and {} in print.",
            label(pair.second),
            label(pair.first),
            words::change(pair.ours.value),
            words::ends(pair.ours.low.zip(pair.ours.high)),
            pair.published.map_or_else(|| figures::NOTHING.to_string(), words::change)
        )
    }));
    sentences
}

/// Cells that were measured and have nothing to stand beside a published value, and why; nothing where all have.
pub(crate) fn without(record: &StudyRecord, table: &Published) -> Vec<String> {
    let figures = |row: &PublishedRow| {
        let valid = record.trials.iter().filter(|trial| Some(trial.arm) == row.cell && trial.valid());
        let figure = |trial: &Trial| Some(table.figure.of(trial.measured.as_ref()?)?.value);
        valid.map(figure).collect::<Vec<Option<f64>>>()
    };
    // A search for a load line says itself why there is none.
    let empty = table.rows.iter().filter(|row| row.ours.is_none() && table.figure.name != "load_line");
    let empty = empty.map(|row| (row, figures(row))).filter(|(_, figures)| !figures.is_empty());
    let (zero, absent): (Vec<_>, Vec<_>) =
        empty.partition(|(_, figures)| figures.iter().any(Option::is_some));
    let labels = |rows: &[(&PublishedRow, Vec<Option<f64>>)]| {
        rows.iter().map(|(row, _)| row.label.as_str()).collect::<Vec<_>>().join("; ")
    };
    let of = &table.of;
    let absent_words =
        (!absent.is_empty()).then(|| format!("There is no {of} in the runs of {}.", labels(&absent)));
    let zero_words = (!zero.is_empty())
        .then(|| format!("Our {of} is 0, of which there is no ratio, for {}.", labels(&zero)));
    absent_words.into_iter().chain(zero_words).collect()
}

const TOO_FEW: &str = "Order: too few valid trials to know how far repeats differ, and nothing is said.";

fn unknown(pairs: &[PublishedPair]) -> bool {
    pairs.iter().all(|pair| pair.ours.low.is_none())
}

/// What was said in words, and what our cells say of it.
pub(crate) fn claims(record: &StudyRecord, sweep: &Sweep, table: &Published) -> Vec<(String, String)> {
    let unit = &table.unit;
    table
        .claims
        .iter()
        .map(|claim| (claim.says.clone(), finding(record, sweep, claim, (&table.of, unit))))
        .collect()
}

fn finding(record: &StudyRecord, sweep: &Sweep, claim: &Claim, (of, unit): (&str, &str)) -> String {
    if claim.cells.len() < 2 {
        return "This form of the study does not have these cells.".to_string();
    }
    if claim.pairs.is_empty() {
        return "Fewer than two of these cells have a figure of ours.".to_string();
    }
    if unknown(&claim.pairs) {
        return "Too few valid trials to know how far repeats differ, and nothing is said.".to_string();
    }
    let label = |cell: usize| label(record, sweep, claim, cell);
    let against = |pair: &PublishedPair| {
        format!(
            "{} against {} is {} ({})",
            label(pair.second),
            label(pair.first),
            words::change(pair.ours.value),
            words::ends(pair.ours.low.zip(pair.ours.high))
        )
    };
    let of_kind = |says: Agreement| claim.pairs.iter().filter(move |pair| pair.says == says);
    let contrary: Vec<String> = of_kind(Agreement::Contradicts).take(MAX_NAMED).map(against).collect();
    if !contrary.is_empty() {
        return format!("Contradicted by our {of} ({unit}): {}.", contrary.join("; "));
    }
    let lacking = lacking(claim, label);
    let (agree, open) = (of_kind(Agreement::Agrees).count(), of_kind(Agreement::Open).count());
    if claim.order != ClaimOrder::Same && open == 0 {
        let all: Vec<String> = claim.pairs.iter().take(MAX_NAMED).map(against).collect();
        let all = all.join("; ");
        return match lacking {
            None => format!("Confirmed by our {of} ({unit}): {all}."),
            Some(lacking) => format!("As said as far as our {of} ({unit}) was measured: {all}; {lacking}."),
        };
    }
    let widest = claim.pairs.iter().filter_map(|pair| Some((pair.ours.low?, pair.ours.high?)));
    let widest = widest.reduce(|(low, high), (lower, higher)| (low.min(lower), high.max(higher)));
    let range = range_words(widest);
    let lacking = lacking.map(|lacking| format!("; {lacking}")).unwrap_or_default();
    if claim.order == ClaimOrder::Same {
        let far = if lacking.is_empty() { "" } else { " as far as it was measured" };
        return format!("Not contradicted by our {of} ({unit}){far}: not distinguishable; {range}{lacking}.");
    }
    format!(
        "Neither confirmed nor contradicted by our {of} ({unit}): {open} of {} pairs are not distinguishable, {agree} as \
         said; {range}{lacking}.",
        claim.pairs.len()
    )
}

/// How far apart cells may be, given the ends of what their ratios may be.
fn range_words(widest: Option<(f64, f64)>) -> String {
    match widest {
        Some((low, high)) if low < 1.0 / FAR_RATIO || high > FAR_RATIO => {
            "repeats are too few, or too far apart, to say more".to_string()
        }
        _ => format!("differences lie within {}", words::ends(widest)),
    }
}

/// What a claim can't be judged by: cells that are in no pair, else that some pairs are missing; nothing where all are
/// there.
fn lacking(claim: &Claim, label: impl Fn(usize) -> String) -> Option<String> {
    let cells = claim.cells.len();
    if claim.pairs.len() >= cells * cells.saturating_sub(1) / 2 {
        return None;
    }
    let paired = |cell: usize| claim.pairs.iter().any(|pair| pair.first == cell || pair.second == cell);
    let alone: Vec<String> =
        claim.cells.iter().filter(|cell| !paired(**cell)).map(|cell| label(*cell)).collect();
    match alone.as_slice() {
        [] => Some("the other pairs were never measured in the same repeat".to_string()),
        alone => Some(format!("without {}, of which nothing could be compared", alone.join(" and "))),
    }
}

/// The overloaded cells; nothing where there is none.
fn overloaded(record: &StudyRecord, sweep: &Sweep) -> Option<String> {
    let cells = cells::of(record, sweep);
    let label = |cell: &cells::CellResult| record.arms.get(cell.arm).map(|arm| arm.label.clone());
    let labels: Vec<String> = cells.iter().filter(|cell| cell.overloaded()).filter_map(label).collect();
    (!labels.is_empty()).then(|| {
        format!(
            "Overloaded, so that the stack got less load than was asked for, or another mix: {}.",
            labels.join("; ")
        )
    })
}

/// A cell by those factors in which the claim's cells differ.
fn label(record: &StudyRecord, sweep: &Sweep, claim: &Claim, cell: usize) -> String {
    let levels = |cell: usize| sweep.cells.get(cell).map_or(&[][..], |cell| &cell.levels);
    let differs =
        |at: &usize| claim.cells.iter().any(|other| levels(*other).get(*at) != levels(cell).get(*at));
    let words: Vec<String> = (0..sweep.factors.len())
        .filter(differs)
        .filter_map(|at| {
            let factor = &sweep.factors[at];
            Some(format!("{} {}", factor.title, factor.levels.get(*levels(cell).get(at)?)?))
        })
        .collect();
    match words.as_slice() {
        [] => record.arms.get(cell).map_or_else(|| "?".to_string(), |arm| arm.label.clone()),
        words => words.join(", "),
    }
}

/// What differs: the study's own sentences, then what the record knows of this machine and its servers.
pub(crate) fn differs(record: &StudyRecord, sweep: &Sweep) -> Vec<String> {
    sweep.differs.iter().cloned().chain(conditions(record, sweep)).collect()
}

/// What the record knows: overloaded cells, this machine, its servers, and which CPUs these had.
pub(super) fn conditions(record: &StudyRecord, sweep: &Sweep) -> Vec<String> {
    let mut sentences: Vec<String> = overloaded(record, sweep).into_iter().collect();
    let machine = |name: &str| record.setup.machine.get(name).map(String::as_str);
    let parts = [
        machine("cpu.count").map(|count| format!("{count} CPUs")),
        machine("cpu.model").map(|model| format!("({model})")),
        machine("memory").map(|memory| format!("{memory} of memory")),
        machine("kernel").map(|kernel| format!("kernel {kernel}")),
        machine("distribution").map(str::to_string),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        sentences.push(format!("This machine: {}.", parts.join(", ").replace(", (", " (")));
    }
    let servers: Vec<String> =
        record.servers.iter().map(|(name, version)| format!("{name} ({version})")).collect();
    if !servers.is_empty() {
        sentences.push(format!("These servers: {}.", servers.join(", ")));
    }
    if !record.setup.generator_cpus.is_empty() && !record.setup.stack_cpus.is_empty() {
        let list = |cpus: &[usize]| cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        sentences.push(format!(
            "Load and servers are on one machine, over loopback: the generator on CPU {}, the servers on CPU {}.",
            list(&record.setup.generator_cpus),
            list(&record.setup.stack_cpus)
        ));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_three_digits() {
        assert_eq!(
            [0.00556, 0.0499, 0.4884, 0.9949, 1.0, 9.99, 12.34].map(|value| ratio(Some(value))),
            ["0.00556", "0.0499", "0.488", "0.995", "1.00", "9.99", "12.3"]
        );
        assert_eq!(ratio(None), "–");
    }

    #[test]
    fn a_range_that_repeats_leave_too_wide_is_no_range() {
        assert_eq!(range_words(Some((0.85, 1.37))), "differences lie within -15 to +37 %");
        for wide in [(0.001, 1.5), (0.5, 206.0)] {
            assert_eq!(range_words(Some(wide)), "repeats are too few, or too far apart, to say more");
        }
    }

    #[test]
    fn an_interval_that_repeats_leave_too_wide_has_no_ends() {
        let of = |low, high| {
            interval(Some(Estimate { value: 10.0, low: Some(low), high: Some(high), repeats: 2 }))
        };
        assert_eq!(of(1.1, 95.0), "1.1 to 95");
        assert_eq!(of(0.5, 200.0), "over ×10 either way");
    }
}
