//! One program of today followed through everything that it does with calendars, on Radicale and on other servers.

use crate::caldav;
use crate::calendar_try::answered;
use crate::tool::{Home, have};
use crate::tried::{in_turn, legible, statuses};

/// The first one finds the calendar; the second update is tried with the tag from before the first.
const OF_TODAY: [&str; 11] =
    ["Poll", "Poll", "Create", "Poll", "Update", "Update", "Poll", "Delete", "Week", "Get", "Restart"];

/// What programs of today do, but for this.
fn all_but(left_out: &[&str]) -> Vec<&'static str> {
    caldav::OPERATIONS.into_iter().filter(|name| !left_out.contains(name)).collect()
}

/// And none that says who it is before it is told to.
const HURRIED: &str =
    "--param think_time=0.001 --param conflicts=1 --param lost_tokens=1 --param unauthenticated=1";

#[test]
fn a_program_of_today_can_be_followed_on_radicale() {
    if !have(caldav::STACK) {
        return;
    }
    let kit = in_turn("caldav", &OF_TODAY, |text| text);
    let words =
        format!("try caldav {} {HURRIED} --mix turn --sessions {} --bodies", caldav::DATA, OF_TODAY.len());
    let told = Home::shared().plimsoll(&words).arg("--catalogue").arg(kit.path()).run();
    let shown = legible(told, &OF_TODAY, &all_but(&["List"]));
    answered(
        &shown,
        &[
            ("PROPFIND /.well-known/caldav (", &["301"]),
            ("PROPFIND / (", &["401", "207"]),
            ("PROPFIND /user00001/ (", &["207"]),
            // It says that it knows these, and answers with nothing.
            ("REPORT / (", &["207"]),
            ("REPORT /user00001/ (", &["207"]),
            ("PROPPATCH /user00001/calendar/ (", &["207"]),
            // A token that was lost is refused; everything is asked for instead.
            ("REPORT /user00001/calendar/ (", &["207", "403"]),
            ("PUT /user00001/calendar/", &["201", "204", "412"]),
            ("GET /user00001/calendar/", &["200"]),
            ("DELETE /user00001/calendar/", &["200", "204"]),
        ],
    );
    let refused = [("PROPFIND / (", "401"), ("REPORT /user00001/", "403"), ("PUT /user00001/", "412")];
    for (request, status) in refused {
        assert!(statuses(&shown, request).contains(&status), "{request} with {status}:\n{shown}");
    }
    assert_eq!(statuses(&shown, "PROPPATCH ").len(), 3, "a colour, a place and a time zone, once:\n{shown}");
    assert!(shown.contains("becomes a new visitor"), "a program that is started again:\n{shown}");
    for part in ["| BEGIN:VCALENDAR", "valid-sync-token"] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    Home::shared().expect_nothing_left();
}

/// A server that stands already and has no sync-tokens: discovery leads there, and lists of all tags take their place.
#[track_caller]
pub(crate) fn programs_of_today_are_followed_at(address: &str, server: &str) {
    // It has no page of Radicale's: any answer tells that it is there.
    let kit = in_turn("caldav", &OF_TODAY, |text| text);
    let words = format!(
        "try caldav --target http://{address} {} {HURRIED} --mix turn --sessions {} --bodies",
        caldav::DATA,
        OF_TODAY.len()
    );
    let told = Home::shared().plimsoll(&words).arg("--catalogue").arg(kit.path()).run();
    let shown = legible(told, &OF_TODAY, &all_but(&["Sync", "Resync"]));
    assert!(!shown.lines().any(|line| line.ends_with(" s    Sync")), "{server} has no tokens:\n{shown}");
    answered(
        &shown,
        &[
            ("PROPFIND /.well-known/caldav (", &["301"]),
            ("PROPFIND /dav/ (", &["401", "207"]),
            ("PROPFIND /dav/principals/user00001/ (", &["207"]),
            ("REPORT /dav/principals/ (", &["200"]),
            ("REPORT /dav/principals/user00001/ (", &["207"]),
            ("PROPFIND /dav/calendars/user00001/ (", &["207"]),
            // Which it says that it has.
            ("PROPFIND /dav/calendars/user00001/notifications/ (", &["404"]),
            ("PROPPATCH /dav/calendars/user00001/calendar/ (", &["207"]),
            ("PROPFIND /dav/calendars/user00001/calendar/ (", &["207"]),
            ("REPORT /dav/calendars/user00001/calendar/ (", &["207"]),
            ("PUT /dav/calendars/user00001/calendar/", &["201", "204", "412"]),
            ("DELETE /dav/calendars/user00001/calendar/", &["204"]),
        ],
    );
}
