//! The stacks with PHP and a cache: every part that a page can need is there, several caches are one tier, a kit's own
//! stand-in is a tier, files in memory are gone with the stack.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use model::{Catalogue, Plan};
use observe::Servers;
use rustix::process::Signal;
use testbed::Stack;

use crate::bench::{Bench, get};
use crate::tiny::{manifest, overlay, plan_of};
use crate::waiting::{deaths, kill, processes_of};

const SPAWNED: &str = "lighttpd-fastcgi-mariadb-memcached";
const STACKS: [&str; 4] = [
    SPAWNED,
    "apache-event-fpm-mariadb-memcached",
    "nginx-fpm-mariadb-memcached",
    "lighttpd-fpm-mariadb-memcached",
];

const STUB_OF_KIT: &str = r#"
[[stub]]
tier = "geocoder"
service = "places"
"#;

const STUB: &str = r#"
format = 1
name = "places"
title = "Places (stand-in)"
ports = ["http"]
logs = []
packages = { install = ["php8.2-cli"], why = "a test" }
program = { binary = "php8.2", args = ["-n", "-S", "127.0.0.1:{{ ports.http }}", "{{ dir }}/places.php"], version_args = ["-v"], known_versions = ["8.2."] }
ready = { probe = "accept", within_s = 10 }
stop = { signal = "TERM", within_s = 5 }
template = [{ from = "places.php.j2", to = "places.php" }]

[[knob]]
name = "answer"
type = "int"
default = 7
help = "what it answers"
"#;

/// A page that uses each part: database, every cache, pictures, the stand-in, an upload.
const PAGE: &str = r#"<?php
$db = new PDO("mysql:unix_socket={{ tiers.db.sockets.mysql }}", "{{ tiers.db.user }}", "");
echo "database ", $db->query("SELECT 6 * 7")->fetchColumn(), "\n";
$cache = new Memcached();
{% for one in tiers.cache.instances %}
$cache->addServer("127.0.0.1", {{ one.ports.memcached }});
{% endfor %}
$found = 0;
for ($i = 0; $i < 64; $i++) { $cache->set("k$i", $i); $found += $cache->get("k$i") === $i ? 1 : 0; }
echo "cache $found of ", count($cache->getServerList()), "\n";
ob_start(); imagejpeg(imagecreatetruecolor(8, 8)); $picture = ob_get_clean();
echo "picture ", bin2hex(substr($picture, 0, 2)), "\n";
echo "place ", file_get_contents("http://127.0.0.1:{{ tiers.geocoder.ports.http }}/"), "\n";
echo "sapi ", PHP_SAPI, " scanned ", json_encode(php_ini_scanned_files()), "\n";
foreach ($_FILES as $file) echo "uploaded {$file['size']} to ", dirname($file["tmp_name"]), "\n";
if (isset($_GET["sleep"])) sleep((int) $_GET["sleep"]);
"#;

fn with_party(catalogue: &mut Catalogue) {
    let needs = ["web+php", "php+gd", "php+memcached", "sql", "cache"];
    let manifest = manifest("party", &needs, "/index.php", SPAWNED) + STUB_OF_KIT;
    catalogue.overlay(overlay(&[
        ("kits/party/kit.toml", &manifest),
        ("kits/party/session.lua", "function visit(user) end\n"),
        ("kits/party/app/index.php.j2", PAGE),
        ("kits/party/services/places/service.toml", STUB),
        ("kits/party/services/places/places.php.j2", "<?php echo \"number {{ answer }}\";"),
    ]));
}

fn plan(catalogue: &Catalogue, stack: &str, set: &[(&str, &str)]) -> Plan {
    plan_of("party", catalogue, stack, set)
}

fn bench(name: &str, stack: &str) -> Option<Bench> {
    Bench::with(name, stack, with_party, |catalogue, stack| plan(catalogue, stack, &[]))
}

