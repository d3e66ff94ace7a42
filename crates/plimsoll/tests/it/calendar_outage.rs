//! Both kits of calendars when something is lost for a moment and there again: the connections of PHP to its database are
//! cut under a measured run, and Radicale is killed under its programs. Nothing that was confirmed is lost, and what went
//! wrong is counted.

use std::net::TcpStream;

use crate::caldav;
use crate::calendar::{DATA, STACK};
use crate::calendar_run::OPERATIONS;
use crate::connections::Administrator;
use crate::followed::Followed;
use crate::outage::{Started, ended, kill};
use crate::record::{all_failed, missed, nothing_is_lost, row, rows};
use crate::tool::{Home, have, turn, wait_for};

/// Those that write.
const WRITES: [&str; 3] = ["Put", "Delete", "JsonSave"];
/// The kit's check makes so many.
const STATEMENTS: usize = 8;

#[test]
fn connections_of_php_that_are_cut_break_no_promise_and_are_made_anew() {
    let _turn = turn();
    if !have(STACK) {
        return;
    }
    let words = format!(
        "run calendar {DATA} --stack {STACK} --users 8 --ramp-up 1s --steady 300s --ramp-down 0s --json"
    );
    let tool = Home::shared().plimsoll(&words).arg("--qos=errors < 0.1%");
    let (running, mut followed) = Followed::start(tool, "calendar", 3);
    assert_eq!(followed.count(&OPERATIONS, 0).1, 0, "nothing has failed before");

    let mut administrator = Administrator::of(&followed.run.record().id);
    let mut cut = 0;
    // Those of a process that waits are looked at before they are used: only what is under way is lost, a few at a time.
    wait_for("writes fail, and others", || {
        cut += administrator.cut("calendar");
        followed.read_on();
        let (writes, all) = (followed.count(&WRITES, 0).1, followed.count(&OPERATIONS, 0).1);
        (writes >= 2 && all >= 8).then_some(())
    });
    assert!(cut > 0, "there were connections to cut");
    let again = followed.count_from();
    followed.until("users go on", |run| run.count(&OPERATIONS, again).0 >= 40);
    followed.until("users write again", |run| run.count(&WRITES, again).0 >= 10);
    let (completed, failed_again) = followed.count(&OPERATIONS, again);
    assert_eq!(failed_again, 0, "{completed} completed since second {again}");

    let record = running.end().expect(105).json();
    assert!(all_failed(&record) >= 8, "{:#}", record["operations"]);
    missed(&record, "errors < 0.1%");
    let evidence = rows(&record, "evidence");
    assert!(!evidence.is_empty(), "what the server said is kept");
    for one in evidence {
        let text = |key: &str| one[key].as_str().unwrap_or_default();
        assert!(text("message").starts_with("status 503"), "{one:#}");
        assert!(text("answer").contains("The calendar does not reach its database"), "{one:#}");
    }
    // Each object that was confirmed, with its tag; of those that were not, none by halves.
    nothing_is_lost(&record, STATEMENTS);
    Home::shared().expect_nothing_left();
}

/// A run whose own stack loses a tier ends. What programs see from then on shows on a server that somebody starts again.
#[test]
fn radicale_that_is_killed_and_comes_back_is_found_again_and_breaks_no_promise() {
    let _turn = turn();
    if !have(caldav::STACK) {
        return;
    }
    let mut radicale = Home::shared().plimsoll(&format!("up caldav {}", caldav::DATA)).start();
    let (address, pid) = (radicale.address(), radicale.pid_of("web"));
    let radicale = radicale.until_dropped();
    // Programs in a hurry, some of which lose their token and try what has an old tag.
    let words = format!(
        "run caldav {} --target http://{address} --users 6 --param think_time=0.2 --param conflicts=1 \
         --param lost_tokens=0.1 --ramp-up 2s --steady 300s --ramp-down 0s --json",
        caldav::DATA
    );
    let tool = Home::shared().plimsoll(&words).arg("--qos=errors < 0.1%");
    let (running, mut followed) = Followed::start(tool, "caldav", 3);
    followed.until("changes were confirmed", |run| run.count(&["Create", "Update"], 0).0 >= 10);
    let before = followed.count(&caldav::OPERATIONS, 0).1;
    assert_eq!(before, 0, "nothing has failed before");

    let server = Started::of(pid);
    kill(pid);
    followed.until("requests fail", |run| run.count(&caldav::OPERATIONS, 0).1 >= 5);
    let server = server.again();
    wait_for("it listens again", || TcpStream::connect(&address).ok());
    let again = followed.count_from();
    // By the tokens and the tags that they had before it was killed.
    followed.until("programs keep in step", |run| run.count(&["Sync"], again).0 >= 5);
    followed.until("changes are confirmed", |run| run.count(&["Create", "Update", "Delete"], again).0 >= 10);
    let (completed, failed_again) = followed.count(&caldav::OPERATIONS, again);
    assert_eq!(failed_again, 0, "{completed} completed since second {again}");

    let record = running.end().expect(105).json();
    assert!(all_failed(&record) >= 5, "{:#}", record["operations"]);
    missed(&record, "errors < 0.1%");
    assert_eq!(row(&record, "validity", "check", "metric:broken_promises")["ok"], true);
    nothing_is_lost(&record, crate::caldav_promises::STATEMENTS);
    radicale.end().expect(0).says("web: the server ended");
    ended(server);
    Home::shared().expect_nothing_left();
}
