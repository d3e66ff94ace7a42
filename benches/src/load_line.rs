//! A find's answer as a row of docs/results/load-lines.md.

use std::path::{Path, PathBuf};

use model::StudyRecord;
use model::record::study::{FindAnswer, Question};
use model::units::show_seconds;

use crate::Failure;

/// Half the length of an interval, as a share of its line, that is short enough for the table.
const MAX_HALF_WIDTH_RATIO: f64 = 0.1;

/// A find that has its answer.
#[derive(Debug, clap::Args)]
pub(crate) struct Answered {
    /// Its `study.json`
    study: PathBuf,
    /// The commit that it was made with
    #[arg(long)]
    commit: String,
}

/// Prints the row: kit, stack, the answer, half the interval's length, whether the line is as short and confirmed on both
/// sides, what holds the stack there, what it took, when, and the commit.
pub(crate) fn row(asked: &Answered) -> Result<(), Failure> {
    let study = read(&asked.study)?;
    let Question::Find(find) = &study.question else { return Err("it is no find".into()) };
    let (half_width, reached) = match find.answer.as_ref().ok_or("it has no answer yet")? {
        FindAnswer::LoadLine(line) => {
            let half_width_ratio = (line.high - line.low) / (2.0 * line.load);
            let confirmed = line.passed.is_some() && line.failed.is_some();
            let reached = confirmed && half_width_ratio <= MAX_HALF_WIDTH_RATIO;
            (format!("±{:.1} %", 100.0 * half_width_ratio), reached)
        }
        FindAnswer::NoAnswer(_) => ("–".to_string(), false),
    };
    let limit = study.diagnosis.as_ref().map(|diagnosis| cell(&diagnosis.sentence)).unwrap_or_default();
    println!(
        "| {} | {} | {} | {half_width} | {} | {limit} | {} trials, {} | {} | {} |",
        study.arms[0].recipe.kit,
        study.arms[0].label,
        cell(&study.sentence),
        if reached { "yes" } else { "no" },
        study.trials.len(),
        show_seconds(study.spent_s.round()),
        study.started.get(..10).unwrap_or_default(),
        asked.commit
    );
    Ok(())
}

/// A text that ends no cell.
fn cell(text: &str) -> String {
    text.replace('|', "/").replace('\n', " ")
}

fn read(path: &Path) -> Result<StudyRecord, Failure> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read(path).map_err(|error| named(&error))?;
    Ok(serde_json::from_slice(&text).map_err(|error| named(&error))?)
}
