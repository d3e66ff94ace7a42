//! A sweep as the part of a page of docs/results that is made by machine: how it was measured, its cells, and what was published
//! beside them.

use std::collections::BTreeMap;

use model::StudyRecord;
use model::record::Outcome;
use model::record::instrument::INSTRUMENT;
use model::record::study::{Factor, Form, Kind, Measurement, Published, PublishedFigure, Sweep};
use model::units::show_seconds;

use super::cells::{self, CellResult};
use super::{beside, guests, published, signals, table, verdicts};
use crate::figures;
use crate::markdown;
use crate::study::page::{Cell, Column, Content, Part, Row, Table};
use crate::study::view::{Document, Made};
use crate::study::{headline, trials, words};

/// Tiers that have a column each at most; of more the stack's are taken together.
const MAX_TIERS: usize = 6;

/// What the cells' figures are.
const FIGURES: &str = "Means and percentiles are geometric means of a cell's valid repeats, with 95 % intervals by how far repeats differ; \
                       *Failed* is the largest share of failed operations, *CPU* the mean number of cores.";

/// Flags of a command that change nothing of what is measured, and whether a word follows them.
const OUTPUT_FLAGS: [(&str, bool); 6] = [
    ("--progress-file", true),
    ("--csv", true),
    ("--json", false),
    ("--quiet", false),
    ("-q", false),
    ("--no-wait", false),
];

/// The title and the part that is made by machine.
pub(super) fn document(record: &StudyRecord, sweep: &Sweep, made: Made<'_>) -> Document {
    Document {
        title: markdown::text(&format!("{} ({})", sweep.title, sweep.source)),
        text: text(record, sweep, made),
    }
}

