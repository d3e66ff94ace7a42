//! A tool that is killed while it has many servers on hosts of their own: nothing of them is left.

use std::fs;
use std::path::Path;

use model::catalogue::tier_setting::OwnHost;
use testkit::cards::cards_of;

use crate::tool::{Home, have, host_can_be_made, overlay, wait_for};

const STACK: &str = "tomcat-spider";
/// Five hosts with the rows between them; four of them have a server that is asked, too.
const NINE: &str = r#"
format = 1
name = "nine"
title = "Nine servers on five hosts"

[[host]]
name = "node"
count = 5
tiers = { db = 4, data = 5 }
"#;
const SERVERS: [&str; 9] = ["data-1", "data-2", "data-3", "data-4", "data-5", "db-1", "db-2", "db-3", "db-4"];

#[test]
fn nothing_of_nine_servers_on_five_hosts_outlives_the_tool() {
    if !have(STACK) || !host_can_be_made(&OwnHost::default()) {
        return;
    }
    let (home, catalogue) = (Home::shared(), overlay(&[("topologies/nine.toml", NINE)]));
    let words = format!("up tpcw --size quick --stack {STACK} --topology nine --catalogue");
    let mut stack = home.plimsoll(&words).arg(catalogue.path()).start();
    stack.address();
    let pids = SERVERS.map(|server| stack.pid_of(server));
    let lab = lab_of(pids[0]);
    assert_eq!(networks(&pids), 5, "five hosts, each with a network of its own");
    assert_eq!(cards_of(&lab).len(), 1, "this host's card in the star");
    assert_eq!(stack.until_dropped().kill().code, None, "killed by a signal");
    wait_for("the servers' end", || pids.iter().all(|pid| !exists(*pid)).then_some(()));
    wait_for("the card's end", || cards_of(&lab).is_empty().then_some(()));
    let dir = home.path().join("instances").join(&lab);
    wait_for("the directory's end", || (!dir.exists()).then_some(()));
    home.expect_nothing_left();
}

/// The id of the lab that a server belongs to, by the file that it was started with.
fn lab_of(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).expect("our own server runs");
    let words = String::from_utf8_lossy(&words).into_owned();
    let inside = words.split_once("/instances/").and_then(|(_, rest)| rest.split('/').next());
    inside.unwrap_or_else(|| panic!("no lab in {words}")).to_string()
}

/// How many networks the processes are in.
fn networks(pids: &[u32]) -> usize {
    let network = |pid: &u32| fs::read_link(format!("/proc/{pid}/ns/net")).expect("our own server runs");
    pids.iter().map(network).collect::<std::collections::BTreeSet<_>>().len()
}

fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}
