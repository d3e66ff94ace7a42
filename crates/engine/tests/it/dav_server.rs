//! A CalDAV server as far as a session can tell, for the kits `calendar` and `caldav`: accounts with one calendar each,
//! tags, conditions, tokens. Every object that it is sent is read by another parser of iCalendar. Whoever does not say who
//! it is is told to.

mod extras;
mod web_page;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use icalendar::parser::{read_calendar, unfold};

pub(crate) use extras::Extras;

use crate::virtual_net::{MS, Reply};

/// How a server writes, and what it can do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Dialect {
    /// sabre/dav 1.8 behind the kit's own front: prefixes, no sync-tokens, discovery by a redirect.
    Sabre,
    /// Radicale 3: names without a prefix, sync-tokens. But nothing is at the well-known address, where Radicale itself
    /// leads to `/`: programs must find their way without it too.
    Radicale,
}

/// What goes wrong, once, at the request of that number among those that change something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mishap {
    /// It is done, and never answered.
    Unanswered(usize),
    /// It is confirmed, and not done.
    Lost(usize),
    /// Of those for the well-known address: it is never answered.
    Unheard(usize),
}

pub(crate) struct DavServer {
    dialect: Dialect,
    pub(crate) mishap: Option<Mishap>,
    pub(crate) extras: Extras,
    /// How many requests for extras were refused.
    pub(crate) refused: usize,
    /// Tag and text by path.
    pub(crate) objects: BTreeMap<String, (String, String)>,
    /// When each path last changed; what is gone is still here.
    changed: BTreeMap<String, u64>,
    calendars: BTreeSet<String>,
    changes: u64,
    writes: usize,
    starts: usize,
}

/// A request, taken apart.
struct Asked<'a> {
    method: &'a str,
    path: &'a str,
    query: &'a str,
    head: &'a str,
    body: &'a str,
}

impl Asked<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl DavServer {
    /// With that number of accounts, each of that number of objects, named as the kits' `population.lua` does.
    pub(crate) fn new(dialect: Dialect, accounts: u32, objects: u32) -> DavServer {
        let mut server = DavServer {
            dialect,
            mishap: None,
            extras: Extras::Known,
            refused: 0,
            objects: BTreeMap::new(),
            changed: BTreeMap::new(),
            calendars: BTreeSet::new(),
            changes: 0,
            writes: 0,
            starts: 0,
        };
        for n in 1..=accounts {
            let place = format!("{}calendar/", server.home(&format!("user{n:05}")));
            for k in 1..=objects {
                let uid = format!("{n:08x}-0000-4000-8000-{k:012x}");
                let text = format!(
                    "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
                );
                server.keep(&format!("{place}{uid}.ics"), &text);
            }
            server.calendars.insert(place);
        }
        server
    }

    fn home(&self, user: &str) -> String {
        match self.dialect {
            Dialect::Sabre => format!("/dav/calendars/{user}/"),
            Dialect::Radicale => format!("/{user}/"),
        }
    }

    fn principal(&self, user: &str) -> String {
        match self.dialect {
            Dialect::Sabre => format!("/dav/principals/{user}/"),
            Dialect::Radicale => format!("/{user}/"),
        }
    }

    fn keep(&mut self, path: &str, text: &str) -> String {
        self.changes += 1;
        let etag = format!("\"{:032x}\"", self.changes);
        self.objects.insert(path.to_string(), (etag.clone(), text.to_string()));
        self.changed.insert(path.to_string(), self.changes);
        etag
    }

    pub(crate) fn reply(&mut self, text: &str) -> Reply {
        let (head, body) = text.split_once("\r\n\r\n").expect("a whole request");
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let asked = Asked { method, path, query, head, body };
        if path == "/.well-known/caldav" {
            self.starts += 1;
            if self.mishap == Some(Mishap::Unheard(self.starts)) {
                self.mishap = None;
                return Reply::Never;
            }
            let moved = answer(301, "Location: /dav/\r\n", "");
            let found = if self.dialect == Dialect::Sabre { moved } else { answer(404, "", "Not found") };
            return Reply::After(MS, found);
        }
        let found = match logged_in(&asked) {
            Some(user) => self.answer(&asked, &user),
            None => answer(401, "WWW-Authenticate: Basic realm=\"Calendar\"\r\n", ""),
        };
        match self.mishap {
            Some(Mishap::Unanswered(at)) if changes(method) && self.writes > at => {
                self.mishap = None;
                Reply::Never
            }
            _ => Reply::After(2 * MS, found),
        }
    }

