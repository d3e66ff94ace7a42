//! The kit `caldav` after a run: whoever's server it is, it is asked for everything that it confirmed, and what is not
//! there is named.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::caldav;
use crate::followed::Followed;
use crate::record::{nothing_is_lost, row, rows};
use crate::tool::{Home, catalogue, have, judged, overlay};

/// The kit's check makes this number of statements where the server has sync-tokens.
pub(crate) const STATEMENTS: usize = 8;

/// The kit with another mix.
fn mixed(mix: &str) -> TempDir {
    let own = "\nPoll = 57\nCreate = 7\nUpdate = 7\nDelete = 3\nWeek = 5\nGet = 3\nRestart = 0.5\n";
    let kit = catalogue("kits/caldav/kit.toml");
    assert!(kit.contains(own), "the mix has other shares now");
    overlay(&[("kits/caldav/kit.toml", &kit.replacen(own, mix, 1))])
}

#[test]
fn a_server_that_somebody_else_started_is_held_to_its_promises_too() {
    if !have(caldav::STACK) {
        return;
    }
    // Nobody here guesses passwords: who is refused need not wait for it.
    let words = format!("up caldav {} --set web.auth.delay=0", caldav::DATA);
    let mut radicale = Home::shared().plimsoll(&words).start();
    let address = radicale.address();
    let radicale = radicale.until_dropped();
    let kit = mixed("\nPoll = 30\nCreate = 20\nUpdate = 20\nDelete = 10\n");
    let words = format!(
        "run caldav {} --target http://{address} --users 6 --param think_time=0.2 --ramp-up 4s --steady 10s \
         --ramp-down 0s --json --catalogue",
        caldav::DATA
    );
    // The server keeps what an earlier try left there: each draws objects of its own.
    let seed = Cell::new(1);
    let tool = || {
        let tool = Home::shared().plimsoll(&words).arg(kit.path()).arg(format!("--seed={}", seed.get()));
        seed.set(seed.get() + 1);
        tool.arg("--qos=p90 < 10s").arg("--qos=errors < 1%")
    };
    let record = judged(tool).expect(0).json();
    assert_eq!(record["setup"]["target"]["server"], address.as_str(), "{:#}", record["setup"]["target"]);
    nothing_is_lost(&record, STATEMENTS);
    let there = row(&record, "consistency", "name", THERE);
    let said = there["sentence"].as_str().unwrap_or_default();
    assert!(!said.contains("found 0,"), "there were changes: {said}");
    radicale.end().expect(0);
    Home::shared().expect_nothing_left();
}

const THERE: &str = "objects that were confirmed have the tag that was told";

#[test]
fn objects_that_vanish_from_the_disk_are_named_and_the_run_is_not_valid() {
    if !have(caldav::STACK) {
        return;
    }
    // Programs that only add, and never ask what has changed: they don't come upon what is missing by themselves.
    let kit = mixed("\nCreate = 1\n");
    let words = format!(
        "run caldav {} --users 3 --param think_time=2 --ramp-up 1s --steady 300s --ramp-down 0s --json --catalogue",
        caldav::DATA
    );
    let (running, mut followed) =
        Followed::start(Home::shared().plimsoll(&words).arg(kit.path()), "caldav", 3);
    followed.until("objects were added", |run| run.count(&["Create"], 0).0 >= 6);
    let lab = Home::shared().path().join("instances").join(&followed.run.record().id);
    let mut added = added_below(&lab);
    added.retain(|path| fs::remove_file(path).is_ok());
    // Each of the three may still come upon one of its own, when it sends the oldest away.
    assert!(added.len() > 3, "{added:?}");
    let record = running.end().expect(105).json();

    let broken: Vec<&str> = rows(&record, "consistency")
        .iter()
        .filter(|row| row["ok"] == false)
        .filter_map(|row| row["name"].as_str())
        .collect();
    let named = |name: &&str| added.iter().any(|path| name.contains(&file_name(path)));
    let there = broken.iter().find(|name| name.starts_with(THERE));
    assert!(there.is_some_and(named), "{broken:#?}, not one of {added:?}");
    assert_eq!(row(&record, "validity", "check", "consistency")["ok"], false);
    assert_eq!(record["verdict"]["valid"], false, "{:#}", record["verdict"]);
    Home::shared().expect_nothing_left();
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The files of objects that programs added: none of the data set is called so.
fn added_below(folder: &Path) -> Vec<PathBuf> {
    // Directories come and go while objects are written.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.flat_map(|entry| match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
        // What Radicale makes of its objects is called as they are.
        true if entry.file_name() == ".Radicale.cache" => Vec::new(),
        true => added_below(&entry.path()),
        false => vec![entry.path()],
    });
    paths.filter(|path| file_name(path).contains("-0001-4000-8000-")).collect()
}
