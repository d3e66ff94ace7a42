//! A server that somebody else started.

use std::io::{Read, Write};
use std::net::TcpListener;

use engine::null_server::NullServer;
use tempfile::TempDir;

use crate::tool::{Home, judged, overlay};

const KIT: &str = r#"
format = 1
name = "null"
version = 1
title = "A request that is answered at once"
source = "made for this test"
needs = ["web+php", "sql"]
app = "app"
session = "session.lua"
front_page = "/"
default_size = "none"
default_stack = "apache-prefork-modphp-mariadb"
state = { drifts = false, why = "nothing is kept", reset = "none" }
sizes = { none = {} }
users = { default = 2, ramp_per_s = 10, think = { distribution = "fixed", value = 0.01 } }
mix = { visit = 1 }
qos = { all = ["p50 < 5s"] }
"#;

pub(crate) fn null_kit() -> TempDir {
    let session =
        "function visit() operation 'Ask' local page = get('/') check(page:has('null'), 'null') end";
    overlay(&[
        ("kits/null/kit.toml", KIT),
        ("kits/null/session.lua", session),
        ("kits/null/app/index.html", ""),
    ])
}

#[test]
fn a_run_against_a_server_that_somebody_else_started_says_so_and_starts_nothing() {
    let (catalogue, server) = (null_kit(), NullServer::start(None).expect("a loopback port"));
    let url = format!("http://{}", server.address());
    let words = format!(
        "run null --target {url} --users 4 --ramp-up 0s --steady 3s --ramp-down 0s --json --catalogue"
    );
    let record = judged(|| Home::shared().plimsoll(&words).arg(catalogue.path())).expect(0).json();
    let target = &record["setup"]["target"];
    assert_eq!(target["url"], url, "{target}");
    assert_eq!(target["server"], server.address().to_string(), "{target}");
    assert!(target["allowed"].is_null(), "{target}");
    let tiers: Vec<_> = record["tiers"].as_array().into_iter().flatten().map(|tier| &tier["tier"]).collect();
    assert_eq!(tiers, ["generator", "observers"], "no tier of a stack is watched");
    assert!(
        record["dataset"].is_null() && record["consistency"] == serde_json::json!([]),
        "no data is checked"
    );
    let said = Home::shared().plimsoll("show last").run().expect(0);
    assert!(said.stdout.contains("not started by Plimsoll"), "{}", said.stdout);
    Home::shared().expect_nothing_left();
}

#[test]
fn a_user_can_be_followed_on_a_server_that_somebody_else_started() {
    let (catalogue, server) = (null_kit(), NullServer::start(None).expect("a loopback port"));
    let words = format!("try null --target http://{} --catalogue", server.address());
    let said = Home::shared().plimsoll(&words).arg(catalogue.path()).run().expect(0);
    assert!(said.stdout.contains("GET /") && said.stdout.contains("session ends"), "{}", said.stdout);
    // The front page was asked for once before.
    assert_eq!(server.served(), 2);
}

#[test]
fn what_a_target_can_not_be_is_said_before_anything_starts() {
    for (words, expected) in [
        ("run dvdstore --target http://192.0.2.1/", "--allow-target 192.0.2.1"),
        ("run dvdstore --target http://127.0.0.1:1/", "failed to connect"),
        ("run dvdstore --target http://127.0.0.1:1/ --stack x", "cannot be used with"),
        ("up dvdstore --target http://127.0.0.1:1/", "stands already"),
    ] {
        Home::shared().plimsoll(words).run().expect(2).says(expected);
    }
}

/// Clears the screen, sets the title, hides what follows; a C1 control and a turned direction of writing.
const STEERING: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}[8m\u{9b}1m\u{202e}";

/// Answers every request with `answer`; gives its URL.
pub(crate) fn server_that_says(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn an_answer_cannot_steer_the_terminal_of_whoever_reads_it() {
    // Issue 16.14: of an answer that is quoted as a problem, and of one that is printed as a result.
    let catalogue = null_kit();
    let bodies = format!("null {STEERING}\nsecond line");
    let length = bodies.len();
    let answer = |status: &str| {
        format!(
            "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Connection: close\r\n\r\n{bodies}"
        )
    };
    let head = format!("HTTP/1.1 500 {STEERING}\r\nX: {STEERING}\r\nConnection: close\r\n\r\n");
    let answers = [("--front-page /", 2, head), ("", 99, answer("500 Bad")), ("", 0, answer("200 OK"))];
    for (more, code, answer) in answers {
        let words = format!("try null --bodies --target {} {more} --catalogue", server_that_says(answer));
        let said = Home::shared().plimsoll(&words).arg(catalogue.path()).run().expect(code);
        let steering = |c: char| c != '\n' && model::outside::hidden(c);
        assert!(!format!("{}{}", said.stdout, said.stderr).contains(steering), "{said:?}");
        said.says("\\u001b[2J\\u001b]0;owned\\u0007\\u001b[8m\\u009b1m\\u202e");
    }
}

#[test]
fn any_answer_tells_that_somebody_elses_server_is_there_and_a_page_can_be_asked_for() {
    let catalogue = null_kit();
    let missing = "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnull".to_string();
    let missing = server_that_says(missing);
    let tried = |url: &str, more: &str| {
        let words = format!("try null --target {url} {more} --catalogue");
        Home::shared().plimsoll(&words).arg(catalogue.path()).run()
    };
    let said = tried(&missing, "");
    assert!(said.stdout.contains("404") && said.stdout.contains("GET /"), "a user came: {said:?}");
    tried(&missing, "--front-page /there").expect(2).says("/there was not answered with status 200");
    tried(&server_that_says("SSH-2.0-OpenSSH\r\n\r\n".to_string()), "")
        .expect(2)
        .says("was not answered in HTTP");
    tried(&missing, "--front-page there").expect(2).says("`there` is no path");
    let own = Home::shared().plimsoll("run dvdstore --front-page /there").run().expect(2);
    own.says("--front-page").says("--target URL");
}
