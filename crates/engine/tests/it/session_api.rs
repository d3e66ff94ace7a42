//! What sessions can ask for, as the server sees it; and every example of docs/sessions.md, run.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use engine::script::feeder::{Feeder, Rows};
use engine::{Audience, Program, RunOptions, Scenario, Second, Source, run_on};
use model::Result;
use model::catalogue::kit::{FeedMode, OnEnd};
use model::catalogue::setting::Value;
use model::record::plan::Load;

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
    source.params.insert("page_size".to_string(), Value::Int(20));
    source.modules.insert("words".to_string(), "return { 'red', 'green' }".to_string());
    source.files.insert("photo.jpg".to_string(), Arc::from(&b"JPEG"[..]));
    source.feeders = vec![feeder("logins", FeedMode::Unique, OnEnd::Stop)];
    let load = Load { steady_s: 600.0, ..Load::default() };
    let target = SocketAddr::from(([127, 0, 0, 1], 80));
    let options = RunOptions {
        max_sessions: Some(1),
        ..RunOptions::of(Scenario::of(Program::Script(source)), load, target)
    };
    let mut evidence = Evidence::default();
    run_on(&options, clock, net, &mut evidence).expect("the run works");
    let requests = log.borrow().iter().map(|(_, request)| request.clone()).collect();
    (requests, evidence.0)
}

pub(crate) fn feeder(name: &str, mode: FeedMode, on_end: OnEnd) -> Feeder {
    let rows = Rows::read("logins.csv", b"name,password\nann,a1\nbob,b2\ncid,c3\n").expect("right rows");
    Feeder { name: name.to_string(), rows: Arc::new(rows), mode, on_end }
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
        "/broken" => "200 OK\r\nContent-Encoding: gzip",
        _ if request.contains("Accept-Encoding: gzip, br\r\n") => "200 OK\r\nContent-Encoding: gzip",
        _ => "200 OK\r\nContent-Type: text/html",
    };
    let body = match path {
        "/api" => API,
        "/shop/cart" => CART,
        _ => BODY,
    };
    let mut body = body.as_bytes().to_vec();
    if path != "/broken" && head.ends_with("gzip") {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&body).expect("memory takes everything");
        body = encoder.finish().expect("memory takes everything");
    }
    let mut answer = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    if !request.starts_with("HEAD ") {
        answer.extend(body);
    }
    answer
}

const API: &str =
    r#"{"items": [{"id": 7, "name": "pen", "price": 1.5, "gone": null}], "next": "/api?page=2"}"#;
const CART: &str = "<link rel=stylesheet href=/style.css><img src=logo.png><img src=http://elsewhere.example/x.png>\
    <form action=pay?step=2 method=POST><input type=hidden name=token value=t&amp;1><input name=card>\
    <input type=checkbox name=gift value=1 checked><input type=checkbox name=gift value=2 checked></form>";

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
fn a_coded_body_is_decoded_when_it_is_looked_at() {
    let script = "local p = get('/packed', nil, { compressed = true }) \
                  check(p:has('total 17 items') and p:count('<b>') == 2 and p:match('total ([0-9]+)') == '17', 'decoded') \
                  check(#p == #p:text() and p:header('content-encoding') == 'gzip', 'as the server said')";
    assert_eq!(first_lines(script), ["GET /packed HTTP/1.1"]);
    let (_, evidence) = follow("function visit()\nlocal p = get('/broken')\nlocal x = p:text()\nend");
    assert!(
        evidence[0].starts_with("visit: protocol: session.lua:3: the answer's body is not gzip"),
        "{evidence:?}"
    );
    assert_eq!(first_lines("check(get('/broken').status == 200, 'nobody looks')"), ["GET /broken HTTP/1.1"]);
}

#[test]
fn a_page_is_read_as_json_by_pointers() {
    let script = "local p = get('/api') local item = p:json('/items/0') \
                  check(item.id == 7 and math.type(item.id) == 'integer' and item.price == 1.5 and item.gone == nil, 'item') \
                  check(p:json('/items/0/name') == 'pen' and p:json('/items/1') == nil and #p:json().items == 1, 'pointers')";
    assert_eq!(first_lines(script), ["GET /api HTTP/1.1"]);
    for (script, why) in [
        (
            "get('/html'):json()",
            "visit: protocol: session.lua:2: the page is not JSON: expected value at line 1",
        ),
        ("get('/api'):json('items')", "visit: script: session.lua:2: json takes a JSON pointer"),
    ] {
        let (_, evidence) = follow(&format!("function visit()\n{script}\nend"));
        assert!(evidence.first().is_some_and(|said| said.starts_with(why)), "{script}: {evidence:?}");
    }
}

