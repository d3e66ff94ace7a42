//! The kit `calendar` when the connections of PHP to its database are cut under a measured run: nothing that was confirmed
//! is lost, and what went wrong is counted.

use crate::calendar::{DATA, STACK};
use crate::calendar_run::OPERATIONS;
use crate::connections::Administrator;
use crate::followed::Followed;
use crate::record::{all_failed, missed, nothing_is_lost, rows};
use crate::tool::{Home, have, wait_for};

/// Those that write.
const WRITES: [&str; 3] = ["Put", "Delete", "JsonSave"];
/// The kit's check makes this number of statements.
const STATEMENTS: usize = 8;

#[test]
fn connections_of_php_that_are_cut_break_no_promise_and_are_made_anew() {
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
