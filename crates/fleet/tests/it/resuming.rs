//! Runs whose controller is killed and which another one takes over, over a real broker and with real agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use engine::{Audience, Control, Second};
use fleet::bundle::Bundle;
use fleet::bus::Name;
use fleet::controller::{Controller, Follower, Handover, Job, Member, News};
use fleet::want::Claim;
use model::Problem;
use model::record::plan::Load;
use tempfile::TempDir;
use testkit::origin::Origin;

use crate::agents::{Key, Process, agents, controller, start};
use crate::broker::Nats;
use crate::job::{BUILD, bundle};
use crate::runs::{Keeps, LOST, Ran, expect_all_of, load, origin, pages};
use crate::wait::wait_until;

/// Two agents, and the controller that has them drive a run and will be killed.
pub(crate) struct Scene {
    nats: Nats,
    folder: TempDir,
    key: Key,
    pub(crate) origin: Origin,
    agents: Vec<Process>,
    pub(crate) controller: Process,
}

impl Scene {
    /// Users are there when this returns.
    pub(crate) fn begin(load: Load, lease_s: u64) -> Option<Scene> {
        let nats = Nats::begin()?;
        let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
        let agents = agents(&nats, folder.path(), &["a1", "a2"], &key);
        let bundle = bundle(origin.address().into(), load, BUILD).encode().expect("it is written");
        let file = folder.path().join("bundle");
        fs::write(&file, bundle).expect("a file");
        let words = ["controller", &nats.broker().url, &key.0, &file.to_string_lossy(), &lease_s.to_string()];
        let actor = [env!("CARGO_BIN_EXE_fleet-actor")];
        let command: Vec<String> = actor.into_iter().chain(words).map(str::to_string).collect();
        let controller = start(&command);
        let scene = Scene { nats, folder, key, origin, agents, controller };
        wait_until("users are there", || scene.requests() > 100);
        Some(scene)
    }

    fn requests(&self) -> usize {
        self.origin.ledger().exchanges.len()
    }

    /// The agents have stopped by themselves: nothing goes out for longer than any user pauses.
    fn wait_for_silence(&self) {
        let mut last = (self.requests(), std::time::Instant::now());
        wait_until("nothing goes out any more", || {
            if self.requests() != last.0 {
                last = (self.requests(), std::time::Instant::now());
            }
            last.1.elapsed() > Duration::from_secs(1)
        });
    }

    fn handover(&self) -> Handover {
        let text = fs::read(self.folder.path().join("bundle.handover")).expect("it was left");
        serde_json::from_slice(&text).expect("it is whole")
    }

    /// Another controller than those before.
    fn take_over(&self, epoch: u64) -> model::Result<Controller> {
        let claim = Claim::of(epoch, "the next");
        Controller::take_over(self.nats.broker(), self.key.signer(), claim, &self.handover())
    }

    /// The run to its end, by another controller.
    pub(crate) fn resume(&self, epoch: u64) -> (Controller, Ran) {
        let mut controller = self.take_over(epoch).unwrap_or_else(|problems| panic!("{problems}"));
        let mut keeps = Keeps { seconds: Vec::new(), news: Vec::new(), on: |_| () };
        let driven = controller.resume(&self.handover(), &Control::default(), &mut keeps);
        (controller, Ran { driven, seconds: keeps.seconds, news: keeps.news })
    }

    fn spools(&self, agent: &str) -> PathBuf {
        self.folder.path().join(agent)
    }
}

fn is_empty(folder: &Path) -> bool {
    folder.read_dir().is_ok_and(|mut dir| dir.next().is_none())
}

fn was_going_on(ran: &Ran) -> bool {
    let taken = ran.news.iter().find_map(|news| match news {
        News::TakenOver { goes_on, .. } => Some(*goes_on),
        _ => None,
    });
    taken.expect("it was taken over")
}

