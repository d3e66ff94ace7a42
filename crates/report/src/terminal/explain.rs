//! What `explain` prints: what holds the stack, and every reason.

use model::record::diagnosis::Diagnosis;
use model::{RunRecord, StudyRecord};

use super::holds::{self, Detail};
use super::paint::Paint;
use super::table::wrap;
use super::width;
use crate::explained::Tried;
use crate::{guests, statements, threads};
use model::outside::one_line as plain;

/// What holds the stack of a run; a sentence where nobody can say.
pub fn explain(record: &RunRecord, width: usize, colour: bool) -> String {
    let about = format!("run {}: {} on {}", record.id, record.setup.load_words(), record.setup.stack_title);
    let width = width::of_lines(width);
    let fault = record.injected.as_ref();
    let fault = fault.map(|fault| holds::injected(fault, &record.outages, width, Paint { colour }));
    if record.diagnosis.is_none() && !record.guests.is_empty() {
        return of_guests(record, &about, width);
    }
    if record.setup.is_by_hand() {
        let why =
            "the load was changed by hand: what was seen is of several loads, and nothing is said of any one";
        let lines = [about.as_str(), why, "try: plimsoll run, with the number of users that is of interest"];
        return lines.map(|line| wrap(&plain(line), width, "  ") + "\n").concat();
    }
    let (statements, threads) = (statements(record, width), threads(record, width));
    text(&about, record.diagnosis.as_ref(), fault, Tried::of_run(record), (width, colour))
        + &statements
        + &threads
}

/// What holds which guest; why, each one's own run says.
fn of_guests(record: &RunRecord, about: &str, width: usize) -> String {
    let held = guests::held(&record.guests);
    let first = record.guests.first().map_or(1, |guest| guest.guest.number);
    let why =
        format!("each guest's own run says what holds it, and why: plimsoll explain {}/{first}", record.id);
    let lines = [about.to_string()].into_iter().chain(held).chain([why]);
    lines.map(|line| wrap(&plain(&line), width, "  ") + "\n").collect()
}

/// What the database's clients spent their time in.
fn statements(record: &RunRecord, width: usize) -> String {
    if record.statements.is_empty() {
        return String::new();
    }
    let mut text = "\nStatements of the database, by looks once a second\n".to_string();
    for shown in record.statements.iter().map(statements::shown) {
        let verdict = shown.verdict.map(|verdict| format!(": {verdict}")).unwrap_or_default();
        text.push_str(&wrap(&format!("  {}", plain(&shown.text)), width, "    "));
        text.push('\n');
        text.push_str(&wrap(&format!("    {}{}", shown.time, plain(&verdict)), width, "    "));
        text.push('\n');
        for wait in &shown.row_waits {
            text.push_str(&wrap(&format!("    {}", plain(wait)), width, "    "));
            text.push('\n');
        }
    }
    text
}

/// What threads with a request were at.
fn threads(record: &RunRecord, width: usize) -> String {
    if record.threads.is_empty() {
        return String::new();
    }
    let mut text = "\nThreads with a request, by their virtual machine's own word\n".to_string();
    for shown in record.threads.iter().map(threads::shown) {
        for (line, indent) in
            [(format!("  {}", plain(&shown.call)), "    "), (format!("    {}", plain(&shown.doing)), "    ")]
        {
            text.push_str(&wrap(&line, width, indent));
            text.push('\n');
        }
    }
    text
}

/// What holds the stack of a find at its line.
pub fn explain_study(record: &StudyRecord, width: usize, colour: bool) -> String {
    let about = format!("study {}: {}", record.id, record.sentence);
    let width = width::of_lines(width);
    text(&about, record.diagnosis.as_ref(), None, Tried::of_study(record), (width, colour))
}

fn text(
    about: &str,
    diagnosis: Option<&Diagnosis>,
    fault: Option<String>,
    tried: Tried<'_>,
    (width, colour): (usize, bool),
) -> String {
    let about = wrap(&plain(about), width, "  ") + "\n";
    let Some(diagnosis) = diagnosis else {
        return about + "Nothing was watched that tells what holds it.\n";
    };
    let answer = holds::answer(diagnosis, width, Paint { colour });
    let reasons = holds::reasons(diagnosis, tried, Detail::Full, width);
    let parts = [answer + &about, fault.unwrap_or_default(), reasons];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}
