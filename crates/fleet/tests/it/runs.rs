//! Runs that agents drive for a controller over a real broker, whichever of the three is killed meanwhile.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use engine::{Audience, Control, Second, Stop, Target};
use fleet::bus::Name;
use fleet::controller::{Controller, Driven, Follower, Job, Member, News};
use model::Interval;
use model::catalogue::load::{Arrivals, Arriving, Load, Pattern};
use rustix::process::Signal;
use testkit::origin::Origin;

use crate::agents::{Key, agents, controller, expect_no_listener, start, words};
use crate::broker::Nats;
use crate::job::{BUILD, bundle};
use crate::wait::wait_until;

const LEASE_S: u64 = 15;

/// Why an agent that was killed is given up.
pub(crate) const LOST: &str = "nothing was heard of it for 15 s";

pub(crate) fn load(users: u32, steady_s: f64) -> Load {
    Load { users, steady_s, ..Load::default() }
}

pub(crate) fn origin() -> Origin {
    Origin::fixed(Duration::from_millis(1)).expect("a loopback port")
}

/// Keeps the seconds, and does something on each.
pub(crate) struct Keeps<F: FnMut(u32)> {
    pub(crate) seconds: Vec<Interval>,
    pub(crate) news: Vec<News>,
    pub(crate) on: F,
}

impl<F: FnMut(u32)> Audience for Keeps<F> {
    fn second(&mut self, second: &Second<'_>) -> model::Result<()> {
        self.seconds.push(second.interval.clone());
        (self.on)(second.interval.second);
        Ok(())
    }
}

impl<F: FnMut(u32)> Follower for Keeps<F> {
    fn news(&mut self, news: &News) {
        self.news.push(news.clone());
    }
}

/// What a run gave.
pub(crate) struct Ran {
    pub(crate) driven: model::Result<Driven>,
    pub(crate) seconds: Vec<Interval>,
    pub(crate) news: Vec<News>,
}

/// Has `members` drive a run; `on` is done with each of its seconds.
pub(crate) fn run(fleet: &mut (Controller, Vec<Member>), users: (&Target, Load), on: impl FnMut(u32)) -> Ran {
    run_without(0, fleet, users, on)
}

/// The same for a run that may lose that number of agents.
fn run_without(
    tolerated: u32,
    (controller, members): &mut (Controller, Vec<Member>),
    (target, load): (&Target, Load),
    on: impl FnMut(u32),
) -> Ran {
    let bundle = bundle(target.clone(), load, BUILD);
    let name = Name::of("r-1").expect("a name");
    let job = Job { run: name, members, observers: &[], bundle: &bundle, lease_s: LEASE_S, tolerated };
    let mut keeps = Keeps { seconds: Vec::new(), news: Vec::new(), on };
    let driven = controller.run(&job, &Control::default(), &mut keeps);
    Ran { driven, seconds: keeps.seconds, news: keeps.news }
}

/// The pages that were asked for, of which no two are alike, in their order.
pub(crate) fn pages(origin: &Origin) -> Vec<String> {
    let mut pages: Vec<String> = origin.ledger().exchanges.iter().map(|one| one.path.to_string()).collect();
    pages.sort_unstable();
    let all = pages.len();
    pages.dedup();
    assert_eq!(pages.len(), all, "a page was asked for twice");
    pages
}

/// All that the server saw is in the run's seconds, once, and in its sums.
pub(crate) fn expect_all_of(origin: &Origin, ran: &Ran) {
    let driven = ran.driven.as_ref().unwrap_or_else(|problems| panic!("{problems}"));
    let asked = pages(origin).len() as u64;
    let in_seconds: u64 =
        ran.seconds.iter().flat_map(|second| &second.operations).map(|row| row.completed).sum();
    let in_totals: u64 = driven.totals.completed.iter().sum();
    // A session, an operation and a request each.
    assert_eq!((in_seconds, in_totals), (3 * asked, 3 * asked));
    let numbers: Vec<u32> = ran.seconds.iter().map(|second| second.second).collect();
    assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>());
    assert!(driven.agents.iter().all(|agent| agent.lost.is_none()), "{:?}", driven.agents);
}

