//! What a sweep shows: what was varied, its figures as charts or maps, its cells, and what was published beside them.

mod along;
mod beside;
mod cells;
mod charts;
mod document;
mod guests;
mod published;
mod response;
mod scale_out;
mod signals;
mod table;
#[cfg(test)]
mod tests;
mod verdicts;

use model::StudyRecord;
use model::record::study::{Factor, FindAnswer, Kind, LoadLine, Measurement, Sweep, Trial};

use super::page::{Body, Content, Figure, Link, Part, Section};
use super::view::{Answer, CsvColumn, CsvColumns, Document, Made, View};
use super::{trials, words};
use crate::{Tone, figures};
use cells::CellResult;

impl View for Sweep {
    /// A sweep asks how much, not whether; but where no trial met its targets none of the cells is one to choose.
    fn answer(&self, record: &StudyRecord) -> Answer {
        let never_met = analysis::sweep::never_met(self, &record.trials).is_some();
        Answer::new(if never_met { Tone::Bad } else { Tone::Good }, "Swept")
    }

    fn has_answer(&self) -> bool {
        false
    }

    fn body(&self, record: &StudyRecord, link: Link<'_>) -> Body {
        let cells = cells::of(record, self);
        Body {
            figures: top(record, self, &cells),
            sections: vec![
                Section::new("factors", "What was varied", factors(self, &cells)),
                Section::new("charts", "Results", charts::parts(record, self, &cells)),
                Section::new("scale-out", "What each instance gives", scale_out::parts(record, self, &cells)),
                Section::new("cells", "Cells", of_cells(record, self, &cells, link)),
                Section::new(
                    "response-times",
                    "How response times are distributed",
                    response::parts(self, &cells),
                ),
                Section::new("published", "Beside what was published", published::parts(record, self)),
            ],
        }
    }

    fn document(&self, record: &StudyRecord, made: Made<'_>) -> Option<Document> {
        Some(document::document(record, self, made))
    }

    fn csv(&self, record: &StudyRecord) -> CsvColumns {
        let level = |factor: &Factor| {
            let level = |trial: &Trial| record.arms.get(trial.arm)?.levels.get(&factor.name).cloned();
            CsvColumn::of(record, &factor.name, |trial| level(trial).unwrap_or_default())
        };
        let line = |name: &str, value: fn(&LoadLine) -> f64| {
            CsvColumn::of(record, name, |trial| words::digits(load_line(self, trial).map(value)))
        };
        let lines = self.goal().map(|_| {
            [
                line("load_line", |line| line.load),
                line("load_line_low", |line| line.low),
                line("load_line_high", |line| line.high),
            ]
        });
        CsvColumns {
            before: self.factors.iter().map(level).collect(),
            after: lines
                .into_iter()
                .flatten()
                .chain(signals::csv(record, self))
                .chain(published::csv(record, self))
                .collect(),
        }
    }
}

/// The table of cells, what is to be known of it, and every trial.
fn of_cells(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult], link: Link<'_>) -> Vec<Part> {
    let disagreements = verdicts::disagreements(record, sweep, cells);
    let disagreements = (!disagreements.is_empty()).then(|| Content::facts(disagreements).both());
    let table = Content::Table(table::table(record, sweep, cells)).both();
    let trials = Content::Table(trials::table(record, "Repeat", link)).page();
    let signals = signals::parts(record, sweep, cells);
    let below = guests::lead(cells).into_iter().chain(disagreements).chain(signals);
    [table].into_iter().chain(below).chain([trials]).collect()
}

/// The load line of the trial's cell and repeat.
fn load_line<'a>(sweep: &'a Sweep, trial: &Trial) -> Option<&'a LoadLine> {
    match sweep.cells.get(trial.arm)?.answers.get(trial.block as usize)? {
        FindAnswer::LoadLine(line) => Some(line),
        FindAnswer::NoAnswer(_) => None,
    }
}

/// The best cell by each figure.
fn top(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult]) -> Vec<Figure> {
    let best = |figure: &&str| {
        let known = cells.iter().filter_map(|cell| Some((cell, cell.value(figure)?)));
        let highest = matches!(*figure, "throughput" | "load_line");
        let (cell, value) = known.reduce(|best, one| if (one.1 > best.1) == highest { one } else { best })?;
        let label = record.arms.get(cell.arm).map_or("", |arm| arm.label.as_str());
        let word = if highest { "Highest" } else { "Lowest" };
        let value = words::figure_value(figure, Some(value), words::load_unit(record, cell.arm));
        Some(Figure::new(format!("{word} {}: {label}", words::figure(figure, None)), value))
    };
    cells::figures(sweep).iter().filter_map(best).collect()
}

/// What was varied and measured, how often, in which form.
fn factors(sweep: &Sweep, cells: &[CellResult]) -> Vec<Part> {
    let measured = match &sweep.measurement {
        Measurement::Window { window_s } => format!("windows of {}", figures::duration(Some(*window_s))),
        Measurement::LoadLine(_) => "load lines".to_string(),
    };
    let times = if sweep.repeats == 1 { "once".to_string() } else { format!("{} times", sweep.repeats) };
    let empty = cells.iter().filter(|cell| cell.trials.is_empty()).count();
    let empty = if empty == 0 { String::new() } else { format!(", {empty} of them without a valid trial") };
    let pair = |name: &str, value: String| (name.to_string(), value);
    let varied =
        |factor: &Factor| pair(&factor.title, format!("{} ({})", factor.levels.join(", "), factor.name));
    let mut pairs: Vec<(String, String)> = sweep.factors.iter().map(varied).collect();
    pairs.push(pair("Measured", format!("{measured} in {} cells{empty}, each {times}", cells.len())));
    pairs.extend(sweep.form.map(|form| pair("Form", wording::plan::form(form).to_string())));
    pairs.push(pair("Source", sweep.source.clone()));
    vec![Content::Pairs(pairs).both()]
}
