//! Agents that watch tiers on their machines while others drive users, over a real broker.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use engine::{Audience, Control, Second};
use fleet::bus::Name;
use fleet::controller::{Controller, Driven, Follower, Job, Member, News};
use fleet::{WatchedBy, WatchedTier};
use observe::Answer;
use rustix::process::{Pid, Signal, kill_process};
use testkit::ending::skip;

use crate::agents::{Key, Process, agents, controller, start};
use crate::broker::Nats;
use crate::job::{BUILD, bundle};
use crate::runs::{LOST, load, origin};
use crate::wait::wait_until;

/// A server that is always at work, and the file with its number.
struct Busy {
    process: Process,
    pid_file: PathBuf,
}

impl Busy {
    fn start(folder: &Path) -> Busy {
        let process = start(&["/bin/sh", "-c", "while :; do :; done"].map(str::to_string));
        let pid_file = folder.join("busy.pid");
        fs::write(&pid_file, format!("{}\n", process.0.id())).expect("a file");
        Busy { process, pid_file }
    }

    fn tier(&self, name: &str) -> WatchedTier {
        WatchedTier { tier: name.to_string(), by: WatchedBy::PidFile(self.pid_file.clone()) }
    }
}

/// Keeps what observers told and what happened, and does something on each second of the run.
struct Keeps<F: FnMut(u32)> {
    answers: Vec<(String, Answer)>,
    news: Vec<News>,
    seconds: u32,
    on: F,
}

impl<F: FnMut(u32)> Audience for Keeps<F> {
    fn second(&mut self, second: &Second<'_>) -> model::Result<()> {
        self.seconds += 1;
        (self.on)(second.interval.second);
        Ok(())
    }
}

impl<F: FnMut(u32)> Follower for Keeps<F> {
    fn news(&mut self, news: &News) {
        self.news.push(news.clone());
    }

    fn observed(&mut self, agent: &Name, answer: Answer) {
        self.answers.push((agent.to_string(), answer));
    }
}

impl<F: FnMut(u32)> Keeps<F> {
    /// The points of that series, in the order in which they came.
    fn points(&self, tier: &str, name: &str) -> Vec<(f64, f64)> {
        let series = self.answers.iter().flat_map(|(_, answer)| &answer.series);
        let is_it = |one: &&model::record::Series| one.tier.as_deref() == Some(tier) && one.name == name;
        series.filter(is_it).flat_map(|one| one.points.clone()).collect()
    }
}

/// Has the members called `driving` drive users for so long, while those called by `watches` watch.
fn run<F: FnMut(u32)>(
    (controller, members): &mut (Controller, Vec<Member>),
    driving: &[&str],
    watches: BTreeMap<String, Vec<WatchedTier>>,
    steady_s: f64,
    on: F,
) -> (model::Result<Driven>, Keeps<F>, usize) {
    let origin = origin();
    let mut bundle = bundle(origin.address().into(), load(4, steady_s), BUILD);
    let of = |is_it: &dyn Fn(&str) -> bool| -> Vec<Member> {
        members.iter().filter(|member| is_it(member.name.as_str())).cloned().collect()
    };
    let (driving, observers) = (of(&|name| driving.contains(&name)), of(&|name| watches.contains_key(name)));
    bundle.watches = watches;
    let run = Name::of("r-1").expect("a name");
    let job =
        Job { run, members: &driving, observers: &observers, bundle: &bundle, lease_s: 15, tolerated: 0 };
    let mut keeps = Keeps { answers: Vec::new(), news: Vec::new(), seconds: 0, on };
    let driven = controller.run(&job, &Control::default(), &mut keeps);
    (driven, keeps, origin.ledger().exchanges.len())
}

/// Readings at each second of the run and at its end, none twice, of a tier that is at work.
fn expect_readings<F: FnMut(u32)>(keeps: &Keeps<F>, tier: &str, seconds: usize) {
    let cores = keeps.points(tier, "cpu.cores");
    assert!(cores.len() >= seconds, "{cores:?}");
    // A reading is a little after the end of its second.
    for (index, (at_s, _)) in cores.iter().take(seconds).enumerate() {
        let due_s = index as f64 + 1.0;
        assert!((due_s..due_s + 0.9).contains(at_s), "reading {index} at {at_s}: {cores:?}");
    }
    assert!(cores.is_sorted_by(|(one, _), (next, _)| one < next), "{cores:?}");
    let mean = cores.iter().map(|(_, cores)| cores).sum::<f64>() / cores.len() as f64;
    assert!(mean > 0.05, "it used {mean} cores");
    let memory = keeps.points(tier, "memory.bytes");
    assert!(
        memory.first().is_some_and(|(at_s, _)| *at_s < 0.9),
        "a level is read as the run begins: {memory:?}"
    );
}

