//! What a find shows: its line, the charts of its figures against the load, its trials, the tiers' CPU.

mod charts;
mod course;

use model::record::study::{Find, FindAnswer, Trial, WhyNot};
use model::{QosTarget, StudyRecord};

use super::page::{Body, Cell, Column, Content, Figure, Judged, Link, On, Part, Row, Section, Table};
use super::trials::{self, faults, figure};
use super::view::{Answer, View};
use super::words;
use crate::{Tone, figures};
use course::Course;

impl View for Find {
    fn answer(&self, _: &StudyRecord) -> Answer {
        let line = |tone| Answer { beginning: "load line ", ..Answer::new(tone, "Load line") };
        let none = |tone| Answer { beginning: "no load line: ", ..Answer::new(tone, "No load line") };
        match &self.answer {
            None => Answer::new(Tone::Open, "Unfinished"),
            Some(FindAnswer::LoadLine(found)) if found.wide => line(Tone::Open),
            Some(FindAnswer::LoadLine(_)) => line(Tone::Good),
            Some(FindAnswer::NoAnswer(reason)) => none(match reason.why {
                WhyNot::FailsAtLeast | WhyNot::NeverPasses => Tone::Bad,
                WhyNot::NeverFails | WhyNot::OutOfTime | WhyNot::Interrupted => Tone::Open,
                _ => Tone::Doubtful,
            }),
        }
    }

    fn has_answer(&self) -> bool {
        matches!(self.answer, Some(FindAnswer::LoadLine(_)))
    }

    fn body(&self, record: &StudyRecord, link: Link<'_>) -> Body {
        let course = Course::new(record, self);
        Body {
            figures: top(record, self),
            sections: vec![
                Section::new("facts", "", facts(record, self)),
                Section::new("curve", "Capacity curve", charts::curve(record, &course)),
                Section::new("trials", "Trials", trials(record, &course, link)),
                Section::new("holds", "", vec![Content::Reasons.both()]),
                Section::new("tiers", "CPU by tier", tiers(record, &course)),
                Section::new("failed", "", errors(record, &course)),
            ],
        }
    }
}

/// The figures at the top.
fn top(record: &StudyRecord, find: &Find) -> Vec<Figure> {
    let load = |load: f64| words::load(record, 0, load);
    match &find.answer {
        Some(FindAnswer::LoadLine(line)) => {
            let confidence = figures::percent(Some(find.goal.confidence_ratio));
            let ends = format!("{} to {}", words::load_number(record, 0, line.low), load(line.high));
            let held_by = line.held_by.as_ref().map_or("no target".to_string(), QosTarget::to_string);
            let mut top = vec![
                Figure::new("Load line", load(line.load)),
                Figure::new(format!("{confidence} interval"), ends),
                Figure::new("Held by", held_by),
            ];
            let operations = line.throughput_per_s.map(|per_s| words::per_s(Some(per_s)));
            top.extend(operations.map(|per_s| Figure::new("Operations there", per_s)));
            top
        }
        Some(FindAnswer::NoAnswer(none)) => {
            let known =
                [("Highest that passed", none.highest_passed), ("Lowest that failed", none.lowest_failed)];
            known.into_iter().filter_map(|(title, value)| Some(Figure::new(title, load(value?)))).collect()
        }
        None => Vec::new(),
    }
}

/// What the sentence leaves out: what was asked for, throughput at the line, the verdict by averages, steepness and
/// certainty. The page has the throughput among its figures.
fn facts(record: &StudyRecord, find: &Find) -> Vec<Part> {
    let goal = &find.goal;
    let goal = format!(
        "asked for ±{} at {} confidence within {}",
        figures::percent(Some(goal.half_width_ratio)),
        figures::percent(Some(goal.confidence_ratio)),
        figures::duration(Some(goal.budget_s))
    );
    let Some(FindAnswer::LoadLine(line)) = &find.answer else {
        return vec![Content::facts([goal]).terminal()];
    };
    let operations = line
        .throughput_per_s
        .map(|per_s| format!("{} operations/s at the load line", figures::number(Some(per_s))));
    let more: Vec<String> =
        words::by_average(record, line).into_iter().chain(words::line_facts(line)).collect();
    vec![Content::facts([goal].into_iter().chain(operations)).terminal(), Content::facts(more).both()]
}

