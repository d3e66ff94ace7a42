//! A server that answers one request at a time, each in the same time, and a kit whose users ask it: the load line that
//! a find must come to follows from that time alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::time::Duration;

use model::Distribution;
use model::random::Random;
use tempfile::TempDir;
use testkit::origin::{Origin, Reply};

use crate::tool::overlay;

/// What each answer takes of the server.
const SERVICE: Duration = Duration::from_millis(20);
/// Its users' pauses, as in the kit below; seconds.
const THINK: Distribution = Distribution::Exponential { mean: 1.0, min: 0.0, max: 10.0 };
/// The kit's target for the 95th percentile; seconds.
const TARGET_S: f64 = 0.2;

const KIT: &str = r#"
format = 1
name = "queue"
version = 1
title = "A server with a known service time"
source = "made for this test"
needs = ["web+php", "sql"]
app = "app"
session = "session.lua"
front_page = "/"
default_size = "none"
default_stack = "apache-prefork-modphp-mariadb"
state = { drifts = false, why = "nothing is kept", reset = "none" }
sizes = { none = {} }
users = { default = 10, ramp_per_s = 20, think = { distribution = "exponential", mean = 1.0, max = 10.0 } }
mix = { visit = 1 }
qos = { all = ["p95 < 200ms"] }
"#;

/// The server, running, and the catalogue with its kit.
pub(crate) struct Queue {
    server: Origin,
    catalogue: TempDir,
}

impl Queue {
    pub(crate) fn start() -> Queue {
        let mut free_at = Duration::ZERO;
        let server = Origin::start(move |arrival| {
            free_at = free_at.max(arrival.at) + SERVICE;
            Reply::After(free_at - arrival.at)
        });
        let catalogue = overlay(&[
            ("kits/queue/kit.toml", KIT),
            ("kits/queue/session.lua", "function visit() operation 'Ask' get('/') end"),
            ("kits/queue/app/index.html", ""),
        ]);
        Queue { server: server.expect("a loopback port"), catalogue }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub(crate) fn catalogue(&self) -> &std::path::Path {
        self.catalogue.path()
    }
}

/// The most users whose 95th percentile is within the kit's target, by a simulation of the queue alone.
pub(crate) fn most_users() -> f64 {
    // More than one answer each service time is impossible: there the target is missed for certain.
    let (mut within, mut beyond) = (1, ((10.0 + TARGET_S) / SERVICE.as_secs_f64()) as usize);
    while beyond - within > 1 {
        let middle = usize::midpoint(within, beyond);
        if p95_s(middle) < TARGET_S { within = middle } else { beyond = middle }
    }
    within as f64
}

fn p95_s(users: usize) -> f64 {
    let mut random = Random::new(users as u64);
    let mut think_ns = || (THINK.sample(random.unit()) * 1e9) as u64;
    let service_ns = SERVICE.as_nanos() as u64;
    let mut arrivals: BinaryHeap<Reverse<u64>> = (0..users).map(|_| Reverse(think_ns())).collect();
    let (mut free_at_ns, mut responses_ns) = (0, Vec::new());
    while responses_ns.len() < 100_000 {
        let Reverse(arrived_ns) = arrivals.pop().expect("each user comes again");
        free_at_ns = arrived_ns.max(free_at_ns) + service_ns;
        responses_ns.push(free_at_ns - arrived_ns);
        arrivals.push(Reverse(free_at_ns + think_ns()));
    }
    responses_ns.sort_unstable();
    responses_ns[responses_ns.len() * 95 / 100] as f64 / 1e9
}

#[test]
fn the_line_of_the_queue_lies_below_what_the_server_can_answer() {
    let capacity_per_s = 1.0 / SERVICE.as_secs_f64();
    let most = most_users();
    // With as many users the target is met, so each of them asks once in a pause and at most the target.
    assert!((10.0..capacity_per_s * (1.0 + TARGET_S)).contains(&most), "{most} users");
}
