//! A laboratory's page that a test starts, and requests to it as they are written.

use std::fmt::Write as _;

use rustix::process::Signal;
use serde_json::Value as Json;
use store::Runs;
use testkit::recorded::Specimen;

use crate::raw_http::{Answer, Connection};
use crate::tool::{Finished, Home, Running, Tool};

pub(crate) const RUN: &str = "20260101-000000-dvdstore-000a";
pub(crate) const OTHER: &str = "20260101-000100-dvdstore-000b";
pub(crate) const STATIC: &str = "20260101-000200-static-000c";

/// A home with three recorded runs: two of the DVD Store, one of static files.
pub(crate) fn home_with_runs() -> Home {
    let home = Home::new();
    let runs = Runs::open(home.path()).expect("the home can be made");
    for (specimen, id) in [(Specimen::Passed, RUN), (Specimen::Failed, OTHER), (Specimen::ByRate, STATIC)] {
        let mut recorded = specimen.open();
        recorded.record.id = id.to_string();
        recorded.keep(&runs);
    }
    home
}

/// A page that is served.
pub(crate) struct Page {
    /// Nothing any more once it was ended; a test that fails before that ends it as well.
    server: Option<Running>,
    /// Where it listens.
    pub(crate) address: String,
    /// As a browser asks for it.
    pub(crate) origin: String,
    link: String,
}

impl Page {
    /// Serves `home` at a free port, with more words.
    pub(crate) fn start(home: &Home, words: &str) -> Page {
        Page::of(home.plimsoll(&format!("serve --listen 127.0.0.1:0 {words}")))
    }

    /// Serves `home` at a free port; its jobs measure when nobody else does.
    pub(crate) fn start_with_waiting_jobs(home: &Home) -> Page {
        Page::of(home.plimsoll("serve --listen 127.0.0.1:0").alone())
    }

    fn of(command: Tool) -> Page {
        let mut server = command.start();
        let link = server.first_line(|line| line.starts_with("http").then(|| line.trim().to_string()));
        let (origin, _) = link.split_once("/?").expect("a link");
        let port = origin.rsplit(':').next().expect("a port");
        Page { server: Some(server), address: format!("127.0.0.1:{port}"), origin: origin.to_string(), link }
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.server.as_ref().expect("it was not ended").pid()
    }

    /// The link that it printed when it started.
    pub(crate) fn link(&self) -> &str {
        &self.link
    }

    /// A link that another process makes.
    pub(crate) fn another_link(&self, home: &Home, words: &str) -> String {
        let link = home.plimsoll(&format!("serve --link {words}")).run().expect(0).stdout;
        let link = link.trim().to_string();
        assert!(link.starts_with(&format!("{}/?token=", self.origin)), "{link}");
        link
    }

    /// Whoever comes by that link.
    pub(crate) fn sign_in(&self, link: &str) -> Visitor {
        let path = link.strip_prefix(&self.origin).expect("a link of this page");
        let answer = Visitor::nobody(self).get(path);
        assert_eq!((answer.status, answer.head.get("location").map(String::as_str)), (303, Some("/")));
        let cookie = &answer.head["set-cookie"];
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && !cookie.contains("Domain"));
        let cookie = cookie.split(';').next().expect("its first part").to_string();
        Visitor { cookie, ..Visitor::nobody(self) }
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn end(mut self) -> Finished {
        self.ended_by(Signal::INT)
    }

    /// Ends it as nothing else does.
    pub(crate) fn kill(mut self) {
        self.ended_by(Signal::KILL);
    }

    fn ended_by(&mut self, signal: Signal) -> Finished {
        let server = self.server.take().expect("it was not ended");
        server.signal(signal);
        server.wait()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if self.server.is_some() {
            self.ended_by(Signal::KILL);
        }
    }
}

/// Somebody who asks.
#[derive(Clone)]
pub(crate) struct Visitor {
    address: String,
    host: String,
    origin: String,
    cookie: String,
}

impl Visitor {
    /// Whoever has not signed in.
    pub(crate) fn nobody(page: &Page) -> Visitor {
        let host = page.origin.strip_prefix("http://").expect("an origin").to_string();
        Visitor { address: page.address.clone(), host, origin: page.origin.clone(), cookie: String::new() }
    }

    /// The same at a page that has come back elsewhere.
    pub(crate) fn at(&self, page: &Page) -> Visitor {
        Visitor { cookie: self.cookie.clone(), ..Visitor::nobody(page) }
    }

    /// Asks with these header lines in place of its own.
    pub(crate) fn asks(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        let own = [("Host", &self.host), ("Cookie", &self.cookie), ("Origin", &self.origin)];
        let is_given = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        for (name, value) in own.iter().filter(|(name, value)| !value.is_empty() && !is_given(name)) {
            write!(text, "{name}: {value}\r\n").expect("a string takes all");
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            write!(text, "{name}: {value}\r\n").expect("a string takes all");
        }
        write!(text, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("a string takes all");
        let mut connection = Connection::to(&self.address);
        connection.send(text);
        connection.answer().unwrap_or_else(|| panic!("{method} {path} is answered"))
    }

    /// A connection on which what is being measured is followed.
    pub(crate) fn follow(&self) -> Connection {
        let mut connection = Connection::to(&self.address);
        let (host, cookie) = (&self.host, &self.cookie);
        connection.send(format!("GET /api/v1/live HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n"));
        connection
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.asks("GET", path, &[], "")
    }

    /// The body of what is there.
    pub(crate) fn text(&self, path: &str) -> String {
        let answer = self.get(path);
        let text = String::from_utf8(answer.body).expect("UTF-8");
        assert_eq!(answer.status, 200, "{path}: {text}");
        text
    }

    /// Sends a form.
    pub(crate) fn post(&self, path: &str, form: &str) -> Answer {
        self.asks("POST", path, &[("Content-Type", "application/x-www-form-urlencoded")], form)
    }

    /// Asks the API.
    pub(crate) fn api(&self, method: &str, path: &str, body: &Json) -> (u16, Json) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.asks(method, path, &[("Content-Type", "application/json")], &body);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        (answer.status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{method} {path}: {text}")))
    }
}