/// All that a server was asked for by that number of agents, which begin at the same time and leave nothing in their spools.
fn asked_by(number: usize, load: &Load, nats: &Nats) -> Vec<String> {
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let names: Vec<String> = (1..=number).map(|nth| format!("a{nth}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let _agents = agents(nats, folder.path(), &names, &key);
    let mut fleet = controller(nats, &key, number);
    let ran = run(&mut fleet, (&origin.address().into(), load.clone()), |_| ());
    expect_all_of(&origin, &ran);
    let driven = ran.driven.expect("it was looked at");
    assert_eq!(driven.agents.len(), number);
    for agent in &driven.agents {
        let late_ns = agent.late_ns.expect("it has begun");
        assert!(late_ns < 1_000_000_000, "{agent:?}");
        assert!(agent.offset.bound_ns() < 100_000_000 && !agent.seconds.is_empty(), "{agent:?}");
    }
    fleet.0.keep().unwrap_or_else(|problems| panic!("{problems}"));
    wait_until("its spools are gone", || {
        let left =
            |name: &&str| folder.path().join(name).read_dir().is_ok_and(|mut dir| dir.next().is_some());
        !names.iter().any(left)
    });
    pages(&origin)
}

fn expect_the_same_of_1_2_and_4(load: &Load) {
    let Some(nats) = Nats::begin() else { return };
    let load = Load { sessions: Some(400), ..load.clone() };
    let alone = asked_by(1, &load, &nats);
    assert_eq!(alone.len(), 400);
    for number in [2, 4] {
        assert_eq!(asked_by(number, &load, &nats), alone, "{number} agents");
    }
}

/// Arrivals in such numbers that nobody is turned away.
fn arriving(pattern: Pattern) -> Load {
    let (arriving, from_per_s) = (Arriving::Sessions, 200.0);
    let arrivals = Some(Arrivals { pattern, arriving, from_per_s, to_per_s: from_per_s });
    Load { arrivals, ..load(100, 1e6) }
}

#[test]
fn agents_drive_the_users_that_one_would_and_begin_at_the_same_time() {
    expect_the_same_of_1_2_and_4(&load(20, 1e6));
}

#[test]
fn agents_drive_the_even_arrivals_that_one_would() {
    expect_the_same_of_1_2_and_4(&arriving(Pattern::Constant));
}

#[test]
fn agents_drive_the_random_arrivals_that_one_would() {
    expect_the_same_of_1_2_and_4(&arriving(Pattern::Poisson));
}

#[test]
fn a_broker_that_is_killed_and_comes_back_costs_the_run_nothing() {
    let Some(mut nats) = Nats::begin() else { return };
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let _agents = agents(&nats, folder.path(), &["a1", "a2"], &key);
    let mut fleet = controller(&nats, &key, 2);
    let mut kills = 0;
    let ran = run(&mut fleet, (&origin.address().into(), load(10, 8.0)), |second| {
        if second == 2 || second == 4 {
            nats.kill();
            nats.start();
            kills += 1;
        }
    });
    assert_eq!(kills, 2);
    expect_all_of(&origin, &ran);
}

#[test]
fn an_agent_that_is_killed_is_named_and_ends_the_run_for_all() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let mut agents = agents(&nats, folder.path(), &["a1", "a2"], &key);
    let mut fleet = controller(&nats, &key, 2);
    let ran = run(&mut fleet, (&origin.address().into(), load(10, 60.0)), |second| {
        if second == 1 {
            agents[1].kill();
        }
    });
    let driven = ran.driven.unwrap_or_else(|problems| panic!("{problems}"));
    let lost: Vec<(&str, Option<&str>)> =
        driven.agents.iter().map(|agent| (agent.member.name.as_str(), agent.lost.as_deref())).collect();
    assert_eq!(lost, [("a1", None), ("a2", Some(LOST))]);
    let said: Vec<&News> = ran.news.iter().filter(|news| !matches!(news, News::Begun { .. })).collect();
    assert!(matches!(said[..], [News::Silent { .. }, News::Lost { .. }]), "{said:?}");
    // What both told, and what the living one told after that.
    assert!(ran.seconds.len() > 5, "{} seconds", ran.seconds.len());
    let after = origin.ledger().exchanges.len();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(origin.ledger().exchanges.len(), after, "the other agent goes on");
}

#[test]
fn the_others_go_on_without_an_agent_that_may_be_lost_and_it_has_no_part_any_more() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let agents = agents(&nats, folder.path(), &["a1", "a2"], &key);
    let mut fleet = controller(&nats, &key, 2);
    let users = |second: &Interval| second.busy_user_s + second.thinking_user_s;
    let ran = run_without(1, &mut fleet, (&origin.address().into(), load(10, 30.0)), |second| {
        match second {
            1 => agents[1].signal(Signal::STOP),
            // It was given up when this second was told: what both had to tell came late.
            20 => agents[1].signal(Signal::CONT),
            _ => {}
        }
    });
    let driven = ran.driven.unwrap_or_else(|problems| panic!("{problems}"));
    let lost: Vec<(&str, Option<&str>)> =
        driven.agents.iter().map(|agent| (agent.member.name.as_str(), agent.lost.as_deref())).collect();
    assert_eq!(lost, [("a1", None), ("a2", Some(LOST))]);
    let is_tolerated = |news: &News| matches!(news, News::Lost { is_tolerated: true, .. });
    assert_eq!(ran.news.iter().filter(|news| is_tolerated(news)).count(), 1, "{:?}", ran.news);
    assert!(ran.seconds.len() >= 30, "{} seconds", ran.seconds.len());
    let (first, late) = (users(&ran.seconds[1]), users(&ran.seconds[25]));
    assert!((first - 10.0).abs() < 0.5 && (late - 5.0).abs() < 0.5, "{first} users, then {late}");
    let after = origin.ledger().exchanges.len();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(origin.ledger().exchanges.len(), after, "the lost agent goes on");
}

