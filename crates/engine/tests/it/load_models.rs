//! What the server saw against what the load asked for: chi-square and Kolmogorov-Smirnov tests at the 0.999 quantile,
//! on the virtual clock and with fixed seeds.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use engine::{Audience, Program, RunOptions, Scenario, Second, Source, Totals, run_on};
use model::catalogue::load::{Arrivals, Arriving, Lifetime, Load, Pattern, Stage};
use model::catalogue::mix::{Matrix, Mix, Sessions};
use model::record::interval::Interval;
use model::{Distribution, Result};

use crate::virtual_net::{MS, Reply, VirtualNet, ok};

const SECOND_NS: f64 = 1e9;

/// A load on a server that answers everything after the same time.
struct Bench {
    script: String,
    mix: Mix,
    think: Option<Distribution>,
    cycle: Option<Distribution>,
    load: Load,
    answer_ns: u64,
}

struct Seen {
    /// (arrival at the server in seconds, path).
    requests: Vec<(f64, String)>,
    whole: Interval,
    #[expect(dead_code, reason = "kept for what a failing test prints")]
    totals: Totals,
}

struct Sum(Interval);

impl Audience for Sum {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.0.merge(second.interval);
        Ok(())
    }
}

/// Sessions that each ask once, for `/NAME/USER`, followed as `sessions` says.
fn bench(sessions: Sessions) -> Bench {
    let mix = sessions.resolve().expect("the mix is right");
    let function = |name: &String| {
        format!("function {name}(user) get('/{name}/' .. user.number, nil, {{ name = '{name}' }}) end\n")
    };
    Bench {
        script: mix.names.iter().map(function).collect(),
        mix,
        think: None,
        cycle: None,
        load: Load { users: 1, steady_s: 100.0, seed: 11, ..Load::default() },
        answer_ns: 10 * MS,
    }
}

fn visit() -> Sessions {
    Sessions { sequence: vec!["visit".to_string()], ..Sessions::default() }
}

impl Bench {
    fn run(&self) -> Seen {
        let source = Source { mix: self.mix.clone(), ..Source::of("session.lua", &self.script, "") };
        let scenario =
            Scenario { think: self.think, cycle: self.cycle, ..Scenario::of(Program::Script(source)) };
        let target = SocketAddr::from(([127, 0, 0, 1], 80));
        let options = RunOptions { drain_s: 10.0, ..RunOptions::of(scenario, self.load.clone(), target) };
        let answer_ns = self.answer_ns;
        let (clock, net, log) = VirtualNet::new(move |_, _| Reply::After(answer_ns, ok("")));
        let mut sum = Sum(Interval::empty(0));
        let totals = run_on(&options, clock, net, &mut sum).expect("the run works");
        let path = |text: &str| text.split(' ').nth(1).expect("a request line").to_string();
        let requests = log.borrow().iter().map(|(at, text)| (*at as f64 / SECOND_NS, path(text))).collect();
        Seen { requests, whole: sum.0, totals }
    }
}

impl Seen {
    /// The sessions in the order in which the server saw them, by user.
    fn by_user(&self) -> BTreeMap<&str, Vec<(f64, &str)>> {
        let mut users: BTreeMap<&str, Vec<(f64, &str)>> = BTreeMap::new();
        for (at, path) in &self.requests {
            let mut parts = path.split('/').skip(1);
            let (name, user) = (parts.next().expect("a session"), parts.next().expect("a user"));
            users.entry(user).or_default().push((*at, name));
        }
        users
    }

    fn count(&self, name: &str) -> f64 {
        let prefix = format!("/{name}/");
        self.requests.iter().filter(|(_, path)| path.starts_with(&prefix)).count() as f64
    }
}

/// The chi-square distribution's 0.999 quantile (Wilson and Hilferty 1931: at most 3 % too high).
fn chi_square_limit(freedom: usize) -> f64 {
    let n = freedom as f64;
    let z = 3.090_232;
    n * (1.0 - 2.0 / (9.0 * n) + z * (2.0 / (9.0 * n)).sqrt()).powi(3)
}

/// Counts against probabilities; what has probability 0 must never occur.
fn assert_shares(what: &str, counts: &[f64], shares: &[f64]) {
    let total: f64 = counts.iter().sum();
    let mut chi2 = 0.0;
    for (count, share) in counts.iter().zip(shares) {
        assert!(*share > 0.0 || *count == 0.0, "{what}: {count} of what never happens; {counts:?}");
        if *share > 0.0 {
            assert!(total * share >= 5.0, "{what}: too few draws to say anything: {counts:?}");
            chi2 += (count - total * share).powi(2) / (total * share);
        }
    }
    let freedom = shares.iter().filter(|share| **share > 0.0).count() - 1;
    let limit = if freedom == 0 { 1e-9 } else { chi_square_limit(freedom) };
    assert!(chi2 <= limit, "{what}: chi-square {chi2:.1} over {limit:.1}; {counts:?} against {shares:?}");
}

