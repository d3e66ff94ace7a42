//! One user followed through everything that people do with calendars, on each stack of both kits.

use crate::caldav;
use crate::calendar::DATA;
use crate::tool::{Home, have, turn};
use crate::tried::{in_turn, legible, statuses};

/// Every session of both mixes, in an order in which each finds what it needs.
const OF_COSMO: [&str; 20] = [
    "Get",
    "Put",
    "Put",
    "Put",
    "Propfind",
    "Report",
    "JsonCalendars",
    "JsonRpc",
    "JsonSave",
    "JsonSave",
    "AtomGet",
    "AtomGet",
    "IcsGet",
    // Its first one makes a calendar, since there is none.
    "StressPut",
    "StressPut",
    "StressGet",
    "StressPropfind",
    "StressReport",
    "StressDelete",
    "StressDeleteCalendar",
];

/// The first one finds the calendar; the second update is tried with the tag from before the first.
const OF_TODAY: [&str; 11] =
    ["Poll", "Poll", "Create", "Poll", "Update", "Update", "Poll", "Delete", "Week", "Get", "Restart"];

/// What programs of today do, but for this.
fn all_but(left_out: &[&str]) -> Vec<&'static str> {
    caldav::OPERATIONS.into_iter().filter(|name| !left_out.contains(name)).collect()
}

/// Every answer to each of these requests has one of its statuses, and there was one.
#[track_caller]
fn answered(shown: &str, requests: &[(&str, &[&str])]) {
    for (request, right) in requests {
        let found = statuses(shown, request);
        let all_right = found.iter().all(|status| right.contains(status));
        assert!(!found.is_empty() && all_right, "{request}: {found:?}, not {right:?}\n{shown}");
    }
}

fn follow_cosmo(stack: &str, more: &str) {
    let _turn = turn();
    if !have(stack) {
        return;
    }
    let kit = in_turn("calendar", &OF_COSMO, |text| text);
    let words = format!(
        "try calendar {DATA} {more} --stack {stack} --mix turn --sessions {} --bodies",
        OF_COSMO.len()
    );
    let told = Home::shared().plimsoll(&words).arg("--catalogue").arg(kit.path()).run();
    let operations = [
        "Get",
        "Put",
        "Propfind",
        "Report",
        "JsonCalendars",
        "JsonRpc",
        "JsonSave",
        "AtomGet",
        "IcsGet",
        "MakeCalendar",
        "Delete",
        "DeleteCalendar",
    ];
    let shown = legible(told, &OF_COSMO, &operations);
    answered(
        &shown,
        &[
            ("GET /dav/calendars/user", &["200"]),
            // New, or another text in the place of an old one.
            ("PUT /dav/calendars/user", &["201", "204"]),
            ("PROPFIND /dav/calendars/user", &["207"]),
            ("REPORT /dav/calendars/user", &["207"]),
            ("POST /json-rpc (", &["200"]),
            ("GET /atom/collection/user", &["200"]),
            ("GET /webcal/collection/user", &["200"]),
            ("MKCALENDAR /dav/calendars/user00001/", &["201"]),
            ("DELETE /dav/calendars/user00001/", &["204"]),
        ],
    );
    for part in [
        "| BEGIN:VCALENDAR",
        "<d:multistatus ",
        "\"result\":[{\"calendar\":\"calendar\",\"name\":\"Calendar\"",
        "\"result\":{\"uri\":",
        "<feed xmlns=",
        "| X-WR-CALNAME:Calendar",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    Home::shared().expect_nothing_left();
}

#[test]
fn the_calendar_can_be_followed_on_apache_prefork_with_mod_php() {
    follow_cosmo("apache-prefork-modphp-mariadb", "");
}

/// As the study has it, and with passwords as people should have them: the first request makes the slow hash.
#[test]
fn the_calendar_can_be_followed_with_its_database_over_tcp_and_slow_hashes() {
    follow_cosmo("apache-prefork-modphp-mariadb", "--param database_over=tcp --param password_cost=4");
}

#[test]
fn the_calendar_can_be_followed_on_apache_event_with_php_fpm() {
    follow_cosmo("apache-event-fpm-mariadb", "");
}

#[test]
fn the_calendar_can_be_followed_on_lighttpd_with_php_fpm() {
    follow_cosmo("lighttpd-fpm-mariadb", "");
}

/// And none that says who it is before it is told to.
const HURRIED: &str =
    "--param think_time=0.001 --param conflicts=1 --param lost_tokens=1 --param unauthenticated=1";

#[test]
fn a_program_of_today_can_be_followed_on_radicale() {
    let _turn = turn();
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
    // The page that must be there before users come is another one on each server.
    let kit = in_turn("caldav", &OF_TODAY, |text| {
        assert!(text.contains("front_page = \"/.web\""), "{text}");
        text.replacen("front_page = \"/.web\"", "front_page = \"/\"", 1)
    });
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
