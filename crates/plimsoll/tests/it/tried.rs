//! What `plimsoll try` shows of a user whose sessions come in a fixed order.

use tempfile::TempDir;

use crate::tool::{Finished, catalogue, overlay};

/// The kit with one mix more, `turn`: its sessions in this order.
pub(crate) fn in_turn(kit: &str, sessions: &[&str], change: impl FnOnce(String) -> String) -> TempDir {
    let manifest = format!("kits/{kit}/kit.toml");
    let text = format!("{}\n[mixes.turn]\nsequence = {sessions:?}\n", change(catalogue(&manifest)));
    overlay(&[(&manifest, &text)])
}

/// What was shown of `sessions` is all of them, with these operations, and nothing failed.
#[track_caller]
pub(crate) fn legible(told: Finished, sessions: &[&str], operations: &[&str]) -> String {
    let shown = told.expect(0).stdout;
    let named = shown.lines().filter_map(|line| line.split_once(" s  session "));
    let named: Vec<&str> = named.filter_map(|(_, words)| words.strip_suffix(" of user 1")).collect();
    assert_eq!(named, sessions, "{shown}");
    for name in operations {
        assert!(shown.lines().any(|line| line.ends_with(&format!(" s    {name}"))), "{name}:\n{shown}");
    }
    assert!(!shown.contains("FAILED") && shown.trim_end().ends_with("session ends"), "{shown}");
    assert_eq!(shown.matches("session ends\n").count(), sessions.len(), "{shown}");
    shown
}

/// The statuses of the answers to the requests that begin so: each stands in the line below.
pub(crate) fn statuses<'a>(shown: &'a str, request: &str) -> Vec<&'a str> {
    let lines: Vec<&str> = shown.lines().collect();
    let asked = lines
        .windows(2)
        .filter(|pair| pair[0].split_once(" s      ").is_some_and(|(_, what)| what.starts_with(request)));
    asked.filter_map(|pair| pair[1].trim_start().split(',').next()).collect()
}
