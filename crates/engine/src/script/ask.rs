//! The calls that make requests: their arguments become what the host sends, and the script waits.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use super::host::{Arguments, Host};
use super::json;
use super::pairs;
use super::parts;
use super::stack::{Answer, Argument, Call, Fault, List};
use crate::http::request::Wanted;
use crate::random::Stream;

/// `get(path, query, options)`
pub(crate) fn get<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    ask(host, call, b"GET", Fields::Query, 1)
}

/// `head(path, query, options)`
pub(crate) fn head<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    ask(host, call, b"HEAD", Fields::Query, 1)
}

/// `delete(path, query, options)`
pub(crate) fn delete<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    ask(host, call, b"DELETE", Fields::Query, 1)
}

/// `post(path, form, options)`
pub(crate) fn post<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    ask(host, call, b"POST", Fields::Form, 1)
}

/// `put(path, form, options)`
pub(crate) fn put<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    ask(host, call, b"PUT", Fields::Form, 1)
}

/// `request(method, path, options)`
pub(crate) fn request<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    ask(host, call, method(call.argument(1))?, Fields::None, 2)
}

/// `parallel(list, { connections = 6, cache = true })`; an element is a path, or `{ method, path, options }`.
pub(crate) fn parallel<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    can_wait(call)?;
    let Argument::List(list) = call.argument(1) else { return Err(Fault::new("parallel takes a list")) };
    if !(1..=MAX_PARALLEL).contains(&list.len()) {
        return Err(Fault::new(format!("parallel takes 1 to {MAX_PARALLEL} requests, not {}", list.len())));
    }
    let (mut connections, mut cached) = (PARALLEL_CONNECTIONS, false);
    if let Argument::List(options) = call.argument(2) {
        options.spread(|pairs| {
            pairs.iter().try_for_each(|pair| {
                match *pair {
                    (Argument::Text(b"connections"), Argument::Integer(n @ 1..=100)) => {
                        connections = n as u16
                    }
                    (Argument::Text(b"cache"), Argument::Truth(truth)) => cached = truth,
                    _ => return Err(Fault::new("parallel's options are connections (1 to 100) and cache")),
                }
                Ok(())
            })
        })?;
    }
    let mut host = host.borrow_mut();
    host.drafts.clear();
    for number in 1..=list.len() as i64 {
        list.at(number, |element| beside(&mut host, element, cached))?;
    }
    host.parallel(connections);
    Ok(Answer::Wait)
}

/// As many connections as browsers open to one server.
const PARALLEL_CONNECTIONS: u16 = 6;
const MAX_PARALLEL: usize = 1000;

fn beside(host: &mut Host, element: Argument<'_, '_>, cached: bool) -> Result<(), Fault> {
    let Argument::List(parts) = element else {
        let written = Written { cached, ..Written::new(b"GET", path(element)?) };
        host.request_beside(&written.arguments());
        return Ok(());
    };
    parts.at(1, |verb| {
        parts.at(2, |target| {
            parts.at(3, |options| {
                let mut written = Written { cached, ..Written::new(method(verb)?, path(target)?) };
                written.read(options, host)?;
                host.request_beside(&written.arguments());
                Ok(())
            })
        })
    })
}

/// Raises where the script can't wait, before anything is changed.
pub(crate) fn can_wait(call: Call<'_>) -> Result<(), Fault> {
    if call.can_wait() {
        return Ok(());
    }
    Err(Fault::new("a session can't wait here: inside of a function that gsub, sort or an operator calls"))
}

/// What the argument after the path is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fields {
    Query,
    Form,
    None,
}

