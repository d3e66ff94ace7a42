//! What users of the kit `calendar` do, by its own files, against a server that keeps tags and conditions: its mixes,
//! whole objects, constant sizes, and that what they note for the check is what the server has. All on virtual time.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;

use engine::{Program, RunOptions, Scenario, Source};
use model::KitManifest;
use model::catalogue::setting::{Value, Values};
use model::record::interval::OperationKind;
use model::record::plan::Load;

use crate::dav_server::{DavServer, Dialect, Mishap};
use crate::virtual_net::VirtualNet;
use crate::virtual_time::Seen;

const USERS: u32 = 7;
/// More than users, so that some have several.
const ACCOUNTS: u32 = 18;
const OBJECTS: u32 = 5;

fn read(kit: &str, name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../catalogue/kits").join(kit).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn manifest(kit: &str) -> KitManifest {
    model::document::read("kit.toml", &read(kit, "kit.toml")).expect("a right manifest")
}

/// The kit's own files and those that it borrows, each calendar as large as `objects` says.
pub(crate) fn scenario(kit: &KitManifest, modules: &[&str], sessions: model::Mix, objects: u32) -> Scenario {
    let mut params: Values =
        kit.params.iter().map(|param| (param.name.clone(), param.default.clone())).collect();
    // Whatever is drawn is more than that.
    params.insert("events_median".to_string(), Value::Int(1_000_000));
    params.insert("events_most".to_string(), Value::Int(objects.into()));
    let module = |name: &&str| {
        let lender = kit.borrowed().find(|one| one.module == *name).map(|one| one.kit);
        ((*name).to_string(), read(lender.unwrap_or(&kit.name), &format!("{name}.lua")))
    };
    let source = Source {
        modules: modules.iter().map(module).collect(),
        params,
        size: [("users".to_string(), f64::from(ACCOUNTS))].into(),
        mix: sessions,
        ..Source::of("session.lua", &read(&kit.name, "session.lua"), "")
    };
    Scenario {
        think: kit.users.think,
        by_session: kit.users.by_session.clone(),
        ..Scenario::of(Program::Script(source))
    }
}

pub(crate) fn observe(
    scenario: Scenario,
    server: DavServer,
    users: u32,
    seconds: f64,
) -> (Seen, Rc<RefCell<DavServer>>) {
    let server = Rc::new(RefCell::new(server));
    let shared = Rc::clone(&server);
    let net = VirtualNet::new(move |_, text| shared.borrow_mut().reply(text));
    let load = Load { users, ramp_up_s: 1.0, steady_s: seconds, seed: 5, ..Load::default() };
    let options = RunOptions::of(scenario, load, SocketAddr::from(([127, 0, 0, 1], 80)));
    (Seen::of(&options, net), server)
}

const MODULES: [&str; 6] = ["accounts", "ical", "population", "time_zone", "web_page", "webdav"];

fn calendar(mix: Option<&str>, server: DavServer, seconds: f64) -> (Seen, Rc<RefCell<DavServer>>) {
    let kit = manifest("calendar");
    let sessions = mix.map_or_else(|| kit.sessions(), |name| kit.mixes[name].sessions());
    let mix = sessions.resolve().expect("weights");
    let scenario = Scenario { timeout_s: 1.0, ..scenario(&kit, &MODULES, mix, OBJECTS) };
    observe(scenario, server, USERS, seconds)
}

fn new_server() -> DavServer {
    DavServer::new(Dialect::Sabre, ACCOUNTS, OBJECTS)
}

/// Everything that users were told last is so on the server: tags of what is there, and nothing of what is gone.
fn all_told_is_so(seen: &Seen, server: &DavServer) -> usize {
    let objects = seen.totals.told.iter().filter(|(path, _)| path.ends_with(".ics"));
    for (path, state) in objects.clone() {
        let found = server.objects.get(path).map(|(etag, _)| etag.trim_matches('"').to_string());
        assert_eq!(found, *state, "{path}");
    }
    objects.count()
}

