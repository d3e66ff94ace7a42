//! A kit that builds its application: once for the same sources; told with the log's end when it fails; ended with all that
//! it started when it is given up.

use std::fs;

use tempfile::TempDir;

use crate::browser::Browser;
use crate::tool::{Home, have, overlay, wait_for};

pub(crate) const STACK: &str = "lighttpd";

const KIT: &str = r#"
format = 1
name = "shop"
version = 1
title = "Shop"
source = "the tests"
needs = ["web+files"]
session = "session.lua"
front_page = "/index.html"
default_size = "one"
default_stack = "lighttpd"
state = { drifts = false, why = "nothing is written", reset = "none" }
sizes = { one = {} }
users = { default = 1, ramp_per_s = 1 }
mix = { visit = 1 }
qos = {}

[build]
folder = "pages"
run = ["sh", "build.sh"]
product = "out/site"
packages = { why = "a test" }
"#;

pub(crate) const SESSION: &str = "function visit(user)\n  operation \"Page\"\n  get(\"/index.html\")\nend\n";

/// The kit, which that script of the shell builds.
pub(crate) fn shop(script: &str) -> TempDir {
    overlay(&[
        ("kits/shop/kit.toml", KIT),
        ("kits/shop/session.lua", SESSION),
        ("kits/shop/pages/build.sh", script),
        ("kits/shop/pages/front.txt", "the front page"),
    ])
}

/// Stands the kit up, reads its front page, and takes it down; what was said meanwhile.
pub(crate) fn up(home: &Home, kit: &TempDir) -> (String, String) {
    let mut running = home.plimsoll("up shop --catalogue").arg(kit.path()).start();
    let address = running.address();
    let running = running.until_dropped();
    let page = Browser::new(&address).get("/index.html").must(200, "");
    (page.text(), running.end().expect(0).stderr)
}

/// What is kept of builds, whole or half, but for locks.
pub(crate) fn kept_names(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.path().join("built")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.ends_with(".lock")).collect()
}

#[test]
fn an_application_is_built_once_for_the_same_sources() {
    if !have(STACK) {
        return;
    }
    let home = Home::empty();
    let script = "mkdir -p out/site; cp front.txt out/site/index.html; echo built\n";
    let first = up(&home, &shop(script));
    assert!(first.0.contains("the front page"), "{}", first.0);
    assert!(first.1.contains("building the application: sh build.sh"), "{}", first.1);
    let again = up(&home, &shop(script));
    assert!(again.0.contains("the front page") && !again.1.contains("building"), "{}", again.1);
    let other = up(&home, &shop(&script.replace("cp front.txt", "echo 'another page' | cat - >")));
    assert!(other.0.contains("another page") && other.1.contains("building"), "{} {}", other.0, other.1);
    let named = kept_names(&home).into_iter().filter(|name| name.starts_with("shop-"));
    assert_eq!(named.count(), 2, "an application for each of the two sources");
    home.plimsoll("clean --datasets").run().expect(0).says("what was built");
    assert_eq!(fs::read_dir(home.path().join("built")).expect("the folder stays").count(), 0);
    home.expect_nothing_left();
}

#[test]
fn a_build_that_fails_shows_the_end_of_its_log_and_where_it_is() {
    if !have(STACK) {
        return;
    }
    let home = Home::empty();
    let told = |script: &str| home.plimsoll("up shop --catalogue").arg(shop(script).path()).run().expect(2);
    let failed = told("echo compiling; echo 'no such class' >&2; exit 7\n")
        .says("kits/shop/kit.toml: build: failed to build the application: sh ended with exit status: 7")
        .says("no such class");
    let log = failed.stderr.split("the whole log is ").nth(1).expect("a path").lines().next();
    let log = fs::read_to_string(log.expect("a path").trim()).expect("the log is kept");
    assert_eq!(log, "compiling\nno such class\n");
    told("mkdir out\n").says("succeeded, but out/site can't be read");
    assert_eq!(kept_names(&home), Vec::<String>::new(), "nothing half-made stays");
    home.expect_nothing_left();
}

#[test]
fn what_can_not_be_rendered_with_these_settings_is_refused_before_anything_is_built() {
    if !have(STACK) {
        return;
    }
    let home = Home::empty();
    let kit = KIT.replace("session =", "app = \"app\"\nsession =");
    let kit = overlay(&[
        ("kits/shop/kit.toml", &kit),
        ("kits/shop/session.lua", SESSION),
        ("kits/shop/app/where.txt.j2", "the web tier is at\n{{ tiers.web.sockets.nowhere }}\n"),
        ("kits/shop/pages/build.sh", "mkdir -p out/site; cp front.txt out/site/index.html\n"),
        ("kits/shop/pages/front.txt", "the front page"),
    ]);
    let refused = home.plimsoll("up shop --catalogue").arg(kit.path()).run().expect(2);
    let refused = refused.says("kits/shop/app/where.txt.j2:2: the template uses a name");
    assert!(!refused.stderr.contains("building the application"), "{}", refused.stderr);
    assert!(!home.path().join("built").exists(), "nothing was begun");
    home.expect_nothing_left();
}

#[test]
fn a_build_that_is_interrupted_ends_with_all_that_it_started() {
    if !have(STACK) {
        return;
    }
    let home = Home::empty();
    let kit = shop("sleep 1000 &\ntouch begun\nsleep 1000\n");
    let running = home.plimsoll("up shop --catalogue").arg(kit.path()).start().until_dropped();
    wait_for("it has begun", || {
        let halves = fs::read_dir(home.path().join("built")).ok()?.flatten();
        halves.map(|half| half.path().join("source/begun")).find(|path| path.exists())
    });
    running.end().expect(105).says("interrupted while the application was built");
    home.expect_nothing_left();
}