/// Samples against a continuous distribution function: Kolmogorov and Smirnov's 0.999 quantile.
fn assert_distributed(what: &str, samples: &mut [f64], distribution: impl Fn(f64) -> f64) {
    samples.sort_by(f64::total_cmp);
    let n = samples.len() as f64;
    assert!(n >= 500.0, "{what}: {n} samples are too few to say anything");
    let distance = samples.iter().enumerate().map(|(index, value)| {
        let expected = distribution(*value);
        (expected - index as f64 / n).abs().max(((index + 1) as f64 / n - expected).abs())
    });
    let distance = distance.fold(0.0, f64::max);
    let limit = 1.9495 / n.sqrt();
    assert!(distance <= limit, "{what}: distance {distance:.4} over {limit:.4} with {n} samples");
}

#[test]
fn sessions_come_by_their_weights() {
    let mix = BTreeMap::from([("a".to_string(), 70.0), ("b".to_string(), 25.0), ("c".to_string(), 5.0)]);
    let mut bench = bench(Sessions { mix, ..Sessions::default() });
    bench.load.users = 7;
    let seen = bench.run();
    let counts = ["a", "b", "c"].map(|name| seen.count(name));
    assert_shares("weights", &counts, &[0.70, 0.25, 0.05]);
    let recorded: Vec<f64> = seen.whole.choices.iter().map(|count| *count as f64).collect();
    assert_eq!(recorded, counts, "the record counts what the server saw");
}

#[test]
fn each_users_sessions_follow_the_matrix_row_by_row_and_begin_with_the_first() {
    let row = |entries: &[(&str, f64)]| entries.iter().map(|(name, p)| ((*name).to_string(), *p)).collect();
    let rows = BTreeMap::from([
        ("home".to_string(), row(&[("search", 60.0), ("detail", 30.0), ("home", 10.0)])),
        ("search".to_string(), row(&[("search", 20.0), ("detail", 79.0), ("buy", 1.0)])),
        ("detail".to_string(), row(&[("home", 55.0), ("search", 40.0), ("buy", 5.0)])),
        ("buy".to_string(), row(&[("home", 100.0)])),
    ]);
    let matrix = Matrix { first: "home".to_string(), total: 100.0, rows };
    let mut bench = bench(Sessions { matrix: Some(matrix.clone()), ..Sessions::default() });
    bench.load.users = 20;
    let seen = bench.run();
    let users = seen.by_user();
    assert_eq!(users.len(), 20);
    let mut transitions: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for (user, sessions) in &users {
        assert_eq!(sessions[0].1, "home", "user {user} begins with the first");
        sessions.windows(2).for_each(|pair| *transitions.entry((pair[0].1, pair[1].1)).or_default() += 1.0);
    }
    for (from, row) in &matrix.rows {
        let names: Vec<&String> = matrix.rows.keys().collect();
        let count = |next: &&String| transitions.get(&(from.as_str(), next.as_str())).copied().unwrap_or(0.0);
        let counts: Vec<f64> = names.iter().map(count).collect();
        let shares: Vec<f64> =
            names.iter().map(|next| row.get(*next).copied().unwrap_or(0.0) / 100.0).collect();
        assert_shares(&format!("row {from}"), &counts, &shares);
    }
    let beginnings: u64 = seen.whole.choices[16..].iter().sum();
    assert_eq!((beginnings, seen.whole.choices.iter().sum::<u64>()), (20, seen.requests.len() as u64));
}

#[test]
fn a_sequence_is_kept_by_each_user() {
    let order = ["a", "b", "a", "c"];
    let sequence = order.iter().map(|name| (*name).to_string()).collect();
    let mut bench = bench(Sessions { sequence, ..Sessions::default() });
    bench.load.users = 3;
    for (user, sessions) in bench.run().by_user() {
        let names: Vec<&str> = sessions.iter().map(|(_, name)| *name).collect();
        let expected: Vec<&str> = order.iter().copied().cycle().take(names.len()).collect();
        assert!(names.len() > 1000 && names == expected, "user {user}: {:?}…", &names[..12]);
    }
}

