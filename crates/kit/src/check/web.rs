//! The web server under test as a check asks it: by the words that sessions ask with, one request at a time, and by
//! methods that change nothing.

use std::collections::BTreeMap;
use std::io::Write;

use engine::http::auth::{Credentials, write_basic};
use engine::http::response::{Body, Expected, Response};
use engine::script::one_page::OnePage;
use mlua::{Table, Value};
use model::Problem;

use super::connection::{Broken, Connection};

/// A check looks and touches nothing: methods that are safe (RFC 9110 section 9.2.1), those of WebDAV among them.
const SAFE: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT", "SEARCH"];

/// What a script can't set: two lengths or two hosts would make a request that servers read differently.
const OWN_HEADERS: [&str; 5] = ["host", "content-length", "transfer-encoding", "connection", "cookie"];

/// The web server, and who asks it.
pub(super) struct Web<'a> {
    connection: Connection,
    page: OnePage,
    host: String,
    /// The header line that says who asks; empty for nobody.
    proof: Vec<u8>,
    answers: u64,
    on_answer: &'a mut dyn FnMut(u64),
}

impl<'a> Web<'a> {
    /// The server at `host` over `connection`; `page` is where scripts see its answers, `on_answer` is told how many came.
    pub(super) fn new(
        connection: Connection,
        host: &str,
        page: OnePage,
        on_answer: &'a mut dyn FnMut(u64),
    ) -> Web<'a> {
        Web { connection, page, host: host.to_string(), proof: Vec::new(), answers: 0, on_answer }
    }

    /// Whoever asks is that user from now on.
    pub(super) fn log_in(&mut self, name: &str, password: &str) -> Result<(), &'static str> {
        let mut proof = Vec::new();
        write_basic(Credentials { name, password }, &mut proof)?;
        self.proof = proof;
        Ok(())
    }

    /// Gives the answer as scripts see it; one of another status than the script expects is none.
    pub(super) fn ask(&mut self, request: &Request) -> Result<Value, Box<Problem>> {
        let bytes = request.bytes(&self.host, &self.proof);
        let expected = Expected { to_head: request.method == "HEAD", body: Body::Keep };
        let (connection, page) = (&mut self.connection, &self.page);
        let mut exchange = || {
            page.receive(&bytes, expected, |response| {
                connection.exchange(&bytes, response)?;
                request.judge(response).map_err(Broken::For)
            })
        };
        let outcome = match exchange() {
            // To look twice does no harm.
            Err(Broken::Stale) => exchange(),
            outcome => outcome,
        };
        let what = match outcome {
            Ok(()) => {
                self.answers += 1;
                (self.on_answer)(self.answers);
                return Ok(self.page.page());
            }
            Err(Broken::For(what)) => what,
            Err(Broken::Stale) => "the server closed the connection".to_string(),
        };
        let Request { method, path, .. } = request;
        let problem = Problem::environment(format!("{method} {path} of {}: {what}", self.host))
            .why("what users were told can't be held against a server that does not answer as it should")
            .remedy("the last lines of its log, which say why");
        Err(Box::new(problem))
    }
}

/// A request as a script says it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    method: String,
    path: String,
    /// Lines, each with its end.
    headers: Vec<u8>,
    body: Option<Vec<u8>>,
    /// The statuses that are right; none for all below 400.
    wanted: Vec<u16>,
}

impl Request {
    /// Of the arguments of a call; the error says what is wrong with them.
    pub(super) fn read(method: String, path: String, options: Option<&Table>) -> Result<Request, String> {
        if !SAFE.contains(&method.as_str()) {
            let known = SAFE.join(", ");
            return Err(format!(
                "`{method}` may change something, and a check only looks: it asks by {known}"
            ));
        }
        if !path.starts_with('/') || path.bytes().any(|byte| byte <= b' ' || matches!(byte, b'#' | 0x7f)) {
            return Err(format!("`{path}` is not a path: it starts with / and has no blank and no #"));
        }
        let mut request = Request { method, path, headers: Vec::new(), body: None, wanted: Vec::new() };
        let Some(options) = options else { return Ok(request) };
        for pair in options.pairs::<String, Value>() {
            let (name, value) = pair.map_err(|error| error.to_string())?;
            match (name.as_str(), value) {
                ("headers", Value::Table(headers)) => request.headers(&headers)?,
                ("type", Value::String(kind)) => request.header("Content-Type", &kind.as_bytes())?,
                ("body", Value::String(body)) => request.body = Some(body.as_bytes().to_vec()),
                ("expect", Value::Integer(status)) => request.wanted.push(status_of(status)?),
                ("expect", Value::Table(statuses)) => {
                    for status in statuses.sequence_values::<i64>() {
                        request.wanted.push(status_of(status.map_err(|error| error.to_string())?)?);
                    }
                }
                // Sessions say by it how a request is called in the results.
                ("name", Value::String(_)) => {}
                _ => {
                    let options = "headers, type, body, expect, name";
                    return Err(format!("option `{name}` is none of {options}, or its value is wrong"));
                }
            }
        }
        Ok(request)
    }

    /// An error says what is wrong with the answer.
    fn judge(&self, response: &Response) -> Result<(), String> {
        let (status, wanted) = (response.status(), &self.wanted);
        if wanted.contains(&status) || wanted.is_empty() && status < 400 {
            return Ok(());
        }
        let body = String::from_utf8_lossy(response.body());
        let shown: String = body.chars().take(200).collect();
        Err(format!("status {status} is not what is expected: {}", shown.trim()))
    }