    fn answer(&mut self, asked: &Asked<'_>, user: &str) -> Vec<u8> {
        let own = asked.path.starts_with(&self.home(user)) || asked.path.starts_with(&self.principal(user));
        assert!(
            own || ["/dav/", "/dav/principals/"].contains(&asked.path) || !asked.path.starts_with("/dav"),
            "{}",
            asked.head
        );
        if let Some(found) = self.extra(asked) {
            return found;
        }
        match asked.method {
            "GET" if asked.path.ends_with(".ics") => self.get(asked),
            "GET" => self.whole(asked, user),
            "PUT" | "DELETE" => self.write(asked),
            "PROPFIND" => multistatus(&self.properties(asked, user), self.dialect),
            "REPORT" => self.report(asked),
            "MKCALENDAR" => {
                self.calendars.insert(asked.path.to_string());
                answer(201, "", "")
            }
            "POST" if asked.path == "/json-rpc" => self.call(asked, user),
            _ => panic!("{} is nothing that a user asks for", asked.head),
        }
    }

    fn get(&self, asked: &Asked<'_>) -> Vec<u8> {
        match self.objects.get(asked.path) {
            Some((etag, text)) => answer(200, &format!("ETag: {etag}\r\n"), text),
            None => answer(404, "", ""),
        }
    }

    /// The feed, or the whole calendar by ticket.
    fn whole(&self, asked: &Asked<'_>, user: &str) -> Vec<u8> {
        let place = format!("{}calendar/", self.home(user));
        let objects = self.objects.range(place.clone()..).take_while(|(path, _)| path.starts_with(&place));
        if asked.path == format!("/atom/collection/{user}/calendar/full") {
            let entries = "<entry></entry>".repeat(if asked.query.is_empty() { objects.count() } else { 1 });
            return answer(200, "", &format!("<feed>{entries}</feed>"));
        }
        assert_eq!(asked.path, format!("/webcal/collection/{user}/calendar"));
        let ticket = asked.query.strip_prefix("ticket=").expect("a ticket");
        assert!(ticket.len() == 32 && ticket.bytes().all(|byte| byte.is_ascii_hexdigit()), "{ticket}");
        let uids: String = objects.map(|(path, _)| format!("\r\nUID:{path}")).collect();
        answer(200, "", &format!("BEGIN:VCALENDAR{uids}\r\nEND:VCALENDAR\r\n"))
    }

    fn write(&mut self, asked: &Asked<'_>) -> Vec<u8> {
        if asked.method == "DELETE" && self.calendars.remove(asked.path) {
            self.objects.retain(|path, _| !path.starts_with(asked.path));
            return answer(204, "", "");
        }
        let known = self.objects.get(asked.path).map(|(etag, _)| etag.clone());
        let refused = asked.header("If-Match").is_some_and(|tag| known.as_deref() != Some(tag))
            || asked.header("If-None-Match").is_some_and(|tag| tag == "*" && known.is_some());
        if refused {
            return answer(412, "", "");
        }
        self.writes += 1;
        if self.mishap == Some(Mishap::Lost(self.writes)) {
            self.mishap = None;
            let tag = if asked.method == "PUT" { "ETag: \"lost\"\r\n" } else { "" };
            return answer(if known.is_some() { 204 } else { 201 }, tag, "");
        }
        if asked.method == "DELETE" {
            self.changes += 1;
            self.changed.insert(asked.path.to_string(), self.changes);
            let gone = self.objects.remove(asked.path).is_some();
            return answer(if gone { 204 } else { 404 }, "", "");
        }
        read_object(asked.path, asked.body);
        let etag = self.keep(asked.path, asked.body);
        answer(if known.is_some() { 204 } else { 201 }, &format!("ETag: {etag}\r\n"), "")
    }

    /// Responses to a PROPFIND, each with a path and its properties.
    fn properties(&self, asked: &Asked<'_>, user: &str) -> Vec<(String, String)> {
        let (home, calendar) = (self.home(user), format!("{}calendar/", self.home(user)));
        let href = |path: &str| format!("<d:href>{path}</d:href>");
        if asked.header("Depth") == Some("0") {
            let principal = href(&self.principal(user));
            let named = format!(
                "<d:current-user-principal>{principal}</d:current-user-principal><c:calendar-home-set>{}\
                 </c:calendar-home-set>{}",
                href(&home),
                self.announced(&home)
            );
            return vec![(asked.path.to_string(), named)];
        }
        if asked.path == home && !asked.body.contains("getcontentlength") {
            let token = match self.dialect {
                Dialect::Sabre => "<d:sync-token/>".to_string(),
                Dialect::Radicale => format!("<d:sync-token>t/{}</d:sync-token>", self.changes),
            };
            let kind = "<d:resourcetype><d:collection/><c:calendar/></d:resourcetype>";
            let tag = format!("<s:getctag>{}</s:getctag>", self.changes);
            return vec![
                (home, "<d:resourcetype><d:collection/></d:resourcetype>".to_string()),
                (calendar, format!("{kind}{token}{tag}")),
            ];
        }
        assert!(self.calendars.contains(asked.path), "{}", asked.head);
        let mut found = vec![(asked.path.to_string(), String::new())];
        let objects = self.objects.range(asked.path.to_string()..);
        let own = objects.take_while(|(path, _)| path.starts_with(asked.path));
        found.extend(own.map(|(path, (etag, _))| (path.clone(), tag_of(etag))));
        found
    }

