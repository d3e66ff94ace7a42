//! The catalogue's kit `caldav` after a run: its check asks a server of CalDAV, names what was promised and is not so,
//! and never passes where it could not be made.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use engine::Target;
use kit::{CheckInputs, CheckOptions, Kit};
use model::Result;
use model::record::ConsistencyResult;

use crate::fake_web::{FakeWeb, Then, answer};
use crate::shop::{catalogue, setup};

const PLACE: &str = "/user00001/calendar/";
/// `user00001:user00001`, as RFC 7617 has it.
const PROOF: &str = "Authorization: Basic dXNlcjAwMDAxOnVzZXIwMDAwMQ==\r\n";

fn path(name: &str) -> String {
    format!("{PLACE}{name}.ics")
}

/// A calendar, as much of it as is asked for, and what is wrong with it.
#[derive(Default)]
struct Store {
    /// Tag and text by path.
    objects: BTreeMap<String, (String, String)>,
    /// When each path last changed; what is gone is still here.
    changed: BTreeMap<String, u64>,
    changes: u64,
    /// What whoever begins anew is not told.
    forgotten: Option<String>,
    refuses_tokens: bool,
    /// An object that changes as often as somebody asks, this number of times at most.
    restless: u64,
}

impl Store {
    fn put(&mut self, name: &str) -> String {
        self.changes += 1;
        let tag = format!("\"{}\"", self.changes);
        let text =
            format!("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:{name}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
        self.objects.insert(path(name), (tag.clone(), text));
        self.changed.insert(path(name), self.changes);
        tag
    }

    fn delete(&mut self, name: &str) {
        self.changes += 1;
        self.objects.remove(&path(name));
        self.changed.insert(path(name), self.changes);
    }

    /// Tag and text.
    fn object(&mut self, name: &str) -> &mut (String, String) {
        self.objects.get_mut(&path(name)).expect("it is there")
    }

    fn token(&self) -> String {
        format!("t/{}", self.changes)
    }

    fn reply(&mut self, request: &str) -> Then {
        assert!(request.contains(PROOF), "{request}");
        let (head, body) = request.split_once("\r\n\r\n").expect("a whole request");
        let mut words = head.split(' ');
        let (method, place) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if self.restless > 0 {
            self.restless -= 1;
            self.put("restless");
        }
        let all = || self.objects.iter().map(|(path, (tag, _))| row(path, tag, ""));
        let rows: String = match method {
            "GET" => {
                let found = self.objects.get(place);
                let status = if found.is_some() { 200 } else { 404 };
                return Then::Answer(answer(status, "", found.map_or("", |(_, text)| text.as_str())));
            }
            "PROPFIND" => all().collect(),
            _ if body.contains("calendar-multiget") => {
                let hrefs = body.split("<D:href>").skip(1).filter_map(|part| part.split('<').next());
                let found = hrefs.filter_map(|href| {
                    let (tag, text) = self.objects.get(href)?;
                    Some(row(href, tag, &format!("<calendar-data>{text}</calendar-data>")))
                });
                found.collect()
            }
            _ if body.contains("<D:sync-token></D:sync-token>") => {
                let hidden = self.forgotten.as_deref().unwrap_or("none");
                all().filter(|row| !row.contains(hidden)).collect()
            }
            _ if self.refuses_tokens => {
                return Then::Answer(answer(403, "", "<error><valid-sync-token/></error>"));
            }
            _ => {
                let since = body.split("<D:sync-token>t/").nth(1).and_then(|rest| rest.split('<').next());
                let since: u64 = since.and_then(|since| since.parse().ok()).expect("a token of ours");
                self.changed.iter().filter(|(_, at)| **at > since).map(|(path, _)| self.state(path)).collect()
            }
        };
        let token = self.token();
        let body = format!("<multistatus>{rows}<sync-token>{token}</sync-token></multistatus>");
        Then::Answer(answer(207, "", &body))
    }

    fn state(&self, path: &str) -> String {
        match self.objects.get(path) {
            Some((tag, _)) => row(path, tag, ""),
            None => {
                format!("<response><href>{path}</href><status>HTTP/1.1 404 Not Found</status></response>")
            }
        }
    }
}

fn row(path: &str, tag: &str, more: &str) -> String {
    let tag = tag.replace('"', "&quot;");
    format!("<response><href>{path}</href><getetag>{tag}</getetag>{more}</response>")
}

/// A server after a run, and what its user was told.
struct Case {
    store: Arc<Mutex<Store>>,
    server: FakeWeb,
    inputs: CheckInputs,
}

impl Case {
    /// One user's calendar: `old` was changed before the last token was given, `new` and `other` were added after it,
    /// `gone` was deleted and `brief` came and went; nobody was told of `given`.
    fn new() -> Case {
        let mut store = Store::default();
        store.put("given");
        store.put("gone");
        let first = store.token();
        let old = store.put("old");
        let last = store.token();
        let (new, other) = (store.put("new"), store.put("other"));
        store.delete("gone");
        store.put("brief");
        store.delete("brief");
        let told = [
            (PLACE.to_string(), Some(format!("user00001\n{last}"))),
            (path("old"), Some(format!("{old}\n{first}"))),
            (path("new"), Some(format!("{new}\n{last}"))),
            (path("other"), Some(format!("{other}\n{last}"))),
            (path("gone"), Some(format!("gone\n{last}"))),
            (path("brief"), None),
        ];
        let store = Arc::new(Mutex::new(store));
        let shared = Arc::clone(&store);
        let server = FakeWeb::start(move |request| shared.lock().expect("it is whole").reply(request));
        Case { store, server, inputs: CheckInputs { told: told.into(), ..CheckInputs::default() } }
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().expect("it is whole")
    }

