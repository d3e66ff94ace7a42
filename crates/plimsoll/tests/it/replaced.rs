//! An application that puts links and pipes in the place of its servers' logs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::tool::{Home, have, judged, overlay};

const STACK: &str = "apache-prefork-modphp-mariadb";

const KIT: &str = r#"
format = 1
name = "links"
version = 1
title = "Logs are replaced"
source = "made for this test"
needs = ["web+php", "sql"]
app = "app"
session = "session.lua"
front_page = "/index.php"
default_size = "none"
default_stack = "apache-prefork-modphp-mariadb"
state = { drifts = false, why = "nothing is kept", reset = "none" }
sizes = { none = {} }
users = { default = 2, ramp_per_s = 10, think = { distribution = "fixed", value = 0.1 } }
mix = { visit = 1 }
qos = { all = ["p50 < 5s"] }
"#;

/// It runs as the servers' user, who owns all of their folders. The database's logs stay: something is to be kept.
const APP: &str = r#"<?php
foreach (glob(dirname(__DIR__) . '/*/logs/*') as $number => $log) {
    if (is_link($log) || filetype($log) !== 'file' || strpos($log, '/db/')) continue;
    unlink($log);
    if ($number % 2) exec('mkfifo ' . escapeshellarg($log)); else symlink('SECRET', $log);
}
echo 'null';
"#;

#[test]
fn a_log_that_an_application_replaced_by_a_link_or_a_pipe_is_neither_kept_nor_waited_for() {
    // Issue 16.13: a link to what only root may read was copied into the run's folder, readable by all.
    if !have(STACK) {
        return;
    }
    let outside = tempfile::tempdir().expect("a directory");
    let secret = outside.path().join("secret");
    fs::write(&secret, "nobody else may read this\n").expect("a file");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("a mode");
    let app = APP.replace("SECRET", secret.to_str().expect("text"));
    let session =
        "function visit() operation 'Ask' local page = get('/index.php') check(page:has('null'), 'null') end";
    let catalogue = overlay(&[
        ("kits/links/kit.toml", KIT),
        ("kits/links/session.lua", session),
        ("kits/links/app/index.php", &app),
    ]);
    let home = Home::new();
    let words = "run links --users 2 --ramp-up 0s --steady 5s --ramp-down 0s --json --catalogue";
    let record = judged(|| home.plimsoll(words).arg(catalogue.path())).expect(0).json();
    let run = home.path().join("runs").join(record["id"].as_str().expect("an id"));
    let kept = files(&run.join("logs"));
    assert!(!kept.is_empty() && kept.iter().all(|path| path.starts_with(run.join("logs/db"))), "{kept:?}");
    for path in &kept {
        let mode = fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", path.display());
    }
    for path in files(&run) {
        let bytes = fs::read(&path).expect("it is ours");
        assert!(!String::from_utf8_lossy(&bytes).contains("nobody else"), "{}", path.display());
    }
    home.expect_nothing_left();
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
