//! Who is let in to the laboratory's page, and what is kept from everybody.

use std::fs;
use std::os::unix::fs::symlink;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::page::{OTHER, Page, RUN, Visitor, home_with_runs};
use crate::raw_http::Connection;
use crate::tool::{Home, catalogue, overlay};

#[test]
fn a_name_that_is_not_the_pages_is_misdirected_and_nobody_is_let_in_without_a_link() {
    let home = home_with_runs();
    let page = Page::start(&home, "");
    let nobody = Visitor::nobody(&page);
    for host in ["evil.test", &page.address, "localhost", ""] {
        assert_eq!(nobody.asks("GET", "/", &[("Host", host)], "").status, 421, "{host}");
    }
    for path in ["/", "/runs", "/api/v1/runs", "/api/v1/live", "/nowhere"] {
        assert_eq!(nobody.get(path).status, 401, "{path}");
    }
    let runner = page.sign_in(page.link());
    assert_eq!(runner.get("/").status, 200);
    assert_eq!(runner.get("/nowhere").status, 404);
    let head = runner.get("/").head;
    assert!(head["content-security-policy"].starts_with("default-src 'none'"), "{head:?}");
    assert_eq!(
        (head["x-content-type-options"].as_str(), head["cache-control"].as_str()),
        ("nosniff", "no-store")
    );
    page.end();
}

#[test]
fn a_change_is_refused_that_another_page_asks_for_and_nothing_is_changed_by_looking() {
    let home = home_with_runs();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let pause = |headers: &[(&str, &str)]| runner.asks("POST", "/queue", headers, "do=pause").status;
    for headers in [
        [("Origin", "http://127.0.0.1:8080"), ("x", "")],
        [("Origin", ""), ("x", "")],
        [("Origin", "null"), ("x", "")],
        [("Sec-Fetch-Site", "same-site"), ("x", "")],
        [("Sec-Fetch-Site", "cross-site"), ("Origin", &page.origin)],
        [("Sec-Fetch-Site", "none"), ("Origin", &page.origin)],
    ] {
        assert_eq!(pause(&headers), 403, "{headers:?}");
    }
    assert!(home.plimsoll("queue list").run().expect(0).stdout.contains("no jobs"), "it is not paused");
    assert_eq!(pause(&[("Sec-Fetch-Site", "same-origin"), ("Origin", "")]), 303);
    for path in ["/queue", "/jobs/1", &format!("/runs/{RUN}/delete")] {
        assert!([404, 405].contains(&runner.get(path).status), "{path}");
    }
    page.end();
}

#[test]
fn a_reader_may_change_nothing_at_all() {
    let home = home_with_runs();
    let page = Page::start(&home, "");
    let reader = page.sign_in(&page.another_link(&home, "--read-only"));
    assert_eq!(reader.get("/runs").status, 200);
    let document: Json = serde_json::from_str(&serve::openapi()).expect("JSON");
    let mut refused = 0;
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            if operation["x-role"] == "runner" {
                let path = path.replace("{run}", RUN).replace("{job}", "1");
                assert_eq!(reader.api(&method.to_uppercase(), &path, &json!({})).0, 403, "{method} {path}");
                refused += 1;
            } else {
                assert!(method == "get" || path == "/api/v1/check", "{method} {path} changes something");
            }
        }
    }
    assert!(refused >= 6, "{refused}");
    for path in [
        "/queue",
        "/jobs/1",
        "/new/run",
        "/runs",
        &format!("/runs/{RUN}/notes"),
        &format!("/runs/{RUN}/delete"),
    ] {
        assert_eq!(reader.post(path, "").status, 403, "{path}");
    }
    page.end();
    let page = Page::start(&home, "--read-only");
    let runner = page.sign_in(page.link());
    assert_eq!(runner.post("/queue", "do=pause").status, 403, "the server itself only shows");
    page.end();
}