#[test]
fn tiers_that_an_agent_watches_come_in_the_run_s_seconds_while_others_drive() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key) = (tempfile::tempdir().expect("a folder"), Key::new());
    let busy = Busy::start(folder.path());
    let _agents = agents(&nats, folder.path(), &["a1", "db"], &key);
    let mut fleet = controller(&nats, &key, 2);
    let watches = BTreeMap::from([("db".to_string(), vec![busy.tier("database")])]);
    let (driven, keeps, asked) = run(&mut fleet, &["a1"], watches, 4.0, |_| ());
    let driven = driven.unwrap_or_else(|problems| panic!("{problems}"));
    assert!(asked > 0 && keeps.seconds >= 4, "{asked} requests in {} seconds", keeps.seconds);
    expect_readings(&keeps, "database", 4);
    let sources: Vec<_> = keeps.answers.iter().flat_map(|(_, answer)| answer.sources.clone()).collect();
    assert_eq!(sources, [("database".to_string(), "/proc".to_string())]);
    assert!(keeps.answers.iter().all(|(agent, _)| agent == "db"), "nobody else watches");
    assert!(keeps.points("database", "host.cpus").iter().all(|(_, cpus)| *cpus >= 1.0));
    // Who watches drives nobody.
    let names: Vec<&str> = driven.agents.iter().map(|agent| agent.member.name.as_str()).collect();
    assert_eq!(names, ["a1"]);
    let [observer] = &driven.observers[..] else { panic!("{:?}", driven.observers) };
    assert_eq!((observer.agent.as_str(), observer.tiers.as_slice()), ("db", &["database".to_string()][..]));
    assert!(observer.lost.is_none() && observer.readings as usize == keeps.answers.len(), "{observer:?}");
    fleet.0.keep().unwrap_or_else(|problems| panic!("{problems}"));
    wait_until("its spool is gone", || {
        !folder.path().join("db").read_dir().is_ok_and(|mut spools| spools.next().is_some())
    });
}

#[test]
fn an_agent_may_drive_users_and_watch_at_once() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key) = (tempfile::tempdir().expect("a folder"), Key::new());
    let busy = Busy::start(folder.path());
    let _agents = agents(&nats, folder.path(), &["a1"], &key);
    let mut fleet = controller(&nats, &key, 1);
    let watches = BTreeMap::from([("a1".to_string(), vec![busy.tier("web")])]);
    let (driven, keeps, asked) = run(&mut fleet, &["a1"], watches, 3.0, |_| ());
    let driven = driven.unwrap_or_else(|problems| panic!("{problems}"));
    expect_readings(&keeps, "web", 3);
    assert!(asked > 0 && driven.agents.len() == 1 && driven.agents[0].lost.is_none(), "{:?}", driven.agents);
    assert!(driven.observers[0].lost.is_none(), "{:?}", driven.observers);
}

#[test]
fn an_observer_that_is_killed_is_named_and_the_run_goes_on_without_it() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key) = (tempfile::tempdir().expect("a folder"), Key::new());
    let busy = Busy::start(folder.path());
    let mut agents = agents(&nats, folder.path(), &["a1", "db"], &key);
    let mut fleet = controller(&nats, &key, 2);
    let watches = BTreeMap::from([("db".to_string(), vec![busy.tier("database")])]);
    let (driven, keeps, _) = run(&mut fleet, &["a1"], watches, 22.0, |second| {
        if second == 2 {
            agents[1].kill();
        }
    });
    let driven = driven.unwrap_or_else(|problems| panic!("{problems}"));
    assert!(keeps.seconds >= 22, "the run ended after {} seconds", keeps.seconds);
    assert!(driven.agents.iter().all(|agent| agent.lost.is_none()), "{:?}", driven.agents);
    assert_eq!(driven.observers[0].lost.as_deref(), Some(LOST));
    let lost: Vec<&News> =
        keeps.news.iter().filter(|news| matches!(news, News::ObserverLost { .. })).collect();
    let [News::ObserverLost { agent, tiers, second, why }] = lost[..] else { panic!("{:?}", keeps.news) };
    assert_eq!((agent.as_str(), tiers.as_slice(), why.as_str()), ("db", &["database".to_string()][..], LOST));
    assert!((2..5).contains(second), "its last reading was before {second}");
    assert!(!keeps.news.iter().any(|news| matches!(news, News::Lost { .. })), "{:?}", keeps.news);
}

