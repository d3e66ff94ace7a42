//! A trial as charts and tables of every kind show it.

use model::StudyRecord;
use model::record::study::{Purpose, Trial};

use super::chart::{Mark, Shape, Style};
use super::page::{Cell, Column, Judged, Link, Row, Table};
use super::words;
use crate::figures;

/// The trial as a point at its load, with `value`, which is `y` in words.
pub(crate) fn mark(record: &StudyRecord, trial: &Trial, y: f64, value: &str) -> Mark {
    let verdict = words::verdict(record, trial);
    let title = format!(
        "trial {} ({}): {}, {value}, {verdict}",
        trial.number,
        trial.purpose.word(),
        words::load(record, trial.arm, trial.load),
    );
    let shape = match trial.purpose {
        Purpose::WarmUp | Purpose::Ramp => Shape::Circle,
        Purpose::Search | Purpose::Measure => Shape::Square,
        Purpose::Confirm => Shape::Diamond,
    };
    let (style, ink) = match verdict {
        "passed" => (Style::Solid, "good"),
        words::FEW => (Style::Few, "good"),
        "missed" | words::OVERLOADED => (Style::Solid, "bad"),
        _ => (Style::Void, "muted"),
    };
    Mark { x: trial.load, y, shape, style, ink: ink.into(), title, interval: None }
}

/// `7 search`, leading to the trial's own report.
pub(crate) fn name(trial: &Trial, link: Link<'_>) -> Cell {
    Cell { link: link(&trial.run), ..Cell::from(format!("{} {}", trial.number, trial.purpose.word())) }
}

/// The checks that did not hold in a trial.
pub(crate) fn faults(trial: &Trial) -> Vec<String> {
    trial.faults.iter().map(|fault| fault.check.title().into_owned()).collect()
}

/// A figure of all operations together.
pub(crate) fn figure(trial: &Trial, name: &str) -> Option<f64> {
    Some(trial.measured.as_ref()?.figure(name, None)?.value)
}

/// Every trial of a study that measures several things, folded away; `block` is what the trials are grouped in.
pub(crate) fn table(record: &StudyRecord, block: &str, link: Link<'_>) -> Table {
    let titles = [block, "Load", "op/s", "Mean", "p50", "p95", "p99", "Failed", "Valid"];
    let columns = [Column::words("Trial", ""), Column::words("What", "")].into_iter();
    Table {
        columns: columns.chain(titles.map(|title| Column::numbers(title, ""))).collect(),
        rows: record.trials.iter().map(|trial| row(record, trial, link)).collect(),
        folded: Some(format!("All {} trials", record.trials.len())),
        long_form: false,
    }
}

fn row(record: &StudyRecord, trial: &Trial, link: Link<'_>) -> Row {
    let verdict = match words::verdict(record, trial) {
        _ if trial.valid() => Cell::from("valid"),
        "not valid" => Cell::judged("not valid", Judged::Missed),
        words::OVERLOADED => Cell { notes: faults(trial), ..Cell::from(words::OVERLOADED) },
        verdict => Cell::from(verdict),
    };
    let time = |name: &str| Cell::from(figures::time(figure(trial, name)));
    let failed = trial.measured.as_ref().map(|measured| measured.failed_ratio);
    let cells = vec![
        name(trial, link),
        record.arms.get(trial.arm).map(|arm| arm.label.clone()).unwrap_or_default().into(),
        (trial.block + 1).to_string().into(),
        words::load(record, trial.arm, trial.load).into(),
        figures::number(figure(trial, "throughput")).into(),
        time("mean"),
        time("p50"),
        time("p95"),
        time("p99"),
        figures::percent(failed).into(),
        verdict,
    ];
    Row { cells, muted: !trial.valid() }
}
