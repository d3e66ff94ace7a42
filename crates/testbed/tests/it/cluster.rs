//! Copies of a database that are written together: each node joins with what it lacks alone, any of them may be written to, and
//! when one is gone the others go on.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use model::catalogue::tier_setting::OwnHost;
use model::{Catalogue, Plan};
use rustix::process::Signal;
use tempfile::TempDir;
use testbed::{Stack, snapshot};
use testkit::cards::cards_of;

use crate::bench::{Bench, LAMP, get, home, home_called};
use crate::figures::{largest_values, smaller};
use crate::own_host::networks_can_be_made;
use crate::tiny::{manifest, overlay, plan_of};
use crate::waiting::{deaths, kill, processes_of, wait_until};

const NODES: [(&str, &str); 4] = [
    ("db.cluster", "galera"),
    ("db.instances", "3"),
    ("db.skip_networking", "false"),
    ("db.innodb_buffer_pool_size", "16M"),
];

/// A page that asks one of the nodes.
const PAGE: &str = r#"<?php
$nodes = [{% for node in tiers.db.instances %}"mysql:host={{ node.host }};port={{ node.ports.tcp }}", {% endfor %}];
$db = new PDO($nodes[(int) ($_GET["node"] ?? 0)], "{{ tiers.db.user }}", "{{ secret }}");
if (isset($_GET["sql"])) $db->exec($_GET["sql"]);
if (isset($_GET["ask"])) echo "answer: ", $db->query($_GET["ask"])->fetchColumn(), "\n";
echo "node ", $_GET["node"] ?? 0, "\n";
"#;

fn with_nodes(catalogue: &mut Catalogue) {
    let manifest = manifest("nodes", &["web+php", "sql"], "/index.php", LAMP);
    let spread = manifest.replace("version = 1", "version = 1\ndatabase_spread = true");
    catalogue.overlay(overlay(&[
        ("kits/nodes/kit.toml", &spread),
        ("kits/nodes/session.lua", "function visit(user) end\n"),
        ("kits/nodes/app/index.php.j2", PAGE),
    ]));
}

fn plan(catalogue: &Catalogue, stack: &str) -> Plan {
    plan_of("nodes", catalogue, stack, &NODES)
}

/// In a home without a blank, which the scripts of a node that joins can't do with.
fn bench(name: &str) -> Option<Bench> {
    Bench::at(home_called("plimsoll-test-"), name, LAMP, with_nodes, plan)
}

/// The data of one server that was stopped clean and has a place in a cluster's order.
fn settled(bench: &mut Bench, plan: &Plan) -> (TempDir, PathBuf) {
    let mut loading = bench.start_from(plan, None, true).unwrap_or_else(|problems| panic!("{problems}"));
    loading.stop().unwrap_or_else(|problems| panic!("{problems}"));
    let kept = home();
    let (from, to) = (loading.tiers()[0].data_dir.clone().expect("a database"), kept.path().join("data"));
    let state = fs::read_to_string(from.join("grastate.dat")).expect("what Galera keeps of its place");
    assert!(state.contains("safe_to_bootstrap: 1"), "{state}");
    let leave_out = plan.database().and_then(|tier| tier.service.database.as_ref());
    let leave_out = leave_out.map(|database| database.leave_out.clone()).unwrap_or_default();
    snapshot::copy(&from, &to, &leave_out).unwrap_or_else(|problems| panic!("{problems}"));
    (kept, to)
}

/// What a node answers; nothing where it doesn't.
fn answer(address: SocketAddr, node: usize, question: &str) -> Option<String> {
    let page = get(address, &format!("/index.php?node={node}&ask={}", question.replace(' ', "+")));
    page.lines().find_map(|line| line.strip_prefix("answer: ")).map(str::to_string)
}

fn log_of(stack: &Stack, node: usize) -> String {
    let logs = &stack.tier("db").expect("a tier").logs;
    // Each has one of its own, and what it printed.
    fs::read_to_string(&logs[node * 2]).expect("its log")
}