#[test]
fn five_wrong_links_a_minute_are_looked_at_and_a_link_is_good_once() {
    let home = Home::new();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let nobody = Visitor::nobody(&page);
    let again = page.link().strip_prefix(&page.origin).expect("a link of this page").to_string();
    let tries: Vec<u16> = (0..5).map(|_| nobody.get(&again).status).collect();
    assert_eq!(tries, [401, 401, 401, 401, 429], "the sign-in was the first of five");
    assert_eq!(runner.get("/").status, 200, "whoever is in stays in");
    page.end();
    let page = Page::start(&home, "");
    assert_eq!(runner.at(&page).get("/").status, 200, "also when the page comes back");
    assert_eq!(runner.at(&page).post("/sign-out", "").status, 303);
    assert_eq!(runner.at(&page).get("/").status, 401, "until they sign out");
    page.end();
}

#[test]
fn what_is_too_long_too_slow_or_too_much_is_refused_and_others_are_answered() {
    let home = Home::new();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let long = "x".repeat(70 << 10);
    assert_eq!(runner.post("/new/run", &long).status, 413);
    assert_eq!(runner.asks("GET", "/", &[("X-Long", &long[..20 << 10])], "").status, 431);
    let begun = Instant::now();
    let mut slow = Connection::to(&page.address);
    slow.send("GET / HTTP/1.1\r\nHost: ");
    assert!(slow.is_ended(), "its head is not waited for");
    assert!((4..15).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    let idle: Vec<Connection> = (0..64).map(|_| Connection::to(&page.address)).collect();
    let mut one_more = Connection::to(&page.address);
    let answer = one_more.answer().expect("it is told why");
    assert_eq!(answer.status, 503);
    drop(idle);
    let begun = Instant::now();
    while Connection::to(&page.address).answer_of_root(&page) != Some(401) {
        assert!(begun.elapsed() < Duration::from_secs(20), "room again");
        thread::sleep(Duration::from_millis(100));
    }
    let statuses: Vec<u16> = (0..150).map(|_| runner.get("/help").status).collect();
    assert!(statuses.contains(&429), "20 a second are enough");
    page.end();
}

#[test]
fn eight_browsers_may_follow_and_the_ninth_is_told() {
    let home = Home::new();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let mut streams: Vec<Connection> = (0..8).map(|_| runner.follow()).collect();
    for stream in &mut streams {
        assert_eq!(stream.sip(12), b"HTTP/1.1 200");
    }
    assert_eq!(runner.get("/api/v1/live").status, 503);
    assert_eq!(runner.get("/").status, 200, "pages are still answered");
    drop(streams);
    page.end();
}

#[test]
fn whatever_is_asked_for_is_answered_and_never_with_a_fault_of_the_pages_own() {
    let home = home_with_runs();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let mut random = model::random::Random::new(24);
    let words = [
        "runs",
        "api",
        "v1",
        RUN,
        "last",
        "..",
        "%2e%2e",
        "files",
        "notes",
        "%00",
        "jobs",
        "9223372036854775808",
        "queue",
        "studies",
        "new",
        "run",
        "find",
        "?where=%ff",
        "?run=last",
        "?run=",
        "&run=last",
        "a%2fb",
        "{run}",
        "\u{e9}",
        "*",
        ";",
        "'",
        "compare",
        "trend",
        "?kit=none&stack=none",
        "?set.web.=1",
        "?page=-1&sort=--",
        "limits",
        "live",
    ];
    for number in 0..150 {
        let parts = 1 + random.bits() as usize % 4;
        let path: String =
            (0..parts).map(|_| format!("/{}", words[random.bits() as usize % words.len()])).collect();
        let path = path.replace("/?", "?").replace("/&", "&");
        let path = if path.starts_with('/') { path } else { format!("/{path}") };
        if path.contains("/live") {
            continue;
        }
        let method = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH"][random.bits() as usize % 6];
        let body = ["", "{}", "{\"command\":[]}", "a=1&a=2", "\u{0}"][random.bits() as usize % 5];
        if method == "HEAD" {
            continue;
        }
        let answer = runner.asks(method, &path, &[], body);
        assert!(answer.status < 500, "{number}: {method} {path} {body:?}: {}", answer.status);
        thread::sleep(Duration::from_millis(40));
    }
    assert_eq!(runner.get(&format!("/runs/{RUN}")).status, 200, "and nothing was removed");
    page.end();
}

impl Connection {
    fn answer_of_root(&mut self, page: &Page) -> Option<u16> {
        let host = page.origin.strip_prefix("http://").unwrap_or_default();
        self.send(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        self.answer().map(|answer| answer.status)
    }
}

#[test]
fn no_file_can_be_read_that_is_not_the_runs_own() {
    let home = home_with_runs();
    let logs = home.path().join("runs").join(RUN).join("logs");
    fs::create_dir_all(&logs).expect("a directory");
    symlink("/etc/passwd", logs.join("x")).expect("a link");
    fs::write(logs.join("error.log"), "<script>alert(1)</script>").expect("a file");
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    for name in [
        "logs/x",
        "../../index.sqlite",
        "%2e%2e/run.json",
        "..%2f..%2fqueue.sqlite",
        "logs/%00",
        "/etc/passwd",
        "logs",
    ] {
        let status = runner.get(&format!("/runs/{RUN}/files/{name}")).status;
        assert_eq!(status, 404, "{name}");
    }
    for name in ["..", "%2e%2e", "a%00b", "..%2fruns"] {
        assert_eq!(runner.get(&format!("/runs/{name}")).status, 404, "{name}");
        assert_eq!(runner.get(&format!("/api/v1/runs/{name}")).status, 404, "{name}");
    }
    let log = runner.get(&format!("/runs/{RUN}/files/logs/error.log"));
    assert_eq!((log.status, log.head["content-type"].as_str()), (200, "text/plain; charset=utf-8"));
    assert!(log.head["content-security-policy"].contains("sandbox"));
    page.end();
}

#[test]
fn markup_in_a_kits_title_and_in_notes_is_text() {
    let home = home_with_runs();
    home.plimsoll(&format!("note {OTHER}")).arg("<script>alert(1)</script>\u{202e}").run().expect(0);
    let kit = catalogue("kits/dvdstore/kit.toml").replace("DVD Store 2.1\"", "<script>alert(2)</script>\"");
    let folder = overlay(&[("kits/dvdstore/kit.toml", &kit)]);
    let page = Page::start(&home, &format!("--catalogue {}", folder.path().display()));
    let runner = page.sign_in(page.link());
    for path in
        ["/", "/runs", "/new/run", &format!("/runs/{OTHER}"), &format!("/compare?run={RUN}&run={OTHER}")]
    {
        let html = runner.text(path);
        assert!(!html.contains("<script>alert") && !html.contains('\u{202e}'), "{path}");
    }
    assert!(runner.text("/new/run").contains("&lt;script&gt;alert(2)"));
    page.end();
}

#[test]
fn an_address_that_others_reach_is_refused_without_what_keeps_them_away() {
    let home = Home::new();
    home.plimsoll("serve --listen 0.0.0.0").run().expect(2).says("password").says("TLS").says("--host-name");
    home.plimsoll("serve --listen 127.0.0.1:0 --tls /nowhere/cert,/nowhere/key")
        .run()
        .expect(2)
        .says("/nowhere/cert");
    home.plimsoll("serve --listen nonsense").run().expect(2).says("is no address");
}

#[test]
fn jobs_are_not_begun_with_files_flags_or_verbs_that_reach_beyond_the_catalogue() {
    let home = Home::new();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    for command in [
        json!(["run", "/etc/passwd"]),
        json!(["run", "static", "--catalogue", "/tmp"]),
        json!(["run", "static", "--target", "http://192.0.2.1"]),
        json!(["hit", "http://192.0.2.1/"]),
        json!(["clean", "--runs"]),
        json!(["run", "static", "--users", "0"]),
        json!([]),
    ] {
        let (status, told) = runner.api("POST", "/api/v1/queue", &json!({ "command": command }));
        assert_eq!(status, 400, "{command}: {told}");
        assert!(told["problems"].as_array().is_some_and(|problems| !problems.is_empty()), "{told}");
    }
    assert_eq!(runner.api("GET", "/api/v1/queue", &Json::Null).1, json!([]));
    page.end();
}