#[test]
fn a_broker_with_a_small_disk_keeps_a_smaller_stream() {
    let Some(nats) = Nats::with_room("300M") else { return };
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let _agents = agents(&nats, folder.path(), &["a1"], &key);
    let mut fleet = controller(&nats, &key, 1);
    let sessions = Load { sessions: Some(50), ..load(5, 1e6) };
    let ran = run(&mut fleet, (&origin.address().into(), sessions), |_| ());
    expect_all_of(&origin, &ran);
}

#[test]
fn a_broker_whose_disk_is_full_ends_the_run_with_the_reason_and_what_was_told_is_kept() {
    let Some(nats) = Nats::on_disk_of("400M") else { return };
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let _agents = agents(&nats, folder.path(), &["a1", "a2"], &key);
    let mut fleet = controller(&nats, &key, 2);
    let ran = run(&mut fleet, (&origin.address().into(), load(10, 600.0)), |second| {
        if second == 2 {
            nats.fill_disk();
        }
    });
    let driven = ran.driven.unwrap_or_else(|problems| panic!("{problems}"));
    let lost: Vec<&str> = driven.agents.iter().filter_map(|agent| agent.lost.as_deref()).collect();
    let is_named = |why: &&str| why.starts_with("nothing that it told has come for 30 s: ");
    assert!(lost.iter().any(is_named), "{lost:?}");
    assert!(ran.seconds.len() >= 3, "{} seconds", ran.seconds.len());
    // Both are lost at once, and hear of it after the controller is done with them.
    let asked = || origin.ledger().exchanges.len();
    wait_until("nobody asks for anything any more", || {
        let before = asked();
        thread::sleep(Duration::from_millis(300));
        asked() == before
    });
}

#[test]
fn a_broker_that_has_no_room_for_a_run_is_refused_with_the_reason() {
    let Some(nats) = Nats::on_disk_of("8M") else { return };
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let _agents = agents(&nats, folder.path(), &["a1"], &key);
    let mut fleet = controller(&nats, &key, 1);
    let ran = run(&mut fleet, (&origin.address().into(), load(10, 1.0)), |_| ());
    let said = ran.driven.expect_err("there is no room").to_string();
    assert!(said.contains("insufficient storage") && said.contains("room on its disk"), "{said}");
    assert!(origin.ledger().exchanges.is_empty(), "nobody was asked for anything");
}

#[test]
fn load_ends_by_itself_when_its_controller_is_killed() {
    const LEASE_S: u64 = 2;
    let Some(nats) = Nats::begin() else { return };
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let _agents = agents(&nats, folder.path(), &["a1", "a2"], &key);
    let file = folder.path().join("bundle");
    let bundle = bundle(origin.address().into(), load(20, 60.0), BUILD).encode().expect("it is written");
    fs::write(&file, bundle).expect("a file");
    let (url, file, lease) = (nats.broker().url, file.to_string_lossy(), LEASE_S.to_string());
    let actor = env!("CARGO_BIN_EXE_fleet-actor");
    let command = [actor, "controller", &url, &key.0, &file, &lease].map(str::to_string);
    let mut controller = start(&command);
    wait_until("users are there", || !origin.ledger().exchanges.is_empty());
    controller.kill();
    let (killed, at) = (Instant::now(), origin.ledger().exchanges.len());
    wait_until("they are still there", || origin.ledger().exchanges.len() > at);
    let count = || origin.ledger().exchanges.len();
    let mut last = (count(), Instant::now());
    // Longer than any user pauses.
    while last.1.elapsed() < Duration::from_secs(1) {
        thread::sleep(Duration::from_millis(20));
        if count() != last.0 {
            last = (count(), Instant::now());
        }
    }
    let ended = last.1.duration_since(killed);
    let allowed = Duration::from_secs(LEASE_S + 2);
    assert!(ended < allowed + Duration::from_secs(1), "load went out for {ended:?} after the kill");
    assert!(ended > Duration::from_millis(500), "the lease ended after {ended:?}, and it is {LEASE_S} s");
}

