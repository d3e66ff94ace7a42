//! A comparison as JUnit XML, which every CI server shows: a test case for each figure. It keeps to what Ant's schema and
//! those that grew out of it have in common: no attributes of `testsuites`, no output of a single test case.

use model::StudyRecord;
use model::record::Outcome;
use model::study::{Compare, Effect, Question};

use super::words;

/// The comparison as JUnit XML; absent for other studies. The figure that the sentence is about fails when the gate
/// did not hold, and is in error when there is no conclusion; the other figures tell what was seen of them.
pub fn junit(record: &StudyRecord) -> Option<String> {
    let Question::Compare(compare) = &record.question else { return None };
    let failures = usize::from(compare.gate_held == Some(false));
    let ended = record.outcome == Outcome::Completed && compare.conclusion.is_some();
    let errors = usize::from(failures == 0 && !ended);
    let cases: String = match compare.effects.as_slice() {
        // A comparison that ended before its first block has no figure yet, but says so.
        [] => case(record, &compare.by, record.spent_s, &verdict(record, failures, errors)),
        effects => effects
            .iter()
            .enumerate()
            .map(|(index, effect)| of(record, compare, effect, index, failures, errors))
            .collect(),
    };
    let tests = compare.effects.len().max(1);
    let figure = |effect: &Effect| {
        format!("{}: {}", words::figure(&effect.figure, effect.operation.as_deref()), words::effect(effect))
    };
    let out: Vec<String> =
        std::iter::once(record.sentence.clone()).chain(compare.effects.iter().map(figure)).collect();
    let name = escape(&format!("plimsoll compare {}", record.setup.kit));
    let time = seconds(record.spent_s);
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\"");
    let timestamp = escape(record.started.trim_end_matches('Z'));
    Some(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  \
         <testsuite name=\"{name}\" {counts} time=\"{time}\" timestamp=\"{timestamp}\" hostname=\"localhost\" id=\"0\" package=\"plimsoll\">\n\
         {properties}{cases}    <system-out>{out}</system-out>\n    <system-err></system-err>\n  </testsuite>\n</testsuites>\n",
        properties = properties(record, compare),
        out = out.iter().map(|line| escape(line)).collect::<Vec<_>>().join("\n"),
    ))
}

fn of(
    record: &StudyRecord,
    compare: &Compare,
    effect: &Effect,
    index: usize,
    failures: usize,
    errors: usize,
) -> String {
    let name = format!("{} at {}", words::figure(&effect.figure, effect.operation.as_deref()), compare.load);
    // All figures come from the same trials: their time is counted once.
    let (took_s, inner) = match index {
        0 => (record.spent_s, verdict(record, failures, errors)),
        _ => (0.0, String::new()),
    };
    case(record, &name, took_s, &inner)
}

fn verdict(record: &StudyRecord, failures: usize, errors: usize) -> String {
    let message = escape(&record.sentence);
    match (failures, errors) {
        (0, 0) => String::new(),
        (0, _) => format!("        <error message=\"{message}\" type=\"unfinished\">{message}</error>\n"),
        _ => format!("        <failure message=\"{message}\" type=\"gate\">{message}</failure>\n"),
    }
}

fn case(record: &StudyRecord, name: &str, took_s: f64, inner: &str) -> String {
    let class = escape(&format!("plimsoll.compare.{}", record.setup.kit));
    let (name, time) = (escape(name), seconds(took_s));
    format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\">\n{inner}    </testcase>\n")
}

fn properties(record: &StudyRecord, compare: &Compare) -> String {
    let label = |arm: usize| record.arms.get(arm).map_or_else(String::new, |arm| arm.label.clone());
    let gate = compare.gate_ratio.map(|gate| ("gate_ratio", gate.to_string()));
    let known = [
        ("study", record.id.clone()),
        ("a", label(0)),
        ("b", label(1)),
        ("load", compare.load.clone()),
        ("band_ratio", compare.band_ratio.to_string()),
    ];
    let line = |(name, value): (&str, String)| {
        format!("      <property name=\"{name}\" value=\"{}\"/>\n", escape(&value))
    };
    let lines: String = known.into_iter().chain(gate).map(line).collect();
    format!("    <properties>\n{lines}    </properties>\n")
}

fn seconds(seconds: f64) -> String {
    format!("{:.3}", if seconds.is_finite() { seconds.max(0.0) } else { 0.0 })
}

/// `text` as it can stand in an element or an attribute: what XML 1.0 has no way to write becomes `·`.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\n' | '\t' | '\r' => escaped.push(' '),
            c if crate::terminal::hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('·'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_can_end_its_element_or_is_unknown_to_xml() {
        assert_eq!(escape("<a b=\"c\">'&\u{1b}]]>\u{0}\n"), "&lt;a b=&quot;c&quot;&gt;&apos;&amp;·]]&gt;· ");
    }
}
