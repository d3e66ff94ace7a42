//! Tomcat alone and behind Apache: it serves the document root and the file set, tells about itself however busy it is,
//! stops by itself, and its death is noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use model::catalogue::kit::{FileSet, Writable};
use model::{Catalogue, Plan};
use rustix::process::Signal;
use testbed::{Stack, Tier};

use crate::bench::{Bench, get};
use crate::figures::{largest_values, smaller};
use crate::tiny::{manifest, overlay, plan_of};
use crate::tomcat_secret::only_who_knows_the_path_is_told;
use crate::waiting::{deaths, kill, processes_of};

const ALONE: &str = "tomcat-mariadb";
const BEHIND: &str = "apache-tomcat-mariadb";

/// A page that holds a thread for as long as it is asked to.
const SLOW: &str = "<% Thread.sleep(Long.parseLong(request.getParameter(\"ms\"))); %>slept\n";

fn with_servlets(catalogue: &mut Catalogue) {
    let manifest = manifest("servlets", &["web+servlet", "sql"], "/index.html", ALONE);
    catalogue.overlay(overlay(&[
        ("kits/servlets/kit.toml", &manifest),
        ("kits/servlets/session.lua", "function visit(user) end\n"),
        ("kits/servlets/app/index.html", "the front page\n"),
        ("kits/servlets/app/slow.jsp", SLOW),
        ("kits/servlets/app/WEB-INF/classes/shop.properties.j2", "database={{ tiers.db.sockets.mysql }}\n"),
    ]));
}

fn plan(catalogue: &Catalogue, stack: &str, set: &[(&str, &str)]) -> Plan {
    plan_of("servlets", catalogue, stack, set)
}

fn bench(name: &str, stack: &str) -> Option<Bench> {
    Bench::with(name, stack, with_servlets, |catalogue, stack| plan(catalogue, stack, &[]))
}

fn start(bench: &mut Bench, plan: &Plan) -> Stack {
    bench.start(plan).unwrap_or_else(|problems| panic!("{problems}"))
}

fn address(stack: &Stack) -> SocketAddr {
    stack.web_address().expect("an address")
}

fn tier<'a>(stack: &'a Stack, name: &str) -> &'a Tier {
    stack.tier(name).expect("a tier")
}

fn expect_page(stack: &Stack, path: &str, text: &str) {
    let answer = get(address(stack), path);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(text), "{path}: {answer}");
}

/// A kept file set, readable for servers under another user.
fn kept_files(folder: &Path) {
    let path = folder.join("shop/images/1.gif");
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(&path, "GIF89a").expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o444)).expect("it is ours");
}

#[test]
fn tomcat_serves_the_document_root_and_the_file_set_and_leaves_nothing() {
    let Some(mut bench) = bench("tomcat", ALONE) else { return };
    let kept = bench.home().join("kept set");
    kept_files(&kept);
    bench.files = Some(kept);
    let mut plan = plan(&bench.catalogue, ALONE, &[("web.Xms", "64M"), ("web.Xmx", "64M")]);
    plan.kit.file_set =
        Some(FileSet { script: "files.lua".into(), writable: Writable::No, page_cache: None });
    let mut stack = start(&mut bench, &plan);
    expect_page(&stack, "/index.html", "the front page");
    expect_page(&stack, "/", "the front page");
    expect_page(&stack, "/shop/images/1.gif", "GIF89a");
    for hidden in ["/WEB-INF/classes/shop.properties", "/manager/jmxproxy/?qry=*:*", "/none"] {
        let answer = get(address(&stack), hidden);
        assert!(answer.starts_with("HTTP/1.1 404"), "{hidden}: {answer}");
    }
    let web = tier(&stack, "web");
    assert!(web.version.warning.is_none() && web.version.number.starts_with("10.1."), "{:?}", web.version);
    let properties = web.dir.parent().expect("the instance").join("www/WEB-INF/classes/shop.properties");
    let database = tier(&stack, "db").sockets["mysql"].display().to_string();
    assert_eq!(fs::read_to_string(properties).expect("it is rendered"), format!("database={database}\n"));
    let log = fs::read_to_string(&web.logs[0]).expect("a log");
    assert!(log.contains("JVM Version") && !log.contains("SEVERE"), "{log}");
    expect_names_of_threads(web);
    only_who_knows_the_path_is_told(web, &[address(&stack)]);
    assert_eq!((stack.deaths(), stack.alarms()), (Vec::new(), Vec::new()));
    let stopped = stack.stop().unwrap_or_else(|problems| panic!("{problems}"));
    assert!(stopped.iter().all(|one| one.clean), "{stopped:?}");
    drop(stack);
    assert_eq!(processes_of(&bench.id), Vec::new());
}

/// Every thread that serves no user is known by its name, and no thread that does.
fn expect_names_of_threads(tier: &Tier) {
    let tasks = fs::read_dir(format!("/proc/{}/task", tier.pid)).expect("it runs").flatten();
    let names: BTreeSet<String> =
        tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok()).collect();
    let known = |name: &&String| tier.background_threads.iter().any(|known| name.starts_with(known.as_str()));
    let (background, serving): (Vec<&String>, Vec<&String>) = names.iter().partition(known);
    assert!(!serving.is_empty() && serving.iter().all(|name| name.starts_with("exec-")), "{serving:?}");
    assert!(background.iter().any(|name| name.starts_with("http-ni")), "{background:?}");
}

