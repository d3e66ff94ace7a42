//! The kit `caldav` under load: a measured run, and one in the middle of which Radicale is killed.

use tempfile::TempDir;

use crate::caldav;
use crate::caldav_promises;
use crate::followed::Followed;
use crate::outage::{kill, server};
use crate::record::{all_done, ended_by_a_kill, metric, nothing_is_lost, row};
use crate::tool::{Home, Tool, catalogue, have, judged, overlay};

/// The kit, but with as many updates as polls: only what was updated since the last poll can be tried with an old tag. And
/// with more of what is rare: even 150 operations of a busy machine have some of each.
fn busy() -> TempDir {
    let rare = "\nUpdate = 7\nDelete = 3\nWeek = 5\nGet = 3\n";
    let busier = "\nUpdate = 57\nDelete = 20\nWeek = 15\nGet = 15\n";
    let kit = catalogue("kits/caldav/kit.toml");
    assert!(kit.contains(rare), "the mix has other shares now");
    overlay(&[("kits/caldav/kit.toml", &kit.replacen(rare, busier, 1))])
}

/// Programs in a hurry, which lose every third token and update what they have not asked for.
fn run_of_today(kit: &TempDir, words: &str) -> Tool {
    let hurried = "--param think_time=0.2 --param conflicts=1 --param lost_tokens=0.3";
    let words =
        format!("run caldav {} --users 6 {hurried} {words} --ramp-down 0s --json --catalogue", caldav::DATA);
    Home::shared().plimsoll(&words).arg(kit.path())
}

#[test]
fn programs_of_today_are_told_what_was_confirmed_and_nothing_else() {
    if !have(caldav::STACK) {
        return;
    }
    let kit = busy();
    let load = "--ramp-up 4s --steady 15s";
    let tool = || run_of_today(&kit, load).arg("--qos=p90 < 10s").arg("--qos=errors < 1%");
    let record = judged(tool).expect(0).json();
    assert_eq!(record["verdict"]["valid"], true, "{:#}", record["validity"]);
    // Without the first fetch, which is over by then, and what only servers without tokens are asked.
    let steady = ["Multiget", "Poll", "Sync", "Resync", "Create", "Update", "Delete", "Week", "Get"];
    all_done(&record, &steady);
    assert_eq!(metric(&record, "broken_promises"), 0.0);
    nothing_is_lost(&record, caldav_promises::STATEMENTS);
    for name in ["changes", "told_again", "conflicts", "tokens_refused"] {
        assert!(metric(&record, name) > 0.0, "{name}");
    }
    assert_eq!(row(&record, "validity", "check", "metric:broken_promises")["ok"], true);
    let tier = row(&record, "tiers", "tier", "web");
    assert!(tier["cpu_cores"].as_f64().is_some_and(|cores| cores > 0.0), "{tier:#}");
    Home::shared().expect_nothing_left();
}

#[test]
fn radicale_killed_mid_run_ends_it_as_invalid_and_no_promise_is_broken() {
    if !have(caldav::STACK) {
        return;
    }
    let kit = busy();
    let tool = run_of_today(&kit, "--ramp-up 2s --steady 300s");
    let (running, mut followed) = Followed::start(tool, "caldav", 3);
    followed.until("changes were confirmed", |run| run.count(&["Update"], 0).0 >= 5);
    let (completed, failed) = followed.count(&caldav::OPERATIONS, 0);
    assert!(completed > 0 && failed == 0, "{completed} completed, {failed} failed before");
    let lab = followed.run.record().id.clone();
    kill(server(&lab, "radicale.conf"));
    let record = running.wait().expect(3).json();
    ended_by_a_kill(&record, "web");
    assert_eq!(row(&record, "validity", "check", "metric:broken_promises")["ok"], true);
    // What was confirmed can't be asked for any more: that is said, and is no pass.
    let check = row(&record, "consistency", "name", "the check itself");
    let said = check["sentence"].as_str().unwrap_or_default();
    let expected = "the consistency check could not be made: REPORT /user";
    assert!(check["ok"] == false && said.starts_with(expected) && said.contains("refused"), "{check:#}");
    Home::shared().expect_nothing_left();
}
