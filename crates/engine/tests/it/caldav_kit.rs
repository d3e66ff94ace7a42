//! What users of the kit `caldav` do, by its own files, against servers of two kinds: they find their calendar, keep a copy
//! that is what the server has, recover from old tags and lost tokens, and notice what was confirmed and not done. All
//! on virtual time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use engine::{Program, Scenario};
use model::catalogue::setting::Value;
use model::record::interval::OperationKind;

use crate::calendar_kit::{manifest, observe, scenario};
use crate::dav_server::{DavServer, Dialect, Extras, Mishap};
use crate::virtual_time::Seen;

const USERS: u32 = 6;
/// More than are asked for at once.
const OBJECTS: u32 = 60;
const MODULES: [&str; 8] =
    ["clock", "copy", "discovery", "ical", "population", "promises", "time_zone", "webdav"];

fn caldav(server: DavServer, seconds: f64, params: &[(&str, f64)]) -> (Seen, Rc<RefCell<DavServer>>) {
    let kit = manifest("caldav");
    let mix = kit.sessions().resolve().expect("weights");
    let mut scenario = Scenario { timeout_s: 1.0, ..scenario(&kit, &MODULES, mix, OBJECTS) };
    let Program::Script(source) = &mut scenario.program else { panic!("a script") };
    for (name, value) in params {
        source.params.insert((*name).to_string(), Value::Float(*value));
    }
    observe(scenario, server, USERS, seconds)
}

fn server(dialect: Dialect) -> DavServer {
    DavServer::new(dialect, USERS, OBJECTS)
}

fn counter(seen: &Seen, name: &str) -> u64 {
    seen.whole.counters.get(name).copied().unwrap_or(0)
}

#[test]
fn programs_find_their_calendar_on_any_server_and_keep_a_true_copy() {
    for dialect in [Dialect::Radicale, Dialect::Sabre] {
        let (seen, server) = caldav(server(dialect), 400.0, &[]);
        assert!(seen.listener.evidence.is_empty(), "{dialect:?}: {:?}", &seen.listener.evidence[..1]);
        assert_eq!(counter(&seen, "broken promises"), 0, "{dialect:?}");
        let completed = |name: &str| seen.completed(OperationKind::Operation, name) as f64;
        assert_eq!(completed("FirstSync"), f64::from(USERS), "{dialect:?}");
        assert!(completed("Discover") >= f64::from(USERS), "{dialect:?}");
        let confirmed = counter(&seen, "confirmed");
        assert!(confirmed > 100, "{dialect:?}: {confirmed} changes");
        let told = counter(&seen, "changes told");
        assert!(
            told > confirmed / 2,
            "{dialect:?}: {told} of {confirmed} were told again, the others overtaken"
        );
        let names: Vec<&str> = seen.listener.names.iter().map(|name| name.name.as_str()).collect();
        let (asks, never) = if dialect == Dialect::Radicale { ("Sync", "List") } else { ("List", "Sync") };
        assert!(names.contains(&asks) && !names.contains(&never), "{dialect:?}: {names:?}");
        let objects = server.borrow().objects.len() as u32;
        let most = USERS * (OBJECTS + 5);
        assert!((USERS * OBJECTS..=most).contains(&objects), "{dialect:?}: {objects} objects");
    }
}

#[test]
fn a_start_asks_for_all_that_programs_ask_for_and_does_without_what_is_refused() {
    for (dialect, extras) in [
        (Dialect::Radicale, Extras::Known),
        (Dialect::Radicale, Extras::Unchangeable),
        (Dialect::Radicale, Extras::Refused(403)),
        (Dialect::Sabre, Extras::Known),
        (Dialect::Sabre, Extras::Refused(501)),
    ] {
        let what = format!("{dialect:?}, {extras:?}");
        let mut asked_for_more = server(dialect);
        asked_for_more.extras = extras;
        let (seen, server) = caldav(asked_for_more, 400.0, &[]);
        assert!(seen.listener.evidence.is_empty(), "{what}: {:?}", &seen.listener.evidence[..1]);
        assert_eq!(counter(&seen, "broken promises"), 0, "{what}");
        let completed = |name: &str| seen.completed(OperationKind::Operation, name) as usize;
        let log = seen.log.borrow();
        let asked = |words: &str| log.iter().filter(|(_, text)| text.contains(words)).count();
        let users = USERS as usize;
        // Once for each calendar, however often its program is started.
        for property in ["<A:calendar-color>#", "<A:calendar-order>1", "<C:calendar-timezone>BEGIN:VCALENDAR"]
        {
            assert_eq!(asked(property), users, "{what}: {property}");
        }
        assert_eq!(completed("SetUp"), users, "{what}");
        let starts = completed("Discover");
        assert!(starts > users, "{what}: {starts} starts");
        for words in ["<D:principal-search-property-set ", "<D:expand-property ", "<M:bulk-requests/>"] {
            assert_eq!(asked(words), starts, "{what}: {words}");
        }
        assert_eq!(completed("Account"), starts, "{what}");
        let refused = match (dialect, extras) {
            (Dialect::Radicale, Extras::Known) => 0,
            // Notices, which it only says that it has.
            (Dialect::Sabre, Extras::Known) => starts,
            (_, Extras::Unchangeable) => 3 * users,
            // By what people can be looked for, for whom somebody acts, an inbox; and notices.
            (Dialect::Radicale, Extras::Refused(_)) => 3 * users + 3 * starts,
            (Dialect::Sabre, Extras::Refused(_)) => 3 * users + 4 * starts,
        };
        assert_eq!(counter(&seen, "refused at the start") as usize, refused, "{what}");
        assert_eq!(server.borrow().refused, refused, "{what}");
    }
}