#[test]
fn three_nodes_have_what_one_of_them_was_told_and_two_go_on_without_the_third() {
    let Some(mut bench) = bench("cluster") else { return };
    let plan = plan(&bench.catalogue, LAMP);
    let (_kept, data) = settled(&mut bench, &plan);
    let mut stack =
        bench.start_from(&plan, Some(&data), false).unwrap_or_else(|problems| panic!("{problems}"));
    let address = stack.web_address().expect("an address");

    for node in 1..3 {
        let log = log_of(&stack, node);
        assert!(log.contains("IST received"), "it gets what it lacks: {log}");
    }
    let founder = log_of(&stack, 0);
    assert_eq!(founder.matches("rsync IST completed on donor").count(), 2, "{founder}");
    assert!(!founder.contains("rsync SST completed on donor"), "and nobody everything: {founder}");
    let table = "CREATE+TABLE+mysql.told(n+INT+PRIMARY+KEY)+ENGINE=InnoDB";
    get(address, &format!("/index.php?node=0&sql={table}"));
    for node in 0..3 {
        get(address, &format!("/index.php?node={node}&sql=INSERT+INTO+mysql.told+VALUES({node})"));
    }
    for node in 0..3 {
        let seen = || answer(address, node, "SELECT COUNT(*) FROM mysql.told");
        wait_until("a node has what the others were told", || seen().as_deref() == Some("3"));
    }
    // The fewest that any sees, and those that take statements.
    let wanted = [("cluster.nodes", 3.0), ("cluster.synced", 3.0)];
    let seen = largest_values(stack.tier("db").expect("a tier"), || (), |seen| smaller(seen, &wanted));
    assert_eq!(seen["cluster.nodes"], 3.0, "no sum: {seen:#?}");

    kill(stack.tier("db").expect("a tier").pids[2], Signal::KILL);
    assert_eq!(deaths(&mut stack)[0].tier, "db");
    let told = || get(address, "/index.php?node=0&sql=REPLACE+INTO+mysql.told+VALUES(7)");
    wait_until("the others go on", || told().contains("node 0"));
    let last = || answer(address, 1, "SELECT MAX(n) FROM mysql.told");
    wait_until("the second has what the first was told", || last().as_deref() == Some("7"));
    assert_eq!(answer(address, 2, "SELECT 1"), None, "nobody answers there");

    drop(stack);
    let id = bench.id.clone();
    bench.lab.close().expect("a clean end");
    assert_eq!(processes_of(&id), Vec::new(), "the scripts of a node that joins included");
}

#[test]
fn nodes_on_hosts_of_their_own_reach_each_other_and_this_host() {
    if !networks_can_be_made(&OwnHost::default()) {
        return;
    }
    let Some(mut bench) = bench("far-cluster") else { return };
    let near = plan(&bench.catalogue, LAMP);
    let (_kept, data) = settled(&mut bench, &near);
    let far = [&NODES[..], &[("db.net.host", "own")]].concat();
    let plan = plan_of("nodes", &bench.catalogue, LAMP, &far);
    let stack = bench.start_from(&plan, Some(&data), false).unwrap_or_else(|problems| panic!("{problems}"));
    let db = stack.tier("db").expect("a tier");
    let network = |pid: &u32| fs::read_link(format!("/proc/{pid}/ns/net")).expect("its network");
    let networks: BTreeSet<PathBuf> = db.pids.iter().map(network).collect();
    assert_eq!(networks.len(), 3, "each has one of its own");
    let address = stack.web_address().expect("an address");
    get(address, "/index.php?node=1&sql=CREATE+TABLE+mysql.told(n+INT+PRIMARY+KEY)+ENGINE=InnoDB");
    get(address, "/index.php?node=2&sql=INSERT+INTO+mysql.told+VALUES(7)");
    for node in 0..3 {
        let seen = || answer(address, node, "SELECT MAX(n) FROM mysql.told");
        wait_until("a node has what another one was told", || seen().as_deref() == Some("7"));
    }
    drop(stack);
    assert_eq!(cards_of(&bench.id), Vec::<String>::new());
}

#[test]
fn databases_that_know_nothing_of_each_other_are_refused() {
    let Some(mut bench) = Bench::with("strangers", LAMP, with_nodes, plan) else { return };
    let several = [("db.instances", "2"), ("db.skip_networking", "false")];
    let plan = plan_of("nodes", &bench.catalogue, LAMP, &several);
    let said = bench.start(&plan).expect_err("they would have rows of their own").to_string();
    assert!(said.contains("2 databases that know nothing of each other"), "{said}");
    let unreachable = [("db.instances", "2"), ("db.cluster", "galera")];
    let plan = plan_of("nodes", &bench.catalogue, LAMP, &unreachable);
    let said = bench.start(&plan).expect_err("nobody could reach them").to_string();
    assert!(said.contains("skip_networking is on"), "{said}");
    assert!(said.contains("can't do with the blank in"), "all mistakes at once: {said}");
}

#[test]
fn more_nodes_than_there_is_memory_for_are_refused_with_the_number_that_fits() {
    let Some(mut bench) = bench("large-cluster") else { return };
    let large = [&NODES[..], &[("db.innodb_buffer_pool_size", "1000G")]].concat();
    let said = bench
        .start(&plan_of("nodes", &bench.catalogue, LAMP, &large))
        .expect_err("nobody has that")
        .to_string();
    assert!(
        said.contains("3 instances of MariaDB take about") && said.contains("--set db.instances=1"),
        "{said}"
    );
}
