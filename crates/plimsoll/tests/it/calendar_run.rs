//! The kit `calendar` under load: measured runs, and runs in the middle of which a server stands still, is killed, or is
//! lost and comes back.

use std::fs;

use serde_json::{Value as Json, json};

use crate::calendar::{Calendar, DATA, STACK};
use crate::dav::{self, NEW, event, tag};
use crate::followed::Followed;
use crate::outage::{Started, Stopped, ended, kill, server};
use crate::record::{all_done, failed, metric, missed, nothing_is_lost, row, rows};
use crate::tool::{Home, Tool, have, judged, wait_for};

/// Of the kit's own mix. `Delete` stands beside it: it keeps the calendars as large as they are.
pub(crate) const OPERATIONS: [&str; 10] = [
    "Put",
    "Get",
    "Propfind",
    "Report",
    "JsonRpc",
    "JsonCalendars",
    "JsonSave",
    "AtomGet",
    "IcsGet",
    "Delete",
];
/// Three of a hundred together: a short run on a busy machine may have none.
const RARE: [&str; 2] = ["JsonCalendars", "JsonSave"];
const STRESS: [&str; 7] = ["Put", "Get", "Propfind", "Report", "MakeCalendar", "Delete", "DeleteCalendar"];
/// The kit's check makes this number of statements, and two fewer where calendars were deleted.
const STATEMENTS: usize = 8;

/// The mix of 2006 by users who never pause, or what `words` have instead.
fn run(words: &str) -> Tool {
    run_with(DATA, words)
}

fn run_with(data: &str, words: &str) -> Tool {
    let words = format!("run calendar {data} --stack {STACK} --users 8 {words} --ramp-down 0s --json");
    Home::shared().plimsoll(&words)
}

#[test]
fn a_measured_run_of_2006_does_all_of_its_mix_and_keeps_every_promise() {
    if !have(STACK) {
        return;
    }
    // An account for each user: nothing is deleted before a calendar has five objects more, and of three calendars a user
    // none may get so far on a busy machine.
    let data = "--size users=8 --param events_median=20 --param events_most=60";
    let tool = || run_with(data, "--ramp-up 2s --steady 20s").arg("--qos=p90 < 10s").arg("--qos=errors < 1%");
    let record = judged(tool).expect(0).json();
    assert_eq!(record["setup"]["stack"], STACK);
    assert_eq!(record["verdict"]["valid"], true, "{:#}", record["validity"]);
    let often: Vec<&str> = OPERATIONS.into_iter().filter(|name| !RARE.contains(name)).collect();
    all_done(&record, &often);
    for name in RARE {
        assert_eq!(failed(&record, name, "none"), 0);
    }
    nothing_is_lost(&record, STATEMENTS);
    let of_mix = rows(&record, "operations")
        .iter()
        .filter(|row| row["kind"] == "operation" && row["name"] != "Delete");
    let counts = of_mix.filter_map(|row| row["completed"].as_f64());
    let transactions = counts.sum::<f64>() / record["setup"]["steady_s"].as_f64().expect("a length");
    let told = metric(&record, "transactions");
    assert!((told / transactions - 1.0).abs() < 0.05, "{told} transactions a second, not {transactions}");
    let (mean_s, p99_s) = (metric(&record, "put_mean"), metric(&record, "put_p99"));
    assert!(0.0 < mean_s && mean_s < p99_s, "{mean_s} s on average and {p99_s} s");
    // Calendars are larger by a few objects, until as many go as come.
    assert!(metric(&record, "growth") >= 0.9, "{}", metric(&record, "growth"));
    let counted = &record["dataset"]["rows"];
    assert_eq!((&counted["users"], &counted["tickets"]), (&json!(8), &json!(8)), "{counted:#}");
    for tier in ["web", "db"] {
        let row = row(&record, "tiers", "tier", tier);
        assert!(row["cpu_cores"].as_f64().is_some_and(|cores| cores > 0.0), "{row:#}");
    }
    php_is_quiet(&record);
    a_population_is_held_against_it(&record, told);
    Home::shared().expect_nothing_left();
}

