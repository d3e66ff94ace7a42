//! The bookstore over a cluster of databases: a node is killed in the middle of the run, and the others have the same rows.

use model::catalogue::tier_setting::OwnHost;

use crate::tool::{Home, have, host_can_be_made, judged};

const STACK: &str = "tomcat-galera";

#[test]
fn users_go_on_without_a_node_that_is_killed_and_the_others_have_the_same_rows() {
    if !have(STACK) {
        return;
    }
    let load = "--size quick --users 10 --ramp-up 2s --steady 18s --ramp-down 1s --param think_time=0.5";
    let words = format!("run tpcw --stack {STACK} {load} --kill db-3@4s --json");
    let ended = judged(|| Home::shared().plimsoll(&words).arg("--qos=p95 < 60s"));
    let record = ended.json();
    let outage = &record["outages"][0];
    assert_eq!(
        (&outage["tier"], &outage["instance"], &outage["instances"]),
        (&"db".into(), &3.into(), &3.into())
    );
    assert!(outage["before_per_s"].as_f64() > Some(3.0), "{outage}");
    assert!(outage["recovered_after_s"].as_f64().is_some_and(|after_s| after_s < 14.0), "{outage}");
    let same = record["consistency"].as_array().into_iter().flatten();
    let same: Vec<_> = same.filter(|one| one["name"] == "all nodes have the same rows").collect();
    assert_eq!(same.len(), 1, "{}", record["consistency"]);
    assert_eq!(same[0]["ok"], true, "{}", same[0]);
    assert!(same[0]["sentence"].as_str().is_some_and(|said| said.ends_with("nodes 1 and 2")), "{}", same[0]);
    let tiers = record["validity"].as_array().into_iter().flatten().find(|check| check["name"] == "tiers");
    assert!(tiers.is_none_or(|check| check["ok"] == true), "it was asked for: {tiers:?}");
    Home::shared().expect_nothing_left();
}

#[test]
fn a_node_that_was_cut_off_comes_back_and_has_what_it_missed() {
    if !have(STACK) || !host_can_be_made(&OwnHost::default()) {
        return;
    }
    let load = "--size quick --users 10 --ramp-up 2s --steady 24s --ramp-down 1s --param think_time=0.5";
    let cut = "--set db.net.host=own --cut db-3@3s..11s";
    let words = format!("run tpcw --stack {STACK} {load} {cut} --json");
    let ended = judged(|| Home::shared().plimsoll(&words).arg("--qos=p95 < 60s"));
    let record = ended.json();
    let outage = &record["outages"][0];
    assert_eq!((&outage["instance"], &outage["cut_s"]), (&3.into(), &8.0.into()), "{outage}");
    assert!(
        record["injected"]["fault"].is_null(),
        "no fault of the catalogue has it: {}",
        record["injected"]
    );
    let network = record["setup"]["tiers"].as_array().into_iter().flatten().find(|tier| tier["tier"] == "db");
    let network = network.map(|tier| (&tier["instances"], &tier["network"]["carried_by"]));
    assert_eq!(network, Some((&3.into(), &"kernel".into())));
    let same = record["consistency"].as_array().into_iter().flatten();
    let same: Vec<_> = same.filter(|one| one["name"] == "all nodes have the same rows").collect();
    assert_eq!(same.len(), 1, "{}", record["consistency"]);
    assert!(
        same[0]["sentence"].as_str().is_some_and(|said| said.ends_with("nodes 1, 2 and 3")),
        "{}",
        same[0]
    );
    Home::shared().expect_nothing_left();
}

#[test]
fn a_commit_waits_for_the_other_nodes_and_is_not_called_a_wait_for_a_disk() {
    let slow = OwnHost { delay_us: Some(1_000), ..OwnHost::default() };
    if !have(STACK) || !host_can_be_made(&slow) {
        return;
    }
    let load = "--size quick --users 10 --mix ordering --ramp-up 2s --steady 20s --ramp-down 0s --param think_time=0.5";
    let far = "--set db.net.link=metro-2ms --set db.innodb_flush_log_at_trx_commit=0";
    let words = format!("run tpcw --stack {STACK} {load} {far} --json");
    let record = judged(|| Home::shared().plimsoll(&words).arg("--qos=p95 < 60s")).json();
    let signals = || record["signals"].as_array().into_iter().flatten();
    let of_db = |name: &str| signals().find(|one| one["tier"] == "db" && one["name"] == name);
    let mean = |name: &str| of_db(name).and_then(|one| one["mean"].as_f64()).unwrap_or(0.0);
    // Shares of the response time. No log is synced at a commit, and each takes the link's 2 ms once, at least.
    let (nodes, disk) = (mean("ledger.callee"), mean("ledger.disk"));
    assert!(nodes > 0.02 && nodes > 2.0 * disk, "for nodes {nodes}, for a disk {disk}");
    Home::shared().expect_nothing_left();
}