#[test]
fn a_run_does_not_wait_for_an_observer_that_says_nothing_at_its_end() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key) = (tempfile::tempdir().expect("a folder"), Key::new());
    let busy = Busy::start(folder.path());
    let agents = agents(&nats, folder.path(), &["a1", "db"], &key);
    let mut fleet = controller(&nats, &key, 2);
    let watches = BTreeMap::from([("db".to_string(), vec![busy.tier("database")])]);
    let observer = Pid::from_child(&agents[1].0);
    let ended = Cell::new(Instant::now());
    let (driven, keeps, _) = run(&mut fleet, &["a1"], watches, 3.0, |second| {
        if second == 0 {
            kill_process(observer, Signal::STOP).expect("it is ours");
        }
        ended.set(Instant::now());
    });
    let driven = driven.unwrap_or_else(|problems| panic!("{problems}"));
    let waited = ended.get().elapsed();
    assert!(keeps.seconds >= 3 && driven.agents[0].lost.is_none(), "{:?}", driven.agents);
    assert_eq!(driven.observers[0].lost.as_deref(), Some("its last reading hasn't come"));
    assert!(waited.as_secs() < 12, "it was waited for {waited:?}");
}

#[test]
fn what_can_not_be_watched_is_said_before_anybody_drives() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key) = (tempfile::tempdir().expect("a folder"), Key::new());
    let _agents = agents(&nats, folder.path(), &["a1", "db"], &key);
    let mut fleet = controller(&nats, &key, 2);
    let mut busy = Busy::start(folder.path());
    let refused = |fleet: &mut (Controller, Vec<Member>), tiers: Vec<WatchedTier>| {
        let watches = BTreeMap::from([("db".to_string(), tiers)]);
        let (driven, _, asked) = run(fleet, &["a1"], watches, 3.0, |_| ());
        assert_eq!(asked, 0, "load went out");
        let said = driven.map(|_| ()).expect_err("it is refused").to_string();
        assert!(said.contains("agent db can't watch the run"), "{said}");
        said
    };
    let missing = WatchedBy::PidFile(folder.path().join("nobody.pid"));
    let unit = WatchedBy::Unit("plimsoll-has-no-such.service".to_string());
    let tiers =
        [("web", missing), ("app", unit)].map(|(tier, by)| WatchedTier { tier: tier.to_string(), by });
    let said = refused(&mut fleet, tiers.to_vec());
    for part in ["tier web: pid file", "No such file", "tier app: unit plimsoll-has-no-such.service"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    busy.process.kill();
    let said = refused(&mut fleet, vec![busy.tier("database")]);
    assert!(said.contains("which it names, doesn't run"), "{said}");
}

#[test]
fn a_tier_is_watched_by_its_cgroup() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key) = (tempfile::tempdir().expect("a folder"), Key::new());
    let busy = Busy::start(folder.path());
    let Some(group) = Group::with(&busy.process) else { return };
    let _agents = agents(&nats, folder.path(), &["a1", "db"], &key);
    let mut fleet = controller(&nats, &key, 2);
    let tier = WatchedTier { tier: "database".to_string(), by: WatchedBy::Cgroup(group.path()) };
    let unit = WatchedTier { tier: "web".to_string(), by: WatchedBy::Unit(group.name.clone()) };
    let watches = BTreeMap::from([("db".to_string(), vec![tier, unit])]);
    let (driven, keeps, _) = run(&mut fleet, &["a1"], watches, 3.0, |_| ());
    driven.unwrap_or_else(|problems| panic!("{problems}"));
    expect_readings(&keeps, "database", 3);
    expect_readings(&keeps, "web", 3);
    let sources: Vec<_> = keeps.answers.iter().flat_map(|(_, answer)| answer.sources.clone()).collect();
    assert!(
        sources.len() == 2 && sources.iter().all(|(_, source)| source == "cgroup2 cpu.stat"),
        "{sources:?}"
    );
}

/// A cgroup of a test, called as systemd calls a unit's.
struct Group {
    folder: PathBuf,
    name: String,
}

impl Group {
    /// One that has the process in it; nothing where this user may make none.
    fn with(process: &Process) -> Option<Group> {
        let root = observe::cgroup2_mount();
        let name = format!("plimsoll-test-{}.service", process.0.id());
        let folder = root.map(|root| root.join(&name)).filter(|folder| fs::create_dir(folder).is_ok());
        let Some(folder) = folder else {
            skip("no cgroup can be made here");
            return None;
        };
        let group = Group { folder, name };
        let put = fs::write(group.folder.join("cgroup.procs"), process.0.id().to_string());
        put.expect("a process of ours goes into a cgroup of ours");
        Some(group)
    }

    fn path(&self) -> String {
        format!("/{}", self.name)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process of it goes to where it came from; of one that has ended there is none.
        let all = fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
        let above = self.folder.parent().map(|above| above.join("cgroup.procs"));
        all.lines().for_each(|pid| above.iter().for_each(|above| drop(fs::write(above, pid))));
        _ = fs::remove_dir(&self.folder);
    }
}
