//! How far an agent's clock is ahead is known over a real broker, within the bound that is told with it: the agent is a process in a
//! time namespace, whose CLOCK_MONOTONIC is ahead by a known number of seconds.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fleet::bus::{Name, Reader, StreamOf};
use testkit::ending::skip;

use crate::agents::{Key, Process, start, words};
use crate::broker::Nats;
use crate::job::BUILD;

const QUESTIONS: usize = 32;

/// An agent whose clock is ahead by that number of seconds.
fn agent_ahead_by(seconds: i64, nats: &Nats, folder: &Path) -> Process {
    let ahead = ["unshare", "--time", "--fork", "--kill-child", "--monotonic", &seconds.to_string()]
        .map(str::to_string);
    start(&[&ahead[..], &words(nats, folder, "far", &Key::new().public(), BUILD)].concat())
}

fn is_possible() -> bool {
    let tried = Command::new("unshare").args(["--time", "--fork", "--monotonic", "1", "true"]).output();
    let made = tried.is_ok_and(|output| output.status.success());
    made || skip("time namespaces take root, and a kernel that has them")
}

#[test]
fn how_far_an_agent_s_clock_is_ahead_lies_within_the_bound_that_is_told() {
    let Some(nats) = Nats::begin() else { return };
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let name = |text| Name::of(text).expect("a name");
    let stream = StreamOf { fleet: name("lab"), run: name("r-1"), max_bytes: 1 << 20 };
    let begun = Reader::begin(nats.broker(), stream, BTreeMap::new(), Duration::from_secs(30));
    let reader = begun.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(reader.clock(&name("nobody"), 1), None, "nobody answers for an agent that isn't there");
    for (number, ahead_s) in [86_400, 7].into_iter().enumerate() {
        let spool = folder.path().join(number.to_string());
        let far = agent_ahead_by(ahead_s, &nats, &spool);
        let began = Instant::now();
        let offset = loop {
            if let Some(offset) = reader.clock(&name("far"), QUESTIONS) {
                break offset;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "the agent doesn't answer");
        };
        let truth_ns = ahead_s * 1_000_000_000;
        assert!(offset.low_ns <= truth_ns && truth_ns <= offset.high_ns, "{ahead_s} s: {offset:?}");
        assert!(offset.bound_ns() < 10_000_000, "{ahead_s} s: {offset:?}");
        drop(far);
    }
}
