//! What goes wrong is said before anything starts where that is possible, and with the server's own words where not.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};

use model::{Kind, Plan};
use testbed::{BuiltServers, Snapshots, Stack, StartOptions, Step, StepEvent};

use crate::bench::{Bench, EVENT, LAMP, get};
use crate::tiny::{overlay, plan};
use crate::waiting::processes_of;

const BROKEN: &str =
    "LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so\nNoSuchDirective 7\n";

fn refused(bench: &mut Bench, plan: &Plan) -> String {
    match bench.start(plan) {
        Ok(_) => panic!("the start must be refused"),
        Err(problems) => problems.to_string(),
    }
}

fn expect_nothing_started(bench: &Bench) {
    assert_eq!(processes_of(&bench.id), Vec::new());
    assert_eq!(bench.steps, Vec::new());
    let mut left: Vec<_> =
        fs::read_dir(bench.lab.dir()).expect("a directory").flatten().map(|e| e.file_name()).collect();
    left.sort();
    assert_eq!(left, [".plimsoll-lab", "sockets"], "no file was written");
}

#[test]
fn a_server_that_fails_to_start_shows_its_log_and_its_configuration() {
    let Some(mut bench) = Bench::new("broken", LAMP) else { return };
    bench.catalogue.overlay(overlay(&[("services/apache/httpd.conf.j2", BROKEN)]));
    let plan = bench.plan(LAMP, &[]);
    let text = refused(&mut bench, &plan);
    let conf = bench.failed_dir().join("web/conf/httpd.conf");
    assert!(text.starts_with(&format!("{}: tier web: ", conf.display())), "{text}");
    assert!(text.contains("Invalid command 'NoSuchDirective'"), "the server's own words: {text}");
    assert!(text.contains("try: "), "{text}");
    assert!(fs::read_to_string(&conf).expect("a kept file").contains("NoSuchDirective 7"));
    assert!(bench.failed_dir().join("web/logs/console.log").exists());
    assert_eq!(processes_of(&bench.id), Vec::new(), "the database that had started is gone too");
}

#[test]
fn a_server_that_never_gets_ready_is_ended() {
    let Some(mut bench) = Bench::new("late", LAMP) else { return };
    let mut plan = bench.plan(LAMP, &[]);
    let web = plan.tiers.last_mut().expect("a tier");
    web.service.program.binary = "sleep".into();
    web.service.program.args = vec!["1000".into()];
    web.service.ready.within_s = 0.3;
    let text = refused(&mut bench, &plan);
    assert!(text.contains("was not ready within 0.3 s; it wrote no log"), "{text}");
    assert_eq!(processes_of(&bench.id), Vec::new());
}

#[test]
fn a_port_that_is_asked_for_and_taken_is_refused_before_anything_starts() {
    let Some(mut bench) = Bench::new("port", LAMP) else { return };
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let plan = Plan { port: Some(port), ..bench.plan(LAMP, &[]) };
    let text = refused(&mut bench, &plan);
    assert!(
        text.contains(&format!("port {port} on 127.0.0.1 is taken")) && text.contains("try: another"),
        "{text}"
    );
    expect_nothing_started(&bench);
}

/// Another server, which answers on `port` before ours has had a chance to: issue 16.17.
fn answer_at(port: u16) {
    let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) else { return };
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            _ = stream.read(&mut [0; 1024]);
            _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nthief\n");
        }
    });
}

#[test]
fn a_server_in_whose_place_somebody_else_answers_is_not_ready() {
    let Some(bench) = Bench::new("stranger", LAMP) else { return };
    let mut plan = bench.plan(LAMP, &[]);
    // One that doesn't die of it: as a server does that binds its port late.
    let web = plan.tiers.last_mut().expect("a tier");
    web.service.program.binary = "sleep".into();
    web.service.program.args = vec!["1000".into()];
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|one| one.local_addr());
    let port = free.expect("a port").port();
    let refused = bench.lab.start(StartOptions {
        plan: &plan,
        catalogue: &bench.catalogue,
        snapshots: &Snapshots::new(),
        file_set: None,
        built: None,
        built_servers: &BuiltServers::new(),
        loading: None,
        web_port: Some(port),
        keep_failed: &bench.failed_dir(),
        ask: &|_, _| None,
        cancel: &|| false,
        on_step: &mut |event: StepEvent| {
            if event.tier == "web" && event.step == Step::Start && event.took.is_none() {
                answer_at(port);
            }
        },
    });
    let text = refused.expect_err("it is not our server that answers").to_string();
    let me = std::process::id();
    assert!(
        text.contains(&format!("is not who answers on port {port} of 127.0.0.1: process {me} (")),
        "{text}"
    );
    assert_eq!(processes_of(&bench.id), Vec::new());
}

