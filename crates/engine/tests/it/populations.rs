//! Users of several kinds on the virtual clock: each kind has its share, its sessions, its pauses and its beginning.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use engine::{Audience, Program, RunOptions, Scenario, Second, Source, run_on};
use model::catalogue::load::{Arrivals, Arriving, Lifetime, Load, Pattern};
use model::catalogue::mix::Sessions;
use model::catalogue::population::Populations;
use model::record::interval::Interval;
use model::{Distribution, Result};

use crate::virtual_net::{MS, Reply, VirtualNet, ok};

const SCRIPT: &str = "
function read(user) get('/read/' .. user.number) end
function search(user) get('/search/' .. user.number) end
function edit(user) get('/edit/' .. user.number) end
function login(user) get('/login/' .. user.number) end";

/// Nine readers to one editor, who logs in first, keeps to a cycle and does nothing but edit.
fn wiki() -> Populations {
    let text = r#"
        [editors]
        share = 0.1
        sequence = ["edit"]
        begins_with = "login"
        cycle = { distribution = "fixed", value = 5.0 }
        [readers]
        share = 0.9
        mix = { read = 3, search = 1 }
    "#;
    let users =
        "default = 1\nramp_per_s = 1.0\nthink = { distribution = \"exponential\", mean = 2.0, max = 20.0 }";
    let (declared, users) =
        (toml::from_str(text).expect("populations"), toml::from_str(users).expect("users"));
    Populations::resolve(&Sessions::default(), &declared, &users).expect("no mistake")
}

struct Sum(Interval);

impl Audience for Sum {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.0.merge(second.interval);
        Ok(())
    }
}

/// The sessions of each user in the order in which the server saw them, and what was recorded.
fn run(load: &Load) -> (BTreeMap<u32, Vec<String>>, Interval) {
    let source = Source { populations: Some(wiki()), ..Source::of("session.lua", SCRIPT, "read") };
    let target = SocketAddr::from(([127, 0, 0, 1], 80));
    let options = RunOptions {
        drain_s: 10.0,
        ..RunOptions::of(Scenario::of(Program::Script(source)), load.clone(), target)
    };
    let (clock, net, log) = VirtualNet::new(|_, _| Reply::After(10 * MS, ok("")));
    let mut sum = Sum(Interval::empty(0));
    run_on(&options, clock, net, &mut sum).expect("the run works");
    let mut users = BTreeMap::<u32, Vec<String>>::new();
    for (_, text) in log.borrow().iter() {
        let mut parts = text.split(' ').nth(1).expect("a request line").split('/').skip(1);
        let (session, user) = (parts.next().expect("a session"), parts.next().expect("a user"));
        users.entry(user.parse().expect("a number")).or_default().push(session.to_string());
    }
    (users, sum.0)
}

fn editors(users: &BTreeMap<u32, Vec<String>>) -> BTreeSet<u32> {
    let edits = |sessions: &Vec<String>| sessions.iter().any(|name| name == "edit" || name == "login");
    users.iter().filter(|(_, sessions)| edits(sessions)).map(|(user, _)| *user).collect()
}

/// Whoever edits does nothing else, and logs in once, first.
fn expect_kept_apart(users: &BTreeMap<u32, Vec<String>>) {
    for user in editors(users) {
        let (first, rest) = users[&user].split_first().expect("a session");
        assert!(
            first == "login" && rest.iter().all(|name| name == "edit"),
            "user {user}: {:?}",
            users[&user]
        );
    }
}

#[test]
fn each_population_has_its_share_its_sessions_its_pauses_and_its_beginning() {
    let load = Load { users: 200, steady_s: 100.0, seed: 3, ..Load::default() };
    let (users, seen) = run(&load);
    expect_kept_apart(&users);
    assert_eq!((users.len(), editors(&users).len()), (200, 20));
    // A login and 19 edits each in 100 s of cycles of 5 s.
    assert!(editors(&users).iter().all(|user| users[user].len() == 20), "{users:?}");
    let populations = wiki();
    let begun = |index: usize| seen.choices[populations.get(index).begun_cell().expect("declared")];
    let of = |wanted: &[&str]| {
        users.values().flatten().filter(|session| wanted.contains(&session.as_str())).count() as u64
    };
    assert_eq!((begun(0), begun(1)), (of(&["login", "edit"]), of(&["read", "search"])));
    let pauses = &seen.pauses;
    assert_eq!(pauses.len(), 4, "edit, login, read, search");
    let mean_s = |slot: usize| pauses[slot].drawn_sum_s / pauses[slot].drawn as f64;
    assert_eq!((mean_s(0), mean_s(1)), (5.0, 5.0));
    assert!((mean_s(2) - 2.0).abs() < 0.1 && (mean_s(3) - 2.0).abs() < 0.15, "{} {}", mean_s(2), mean_s(3));
}

#[test]
fn who_takes_a_place_is_of_its_population_and_begins_as_its_first_user_did() {
    let lifetime = Some(Lifetime::Sessions(Distribution::Fixed { value: 4.0 }));
    let (users, _) = run(&Load { users: 50, steady_s: 200.0, lifetime, seed: 5, ..Load::default() });
    expect_kept_apart(&users);
    let editors = editors(&users);
    assert!(editors.len() > 5 * 5, "each place has had several: {editors:?}");
    let places: BTreeSet<u32> = editors.iter().map(|user| (user - 1) % 50).collect();
    assert_eq!(places.len(), 5, "and always the same ones: {places:?}");
}

#[test]
fn of_those_who_arrive_each_population_has_its_share() {
    for pattern in [Pattern::Constant, Pattern::Poisson] {
        let arrivals =
            Some(Arrivals { pattern, arriving: Arriving::Sessions, from_per_s: 10.0, to_per_s: 10.0 });
        let lifetime = Some(Lifetime::Sessions(Distribution::Fixed { value: 3.0 }));
        let load = Load { users: 1_000, steady_s: 100.0, arrivals, lifetime, seed: 7, ..Load::default() };
        let (users, _) = run(&load);
        expect_kept_apart(&users);
        let (editors, all) = (editors(&users).len() as f64, users.len() as f64);
        assert!(all > 800.0 && (editors - 0.1 * all).abs() <= 1.0, "{pattern:?}: {editors} of {all}");
    }
}

#[test]
fn whatever_is_asked_for_a_population_draws_the_same() {
    let load = Load { users: 30, steady_s: 60.0, seed: 9, ..Load::default() };
    let (few, many) = (run(&load).0, run(&Load { users: 60, ..load }).0);
    for user in few.keys() {
        let (one, other) = (&few[user], &many[user]);
        let both = one.len().min(other.len());
        assert!(
            both > 0 && one[..both] == other[..both],
            "user {user} is who it is, however many others there are"
        );
    }
}