/// The kit with nothing but programs that are started again and again.
fn restarting(server: DavServer, unauthenticated: Option<f64>) -> (Seen, Rc<RefCell<DavServer>>) {
    let mut kit = manifest("caldav");
    kit.mix = [("Restart".to_string(), 1.0)].into();
    let mix = kit.sessions().resolve().expect("weights");
    let mut scenario = Scenario { timeout_s: 1.0, ..scenario(&kit, &MODULES, mix, OBJECTS) };
    let Program::Script(source) = &mut scenario.program else { panic!("a script") };
    if let Some(share) = unauthenticated {
        source.params.insert("unauthenticated".to_string(), Value::Float(share));
    }
    observe(scenario, server, USERS, 600.0)
}

#[test]
fn whoever_has_not_said_who_it_is_is_told_to_and_says_it() {
    for (dialect, unauthenticated, wanted) in [
        (Dialect::Radicale, Some(0.0), 0.0..=0.0),
        (Dialect::Radicale, Some(1.0), 1.0..=1.0),
        (Dialect::Sabre, Some(1.0), 1.0..=1.0),
        // As in Apple's simulator: 40 %.
        (Dialect::Radicale, None, 0.33..=0.47),
    ] {
        let (seen, _) = restarting(server(dialect), unauthenticated);
        assert!(seen.listener.evidence.is_empty(), "{dialect:?}: {:?}", &seen.listener.evidence[..1]);
        let starts = seen.completed(OperationKind::Operation, "Discover") as f64;
        assert!(starts > 600.0, "{starts} starts");
        let told = counter(&seen, "told to log in") as f64;
        assert!(wanted.contains(&(told / starts)), "{dialect:?}: {told} of {starts}");
        let log = seen.log.borrow();
        let strangers: Vec<&str> = log
            .iter()
            .filter(|(_, text)| !text.contains("\r\nAuthorization: Basic "))
            .filter_map(|(_, text)| text.lines().next())
            .collect();
        let first = ["/.well-known/caldav", "/", "/dav/"].map(|path| format!("PROPFIND {path} HTTP/1.1"));
        assert!(
            strangers.iter().all(|line| first.iter().any(|first| first == line)),
            "{dialect:?}: {strangers:?}"
        );
        // The well-known address, and where it leads or what takes its place.
        assert_eq!(strangers.len() as f64, 2.0 * told, "{dialect:?}");
    }
}

#[test]
fn a_program_that_could_not_be_started_again_begins_with_everything_anew() {
    let mut deaf = server(Dialect::Radicale);
    deaf.mishap = Some(Mishap::Unheard(100));
    let (seen, _) = restarting(deaf, Some(1.0));
    let kinds: Vec<&str> = seen.listener.evidence.iter().filter_map(|text| text.split(": ").nth(1)).collect();
    assert_eq!(kinds, ["timeout"], "{:?}", seen.listener.evidence);
    assert_eq!(seen.completed(OperationKind::Operation, "FirstSync"), u64::from(USERS) + 1);
    assert_eq!(seen.completed(OperationKind::Operation, "SetUp"), u64::from(USERS), "it was set up before");
}

#[test]
fn old_tags_are_refused_and_lost_tokens_cost_a_listing_but_no_second_fetch() {
    let params = [("conflicts", 1.0), ("lost_tokens", 0.3)];
    let (seen, _) = caldav(server(Dialect::Radicale), 900.0, &params);
    assert!(seen.listener.evidence.is_empty(), "{:?}", &seen.listener.evidence[..1]);
    assert_eq!(counter(&seen, "broken promises"), 0);
    let refused = counter(&seen, "tokens refused");
    assert!(refused > 5 && counter(&seen, "conflicts") > 3, "{:?}", seen.whole.counters);
    assert_eq!(seen.completed(OperationKind::Operation, "Resync"), refused);
    let fetched = seen.completed(OperationKind::Operation, "Multiget");
    let polls = seen.completed(OperationKind::Operation, "Poll");
    assert!(fetched < 2 * u64::from(USERS) + polls, "{fetched} multigets in {polls} polls");
    // Who was refused has asked for the object's tag of now and tried again.
    let log = seen.log.borrow();
    let conflicts = counter(&seen, "conflicts") as usize;
    assert!(log.iter().filter(|(_, text)| text.starts_with("GET ")).count() >= conflicts);
}

