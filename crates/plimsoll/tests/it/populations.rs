//! A kit whose users are of two kinds, on a real server: each keeps to its own sessions and its own login, and what will lack
//! samples is told before users come.

use serde_json::Value;
use tempfile::TempDir;

use crate::tool::{Home, have, overlay};

const STACK: &str = "nginx";

const KIT: &str = r#"
format = 1
name = "wiki"
version = 1
title = "Wiki"
source = "the tests"
needs = ["web+files"]
session = "session.lua"
front_page = "/pages/1.html"
default_size = "one"
default_stack = "nginx"
state = { drifts = false, why = "nothing is written", reset = "none" }
sizes = { one = { pages = 20 } }
file_set = { script = "files.lua" }

[users]
default = 30
ramp_per_s = 30
think = { distribution = "uniform", min = 0.1, max = 0.3 }

[population.readers]
share = 0.9
mix = { read = 3, search = 1 }

[population.editors]
share = 0.1
mix = { edit = 1 }
begins_with = "login"
cycle = { distribution = "fixed", value = 0.5 }

[qos]
all = ["p95 < 2s"]
Save = ["p95 < 2s"]
"#;

const FILES: &str =
    "return { parts = { { name = 'pages', count = size.pages, chunk = 10, make = function(first, last)
  for n = first, last do file('pages/' .. n .. '.html', { bytes = 1000 }) end
end } } }";

/// Who reads and then edits, or edits without a login, fails.
const SESSION: &str = "
local function page() return '/pages/' .. random(1, size.pages) .. '.html' end
function read(user) check(not user.edits, 'a reader') operation 'Read' get(page()) end
function search(user) operation 'Search' get(page()) end
function login(user) operation 'Login' get(page()) user.edits = true end
function edit(user)
  operation 'Edit' check(user.edits, 'an editor') get(page())
  if chance(0.5) then operation 'Save' get(page()) end
end";

fn wiki() -> TempDir {
    overlay(&[
        ("kits/wiki/kit.toml", KIT),
        ("kits/wiki/files.lua", FILES),
        ("kits/wiki/session.lua", SESSION),
    ])
}

fn check_holds(record: &Value, name: &str) -> bool {
    let checks = record["validity"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["check"] == name);
    check.unwrap_or_else(|| panic!("no {name} in {checks:#?}"))["ok"] == true
}

#[test]
fn readers_and_editors_share_a_server_and_each_does_its_own() {
    if !have(STACK) {
        return;
    }
    let (kit, home) = (wiki(), Home::new());
    home.plimsoll("check wiki --catalogue")
        .arg(kit.path())
        .run()
        .expect(0)
        .says("90 % readers, 10 % editors");
    let words = "run wiki --steady 8s --ramp-up 1s --ramp-down 1s --json --catalogue";
    let run = home.plimsoll(words).arg(kit.path()).run();
    // 3 editors with two cycles a second, of which half are saved: 24 in 8 s, of the 100 that a p95 needs.
    let run = run.says("`Save p95 < 2.00 s` needs 100 samples").says("about 24 at most").says("--steady 40s");
    let record = run.json();
    let populations = record["populations"].as_array().expect("two");
    let of = |at: usize| (populations[at]["name"].as_str(), populations[at]["users"].as_u64());
    assert_eq!((of(0), of(1)), ((Some("editors"), Some(3)), (Some("readers"), Some(27))));
    let sessions = |at: usize| populations[at]["sessions"].as_u64().expect("a number");
    assert!(sessions(0) > 0 && sessions(1) > 9 * sessions(0), "{populations:#?}");
    let operations = record["operations"].as_array().expect("rows");
    assert!(
        operations.iter().all(|row| row["errors"].as_object().is_some_and(|errors| errors.is_empty())),
        "{operations:#?}"
    );
    assert!(check_holds(&record, "mix") && !check_holds(&record, "samples"), "{record:#}");
    let short =
        record["validity"].as_array().expect("checks").iter().find(|check| check["check"] == "samples");
    assert!(
        short.is_some_and(|short| short["sentence"].as_str().is_some_and(|said| said.contains("--steady")))
    );
}

#[test]
fn what_would_lack_samples_can_be_left_out_and_one_population_can_be_tried() {
    if !have(STACK) {
        return;
    }
    let (kit, home) = (wiki(), Home::new());
    let words = "run wiki --steady 3s --ramp-up 1s --ramp-down 1s --json --catalogue";
    let run = home.plimsoll(words).arg(kit.path()).arg("--qos=without Save").run();
    assert!(!run.stderr.contains("estimate:"), "{}", run.stderr);
    let record = run.json();
    let targets = record["targets"].as_array().expect("targets");
    assert!(
        !targets.is_empty() && targets.iter().all(|target| target["operation"] != "Save"),
        "{targets:#?}"
    );
    let wrong =
        home.plimsoll("run wiki --catalogue").arg(kit.path()).arg("--qos=without Sav").run().expect(2);
    wrong.says("nothing is asked of `Sav`").says("`without Save`");
    let tried = home
        .plimsoll("try wiki --population editors --sessions 2 --catalogue")
        .arg(kit.path())
        .run()
        .expect(0);
    let tried = tried.says("session login (editors)").says("session edit (editors)");
    assert!(!tried.stdout.contains("(readers)"), "{}", tried.stdout);
}