fn text(record: &StudyRecord, sweep: &Sweep, made: Made<'_>) -> String {
    let cells = cells::of(record, sweep);
    let list = |texts: Vec<String>| texts.into_iter().map(|text| format!("- {}\n", markdown::text(&text)));
    let mut parts = vec![
        how(record, sweep, made),
        list(beside::conditions(record, sweep)).collect(),
        sentence(record),
        markdown::table(&cell_table(record, sweep, &cells)),
    ];
    parts.extend(sweep.goal().is_none().then(|| format!("{FIGURES}\n")));
    parts.extend(invalid(record).map(|text| markdown::text(&text) + "\n"));
    parts.extend(below(guests::lead(&cells)));
    parts.push(list(verdicts::disagreements(record, sweep, &cells)).collect());
    parts.extend(below(signals::parts(record, sweep, &cells)));
    if !sweep.published.is_empty() {
        parts.push("## Beside what was published\n".to_string());
        parts.extend(sweep.published.iter().flat_map(|table| beside_table(record, sweep, table)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The command, how much was measured, and with which program and when.
fn how(record: &StudyRecord, sweep: &Sweep, made: Made<'_>) -> String {
    let (trials, valid) = (&record.trials, record.trials.iter().filter(|trial| trial.valid()).count());
    let valid = if valid == trials.len() { "all".to_string() } else { valid.to_string() };
    let form = match sweep.form {
        None => "",
        Some(Form::Short) => ", the short form",
        Some(Form::Full) => ", as it was published",
    };
    let measured = match &sweep.measurement {
        Measurement::Window { window_s } => format!("windows of {}", figures::duration(Some(*window_s))),
        Measurement::LoadLine(_) => "load lines".to_string(),
    };
    let times = if sweep.repeats == 1 { "once".to_string() } else { format!("{} times", sweep.repeats) };
    let commit = made.commit.map(|commit| format!(" of {commit}")).unwrap_or_default();
    let day = record.started.get(..10).unwrap_or_default();
    let differs = match (sweep.differs.is_empty(), made.file) {
        (false, Some(file)) => {
            format!(" What differs from the source is said in [the study's file]({file}).")
        }
        _ => String::new(),
    };
    format!(
        "`{}` ({} trials, {valid} valid, {}){form}, with Plimsoll {}{commit}, on {day}: {measured} in {} cells, each \
         {times}.{differs}\n",
        command(&record.command),
        trials.len(),
        show_seconds(record.spent_s.round()),
        record.plimsoll,
        sweep.cells.len(),
    )
}

/// The command line without what only says where its output goes, and without folders of one machine.
fn command(given: &[String]) -> String {
    let mut kept = vec!["plimsoll".to_string()];
    let mut given = given.iter().skip(1);
    while let Some(word) = given.next() {
        let (flag, joined) = word.split_once('=').map_or((word.as_str(), false), |(flag, _)| (flag, true));
        match OUTPUT_FLAGS.iter().find(|(known, _)| *known == flag) {
            Some((_, true)) if !joined => _ = given.next(),
            Some(_) => {}
            None if word.ends_with(".toml") => {
                kept.push(word.rsplit('/').next().unwrap_or_default().to_string());
            }
            None => kept.push(word.clone()),
        }
    }
    // Nothing of it ends a code span.
    markdown::text(&words::command(&kept)).replace('`', "'")
}

/// The record's sentence, which says how far repeats differ; and that the study has not come to its end, where it hasn't.
fn sentence(record: &StudyRecord) -> String {
    let headline = headline(record);
    let text = markdown::text(&headline.sentence);
    match record.outcome {
        Outcome::Completed => format!("{text}\n"),
        _ => format!("**{}**: {text}\n", headline.word),
    }
}

/// A row for each cell: its levels, its figures with their intervals, the CPU time of tiers, and how many trials count.
fn cell_table(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult]) -> Table {
    if sweep.goal().is_some() {
        return table::table(record, sweep, cells);
    }
    let estimates = |name: &str| {
        let figure = PublishedFigure { name: name.to_string(), times: 1.0, ..PublishedFigure::default() };
        analysis::published::of_cells(sweep, &record.trials, &figure)
    };
    let (throughput, p95) = (estimates("throughput"), estimates("p95"));
    let tiers = tiers(cells);
    let (guests, judged) =
        (guests::are_there(cells), cells.iter().any(|cell| verdicts::of(sweep, cell).is_some()));
    let level = |(level, factor): (&usize, &Factor)| factor.levels.get(*level).cloned().unwrap_or_default();
    let row = |(at, cell): (usize, &CellResult)| {
        let (per_s, p95) = (throughput[at], p95[at]);
        let levels = cell.levels.iter().zip(&sweep.factors).map(level).map(Cell::from);
        let figures = [
            figures::number(per_s.map(|one| one.value)),
            beside::interval(per_s),
            figures::time(cell.value("mean")),
            figures::time(p95.map(|one| one.value)),
            beside::ends(p95, figures::time),
            figures::percent(cell.failed_ratio()),
        ];
        let cores = tiers.iter().map(|(_, names)| Cell::from(figures::number(cores(cell, names))));
        let met = verdicts::of(sweep, cell).map(|verdict| verdict.cells()[0].clone());
        let met = judged.then(|| met.unwrap_or_else(|| Cell::from(figures::NOTHING)));
        let cells = levels.chain(figures.map(Cell::from)).chain(cores);
        let cells = cells.chain(guests.then(|| guests::cell(cell))).chain(met);
        Row { cells: cells.chain([table::valid_of_all(cell)]).collect(), muted: false }
    };
    let columns = sweep.factors.iter().enumerate().map(|(at, factor)| match at {
        0 => Column::words(&factor.title, ""),
        _ => Column::numbers(&factor.title, ""),
    });
    let figures = ["op/s", "95 %", "Mean", "p95", "95 %", "Failed"].map(|title| Column::numbers(title, ""));
    let cores = tiers.iter().map(|(title, _)| Column::numbers(format!("CPU, {title}"), ""));
    let columns = columns.chain(figures).chain(cores).chain(guests.then(guests::column));
    let last = judged.then_some("Targets").into_iter().chain(["Valid"]);
    Table {
        columns: columns.chain(last.map(|title| Column::numbers(title, ""))).collect(),
        rows: cells.iter().enumerate().map(row).collect(),
        ..Table::default()
    }
}

/// A title for each column of cores, and the tiers in it: each its own, or those of the stack together where there are many.
fn tiers(cells: &[CellResult]) -> Vec<(String, Vec<String>)> {
    let measured = cells.iter().flat_map(|cell| &cell.trials).filter_map(|trial| trial.measured.as_ref());
    let mut names: Vec<String> = Vec::new();
    for tier in measured.flat_map(|measured| &measured.tiers) {
        if !names.contains(&tier.tier) {
            names.push(tier.tier.clone());
        }
    }
    if names.len() <= MAX_TIERS {
        return names.into_iter().map(|name| (name.clone(), vec![name])).collect();
    }
    let (load, stack): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| INSTRUMENT.contains(&name.as_str()));
    vec![("stack".to_string(), stack), ("load".to_string(), load)]
}

/// The cores of all of these tiers that the cell has.
fn cores(cell: &CellResult, tiers: &[String]) -> Option<f64> {
    tiers.iter().filter_map(|tier| cell.cpu_cores(tier)).reduce(|one, other| one + other)
}

/// How many trials are not valid, and by which checks; nothing where all are.
fn invalid(record: &StudyRecord) -> Option<String> {
    let invalid = words::invalid(record);
    let mut checks: BTreeMap<String, usize> = BTreeMap::new();
    for trial in &invalid {
        let first = trials::faults(trial).into_iter().next();
        *checks.entry(first.unwrap_or_else(|| "nothing was measured".to_string())).or_default() += 1;
    }
    let checks: Vec<String> = checks.iter().map(|(check, count)| format!("{check} ({count})")).collect();
    let of_all = format!("Not valid: {} of {} trials", invalid.len(), record.trials.len());
    (!invalid.is_empty()).then(|| format!("{of_all}, by the first check that broke: {}.", checks.join(", ")))
}

/// Parts that pages have, below a table.
fn below(parts: impl IntoIterator<Item = Part>) -> Vec<String> {
    let of_pages = parts.into_iter().filter(|part| part.on.page());
    let shown = of_pages.filter_map(|part| match part.content {
        Content::Lead(lead) => Some(markdown::text(&lead) + "\n"),
        Content::Table(table) => Some(markdown::table(&table)),
        _ => None,
    });
    shown.collect()
}

/// A published table: its heading, both sides' figures, and what follows.
fn beside_table(record: &StudyRecord, sweep: &Sweep, table: &Published) -> Vec<String> {
    let mut parts = vec![
        format!("### {}\n", markdown::text(&format!("{}, {}", table.title, table.unit))),
        markdown::text(&published::lead(table)) + "\n",
    ];
    if !table.rows.is_empty() {
        parts.push(markdown::table(&both_sides(table)));
    }
    parts.push(markdown::facts(&published::facts(record, sweep, table)));
    parts
}

fn both_sides(table: &Published) -> Table {
    let titles = ["Published", "Ours", "95 %", "Published, ratio", "Ours, ratio", "95 %", "Order"];
    // Where nothing of ours is of the kind the published values stand alone.
    let shown = if table.of.is_empty() { 2 } else { titles.len() + 1 };
    let titles = titles.map(|title| Column::numbers(title, ""));
    let row = |(at, row): (usize, beside::Row)| {
        let order = beside::order_to_base(table, at).to_string();
        let cells = [
            row.label,
            row.published,
            row.ours,
            row.interval,
            row.ratio,
            row.ours_ratio,
            row.ratio_interval,
            order,
        ];
        Row { cells: cells.map(Cell::from).into_iter().take(shown).collect(), muted: false }
    };
    Table {
        columns: [Column::words("Cell", "")].into_iter().chain(titles).take(shown).collect(),
        rows: beside::rows(table).into_iter().enumerate().map(row).collect(),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_without_its_output_and_without_folders() {
        let words = |text: &str| text.split(' ').map(str::to_string).collect::<Vec<_>>();
        let given =
            "target/plimsoll sweep studies/workers.toml --csv a.csv --progress-file=b --repeats 5 --json";
        assert_eq!(command(&words(given)), "plimsoll sweep workers.toml --repeats 5");
        assert_eq!(
            command(&words("plimsoll --progress-file b sweep sun-2008-table2 -q")),
            "plimsoll sweep sun-2008-table2"
        );
    }
}
