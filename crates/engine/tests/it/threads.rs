//! The same seed makes the same requests, however many threads of the generator make them: on real threads and sockets,
//! in the closed model, with even arrivals and with random ones.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use engine::script::feeder::{Feeder, Rows};
use engine::{Audience, Control, Program, RunOptions, Scenario, Second, Source, run};
use model::catalogue::kit::{FeedMode, OnEnd};
use model::catalogue::load::{Arrivals, Arriving, Lifetime, Load, Pattern};
use model::catalogue::mix::{Matrix, Sessions};
use model::{Distribution, Result};
use testkit::origin::Origin;

struct Nobody;

impl Audience for Nobody {
    fn second(&mut self, _second: &Second<'_>) -> Result<()> {
        Ok(())
    }
}

/// Every kind of draw that a session can make, in two requests.
const SESSION: &str = "
local function go(user, name)
    local one, own, all = feed.one(), feed.own(), feed.all()
    get('/' .. name .. '/' .. user.number, { n = random(1, 1000000), w = letters(5), u = unique(), z = zipf(50, 0.9) })
    get('/then', { one = one.n, own = own.n, all = all.n, u = unique(), c = tostring(chance(0.5)) })
end
function a(user) go(user, 'a') end
function b(user) go(user, 'b') end";

const SESSIONS: u64 = 240;

fn feeder(name: &str, mode: FeedMode, on_end: OnEnd) -> Feeder {
    let rows: Vec<String> = (0..2000).map(|n| format!("{{\"n\":{n}}}")).collect();
    let text = format!("[{}]", rows.join(","));
    let rows = Arc::new(Rows::read("n.json", text.as_bytes()).expect("rows"));
    Feeder { name: name.to_string(), rows, mode, on_end }
}

fn scenario(mix: &Sessions) -> Scenario {
    let source = Source {
        mix: mix.resolve().expect("the mix is right"),
        feeders: vec![
            feeder("one", FeedMode::Unique, OnEnd::Stop),
            feeder("own", FeedMode::PerUser, OnEnd::Repeat),
            feeder("all", FeedMode::Shared, OnEnd::Repeat),
        ],
        ..Source::of("session.lua", SESSION, "")
    };
    let think = Some(Distribution::Uniform { min: 0.0, max: 0.01 });
    Scenario { think, ..Scenario::of(Program::Script(source)) }
}

fn weights() -> Sessions {
    Sessions {
        mix: BTreeMap::from([("a".to_string(), 70.0), ("b".to_string(), 30.0)]),
        ..Sessions::default()
    }
}

fn matrix() -> Sessions {
    let row = |a: f64| BTreeMap::from([("a".to_string(), a), ("b".to_string(), 100.0 - a)]);
    let rows = BTreeMap::from([("a".to_string(), row(20.0)), ("b".to_string(), row(60.0))]);
    Sessions { matrix: Some(Matrix { first: "b".to_string(), total: 100.0, rows }), ..Sessions::default() }
}

/// What the server was asked for, sorted, by a run of a number of sessions on a number of threads.
fn requests(mix: &Sessions, load: &Load, threads: usize) -> Vec<String> {
    let origin = Origin::fixed(Duration::from_millis(1)).expect("a loopback port");
    let options = RunOptions {
        cpus: (0..threads).map(|thread| thread % 2).collect(),
        total_sessions: Some(SESSIONS),
        drain_s: 20.0,
        ..RunOptions::of(scenario(mix), load.clone(), origin.address())
    };
    let totals = run(&options, &Control::default(), &mut Nobody).expect("the run works");
    assert_eq!(totals.failed.iter().sum::<u64>(), 0, "{:?}", totals.evidence);
    let mut paths: Vec<String> =
        origin.ledger().exchanges.iter().map(|exchange| exchange.path.to_string()).collect();
    paths.sort_unstable();
    paths
}

fn expect_the_same(what: &str, mix: &Sessions, load: &Load, sessions: u64) {
    let alone = requests(mix, load, 1);
    assert_eq!(alone.len() as u64, 2 * sessions, "{what}: two requests a session");
    let mut different = alone.clone();
    different.dedup();
    assert!(different.len() == alone.len(), "{what}: unique numbers tell all of them apart");
    for threads in [2, 4] {
        let found = requests(mix, load, threads);
        let other = alone.iter().zip(&found).find(|(one, other)| one != other);
        assert!(found == alone, "{what}, {threads} threads, {} requests: {other:?}", found.len());
    }
    let other_seed = Load { seed: load.seed + 1, ..load.clone() };
    assert_ne!(requests(mix, &other_seed, 2), alone, "{what}: another seed, other requests");
}

fn open(pattern: Pattern) -> Load {
    let (arriving, from_per_s) = (Arriving::Sessions, 400.0);
    let arrivals = Some(Arrivals { pattern, arriving, from_per_s, to_per_s: from_per_s });
    Load { users: 100, steady_s: 60.0, seed: 9, arrivals, ..Load::default() }
}

#[test]
fn in_the_closed_model() {
    let load = Load { users: 13, steady_s: 60.0, seed: 9, ..Load::default() };
    expect_the_same("weights", &weights(), &load, SESSIONS);
    expect_the_same("a matrix", &matrix(), &load, SESSIONS);
    let lifetime = Some(Lifetime::Sessions(Distribution::Uniform { min: 1.0, max: 6.0 }));
    expect_the_same("lifetimes", &matrix(), &Load { lifetime, ..load }, SESSIONS);
}

#[test]
fn with_even_arrivals() {
    expect_the_same("even", &weights(), &open(Pattern::Constant), SESSIONS);
}

#[test]
fn with_random_arrivals() {
    expect_the_same("random", &weights(), &open(Pattern::Poisson), SESSIONS);
    let lifetime = Some(Lifetime::Sessions(Distribution::Fixed { value: 2.0 }));
    let lasting = Load { lifetime, ..open(Pattern::Poisson) };
    expect_the_same("random, two sessions each", &matrix(), &lasting, 2 * SESSIONS);
}