/// An old library on a new PHP may complain once, when it is compiled; not with each request, which would be most of what is
/// measured.
fn php_is_quiet(record: &Json) {
    let id = record["id"].as_str().expect("an id");
    let logs = Home::shared().path().join("runs").join(id).join("logs/web");
    assert!(logs.join("logs-error.log").exists(), "the tier's logs are kept: {}", logs.display());
    // Where PHP has said nothing there is none.
    let log = fs::read_to_string(logs.join("logs-php.log")).unwrap_or_default();
    assert!(!log.contains("PHP Fatal") && !log.contains("calendar: "), "{log}");
    assert!(log.lines().count() < 30, "{log}");
}

/// `plimsoll capacity` of the run: the mail's own question in its own unit.
fn a_population_is_held_against_it(record: &Json, per_s: f64) {
    let id = record["id"].as_str().expect("an id");
    // A transaction a day each, at a peak of twice the mean.
    let ask = |needed_per_s: f64| {
        let users = needed_per_s * 86_400.0 / 2.0;
        let words =
            format!("capacity --users {users} --per-user-per-day 1 --peak-factor 2 --of transactions");
        Home::shared().plimsoll(&format!("{words} --run {id} --json")).run()
    };
    let carried = ask(per_s / 4.0).expect(0).json();
    assert_eq!((&carried["run"], &carried["conclusion"]), (&json!(id), &json!("carries")), "{carried:#}");
    let number = |name: &str| carried[name].as_f64().unwrap_or_else(|| panic!("{name} in {carried:#}"));
    assert!((number("shown_per_s") / per_s - 1.0).abs() < 0.05, "{carried:#}");
    assert!((number("margin_ratio") - 0.75).abs() < 0.05, "{carried:#}");
    let short = ask(per_s * 4.0).expect(3).json();
    assert_eq!(short["conclusion"], "too_many", "{short:#}");
}

#[test]
fn a_measured_run_of_the_stress_mix_of_2007_makes_calendars_of_its_own() {
    if !have(STACK) {
        return;
    }
    let load = "--mix stress2007 --ramp-up 3s --steady 12s";
    let record = judged(|| run(load).arg("--qos=p90 < 10s").arg("--qos=errors < 1%")).expect(0).json();
    assert_eq!(record["setup"]["mix"], "stress2007");
    assert_eq!(record["verdict"]["valid"], true, "{:#}", record["validity"]);
    all_done(&record, &["Put", "Report"]);
    for name in STRESS {
        assert_eq!(failed(&record, name, "none"), 0);
    }
    // Eight users who pause for a quarter of a second on average.
    let told = metric(&record, "transactions");
    assert!(told > 0.0 && told < 8.0 / 0.2, "{told} transactions a second");
    nothing_is_lost(&record, STATEMENTS - 2);
    Home::shared().expect_nothing_left();
}

/// The database hangs, and so does everybody who asks for something; nobody is told a lie.
#[test]
fn a_database_that_stands_still_for_a_while_costs_time_and_no_promise() {
    if !have(STACK) {
        return;
    }
    let (running, mut followed) = Followed::start(run("--ramp-up 1s --steady 300s"), "calendar", 3);
    let lab = followed.run.record().id.clone();
    let stopped = Stopped::new(server(&lab, "mariadbd"));
    let from = followed.count_from();
    followed.until("seconds pass", |run| run.seconds.last().is_some_and(|second| second.number > from));
    assert_eq!(followed.count(&OPERATIONS, from), (0, 0), "nothing is answered meanwhile");
    drop(stopped);
    let again = followed.count_from();
    followed.until("users go on", |run| run.count(&OPERATIONS, again).0 >= 20);
    let record = running.end().expect(105).json();
    for name in OPERATIONS {
        assert_eq!(failed(&record, name, "none"), 0);
    }
    // Each of the eight users waited for it, and that is in the figures.
    let longest = OPERATIONS.iter().filter_map(|name| {
        let mut operations = rows(&record, "operations").iter().filter(|row| row["kind"] == "operation");
        operations.find(|row| row["name"] == *name)?["response"]["max_s"].as_f64()
    });
    let longest_s = longest.fold(0.0, f64::max);
    assert!(longest_s > 2.0, "two seconds passed at least: {longest_s}");
    nothing_is_lost(&record, STATEMENTS);
    Home::shared().expect_nothing_left();
}

