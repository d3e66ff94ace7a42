//! A find's answer as a row of docs/results/load-lines.md.

use model::record::study::{FindAnswer, Question};

use crate::Failure;
use crate::results::Kept;

/// Half the length of an interval, as a share of its line, that is short enough for the table.
const MAX_HALF_WIDTH_RATIO: f64 = 0.1;

/// Prints the row: kit, stack, the answer, half the interval's length, whether the line is as well known as asked and
/// confirmed on both sides, what holds the stack there.
pub(crate) fn row(kept: &Kept) -> Result<(), Failure> {
    let study = kept.study()?;
    let Question::Find(find) = &study.question else { return Err("it is no find".into()) };
    let (half_width, reached) = match find.answer.as_ref().ok_or("it has no answer yet")? {
        FindAnswer::LoadLine(line) => {
            let half_width_ratio = (line.high - line.low) / (2.0 * line.load);
            let confirmed = line.passed.is_some() && line.failed.is_some();
            (
                format!("±{:.1} %", 100.0 * half_width_ratio),
                confirmed && half_width_ratio <= MAX_HALF_WIDTH_RATIO,
            )
        }
        FindAnswer::NoAnswer(_) => ("–".to_string(), false),
    };
    let arm = &study.arms[0];
    let limit = study.diagnosis.as_ref().map_or("", |diagnosis| &diagnosis.sentence);
    let reached = if reached { "yes" } else { "no" };
    kept.put(&[&arm.recipe.kit, &arm.label, &study.sentence, &half_width, reached, limit], &study)
}