#[test]
fn tomcat_tells_every_figure_also_when_all_its_threads_are_taken() {
    let Some(mut bench) = bench("told-tomcat", ALONE) else { return };
    let set = [("web.maxThreads", "2"), ("web.minSpareThreads", "1"), ("web.Xms", "64M"), ("web.Xmx", "64M")];
    let plan = plan(&bench.catalogue, ALONE, &set);
    let stack = start(&mut bench, &plan);
    let web = tier(&stack, "web");
    let limit = web.job.counters.iter().find(|one| one.name == "threads.busy").and_then(|one| one.limit);
    assert_eq!(limit, Some(2.0));
    // This application has no pool of connections.
    let declared: Vec<&String> = web.job.counters.iter().map(|one| &one.name).collect();
    let own = || declared.iter().filter(|name| !name.starts_with("pool."));
    let all = |seen: &BTreeMap<String, f64>| -> Vec<String> {
        let requests = smaller(seen, &[("requests", 0.5), ("requests.failed", 0.5)]);
        own().filter(|name| !seen.contains_key(**name)).map(|name| name.to_string()).chain(requests).collect()
    };
    let asked = || ["/index.html", "/none"].iter().for_each(|path| _ = get(address(&stack), path));
    let seen = largest_values(web, asked, all);
    assert_eq!(seen["heap.max"], 64.0 * f64::from(1 << 20), "{seen:#?}");
    assert!(seen["heap.used"] > 1e6 && seen["heap.used"] <= seen["heap.max"], "{seen:#?}");
    expect_page(&stack, "/slow.jsp?ms=1", "slept");
    let slow: Vec<TcpStream> = (0..5)
        .map(|_| {
            let mut stream = TcpStream::connect(address(&stack)).expect("a connection");
            let request = b"GET /slow.jsp?ms=90000 HTTP/1.1\r\nHost: localhost\r\n\r\n";
            stream.write_all(request).expect("a request");
            stream
        })
        .collect();
    // Observers have threads of their own: while users hold all others they are told of that.
    let busy = [("threads.busy", 2.0), ("requests.queued", 3.0), ("connections.busy", 5.0)];
    largest_values(web, || (), |seen| smaller(seen, &busy));
    drop(slow);
}

#[test]
fn the_death_of_tomcat_is_noticed_with_its_log() {
    let Some(mut bench) = bench("tomcat-death", ALONE) else { return };
    let plan = plan(&bench.catalogue, ALONE, &[]);
    let mut stack = start(&mut bench, &plan);
    kill(tier(&stack, "web").pid, Signal::KILL);
    let deaths = deaths(&mut stack);
    assert_eq!((deaths.len(), deaths[0].tier.as_str()), (1, "web"));
    assert!(deaths[0].status.contains('9') && !deaths[0].log_tail.is_empty(), "{deaths:?}");
    drop(stack);
    assert_eq!(processes_of(&bench.id), Vec::new());
}

#[test]
fn apache_hands_requests_on_to_tomcat_by_http_and_by_ajp() {
    for proxy in ["http", "ajp"] {
        let Some(mut bench) = bench(&format!("front-{proxy}"), BEHIND) else { return };
        let plan = plan(&bench.catalogue, BEHIND, &[("web.proxy", proxy)]);
        let mut stack = start(&mut bench, &plan);
        expect_page(&stack, "/index.html", "the front page");
        assert!(get(address(&stack), "/none").starts_with("HTTP/1.1 404"), "{proxy}");
        expect_page(&stack, "/plimsoll-status?auto", "BusyWorkers");
        let app = tier(&stack, "app");
        let asked = || _ = get(address(&stack), "/index.html");
        largest_values(app, asked, |seen| smaller(seen, &[("requests", 1.0), ("connections.busy", 1.0)]));
        let conf = fs::read_to_string(&app.files[0]).expect("it is rendered");
        assert!(conf.contains("AJP/1.3"), "a server that stands behind another offers both: {conf}");
        let own = *app.addresses.first().expect("users of Apache come by one of its ports");
        only_who_knows_the_path_is_told(app, &[address(&stack), own]);
        assert_eq!((stack.deaths(), stack.alarms()), (Vec::new(), Vec::new()), "{proxy}");
        let stopped = stack.stop().unwrap_or_else(|problems| panic!("{problems}"));
        assert!(stopped.iter().all(|one| one.clean), "{proxy}: {stopped:?}");
    }
}

#[test]
fn settings_that_contradict_each_other_are_refused_before_anything_starts() {
    let Some(mut bench) = bench("tomcat-wrong", BEHIND) else { return };
    let set =
        [("app.minSpareThreads", "300"), ("app.Xms", "1G"), ("web.php", "module"), ("web.mpm", "prefork")];
    let plan = plan(&bench.catalogue, BEHIND, &set);
    let said = bench.start(&plan).err().map(|problems| problems.to_string()).expect("it is refused");
    for part in
        ["minSpareThreads 300 is more than maxThreads 200", "(Xms)", "php must be none, and is module"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
}
