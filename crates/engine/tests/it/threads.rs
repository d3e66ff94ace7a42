//! The same seed makes the same requests, however many threads of however many generators make them: on real threads and
//! sockets, in the closed model, with even arrivals and with random ones.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use engine::script::feeder::{Feeder, Rows};
use engine::{Audience, Barrier, Control, Program, RunOptions, Scenario, Second, Slice, Source, run};
use model::catalogue::kit::{FeedMode, OnEnd};
use model::catalogue::load::{Arrivals, Arriving, Lifetime, Load, Pattern};
use model::catalogue::mix::{Matrix, Sessions};
use model::catalogue::population::Populations;
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
function b(user) go(user, 'b') end
function login(user) go(user, 'login') end";

const SESSIONS: u64 = 240;

fn feeder(name: &str, mode: FeedMode, on_end: OnEnd) -> Feeder {
    let rows: Vec<String> = (0..2000).map(|n| format!("{{\"n\":{n}}}")).collect();
    let text = format!("[{}]", rows.join(","));
    let rows = Arc::new(Rows::read("n.json", text.as_bytes()).expect("rows"));
    Feeder { name: name.to_string(), rows, mode, on_end }
}

fn scenario(who: &Who) -> Scenario {
    let alike = || Source::of("session.lua", SESSION, "a").mix;
    let (mix, populations) = match who {
        Who::Alike(sessions) => (sessions.resolve().expect("the mix is right"), None),
        Who::Populations(populations) => (alike(), Some(populations.clone())),
    };
    let source = Source {
        mix,
        populations,
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

/// Who the users are.
enum Who {
    Alike(Sessions),
    Populations(Populations),
}

fn weights() -> Who {
    Who::Alike(Sessions {
        mix: BTreeMap::from([("a".to_string(), 70.0), ("b".to_string(), 30.0)]),
        ..Sessions::default()
    })
}

/// A third of them log in first and go by a matrix.
fn populations() -> Who {
    let text = r#"
        [some]
        share = 0.35
        begins_with = "login"
        matrix = { first = "b", rows = { a = { b = 1.0 }, b = { a = 0.5, b = 0.5 } } }
        [most]
        share = 0.65
        mix = { a = 2, b = 1 }
    "#;
    let users =
        "default = 1\nramp_per_s = 1.0\nthink = { distribution = \"uniform\", min = 0.0, max = 0.01 }";
    let (declared, users) =
        (toml::from_str(text).expect("populations"), toml::from_str(users).expect("users"));
    let resolved = Populations::resolve(&Sessions::default(), &declared, &users);
    Who::Populations(resolved.expect("no mistake"))
}

fn matrix() -> Who {
    let row = |a: f64| BTreeMap::from([("a".to_string(), a), ("b".to_string(), 100.0 - a)]);
    let rows = BTreeMap::from([("a".to_string(), row(20.0)), ("b".to_string(), row(60.0))]);
    let matrix = Some(Matrix { first: "b".to_string(), total: 100.0, rows });
    Who::Alike(Sessions { matrix, ..Sessions::default() })
}

/// What the server was asked for, sorted, by a run of a number of sessions on a number of threads.
fn requests(mix: &Who, load: &Load, threads: usize) -> Vec<String> {
    requests_of(mix, load, &[(None, threads)])
}

/// The same of several generators at a time, each with its lanes and a number of CPUs.
fn requests_of(mix: &Who, load: &Load, generators: &[(Option<Slice>, usize)]) -> Vec<String> {
    let origin = Origin::fixed(Duration::from_millis(1)).expect("a loopback port");
    let barriers: Vec<Barrier> = generators.iter().map(|_| Barrier::default()).collect();
    thread::scope(|scope| {
        for (index, (slice, cpus)) in generators.iter().enumerate() {
            let options = RunOptions {
                cpus: (0..*cpus).map(|thread| thread % 2).collect(),
                total_sessions: Some(SESSIONS),
                drain_s: 20.0,
                slice: *slice,
                barrier: slice.map(|_| barriers[index].clone()),
                ..RunOptions::of(scenario(mix), load.clone(), origin.address())
            };
            scope.spawn(move || {
                let totals = run(&options, &Control::default(), &mut Nobody).expect("the run works");
                assert_eq!(totals.failed.iter().sum::<u64>(), 0, "{:?}", totals.evidence);
            });
        }
        let sliced = || barriers.iter().zip(generators).filter(|(_, (slice, _))| slice.is_some());
        while !sliced().all(|(barrier, _)| barrier.is_armed()) {
            thread::yield_now();
        }
        let at = Instant::now() + Duration::from_millis(20);
        sliced().for_each(|(barrier, _)| barrier.set(at));
    });
    let mut paths: Vec<String> =
        origin.ledger().exchanges.iter().map(|exchange| exchange.path.to_string()).collect();
    paths.sort_unstable();
    paths
}

fn expect_the_same(what: &str, mix: &Who, load: &Load, sessions: u64) {
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
    let slice = |first, lanes| Some(Slice { first, lanes, all: 4 });
    let two = [(slice(0, 3), 2), (slice(3, 1), 1)];
    let four = [0, 1, 2, 3].map(|lane| (slice(lane, 1), 1));
    for generators in [&two[..], &four[..]] {
        let found = requests_of(mix, load, generators);
        let other = alone.iter().zip(&found).find(|(one, other)| one != other);
        assert!(
            found == alone,
            "{what}, {} generators, {} requests: {other:?}",
            generators.len(),
            found.len()
        );
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
    expect_the_same("lifetimes", &matrix(), &Load { lifetime, ..load.clone() }, SESSIONS);
    expect_the_same("two populations", &populations(), &load, SESSIONS);
    expect_the_same("two populations, lifetimes", &populations(), &Load { lifetime, ..load }, SESSIONS);
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
    expect_the_same("random, two populations", &populations(), &lasting, 2 * SESSIONS);
    expect_the_same("random, two sessions each", &matrix(), &lasting, 2 * SESSIONS);
}