#[test]
fn load_ends_by_itself_when_the_bus_says_nothing_any_more() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key, began) = (tempfile::tempdir().expect("a folder"), Key::new(), Instant::now());
    let origin = origin();
    let _agents = agents(&nats, folder.path(), &["a1", "a2"], &key);
    let (mut controller, members) = controller(&nats, &key, 2);
    let bundle = bundle(origin.address().into(), load(10, 60.0), BUILD);
    let name = Name::of("r-1").expect("a name");
    let job = Job { run: name, members: &members, observers: &[], bundle: &bundle, lease_s: 2, tolerated: 0 };
    let mut stopped = None;
    let on = |second| {
        if second == 1 {
            nats.signal(Signal::STOP);
            stopped = Some(Instant::now());
        }
    };
    let mut keeps = Keeps { seconds: Vec::new(), news: Vec::new(), on };
    let driven = controller.run(&job, &Control::default(), &mut keeps);
    let stopped = stopped.expect("it was stopped").duration_since(began);
    let last = origin.ledger().exchanges.iter().map(|one| one.arrived).max().expect("users were there");
    nats.signal(Signal::CONT);
    let driven = driven.unwrap_or_else(|problems| panic!("{problems}"));
    assert!(driven.agents.iter().all(|agent| agent.lost.is_some()), "{:?}", driven.agents);
    // The last beacon may have been a second old, and more than the lease has passed by then.
    let went_on = last.saturating_sub(stopped);
    assert!(went_on < Duration::from_secs(5), "load went out for {went_on:?} after the bus had stopped");
}

/// What a run with that agent is refused for; the server must have seen nothing of it.
fn refusal(nats: &Nats, key: &Key, words: &[String], target: &Target, origin: &Origin) -> String {
    let _agent = start(words);
    let mut fleet = controller(nats, key, 1);
    let ran = run(&mut fleet, (target, load(5, 5.0)), |_| ());
    assert_eq!(origin.ledger().exchanges.len(), 0, "load went out");
    ran.driven.expect_err("it is refused").to_string()
}

#[test]
fn agents_refuse_a_foreign_key_another_build_and_a_target_that_is_not_theirs() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let own: Target = origin.address().into();
    let refused = |name: &str, obeys: &Key, build: &str, target: &Target| {
        let words = words(&nats, folder.path(), name, &obeys.public(), build);
        let said = refusal(&nats, &key, &words, target, &origin);
        assert!(said.contains(&format!("agent {name} can't drive the run")), "{said}");
        said
    };
    let said = refused("a1", &Key::new(), BUILD, &own);
    assert!(said.contains(&key.public()) && said.contains("not among the `controllers`"), "{said}");
    let said = refused("a2", &key, "of yesterday", &own);
    assert!(said.contains("another build (of yesterday)"), "{said}");
    let elsewhere: Target = "192.0.2.1:80".parse::<std::net::SocketAddr>().expect("an address").into();
    let said = refused("a3", &key, BUILD, &elsewhere);
    assert!(said.contains("192.0.2.1 is not among the `targets`"), "{said}");
}

#[test]
fn what_the_user_stops_ends_everywhere_and_is_kept() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let _agents = agents(&nats, folder.path(), &["a1", "a2"], &key);
    let (mut controller, members) = controller(&nats, &key, 2);
    let bundle = bundle(origin.address().into(), load(10, 60.0), BUILD);
    let job = Job {
        run: Name::of("r-1").expect("a name"),
        members: &members,
        observers: &[],
        bundle: &bundle,
        lease_s: LEASE_S,
        tolerated: 0,
    };
    let control = Control::default();
    let stopping = control.clone();
    let on = |second| {
        if second == 1 {
            stopping.ask(Stop::Gently);
        }
    };
    let mut keeps = Keeps { seconds: Vec::new(), news: Vec::new(), on };
    let driven = controller.run(&job, &control, &mut keeps);
    let ran = Ran { driven, seconds: keeps.seconds, news: keeps.news };
    expect_all_of(&origin, &ran);
    assert!(ran.seconds.len() < 20, "{} seconds", ran.seconds.len());
}

#[test]
fn an_agent_listens_nowhere() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key) = (tempfile::tempdir().expect("a folder"), Key::new());
    let agents = agents(&nats, folder.path(), &["a1"], &key);
    let _fleet = controller(&nats, &key, 1);
    expect_no_listener(&agents[0]);
}