#[test]
fn a_form_is_sent_back_and_objects_are_fetched_from_this_server_only() {
    let script = "local p = get('/shop/cart') local form = p:form() \
                  check(form.method == 'POST' and #form.fields.gift == 2 and p:form(2) == nil, 'the form') \
                  local objects = p:objects() form.fields.card = '42' post(form.action, form.fields) \
                  parallel(objects, { connections = 1 })";
    let (requests, evidence) = follow(&format!("function visit() {script} end"));
    assert_eq!(evidence, Vec::<String>::new());
    assert!(requests[1].starts_with("POST /shop/pay?step=2 HTTP/1.1\r\n"), "{}", requests[1]);
    assert!(requests[1].ends_with("\r\n\r\ncard=42&gift=1&gift=2&token=t%261"), "{}", requests[1]);
    let objects: Vec<_> =
        requests[2..].iter().map(|request| request.split(' ').nth(1).unwrap_or_default()).collect();
    assert_eq!(objects, ["/style.css", "/shop/logo.png"]);
}

#[test]
fn bodies_are_json_and_parts_with_files() {
    let json = "post('/a', nil, { json = { b = { 1, 2.5, 'x\"' }, a = { c = true }, e = {} } })";
    let parts = "post('/b', nil, { multipart = { { name = 'title', value = 'x' }, \
                 { name = 'photo', file = 'photo.jpg', type = 'image/jpeg' }, { name = 'n', file = 'a.txt', contents = 'text' } } })";
    let (requests, evidence) = follow(&format!("function visit() {json} {parts} end"));
    assert_eq!(evidence, Vec::<String>::new());
    assert!(requests[0].contains("\r\nContent-Type: application/json\r\n"), "{}", requests[0]);
    assert!(
        requests[0].ends_with("\r\n\r\n{\"a\":{\"c\":true},\"b\":[1,2.5,\"x\\\"\"],\"e\":{}}"),
        "{}",
        requests[0]
    );
    let sent = &requests[1];
    assert!(
        sent.contains("\r\nContent-Type: multipart/form-data; boundary=----PlimsollFormBoundary"),
        "{sent}"
    );
    for part in [
        "name=\"title\"\r\n\r\nx\r\n",
        "filename=\"photo.jpg\"\r\nContent-Type: image/jpeg\r\n\r\nJPEG\r\n",
        "\r\n\r\ntext\r\n",
    ] {
        assert!(sent.contains(part), "{part} is missing in {sent}");
    }
    let (_, evidence) =
        follow("function visit() post('/', nil, { multipart = { { name = 'a', file = 'none' } } }) end");
    assert!(evidence[0].contains("`none` is none of the kit's `files` (photo.jpg)"), "{evidence:?}");
}

/// The rows that two users are given by two calls in each of two sessions, in order of time; and what went wrong.
fn fed(mode: FeedMode, on_end: OnEnd) -> (Vec<String>, Vec<String>) {
    let (clock, net, log) = VirtualNet::new(|_, request| Reply::After(MS, answer(request)));
    let script = "function visit(user) for n = 1, 2 do local row = feed.logins() \
                  get('/' .. user.number .. row.name .. row.password) think(1) end end";
    let mut source = Source::of("session.lua", script, "visit");
    source.feeders = vec![feeder("logins", mode, on_end)];
    let load = Load { users: 2, ramp_up_s: 1.0, steady_s: 600.0, ..Load::default() };
    let scenario = Scenario::of(Program::Script(source));
    let target = SocketAddr::from(([127, 0, 0, 1], 80));
    let options = RunOptions { max_sessions: Some(2), ..RunOptions::of(scenario, load, target) };
    let mut evidence = Evidence::default();
    run_on(&options, clock, net, &mut evidence).expect("the run works");
    let requests =
        log.borrow().iter().filter_map(|(_, text)| Some(text.split(' ').nth(1)?.to_string())).collect();
    (requests, evidence.0)
}