/// Makes a request of a call whose path is the argument of that number.
fn ask<'a>(
    host: &'a RefCell<Host>,
    call: Call<'a>,
    method: &'a [u8],
    fields: Fields,
    at: i32,
) -> Result<Answer<'a>, Fault> {
    can_wait(call)?;
    let mut host = host.borrow_mut();
    let mut written = Written {
        target: std::mem::take(&mut host.target),
        body: std::mem::take(&mut host.form),
        ..Written::new(method, path(call.argument(at))?)
    };
    written.target.clear();
    written.body.clear();
    match fields {
        Fields::Query => written.query(call.argument(at + 1))?,
        Fields::Form => written.form(call.argument(at + 1))?,
        Fields::None => {}
    }
    written.read(call.argument(at + if fields == Fields::None { 1 } else { 2 }), &host)?;
    host.request(&written.arguments());
    host.target = written.target;
    host.form = written.body;
    Ok(Answer::Wait)
}

fn path<'a>(argument: Argument<'a, '_>) -> Result<&'a [u8], Fault> {
    let Argument::Text(path) = argument else {
        return Err(Fault::new(format!("a path is wanted here, not a {}", argument.type_name())));
    };
    if path.first() != Some(&b'/') || path.iter().any(|byte| *byte <= b' ' || matches!(byte, b'#' | 0x7f)) {
        let shown = String::from_utf8_lossy(path);
        return Err(Fault::new(format!(
            "`{shown}` is not a path: it starts with / and has no blank and no #"
        )));
    }
    Ok(path)
}

fn method<'a>(argument: Argument<'a, '_>) -> Result<&'a [u8], Fault> {
    match argument {
        Argument::Text(method) if pairs::is_token(method) && method != b"CONNECT" => Ok(method),
        _ => Err(Fault::new("a method is wanted here: GET, PROPFIND, any word but CONNECT")),
    }
}

const OPTIONS: &str = "expect (a status or several), redirects (0 to 50), discard, compressed, name, headers, query, form, json, multipart, body, type";
/// Followed unless the session says otherwise, as browsers do.
const MAX_REDIRECTS: u8 = 10;
const FORM: &[u8] = b"application/x-www-form-urlencoded";

/// A request as its arguments say it.
#[derive(Debug)]
struct Written<'a> {
    method: &'a [u8],
    path: &'a [u8],
    /// Path with query; empty as long as there is no query.
    target: Vec<u8>,
    name: Option<&'a [u8]>,
    headers: Vec<u8>,
    /// As the session says it, and as the kind of the body says it.
    own_type: Option<&'a [u8]>,
    content_type: Cow<'static, [u8]>,
    body: Vec<u8>,
    segments: Vec<Arc<[u8]>>,
    has_body: bool,
    wanted: Wanted,
    redirects: u8,
    discard: bool,
    cached: bool,
}