    /// By sorted names.
    fn headers(&mut self, headers: &Table) -> Result<(), String> {
        let mut lines = BTreeMap::new();
        for pair in headers.pairs::<String, Value>() {
            let (name, value) = pair.map_err(|error| error.to_string())?;
            let value = match value {
                Value::String(text) => text.as_bytes().to_vec(),
                Value::Integer(number) => number.to_string().into_bytes(),
                other => return Err(format!("{name}: a header's value is no {}", other.type_name())),
            };
            lines.insert(name, value);
        }
        lines.iter().try_for_each(|(name, value)| self.header(name, value))
    }

    fn header(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        let of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(of_token) {
            return Err(format!("`{name}` is not a header's name"));
        }
        if OWN_HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            return Err(format!("the header {name} is Plimsoll's own"));
        }
        if value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err(format!("{name}: a line break stands in a header's value"));
        }
        for part in [name.as_bytes(), b": ", value, b"\r\n"] {
            self.headers.extend_from_slice(part);
        }
        Ok(())
    }

    fn bytes(&self, host: &str, proof: &[u8]) -> Vec<u8> {
        let Request { method, path, headers, body, wanted: _ } = self;
        let version = env!("CARGO_PKG_VERSION");
        let mut out =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: plimsoll/{version}\r\n")
                .into_bytes();
        out.extend_from_slice(b"Accept: */*\r\n");
        out.extend_from_slice(proof);
        out.extend_from_slice(headers);
        if let Some(body) = body {
            // Memory takes everything.
            let _ = write!(out, "Content-Length: {}\r\n", body.len());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(body.as_deref().unwrap_or_default());
        out
    }
}

fn status_of(number: i64) -> Result<u16, String> {
    let status = u16::try_from(number).ok().filter(|status| (100..=599).contains(status));
    status.ok_or_else(|| "expect takes a status, or a list of them".to_string())
}

#[cfg(test)]
mod tests {
    use mlua::Lua;

    use super::*;

    fn read(method: &str, path: &str, options: &str) -> Result<Request, String> {
        let lua = Lua::new();
        let options: mlua::Result<Option<Table>> = lua.load(format!("return {options}")).eval();
        let options = options.expect("a table or nothing");
        Request::read(method.to_string(), path.to_string(), options.as_ref())
    }

    #[test]
    fn a_request_is_sent_as_it_is_said() {
        let asked = read("GET", "/a%20b?c=d", "nil").expect("it is right");
        let expected =
            "GET /a%20b?c=d HTTP/1.1\r\nHost: shop:80\r\nUser-Agent: plimsoll/V\r\nAccept: */*\r\n\r\n";
        let text = |request: &Request, proof: &[u8]| {
            let text = String::from_utf8(request.bytes("shop:80", proof)).expect("it is text");
            text.replace(env!("CARGO_PKG_VERSION"), "V")
        };
        assert_eq!(text(&asked, b""), expected);
        let options = "{ headers = { Depth = 1, Accept = 'text/xml' }, type = 'text/xml', body = '<a/>' }";
        let said = text(&read("PROPFIND", "/", options).expect("it is right"), b"Authorization: Basic x\r\n");
        assert!(said.contains("Accept: */*\r\nAuthorization: Basic x\r\n"), "{said}");
        assert!(said.contains("Accept: text/xml\r\nDepth: 1\r\n"), "{said}");
        assert!(said.contains("Content-Type: text/xml\r\n"), "{said}");
        assert!(said.ends_with("Content-Length: 4\r\n\r\n<a/>"), "{said}");
    }

    #[test]
    fn an_answer_is_right_by_its_status() {
        let answered = |status: u16| {
            let mut response = Response::default();
            response.begin(Expected::default());
            let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 4\r\n\r\nwhy\n");
            assert_eq!(response.feed(answer.as_bytes()), Ok(true));
            response
        };
        let any = read("GET", "/", "{}").expect("it is right");
        let two = read("GET", "/", "{ expect = { 207, 404 }, name = 'a' }").expect("it is right");
        let one = read("GET", "/", "{ expect = 404 }").expect("it is right");
        for (request, right, wrong) in [(&any, 207, 404), (&two, 404, 200), (&one, 404, 207)] {
            assert_eq!(request.judge(&answered(right)), Ok(()));
            let said = request.judge(&answered(wrong)).expect_err("another status");
            assert_eq!(said, format!("status {wrong} is not what is expected: why"));
        }
    }

    #[test]
    fn what_is_no_request_or_would_change_something_is_refused_in_words() {
        let table = [
            ("PUT", "/", "nil", "`PUT` may change something"),
            ("get", "/", "nil", "`get` may change something"),
            ("GET", "a", "nil", "`a` is not a path"),
            ("GET", "/a b", "nil", "`/a b` is not a path"),
            ("GET", "/", "{ expect = 20 }", "expect takes a status"),
            ("GET", "/", "{ expect = true }", "option `expect` is none of"),
            ("GET", "/", "{ redirects = 0 }", "option `redirects` is none of"),
            ("GET", "/", "{ body = true }", "option `body` is none of"),
            ("GET", "/", "{ headers = { ['a b'] = 'c' } }", "`a b` is not a header's name"),
            ("GET", "/", "{ headers = { hOst = 'c' } }", "the header hOst is Plimsoll's own"),
            ("GET", "/", "{ headers = { A = 'b\\r\\nC: d' } }", "a line break"),
            ("GET", "/", "{ headers = { A = true } }", "a header's value is no boolean"),
            ("GET", "/", "{ type = 'a\\nb' }", "a line break"),
        ];
        for (method, path, options, why) in table {
            let said = read(method, path, options).expect_err(why);
            assert!(said.contains(why), "{said}, not {why}");
        }
    }
}