/// Each trial in a row; a terminal has room for the target of the line alone, unless that is the p95 that is shown
/// anyway.
fn trials(record: &StudyRecord, course: &Course, link: Link<'_>) -> Vec<Part> {
    let unit = words::load_unit(record, 0);
    let held_by = course.clause.map(|outcome| &outcome.target);
    let short = held_by.map(QosTarget::subject).filter(|name| name != "p95");
    let targets = targets(record);
    let mut columns = vec![
        Column::words("Trial", "").on(On::Page),
        Column::words("", "Trials").on(On::Terminal),
        Column::words("", "").on(On::Terminal),
        Column::numbers(format!("Load, {unit}"), unit),
        Column::numbers("Warm-up", "warm-up"),
        Column::numbers("Window", "window"),
        Column::numbers("op/s", "op/s"),
        Column::numbers("p95", "p95"),
    ];
    columns.extend(targets.iter().map(|target| Column::numbers(target.to_string(), "").on(On::Page)));
    columns.extend(short.iter().map(|name| Column::numbers("", name).on(On::Terminal)));
    columns.push(Column::numbers("Verdict", "").on(On::Page));
    columns.push(Column::words("", "").on(On::Terminal));
    let row = |trial: &Trial| {
        let mut cells = vec![
            trials::name(trial, link),
            trial.number.to_string().into(),
            trial.purpose.word().into(),
            words::load_number(record, trial.arm, trial.load).into(),
            figures::duration(trial.warm_up_s).into(),
            figures::duration(Some(trial.window_s)).into(),
            figures::number(figure(trial, "throughput")).into(),
            figures::time(figure(trial, "p95")).into(),
        ];
        cells.extend(targets.iter().map(|target| observed(trial, target)));
        cells.extend(
            held_by.filter(|_| short.is_some()).map(|target| Cell::from(observed(trial, target).text)),
        );
        cells.extend(verdicts(record, trial));
        Row { cells, muted: !counts(words::verdict(record, trial)) }
    };
    let rows = record.trials.iter().map(row).collect();
    let lead = "In the order in which they were measured. Only the window after the warm-up counts.";
    vec![
        Content::Lead(lead.into()).page(),
        Content::Table(Table { columns, rows, ..Table::default() }).both(),
    ]
}

/// The targets in the order of the first trial that has them.
fn targets(record: &StudyRecord) -> Vec<&QosTarget> {
    let first = record.trials.iter().find_map(|trial| trial.measured.as_ref());
    first.iter().flat_map(|measured| &measured.targets).map(|outcome| &outcome.target).collect()
}

/// What was observed of a target, and by how many samples where those were too few.
fn observed(trial: &Trial, target: &QosTarget) -> Cell {
    let mut outcomes = trial.measured.iter().flat_map(|measured| &measured.targets);
    let Some(outcome) = outcomes.find(|one| one.target == *target) else { return figures::NOTHING.into() };
    let few = !outcome.is_sampled();
    let samples = few.then(|| format!("{} samples", figures::number(Some(outcome.samples as f64))));
    let judged = if outcome.pass { Judged::Met } else { Judged::Missed };
    Cell { notes: samples.into_iter().collect(), ..Cell::judged(words::observed(outcome), judged) }
}

fn counts(verdict: &str) -> bool {
    !matches!(verdict, "not valid" | "not used")
}

/// The verdict for the page and for a terminal, whose drawing says few of what.
fn verdicts(record: &StudyRecord, trial: &Trial) -> [Cell; 2] {
    let verdict = words::verdict(record, trial);
    let good = matches!(verdict, "passed" | words::FEW);
    let judged = match (counts(verdict), good) {
        (false, _) => Judged::Plain,
        (true, true) => Judged::Met,
        (true, false) => Judged::Missed,
    };
    let why = !counts(verdict) || verdict == words::OVERLOADED;
    let notes = if why { faults(trial) } else { Vec::new() };
    let short = if good || verdict == "not used" { Judged::Plain } else { Judged::Missed };
    [
        Cell { notes, ..Cell::judged(verdict, judged) },
        Cell::judged(verdict.trim_end_matches(" samples"), short),
    ]
}

/// Cores by tier, as a chart and as a table.
fn tiers(record: &StudyRecord, course: &Course) -> Vec<Part> {
    let names = course.tiers();
    if names.is_empty() || course.valid().next().is_none() {
        return Vec::new();
    }
    let mut columns = vec![Column::words(format!("Load, {}", words::load_unit(record, 0)), "")];
    columns.extend(names.iter().map(|tier| Column::numbers(*tier, "")));
    columns.extend(["all", "Trial"].map(|title| Column::numbers(title, "")));
    let rows = course.valid().map(|(trial, measured)| {
        let cores =
            |tier: &&str| measured.tiers.iter().find(|one| one.tier == **tier).map(|one| one.cpu_cores);
        let all = measured.tiers.iter().map(|tier| tier.cpu_cores).sum();
        let mut cells = vec![words::load_number(record, 0, trial.load).into()];
        cells.extend(names.iter().map(|tier| Cell::from(figures::number(cores(tier)))));
        cells.extend([figures::number(Some(all)), trial.number.to_string()].map(Cell::from));
        Row { cells, muted: false }
    });
    let table = Table { columns, rows: rows.collect(), ..Table::default() };
    let lead = "Cores kept busy at each load, the load generator included; valid trials, by load.";
    let chart = charts::cpu(record, course).map(|chart| Content::Chart(Box::new(chart)).both());
    [Content::Lead(lead.into()).page()]
        .into_iter()
        .chain(chart)
        .chain([Content::Table(table).page()])
        .collect()
}

/// Failed operations of the valid trials; the page says it of every study.
fn errors(record: &StudyRecord, course: &Course) -> Vec<Part> {
    let worst = course.valid().max_by(|a, b| a.1.failed_ratio.total_cmp(&b.1.failed_ratio));
    let Some((trial, measured)) = worst else { return Vec::new() };
    let text = if measured.failed_ratio == 0.0 {
        "Errors: no operation failed in a valid trial".to_string()
    } else {
        let share = figures::percent(Some(measured.failed_ratio));
        let load = words::load(record, trial.arm, trial.load);
        format!("Errors: up to {share} of operations failed, at {load} (trial {})", trial.number)
    };
    vec![Content::Heading(text).terminal()]
}