/// A run whose own stack loses a tier ends. What users see from then on shows on a stack that goes on.
#[test]
fn a_database_that_is_lost_and_comes_back_is_told_and_found_again() {
    if !have(STACK) {
        return;
    }
    let calendar = Calendar::open();
    // A calendar of its own: users know how many objects are in theirs.
    let (mut owner, place) = (calendar.user(25), "/dav/calendars/user00025/kept/");
    owner.make_calendar(place, "Kept").must(201, "");
    let path = format!("{place}promised.ics");
    let text = event("promised", "20061012T070000Z", "20061012T080000Z", "Promised");
    let etag = tag(&owner.put(&path, NEW, &text).must(201, ""));
    let words = format!(
        "run calendar {DATA} --target http://{} --users 4 --ramp-up 1s --steady 300s --ramp-down 0s --json",
        calendar.address
    );
    let tool = Home::shared().plimsoll(&words).arg("--qos=errors < 0.1%");
    let (running, mut followed) = Followed::start(tool, "calendar", 3);
    assert_eq!(followed.count(&OPERATIONS, 0).1, 0, "nothing has failed before");

    let database = Started::of(calendar.database);
    kill(calendar.database);
    followed.until("requests fail", |run| run.count(&OPERATIONS, 0).1 >= 5);
    the_server_says_that_it_has_no_database(&mut owner, &path, &text);

    let restarted = database.again();
    wait_for("the calendar is there again", || (owner.get(&path).status == 200).then_some(()));
    assert_eq!(tag(&owner.get(&path).must(200, "SUMMARY:Promised")), etag, "what was confirmed is there");
    owner.put(&format!("{place}again.ics"), NEW, &text.replace("promised", "again")).must(201, "");
    let again = followed.count_from();
    followed.until("users go on", |run| run.count(&OPERATIONS, again).0 >= 20);
    let (completed, failed_again) = followed.count(&OPERATIONS, again);
    assert_eq!(failed_again, 0, "{completed} completed since second {again}");

    let record = running.end().expect(105).json();
    let counted: u64 = OPERATIONS.iter().map(|name| failed(&record, name, "status")).sum();
    assert!(counted >= 5, "{counted} operations were counted as failed");
    missed(&record, "errors < 0.1%");
    let evidence = rows(&record, "evidence");
    assert!(!evidence.is_empty(), "what the server said is kept");
    for one in evidence {
        let text = |key: &str| one[key].as_str().unwrap_or_default();
        assert!(text("message").starts_with("status 503"), "{one:#}");
        assert!(text("answer").contains("The calendar does not reach its database"), "{one:#}");
    }
    calendar.end().expect(0).says("db: the server ended");
    ended(restarted);
    Home::shared().expect_nothing_left();
}

/// At each door, with the moment at which to come again.
#[track_caller]
fn the_server_says_that_it_has_no_database(owner: &mut dav::Dav, path: &str, text: &str) {
    let call = json!({ "id": 1, "method": "getCalendars" }).to_string();
    for page in [
        owner.get(path),
        owner.put(path, "", text),
        owner.delete(path, ""),
        owner.get("/"),
        owner.ask("POST", "/json-rpc", "Content-Type: application/json\r\n", &call),
    ] {
        assert_eq!(page.header("retry-after"), Some("1"), "{}", page.head);
        page.must(503, "What was confirmed is kept");
    }
}