/// Pauses between an answer and the same user's next request; the server answers after `answer_ns`.
fn pauses(bench: &Bench) -> Vec<f64> {
    let seen = bench.run();
    let answer_s = bench.answer_ns as f64 / SECOND_NS;
    let users = seen.by_user();
    users.values().flat_map(|user| user.windows(2).map(|pair| pair[1].0 - pair[0].0 - answer_s)).collect()
}

#[test]
fn think_times_are_distributed_as_asked() {
    let mut uniform = Bench { think: Some(Distribution::Uniform { min: 0.1, max: 0.5 }), ..bench(visit()) };
    uniform.load.users = 10;
    assert_distributed("uniform", &mut pauses(&uniform), |x| ((x - 0.1) / 0.4).clamp(0.0, 1.0));
    let exponential = Distribution::Exponential { mean: 0.7, min: 0.0, max: 1e3 };
    let mut exponential = Bench { think: Some(exponential), ..uniform };
    exponential.load.steady_s = 300.0;
    assert_distributed("exponential", &mut pauses(&exponential), |x| 1.0 - (-x / 0.7).exp());
}

#[test]
fn cycle_times_run_from_start_to_start() {
    // Answers take 10 ms; a cycle shorter than that makes the next start late and is kept out of the test's way.
    let cycle = Distribution::Uniform { min: 0.02, max: 0.42 };
    let mut bench = Bench { cycle: Some(cycle), ..bench(visit()) };
    bench.load.users = 10;
    let seen = bench.run();
    let users = seen.by_user();
    let mut cycles: Vec<f64> =
        users.values().flat_map(|user| user.windows(2).map(|pair| pair[1].0 - pair[0].0)).collect();
    assert_distributed("cycles", &mut cycles, |x| ((x - 0.02) / 0.4).clamp(0.0, 1.0));
}

fn open(pattern: Pattern, arriving: Arriving, from_per_s: f64, to_per_s: f64) -> Bench {
    let arrivals = Arrivals { pattern, arriving, from_per_s, to_per_s };
    let load = Load { users: 500, steady_s: 100.0, seed: 11, arrivals: Some(arrivals), ..Load::default() };
    Bench { load, ..bench(visit()) }
}

fn gaps(seen: &Seen) -> Vec<f64> {
    seen.requests.windows(2).map(|pair| pair[1].0 - pair[0].0).collect()
}

#[test]
fn random_arrivals_are_exponentially_apart_and_each_is_a_new_user() {
    let seen = open(Pattern::Poisson, Arriving::Sessions, 40.0, 40.0).run();
    let count = seen.requests.len();
    assert!((count as f64 - 4000.0).abs() < 3.29 * 4000f64.sqrt(), "{count} arrivals");
    assert_distributed("gaps", &mut gaps(&seen), |x| 1.0 - (-40.0 * x).exp());
    assert_eq!(seen.by_user().len(), count, "nobody comes twice");
    assert_eq!((seen.whole.arrivals, seen.whole.arrivals_waited), (count as u64, 0));
    assert!(seen.whole.connects >= count as u64, "each brings its own connection");
}

#[test]
fn even_arrivals_are_evenly_apart_whatever_the_server_does() {
    let mut bench = open(Pattern::Constant, Arriving::Sessions, 50.0, 50.0);
    bench.answer_ns = 1_500 * MS;
    let seen = bench.run();
    assert_eq!(seen.requests.len(), 5000);
    let gaps = gaps(&seen);
    assert!(gaps.iter().all(|gap| (gap - 0.02).abs() < 1e-6), "{:?}…", &gaps[..5]);
}

#[test]
fn a_ramp_of_arrivals_has_as_many_in_each_part_as_its_rate_says() {
    let seen = open(Pattern::Poisson, Arriving::Sessions, 10.0, 90.0).run();
    let mut counts = [0.0; 10];
    seen.requests.iter().for_each(|(at, _)| counts[(*at as usize / 10).min(9)] += 1.0);
    let shares: Vec<f64> = (0..10).map(|part| (14.0 + 8.0 * f64::from(part)) / 500.0).collect();
    assert_shares("parts of the ramp", &counts, &shares);
}

#[test]
fn arrivals_of_operations_keep_their_users() {
    let seen = open(Pattern::Constant, Arriving::Operations, 50.0, 50.0).run();
    assert_eq!(seen.requests.len(), 5000);
    assert_eq!(seen.by_user().len(), 1, "one user is enough, as answers take less than the gap");
    assert_eq!(seen.whole.connects, 1, "and it keeps its connection");
}

