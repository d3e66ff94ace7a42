//! `--abort-on`: a server of the DeBox paper is ended at the wait that its loop must not have, and leaves its core.

use std::fs;

use testkit::ending::skip;

use crate::tool::{Home, have};

/// A loop that sends from files that it takes to be in memory, since mincore() says so of all to whoever may not write them.
const WORDS: &str = "run static --size quick --stack flash-new --users 4 --ramp-up 2s --steady 4s --ramp-down 0s \
                     --param page_cache=cold --set web.residency=mincore";

#[test]
fn the_first_wait_of_the_loop_for_the_disk_ends_the_server_with_the_wait_on_its_stack() {
    if !have("flash-new") {
        return;
    }
    let home = Home::shared();
    let record = home.plimsoll(&format!("{WORDS} --abort-on sendfile:disk --json")).run().json();
    if record["calls"].is_null() && record["aborted"].is_null() {
        skip(&format!("the kernel counts no calls here: {}", record["unseen"]));
        return;
    }
    assert_eq!(record["outcome"], "aborted", "{record:#}");
    let aborted = &record["aborted"];
    assert_eq!(
        (aborted["thread"].as_str(), aborted["call"].as_str()),
        (Some("loop"), Some("sendfile")),
        "{aborted:#}"
    );
    assert!(aborted["object"].as_str().is_some_and(|file| file.contains("class")), "{aborted:#}");
    assert!(
        record["verdict"]["sentence"].as_str().is_some_and(|said| said.contains("on purpose")),
        "{record:#}"
    );
    if let Some(program) = aborted["core"]["given_to"].as_str() {
        return eprintln!("this machine gives cores to {program}");
    }
    let core = aborted["core"]["kept"].as_str().unwrap_or_else(|| panic!("a core: {aborted:#}"));
    let run = home.path().join("runs").join(record["id"].as_str().expect("an id"));
    let bytes = fs::read(run.join(core)).expect("it can be read");
    // An ELF file of the type ET_CORE whose first process and thread are the one that waited.
    assert_eq!((&bytes[..4], bytes[16]), (&b"\x7fELF"[..], 4), "{core}");
    let name = b"loop\0";
    assert!(bytes.windows(name.len()).any(|part| part == name), "the note of the process names the loop");
    Home::shared().expect_nothing_left();
}

#[test]
fn a_server_whose_loop_never_waits_so_is_not_ended() {
    if !have("flash-new") {
        return;
    }
    let words = WORDS.replace("=mincore", "=nowait");
    let finished = Home::shared().plimsoll(&format!("{words} --abort-on openat:disk")).run();
    assert!(finished.stdout.contains("No server was ended for openat:disk"), "{finished:#?}");
}
