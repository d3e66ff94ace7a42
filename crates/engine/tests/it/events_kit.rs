//! What users of the kit `events` do, by its own files, against a server that keeps sessions as the application does: the
//! mix, the cycles, and who is logged in. All on virtual time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use engine::{Program, RunOptions, Scenario, Source};
use model::KitManifest;
use model::catalogue::setting::Values;
use model::record::interval::OperationKind;
use model::record::plan::Load;

use crate::virtual_net::{MS, Reply, VirtualNet};
use crate::virtual_time::Seen;

const USERS: u32 = 50;
const PICTURE_BYTES: usize = 5895;

fn read(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../catalogue/kits/events").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn manifest() -> KitManifest {
    model::document::read("kit.toml", &read("kit.toml")).expect("a right manifest")
}

fn scenario(kit: &KitManifest) -> Scenario {
    let modules = ["calendar", "names", "statics", "words", "zones"];
    let params: Values = kit.params.iter().map(|param| (param.name.clone(), param.default.clone())).collect();
    let file = |name: &String| (name.clone(), Arc::from(&b"a file"[..]));
    let source = Source {
        modules: modules.map(|name| (name.to_string(), read(&format!("{name}.lua")))).into(),
        params,
        size: kit.size("small").expect("a size"),
        files: kit.files.iter().map(file).collect(),
        mix: kit.sessions().resolve().expect("a matrix"),
        ..Source::of("session.lua", &read("session.lua"), "")
    };
    Scenario {
        cycle: kit.users.cycle,
        by_session: kit.users.by_session.clone(),
        ..Scenario::of(Program::Script(source))
    }
}

/// The application as far as a session can tell. Every mistake of a user is kept in words.
#[derive(Default)]
struct Calendar {
    /// By the session's number: who is logged in.
    sessions: BTreeMap<u64, Option<String>>,
    next: u64,
    titles: BTreeMap<u64, String>,
}