#[test]
fn a_link_is_measured_before_and_after_the_users_and_drawn_in_the_report() {
    let stack = "apache-event-fpm-mariadb";
    let slow = OwnHost { delay_us: Some(1_000), ..OwnHost::default() };
    if !have(stack) || !host_can_be_made(&slow) {
        return;
    }
    let load = "--size quick --users 2 --ramp-up 1s --steady 4s --ramp-down 0s";
    let link = "--param database_over=tcp --set db.net.link=metro-2ms";
    let words = format!("run calendar --stack {stack} {load} {link} --json");
    let record = judged(|| Home::shared().plimsoll(&words).arg("--qos=p95 < 60s")).json();
    let found = &record["links"][0];
    assert_eq!((&found["tier"], found["asked_s"].as_f64()), (&"db".into(), Some(0.002)), "{found}");
    for when in ["before_s", "after_s"] {
        // A shared machine may be late; it is never early.
        let took_s = found[when].as_f64().unwrap_or_else(|| panic!("{when}: {found}"));
        assert!((0.0019..0.01).contains(&took_s), "{when}: {found}");
    }
    let check = record["validity"].as_array().into_iter().flatten().find(|one| one["check"] == "link");
    let check = check.unwrap_or_else(|| panic!("it is judged: {:#}", record["validity"]));
    assert!(
        check["sentence"].as_str().is_some_and(|said| said.contains("2.00 ms were asked for")),
        "{check}"
    );
    let id = record["id"].as_str().expect("an id");
    let page = std::fs::read_to_string(Home::shared().path().join("runs").join(id).join("report.html"));
    let page = page.unwrap_or_else(|error| panic!("the report of {id}: {error}"));
    assert!(page.contains("Where the servers were") && page.contains("host of db"), "{id}");
    Home::shared().expect_nothing_left();
}

#[test]
fn users_find_the_rows_of_all_servers_and_buy_across_them() {
    let stack = "tomcat-spider";
    if !have(stack) || !host_can_be_made(&OwnHost::default()) {
        return;
    }
    let load = "--size quick --users 10 --topology dolphin-2x2 --mix ordering --ramp-up 3s --steady 20s --ramp-down 1s --param think_time=0.5";
    let words = format!("run tpcw --stack {stack} {load} --json");
    let record = judged(|| Home::shared().plimsoll(&words).arg("--qos=p95 < 60s")).json();
    let statements = || record["consistency"].as_array().into_iter().flatten();
    let broken: Vec<_> = statements().filter(|one| one["ok"] != true).collect();
    assert!(statements().count() > 10 && broken.is_empty(), "{broken:#?}");
    assert!(
        statements().all(|one| one["name"] != "all nodes have the same rows"),
        "they have different ones"
    );
    let bought = statements().find(|one| one["name"] == "new orders = purchases").expect("a statement");
    assert!(!bought["sentence"].as_str().expect("words").contains("found 0,"), "{bought}");
    let failed = record["operations"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|one| one["errors"] != serde_json::json!({}));
    assert_eq!(failed.count(), 0, "{:#}", record["operations"]);
    let tier = |name: &str| {
        let mut tiers = record["setup"]["tiers"].as_array().into_iter().flatten();
        tiers
            .find(|tier| tier["tier"] == name)
            .map(|tier| (tier["instances"].clone(), tier["network"]["hosts"].clone()))
    };
    let on_both = Some((2.into(), serde_json::json!(["node-1", "node-2"])));
    assert_eq!((tier("data"), tier("db")), (on_both.clone(), on_both));
    let dataset = record["dataset"]["id"].as_str().expect("a data set");
    assert!(dataset.ends_with("-shards-2"), "{dataset}");
    let id = record["id"].as_str().expect("an id");
    let page = std::fs::read_to_string(Home::shared().path().join("runs").join(id).join("report.html"));
    let page = page.unwrap_or_else(|error| panic!("the report of {id}: {error}"));
    assert!(
        page.contains("host node-1") && page.contains("host node-2") && !page.contains("host of db"),
        "{id}"
    );
    Home::shared().expect_nothing_left();
}

#[test]
fn a_kill_of_what_is_not_there_and_a_kit_that_knows_of_one_database_are_refused() {
    let refused = |words: &str| Home::shared().plimsoll(words).run().expect(2);
    let run = format!("run tpcw --stack {STACK}");
    refused(&format!("{run} --kill db-4@1s --kill web@soon --kill dbb-1@1s"))
        .says("there is no db-4: the tier has 3")
        .says("`web@soon`")
        .says("there is no tier `dbb`");
    refused(&format!("{run} --cut db-3@1s..2s"))
        .says("db is on this host, which can't be cut off")
        .says("--set db.net.host=own");
    refused(&format!("up tpcw --stack {STACK} --kill db-3@1s")).says("there are no users");
    refused(&format!("find tpcw --stack {STACK} --kill db-3@1s")).says("that is for a single run");
    refused("run tpcw --stack tomcat-spider --topology dolphin-3x3")
        .says("there is no topology `dolphin-3x3`")
        .says("dolphin-2x2");
    refused("run tpcw --stack tomcat-spider --topology dolphin-2x2 --set data.instances=3")
        .says("topology dolphin-2x2 says how many instances there are");
    refused("run tpcw --stack tomcat-spider --topology dolphin-2x2 --set mariadb.instances=3 --set db.net.link=none")
        .says("set.mariadb.instances")
        .says("set.db.net.link");
    refused("run tpcw --topology dolphin-2x2").says("this stack has no tier `data`");
    refused("run tpcw --set db.spider=sql --set db.skip_networking=false")
        .says("there is no tier `data` that has them");
    refused("run dvdstore --set db.instances=2").says("kit dvdstore asks the first of 2 databases only");
    refused("run tpcw --set db.net.link=metro-3ms").says("there is no link `metro-3ms`").says("metro-2ms");
    refused("run tpcw --set db.net.link=metro-2ms --set db.net.rate_mbit=5")
        .says("net.link=metro-2ms says it already");
}
