//! A browser as a test needs one: cookies, redirects, and the token of the last form. One connection a request.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub(crate) struct Browser {
    address: String,
    cookie: Option<String>,
    token: String,
}

/// An answer; of several on the way of redirects the last.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    pub(crate) took: Duration,
    asked: String,
}

pub(crate) struct Upload<'a> {
    pub(crate) field: &'a str,
    pub(crate) name: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) bytes: &'a [u8],
}

const BOUNDARY: &str = "-----------------------------plimsoll";

impl Browser {
    pub(crate) fn new(address: &str) -> Browser {
        Browser { address: address.to_string(), cookie: None, token: String::new() }
    }

    /// From now on forms bring this instead of what the last page had.
    pub(crate) fn use_token(&mut self, token: &str) {
        self.token = token.to_string();
    }

    pub(crate) fn get(&mut self, path: &str) -> Page {
        self.get_with(path, "")
    }

    /// With more header lines, each ended by CR LF.
    pub(crate) fn get_with(&mut self, path: &str, headers: &str) -> Page {
        self.follow("GET", path, headers, &[])
    }

    pub(crate) fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let token = self.token.clone();
        let all = fields.iter().copied().chain([("csrf_token", token.as_str())]);
        let form: Vec<String> = all.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        self.follow(
            "POST",
            path,
            "Content-Type: application/x-www-form-urlencoded\r\n",
            form.join("&").as_bytes(),
        )
    }

    pub(crate) fn send(&mut self, path: &str, fields: &[(&str, &str)], uploads: &[Upload<'_>]) -> Page {
        let mut body = Vec::new();
        let token = self.token.clone();
        for (name, value) in fields.iter().copied().chain([("csrf_token", token.as_str())]) {
            let part =
                format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend(part.into_bytes());
        }
        for Upload { field, name, kind, bytes } in uploads {
            let disposition = format!("form-data; name=\"{field}\"; filename=\"{name}\"");
            let head =
                format!("--{BOUNDARY}\r\nContent-Disposition: {disposition}\r\nContent-Type: {kind}\r\n\r\n");
            body.extend(head.into_bytes());
            body.extend_from_slice(bytes);
            body.extend(b"\r\n");
        }
        body.extend(format!("--{BOUNDARY}--\r\n").into_bytes());
        let headers = format!("Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n");
        self.follow("POST", path, &headers, &body)
    }

    fn follow(&mut self, method: &str, path: &str, headers: &str, body: &[u8]) -> Page {
        let start = Instant::now();
        let mut page = self.ask(method, path, headers, body);
        for _ in 0..5 {
            let Some(next) = page.header("location").map(str::to_string) else { break };
            let path = next.find("://").map_or(next.as_str(), |at| {
                next[at + 3..].find('/').map_or("/", |slash| &next[at + 3 + slash..])
            });
            page = self.ask("GET", path, "", &[]);
        }
        page.took = start.elapsed();
        if let Some(token) = page.between("name=\"csrf_token\" value=\"", "\"") {
            self.token = token;
        }
        page
    }

    /// One request of any method, whose redirect is its answer; header lines are each ended by CR LF.
    pub(crate) fn ask(&mut self, method: &str, path: &str, headers: &str, body: &[u8]) -> Page {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout can be set");
        let cookie = self.cookie.as_ref().map_or(String::new(), |cookie| format!("Cookie: {cookie}\r\n"));
        let sends = method == "POST" || !body.is_empty();
        let length = if sends { format!("Content-Length: {}\r\n", body.len()) } else { String::new() };
        let asked = format!("{method} {path}");
        // A server of HTTP/1.0 answers in one piece and closes.
        let head = format!("{asked} HTTP/1.0\r\nHost: {}\r\n{cookie}{headers}{length}\r\n", self.address);
        // A server that refuses a body may close before it has read all of it: its answer counts.
        let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("{asked}: no answer: {sent:?}, {read:?}"));
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let page = Page { status, head, body: answer.split_off(end + 4), took: Duration::ZERO, asked };
        if let Some(cookie) = page.header("set-cookie") {
            self.cookie = cookie.split(';').next().map(str::to_string);
        }
        page
    }
}

impl Page {
    /// The last header of that name: PHP sends a session's cookie anew when its number changes.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next_back()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn has(&self, text: &str) -> bool {
        self.text().contains(text)
    }

    pub(crate) fn between(&self, before: &str, after: &str) -> Option<String> {
        let text = self.text();
        let rest = &text[text.find(before)? + before.len()..];
        rest.find(after).map(|end| rest[..end].to_string())
    }

    #[track_caller]
    pub(crate) fn must(self, status: u16, says: &str) -> Page {
        let right = self.status == status && self.has(says);
        assert!(right, "{}: not {status} with {says:?}\n{}\n\n{}", self.asked, self.head, self.text());
        self
    }
}

fn encoded(value: &str) -> String {
    let one = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    value.bytes().map(one).collect()
}
