//! An application in PHP that keeps what it knows in files: prepared once by its own command, written in place by users, looked into
//! afterwards; on every stack with PHP and no database.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::browser::Browser;
use crate::record::rows;
use crate::tool::{Home, have, overlay};

const STACK: &str = "lighttpd-fpm";

/// A file of the kit `notes`.
fn file(path: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kits/notes");
    std::fs::read_to_string(folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The kit with `change` made to its manifest.
fn notes(change: impl Fn(String) -> String) -> TempDir {
    let manifest = change(file("kit.toml"));
    let paths = ["files.lua", "session.lua", "check.lua", "app/index.php.j2", "app/make_index.php"]
        .map(|path| (path, file(path)));
    let mut files = vec![("kits/notes/kit.toml".to_string(), manifest)];
    files.extend(paths.into_iter().map(|(path, text)| (format!("kits/notes/{path}"), text)));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    overlay(&files)
}

/// Stands the kit up on a stack, lets `visit` ask it, and takes it down; what was said meanwhile.
fn up(home: &Home, kit: &TempDir, stack: &str, visit: impl FnOnce(&mut Browser)) -> String {
    let mut running = home.plimsoll(&format!("up notes --stack {stack} --catalogue")).arg(kit.path()).start();
    let address = running.address();
    let running = running.until_dropped();
    visit(&mut Browser::new(&address));
    running.end().expect(0).stderr
}

#[test]
fn what_prepares_an_application_is_done_once_and_every_stack_starts_from_it() {
    if !have(STACK) {
        return;
    }
    let (home, kit) = (Home::empty(), notes(|manifest| manifest));
    home.plimsoll("check").arg(kit.path().join("kits/notes")).run().expect(0);
    let made = |page: &str| page.split("made as ").nth(1).map(str::to_string).expect("the index says it");
    let mut first = String::new();
    let said = up(&home, &kit, STACK, |browser| {
        first = made(&browser.get("/index").must(200, "20 pages").text());
        let page = browser.get("/page/3").must(200, "page 3 as it was made");
        assert_eq!(page.header("X-Dated"), Some("946684800"), "copies are dated as the set is");
        browser.post("/page/3", &[("text", "changed")]).must(200, "saved");
        browser.get("/page/3").must(200, "changed");
    });
    assert!(said.contains("prepare the index of all pages"), "{said}");
    let said = up(&home, &kit, STACK, |browser| {
        let again = made(&browser.get("/index").must(200, "20 pages").text());
        assert_eq!(again, first, "the index is the one that was kept");
        let page = browser.get("/page/3").must(200, "page 3 as it was made");
        assert_eq!(page.header("X-Dated"), Some("946684800"));
    });
    assert!(!said.contains("prepare the index of all pages"), "{said}");

    // Another command, another result; and without `keep` it is done for each stack.
    let other = notes(|manifest| manifest.replace("keep = true", "keep = false"));
    for _ in 0..2 {
        let said = up(&home, &other, STACK, |browser| {
            let new = made(&browser.get("/index").must(200, "20 pages").text());
            assert_ne!(new, first);
            first = new;
        });
        assert!(said.contains("prepare the index of all pages"), "{said}");
    }
    home.expect_nothing_left();
}

#[test]
fn a_run_saves_pages_in_place_and_its_check_finds_them_in_the_files() {
    if !have(STACK) {
        return;
    }
    let (home, kit) = (Home::empty(), notes(|manifest| manifest));
    home.plimsoll("run notes --ramp-up 1s --steady 3s --catalogue").arg(kit.path()).run();
    let record = home.last_run();
    let found = rows(&record, "consistency");
    let wrong: Vec<_> = found.iter().filter(|row| row["ok"] != true).collect();
    assert!(wrong.is_empty() && found.len() == 4, "{found:?}");
    home.expect_nothing_left();
}

#[test]
fn a_preparation_that_fails_or_takes_too_long_or_has_no_interpreter_is_told_with_its_reason() {
    if !have(STACK) {
        return;
    }
    let home = Home::empty();
    let refused = |change: &dyn Fn(String) -> String| {
        home.plimsoll("up notes --catalogue").arg(notes(change).path()).run().expect(2)
    };
    refused(&|manifest| manifest.replace("{{ kit.size.pages }}", "21"))
        .says("kits/notes/kit.toml: prepare.run")
        .says("20 of 21 pages are here")
        .says("exit status: 3");
    let sleeps = r#"run = ["php", "-r", "echo 'dozing'; sleep(600);"]"#;
    let slow = |manifest: String| {
        let command =
            manifest.lines().find(|line| line.starts_with("run = ")).expect("it has one").to_string();
        manifest.replace(&command, sleeps).replace("within_s = 60", "within_s = 1")
    };
    refused(&slow).says("had not ended after 1 s").says("dozing").says("within_s");
    let other = refused(&|manifest| manifest.replace(r#""php", "make"#, r#""ruby", "make"#));
    let other = other.says("`ruby` is no interpreter of stack lighttpd-fpm").says("one of: php");
    assert!(!other.stderr.contains("start web"), "it is refused before anything starts: {}", other.stderr);
    home.expect_nothing_left();
}

#[test]
fn a_request_prepares_as_well_and_must_be_answered_as_it_says() {
    if !have(STACK) {
        return;
    }
    let home = Home::empty();
    let asking = |request: &str| {
        notes(|manifest| {
            let command =
                manifest.lines().find(|line| line.starts_with("run = ")).expect("it has one").to_string();
            manifest.replace(&command, &format!("request = {request}"))
        })
    };
    let kit = asking(r#"{ path = "/page/4", form = { text = "set up & ready" } }"#);
    for _ in 0..2 {
        up(&home, &kit, STACK, |browser| _ = browser.get("/page/4").must(200, "set up & ready"));
    }
    let missing = asking(r#"{ path = "/page/x" }"#);
    let refused = home.plimsoll("up notes --catalogue").arg(missing.path()).run().expect(2);
    refused.says("prepare.request").says("/page/x was not answered with status 200").says("404");
    home.expect_nothing_left();
}

#[test]
fn every_server_hands_paths_that_are_no_files_to_the_front_controller() {
    let (home, kit) = (Home::empty(), notes(|manifest| manifest));
    for stack in ["lighttpd-fpm", "nginx-fpm", "apache-event-fpm", "apache-prefork-modphp"] {
        if !have(stack) {
            continue;
        }
        up(&home, &kit, stack, |browser| {
            browser.get("/").must(200, "the front page");
            browser.get("/page/7").must(200, "page 7 as it was made");
            browser.get("/page/x").must(404, "");
            let named = "Authorization: Basic YW5uOng=\r\n";
            browser.get_with("/who?what=tea", named).must(200, "ann asks for tea");
        });
    }
    home.expect_nothing_left();
}
