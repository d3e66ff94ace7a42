//! A sweep on the real stack: every cell has its row, and one that was killed goes on.

use crate::study_progress::{expect_as_kept, studies_of};
use crate::tool::{Finished, Home, have, overlay, wait_for};

const STACK: &str = "apache-prefork-modphp-mariadb";

const STUDY: &str = "\
format = 1
name = \"two-by-two\"
title = \"Two by two\"
kit = \"dvdstore\"
users = [3, 6]
window = \"4s\"
[[factor]]
knob = \"web.MaxRequestWorkers\"
values = [8, 64]
";

/// On a busy machine a cell may stay without a valid trial, which is exit 3: what is measured is there all the same.
fn ended(finished: Finished) -> Finished {
    assert!(matches!(finished.code, Some(0 | 3)), "{finished:#?}");
    finished
}

#[test]
fn a_sweep_that_was_killed_goes_on_and_has_a_row_for_every_cell() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let dir = overlay(&[("two-by-two.toml", STUDY)]);
    let file = dir.path().join("two-by-two.toml");
    let running = home.plimsoll("sweep").arg(&file).start();
    let studies = home.path().join("studies");
    let record = || {
        let directory = std::fs::read_dir(&studies).ok()?.flatten().next()?.path();
        let text = std::fs::read_to_string(directory.join("study.json")).ok()?;
        let record: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some((directory, record))
    };
    let trials = || record().map_or(0, |(_, record)| record["trials"].as_array().map_or(0, Vec::len));
    wait_for("two trials are kept", || (trials() >= 2).then_some(()));
    running.signal(rustix::process::Signal::KILL);
    running.wait();
    home.expect_nothing_left();
    let (directory, before) = record().expect("the study is kept");
    assert_eq!(before["outcome"], "unfinished");
    ended(home.plimsoll("sweep --resume last").run()).says("2 trials are kept");
    let (_, after) = record().expect("the study is kept");
    assert_eq!(after["outcome"], "completed", "{after:#}");
    let kept = serde_json::from_value(after.clone()).expect("a study's record");
    expect_as_kept(&studies_of(&home.path().join("measuring.jsonl")), &kept);
    assert_eq!(after["trials"][1], before["trials"][1], "what was kept is not measured again");
    let cells: std::collections::BTreeSet<u64> = after["trials"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|trial| trial["arm"].as_u64().expect("an arm"))
        .collect();
    assert_eq!(cells.len(), 4, "every cell was measured: {after:#}");
    let csv = std::fs::read_to_string(directory.join("results.csv")).expect("results.csv is there");
    assert!(csv.lines().count() > 4, "a head and a row for every trial:\n{csv}");
    assert!(directory.join("report.html").is_file());
    home.plimsoll("sweep --resume last").run().expect(2).says("has its answer");
}

#[test]
fn a_study_is_shown_before_it_is_measured_and_refused_with_its_mistakes() {
    let home = Home::shared();
    home.plimsoll("sweep sun-2008-table3 --plan").run().expect(0).says("Cells: 7").says("in all");
    home.plimsoll("sweep sun-2008-table3 --csv nowhere/x.csv").run().expect(2).says("folder is not there");
    home.plimsoll("sweep sun-2008-tabl3").run().expect(2).says("`sun-2008-table3`");
    let wrong = STUDY.replace("[8, 64]", "[8, 0]").replace("users = [3, 6]", "user = [3]");
    let dir = overlay(&[("two-by-two.toml", &wrong)]);
    let file = dir.path().join("two-by-two.toml");
    home.plimsoll("sweep").arg(&file).run().expect(2).says("two-by-two.toml:5: user: unknown key");
    let wrong = STUDY.replace("[8, 64]", "[8, 0]");
    let dir = overlay(&[("two-by-two.toml", &wrong)]);
    let file = dir.path().join("two-by-two.toml");
    let told = home.plimsoll("check").arg(&file).run().expect(2);
    told.says("two-by-two.toml:9: set.web.MaxRequestWorkers: 0 is out of range").says("users = 3 and 1 more");
}
