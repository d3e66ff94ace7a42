//! The kit `caldav` when Radicale is killed under its programs and comes back: nothing that was confirmed is lost, and what
//! went wrong is counted.

use std::net::TcpStream;

use crate::caldav;
use crate::followed::Followed;
use crate::outage::{Started, ended, kill};
use crate::record::{all_failed, missed, nothing_is_lost, row};
use crate::tool::{Home, have, wait_for};

/// A run whose own stack loses a tier ends. What programs see from then on shows on a server that somebody starts again.
#[test]
fn radicale_that_is_killed_and_comes_back_is_found_again_and_breaks_no_promise() {
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