#[test]
fn within_the_lease_users_go_on_and_nothing_is_lost_or_counted_twice() {
    let Some(mut scene) = Scene::begin(load(10, 10.0), 15) else { return };
    scene.controller.kill();
    let (_controller, ran) = scene.resume(2);
    assert!(was_going_on(&ran));
    expect_all_of(&scene.origin, &ran);
    assert!(ran.seconds.len() >= 10, "{} seconds", ran.seconds.len());
    // To begin anew takes three seconds at least.
    let mut arrived: Vec<Duration> = scene.origin.ledger().exchanges.iter().map(|one| one.arrived).collect();
    arrived.sort_unstable();
    let gap = arrived.windows(2).map(|pair| pair[1] - pair[0]).max().expect("users were there");
    assert!(gap < Duration::from_millis(1500), "nobody asked for anything for {gap:?}");
}

#[test]
fn after_the_lease_all_that_agents_told_is_there_and_can_be_forgotten() {
    let Some(mut scene) = Scene::begin(load(10, 60.0), 2) else { return };
    scene.controller.kill();
    scene.wait_for_silence();
    let asked = scene.requests();
    let (mut controller, ran) = scene.resume(2);
    assert!(!was_going_on(&ran));
    expect_all_of(&scene.origin, &ran);
    assert!((3..10).contains(&ran.seconds.len()), "{} seconds", ran.seconds.len());
    assert!(!is_empty(&scene.spools("a1")), "what nobody has kept yet is kept there");
    // It can be read again until it is kept.
    drop(controller);
    let (again, second) = scene.resume(3);
    controller = again;
    assert_eq!(format!("{:?}", second.seconds), format!("{:?}", ran.seconds), "bit for bit");
    controller.keep().unwrap_or_else(|problems| panic!("{problems}"));
    wait_until("the spools are gone", || ["a1", "a2"].iter().all(|agent| is_empty(&scene.spools(agent))));
    drop(controller);
    let said = scene.take_over(4).expect_err("the broker has forgotten it").to_string();
    assert!(said.contains("has nothing of run r-1 any more"), "{said}");
    assert_eq!(scene.requests(), asked, "nobody began anew");
}

#[test]
fn what_agents_could_not_tell_before_they_stopped_is_told_when_the_bus_is_back() {
    let Some(mut scene) = Scene::begin(load(10, 60.0), 2) else { return };
    scene.nats.kill();
    let at = scene.requests();
    wait_until("users ask for more", || scene.requests() > at + 100);
    scene.controller.kill();
    scene.wait_for_silence();
    scene.nats.start();
    let (_controller, ran) = scene.resume(2);
    assert!(!was_going_on(&ran));
    expect_all_of(&scene.origin, &ran);
}

#[test]
fn an_agent_that_was_killed_with_the_controller_is_lost_and_named() {
    let Some(mut scene) = Scene::begin(load(10, 60.0), 15) else { return };
    scene.controller.kill();
    scene.agents[1].kill();
    let (_controller, ran) = scene.resume(2);
    let driven = ran.driven.unwrap_or_else(|problems| panic!("{problems}"));
    let lost: Vec<(&str, Option<&str>)> =
        driven.agents.iter().map(|agent| (agent.member.name.as_str(), agent.lost.as_deref())).collect();
    assert_eq!(lost, [("a1", None), ("a2", Some(LOST))]);
    let in_seconds = ran.seconds.iter().flat_map(|second| &second.operations).map(|row| row.completed);
    let asked = pages(&scene.origin).len() as u64;
    let counted = in_seconds.sum::<u64>() / 3;
    assert!(counted > 100 && counted <= asked, "{counted} of {asked}");
    scene.wait_for_silence();
}

#[test]
fn a_controller_that_was_replaced_is_obeyed_no_more() {
    let Some(scene) = Scene::begin(load(10, 8.0), 15) else { return };
    // The first one is still there, and says what it wants every second.
    let (_controller, ran) = scene.resume(2);
    expect_all_of(&scene.origin, &ran);
    assert!(ran.seconds.len() >= 8, "{} seconds", ran.seconds.len());
}

/// A controller with a run that is not to begin: what it does where it hands the run over.
struct BeforeAnyGo<F>(F);

impl<F> Audience for BeforeAnyGo<F> {
    fn second(&mut self, second: &Second<'_>) -> model::Result<()> {
        panic!("second {} of a run that was not to begin", second.interval.second);
    }
}

impl<F: FnMut(&Handover) -> model::Result<()>> Follower for BeforeAnyGo<F> {
    fn news(&mut self, news: &News) {
        panic!("{news:?} of a run that was not to begin");
    }

