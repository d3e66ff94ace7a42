//! What users of the kit `caldav` do, by its own files, against servers of two kinds: they find their calendar, keep a copy
//! that is what the server has, recover from old tags and lost tokens, and notice what was confirmed and not done. All
//! on virtual time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use engine::{Program, Scenario};
use model::interval::OperationKind;
use model::setting::Value;

use crate::calendar_kit::{manifest, scenario, seen};
use crate::dav_server::{DavServer, Dialect, Mishap};
use crate::virtual_time::Seen;

const USERS: u32 = 6;
/// More than are asked for at once.
const OBJECTS: u32 = 60;
const MODULES: [&str; 5] = ["clock", "copy", "ical", "population", "webdav"];

fn caldav(server: DavServer, seconds: f64, params: &[(&str, f64)]) -> (Seen, Rc<RefCell<DavServer>>) {
    let kit = manifest("caldav");
    let mix = kit.sessions().resolve().expect("weights");
    let mut scenario = Scenario { timeout_s: 1.0, ..scenario(&kit, &MODULES, mix, OBJECTS) };
    let Program::Script(source) = &mut scenario.program else { panic!("a script") };
    for (name, value) in params {
        source.params.insert((*name).to_string(), Value::Float(*value));
    }
    seen(scenario, server, USERS, seconds)
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
    let (seen, _) = seen(scenario, forgetful, USERS, 400.0);
    assert!(seen.completed(OperationKind::Operation, "Delete") > 10, "{:?}", seen.listener.evidence);
    assert_eq!(counter(&seen, "broken promises"), 1, "{:?}", seen.listener.evidence);
}
