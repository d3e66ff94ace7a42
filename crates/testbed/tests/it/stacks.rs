//! Each stack of the catalogue starts, serves a page that asks the database, stops, and leaves nothing.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use testbed::Stack;

use crate::bench::{Bench, EVENT, LAMP, LIGHTTPD, get};
use crate::waiting::{deaths, kill, own_user, processes_in, processes_of, processes_of_user};

fn expect_page(stack: &Stack, sapi: &str) {
    let page = get(stack.web_address().expect("an address"), "/index.php");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("six times seven is 42"), "{page}");
    assert!(page.contains("size 42"), "{page}");
    assert!(page.contains(&format!("sapi {sapi} opcache 1")), "{page}");
    assert!(page.contains("scanned ini files: false"), "the system's PHP settings must not be read: {page}");
    let page = get(stack.web_address().expect("an address"), "/static/hello.html");
    assert!(page.contains("hello, {{ not rendered }}") && page.contains("text/html"), "{page}");
}

fn serves_and_leaves_nothing(name: &str, stack: &str, sapi: &str) {
    let shared_memory = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let Some(mut bench) = Bench::new(name, stack) else { return };
    let plan = bench.plan(stack, &[]);
    let mut running = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    expect_page(&running, sapi);
    assert_eq!(running.deaths(), Vec::new());
    assert_eq!(running.alarms(), Vec::new());
    for tier in running.tiers() {
        assert!(tier.version.warning.is_none(), "{:?}", tier.version);
        assert!(tier.files.iter().chain(&tier.logs[..1]).all(|path| path.exists()), "{tier:?}");
        if let Some(group) = &tier.cgroup {
            let members = fs::read_to_string(group.join("cgroup.procs")).expect("a cgroup");
            assert!(members.lines().any(|pid| pid == tier.pid.to_string()), "{} in {members}", tier.pid);
        }
        expect_confined(tier.pid, bench.lab.uid(), &plan.placement.stack);
    }
    let instance = running.tiers()[0].dir.parent().expect("an instance").to_path_buf();
    let stopped = running.stop().unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(stopped.len(), plan.tiers.len());
    assert!(stopped.iter().all(|one| one.clean), "each server stops by itself: {stopped:?}");
    assert_eq!(stopped.last().map(|one| one.tier.as_str()), Some("db"), "the database is the last to stop");
    assert_eq!(processes_of(&bench.id), Vec::new());
    drop(running);
    assert!(!instance.exists());
    let (id, uid, home) = (bench.id.clone(), bench.lab.uid(), bench.home().to_path_buf());
    let group = bench.lab.cgroup().map(Path::to_path_buf);
    bench.lab.close().expect("a clean end");
    assert_eq!(processes_of(&id), Vec::new());
    assert_eq!(processes_in(&home), Vec::<u32>::new());
    assert!(!own_user(uid) || processes_of_user(uid, &id).is_empty());
    assert!(group.is_none_or(|group| !group.exists()));
    assert_eq!(fs::read_dir(home.join("instances")).expect("a directory").count(), 0);
    let owned = format!(" {uid} ");
    let left = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let left: Vec<&str> =
        left.lines().filter(|line| line.contains(&owned) && !shared_memory.contains(line)).collect();
    assert!(!own_user(uid) || left.is_empty(), "shared memory is left: {left:?}");
}

fn expect_confined(pid: u32, uid: u32, cpus: &[usize]) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().unwrap_or_default().to_string()
    };
    assert_eq!(field("Uid:"), uid.to_string());
    assert_eq!(field("NoNewPrivs:"), "1");
    if let [cpu] = cpus {
        assert_eq!(field("Cpus_allowed_list:"), cpu.to_string());
    }
}

#[test]
fn apache_with_php_inside_and_mariadb_serves_and_leaves_nothing() {
    serves_and_leaves_nothing("lamp", LAMP, "apache2handler");
}

#[test]
fn apache_event_with_php_fpm_and_mariadb_serves_and_leaves_nothing() {
    serves_and_leaves_nothing("event", EVENT, "fpm-fcgi");
}

#[test]
fn lighttpd_with_php_fpm_and_mariadb_serves_and_leaves_nothing() {
    serves_and_leaves_nothing("lighttpd", LIGHTTPD, "fpm-fcgi");
}

#[test]
fn a_knob_reaches_the_rendered_file_and_the_server() {
    let Some(mut bench) = Bench::new("knob", LAMP) else { return };
    let set = [("apache.MaxRequestWorkers", "512"), ("db.innodb_buffer_pool_size", "64M")];
    let plan = bench.plan(LAMP, &set);
    let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let web = fs::read_to_string(&stack.tier("web").expect("a tier").files[0]).expect("a file");
    assert!(web.contains("\nMaxRequestWorkers 512\n") && web.contains("\nServerLimit 512\n"), "{web}");
    let db = fs::read_to_string(&stack.tier("db").expect("a tier").files[0]).expect("a file");
    assert!(db.contains("\ninnodb_buffer_pool_size = 67108864\n"), "{db}");
    let error_log = fs::read_to_string(&stack.tier("web").expect("a tier").logs[0]).expect("a log");
    assert!(!error_log.contains("WARNING"), "Apache accepts the value as it is: {error_log}");
}

#[test]
fn two_stacks_of_two_labs_run_at_once() {
    let (Some(mut first), Some(mut second)) = (Bench::new("one", LAMP), Bench::new("two", LAMP)) else {
        return;
    };
    let plan = first.plan(LAMP, &[]);
    let one = first.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let two = second.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    assert_ne!(one.web_address(), two.web_address());
    expect_page(&one, "apache2handler");
    drop(one);
    expect_page(&two, "apache2handler");
}

#[test]
fn the_death_of_a_server_is_noticed_once_with_its_status() {
    let Some(mut bench) = Bench::new("death", LAMP) else { return };
    let plan = bench.plan(LAMP, &[]);
    let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    kill(stack.tier("db").expect("a tier").pid, Signal::KILL);
    let deaths = deaths(&mut stack);
    assert_eq!((deaths.len(), deaths[0].tier.as_str()), (1, "db"));
    assert!(deaths[0].status.contains('9') && !deaths[0].log_tail.is_empty(), "{deaths:?}");
    assert_eq!(stack.deaths(), Vec::new());
    let stopped = stack.stop().unwrap_or_else(|problems| panic!("{problems}"));
    assert!(stopped.iter().any(|one| one.tier == "db" && !one.clean), "{stopped:?}");
}