/// The value of a field in a form, multipart or not.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let multipart = format!("name=\"{name}\"\r\n\r\n");
    if let Some(at) = text.find(&multipart) {
        return text[at + multipart.len()..].split("\r\n").next();
    }
    let body = text.split("\r\n\r\n").nth(1)?;
    body.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn answer(code: u16, headers: &str, body: &str) -> Reply {
    let length = body.len();
    let head = "Date: Mon, 01 Sep 2008 00:00:10 GMT\r\nLast-Modified: Mon, 01 Sep 2008 00:00:00 GMT";
    let text = format!("HTTP/1.1 {code} X\r\n{head}\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
    Reply::After(2 * MS, text.into_bytes())
}

impl Calendar {
    fn reply(&mut self, text: &str) -> Reply {
        let mut words = text.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path == "/fileService.php" {
            return answer(200, "", &"x".repeat(PICTURE_BYTES));
        }
        if !path.ends_with(".php") {
            let known = text.contains("\r\nIf-Modified-Since: Mon, 01 Sep 2008 00:00");
            return if known { answer(304, "", "") } else { answer(200, "", "static") };
        }
        let cookie = text.split("\r\nCookie: events=").nth(1).and_then(|rest| rest.split("\r\n").next());
        let known = cookie.and_then(|number| number.parse().ok()).filter(|id| self.sessions.contains_key(id));
        let (id, cookie) = match known {
            Some(id) => (id, String::new()),
            None => {
                self.next += 1;
                self.sessions.insert(self.next, None);
                (self.next, format!("Set-Cookie: events={}; Path=/\r\n", self.next))
            }
        };
        if method == "POST" && field(text, "csrf_token") != Some(&format!("t{id}")) {
            return answer(403, "", "<title>Events: This form has expired</title>");
        }
        match self.page(method, path, query, text, id) {
            Ok(body) if path == "/addAttendee.php" => answer(200, "X-Attendance: new\r\n", &body),
            Ok(body) => answer(200, &cookie, &body),
            Err(place) => answer(302, &format!("Location: {place}\r\n"), ""),
        }
    }

    /// The page, or where the visitor is sent on to.
    fn page(&mut self, method: &str, path: &str, query: &str, text: &str, id: u64) -> Result<String, String> {
        let argument = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)).unwrap_or("");
        match (method, path) {
            (_, "/index.php") => Ok(self.frame(id, "Coming events", &events(1, 10))),
            ("GET", "/login.php") => Ok(self.frame(id, "Log in", "")),
            (_, "/login.php") => {
                let name = field(text, "user_name").unwrap_or_default().to_string();
                let elsewhere = self.sessions.values().flatten().any(|known| *known == name);
                assert!(!elsewhere, "{name} is logged in twice at once");
                assert!(self.sessions[&id].is_none(), "{name} logs in over somebody else");
                self.sessions.insert(id, Some(name));
                Err("/index.php".to_string())
            }
            (_, "/logout.php") => {
                self.sessions.insert(id, None);
                Err("/index.php".to_string())
            }
            (_, "/taggedEvents.php") => {
                let tag = field(text, "tag").unwrap_or(argument("tag=")).to_string();
                let listed = tag.len() % 3 * 4;
                let none = if listed == 0 { "No events have this tag" } else { "" };
                Ok(self.frame(
                    id,
                    &format!("Tagged {tag}"),
                    &(events(20 + 5 * (tag.len() * 7 % 40), listed) + none),
                ))
            }
            (_, "/events.php") => {
                let number: u64 = argument("socialEventID=").parse().expect("an event's number");
                let title = self.titles.get(&number).cloned().unwrap_or("an event".to_string());
                let form = form("/addAttendee.php", id, "<input type=\"hidden\" name=\"id\" value=\"5\" />");
                let attend = self.sessions[&id].as_ref().map_or(String::new(), |_| form + "Attend");
                Ok(self.frame(id, &title, &format!("{}<h3>7 Attendees:</h3>{attend}", picture(number))))
            }
            (_, "/users.php") => {
                let name = argument("username=");
                let last = self.titles.get(&0).cloned().unwrap_or_default();
                Ok(self.frame(id, &format!("Person {name}"), &(picture(1) + &last)))
            }
            (_, "/addAttendee.php") => {
                let name = self.sessions[&id].clone().expect("only who is logged in attends");
                Ok(format!("<a>{name}</a>"))
            }
            (_, "/addPerson.php") => Ok(self.frame(id, "Register", &form("/addPersonResult.php", id, ""))),
            (_, "/addEvent.php") => Ok(self.frame(id, "Post an event", &form("/addEventResult.php", id, ""))),
            (_, "/addPersonResult.php") => {
                self.titles.insert(0, field(text, "last_name").unwrap_or_default().to_string());
                Err(format!("/users.php?username={}", field(text, "user_name").unwrap_or_default()))
            }
            (_, "/addEventResult.php") => {
                let number = 100_000 + self.titles.len() as u64;
                self.titles.insert(number, field(text, "title").unwrap_or_default().to_string());
                Err(format!("/events.php?socialEventID={number}"))
            }
            _ => panic!("{method} {path} is no page of the application"),
        }
    }

    fn frame(&self, id: u64, title: &str, content: &str) -> String {
        let side = match &self.sessions[&id] {
            Some(name) => format!("Logged in as <a>{name}</a>"),
            None => form("/login.php", id, "Username<input type=\"text\" name=\"user_name\" />"),
        };
        let search = form("/taggedEvents.php", id, "<input type=\"text\" name=\"tag\" />");
        format!("<title>Events: {title}</title>{content}{search}{side}")
    }
}

fn form(action: &str, id: u64, inputs: &str) -> String {
    format!(
        "<form action=\"{action}\" method=\"post\"><input type=\"hidden\" name=\"csrf_token\" value=\"t{id}\" />\
         {inputs}</form>"
    )
}

fn picture(event: u64) -> String {
    format!("<img src=\"/fileService.php?cache=false&amp;file=e{event}t.jpg\" alt=\"\" />")
}