#[test]
fn rows_are_dealt_out_as_the_kit_says_and_their_end_is_said() {
    let (rows, evidence) = fed(FeedMode::Unique, OnEnd::Stop);
    let given: Vec<&str> = rows.iter().map(|row| &row[2..]).collect();
    assert_eq!(given, ["anna1", "bobb2", "cidc3"], "each once");
    let said = "feeder `logins` is used up: of its 3 rows none is left for this user";
    assert!(!evidence.is_empty() && evidence.iter().all(|text| text.contains(said)), "{evidence:?}");
    let (rows, evidence) = fed(FeedMode::Shared, OnEnd::Repeat);
    let given: Vec<&str> = rows.iter().map(|row| &row[2..]).collect();
    assert_eq!(given, ["anna1", "bobb2", "cidc3", "anna1", "bobb2", "cidc3", "anna1", "bobb2"]);
    assert!(evidence.is_empty(), "{evidence:?}");
    let of = |user: &str, rows: &[String]| {
        rows.iter().filter(|row| row.starts_with(user)).cloned().collect::<Vec<_>>()
    };
    let (rows, evidence) = fed(FeedMode::PerUser, OnEnd::Stop);
    assert_eq!(of("/1", &rows), ["/1anna1", "/1bobb2", "/1cidc3"]);
    assert_eq!(of("/2", &rows), ["/2bobb2", "/2cidc3", "/2anna1"]);
    assert!(
        evidence.iter().all(|text| text.contains("this user has been given all of its 3 rows")),
        "{evidence:?}"
    );
    assert_eq!(of("/1", &fed(FeedMode::PerUser, OnEnd::Repeat).0).len(), 4);
}

#[test]
fn a_session_without_memory_fails_alone() {
    let script = "function visit(user) get('/a') if user.number == 1 then local s = ('x'):rep(1000000):rep(2147) end get('/b') end";
    let (clock, net, log) = VirtualNet::new(|_, request| Reply::After(MS, answer(request)));
    let load = Load { users: 2, steady_s: 600.0, ..Load::default() };
    let scenario = Scenario::of(Program::Script(Source::of("session.lua", script, "visit")));
    let target = SocketAddr::from(([127, 0, 0, 1], 80));
    let options = RunOptions { max_sessions: Some(2), ..RunOptions::of(scenario, load, target) };
    let mut evidence = Evidence::default();
    run_on(&options, clock, net, &mut evidence).expect("the run works");
    assert_eq!(evidence.0.len(), 2, "{:?}", evidence.0);
    assert!(
        evidence.0.iter().all(|text| text.contains("script: ") && text.contains("memory")),
        "{:?}",
        evidence.0
    );
    let log = log.borrow();
    let requests = |path: &str| log.iter().filter(|(_, text)| text.starts_with(path)).count();
    assert_eq!((requests("GET /a "), requests("GET /b ")), (4, 2), "the other user goes on");
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
        ("get('/', nil, { expect = 'ok' })", "expect takes a status, or a list of at most 4"),
        ("get('/', nil, { form = { a = 1 }, body = 'b' })", "option `"),
        ("local t = { 2, 1 } table.sort(t, function() get('/') end)", "can't wait here"),
        ("local p = get('/') get('/') p:has('x')", "this page is gone"),
        ("told('/a', 1)", "told(\"/a\", …): it is a text or false, not a number"),
        ("told('/a', '\\xff')", "told(\"/a\", …): the text is not UTF-8"),
    ] {
        let (_, evidence) = follow(&format!("function visit()\n{script}\nend"));
        let said = evidence.first().cloned().unwrap_or_default();
        assert!(said.contains("script: session.lua:2: ") && said.contains(why), "{script}: {evidence:?}");
    }
}

/// Every call that a session can make, and how its uses look.
const CALLS: &str = "operation check( fail( abandon( count( told( think( get( post( put( head( delete( request( parallel( auth( \
    .status #page :between( :all( :has( :count( :match( :header( :json( :xml( :form( :objects( :text( random( chance( pick( \
    letters( digits( zipf( exponential( unique( elapsed( feed. param. size. require user.number";

#[test]
fn every_example_of_the_documentation_runs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sessions.md");
    let text = std::fs::read_to_string(path).expect("the documentation is there");
    let examples: Vec<&str> =
        text.split("```lua\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    for call in CALLS.split_ascii_whitespace() {
        let shown = examples.iter().any(|example| example.contains(call));
        assert!(shown, "no example of {call}) in docs/sessions.md");
    }
    for example in examples {
        let script = match example.contains("function visit") {
            true => example.to_string(),
            false => format!("function visit(user) {example} end"),
        };
        let (requests, evidence) = follow(&script);
        assert!(evidence.is_empty() && !requests.is_empty(), "{example}\n{evidence:?}");
    }
}