    fn hands_over(&mut self, handover: &Handover) -> model::Result<()> {
        (self.0)(handover)
    }
}

/// A run of those agents, none of which may be lost.
fn job<'a>(members: &'a [Member], bundle: &'a Bundle) -> Job<'a> {
    let run = Name::of("r-1").expect("a name");
    Job { run, members, observers: &[], bundle, lease_s: 15, tolerated: 0 }
}

#[test]
fn agents_that_never_began_are_named_by_whoever_takes_over() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let _agents = agents(&nats, folder.path(), &["a1"], &key);
    let (mut first, members) = controller(&nats, &key, 1);
    let bundle = bundle(origin.address().into(), load(5, 5.0), BUILD);
    let ((hands, handed), (ends, end)) = (channel(), channel::<()>());
    let mut stands_still = BeforeAnyGo(move |handover: &Handover| {
        hands.send(handover.clone()).expect("the test waits for it");
        _ = end.recv();
        Err(Problem::environment("it stood still").into())
    });
    thread::scope(|scope| {
        let first =
            scope.spawn(|| first.run(&job(&members, &bundle), &Control::default(), &mut stands_still));
        let handover = handed.recv().expect("it is handed over");
        // One that wants nothing of the agents comes between.
        let between = Controller::begin(nats.broker(), key.signer(), Claim::of(2, "between"));
        let heard = between.map(|one| one.wait_for(Duration::from_secs(60), &|heard| heard.len() == 1));
        assert_eq!(heard.unwrap_or_else(|problems| panic!("{problems}")).len(), 1);
        let claim = Claim::of(3, "the next");
        let next = Controller::take_over(nats.broker(), key.signer(), claim, &handover);
        let mut next = next.unwrap_or_else(|problems| panic!("{problems}"));
        let mut keeps = Keeps { seconds: Vec::new(), news: Vec::new(), on: |_| () };
        let driven = next.resume(&handover, &Control::default(), &mut keeps);
        let driven = driven.unwrap_or_else(|problems| panic!("{problems}"));
        let lost = driven.agents[0].lost.as_deref();
        assert_eq!(lost, Some("it has no part in the run any more, and has not told its end"));
        assert_eq!((keeps.seconds.len(), origin.ledger().exchanges.len()), (0, 0), "load went out");
        drop(ends);
        first.join().expect("it ends").expect_err("it was to stand still");
    });
}

#[test]
fn what_the_broker_has_of_others_runs_is_listed_and_can_be_forgotten() {
    let Some(mut scene) = Scene::begin(load(10, 60.0), 2) else { return };
    scene.controller.kill();
    let (next, _) = controller(&scene.nats, &scene.key, 2);
    let listed = || next.leftovers().unwrap_or_else(|problems| panic!("{problems}"));
    wait_until(
        "the run is listed, with what was told",
        || matches!(&listed()[..], [one] if one.run.as_str() == "r-1" && one.messages > 0),
    );
    next.forget(&listed()[0].run).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(listed(), []);
    let said = scene.take_over(3).expect_err("it is forgotten").to_string();
    assert!(said.contains("has nothing of run r-1 any more"), "{said}");
    // There is no bundle of it, either.
    let left = Name::of("r-1").expect("a name");
    next.forget(&left).unwrap_or_else(|problems| panic!("what isn't there can be forgotten: {problems}"));
}

#[test]
fn nobody_begins_where_what_another_controller_needs_is_not_kept() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
    let _agents = agents(&nats, folder.path(), &["a1"], &key);
    let (mut controller, members) = controller(&nats, &key, 1);
    let bundle = bundle(origin.address().into(), load(5, 5.0), BUILD);
    let mut no_room = BeforeAnyGo(|_: &Handover| Err(Problem::environment("the disk is full").into()));
    let said = controller
        .run(&job(&members, &bundle), &Control::default(), &mut no_room)
        .expect_err("it is refused")
        .to_string();
    assert!(said.contains("the disk is full"), "{said}");
    drop(controller);
    let (next, _) = self::controller(&nats, &key, 1);
    let left = next.leftovers().unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(left, [], "a run that never began takes room");
    assert_eq!(origin.ledger().exchanges.len(), 0, "load went out");
}
