//! A request as bytes, written into a buffer that is used again for the next one.

use std::sync::Arc;

use super::cookies::{self, Jar};
use super::response::{Body, Expected};
use crate::recorder::Row;

/// The statuses that a session takes for the right answer; those below 400 when it names none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// 0 where there is none.
    named: [u16; Wanted::MAX],
}

impl Wanted {
    /// The maximum number of statuses that can be named.
    pub(crate) const MAX: usize = 4;

    /// Adds a status; false when there is no room for it.
    pub(crate) fn name(&mut self, status: u16) -> bool {
        let place = self.named.iter_mut().find(|place| **place == 0);
        place.map(|place| *place = status).is_some()
    }

    /// Whether the session named this very status.
    pub(crate) fn names(&self, status: u16) -> bool {
        status != 0 && self.named.contains(&status)
    }

    /// Whether an answer of this status is the right one.
    pub(crate) fn fits(&self, status: u16) -> bool {
        if self.named[0] == 0 { status < 400 } else { self.names(status) }
    }

    /// For messages.
    pub(crate) fn words(&self) -> String {
        let named: Vec<String> = self.named.iter().filter(|one| **one != 0).map(u16::to_string).collect();
        if named.is_empty() { "one below 400".to_string() } else { named.join(" or ") }
    }
}

/// A request as a session asks for it. The generator adds Host, cookies, credentials and lengths when it is sent; its
/// buffers are used again for the next one.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// `GET`, `POST`, any token.
    pub(crate) method: Vec<u8>,
    /// Path with query, encoded.
    pub(crate) target: Vec<u8>,
    /// Header lines, each with its line end.
    pub(crate) headers: Vec<u8>,
    /// The body's, or nothing when `headers` has it.
    pub(crate) content_type: Vec<u8>,
    /// Whether there is a body, be it empty.
    pub(crate) has_body: bool,
    /// The body's first part.
    pub(crate) body: Vec<u8>,
    /// The rest of the body, in pieces that requests may share.
    pub(crate) segments: Vec<Arc<[u8]>>,
    /// The request's row.
    pub(crate) row: Row,
    /// Whether the row was named by the session, and stays the same for redirects.
    pub(crate) named: bool,
    /// What the session takes for the right answer.
    pub(crate) wanted: Wanted,
    /// The maximum number of redirects that are followed.
    pub(crate) redirects: u8,
    /// The body of the answer is not kept.
    pub(crate) discard: bool,
    /// The user's cache may answer it.
    pub(crate) cached: bool,
}

impl Draft {
    /// Forgets the request but keeps the memory.
    pub(crate) fn clear(&mut self) {
        for buffer in
            [&mut self.method, &mut self.target, &mut self.headers, &mut self.content_type, &mut self.body]
        {
            buffer.clear();
        }
        self.segments.clear();
        self.has_body = false;
        self.row = 0;
        self.named = false;
        self.wanted = Wanted::default();
        self.redirects = 0;
        self.discard = false;
        self.cached = false;
    }

    /// The body's length in bytes.
    pub(crate) fn body_bytes(&self) -> usize {
        self.body.len() + self.segments.iter().map(|segment| segment.len()).sum::<usize>()
    }

    /// Whether a server may see it twice without harm (RFC 9110 section 9.2.1), and it has no body to send again.
    pub(crate) fn is_safe(&self) -> bool {
        matches!(self.method.as_slice(), b"GET" | b"HEAD")
    }

    /// A redirect makes it a GET: the body goes, and so do the headers that describe it.
    pub(crate) fn become_get(&mut self) {
        self.method.clear();
        self.method.extend_from_slice(b"GET");
        self.content_type.clear();
        self.body.clear();
        self.segments.clear();
        self.has_body = false;
        let describes_body = |line: &[u8]| line.len() > 8 && line[..8].eq_ignore_ascii_case(b"content-");
        if self.headers.split_inclusive(|byte| *byte == b'\n').any(describes_body) {
            let lines = self.headers.split_inclusive(|byte| *byte == b'\n');
            self.headers = lines.filter(|line| !describes_body(line)).flatten().copied().collect();
        }
    }

