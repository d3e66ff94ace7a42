//! What servers tell about themselves: every counter of the catalogue is found in what the real server says, and moves
//! when it should.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use model::ServerJob;
use observe::Servers;
use testbed::Stack;

use crate::bench::{Bench, EVENT, LAMP, LIGHTTPD, get};

/// The servers of a stack, watched: the largest value of each (tier, series).
struct Watched {
    servers: Servers,
    began: Instant,
    seen: BTreeMap<(String, String), f64>,
}

impl Watched {
    fn new(stack: &Stack) -> Watched {
        let jobs: Vec<ServerJob> = stack.tiers().iter().map(|tier| tier.job.clone()).collect();
        Watched { servers: Servers::start(&jobs), began: Instant::now(), seen: BTreeMap::new() }
    }

    fn look(&mut self) {
        for series in self.servers.sample(self.began.elapsed().as_secs_f64()) {
            let key = (series.tier.expect("a server's figures have a tier"), series.name);
            let largest = series.points.iter().map(|(_, value)| *value).fold(f64::MIN, f64::max);
            let max = self.seen.entry(key).or_insert(largest);
            *max = max.max(largest);
        }
    }

    /// Looks, and does `work`, until `fits`.
    fn until(&mut self, work: impl Fn(), lacks: impl Fn(&Watched) -> Vec<String>) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !lacks(self).is_empty() {
            assert!(Instant::now() < deadline, "not seen: {:?}; seen: {:#?}", lacks(self), self.seen);
            work();
            self.look();
        }
    }

    /// Those of (tier, series, at least) that never were so large.
    fn lacks(&self, wanted: &[(&str, &str, f64)]) -> Vec<String> {
        let small =
            wanted.iter().filter(|(tier, name, least)| self.max(tier, name).is_none_or(|max| max < *least));
        small.map(|(tier, name, least)| format!("{name} of {tier}: {least}")).collect()
    }

    fn max(&self, tier: &str, name: &str) -> Option<f64> {
        self.seen.get(&(tier.to_string(), name.to_string())).copied()
    }
}

/// A request whose answer is not waited for.
fn ask(stack: &Stack, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(stack.web_address().expect("an address")).expect("a connection");
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    stream
}

/// Every counter has a value with this stack, its limit is what the manifest says; pages move the database's, and four
/// requests that hang make `busy`: (tier, series, at least).
fn tells_all(
    name: &str,
    stack: &str,
    set: &[(&str, &str)],
    limits: &[(&str, &str, f64)],
    busy: &[(&str, &str, f64)],
) {
    let Some(mut bench) = Bench::new(name, stack) else { return };
    let plan = bench.plan(stack, set);
    let running = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let declared: BTreeSet<(String, String)> = running
        .tiers()
        .iter()
        .flat_map(|tier| tier.job.counters.iter().map(|counter| (tier.name.clone(), counter.name.clone())))
        .collect();
    assert!(running.tiers().iter().all(|tier| !tier.job.counters.is_empty()), "each server tells something");
    for (tier, name, value) in limits {
        let job = &running.tier(tier).expect("a tier").job;
        let counter = job.counters.iter().find(|counter| counter.name == *name).expect("a counter");
        assert_eq!(counter.limit, Some(*value), "{tier} {name}");
    }
    let address = running.web_address().expect("an address");
    let mut watched = Watched::new(&running);
    watched.until(
        || _ = get(address, "/index.php"),
        |watched| {
            let missing = declared.iter().filter(|key| !watched.seen.contains_key(*key));
            missing.map(|(tier, name)| format!("{name} of {tier}")).collect()
        },
    );
    let moved = [("db", "sql.queries", 10.0), ("db", "sql.connects", 5.0), ("db", "sql.rows_sent", 40.0)];
    watched.until(|| _ = get(address, "/index.php"), |watched| watched.lacks(&moved));
    for tier in running.tiers() {
        let unanswered = watched.max(&tier.name, "status.unanswered");
        assert_eq!(unanswered, Some(0.0), "{}: {:#?}", tier.name, watched.seen);
    }
    let slow: Vec<TcpStream> = (0..4).map(|_| ask(&running, "/index.php?ask=SELECT+SLEEP(30)")).collect();
    watched.until(|| (), |watched| watched.lacks(busy));
    drop(slow);
}

#[test]
fn apache_with_php_inside_and_mariadb_tell_every_counter() {
    let set = [("web.MaxRequestWorkers", "77"), ("db.max_connections", "55")];
    let limits = [("web", "workers.busy", 77.0), ("db", "sql.connected", 55.0)];
    // The request for the status is one of them.
    let busy = [("web", "workers.busy", 5.0), ("web", "workers.writing", 5.0), ("db", "sql.running", 5.0)];
    tells_all("told-lamp", LAMP, &set, &limits, &busy);
}

#[test]
fn apache_with_events_and_php_fpm_tell_every_counter() {
    let set = [("app.pm", "static"), ("app.pm.max_children", "2")];
    let limits = [("app", "children.busy", 2.0), ("web", "workers.busy", 150.0)];
    let busy = [("app", "children.busy", 2.0), ("web", "workers.busy", 4.0), ("web", "connections.all", 4.0)];
    tells_all("told-event", EVENT, &set, &limits, &busy);
}

#[test]
fn lighttpd_and_php_fpm_tell_every_counter() {
    let set = [("web.server.max-fds", "3000"), ("app.pm.max_children", "3")];
    let limits = [("web", "connections.busy", 1000.0), ("app", "children.total", 3.0)];
    let busy = [
        ("web", "connections.busy", 5.0),
        ("web", "connections.handling", 4.0),
        ("app", "children.busy", 3.0),
        ("app", "children.reached", 0.1),
    ];
    tells_all("told-light", LIGHTTPD, &set, &limits, &busy);
}
