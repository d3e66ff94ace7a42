//! What every kind of study shows.

use std::path::Path;

use model::StudyRecord;
use model::record::study::Trial;

use crate::settings::Settings;
use crate::study::words;
use crate::terminal::paint::Paint;
use crate::terminal::table::wrap;
use crate::{figures, study};
use model::outside::one_line as plain;

/// How many trials of a kind are told of one by one.
const FAULTS_SHOWN: usize = 6;

/// What was measured on what, and for how long.
pub(super) fn setup(record: &StudyRecord, width: usize) -> String {
    let what = study::title(record);
    let took = format!(
        "{}, {} trials in {}, started {}",
        words::data_set(record),
        record.trials.len(),
        figures::duration(Some(record.spent_s)),
        figures::moment(&record.started)
    );
    let lines = [Some(what), Some(took), Settings::of_study(record).line()];
    lines.iter().flatten().map(|line| wrap(&plain(line), width, "  ") + "\n").collect()
}

/// The trials that are not valid, each with its first reason.
pub(super) fn faults(record: &StudyRecord, width: usize, paint: Paint) -> String {
    let invalid = words::invalid(record);
    let title = format!("Not valid: {} of {} trials", invalid.len(), record.trials.len());
    reasons(record, &title, &invalid, width, paint)
}

/// The trials that were overloaded, each with the first check that showed it.
pub(super) fn overloaded(record: &StudyRecord, width: usize, paint: Paint) -> String {
    let over = words::overloaded(record);
    let title = format!("Overloaded: {} of {} trials, counted as failed", over.len(), record.trials.len());
    reasons(record, &title, &over, width, paint)
}

fn reasons(record: &StudyRecord, title: &str, trials: &[&Trial], width: usize, paint: Paint) -> String {
    if trials.is_empty() {
        return String::new();
    }
    let mut text = paint.bad(title) + "\n";
    for trial in trials.iter().take(FAULTS_SHOWN) {
        let why = trial.faults.first().map_or("nothing was measured", |fault| fault.sentence.as_str());
        let load = words::load(record, trial.arm, trial.load);
        text.push_str(
            &(wrap(&format!("  trial {}, {load}: {}", trial.number, plain(why)), width, "    ") + "\n"),
        );
    }
    if trials.len() > FAULTS_SHOWN {
        text.push_str(&format!("  and {} more in study.json\n", trials.len() - FAULTS_SHOWN));
    }
    text
}

/// What the generator can do at most.
pub(super) fn ceiling(record: &StudyRecord, width: usize) -> String {
    record.ceiling.as_ref().map_or_else(String::new, |ceiling| {
        wrap(&format!("Generator: {}", words::ceiling(ceiling)), width, "  ") + "\n"
    })
}

/// How to repeat it, and where it is kept.
pub(super) fn end(record: &StudyRecord, directory: &Path, width: usize) -> String {
    let again = wrap(&format!("Again: {}", plain(&words::command(&record.command))), width, "  ");
    format!("{again}\nKept in {}\n", plain(&directory.display().to_string()))
}
