//! A run in which the kernel kills the database for the memory that it was limited to.

use testkit::ending::skip;

use crate::tool::{Home, have, overlay};

const STACK: &str = "apache-prefork-modphp-mariadb";

const KIT: &str = r#"
format = 1
name = "hungry"
version = 1
title = "A query that takes all memory"
source = "made for this test"
needs = ["web+php", "sql"]
app = "app"
session = "session.lua"
front_page = "/index.php"
default_size = "none"
default_stack = "apache-prefork-modphp-mariadb"
state = { drifts = false, why = "nothing is kept", reset = "none" }
sizes = { none = {} }
users = { default = 1, ramp_per_s = 10, think = { distribution = "fixed", value = 1.0 } }
mix = { visit = 1 }
qos = { all = ["p50 < 5s"] }
"#;

const SESSION: &str = "
function visit() operation 'Eat' get('/index.php?eat=1') end
";

/// Rows in memory, a kilobyte each, far more than the limit.
const APP: &str = r#"<?php
$db = new PDO("mysql:unix_socket={{ tiers.db.sockets.mysql }}", "{{ tiers.db.user }}", "");
if (isset($_GET['eat'])) {
    $db->exec("SET max_heap_table_size = 4000000000");
    $db->exec("CREATE TEMPORARY TABLE mysql.eaten (filler CHAR(250) CHARACTER SET utf8mb4) ENGINE = MEMORY AS
               SELECT REPEAT(0, 250) AS filler FROM mysql.seq_1_to_3000000");
}
echo 'eaten';
"#;

#[test]
fn a_tier_that_is_killed_at_its_memory_limit_is_told_with_the_limit_and_the_setting() {
    // Issue 16.11: it was "died (signal: 9)", with its own command line quoted as its log.
    if !have(STACK) {
        return;
    }
    let catalogue = overlay(&[
        ("kits/hungry/kit.toml", KIT),
        ("kits/hungry/session.lua", SESSION),
        ("kits/hungry/app/index.php.j2", APP),
    ]);
    let words = "run hungry --users 1 --ramp-up 0s --steady 30s --ramp-down 0s --set db.cgroup.memory=256M --json \
                 --catalogue";
    let ended = Home::shared().plimsoll(words).arg(catalogue.path()).run();
    if ended.code == Some(2) && ended.stderr.contains("--set db.cgroup.memory=0") {
        skip(&ended.stderr);
        return;
    }
    let record = ended.expect(3).json();
    let checks = record["validity"].as_array().expect("checks");
    let tiers = checks.iter().find(|check| check["check"] == "tiers").expect("the check of the tiers");
    let said = tiers["sentence"].as_str().expect("a sentence");
    for part in
        ["tier db was killed by the kernel at its memory limit of 268 MB", "--set db.cgroup.memory=512M"]
    {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("its log ends"), "{said}");
    Home::shared().expect_nothing_left();
}
