//! One user followed through everything that people do with the kit `calendar`, on each of its stacks.

use crate::calendar::DATA;
use crate::tool::{Home, have};
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

/// Every answer to each of these requests has one of its statuses, and there was one.
#[track_caller]
pub(crate) fn answered(shown: &str, requests: &[(&str, &[&str])]) {
    for (request, right) in requests {
        let found = statuses(shown, request);
        let all_right = found.iter().all(|status| right.contains(status));
        assert!(!found.is_empty() && all_right, "{request}: {found:?}, not {right:?}\n{shown}");
    }
}

fn follow_cosmo(stack: &str, more: &str) {
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
