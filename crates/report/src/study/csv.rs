//! A study's trials as CSV (RFC 4180): a row for each, for spreadsheets and data frames. The columns are described in
//! `docs/reference/study-csv.md`.

use model::StudyRecord;
use model::study::{FindAnswer, LoadLine, Measurement, Question, Sweep, Trial};

use super::words;

/// The columns between a trial's factors and its tiers.
const COLUMNS: [&str; 17] = [
    "repeat",
    "trial",
    "purpose",
    "load",
    "load_unit",
    "warm_up_s",
    "window_s",
    "throughput_per_s",
    "mean_s",
    "sd_s",
    "p50_s",
    "p95_s",
    "p99_s",
    "failed_ratio",
    "pass",
    "valid",
    "faults",
];

/// A row for each trial, after a heading; lines end with CR LF. Numbers have all their digits and no grouping, what
/// there is no figure for is empty.
pub fn csv(record: &StudyRecord) -> String {
    let tiers = tiers(record);
    let lines = sweep(record).is_some_and(|sweep| matches!(sweep.measurement, Measurement::LoadLine(_)));
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let mut heading: Vec<String> = match sweep(record) {
        Some(sweep) => sweep.factors.iter().map(|factor| factor.name.clone()).collect(),
        None => vec!["arm".to_string()],
    };
    heading.extend(COLUMNS.map(str::to_string));
    heading.extend(tiers.iter().map(|tier| format!("cpu_{tier}_cores")));
    heading.extend(
        lines
            .then_some(["load_line", "load_line_low", "load_line_high"])
            .into_iter()
            .flatten()
            .map(str::to_string),
    );
    heading.extend(sweep(record).iter().flat_map(|sweep| beside(sweep)));
    heading.push("run".to_string());
    let rows = record.trials.iter().map(|trial| row(record, trial, &tiers, lines));
    for row in std::iter::once(heading).chain(rows) {
        writer.write_record(&row).expect("a vector takes every byte, and all rows have the heading's length");
    }
    let bytes = writer.into_inner().expect("a vector takes every byte");
    String::from_utf8(bytes).expect("only text was written")
}

fn sweep(record: &StudyRecord) -> Option<&Sweep> {
    match &record.question {
        Question::Sweep(sweep) => Some(sweep),
        _ => None,
    }
}

fn tiers(record: &StudyRecord) -> Vec<&str> {
    let seen = record.trials.iter().filter_map(|trial| trial.measured.as_ref());
    let mut tiers: Vec<&str> = Vec::new();
    for tier in seen.flat_map(|seen| &seen.tiers).map(|tier| tier.tier.as_str()) {
        if !tiers.contains(&tier) {
            tiers.push(tier);
        }
    }
    tiers
}

fn row(record: &StudyRecord, trial: &Trial, tiers: &[&str], lines: bool) -> Vec<String> {
    let arm = record.arms.get(trial.arm);
    let mut row: Vec<String> = match sweep(record) {
        Some(sweep) => {
            let level = |name: &String| arm.and_then(|arm| arm.levels.get(name)).cloned().unwrap_or_default();
            sweep.factors.iter().map(|factor| level(&factor.name)).collect()
        }
        None => vec![arm.map_or_else(String::new, |arm| arm.label.clone())],
    };
    let seen = trial.measured.as_ref();
    let figure = |name: &str| number(seen.and_then(|seen| Some(seen.figure(name, None)?.value)));
    let faults = trial.faults.iter().chain(&trial.overloaded);
    let faults: Vec<_> = faults.map(|fault| fault.check.id()).collect();
    row.extend([
        (trial.block + 1).to_string(),
        trial.number.to_string(),
        trial.purpose.word().to_string(),
        trial.load.to_string(),
        words::load_unit(record, trial.arm).to_string(),
        number(trial.warm_up_s),
        trial.window_s.to_string(),
    ]);
    row.extend(["throughput", "mean", "sd", "p50", "p95", "p99"].map(figure));
    row.extend([
        number(seen.map(|seen| seen.failed_ratio)),
        trial.pass().map_or_else(String::new, |pass| pass.to_string()),
        trial.valid().to_string(),
        faults.join(" "),
    ]);
    let cores = |tier: &&str| {
        number(seen.and_then(|seen| Some(seen.tiers.iter().find(|one| one.tier == **tier)?.cpu_cores)))
    };
    row.extend(tiers.iter().map(cores));
    if lines {
        let line = answer(record, trial);
        let ends = [line.map(|line| line.load), line.map(|line| line.low), line.map(|line| line.high)];
        row.extend(ends.map(number));
    }
    for table in sweep(record).iter().flat_map(|sweep| &sweep.published) {
        let ours = seen.and_then(|seen| Some(table.figure.of(seen)?.value * table.figure.times));
        let published = table.rows.iter().find(|row| row.cell == Some(trial.arm)).map(|row| row.value);
        row.extend([number(ours), number(published)]);
    }
    row.push(trial.run.clone());
    row
}

/// Two columns for each published table: our figure in the table's unit, and the published one of that cell.
fn beside(sweep: &Sweep) -> Vec<String> {
    let mut heading: Vec<String> = Vec::new();
    for table in &sweep.published {
        let name = table.of.replace(' ', "_");
        let taken =
            heading.iter().filter(|known| **known == name || known.starts_with(&format!("{name}#"))).count();
        let name = if taken == 0 { name } else { format!("{name}#{}", taken + 1) };
        heading.extend([name.clone(), format!("published_{name}")]);
    }
    heading
}

/// The load line of the trial's cell and repeat.
fn answer<'a>(record: &'a StudyRecord, trial: &Trial) -> Option<&'a LoadLine> {
    let cell = sweep(record)?.cells.get(trial.arm)?;
    match cell.answers.get(trial.block as usize)? {
        FindAnswer::LoadLine(line) => Some(line),
        FindAnswer::NoAnswer(_) => None,
    }
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
}
