//! A lab with the real catalogue and a tiny kit, for tests that start real servers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use model::{Catalogue, Plan, Recipe, ServiceManifest, Value};
use tempfile::TempDir;
use testbed::{KeeperCommand, Lab, LabOptions, Stack, StartOptions, StepEvent, packages};

pub(crate) const LAMP: &str = "apache-prefork-modphp-mariadb";
pub(crate) const EVENT: &str = "apache-event-fpm-mariadb";
pub(crate) const LIGHTTPD: &str = "lighttpd-fpm-mariadb";

const KIT: &str = r#"
format = 1
name = "tiny"
version = 1
title = "Tiny"
source = "the tests"
needs = ["web+php", "sql"]
app = "app"
session = "session.lua"
front_page = "/index.php"
default_size = "small"
default_stack = "apache-prefork-modphp-mariadb"
state = { drifts = false, why = "nothing is written", reset = "none" }
sizes = { small = { rows = 42 } }
users = { default = 1, ramp_per_s = 10 }
mix = { visit = 1 }
qos = {}
"#;

/// A page that asks the database through its socket and shows what it was rendered with.
const PAGE: &str = r#"<?php
$db = new PDO("mysql:unix_socket={{ tiers.db.sockets.mysql }}", "{{ tiers.db.user }}", "");
echo "six times seven is ", $db->query("SELECT 6 * 7")->fetchColumn(), "\n";
echo "size {{ kit.size.rows }}\n";
echo "sapi ", PHP_SAPI, " opcache ", ini_get("opcache.enable"), " uid ", getmyuid(), "\n";
echo "scanned ini files: ", json_encode(php_ini_scanned_files()), "\n";
"#;

/// A home that servers under another user can enter.
pub(crate) fn home() -> TempDir {
    let dir = tempfile::Builder::new().prefix("plimsoll-test-").tempdir().expect("a temporary directory");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    dir
}

pub(crate) fn keeper() -> KeeperCommand {
    KeeperCommand { program: env!("CARGO_BIN_EXE_testbed-actor").into(), args: vec!["keeper".into()] }
}

/// The catalogue's services and stacks, and the tiny kit.
pub(crate) fn catalogue() -> Catalogue {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue");
    let mut files: BTreeMap<String, Cow<'static, [u8]>> = BTreeMap::new();
    for folder in ["services", "stacks"] {
        read_into(&mut files, &root, Path::new(folder));
    }
    let mut catalogue = Catalogue::new(files);
    catalogue.overlay(overlay(&[
        ("kits/tiny/kit.toml", KIT),
        ("kits/tiny/session.lua", "function visit(user) end\n"),
        ("kits/tiny/app/index.php.j2", PAGE),
        ("kits/tiny/app/static/hello.html", "hello, {{ not rendered }}\n"),
    ]));
    catalogue
}

pub(crate) fn overlay(files: &[(&str, &str)]) -> BTreeMap<String, Cow<'static, [u8]>> {
    files.iter().map(|(path, text)| (path.to_string(), Cow::Owned(text.as_bytes().to_vec()))).collect()
}

fn read_into(files: &mut BTreeMap<String, Cow<'static, [u8]>>, root: &Path, inside: &Path) {
    for entry in fs::read_dir(root.join(inside)).expect("the catalogue").flatten() {
        let path = inside.join(entry.file_name());
        if entry.path().is_dir() {
            read_into(files, root, &path);
        } else {
            let name = path.to_str().expect("text").to_string();
            files.insert(name, Cow::Owned(fs::read(entry.path()).expect("a file")));
        }
    }
}

/// What the plan of a run would be.
pub(crate) fn plan(catalogue: &Catalogue, stack: &str, set: &[(&str, &str)]) -> Plan {
    let set = set.iter().map(|(name, value)| (name.to_string(), Value::Text(value.to_string()))).collect();
    let recipe =
        Recipe { format: 1, kit: "tiny".into(), stack: Some(stack.into()), set, ..Recipe::default() };
    let cpus: Vec<usize> = (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    Plan::resolve(&recipe, None, catalogue, &cpus).expect("a plan")
}

/// A lab in a home of its own. Its servers' programs are those of the machine, or unpacked once for all tests.
pub(crate) struct Bench {
    pub(crate) catalogue: Catalogue,
    pub(crate) lab: Lab,
    pub(crate) id: String,
    pub(crate) steps: Vec<StepEvent>,
    home: TempDir,
}

impl Bench {
    /// `None`, with the reason printed, when this machine lacks a server of the stack; with CI=true that is a failure.
    pub(crate) fn new(name: &str, stack: &str) -> Option<Bench> {
        let catalogue = catalogue();
        let plan = plan(&catalogue, stack, &[]);
        let services: Vec<&ServiceManifest> = plan.tiers.iter().map(|tier| &tier.service).collect();
        let home = home();
        programs(home.path());
        let missing = packages::missing(&services, home.path());
        if !missing.is_empty() {
            let names: Vec<&str> = missing.iter().map(|one| one.package.as_str()).collect();
            let reason = format!("{name} needs {}: {}", names.join(", "), packages::apt_line(&services));
            assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{reason}");
            eprintln!("skipped: {reason}");
            return None;
        }
        let id = format!("{name}-{}", std::process::id());
        let lab = Lab::open(&LabOptions { home: home.path(), id: &id, keeper: keeper(), cgroups: true });
        Some(Bench { catalogue, lab: lab.expect("a lab"), id, steps: Vec::new(), home })
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn kept(&self) -> PathBuf {
        self.home.path().join("failed")
    }

    pub(crate) fn plan(&self, stack: &str, set: &[(&str, &str)]) -> Plan {
        plan(&self.catalogue, stack, set)
    }

    pub(crate) fn start(&mut self, plan: &Plan) -> model::Result<Stack> {
        self.start_from(plan, None, false)
    }

    pub(crate) fn start_from(
        &mut self,
        plan: &Plan,
        data: Option<&Path>,
        loading: bool,
    ) -> model::Result<Stack> {
        let kept = self.kept();
        let steps = &mut self.steps;
        self.lab.start(StartOptions {
            plan,
            catalogue: &self.catalogue,
            data_snapshot: data,
            loading,
            web_port: None,
            keep_failed: &kept,
            cancel: &|| false,
            on_step: &mut |step| steps.push(step),
        })
    }
}

/// Unpacks what can't be installed, once for all tests of this checkout, and copies it into a home.
fn programs(home: &Path) {
    static UNPACKED: OnceLock<PathBuf> = OnceLock::new();
    let cache = UNPACKED.get_or_init(|| {
        let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("unpacked");
        let catalogue = catalogue();
        let services: Vec<ServiceManifest> =
            catalogue.services().iter().map(|name| catalogue.service(name).expect("a service")).collect();
        let mut missing = packages::missing(&services.iter().collect::<Vec<_>>(), &cache);
        missing.retain(|one| one.how == packages::How::Unpack);
        if let Err(problems) = packages::install(&missing, &cache, &mut |line| eprintln!("{line}")) {
            eprintln!("{problems}");
        }
        cache
    });
    let from = cache.join("programs");
    if from.is_dir() {
        let copied = Command::new("cp").arg("-r").arg(&from).arg(home).status().expect("cp");
        assert!(copied.success());
    }
}

/// The whole answer to a GET, head and body.
pub(crate) fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}
