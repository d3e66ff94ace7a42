//! A server that somebody else started.

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

fn null_kit() -> TempDir {
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
