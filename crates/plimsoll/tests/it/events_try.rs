//! One user followed through everything that people do with the calendar, on each of its stacks.

use tempfile::TempDir;

use crate::tool::{Home, catalogue, have, overlay};
use crate::tried::{legible, statuses};

/// Every session, in an order in which each finds what it needs: an event that was seen, somebody who is logged in and
/// may post, and who logs out to register.
const SESSIONS: [&str; 8] =
    ["HomePage", "TagSearch", "EventDetail", "Login", "AddEvent", "EventDetail", "AddPerson", "PersonDetail"];

/// What is asked for on the way, and the status of the first answer to it.
const REQUESTS: [(&str, &str); 9] = [
    ("GET /index.php", "200"),
    ("POST /taggedEvents.php", "200"),
    ("GET /events.php?socialEventID=", "200"),
    ("POST /login.php", "302"),
    ("POST /addEventResult.php (", "302"),
    ("GET /logout.php", "302"),
    ("GET /addPerson.php", "200"),
    ("POST /addPersonResult.php (", "302"),
    ("GET /users.php?username=", "200"),
];

/// The kit with its sessions in this order instead of by the matrix, and hardly a pause between them.
fn in_turn() -> TempDir {
    let kit = catalogue("kits/events/kit.toml");
    let (before, rest) = kit.split_once("[users.by_session]\n").expect("pauses by session");
    let (_, after) = rest.split_once("[qos]\n").expect("targets, behind the matrix");
    let pause = "cycle = { distribution = \"exponential\", mean = 5.0, max = 25.0 }";
    assert!(before.contains(pause) && before.contains("\n[state]\n"), "{before}");
    let before = before.replacen(pause, "cycle = { distribution = \"fixed\", value = 0.01 }", 1);
    let before = before.replacen("\n[state]\n", &format!("\nsequence = {SESSIONS:?}\n\n[state]\n"), 1);
    overlay(&[("kits/events/kit.toml", &format!("{before}[qos]\n{after}"))])
}

fn follow(stack: &str) {
    if !have(stack) {
        return;
    }
    let kit = in_turn();
    let words =
        format!("try events --size quick --stack {stack} --sessions {} --bodies --catalogue", SESSIONS.len());
    let shown = legible(Home::shared().plimsoll(&words).arg(kit.path()).run(), &SESSIONS, &SESSIONS);
    for (request, expected) in REQUESTS {
        assert_eq!(statuses(&shown, request).first(), Some(&expected), "{request}\n{shown}");
    }
    // An upload is its size, and what goes with a page is a block of its own.
    for part in [" kB sent)", " requests together: "] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    for title in ["Coming events<", "Tagged ", "Log in<", "Post an event<", "Register<", "Person "] {
        assert!(shown.contains(&format!("| <h2>{title}")), "{title}\n{shown}");
    }
    assert!(!shown.contains('\u{FFFD}'), "no picture is shown as text:\n{shown}");
    Home::shared().expect_nothing_left();
}

#[test]
fn the_calendar_can_be_followed_on_lighttpd_that_spawns_php() {
    follow("lighttpd-fastcgi-mariadb-memcached");
}

#[test]
fn the_calendar_can_be_followed_on_lighttpd_with_php_fpm() {
    follow("lighttpd-fpm-mariadb-memcached");
}

#[test]
fn the_calendar_can_be_followed_on_apache_event_with_php_fpm() {
    follow("apache-event-fpm-mariadb-memcached");
}

#[test]
fn the_calendar_can_be_followed_on_nginx_with_php_fpm() {
    follow("nginx-fpm-mariadb-memcached");
}
