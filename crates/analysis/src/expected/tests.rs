use std::collections::BTreeMap;

use model::Distribution;
use model::catalogue::load::{Arrivals, Pattern};
use model::catalogue::mix::Order;
use model::catalogue::occurrence::SessionOperations;
use model::random::Random;

use super::*;

fn populations(text: &str) -> Populations {
    let users = "default = 1\nramp_per_s = 1.0\nthink = { distribution = \"fixed\", value = 5.0 }";
    let (declared, users) =
        (toml::from_str(text).expect("populations"), toml::from_str(users).expect("users"));
    Populations::resolve(&Default::default(), &declared, &users).expect("no mistake")
}

/// Readers and a few editors, who log in first and save after every other edit.
fn wiki() -> Populations {
    populations(
        r#"
        [editors]
        share = 0.1
        mix = { edit = 1 }
        begins_with = "login"
        think = { distribution = "uniform", min = 5.0, max = 15.0 }
        [readers]
        share = 0.9
        mix = { read = 3, search = 1 }
        "#,
    )
}

fn operations() -> Occurrences {
    let session = |name: &str, operations: &[(&str, Occurrence)]| {
        let operations = operations.iter().map(|(name, times)| (name.to_string(), *times)).collect();
        (name.to_string(), SessionOperations { operations, has_others: false })
    };
    [
        session("edit", &[("Edit", Occurrence::Times(1.0)), ("Save", Occurrence::Times(0.5))]),
        session("login", &[("Login", Occurrence::Times(1.0))]),
        session("read", &[("Read", Occurrence::Times(2.0)), ("Again", Occurrence::AtMost(1.0))]),
        session("search", &[("Search", Occurrence::Unknown)]),
    ]
    .into()
}

fn one(text: &str, load: &Load) -> Option<ExpectedSamples> {
    let targets = [text.parse().expect("a target")];
    expected_samples(&targets, load, &wiki(), &operations(), load.steady_s).pop()
}

#[test]
fn the_rate_of_an_operation_follows_from_shares_pauses_and_sessions() {
    let load = Load { users: 100, ..Load::default() };
    // 10 editors with 10 s each: an edit a second, of which half are saved.
    let save = one("Save p95 < 1s", &load).expect("known");
    assert_eq!(
        (save.needed, save.expected, save.enough_after_s, save.at_least),
        (100, 30.0, Some(200.0), false)
    );
    assert!(save.is_short());
    // 90 readers with 5 s each, three of four of whose sessions read two pages.
    let read = one("Read p95 < 1s", &load).expect("known");
    assert!((read.expected - 90.0 / 5.0 * 0.75 * 2.0 * 60.0).abs() < 1e-6 && !read.is_short(), "{read:?}");
    let again = one("Again p99 < 1s", &load).expect("known");
    assert!(again.at_least && (again.expected - 810.0).abs() < 1e-6, "{again:?}");
    assert_eq!(one("Search p95 < 1s", &load), None, "as often as a page says");
    assert_eq!(one("p95 < 1s", &load), None, "and so are all together");
    assert_eq!(one("throughput > 5/s", &load), None, "that is no matter of samples");
    let sessions = one("edit p95 < 1s", &load).expect("a session");
    assert_eq!(sessions.expected, 60.0);
    let login = one("Login mean < 1s", &load).expect("known");
    assert_eq!(
        (login.expected, login.enough_after_s),
        (0.0, None),
        "all have logged in before the steady state"
    );
}

#[test]
fn who_lives_briefly_logs_in_again_and_who_arrives_is_counted_by_the_rate() {
    let lifetime = Some(Lifetime::Sessions(Distribution::Fixed { value: 5.0 }));
    let brief = Load { users: 100, lifetime, ..Load::default() };
    assert_eq!(one("Login mean < 1s", &brief).map(|login| login.expected), Some(12.0), "each fifth session");
    let (pattern, arriving) = (Pattern::Poisson, Arriving::Sessions);
    let arrivals = Some(Arrivals { pattern, arriving, from_per_s: 20.0, to_per_s: 20.0 });
    let open = Load { users: 1_000, arrivals, lifetime, ..Load::default() };
    // Two editors a second, each with a login and four edits.
    assert_eq!(one("Login mean < 1s", &open).map(|login| login.expected), Some(120.0));
    assert_eq!(one("Save mean < 1s", &open).map(|save| save.expected), Some(240.0));
}

#[test]
fn of_users_who_do_not_pause_nothing_is_said() {
    let own =
        model::catalogue::mix::Sessions { mix: [("edit".to_string(), 1.0)].into(), ..Default::default() };
    let users = toml::from_str("default = 1\nramp_per_s = 1.0").expect("users");
    let busy = Populations::resolve(&own, &Default::default(), &users).expect("no mistake");
    let targets = ["Save p95 < 1s".parse().expect("a target")];
    assert_eq!(expected_samples(&targets, &Load::default(), &busy, &operations(), 60.0), []);
    let counted = Load { sessions: Some(100), ..Load::default() };
    assert_eq!(one("Save p95 < 1s", &counted), None);
}

/// A load, who the users are, what their sessions hold, and what is simulated of it: operations by name in the steady state.
struct Simulated {
    load: Load,
    populations: Populations,
    operations: Occurrences,
}

