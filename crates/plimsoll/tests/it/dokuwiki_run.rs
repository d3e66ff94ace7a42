//! The kit of docs/kits-tutorial.md on the real stack, by the tutorial's own commands.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::tool::{Finished, Home, Tool, have, judged};
use crate::tutorial::{commands, wikis};

const STACK: &str = "lighttpd-fpm";

/// The tutorial's command of that verb, in a folder that has the fixture as `wikis`.
fn command(home: &Home, folder: &Path, verb: &str) -> Tool {
    let line = commands().into_iter().find(|line| line.split(' ').nth(1) == Some(verb)).expect("it is shown");
    let words = line.strip_prefix("plimsoll ").expect("a command of ours");
    // Of words of the shell only the last one is quoted, if any is.
    let (plain, quoted) = words.split_once('\'').unwrap_or((words, ""));
    let (plain, option) = match quoted {
        "" => (plain, None),
        _ => plain.trim_end().rsplit_once(' ').map_or((plain, None), |(rest, option)| (rest, Some(option))),
    };
    let tool = home.plimsoll(plain).before(|command| _ = command.current_dir(folder));
    option.into_iter().fold(tool, |tool, option| tool.arg(option).arg(quoted.trim_end_matches('\'')))
}

/// Whether Debian's packages of the wiki can be fetched.
fn have_package() -> bool {
    let asked = Command::new("apt-get").args(["download", "--print-uris", "dokuwiki"]).output();
    asked.is_ok_and(|asked| asked.status.success())
        || testkit::ending::skip("apt knows no package dokuwiki: apt-get update")
}

fn says_what_was_tried(told: &Finished) {
    for part in
        ["session read (readers)", "session search", "session log_in (editors)", "session edit", "    Save"]
    {
        assert!(told.stdout.contains(part), "{part} is missing in:\n{}", told.stdout);
    }
    assert!(!told.stdout.contains("FAILED"), "{}", told.stdout);
}

/// A home, and a folder in which the tutorial's commands can be called; nothing where this machine lacks what they need.
fn ready() -> Option<(Home, TempDir)> {
    if !have(STACK) || !have_package() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a directory");
    symlink(wikis(), folder.path().join("wikis")).expect("a link");
    Some((Home::new(), folder))
}

#[test]
fn the_tutorial_s_kit_is_checked_tried_and_run() {
    let Some((home, folder)) = ready() else { return };
    command(&home, folder.path(), "check").run().expect(0).says("kit dokuwiki@1");
    says_what_was_tried(&command(&home, folder.path(), "try").run().expect(0));
    judged(|| command(&home, folder.path(), "run")).expect(0);
    let run = home.last_run();
    assert_eq!(run["verdict"]["valid"], true, "{:#}", run["verdict"]);
    let saved = run["operations"].as_array().expect("operations").iter().find(|row| row["name"] == "Save");
    assert!(saved.is_some_and(|row| row["completed"].as_u64() > Some(0)), "{:#}", run["operations"]);
    let held = run["consistency"].as_array().expect("a check");
    assert!(!held.is_empty() && held.iter().all(|one| one["ok"] == true), "{held:#?}");
    home.expect_nothing_left();
}

#[test]
fn the_load_line_of_the_tutorial_s_kit_is_looked_for_and_explained() {
    let Some((home, folder)) = ready() else { return };
    let found = command(&home, folder.path(), "find").run();
    assert!(matches!(found.code, Some(0 | 3)), "{}\n{}", found.stdout, found.stderr);
    let why = command(&home, folder.path(), "explain").run().expect(0);
    assert!(!why.stdout.contains("Nothing was watched"), "{}", why.stdout);
    home.expect_nothing_left();
}