impl<'a> Written<'a> {
    fn new(method: &'a [u8], path: &'a [u8]) -> Written<'a> {
        Written {
            method,
            path,
            target: Vec::new(),
            name: None,
            headers: Vec::new(),
            own_type: None,
            content_type: Cow::Borrowed(b""),
            body: Vec::new(),
            segments: Vec::new(),
            has_body: false,
            wanted: Wanted::default(),
            redirects: MAX_REDIRECTS,
            discard: false,
            cached: false,
        }
    }

    fn arguments(&self) -> Arguments<'_> {
        Arguments {
            method: self.method,
            target: if self.target.is_empty() { self.path } else { &self.target },
            name: self.name,
            headers: &self.headers,
            body: self.has_body.then_some((self.own_type.unwrap_or(&self.content_type), &self.body[..])),
            segments: &self.segments,
            wanted: self.wanted,
            redirects: self.redirects,
            discard: self.discard,
            cached: self.cached,
        }
    }

    fn query(&mut self, query: Argument<'_, '_>) -> Result<(), Fault> {
        if matches!(query, Argument::Nil) {
            return Ok(());
        }
        if self.target.is_empty() {
            self.target.extend_from_slice(self.path);
        }
        let separator = if self.target.contains(&b'?') { b'&' } else { b'?' };
        pairs::write(query, Some(separator), &mut self.target)
    }

    fn form(&mut self, form: Argument<'_, '_>) -> Result<(), Fault> {
        self.has_body = true;
        self.content_type = Cow::Borrowed(FORM);
        pairs::write(form, None, &mut self.body)
    }

    /// `{ expect = 404, name = "home", headers = { Accept = "text/css" } }` and so on.
    fn read(&mut self, options: Argument<'_, 'a>, host: &Host) -> Result<(), Fault> {
        match options {
            Argument::Nil => Ok(()),
            Argument::List(list) => self.read_list(list, host),
            other => Err(Fault::new(format!("options are a table, not a {}", other.type_name()))),
        }
    }

    fn read_list(&mut self, list: List<'a>, host: &Host) -> Result<(), Fault> {
        list.spread(|pairs| pairs.iter().try_for_each(|(key, value)| self.option(*key, *value, host)))
    }

    fn multipart(&mut self, list: List<'_>, host: &Host) -> Result<(), Fault> {
        let (now_ns, user) =
            host.turn.as_ref().map_or((0, 0), |turn| (turn.now_ns, turn.session.user_number));
        let random = Stream::new(now_ns, u64::from(user)).bits();
        let (body, content_type) = parts::read(list, &host.files, random)?;
        self.has_body = true;
        self.content_type = Cow::Owned(content_type.into_bytes());
        self.body = body.first;
        self.segments = body.rest;
        Ok(())
    }

    /// `404`, or `{ 200, 304 }`.
    fn expect(&mut self, statuses: Argument<'_, '_>) -> Result<(), Fault> {
        let mut wanted = Wanted::default();
        let mut name = |status: Argument<'_, '_>| match status {
            Argument::Integer(status @ 100..=599) if wanted.name(status as u16) => Ok(()),
            _ => Err(Fault::new(format!("expect takes a status, or a list of at most {}", Wanted::MAX))),
        };
        match statuses {
            Argument::List(list) if list.len() > 0 => {
                (1..=list.len() as i64).try_for_each(|number| list.at(number, &mut name))?;
            }
            one => name(one)?,
        }
        self.wanted = wanted;
        Ok(())
    }

    fn option(&mut self, key: Argument<'a, '_>, value: Argument<'a, '_>, host: &Host) -> Result<(), Fault> {
        let Argument::Text(key) = key else { return Err(Fault::new("options have names")) };
        match (key, value) {
            (b"expect", statuses) => self.expect(statuses)?,
            (b"redirects", Argument::Integer(max @ 0..=50)) => self.redirects = max as u8,
            (b"discard", Argument::Truth(truth)) => self.discard = truth,
            (b"compressed", Argument::Truth(truth)) if truth => {
                self.headers.extend_from_slice(b"Accept-Encoding: gzip, br\r\n");
            }
            (b"compressed", Argument::Truth(_)) => {}
            (b"name", Argument::Text(name)) => self.name = Some(name),
            (b"headers", Argument::List(headers)) => pairs::write_headers(headers, &mut self.headers)?,
            (b"query", query @ Argument::List(_)) => self.query(query)?,
            (b"form", form @ Argument::List(_)) if self.body.is_empty() => self.form(form)?,
            (b"json", value) if self.body.is_empty() => {
                self.has_body = true;
                self.content_type = Cow::Borrowed(b"application/json");
                json::write(value, &mut self.body)?;
            }
            (b"multipart", Argument::List(list)) if self.body.is_empty() => self.multipart(list, host)?,
            (b"body", Argument::Text(body)) if self.body.is_empty() => {
                self.has_body = true;
                self.body.extend_from_slice(body);
            }
            (b"type", Argument::Text(kind)) if !kind.iter().any(|byte| *byte < b' ') => {
                self.own_type = Some(kind);
            }
            _ => {
                let key = String::from_utf8_lossy(key);
                return Err(Fault::new(format!(
                    "option `{key}` is none of {OPTIONS}, or its value is wrong"
                )));
            }
        }
        Ok(())
    }
}
