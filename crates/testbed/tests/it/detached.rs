//! Processes of this machine that outlive the tool.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use testbed::{Detached, LastingProcess, StopOutcome};

use crate::waiting::wait_until;

/// One that a tool has started which has ended since.
fn left_by_another(folder: &Path, script: &str) -> LastingProcess {
    let mut actor = Command::new(env!("CARGO_BIN_EXE_testbed-actor"));
    let folder = folder.to_str().expect("text");
    let output =
        actor.args(["lasting", folder, script]).stdin(Stdio::null()).output().expect("the actor runs");
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("the actor says what it started")
}

#[test]
fn a_process_outlives_the_tool_and_is_stopped_by_a_later_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "echo ready; trap 'echo bye; exit' TERM; while :; do sleep 1 & wait $!; done";
    let left = left_by_another(folder.path(), script);
    assert!(left.is_alive());
    wait_until("its output", || left.last_lines(5) == ["ready"]);
    let other = LastingProcess { boot_id: "another".to_string(), ..left.clone() };
    assert!(!other.is_alive());
    assert_eq!(other.stop(Duration::ZERO).expect("no error"), StopOutcome::WasNotRunning);
    assert!(left.is_alive(), "one of another boot has nothing to do with it");
    assert_eq!(left.stop(Duration::from_secs(20)).expect("it ends"), StopOutcome::Terminated);
    assert!(!left.is_alive());
    assert_eq!(left.last_lines(5), ["ready", "bye"]);
    assert_eq!(left.stop(Duration::ZERO).expect("no error"), StopOutcome::WasNotRunning);
}

#[test]
fn a_process_that_ignores_term_is_killed_after_its_grace() {
    let folder = tempfile::tempdir().expect("a folder");
    let left = left_by_another(folder.path(), "trap '' TERM; echo ready; while :; do sleep 1; done");
    wait_until("its trap", || left.last_lines(5) == ["ready"]);
    assert_eq!(left.stop(Duration::from_millis(100)).expect("it ends"), StopOutcome::Killed);
    assert!(!left.is_alive());
}

#[test]
fn a_program_that_is_not_there_or_ends_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut detached = Detached {
        program: "/no/such/program".into(),
        args: Vec::new(),
        env: Vec::new(),
        dir: "/".into(),
        outputs: folder.path().to_path_buf(),
    };
    let said = detached.start_lasting().expect_err("it is not there").to_string();
    assert!(said.contains("failed to start /no/such/program"), "{said}");
    detached.program = "/bin/true".into();
    let process = detached.start_lasting().expect("it starts");
    wait_until("its end", || !process.is_alive());
}