#[test]
fn an_arrival_without_a_free_user_waits_and_is_timed_from_its_intended_start() {
    // Two users can serve 20/s at 100 ms each; 40/s are asked for over 10 s. Number k is due at 25·k ms; 0 and 1 begin
    // at once, then each user begins another one every 100 ms: 100 each, the last one number 199, due at 4.975 s, begun
    // at 9.925 s and answered at 10.025 s. The 198 others and the 200 that never began have waited.
    let mut bench = open(Pattern::Constant, Arriving::Sessions, 40.0, 40.0);
    bench.load.users = 2;
    bench.load.steady_s = 10.0;
    bench.answer_ns = 100 * MS;
    let seen = bench.run();
    assert_eq!((seen.whole.arrivals, seen.whole.arrivals_waited), (200, 398));
    let operation =
        &seen.whole.operations.iter().find(|part| part.completed > 0).expect("something completed");
    let (response_s, service_s) =
        (operation.response.max() as f64 / 1e6, operation.service.max() as f64 / 1e6);
    // A histogram of three digits.
    assert!((response_s - 5.05).abs() < 0.01, "the last one waited for half of the run: {response_s} s");
    assert!((service_s - 0.1).abs() < 0.001, "and was served at once: {service_s} s");
}

#[test]
fn who_arrives_follows_its_sessions_for_its_lifetime() {
    let mut bench = open(Pattern::Poisson, Arriving::Sessions, 10.0, 10.0);
    bench.load.lifetime = Some(Lifetime::Sessions(Distribution::Fixed { value: 3.0 }));
    bench.think = Some(Distribution::Fixed { value: 0.5 });
    bench.load.steady_s = 50.0;
    let seen = bench.run();
    let whole = |user: &&Vec<(f64, &str)>| user[0].0 < 45.0;
    let users = seen.by_user();
    assert!(users.values().filter(whole).all(|sessions| sessions.len() == 3));
    assert!(users.values().filter(whole).count() > 350);
}

#[test]
fn a_new_user_follows_one_whose_lifetime_is_over() {
    let mut bench = bench(visit());
    (bench.load.users, bench.think) = (5, Some(Distribution::Fixed { value: 0.09 }));
    bench.load.lifetime = Some(Lifetime::Operations(Distribution::Fixed { value: 4.0 }));
    let seen = bench.run();
    let users = seen.by_user();
    assert_eq!(seen.requests.len(), 5000, "a session every 100 ms in each place");
    assert_eq!(users.len(), 1250);
    assert!(users.values().all(|sessions| sessions.len() == 4));
    assert_eq!(seen.whole.connects, 1250, "each with a connection of its own");
    bench.load.lifetime =
        Some(Lifetime::Seconds(Distribution::Exponential { mean: 2.0, min: 0.0, max: 1e3 }));
    let lives = bench.run().by_user().len() as f64;
    // A life of 2 s on average ends with the think (90 % of the time, 45 ms later on average) or the session under way
    // (5 ms later): 2.041 s from one to the next. As renewals of exponential lives these are 5·100/2.041 = 245, beside
    // the first user of each place. Of the tenth that begin with a session's end, 1 − exp(−0.09/2) = 4.4 % are over
    // before they ask for anything: 1.
    assert!((lives - 249.0).abs() < 3.3 * 245f64.sqrt(), "{lives} lives");
}

#[test]
fn users_come_and_go_with_the_stages() {
    let stage = |level, ramp_s, hold_s| Stage { level, ramp_s, hold_s };
    let mut bench = bench(visit());
    bench.think = Some(Distribution::Fixed { value: 0.09 });
    bench.load.stages =
        vec![stage(10.0, 0.0, 10.0), stage(40.0, 10.0, 10.0), stage(5.0, 0.0, 10.0), stage(20.0, 0.0, 10.0)];
    (bench.load.users, bench.load.ramp_up_s, bench.load.steady_s) = (20, 40.0, 10.0);
    let seen = bench.run();
    for (from, to, users) in [(1.0, 9.0, 10.0), (21.0, 29.0, 40.0), (31.0, 39.0, 5.0), (41.0, 49.0, 20.0)] {
        let count = seen.requests.iter().filter(|(at, _)| (from..to).contains(at)).count() as f64;
        let found = count / (to - from) / 10.0;
        assert!(
            (found - users).abs() <= 0.02 * users + 0.01,
            "{found} users instead of {users} in {from} to {to} s"
        );
    }
    let ramp = seen.requests.iter().filter(|(at, _)| (14.0..16.0).contains(at)).count() as f64 / 20.0;
    assert!((ramp - 25.0).abs() < 1.5, "{ramp} users in the middle of the ramp from 10 to 40");
    assert_eq!(seen.by_user().len(), 40 + 15, "who comes back is a new user");
}
