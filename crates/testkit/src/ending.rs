//! How a test ends that neither passed nor failed: skipped, because the machine lacks something, or not judged, because
//! the machine was disturbed. Both say so, and both are noted where the gate counts them (`scripts/endings.sh`).

use std::fs::OpenOptions;
use std::io::Write;

/// Names the file to which each ending is added as a line: kind, test, reason, with tabs between.
pub const NOTES: &str = "PLIMSOLL_TEST_ENDINGS";

/// What could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Whether the instrument tells the truth: the gate allows none of these to stay open.
    Truth,
    /// Anything else; the gate allows a few.
    Other,
}

/// Says why a test is skipped; always false, so that a test can `return skip(…)` where it asks for what it needs.
///
/// # Panics
/// With `CI=true`: there nothing is skipped, and the test fails with the reason.
#[track_caller]
pub fn skip(why: &str) -> bool {
    let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    assert!(!is_ci, "it can't be skipped in CI: {why}");
    note("skipped", why);
    false
}

/// Says that a test asserted that something is refused which this machine can't do. That is a pass: whether the refusal is
/// right was the question, and another machine answers the other one. In CI as well.
pub fn refused(why: &str) {
    note("refused", why);
}

/// Says that a test has run and could not judge, which is no pass.
pub fn not_judged(question: Question, why: &str) {
    let kind = match question {
        Question::Truth => "not judged (truth)",
        Question::Other => "not judged",
    };
    note(kind, why);
}

#[allow(clippy::print_stderr, reason = "a test that did not judge says so")]
fn note(kind: &str, why: &str) {
    eprintln!("{kind}: {why}");
    let Some(path) = std::env::var_os(NOTES) else { return };
    let line = format!("{kind}\t{}\t{}\n", test_name(), why.replace(['\n', '\t'], " "));
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// As nextest names it, else the thread, which libtest names after its test.
fn test_name() -> String {
    let of_nextest = |name: &str| std::env::var(name).ok();
    match (of_nextest("NEXTEST_BINARY_ID"), of_nextest("NEXTEST_TEST_NAME")) {
        (Some(binary), Some(test)) => format!("{binary} {test}"),
        _ => std::thread::current().name().unwrap_or("a test").to_string(),
    }
}
