//! What the database's clients wait for is told by the database, and is not taken for the disk.

use serde_json::Value as Json;

use crate::record::operation;
use crate::tool::{Home, Tool, have, judged, overlay};

const STACK: &str = "apache-prefork-modphp-mariadb";
const USERS: f64 = 4.0;
/// What a statement sleeps, alone or while it holds the table.
const SLEEP_S: f64 = 0.1;

const KIT: &str = r#"
format = 1
name = "waiting"
version = 1
title = "Statements that wait on purpose"
source = "made for this test"
needs = ["web+php", "sql"]
app = "app"
session = "session.lua"
front_page = "/index.php"
default_size = "none"
default_stack = "apache-prefork-modphp-mariadb"
state = { drifts = false, why = "nothing is kept", reset = "none" }
sizes = { none = {} }
users = { default = 4, ramp_per_s = 10, think = { distribution = "fixed", value = 0.0 } }
mix = { sleep = 1 }
qos = { all = ["p50 < 5s"] }

[mixes.lock.mix]
lock = 1

[mixes.named.mix]
named = 1

[mixes.row.mix]
row = 1
"#;

const SESSION: &str = "
function sleep() operation 'Wait' get('/index.php?wait=sleep') end
function lock() operation 'Wait' get('/index.php?wait=lock') end
function named() operation 'Wait' get('/index.php?wait=named') end
function row() operation 'Wait' get('/index.php?wait=row') end
";

const APP: &str = r#"<?php
$db = new PDO("mysql:unix_socket={{ tiers.db.sockets.mysql }}", "{{ tiers.db.user }}", "");
$ask = fn($sql) => $db->query($sql)->fetchAll();
switch ($_GET['wait'] ?? '') {
case 'sleep':
    $ask("SELECT SLEEP(0.1)");
    break;
case 'lock':
    $db->exec("CREATE TABLE IF NOT EXISTS mysql.held (id INT) ENGINE = InnoDB");
    $db->exec("LOCK TABLES mysql.held WRITE");
    $ask("SELECT SLEEP(0.1)");
    $db->exec("UNLOCK TABLES");
    break;
case 'named':
    $ask("SELECT GET_LOCK('one', 10)");
    $ask("SELECT SLEEP(0.1)");
    $ask("SELECT RELEASE_LOCK('one')");
    break;
case 'row':
    if (!$ask("SELECT 1 FROM information_schema.tables WHERE table_schema = 'mysql' AND table_name = 'counted'")) {
        $db->exec("CREATE TABLE IF NOT EXISTS mysql.counted (id INT PRIMARY KEY, n INT) ENGINE = InnoDB");
        $db->exec("INSERT IGNORE INTO mysql.counted VALUES (1, 0)");
    }
    $db->beginTransaction();
    $db->exec("UPDATE mysql.counted SET n = n + 1 WHERE id = 1");
    $ask("SELECT SLEEP(0.1)");
    $db->commit();
}
echo 'done';
"#;

/// Mean of a signal of the database.
fn mean(record: &Json, name: &str) -> f64 {
    let rows = record["signals"].as_array().expect("signals");
    let row = rows.iter().find(|row| row["name"] == name && row["tier"] == "db");
    row.and_then(|row| row["mean"].as_f64()).unwrap_or_else(|| panic!("{name} is not among the signals"))
}

/// Clients that waited for the row of the one whose transaction was asleep.
fn for_the_sleeper(record: &Json) -> f64 {
    let statements = record["statements"].as_array().expect("statements");
    let update =
        statements.iter().find(|one| one["digest"] == "UPDATE mysql.counted SET n = n + ? WHERE id = ?");
    let waits =
        update.and_then(|one| one["row_waits"].as_array()).unwrap_or_else(|| panic!("{statements:#?}"));
    let sleeper =
        waits.iter().find(|one| one["table"] == "mysql.counted" && one["holder"] == "SELECT SLEEP(?)");
    sleeper.and_then(|one| one["clients"].as_f64()).unwrap_or_else(|| panic!("{waits:#?}"))
}

#[test]
fn statements_that_sleep_or_wait_for_a_table_or_a_name_are_told_from_those_that_wait_for_the_disk() {
    if !have(STACK) {
        return;
    }
    let catalogue = overlay(&[
        ("kits/waiting/kit.toml", KIT),
        ("kits/waiting/session.lua", SESSION),
        ("kits/waiting/app/index.php.j2", APP),
    ]);
    // What one of them does, and what the others wait for meanwhile. Nothing is read of the server's performance_schema, which
    // is off, or on with most of its consumers off, as MariaDB has it: the same is told.
    for (mix, waits, schema) in [
        ("sleep", None, false),
        ("lock", Some("sql.metadata_lock_now"), true),
        ("named", Some("sql.user_lock_now"), false),
        ("row", Some("sql.row_lock_now"), true),
    ] {
        let words = "run waiting --users 4 --ramp-up 1s --steady 12s --ramp-down 0s --json --catalogue";
        let run = || -> Tool {
            let mut tool = Home::shared().plimsoll(words).arg(catalogue.path());
            if mix != "sleep" {
                tool = tool.arg(format!("--mix={mix}"));
            }
            tool.arg(format!("--set=db.performance_schema={schema}"))
        };
        let record = judged(run).expect(0).json();
        let per_s = operation(&record, "Wait")["per_s"].as_f64().expect("a throughput");
        let slept = per_s * SLEEP_S;
        let told = mean(&record, "sql.sleep_now");
        assert!((told - slept).abs() < 0.25 * USERS, "{mix}: {told} were seen asleep, {slept} were");
        if let Some(waits) = waits {
            let waited = mean(&record, waits);
            assert!((waited - (USERS - slept)).abs() < 0.25 * USERS, "{mix}: {waited} of {USERS} waited");
        }
        let unknown = mean(&record, "sql.waiting");
        assert!(unknown < 0.25 * USERS, "{mix}: {unknown} statements are left for the disk");
        if mix == "row" {
            let waited = for_the_sleeper(&record);
            assert!(
                (waited - (USERS - slept)).abs() < 0.25 * USERS,
                "{waited} of {USERS} waited for who slept"
            );
        }
    }
    Home::shared().expect_nothing_left();
}