#[test]
fn a_free_port_that_somebody_takes_in_between_is_replaced() {
    let Some(bench) = Bench::new("thief", LAMP) else { return };
    let plan = bench.plan(LAMP, &[]);
    let conf = bench.lab.dir().join("1/web/conf/httpd.conf");
    // Another program of this machine may be quicker: then it is the thief.
    let mut theft: Option<u16> = None;
    let stack = bench.lab.start(StartOptions {
        plan: &plan,
        catalogue: &bench.catalogue,
        snapshots: &Snapshots::new(),
        file_set: None,
        built: None,
        built_servers: &BuiltServers::new(),
        loading: None,
        web_port: None,
        keep_failed: &bench.failed_dir(),
        ask: &|_, _| None,
        cancel: &|| false,
        on_step: &mut |event: StepEvent| {
            if theft.is_none() && event.tier == "web" && event.step == Step::Start && event.took.is_none() {
                let text = fs::read_to_string(&conf).expect("the rendered file");
                let listen = text.lines().find_map(|line| line.strip_prefix("Listen 127.0.0.1:"));
                let port: u16 = listen.and_then(|port| port.parse().ok()).expect("a port");
                theft = Some(port);
                answer_at(port);
            }
        },
    });
    let stack: Stack = stack.unwrap_or_else(|problems| panic!("{problems}"));
    let stolen = theft.expect("the theft");
    let address = stack.web_address().expect("an address");
    assert_ne!(address.port(), stolen);
    assert!(get(address, "/index.php").contains("six times seven is 42"));
    assert_eq!(stack.tiers().len(), 2);
}

#[test]
fn all_mistakes_are_found_before_anything_starts() {
    let Some(mut bench) = Bench::new("mistakes", EVENT) else { return };
    bench.catalogue.overlay(overlay(&[(
        "kits/tiny/app/broken.php.j2",
        "<?php\necho {{ tiers.cache.ports.memcached }};\n",
    )]));
    let set = [("web.MaxRequestWorkers", "64"), ("app.pm.max_children", "2"), ("app.pm.start_servers", "9")];
    let plan = bench.plan(EVENT, &set);
    let text = refused(&mut bench, &plan);
    for said in [
        "set.web: MaxRequestWorkers 64 is not a multiple of ThreadsPerChild 25: Apache would use 50",
        "set.app: pm.start_servers 9 must lie between pm.min_spare_servers 1 and pm.max_spare_servers 3",
        "set.app: pm.max_spare_servers 3 must not exceed pm.max_children 2",
        "kits/tiny/app/broken.php.j2:2: ",
    ] {
        assert!(text.contains(said), "{said:?} is missing in:\n{text}");
    }
    expect_nothing_started(&bench);
}

#[test]
fn php_inside_a_threaded_server_is_refused() {
    let Some(mut bench) = Bench::new("threads", LAMP) else { return };
    let plan = bench.plan(LAMP, &[("web.mpm", "event")]);
    let text = refused(&mut bench, &plan);
    assert!(text.contains("php = module needs mpm = prefork"), "{text}");
    let plan = bench.plan(LAMP, &[("web.php", "fcgi"), ("web.mpm", "event")]);
    let text = refused(&mut bench, &plan);
    assert!(text.contains("needs a tier `app` with a socket `fastcgi`"), "{text}");
    expect_nothing_started(&bench);
}

#[test]
fn a_missing_server_names_the_line_for_an_administrator() {
    let Some(mut bench) = Bench::new("missing", LAMP) else { return };
    let mut plan = bench.plan(LAMP, &[]);
    plan.tiers[0].service.program.binary = "no-such-mariadbd".into();
    plan.tiers[1].service.program.files = vec!["/usr/lib/no-such-module.so".into()];
    let problems = bench.start(&plan).expect_err("both are missing");
    let text = problems.to_string();
    assert_eq!(problems.exit_code(), 2);
    assert!(
        text.contains("there is no program no-such-mariadbd")
            && text.contains("lacks /usr/lib/no-such-module.so")
    );
    assert!(text.contains("try: apt-get install --no-install-recommends mariadb-server-core"), "{text}");
    plan.tiers[0].service.packages.unpack = vec!["mariadb-server".into()];
    let text = refused(&mut bench, &plan);
    assert!(text.contains("try: `plimsoll doctor --install`, which unpacks mariadb-server"), "{text}");
    expect_nothing_started(&bench);
}

#[test]
fn a_start_that_is_cancelled_ends_what_had_started() {
    let Some(bench) = Bench::new("cancelled", LAMP) else { return };
    let mut plan = bench.plan(LAMP, &[]);
    let web = plan.tiers.last_mut().expect("a tier");
    web.service.program.binary = "sleep".into();
    web.service.program.args = vec!["1000".into()];
    let web_has_begun = std::cell::Cell::new(false);
    let result = bench.lab.start(StartOptions {
        plan: &plan,
        catalogue: &bench.catalogue,
        snapshots: &Snapshots::new(),
        file_set: None,
        built: None,
        built_servers: &BuiltServers::new(),
        loading: None,
        web_port: None,
        keep_failed: &bench.failed_dir(),
        ask: &|_, _| None,
        cancel: &|| web_has_begun.get(),
        on_step: &mut |event| web_has_begun.set(event.tier == "web"),
    });
    let problems = result.expect_err("it is cancelled");
    assert!(problems.iter().all(|problem| problem.kind == Kind::Interrupted), "{problems}");
    assert_eq!(processes_of(&bench.id), Vec::new());
}

#[test]
fn a_line_that_means_trouble_is_an_alarm_once() {
    let Some(mut bench) = Bench::new("alarm", LAMP) else { return };
    let plan = plan(&bench.catalogue, LAMP, &[]);
    let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let log = &stack.tier("web").expect("a tier").logs[0];
    let mut log = fs::OpenOptions::new().append(true).open(log).expect("the error log");
    log.write_all(b"[core:notice] AH00052: child pid 7 exit signal Segmentation fault (11)\n")
        .expect("a line");
    let alarms = stack.alarms();
    assert_eq!((alarms.len(), alarms[0].tier.as_str(), alarms[0].invalid), (1, "web", true), "{alarms:?}");
    assert_eq!(stack.alarms(), Vec::new());
}