#[test]
fn the_same_seed_asks_for_the_same() {
    let lines = |seen: &Seen| -> Vec<String> {
        let log = seen.log.borrow();
        log.iter().map(|(_, text)| text.lines().next().unwrap_or_default().to_string()).collect()
    };
    let params = [("conflicts", 1.0), ("lost_tokens", 0.2)];
    let run = || lines(&caldav(server(Dialect::Radicale), 150.0, &params).0);
    assert_eq!(run(), run());
}

#[test]
fn what_was_never_answered_is_learnt_by_the_next_poll() {
    for at in [3, 10, 20] {
        let mut silent = server(Dialect::Radicale);
        silent.mishap = Some(Mishap::Unanswered(at));
        let (seen, _) = caldav(silent, 400.0, &[]);
        let kinds: Vec<&str> =
            seen.listener.evidence.iter().filter_map(|text| text.split(": ").nth(1)).collect();
        assert_eq!(kinds, ["timeout"], "{:?}", seen.listener.evidence);
        assert_eq!(counter(&seen, "broken promises"), 0, "nothing had been confirmed");
    }
}

#[test]
fn what_was_confirmed_and_not_done_makes_the_run_not_valid() {
    for at in [3, 10, 20] {
        let mut forgetful = server(Dialect::Radicale);
        forgetful.mishap = Some(Mishap::Lost(at));
        let (seen, _) = caldav(forgetful, 400.0, &[]);
        assert!(counter(&seen, "broken promises") > 0, "{at}: {:?}", seen.listener.evidence);
    }
    let kit = manifest("caldav");
    let promised: BTreeMap<&str, Option<f64>> =
        kit.metrics.iter().map(|metric| (metric.of.as_str(), metric.at_most)).collect();
    assert_eq!(promised["broken promises"], Some(0.0), "one is enough");
}

#[test]
fn what_was_lost_is_noticed_by_whoever_deletes_it() {
    let mut kit = manifest("caldav");
    // Nobody asks what has changed: each object that is added sends the oldest away.
    kit.mix = [("Create".to_string(), 1.0)].into();
    let mix = kit.sessions().resolve().expect("weights");
    let mut forgetful = server(Dialect::Radicale);
    forgetful.mishap = Some(Mishap::Lost(3));
    let scenario = Scenario { timeout_s: 1.0, ..scenario(&kit, &MODULES, mix, OBJECTS) };
    let (seen, _) = observe(scenario, forgetful, USERS, 400.0);
    assert!(seen.completed(OperationKind::Operation, "Delete") > 10, "{:?}", seen.listener.evidence);
    assert_eq!(counter(&seen, "broken promises"), 1, "{:?}", seen.listener.evidence);
}

/// All objects that were noted for the check are on the server as they were noted: how many they are, and how many of
/// them changed after their calendar's last token was given.
fn all_noted_is_so(seen: &Seen, server: &DavServer) -> (usize, usize) {
    let told = &seen.totals.told;
    // As the kit's `promises.lua` puts them together.
    let parts = |state: &str| {
        let (first, token) = state.split_once('\n').expect("two parts");
        (first.to_string(), token.to_string())
    };
    let (mut objects, mut fresh) = (0, 0);
    for (path, state) in told.iter().filter(|(path, _)| path.ends_with(".ics")) {
        let place = &path[..=path.rfind('/').expect("a path")];
        let calendar = told.get(place).and_then(|state| state.as_deref());
        let (user, last) = parts(calendar.unwrap_or_else(|| panic!("{place} is noted first")));
        assert!(place.contains(&user), "{place} is that of {user}");
        let (tag, token) = state.as_deref().map_or(("gone".to_string(), "none".to_string()), parts);
        let found = server.objects.get(path).map_or("gone", |(etag, _)| etag.as_str());
        assert_eq!(found, tag, "{path}");
        objects += 1;
        fresh += usize::from(token == last);
    }
    (objects, fresh)
}

#[test]
fn what_is_noted_for_the_check_is_what_the_server_has() {
    for dialect in [Dialect::Radicale, Dialect::Sabre] {
        for mishap in [None, Some(Mishap::Unanswered(10))] {
            let mut noting = server(dialect);
            noting.mishap = mishap;
            let (seen, server) = caldav(noting, 400.0, &[("conflicts", 1.0), ("lost_tokens", 0.3)]);
            let (objects, fresh) = all_noted_is_so(&seen, &server.borrow());
            assert!(objects > 30, "{dialect:?}: {objects} objects");
            // Most were changed before the last poll; where there are no tokens all are noted alike.
            let tokens = dialect == Dialect::Radicale;
            assert!(!tokens || fresh < objects / 2, "{dialect:?}: {fresh} of {objects}");
        }
    }
}