    fn report(&self, asked: &Asked<'_>) -> Vec<u8> {
        let whole = |path: &String, (etag, text): &(String, String)| {
            let data = text.replace('&', "&amp;").replace('<', "&lt;").replace('\r', "&#13;");
            (path.clone(), format!("{}<c:calendar-data>{data}</c:calendar-data>", tag_of(etag)))
        };
        let own = || self.objects.iter().filter(|(path, _)| path.starts_with(asked.path));
        if asked.body.contains("calendar-query") {
            let events = own().filter(|(_, (_, text))| text.contains("BEGIN:VEVENT"));
            return multistatus(
                &events.take(3).map(|(path, object)| whole(path, object)).collect::<Vec<_>>(),
                self.dialect,
            );
        }
        if asked.body.contains("calendar-multiget") {
            let hrefs: Vec<&str> = asked
                .body
                .split("href>")
                .skip(1)
                .step_by(2)
                .map(|part| part.trim_end_matches("</D:"))
                .collect();
            assert!((1..=50).contains(&hrefs.len()), "{} at once", hrefs.len());
            let found = hrefs.iter().map(|href| whole(&(*href).to_string(), &self.objects[*href]));
            return multistatus(&found.collect::<Vec<_>>(), self.dialect);
        }
        let token = asked.body.split("sync-token>").nth(1).expect("a token").trim_end_matches("</D:");
        let since = match token {
            "" => 0,
            known => match known.strip_prefix("t/").and_then(|number| number.parse::<u64>().ok()) {
                Some(number) => number,
                None => return answer(403, "", "<error xmlns=\"DAV:\"><valid-sync-token/></error>"),
            },
        };
        let changed = self.changed.iter().filter(|(path, at)| path.starts_with(asked.path) && **at > since);
        let rows = changed.filter_map(|(path, _)| match self.objects.get(path) {
            Some((etag, _)) => Some((path.clone(), tag_of(etag))),
            None if token.is_empty() => None,
            None => Some((path.clone(), "<d:status>HTTP/1.1 404 Not Found</d:status>".to_string())),
        });
        let mut rows: Vec<_> = rows.collect();
        rows.push((String::new(), format!("<d:sync-token>t/{}</d:sync-token>", self.changes)));
        multistatus(&rows, self.dialect)
    }
}

fn changes(method: &str) -> bool {
    matches!(method, "PUT" | "DELETE")
}

fn tag_of(etag: &str) -> String {
    format!("<d:getetag>{}</d:getetag>", etag.replace('"', "&quot;"))
}

/// Rows without a path are no responses but stand for themselves.
fn multistatus(rows: &[(String, String)], dialect: Dialect) -> Vec<u8> {
    let mut body = "<d:multistatus xmlns:d=\"DAV:\">".to_string();
    for (path, properties) in rows {
        let written = match path.is_empty() {
            true => write!(body, "{properties}"),
            false => write!(body, "<d:response><d:href>{path}</d:href>{properties}</d:response>"),
        };
        written.expect("memory takes everything");
    }
    body += "</d:multistatus>";
    if dialect == Dialect::Radicale {
        body = body.replace("<d:", "<").replace("</d:", "</").replace("xmlns:d", "xmlns");
    }
    answer(207, "Content-Type: application/xml\r\n", &body)
}

fn answer(code: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {code} X\r\n{headers}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// Whoever asks, by name, if it says so; the password must be the name.
fn logged_in(asked: &Asked<'_>) -> Option<String> {
    let proof = asked.header("Authorization")?.strip_prefix("Basic ").expect("as everybody does");
    let plain = STANDARD.decode(proof).ok().and_then(|plain| String::from_utf8(plain).ok());
    let plain = plain.unwrap_or_else(|| panic!("nobody's proof: {}", asked.head));
    let (name, password) = plain.split_once(':').expect("a name and a password");
    assert_eq!(name, password);
    Some(name.to_string())
}

/// The object is one that another parser reads, with the UID of its path.
pub(crate) fn read_object(path: &str, text: &str) {
    let unfolded = unfold(text);
    let calendar = read_calendar(&unfolded).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(text.split("\r\n").all(|line| line.len() <= 75 && !line.contains('\n')), "{text}");
    let [component] = calendar.components.as_slice() else { panic!("one component: {text}") };
    let value = |name: &str| component.find_prop(name).map(|found| found.val.as_str().to_string());
    let uid = path.rsplit('/').next().and_then(|name| name.strip_suffix(".ics")).map(str::to_string);
    assert_eq!(value("UID"), uid, "{text}");
    let begins = if component.name == "VTODO" { "DUE" } else { "DTSTART" };
    assert!(value(begins).is_some() && value("DTSTAMP").is_some() && value("SUMMARY").is_some(), "{text}");
}
