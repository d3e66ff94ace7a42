//! A tiny kit on the real catalogue: a page that asks the database. Shared with the actor.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model::{Catalogue, Plan, Recipe, Value};

/// A page that asks the database through its socket and shows what it was rendered with.
const PAGE: &str = r#"<?php
$db = new PDO("mysql:unix_socket={{ tiers.db.sockets.mysql }}", "{{ tiers.db.user }}", "");
if (isset($_GET["sql"])) $db->exec($_GET["sql"]);
if (isset($_GET["ask"])) echo "answer: ", $db->query($_GET["ask"])->fetchColumn(), "\n";
echo "six times seven is ", $db->query("SELECT 6 * 7")->fetchColumn(), "\n";
echo "size {{ kit.size.rows }}\n";
echo "sapi ", PHP_SAPI, " opcache ", ini_get("opcache.enable"), " uid ", getmyuid(), "\n";
echo "scanned ini files: ", json_encode(php_ini_scanned_files()), "\n";
"#;

/// A page that asks the database over TCP, where it may be on a host of its own.
const FAR_PAGE: &str = r#"<?php
$far = "mysql:host={{ tiers.db.host }};port={{ tiers.db.ports.tcp }}";
$db = new PDO($far, "{{ tiers.db.user }}", $_GET["password"] ?? "{{ secret }}");
echo "reached by ", $db->query("SELECT USER()")->fetchColumn(), "\n";
$sent = $db->query("SELECT REPEAT('x', " . (int) ($_GET["bytes"] ?? 1) . ")")->fetchColumn();
echo "received ", strlen($sent), "\n";
"#;

/// What puts the database on a host of its own and opens its port.
pub(crate) const FAR: [(&str, &str); 2] = [("db.net.host", "own"), ("db.skip_networking", "false")];

/// Lays the page that goes with [`FAR`] over the catalogue.
pub(crate) fn lay_far(catalogue: &mut Catalogue) {
    catalogue.overlay(overlay(&[("kits/tiny/app/index.php.j2", FAR_PAGE)]));
}

/// The catalogue's services and stacks, and the tiny kit.
pub(crate) fn catalogue() -> Catalogue {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: BTreeMap<String, Cow<'static, [u8]>> = BTreeMap::new();
    for folder in ["extensions", "host", "services", "stacks"] {
        read_into(&mut files, &root.join("catalogue"), Path::new(folder));
    }
    read_into(&mut files, &root, Path::new("servers"));
    let mut catalogue = Catalogue::new(files);
    let manifest = manifest("tiny", &["web+php", "sql"], "/index.php", "apache-prefork-modphp-mariadb");
    catalogue.overlay(overlay(&[
        ("kits/tiny/kit.toml", &manifest),
        ("kits/tiny/session.lua", "function visit(user) end\n"),
        ("kits/tiny/app/index.php.j2", PAGE),
        ("kits/tiny/app/static/hello.html", "hello, {{ not rendered }}\n"),
    ]));
    catalogue
}

/// The manifest of a kit of the tests, which has one session, `visit`, and the size `small` of 42 rows.
pub(crate) fn manifest(name: &str, needs: &[&str], front_page: &str, stack: &str) -> String {
    format!(
        r#"
format = 1
name = "{name}"
version = 1
title = "{name}"
source = "the tests"
needs = {needs:?}
app = "app"
session = "session.lua"
front_page = "{front_page}"
default_size = "small"
default_stack = "{stack}"
state = {{ drifts = false, why = "nothing is written", reset = "none" }}
sizes = {{ small = {{ rows = 42 }} }}
users = {{ default = 1, ramp_per_s = 10 }}
mix = {{ visit = 1 }}
qos = {{}}
"#
    )
}

pub(crate) fn overlay(files: &[(&str, &str)]) -> BTreeMap<String, Cow<'static, [u8]>> {
    files.iter().map(|(path, text)| (path.to_string(), Cow::Owned(text.as_bytes().to_vec()))).collect()
}

fn read_into(files: &mut BTreeMap<String, Cow<'static, [u8]>>, root: &Path, inside: &Path) {
    for entry in fs::read_dir(root.join(inside)).expect("the catalogue").flatten() {
        let path = inside.join(entry.file_name());
        if entry.path().is_dir() {
            // Where somebody has built by hand.
            if entry.file_name() != "target" {
                read_into(files, root, &path);
            }
        } else {
            let name = path.to_str().expect("text").to_string();
            files.insert(name, Cow::Owned(fs::read(entry.path()).expect("a file")));
        }
    }
}

/// What the plan of a run would be.
pub(crate) fn plan(catalogue: &Catalogue, stack: &str, set: &[(&str, &str)]) -> Plan {
    plan_of("tiny", catalogue, stack, set)
}

/// The same of another kit.
pub(crate) fn plan_of(kit: &str, catalogue: &Catalogue, stack: &str, set: &[(&str, &str)]) -> Plan {
    let set = set.iter().map(|(name, value)| (name.to_string(), Value::Text(value.to_string()))).collect();
    let recipe = Recipe { format: 1, kit: kit.into(), stack: Some(stack.into()), set, ..Recipe::default() };
    let cpus: Vec<usize> = (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    Plan::resolve(&recipe, None, catalogue, &cpus).unwrap_or_else(|problems| panic!("{problems}"))
}