/// Posts a file to the page; the page's answer.
fn upload(stack: &Stack) -> String {
    let file = "x".repeat(70_000);
    let head = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f.txt\"\r\n\r\n";
    let body = format!("{head}{file}\r\n--b--\r\n");
    let mut stream = TcpStream::connect(stack.web_address().expect("an address")).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    let request = format!(
        "POST /index.php HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\
         Content-Type: multipart/form-data; boundary=b\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

/// The largest value of each (tier, series), once all that is wanted was seen.
fn largest_values(stack: &Stack, wanted: &[(&str, &str, f64)]) -> BTreeMap<(String, String), f64> {
    let jobs: Vec<model::ServerJob> = stack.tiers().iter().map(|tier| tier.job.clone()).collect();
    let (mut servers, begun) = (Servers::start(&jobs), Instant::now());
    let mut seen: BTreeMap<(String, String), f64> = BTreeMap::new();
    let enough = |seen: &BTreeMap<(String, String), f64>, (tier, name, least): &(&str, &str, f64)| {
        seen.get(&(tier.to_string(), name.to_string())).is_some_and(|value| value >= least)
    };
    while !wanted.iter().all(|one| enough(&seen, one)) {
        assert!(begun.elapsed() < Duration::from_secs(30), "wanted {wanted:?}, seen {seen:#?}");
        _ = get(stack.web_address().expect("an address"), "/index.php");
        for series in servers.sample(begun.elapsed().as_secs_f64()) {
            let key = (series.tier.expect("a server's figure"), series.name);
            let most = series.points.iter().map(|(_, value)| *value).fold(f64::MIN, f64::max);
            seen.entry(key).and_modify(|value| *value = value.max(most)).or_insert(most);
        }
    }
    seen
}

fn expect_page(stack: &Stack, name: &str, caches: usize, sapi: &str) {
    let page = upload(stack);
    assert!(page.starts_with("HTTP/1.1 200"), "{name}: {page}");
    for line in [
        "database 42".to_string(),
        format!("cache 64 of {caches}"),
        "picture ffd8".to_string(),
        "place number 7".to_string(),
        format!("sapi {sapi} scanned false"),
        "uploaded 70000 to ".to_string(),
    ] {
        assert!(page.contains(&line), "{name} lacks `{line}`: {page}");
    }
}

#[test]
fn every_stack_with_a_cache_has_all_that_a_page_needs_and_leaves_nothing() {
    for name in STACKS {
        let Some(mut bench) = bench("party", name) else { return };
        let plan = plan(&bench.catalogue, name, &[]);
        let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{name}: {problems}"));
        assert_eq!(stack.tiers()[0].name, "geocoder", "a kit's own tiers are the first");
        let sapi = if name == SPAWNED { "cgi-fcgi" } else { "fpm-fcgi" };
        expect_page(&stack, name, 1, sapi);
        assert_eq!((stack.deaths(), stack.alarms()), (Vec::new(), Vec::new()), "{name}");
        let stopped = stack.stop().unwrap_or_else(|problems| panic!("{problems}"));
        assert!(stopped.iter().all(|one| one.clean), "{name}: {stopped:?}");
        let id = bench.id.clone();
        assert_eq!(processes_of(&id), Vec::new(), "{name}: the PHP that a web server spawned ends with it");
    }
}

#[test]
fn spawned_php_tells_its_cache_and_how_many_processes_are_taken() {
    let Some(mut bench) = bench("spawned", SPAWNED) else { return };
    let set = [("web.PHP_FCGI_CHILDREN", "3"), ("geocoder.answer", "8")];
    let plan = plan(&bench.catalogue, SPAWNED, &set);
    let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let job = &stack.tier("web").expect("a tier").job;
    let limit = job.counters.iter().find(|one| one.name == "children.busy").and_then(|one| one.limit);
    assert_eq!(limit, Some(3.0));
    assert!(get(stack.web_address().expect("an address"), "/index.php").contains("place number 8"));
    let address = stack.web_address().expect("an address");
    let slow: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("a connection");
            stream.write_all(b"GET /index.php?sleep=20 HTTP/1.1\r\nHost: x\r\n\r\n").expect("a request");
            stream
        })
        .collect();
    let wanted =
        [("web", "opcache.enabled", 1.0), ("web", "opcache.hits", 1.0), ("web", "children.busy", 2.0)];
    let seen = largest_values(&stack, &wanted);
    assert_eq!(seen[&("web".to_string(), "status.unanswered".to_string())], 0.0, "{seen:#?}");
    drop(slow);
}

#[test]
fn several_caches_are_one_tier_whose_figures_add_up() {
    let Some(mut bench) = bench("caches", SPAWNED) else { return };
    let set = [("cache.instances", "4"), ("cache.memory-limit", "16M"), ("web.upload_dir", "memory")];
    let plan = plan(&bench.catalogue, SPAWNED, &set);
    let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let memory = bench.lab.memory_dir().map(std::path::Path::to_path_buf);
    expect_page(&stack, SPAWNED, 4, "cgi-fcgi");
    let place = memory.as_ref().expect("/dev/shm").join("1/web").display().to_string();
    assert!(upload(&stack).contains(&format!("uploaded 70000 to {place}")), "{place}");
    let cache = stack.tier("cache").expect("a tier");
    assert_eq!((cache.pids.len(), cache.ports.len(), cache.logs.len()), (4, 4, 4), "{cache:?}");
    assert_eq!(cache.relative(&cache.logs[3]).to_string_lossy(), "cache-4/logs/console.log");
    if let Some(group) = &cache.cgroup {
        let members = fs::read_to_string(group.join("cgroup.procs")).expect("a cgroup");
        assert!(cache.pids.iter().all(|pid| members.lines().any(|line| line == pid.to_string())));
    }
    expect_background_threads(cache);
    let limit = cache.job.counters.iter().find(|one| one.name == "cache.bytes").and_then(|one| one.limit);
    assert_eq!(limit, Some(64.0 * f64::from(1 << 20)));
    // 64 keys on four servers: no single one has them all.
    let seen = largest_values(&stack, &[("cache", "cache.items", 64.0), ("cache", "cache.hits", 64.0)]);
    let value = |name: &str| seen[&("cache".to_string(), name.to_string())];
    assert_eq!((value("cache.items"), value("status.unanswered")), (64.0, 0.0), "{seen:#?}");
    kill(stack.tier("cache").expect("a tier").pids[2], Signal::KILL);
    let deaths = deaths(&mut stack);
    assert_eq!((deaths.len(), deaths[0].tier.as_str()), (1, "cache"));
    assert_eq!((deaths[0].server().as_str(), deaths[0].living), ("cache-3 of 4", 3), "{deaths:?}");
    drop(stack);
    assert!(!memory.as_ref().expect("/dev/shm").join("1").exists(), "files in memory go with the stack");
    bench.lab.close().expect("a clean end");
    assert!(!memory.expect("/dev/shm").exists());
}

/// Each name that the service declares is that of a thread of the real program.
fn expect_background_threads(tier: &testbed::Tier) {
    let tasks = fs::read_dir(format!("/proc/{}/task", tier.pid)).expect("it runs").flatten();
    let names: Vec<String> =
        tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok()).collect();
    let known = |declared: &String| names.iter().any(|name| name.starts_with(declared.as_str()));
    assert!(!tier.background_threads.is_empty() && tier.background_threads.iter().all(known), "{names:?}");
}
