//! A comparison as text.

use model::StudyRecord;
use model::study::{Compare, Conclusion, Effect};

use crate::figures;
use crate::scale::Scale;
use crate::study::compare::blocks;
use crate::study::words;
use crate::terminal::paint::Paint;
use crate::terminal::plain;
use crate::terminal::table::{Align, Table, wrap};

/// What only a comparison shows.
pub(super) fn sections(record: &StudyRecord, compare: &Compare, width: usize, paint: Paint) -> Vec<String> {
    vec![
        facts(record, compare, width),
        effects(record, compare, width, paint),
        forest(compare, width),
        course(record, compare, width),
    ]
}

/// The arms, the load, and what the words below mean.
fn facts(record: &StudyRecord, compare: &Compare, width: usize) -> String {
    let arm = |(name, arm): (&str, &model::study::Arm)| {
        let stored = arm.stored_run.as_ref().map(|run| format!(" (stored run {run})")).unwrap_or_default();
        format!("{name}  {}{stored}", arm.label)
    };
    let intervals = match compare.unpaired {
        true => "intervals for who looks once",
        false => "intervals that hold however often one looks",
    };
    let rule = format!(
        "{}, {} s a trial; {} {intervals}; under {} counts as no difference",
        compare.load,
        figures::number(Some(compare.window_s)),
        figures::percent(Some(compare.confidence_ratio)),
        figures::percent(Some(compare.band_ratio))
    );
    let gate = compare.gate_ratio.map(|gate| {
        let held = match compare.gate_held {
            Some(true) => "held",
            Some(false) => "did not hold",
            None => "is open",
        };
        format!("the gate of {} {held}", figures::percent(Some(gate)))
    });
    let arms = ["A", "B"].into_iter().zip(&record.arms).map(arm);
    arms.chain([rule])
        .chain(gate)
        .map(|line| wrap(&format!("  {}", plain_keeping_gap(&line)), width, "    ") + "\n")
        .collect()
}

/// [`plain`], with the two blanks after an arm's letter.
fn plain_keeping_gap(line: &str) -> String {
    line.split("  ").map(plain).collect::<Vec<_>>().join("  ")
}

fn effects(record: &StudyRecord, compare: &Compare, width: usize, paint: Paint) -> String {
    let mut table = Table::new(&[
        ("Figures", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("B against A", Align::Right),
        ("interval", Align::Right),
        ("", Align::Left),
    ]);
    let unit = words::load_unit(record, 0);
    for effect in &compare.effects {
        let value = |value: f64| words::figure_value(&effect.figure, Some(value), unit);
        let cells = vec![
            format!("  {}", plain(&words::figure(&effect.figure, effect.operation.as_deref()))),
            value(effect.a),
            value(effect.b),
            words::change(effect.ratio),
            words::interval(effect),
            words::conclusion(&effect.conclusion),
        ];
        let worse = effect.conclusion == Conclusion::Slower;
        table.row_painted(cells, move |column, cell| {
            if column == 5 && worse { paint.bad(cell.trim_end()) } else { cell.to_string() }
        });
    }
    table.lines(width)
}

/// Each figure's interval on one axis, the band of no difference shaded.
fn forest(compare: &Compare, width: usize) -> String {
    let known: Vec<(&Effect, f64, f64)> =
        compare.effects.iter().filter_map(|effect| Some((effect, effect.low?, effect.high?))).collect();
    let band = (1.0 - compare.band_ratio, 1.0 + compare.band_ratio);
    let ends = known.iter().flat_map(|(_, low, high)| [*low, *high]).chain([band.0, band.1]);
    let (Some(scale), false) = (Scale::log(ends, 0.05), known.is_empty()) else { return String::new() };
    let names: Vec<String> = known
        .iter()
        .map(|(effect, ..)| plain(&words::figure(&effect.figure, effect.operation.as_deref())))
        .collect();
    let left = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let cells = width.saturating_sub(left + 4).max(20);
    let column = |ratio: f64| (scale.place(ratio).clamp(0.0, 1.0) * (cells - 1) as f64).round() as usize;
    let mut text = "B against A, intervals\n".to_string();
    for ((effect, low, high), name) in known.iter().zip(&names) {
        let mut line = vec![' '; cells];
        line[column(band.0)..=column(band.1)].fill('░');
        line[column(*low)..=column(*high)].fill('─');
        (line[column(*low)], line[column(*high)]) = ('├', '┤');
        line[column(effect.ratio)] = '●';
        text.push_str(format!("  {name:<left$}  {}", line.into_iter().collect::<String>()).trim_end());
        text.push('\n');
    }
    let mut axis = vec![' '; cells];
    for ratio in [scale.low, 1.0, scale.high] {
        let label: Vec<char> = words::change(ratio).chars().collect();
        let begins = column(ratio).saturating_sub(label.len() / 2).min(cells - label.len());
        axis[begins..begins + label.len()].copy_from_slice(&label);
    }
    let axis: String = axis.into_iter().collect();
    let band = figures::percent(Some(compare.band_ratio));
    text + format!("  {:<left$}  {}", "", axis.trim_end()).as_str()
        + &format!("\n  ░ no difference that matters (±{band})\n")
}

/// The blocks in their order, so that drift and outliers can be seen.
fn course(record: &StudyRecord, compare: &Compare, width: usize) -> String {
    let blocks = blocks::of(record, compare);
    let Some(noise) = blocks::noise_ratio(&blocks) else { return String::new() };
    let changes: Vec<String> =
        blocks.iter().map(|block| words::change(block.ratio).trim_end_matches(" %").to_string()).collect();
    let operation = compare.effects.first().and_then(|effect| effect.operation.as_deref());
    let name = plain(&words::figure(&compare.by, operation));
    let list = format!("  {} %", changes.join(", "));
    format!(
        "Blocks in order, {name} of B against A (noise {}, the standard deviation)\n{}\n",
        figures::percent(Some(noise)),
        wrap(&list, width, "  ")
    )
}