    /// What the reader of its answer must know.
    pub(crate) fn answer(&self) -> Expected {
        let body = if self.discard { Body::Discard } else { Body::Keep };
        Expected { to_head: self.method == b"HEAD", body }
    }
}

/// The parts of a request that never change during a run.
#[derive(Debug, Clone)]
pub struct Preamble {
    after_target: Vec<u8>,
    host: String,
    tls: bool,
}

impl Preamble {
    /// For requests to `host` (with its port); `tls`: over encrypted connections; `close`: each of them ends its
    /// connection.
    pub fn new(host: &str, tls: bool, close: bool) -> Preamble {
        let version = env!("CARGO_PKG_VERSION");
        let close = if close { "Connection: close\r\n" } else { "" };
        let after_target =
            format!(" HTTP/1.1\r\nHost: {host}\r\nUser-Agent: plimsoll/{version}\r\nAccept: */*\r\n{close}");
        Preamble { after_target: after_target.into_bytes(), host: host.to_string(), tls }
    }

    /// A request as cookies see it. `now_s`: seconds since 1970.
    pub(crate) fn seen_by_cookies<'a>(&'a self, target: &'a [u8], now_s: i64) -> cookies::Request<'a> {
        cookies::Request { host: &self.host, tls: self.tls, path: path_of(target), now_s }
    }

    /// Writes the request's head and the first part of its body. `jar`: the user's cookies, and seconds
    /// since 1970. `extra` writes header lines that belong to the user.
    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        draft: &Draft,
        jar: Option<(&Jar, i64)>,
        extra: impl FnOnce(&mut Vec<u8>),
    ) {
        out.clear();
        out.extend_from_slice(&draft.method);
        out.push(b' ');
        out.extend_from_slice(&draft.target);
        out.extend_from_slice(&self.after_target);
        out.extend_from_slice(&draft.headers);
        if let Some((jar, now_s)) = jar {
            jar.write_header(&self.seen_by_cookies(&draft.target, now_s), out);
        }
        extra(out);
        if draft.has_body {
            if !draft.content_type.is_empty() {
                out.extend_from_slice(b"Content-Type: ");
                out.extend_from_slice(&draft.content_type);
                out.extend_from_slice(b"\r\n");
            }
            out.extend_from_slice(b"Content-Length: ");
            out.extend_from_slice(itoa::Buffer::new().format(draft.body_bytes()).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&draft.body);
    }
}

/// The path without its query.
pub fn path_of(target: &[u8]) -> &[u8] {
    let end = target.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(target.len());
    &target[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(draft: &Draft, jar: Option<&Jar>) -> String {
        let mut out = b"left over".to_vec();
        let preamble = Preamble::new("127.0.0.1:80", false, false);
        preamble.write(&mut out, draft, jar.map(|jar| (jar, 0)), |_| {});
        String::from_utf8(out).expect("the test's request is text").replace(env!("CARGO_PKG_VERSION"), "V")
    }

    #[test]
    fn a_get_has_no_body_and_carries_its_cookies() {
        let mut jar = Jar::default();
        jar.store(b"id=7; Path=/", &Preamble::new("127.0.0.1:80", false, false).seen_by_cookies(b"/", 0));
        let draft = Draft { method: b"GET".to_vec(), target: b"/a?b=c".to_vec(), ..Draft::default() };
        let expected = "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: plimsoll/V\r\nAccept: */*\r\n\
                        Cookie: id=7\r\n\r\n";
        assert_eq!(written(&draft, Some(&jar)), expected);
    }

    #[test]
    fn a_post_says_how_long_its_body_is_with_all_its_pieces() {
        let draft = Draft {
            method: b"POST".to_vec(),
            target: b"/a".to_vec(),
            headers: b"X-A: 1\r\n".to_vec(),
            content_type: b"application/x-www-form-urlencoded".to_vec(),
            has_body: true,
            body: b"a=1&b=2".to_vec(),
            segments: vec![Arc::from(&b"&c=3"[..])],
            ..Draft::default()
        };
        let text = written(&draft, None);
        assert!(text.ends_with("X-A: 1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 11\r\n\r\na=1&b=2"), "{text}");
    }
}