    fn check(&self) -> Vec<ConsistencyResult> {
        check(&kit(None), &self.inputs, &self.server).unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// The beginnings of the names of broken statements, and whether each names the object.
    #[track_caller]
    fn breaks(&self, statements: &[&str], what: &str) {
        let found = self.check();
        let broken: Vec<&str> =
            found.iter().filter(|result| !result.ok).map(|result| result.name.as_str()).collect();
        assert_eq!(broken.len(), statements.len(), "{broken:#?}, not {statements:#?}");
        for (name, statement) in broken.iter().zip(statements) {
            assert!(name.starts_with(statement) && name.contains(what), "{name}, not {statement}: {what}");
        }
    }
}

/// The kit, with another check where one is given; it waits a second for each answer.
fn kit(check: Option<&str>) -> Kit {
    let mut catalogue = catalogue();
    if let Some(text) = check {
        let file = ("kits/caldav/check.lua".to_string(), Cow::Owned(text.as_bytes().to_vec()));
        catalogue.overlay([file].into());
    }
    let mut kit = Kit::open(&catalogue, "caldav").expect("the kit is right");
    kit.manifest.users.timeout_s = 1.0;
    kit
}

fn check(kit: &Kit, inputs: &CheckInputs, server: &FakeWeb) -> Result<Vec<ConsistencyResult>> {
    let target = Target::from(server.address);
    let mut told = 0;
    let found = kit::check(CheckOptions {
        kit,
        setup: &setup(kit, "quick", &[]),
        inputs,
        database: None,
        web: Some(&target),
        files: None,
        on_answer: &mut |answers| told = answers,
    });
    let asked = server.requests().len() as u64;
    assert!(told <= asked && (found.is_err() || told > 0), "{told} answers to {asked} requests");
    found
}

const THERE: &str = "objects that were confirmed have the tag that was told";
const WHOLE: &str = "objects that were confirmed are read whole";
const GONE: &str = "deleted objects are there no more";
const UNREADABLE: &str = "deleted objects can't be read";
const SHOWN: &str = "lists show what was told";
const TAKEN: &str = "tokens that the server gave are taken";
const SINCE: &str = "the last token leads to what was told since";
const ANEW: &str = "an empty token gives what a list shows";

#[test]
fn what_was_promised_is_found_on_the_server_one_by_one() {
    let case = Case::new();
    let found = case.check();
    let sentences: Vec<&str> = found.iter().map(|result| result.sentence.as_str()).collect();
    assert!(found.iter().all(|result| result.ok), "{sentences:#?}");
    let counts =
        [(THERE, 3), (WHOLE, 3), (GONE, 2), (UNREADABLE, 2), (SHOWN, 5), (TAKEN, 1), (SINCE, 5), (ANEW, 1)];
    for (statement, all) in counts {
        let counted = format!("found {all}, expected {all}");
        let right = |sentence: &&str| sentence.starts_with(statement) && sentence.ends_with(&counted);
        assert!(sentences.iter().any(right), "{statement}: {counted}, not {sentences:#?}");
    }
    let asked = case.server.requests();
    let safe = ["PROPFIND ", "REPORT ", "GET "];
    assert!(asked.iter().all(|text| safe.iter().any(|method| text.starts_with(method))), "{asked:#?}");
    assert_eq!(case.server.connections(), 1, "the connection is kept");
}

#[test]
fn a_promise_that_is_not_kept_is_named() {
    let case = Case::new();
    case.store().object("new").0 = "\"other\"".to_string();
    case.breaks(&[THERE, SHOWN, SINCE], &path("new"));

    let case = Case::new();
    case.store().objects.remove(&path("old"));
    case.breaks(&[THERE, WHOLE, SHOWN], &path("old"));

    let case = Case::new();
    let text = case.store().object("given").1.clone();
    case.store().object("other").1 = text;
    case.breaks(&[WHOLE], &path("other"));

    let case = Case::new();
    case.store().put("gone");
    case.breaks(&[GONE, UNREADABLE, SHOWN, SINCE], &path("gone"));

    let case = Case::new();
    case.store().changed.remove(&path("new"));
    case.breaks(&[SINCE], &path("new"));

    let case = Case::new();
    case.store().changed.remove(&path("gone"));
    case.breaks(&[SINCE], &path("gone"));

    let case = Case::new();
    case.store().forgotten = Some(path("given"));
    case.breaks(&[ANEW], PLACE);

    let case = Case::new();
    case.store().refuses_tokens = true;
    case.breaks(&[TAKEN], PLACE);
}

#[test]
fn what_is_still_being_done_is_no_broken_promise() {
    let case = Case::new();
    // Each object, a list, what changed since, everything: a list and everything once more, and it has come to rest.
    case.store().restless = 4;
    case.breaks(&[], "");
}

#[test]
fn a_server_without_tokens_is_asked_for_lists_alone() {
    let mut case = Case::new();
    for (key, state) in &mut case.inputs.told {
        if let Some(state) = state {
            let told = state.split('\n').next().unwrap_or_default();
            *state = format!("{}\n", if key == PLACE { "user00001" } else { told });
        }
    }
    let found = case.check();
    assert!(found.len() == 5 && found.iter().all(|result| result.ok), "{found:#?}");
    assert!(case.server.requests().iter().all(|text| !text.contains("sync-collection")));
}

/// How a server answers.
type Answering = fn() -> Then;

#[test]
fn a_check_that_could_not_be_made_says_why_and_never_passes() {
    let inputs = Case::new().inputs;
    let failing = |then: Answering| {
        let server = FakeWeb::start(move |_| then());
        check(&kit(None), &inputs, &server).expect_err("there is nothing to check").to_string()
    };
    let table: [(Answering, &str); 5] = [
        (
            || Then::Answer(answer(500, "", "Out of order")),
            "status 500 is not what is expected: Out of order",
        ),
        (
            || Then::Answer(answer(207, "", "<multistatus>")),
            "the page is not XML: it ends within <multistatus>",
        ),
        (|| Then::Answer("220 mail.example\r\n".to_string()), "the answer's head is not HTTP/1.1"),
        (|| Then::Close("HTTP/1.1 207 X\r\nContent-Length: 9\r\n\r\n<".to_string()), "closed in the middle"),
        (|| Then::Silence, "no whole answer within 1"),
    ];
    for (then, why) in table {
        let said = failing(then);
        assert!(said.contains(why), "{said}, not {why}");
    }
    let gone = FakeWeb::start(|_| Then::Silence);
    let address = gone.address;
    drop(gone);
    let found = kit::check(CheckOptions {
        kit: &kit(None),
        setup: &setup(&kit(None), "quick", &[]),
        inputs: &inputs,
        database: None,
        web: Some(&Target::from(address)),
        files: None,
        on_answer: &mut |_| panic!("nobody answers"),
    });
    let problems = found.expect_err("the server is gone");
    let said = problems.to_string();
    let expected = format!("REPORT {PLACE} of {address}: connection refused: nobody listens there");
    assert!(said.starts_with(&expected) && said.contains("try: "), "{said}");
    assert_eq!(problems.exit_code(), 2);
}

/// What a check of that text makes of a server that answers so.
fn of_script(script: &str, decide: impl FnMut(&str) -> Then + Send + 'static) -> (Result<usize>, FakeWeb) {
    let server = FakeWeb::start(decide);
    let found = check(&kit(Some(script)), &CheckInputs::default(), &server);
    let held = found.map(|found| found.iter().filter(|result| result.ok).count());
    (held, server)
}

#[test]
fn a_check_asks_and_reads_as_sessions_do() {
    let script = "auth('user00001', 'user00001')
        local page = request('GET', '/a?b=c', { headers = { Depth = 1 } })
        expect('status', page.status, 200)
        expect('bytes', #page, 27)
        expect('tag', page:header('ETag') == '\"1\"' and 1 or 0, 1)
        expect('element', page:xml('b')[1] == 'one' and 1 or 0, 1)
        page = request('REPORT', '/d', { body = '<x/>', type = 'text/xml', expect = { 404, 410 } })
        expect('other status', page.status, 404)";
    let (held, server) = of_script(script, |request| match request.starts_with("GET") {
        true => Then::Answer(answer(200, "ETag: \"1\"\r\n", "<a><b>one</b><b>two</b></a>")),
        false => Then::Close("HTTP/1.0 404 Not found\r\n\r\nnothing".to_string()),
    });
    assert_eq!(held, Ok(5), "{:?}", server.requests());
    let asked = server.requests();
    assert!(
        asked[0].starts_with("GET /a?b=c HTTP/1.1\r\n") && asked[0].contains("Depth: 1\r\n"),
        "{asked:?}"
    );
    assert!(asked.iter().all(|text| text.contains(PROOF)), "{asked:?}");
    assert!(asked[1].ends_with("Content-Length: 4\r\n\r\n<x/>"), "{asked:?}");
}

#[test]
fn a_kept_connection_that_was_closed_is_made_once_more_and_no_oftener() {
    let twice = "request('GET', '/') request('GET', '/') expect('both', 1, 1)";
    let mut number = 0;
    let (held, server) = of_script(twice, move |_| {
        number += 1;
        // The second request meets the end of the connection.
        if number == 2 { Then::Close(String::new()) } else { Then::Answer(answer(200, "", "")) }
    });
    assert_eq!((held, server.requests().len(), server.connections()), (Ok(1), 3, 2));

    let (held, server) = of_script("request('GET', '/')", |_| Then::Close(String::new()));
    let said = held.expect_err("it never answers").to_string();
    assert!(said.contains("closed in the middle"), "{said}");
    assert_eq!(server.requests().len(), 1, "a new connection that is closed says enough");
}

#[test]
fn a_check_s_own_mistakes_have_a_line() {
    for (script, why) in [
        ("\nrequest('PUT', '/')", "kits/caldav/check.lua:2: `PUT` may change something"),
        ("request('GET', '/', { redirects = 1 })", "kits/caldav/check.lua:1: option `redirects` is none of"),
        ("auth('a:b', 'c')", "kits/caldav/check.lua:1: a user's name"),
        ("query 'SELECT 1'", "kits/caldav/check.lua:1: there is no database"),
    ] {
        let (held, server) = of_script(script, |_| Then::Answer(answer(200, "", "")));
        let said = held.expect_err(why).to_string();
        assert!(said.starts_with(why), "{said}, not {why}");
        assert!(server.requests().is_empty(), "nothing is asked");
    }
}
