//! The process that serves the laboratory's page is watched as all else is: what it takes is in the result, and too much of it
//! makes a run not valid.

use std::fs;
use std::process::{Child, Command, Stdio};

use engine::null_server::NullServer;
use serde_json::Value as Json;

use crate::target::null_kit;
use crate::tool::{Home, Tool, judged};

/// A process of the test's own that stands for the page's.
struct Page(Child);

impl Page {
    fn start(words: &[&str]) -> Page {
        let started = Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).spawn();
        Page(started.expect("it can be started"))
    }

    /// Names it below `home` as whoever serves the page does.
    fn name_in(&self, home: &Home) {
        let id = self.0.id();
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).expect("it lives");
        let start = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(19));
        let start = start.and_then(|start| start.parse().ok()).expect("a number");
        store::ServeProcess::write(home.path(), model::ProcessIdentity { id, start }).expect("a file");
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn run(home: &Home, server: &NullServer, kit: &tempfile::TempDir) -> Tool {
    let url = format!("http://{}", server.address());
    let words = format!(
        "run null --target {url} --users 4 --ramp-up 0s --steady 3s --ramp-down 0s --json --catalogue"
    );
    home.plimsoll(&words).arg(kit.path())
}

fn row<'a>(record: &'a Json, list: &str, key: &str) -> Option<&'a Json> {
    let rows = record[list].as_array()?;
    rows.iter().find(|row| row[key] == "viewer")
}

#[test]
fn a_page_that_takes_much_makes_a_run_not_valid_and_says_how_much() {
    let (home, kit) = (Home::new(), null_kit());
    let server = NullServer::start(None).expect("a loopback port");
    // All that nobody else wants: the generator is hardly kept from its work.
    let page = Page::start(&["nice", "-n", "19", "sh", "-c", "while :; do :; done"]);
    page.name_in(&home);
    let record = run(&home, &server, &kit).run().expect(3).json();
    let check = row(&record, "validity", "check").unwrap_or_else(|| panic!("{record:#}"));
    assert_eq!(check["ok"], false, "{check}");
    let cores = check["observed"].as_f64().expect("a figure");
    assert!(cores > 0.05 && check["limit"] == 0.05, "{check}");
    let sentence = check["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("of a CPU on average, more than 5 %"), "{sentence}");
    let tier = row(&record, "tiers", "tier").unwrap_or_else(|| panic!("{record:#}"));
    assert_eq!(tier["cpu_cores"].as_f64(), Some(cores), "{tier}");
}

#[test]
fn a_page_that_sleeps_is_in_the_result_and_disturbs_nothing() {
    let (home, kit) = (Home::new(), null_kit());
    let server = NullServer::start(None).expect("a loopback port");
    let page = Page::start(&["sleep", "600"]);
    page.name_in(&home);
    let record = judged(|| run(&home, &server, &kit)).expect(0).json();
    let check = row(&record, "validity", "check").unwrap_or_else(|| panic!("{record:#}"));
    assert_eq!((&check["ok"], check["observed"].as_f64()), (&Json::from(true), Some(0.0)), "{check}");
    assert!(row(&record, "tiers", "tier").is_some(), "{record:#}");
    let broken = record["validity"].as_array().into_iter().flatten().filter(|check| check["ok"] == false);
    assert_eq!(broken.count(), 0, "{:#}", record["validity"]);

    // Nobody is there any more, and its file stays.
    drop(page);
    let record = judged(|| run(&home, &server, &kit)).expect(0).json();
    assert!(row(&record, "validity", "check").is_none(), "{:#}", record["validity"]);
    assert!(row(&record, "tiers", "tier").is_none(), "{:#}", record["tiers"]);
}
