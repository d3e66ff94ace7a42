//! A study's trials as CSV (RFC 4180): a row for each, for spreadsheets and data frames. The columns are described in
//! `docs/reference/study-csv.md`.

use model::StudyRecord;
use model::record::study::Trial;

use super::trials::figure;
use super::view::{CsvColumn, CsvColumns, view};
use super::words::{self, digits};

/// A row for each trial, after a heading; lines end with CR LF. Numbers have all their digits and no grouping, what
/// there is no figure for is empty.
pub fn csv(record: &StudyRecord) -> String {
    let CsvColumns { before, after } = view(&record.question).csv(record);
    let run = CsvColumn::of(record, "run", |trial| trial.run.clone());
    let columns: Vec<CsvColumn> =
        before.into_iter().chain(common(record)).chain(tiers(record)).chain(after).chain([run]).collect();
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let heading = columns.iter().map(|column| column.name.as_str()).collect();
    let row = |trial: usize| columns.iter().map(|column| column.values[trial].as_str()).collect();
    let rows = (0..record.trials.len()).map(row);
    for row in std::iter::once::<Vec<&str>>(heading).chain(rows) {
        writer.write_record(&row).expect("a vector takes every byte, and all rows have the heading's length");
    }
    let bytes = writer.into_inner().expect("a vector takes every byte");
    String::from_utf8(bytes).expect("only text was written")
}

/// What is known of a trial in every study.
fn common(record: &StudyRecord) -> Vec<CsvColumn> {
    let of = |name: &str, value: &dyn Fn(&Trial) -> String| CsvColumn::of(record, name, value);
    let number = |name: &str, key: &str| CsvColumn::of(record, name, |trial| digits(figure(trial, key)));
    let faults = |trial: &Trial| {
        let faults = trial.faults.iter().chain(&trial.overloaded);
        faults.map(|fault| fault.check.id()).collect::<Vec<_>>().join(" ")
    };
    vec![
        of("repeat", &|trial| (trial.block + 1).to_string()),
        of("trial", &|trial| trial.number.to_string()),
        of("purpose", &|trial| trial.purpose.word().to_string()),
        of("load", &|trial| trial.load.to_string()),
        of("load_unit", &|trial| words::load_unit(record, trial.arm).to_string()),
        of("warm_up_s", &|trial| digits(trial.warm_up_s)),
        of("window_s", &|trial| trial.window_s.to_string()),
        number("throughput_per_s", "throughput"),
        number("mean_s", "mean"),
        number("sd_s", "sd"),
        number("p50_s", "p50"),
        number("p95_s", "p95"),
        number("p99_s", "p99"),
        of("failed_ratio", &|trial| digits(trial.measured.as_ref().map(|measured| measured.failed_ratio))),
        of("pass", &|trial| trial.pass().map_or_else(String::new, |pass| pass.to_string())),
        of("valid", &|trial| trial.valid().to_string()),
        of("faults", &faults),
    ]
}

/// The cores that each tier kept busy.
fn tiers(record: &StudyRecord) -> Vec<CsvColumn> {
    let all = record.trials.iter().filter_map(|trial| trial.measured.as_ref());
    let mut names: Vec<&str> = Vec::new();
    for name in all.flat_map(|measured| &measured.tiers).map(|tier| tier.tier.as_str()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let cores = |trial: &Trial, name: &str| {
        let tiers = &trial.measured.as_ref()?.tiers;
        tiers.iter().find(|tier| tier.tier == name).map(|tier| tier.cpu_cores)
    };
    let column =
        |name: &str| CsvColumn::of(record, format!("cpu_{name}_cores"), |trial| digits(cores(trial, name)));
    names.into_iter().map(column).collect()
}
