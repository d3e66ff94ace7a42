//! A study as JUnit XML, which every CI server shows. It keeps to what Ant's schema and those that grew out of it have
//! in common: no attributes of `testsuites`, no output of a single test case. Why no library does it:
//! `docs/decisions/2026-11-23-junit.md`.

use model::StudyRecord;

use super::view::{Case, Verdict, view};

/// The study as JUnit XML; absent for studies in which nothing can fail. A test case that failed or is in error says the
/// study's sentence.
pub fn junit(record: &StudyRecord) -> Option<String> {
    let suite = view(&record.question).junit(record)?;
    let (verb, kit) = (record.question.verb(), &record.setup.kit);
    let count = |wanted: fn(Verdict) -> bool| suite.cases.iter().filter(|case| wanted(case.verdict)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\"",
        suite.cases.len(),
        count(|verdict| matches!(verdict, Verdict::Failure(_))),
        count(|verdict| matches!(verdict, Verdict::Error(_)))
    );
    let class = escape(&format!("plimsoll.{verb}.{kit}"));
    let cases: String = suite.cases.iter().map(|case| element(case, &class, &record.sentence)).collect();
    let property = |(name, value): (&str, String)| {
        format!("      <property name=\"{name}\" value=\"{}\"/>\n", escape(&value))
    };
    let properties = [("study", record.id.clone())].into_iter().chain(suite.properties);
    let properties: String = properties.map(property).collect();
    let output = [&record.sentence].into_iter().chain(&suite.output).map(|line| escape(line));
    Some(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  \
         <testsuite name=\"{name}\" {counts} time=\"{time}\" timestamp=\"{timestamp}\" hostname=\"localhost\" id=\"0\" package=\"plimsoll\">\n    \
         <properties>\n{properties}    </properties>\n\
         {cases}    <system-out>{output}</system-out>\n    <system-err></system-err>\n  </testsuite>\n</testsuites>\n",
        name = escape(&format!("plimsoll {verb} {kit}")),
        time = seconds(record.spent_s),
        timestamp = escape(record.started.trim_end_matches('Z')),
        output = output.collect::<Vec<_>>().join("\n"),
    ))
}

/// A test case; one that is no success says why in `message`.
fn element(case: &Case, class: &str, message: &str) -> String {
    let message = escape(message);
    let inner = |tag: &str, word: &str| {
        format!("        <{tag} message=\"{message}\" type=\"{word}\">{message}</{tag}>\n")
    };
    let inner = match case.verdict {
        Verdict::Success => String::new(),
        Verdict::Failure(word) => inner("failure", word),
        Verdict::Error(word) => inner("error", word),
    };
    let (name, time) = (escape(&case.name), seconds(case.took_s));
    format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\">\n{inner}    </testcase>\n")
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
            c if model::outside::hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('·'),
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
