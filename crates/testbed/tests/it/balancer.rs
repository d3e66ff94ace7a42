//! Several Tomcats behind a balancer: a session stays with the one that has it, the others get the rest, and when one is
//! gone its sessions go on elsewhere.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use model::{Catalogue, Plan};
use rustix::process::Signal;
use testbed::Stack;

use crate::bench::{Bench, get};
use crate::figures::{largest_values, smaller};
use crate::tiny::{manifest, overlay, plan_of};
use crate::waiting::{deaths, kill, wait_until};

const HAPROXY: &str = "haproxy-tomcat-mariadb";
const APACHE: &str = "apache-tomcat-mariadb";
const NGINX: &str = "nginx-tomcat-mariadb";
const SMALL: [(&str, &str); 2] = [("app.Xms", "48M"), ("app.Xmx", "48M")];

/// A page that says which session it is, and how often that was there.
const COUNT: &str = "<% Integer seen = (Integer) session.getAttribute(\"seen\"); \
    session.setAttribute(\"seen\", seen == null ? 1 : seen + 1); %>\
    <%= session.getId() %> seen <%= session.getAttribute(\"seen\") %>\n";

fn with_sessions(catalogue: &mut Catalogue) {
    let manifest = manifest("sessions", &["web+servlet", "sql"], "/index.html", HAPROXY);
    catalogue.overlay(overlay(&[
        ("kits/sessions/kit.toml", &manifest),
        ("kits/sessions/session.lua", "function visit(user) end\n"),
        ("kits/sessions/app/index.html", "the front page\n"),
        ("kits/sessions/app/count.jsp", COUNT),
    ]));
}

fn plan(catalogue: &Catalogue, stack: &str, set: &[(&str, &str)]) -> Plan {
    plan_of("sessions", catalogue, stack, &[&SMALL, set].concat())
}

fn bench(name: &str, stack: &str) -> Option<Bench> {
    Bench::with(name, stack, with_sessions, |catalogue, stack| plan_of("sessions", catalogue, stack, &[]))
}

/// The session's number and how often it was seen, by a page that is asked for within it.
fn counted(address: SocketAddr, session: Option<&str>) -> (String, u32) {
    let within = session.map(|session| format!(";jsessionid={session}")).unwrap_or_default();
    let answer = get(address, &format!("/count.jsp{within}"));
    let line = answer.lines().find(|line| line.contains(" seen ")).unwrap_or_else(|| panic!("{answer}"));
    let (session, seen) = line.trim().split_once(" seen ").expect("two words");
    (session.to_string(), seen.parse().expect("a number"))
}

/// Which of the servers a session's number names.
fn route(session: &str) -> &str {
    session.rsplit_once('.').map_or("none", |(_, route)| route)
}

/// New sessions until each of `servers` has one: the first of each.
fn one_session_each(address: SocketAddr, servers: &[&str]) -> BTreeMap<String, String> {
    let mut sessions = BTreeMap::new();
    wait_until("a session on each server", || {
        let (session, seen) = counted(address, None);
        assert_eq!(seen, 1, "a new session");
        sessions.entry(route(&session).to_string()).or_insert(session);
        servers.iter().all(|server| sessions.contains_key(*server))
    });
    assert_eq!(sessions.len(), servers.len(), "{sessions:?}");
    sessions
}

fn sessions_stay_and_survive_as_new_ones(stack: &mut Stack) {
    let address = stack.web_address().expect("an address");
    let sessions = one_session_each(address, &["app-1", "app-2"]);
    for seen in 2..6 {
        for session in sessions.values() {
            assert_eq!(counted(address, Some(session)), (session.clone(), seen), "it has stayed where it is");
        }
    }
    kill(stack.tier("app").expect("a tier").pids[1], Signal::KILL);
    let deaths = deaths(stack);
    assert_eq!(deaths.len(), 1);
    assert_eq!((deaths[0].server().as_str(), deaths[0].living), ("app-2 of 2", 1), "{deaths:?}");
    // The one that is left doesn't know it.
    let orphan = &sessions["app-2"];
    wait_until("the balancer has noticed", || get(address, "/index.html").starts_with("HTTP/1.1 200"));
    let (session, seen) = counted(address, Some(orphan));
    assert_eq!((route(&session), seen), ("app-1", 1), "{orphan} goes on as {session}");
    assert_eq!(counted(address, Some(&sessions["app-1"])), (sessions["app-1"].clone(), 6));
}

#[test]
fn haproxy_keeps_a_session_with_its_tomcat_and_tells_how_many_live() {
    let Some(mut bench) = bench("haproxy", HAPROXY) else { return };
    let plan = plan(&bench.catalogue, HAPROXY, &[]);
    let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let address = stack.web_address().expect("an address");
    let (web, app) = (stack.tier("web").expect("a tier"), stack.tier("app").expect("a tier"));
    assert!(web.version.warning.is_none() && web.version.number.starts_with("2.6."), "{:?}", web.version);
    assert_eq!((app.pids.len(), app.logs.len()), (2, 4), "{app:?}");
    let asked = || _ = get(address, "/index.html");
    let wanted = [("requests", 1.0), ("backends.up", 2.0), ("connections.busy", 1.0)];
    let declared = || web.job.counters.iter().map(|counter| counter.name.clone());
    let seen = largest_values(web, asked, |seen| {
        declared().filter(|name| !seen.contains_key(name)).chain(smaller(seen, &wanted)).collect()
    });
    assert_eq!(seen["status.unanswered"], 0.0, "{seen:#?}");
    largest_values(app, asked, |seen| smaller(seen, &[("requests", 1.0)]));
    sessions_stay_and_survive_as_new_ones(&mut stack);
    // It asks every two seconds, and believes the third answer that doesn't come.
    let mut alarms = Vec::new();
    wait_until("the balancer says that a server is gone", || {
        alarms.extend(stack.alarms());
        alarms.iter().any(|alarm| alarm.tier == "web" && alarm.signal.as_deref() == Some("backends.down"))
    });
}

#[test]
fn apache_keeps_a_session_with_its_tomcat_by_http_and_by_ajp() {
    for proxy in ["http", "ajp"] {
        keeps_sessions(&format!("balancer-{proxy}"), APACHE, &[("app.instances", "2"), ("web.proxy", proxy)]);
    }
}

#[test]
fn nginx_keeps_a_session_with_its_tomcat() {
    keeps_sessions("balancer-nginx", NGINX, &[("app.instances", "2")]);
}

fn keeps_sessions(name: &str, stack: &str, set: &[(&str, &str)]) {
    let Some(mut bench) = bench(name, stack) else { return };
    let plan = plan(&bench.catalogue, stack, set);
    let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    sessions_stay_and_survive_as_new_ones(&mut stack);
}

#[test]
fn several_servers_without_a_balancer_and_more_heaps_than_memory_are_refused() {
    for (stack, set, said) in [
        (
            "tomcat-mariadb",
            [("web.instances", "2"), ("web.Xmx", "64M"), ("web.Xms", "64M")],
            "users would connect to the first of 2",
        ),
        (
            HAPROXY,
            [("app.instances", "16"), ("app.Xmx", "1000G"), ("app.Xms", "64M")],
            "16 heaps of 1073741824000 bytes",
        ),
    ] {
        let Some(mut bench) = bench("balancer-wrong", stack) else { return };
        let plan = plan_of("sessions", &bench.catalogue, stack, &set);
        let refused = bench.start(&plan).err().map(|problems| problems.to_string()).expect("it is refused");
        assert!(refused.contains(said), "{said} in {refused}");
    }
}
