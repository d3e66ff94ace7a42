//! What sessions can ask for, as the server sees it; and every example of docs/sessions.md, run.

use std::net::SocketAddr;

use engine::{Audience, Program, RunOptions, Scenario, Second, Source, run_on};
use model::Result;
use model::plan::Load;

use crate::virtual_net::{MS, Reply, VirtualNet};

#[derive(Default)]
struct Evidence(Vec<String>);

impl Audience for Evidence {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.0.extend(second.evidence.iter().map(|e| format!("{}: {}: {}", e.operation, e.kind, e.message)));
        Ok(())
    }
}

/// Follows one session; gives what the server saw and what went wrong.
fn follow(script: &str) -> (Vec<String>, Vec<String>) {
    let (clock, net, log) = VirtualNet::new(|_, request| Reply::After(MS, answer(request)));
    let mut source = Source::of("session.lua", script, "visit");
    source.size.insert("customers".to_string(), 20_000.0);
    let load = Load { steady_s: 600.0, ..Load::default() };
    let target = SocketAddr::from(([127, 0, 0, 1], 80));
    let options = RunOptions {
        most_sessions: Some(1),
        ..RunOptions::of(Scenario::of(Program::Script(source)), load, target)
    };
    let mut evidence = Evidence::default();
    run_on(&options, clock, net, &mut evidence).expect("the run works");
    let requests = log.borrow().iter().map(|(_, request)| request.clone()).collect();
    (requests, evidence.0)
}

const BODY: &str = "<TABLE><b>one</b><b>two</b></TABLE> NAME=customerid VALUE=42> total 17 items";

fn answer(request: &str) -> Vec<u8> {
    let path = request.split(' ').nth(1).unwrap_or_default();
    let head = match path {
        "/old" => "302 Found\r\nLocation: /new",
        "/private" if !request.contains("Authorization: Basic ") => {
            "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\""
        }
        "/missing" => "404 Not Found",
        _ => "200 OK\r\nContent-Type: text/html",
    };
    format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{BODY}", BODY.len()).into_bytes()
}

/// The first lines that the server saw, and no error.
fn first_lines(script: &str) -> Vec<String> {
    let (requests, evidence) = follow(&format!("function visit(user) {script} end"));
    assert_eq!(evidence, Vec::<String>::new(), "{script}");
    requests.iter().map(|request| request.lines().next().unwrap_or_default().to_string()).collect()
}

#[test]
fn any_method_goes_with_query_form_and_body() {
    let script = "request('PROPFIND', '/dav', { body = '<x/>', type = 'text/xml', query = { a = 1 }, headers = { Depth = 1 } })";
    let (requests, evidence) = follow(&format!("function visit() {script} end"));
    assert!(evidence.is_empty(), "{evidence:?}");
    let request = &requests[0];
    assert!(request.starts_with("PROPFIND /dav?a=1 HTTP/1.1\r\n"), "{request}");
    for part in ["Content-Type: text/xml\r\n", "Depth: 1\r\n", "Content-Length: 4\r\n"] {
        assert!(request.contains(part), "{part} is missing in {request}");
    }
    assert!(request.ends_with("\r\n\r\n<x/>"), "{request}");
    assert_eq!(
        first_lines("put('/a', { b = 1 }) delete('/c', { d = 2 }) request('OPTIONS', '/')"),
        ["PUT /a HTTP/1.1", "DELETE /c?d=2 HTTP/1.1", "OPTIONS / HTTP/1.1"]
    );
}

#[test]
fn parallel_gives_the_pages_in_the_order_of_its_list() {
    let script = "local p = parallel({ '/a', { 'POST', '/missing', { expect = 404, form = { x = 1 } } }, '/c' }, \
                  { connections = 2 }) check(#p == 3 and p[2].status == 404 and p[3]:has('one'), 'the pages')";
    let mut lines = first_lines(script);
    lines.sort();
    assert_eq!(lines, ["GET /a HTTP/1.1", "GET /c HTTP/1.1", "POST /missing HTTP/1.1"]);
}

#[test]
fn a_user_proves_who_it_is() {
    let lines = first_lines("auth('ann', 'secret') check(get('/private').status == 200, 'let in')");
    assert_eq!(lines, ["GET /private HTTP/1.1"]);
}

#[test]
fn wrong_requests_are_errors_with_their_line() {
    for (script, why) in [
        ("parallel({})", "1 to 1000 requests"),
        ("parallel({ 'a' })", "not a path"),
        ("request('GET IT', '/')", "a method is wanted"),
        ("get('/', nil, { expect = 'ok' })", "option `expect`"),
        ("get('/', nil, { form = { a = 1 }, body = 'b' })", "option `"),
        ("local t = { 2, 1 } table.sort(t, function() get('/') end)", "can't wait here"),
        ("local p = get('/') get('/') p:has('x')", "this page is gone"),
    ] {
        let (_, evidence) = follow(&format!("function visit()\n{script}\nend"));
        let said = evidence.first().cloned().unwrap_or_default();
        assert!(said.contains("script: session.lua:2: ") && said.contains(why), "{script}: {evidence:?}");
    }
}

#[test]
fn every_example_of_the_documentation_runs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sessions.md");
    let text = std::fs::read_to_string(path).expect("the documentation is there");
    let examples: Vec<&str> =
        text.split("```lua\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    assert!(examples.len() >= 4, "{} examples", examples.len());
    for example in examples {
        let script = match example.contains("function visit") {
            true => example.to_string(),
            false => format!("function visit(user) {example} end"),
        };
        let (requests, evidence) = follow(&script);
        assert!(evidence.is_empty() && !requests.is_empty(), "{example}\n{evidence:?}");
    }
}