impl Simulated {
    /// Made up from a seed: one to three populations of two or three sessions, by weights or by a matrix.
    fn of(seed: u64) -> Simulated {
        let mut random = Random::new(seed);
        let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
        let (kinds, mut text, mut operations) = (1 + seed % 3, String::new(), Occurrences::new());
        for kind in 0..kinds {
            let share = 1.0 / kinds as f64;
            let (min, max) = (between(0.5, 3.0), between(4.0, 9.0));
            text += &format!(
                "[p{kind}]\nshare = {share}\nthink = {{ distribution = \"uniform\", min = {min}, max = {max} }}\n"
            );
            let names: Vec<String> = (0..2 + seed % 2).map(|number| format!("s{kind}_{number}")).collect();
            let row = |between: &mut dyn FnMut(f64, f64) -> f64| {
                let weights: Vec<f64> = names.iter().map(|_| between(0.05, 1.0)).collect();
                let total: f64 = weights.iter().sum();
                let cells =
                    names.iter().zip(&weights).map(|(name, weight)| format!("{name} = {}", weight / total));
                format!("{{ {} }}", cells.collect::<Vec<_>>().join(", "))
            };
            if (seed + kind).is_multiple_of(2) {
                text += &format!("mix = {}\n", row(&mut between));
            } else {
                let rows: Vec<String> =
                    names.iter().map(|name| format!("{name} = {}", row(&mut between))).collect();
                text +=
                    &format!("matrix = {{ first = \"{}\", rows = {{ {} }} }}\n", names[0], rows.join(", "));
            }
            for name in names {
                let times = Occurrence::Times(between(0.1, 3.0));
                let known = SessionOperations {
                    operations: [(name.to_uppercase(), times)].into(),
                    has_others: false,
                };
                operations.insert(name, known);
            }
        }
        let load = Load { users: 40 + (seed % 5) as u32 * 20, steady_s: 400.0, ..Load::default() };
        Simulated { load, populations: populations(&text), operations }
    }

    /// Counts the operations of sessions that end in the steady state, each of which takes 20 to 80 ms.
    fn run(&self, random: &mut Random) -> BTreeMap<String, f64> {
        let (warm_up_s, mut counts) = (60.0, BTreeMap::new());
        for user in 0..self.load.users {
            let population = self.populations.get(self.populations.of_user(user.into()));
            let (mut at_s, mut last) = (10.0 * random.unit(), None);
            while at_s < warm_up_s + self.load.steady_s {
                let session = next(&population.mix.order, last, random);
                last = Some(session);
                for (operation, times) in &self.operations[&population.sessions[session]].operations {
                    let Occurrence::Times(times) = times else { panic!("all are known") };
                    // Drawn around the mean: the whole part, and one more as often as its rest says.
                    let count = times.floor() + f64::from(u8::from(random.unit() < times.fract()));
                    at_s += count * (0.02 + 0.06 * random.unit());
                    if at_s >= warm_up_s && at_s < warm_up_s + self.load.steady_s {
                        *counts.entry(operation.clone()).or_insert(0.0) += count;
                    }
                }
                at_s += population.pauses[session].expect("users pause").sample(random.unit());
            }
        }
        counts
    }
}

fn next(order: &Order, last: Option<usize>, random: &mut Random) -> usize {
    let shares = match (order, last) {
        (Order::Weights(weights), _) => weights,
        (Order::Matrix { first, .. }, None) => return *first,
        (Order::Matrix { rows, .. }, Some(last)) => &rows[last],
        (Order::Sequence(order), _) => return order[0],
    };
    let mut left = random.unit();
    let found = shares.iter().position(|share| {
        left -= share;
        left < 0.0
    });
    found.unwrap_or(shares.len() - 1)
}

/// Answers take some hundredths of the pauses here, so that there are a little fewer than at best: no more than chance allows
/// above, and no less than a tenth below.
#[test]
fn a_simulated_run_has_as_many_samples_as_were_expected_of_mixes_never_looked_at() {
    let (mut judged, mut shortest) = (0, f64::INFINITY);
    for seed in 0..60 {
        let simulated = Simulated::of(seed);
        let Simulated { load, populations, operations } = &simulated;
        let targets: Vec<QosTarget> = operations
            .values()
            .flat_map(|session| session.operations.keys())
            .map(|name| format!("{name} p95 < 1s").parse().expect("a target"))
            .collect();
        let expected = expected_samples(&targets, load, populations, operations, load.steady_s);
        assert_eq!(expected.len(), targets.len());
        let counts = simulated.run(&mut Random::new(seed + 1_000));
        for one in expected {
            let name = one.target.operation.as_deref().expect("of an operation");
            let counted = counts.get(name).copied().unwrap_or_default();
            // Sessions are no Poisson process: their operations come several at once.
            let chance = 4.0 * (3.0 * one.expected).sqrt() + 4.0;
            assert!(counted <= one.expected + chance, "seed {seed}, {name}: {counted} of {}", one.expected);
            assert!(
                counted >= 0.9 * one.expected - chance,
                "seed {seed}, {name}: {counted} of {}",
                one.expected
            );
            if let Some(after_s) = one.enough_after_s.filter(|_| counted > 0.0) {
                shortest = shortest
                    .min(enough_after_s(one.needed, counted / load.steady_s).expect("some") / after_s);
            }
            judged += 1;
        }
    }
    assert!(
        judged > 200 && shortest > 0.6,
        "{judged} judged; the length that was needed, of that told: {shortest}"
    );
}
