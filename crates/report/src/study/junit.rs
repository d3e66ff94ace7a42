//! A comparison as JUnit XML, which every CI server shows: a test case for each figure. It keeps to what Ant's schema and
//! those that grew out of it have in common: no attributes of `testsuites`, no output of a single test case.

use model::StudyRecord;
use model::record::Outcome;
use model::study::{Compare, Effect, Question};

use super::words;

/// The comparison as JUnit XML; absent for other studies. The figure that the sentence is about fails when the gate
/// did not hold, and is in error when there is no conclusion, no valid block, or a gate that could not be decided: what
/// nobody knows must not be green. The other figures tell what was seen of them.
pub fn junit(record: &StudyRecord) -> Option<String> {
    let Question::Compare(compare) = &record.question else { return None };
    let verdict = Verdict::of(record, compare);
    let inner = verdict.element(&record.sentence);
    let cases: String = match compare.effects.as_slice() {
        // A comparison that ended before its first block has no figure yet, but says so.
        [] => case(record, &compare.by, record.spent_s, &inner),
        effects => effects
            .iter()
            .enumerate()
            .map(|(index, effect)| of(record, compare, effect, (index == 0).then_some(inner.as_str())))
            .collect(),
    };
    let failures = usize::from(verdict == Verdict::Failure);
    let errors = usize::from(matches!(verdict, Verdict::Error(_)));
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

/// How a CI server shows the figure that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Success,
    /// The gate did not hold.
    Failure,
    /// Why it is neither: `unfinished`, `not-valid` or `undecided`.
    Error(&'static str),
}

impl Verdict {
    fn of(record: &StudyRecord, compare: &Compare) -> Verdict {
        let ended = record.outcome == Outcome::Completed && compare.conclusion.is_some();
        let seen = compare.effects.first().is_some_and(|effect| effect.blocks > 0);
        match (compare.gate_ratio, compare.gate_held) {
            (_, Some(false)) => Verdict::Failure,
            _ if !ended => Verdict::Error("unfinished"),
            _ if !seen => Verdict::Error("not-valid"),
            (Some(_), None) => Verdict::Error("undecided"),
            _ => Verdict::Success,
        }
    }

    /// What stands in the test case.
    fn element(self, sentence: &str) -> String {
        let message = escape(sentence);
        match self {
            Verdict::Success => String::new(),
            Verdict::Failure => {
                format!("        <failure message=\"{message}\" type=\"gate\">{message}</failure>\n")
            }
            Verdict::Error(why) => {
                format!("        <error message=\"{message}\" type=\"{why}\">{message}</error>\n")
            }
        }
    }
}

/// The test case of a figure; of the one that decides with `inner`, its verdict.
fn of(record: &StudyRecord, compare: &Compare, effect: &Effect, inner: Option<&str>) -> String {
    let name = format!("{} at {}", words::figure(&effect.figure, effect.operation.as_deref()), compare.load);
    // All figures come from the same trials: their time is counted once.
    let took_s = if inner.is_some() { record.spent_s } else { 0.0 };
    case(record, &name, took_s, inner.unwrap_or_default())
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