fn events(first: usize, count: usize) -> String {
    let event = |number: usize| {
        let picture = picture(number as u64);
        format!("<div class=\"event\"><a href=\"events.php?socialEventID={number}\">{picture}</a></div>")
    };
    (first..first + count).map(event).collect()
}

fn observe(seconds: f64) -> (KitManifest, Seen) {
    let kit = manifest();
    let mut calendar = Calendar::default();
    let net = VirtualNet::new(move |_, text| calendar.reply(text));
    let load = Load { users: USERS, ramp_up_s: 10.0, steady_s: seconds, seed: 11, ..Load::default() };
    let options = RunOptions::of(scenario(&kit), load, SocketAddr::from(([127, 0, 0, 1], 80)));
    (kit, Seen::of(&options, net))
}

#[test]
fn users_of_events_follow_the_matrix_at_its_pace_and_nobody_is_logged_in_twice() {
    let (kit, seen) = observe(800.0);
    assert!(seen.listener.evidence.is_empty(), "{:?}", &seen.listener.evidence[..1]);
    let mix = kit.sessions().resolve().expect("a matrix");
    let completed = |name: &str| seen.completed(OperationKind::Session, name) as f64;
    let total: f64 = mix.names.iter().map(|name| completed(name)).sum();
    assert!(total > 7000.0, "{total} sessions");
    let shares = [
        ("HomePage", 26.15),
        ("Login", 10.22),
        ("TagSearch", 33.45),
        ("EventDetail", 24.68),
        ("PersonDetail", 2.61),
        ("AddPerson", 0.84),
        ("AddEvent", 2.05),
    ];
    for (name, percent) in shares {
        let found = 100.0 * completed(name) / total;
        assert!((found - percent).abs() < 1.5, "{name}: {found:.2} % instead of {percent} %");
    }
    for (name, pauses) in mix.names.iter().zip(&seen.whole.pauses) {
        let distribution = kit.users.usual_pauses().after(name).expect("every session has a cycle");
        let (n, error) = (pauses.drawn as f64, distribution.spread().0 / (pauses.drawn as f64).sqrt());
        let mean = pauses.drawn_sum_s / n;
        assert!((mean - distribution.mean()).abs() < 4.0 * error, "{name}: {mean} s of {n} cycles");
        assert!(pauses.took_sum_s < 1.01 * pauses.asked_sum_s, "{name}: {pauses:?}");
    }
}

#[test]
fn users_of_events_look_attend_and_cache_as_the_original_s_do() {
    let (_, seen) = observe(400.0);
    let counter = |name: &str| seen.whole.counters.get(name).copied().unwrap_or(0) as f64;
    let completed = |name: &str| seen.completed(OperationKind::Operation, name) as f64;
    assert_eq!(counter("images on home pages"), 10.0 * completed("HomePage"));
    let loaded = counter("images loaded for home pages") / completed("HomePage");
    assert!((2.5..4.0).contains(&loaded), "{loaded} of ten are loaded: once a browser");
    assert_eq!(
        counter("image bytes loaded for home pages"),
        PICTURE_BYTES as f64 * counter("images loaded for home pages")
    );
    let attended = counter("attended") / completed("EventDetail");
    assert!((0.06..0.13).contains(&attended), "a tenth of those who are logged in attend: {attended}");
    let log = seen.log.borrow();
    let with = |words: &str| log.iter().filter(|(_, text)| text.contains(words)).count() as f64;
    let conditional = with("\r\nIf-Modified-Since: ");
    assert_eq!(conditional, counter("statics not modified"), "each of them is answered with 304");
    let cold = counter("statics") - conditional;
    assert!(
        cold > 0.0 && conditional > 5.0 * cold,
        "{cold} fetched once, {conditional} asked about each time"
    );
    assert!(with("Accept-Encoding: gzip") <= 2.0 * completed("Login") + 2.0, "only to log in");
}