#[test]
fn the_mix_of_2006_keeps_its_shares_and_its_calendars_as_large_as_they_are() {
    let (seen, server) = calendar(None, new_server(), 3.0);
    assert!(seen.listener.evidence.is_empty(), "{:?}", &seen.listener.evidence[..1]);
    let completed = |name: &str| seen.completed(OperationKind::Operation, name) as f64;
    let kit = manifest("calendar");
    let names = kit.sessions().resolve().expect("weights").names;
    let all: f64 = names.iter().map(|name| completed(name)).sum();
    assert!(all > 5_000.0, "{all} transactions");
    assert_eq!(seen.whole.counters["transactions"] as f64, all);
    let shares = [
        ("Put", 25.0),
        ("Get", 15.0),
        ("Propfind", 10.0),
        ("Report", 20.0),
        ("JsonRpc", 12.0),
        ("JsonCalendars", 1.5),
        ("JsonSave", 1.5),
        ("AtomGet", 8.0),
        ("IcsGet", 7.0),
    ];
    for (name, percent) in shares {
        let found = 100.0 * completed(name) / all;
        assert!((found - percent).abs() < 2.0, "{name}: {found:.2} % instead of {percent} %");
    }
    let log = seen.log.borrow();
    let with = |words: &str| log.iter().filter(|(_, text)| text.contains(words)).count() as f64;
    let put_new = with("\r\nIf-None-Match: *\r\n");
    assert!((0.4..0.65).contains(&(put_new / completed("Put"))), "half of what is put is new: {put_new}");
    let saved = with("\"method\":\"saveEvent\"");
    let saved_again = with("\"uri\":\"");
    assert_eq!(saved, completed("JsonSave"));
    assert!((0.3..0.7).contains(&(saved_again / saved)), "half of what is saved was there: {saved_again}");
    assert_eq!(put_new + saved - saved_again, seen.whole.counters["objects added"] as f64);
    let server = server.borrow();
    let objects = server.objects.len();
    let given = (ACCOUNTS * OBJECTS) as usize;
    assert!(
        objects > given && objects <= given + 5 * ACCOUNTS as usize,
        "{objects} objects: at most five more in each calendar"
    );
    assert!(all_told_is_so(&seen, &server) > 500);
    assert_eq!(
        with("\r\nIf-Match: \""),
        completed("Put") + completed("Delete") - put_new,
        "what is changed or deleted must be what was seen"
    );
    let accounts = (1..=ACCOUNTS).filter(|n| with(&format!("/dav/calendars/user{n:05}/calendar/")) > 0.0);
    assert_eq!(accounts.count() as u32, ACCOUNTS, "all of the data set is in use");
}

#[test]
fn the_same_seed_asks_for_the_same_and_nobody_deletes_where_calendars_are_to_grow() {
    let lines = |seen: &Seen| -> Vec<String> {
        let log = seen.log.borrow();
        log.iter().map(|(_, text)| text.lines().next().unwrap_or_default().to_string()).collect()
    };
    let (one, other) = (calendar(None, new_server(), 1.0).0, calendar(None, new_server(), 1.0).0);
    assert_eq!(lines(&one), lines(&other));
    let kit = manifest("calendar");
    let mix = kit.sessions().resolve().expect("weights");
    let mut growing = scenario(&kit, &MODULES, mix, OBJECTS);
    let Program::Script(source) = &mut growing.program else { panic!("a script") };
    source.params.insert("deletes".to_string(), Value::Text("grow".to_string()));
    let (grown, server) = observe(growing, new_server(), USERS, 3.0);
    assert!(grown.listener.evidence.is_empty(), "{:?}", grown.listener.evidence);
    assert!(!lines(&grown).iter().any(|line| line.starts_with("DELETE ")));
    assert!(server.borrow().objects.len() > (ACCOUNTS * (OBJECTS + 4)) as usize);
}

#[test]
fn the_stress_mix_makes_its_own_calendars_and_lets_them_grow() {
    let (seen, server) = calendar(Some("stress2007"), new_server(), 400.0);
    assert!(seen.listener.evidence.is_empty(), "{:?}", &seen.listener.evidence[..1]);
    let completed = |name: &str| seen.completed(OperationKind::Operation, name) as f64;
    let all = seen.whole.counters["transactions"] as f64;
    for (name, percent) in [("Report", 63.75), ("Put", 25.0), ("Get", 5.0), ("Propfind", 5.0)] {
        let found = 100.0 * completed(name) / all;
        assert!((found - percent).abs() < 2.0, "{name}: {found:.2} % instead of {percent} %");
    }
    assert!(completed("MakeCalendar") >= f64::from(USERS) && completed("DeleteCalendar") >= 1.0);
    assert!(all_told_is_so(&seen, &server.borrow()) > 500);
    let log = seen.log.borrow();
    assert!(!log.iter().any(|(_, text)| text.contains("\r\nIf-")), "the tool knew no conditions");
    let of_2007 = |text: &str| text.contains("DTSTART:2007") || text.contains("DUE:2007");
    let puts = log.iter().filter(|(_, text)| text.starts_with("PUT "));
    assert!(puts.clone().count() > 500 && puts.clone().all(|(_, text)| of_2007(text)));
}

#[test]
fn what_was_never_answered_is_not_told_and_what_was_lost_is_noticed() {
    let mut silent = new_server();
    silent.mishap = Some(Mishap::Unanswered(40));
    let (seen, server) = calendar(None, silent, 3.0);
    let kinds = |seen: &Seen| -> Vec<String> {
        let said = seen.listener.evidence.iter();
        said.map(|text| text.split(": ").nth(1).unwrap_or_default().to_string()).collect()
    };
    assert_eq!(kinds(&seen), ["timeout"], "{:?}", seen.listener.evidence);
    all_told_is_so(&seen, &server.borrow());

    let mut forgetful = new_server();
    forgetful.mishap = Some(Mishap::Lost(40));
    let (seen, server) = calendar(None, forgetful, 3.0);
    let server = server.borrow();
    let so = |path: &str| server.objects.get(path).map(|(etag, _)| etag.trim_matches('"').to_string());
    let wrong = seen.totals.told.iter().filter(|(path, state)| so(path) != **state).count();
    assert!(
        wrong == 1 || !seen.listener.evidence.is_empty(),
        "the check is told of it, or a user has come upon it: {wrong}"
    );
}
