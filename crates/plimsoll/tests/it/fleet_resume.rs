//! A run that a named fleet drives, whose process is killed, and which another process takes over: nothing that the server was asked for is
//! missing in it, and nothing is there twice.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use engine::null_server::NullServer;
use model::OperationKind;
use serde_json::Value as Json;
use store::{Run, Runs};
use tempfile::TempDir;

use crate::fleet_placed::streams;
use crate::standing::Standing;
use crate::target::null_kit;
use crate::tool::{Finished, Home, Running, have, wait_for};

/// A fleet of agents on this machine, and a server that somebody else started.
pub(crate) struct Lab {
    // In the order in which they end.
    agents: Vec<Standing>,
    /// The numbers of the agents' processes.
    pub(crate) pids: Vec<u32>,
    pub(crate) server: NullServer,
    pub(crate) catalogue: TempDir,
    pub(crate) home: Home,
}

impl Lab {
    /// With two agents, where there is a bus.
    fn set_up() -> Option<Lab> {
        Lab::of(2)
    }

    /// With that number of agents, `a1` and on, where there is a bus.
    pub(crate) fn of(agents: usize) -> Option<Lab> {
        if !have("nats") {
            return None;
        }
        let home = Home::new();
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("it has one").port();
        drop(free);
        let names: Vec<String> = (1..=agents).map(|nth| format!("a{nth}")).collect();
        let words = names.join(" --agent ");
        home.plimsoll(&format!("fleet init lab --listen 127.0.0.1:{port} --agent {words}")).run().expect(0);
        home.plimsoll("fleet up lab").run().expect(0);
        let agent = |name: &String| {
            let creds = home.path().join(format!("fleets/lab/agents/{name}.toml"));
            let agent = home.plimsoll("agent --cpus 0 --creds").arg(creds).arg("--spool");
            agent.arg(home.path().join("spools").join(name)).start()
        };
        let agents: Vec<Running> = names.iter().map(agent).collect();
        let pids = agents.iter().map(Running::pid).collect();
        let agents = agents.into_iter().map(Running::until_dropped).collect();
        let server = NullServer::start(None).expect("a loopback port");
        Some(Lab { agents, pids, server, catalogue: null_kit(), home })
    }

    /// A run of that length, which is killed when that number of its seconds is kept.
    fn killed(&self, steady: &str, fleet: &str, seconds: usize) -> Run {
        let address = self.server.address();
        let words = format!(
            "run null --target http://{address} --users 4 --ramp-up 0s --steady {steady} --ramp-down 0s {fleet} --catalogue"
        );
        let running = self.home.plimsoll(&words).arg(self.catalogue.path()).start().until_dropped();
        let run = wait_for("seconds are kept", || {
            let run = Runs::open(self.home.path()).and_then(|runs| runs.find("last")).ok()?;
            let is_enough = run.under_way() && run.seconds().is_ok_and(|kept| kept.len() >= seconds);
            is_enough.then_some(run)
        });
        running.kill();
        run
    }

    fn resume(&self, words: &str) -> Finished {
        self.home.plimsoll(&format!("run --resume last {words} --catalogue")).arg(self.catalogue.path()).run()
    }

    /// Users are there no more: no pause of theirs is a twentieth as long.
    fn wait_for_silence(&self) {
        let mut last = (self.server.served(), Instant::now());
        wait_for("nothing is asked for any more", || {
            if self.server.served() != last.0 {
                last = (self.server.served(), Instant::now());
            }
            (last.1.elapsed() > Duration::from_secs(1)).then_some(())
        });
    }

    /// Each request of the server's is in one of the run's seconds, which follow each other.
    fn expect_all_of_it(&self) -> usize {
        let run = Runs::open(self.home.path()).and_then(|runs| runs.find("last")).expect("it is kept");
        let seconds = run.seconds().expect("it has seconds");
        let names = seconds.names().to_vec();
        let mut asked = 0;
        let mut numbers = Vec::new();
        for second in seconds {
            let second = second.expect("it is whole");
            numbers.push(second.second as usize);
            let rows = names.iter().zip(&second.operations);
            let requests = rows.filter(|(name, _)| name.kind == OperationKind::Request);
            asked += requests.map(|(_, row)| row.completed).sum::<u64>();
        }
        assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
        let events = run.events().expect("it has events");
        let phases: Vec<&str> =
            events.iter().filter(|one| one.kind == "phase").map(|one| one.text.as_str()).collect();
        assert_eq!(phases.iter().collect::<BTreeSet<_>>().len(), phases.len(), "{phases:?}");
        assert_eq!(phases[0], "ramp-up begins");
        // The first process asked for the front page.
        assert_eq!(asked + 1, self.server.served());
        numbers.len()
    }
}

impl Drop for Lab {
    /// A test that fails leaves nothing running.
    fn drop(&mut self) {
        self.agents.clear();
        self.home.plimsoll("fleet down lab").run();
    }
}

fn texts(list: &Json) -> Vec<&str> {
    list.as_array().map(Vec::as_slice).unwrap_or_default().iter().filter_map(Json::as_str).collect()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut dir| dir.next().is_none())
}

#[test]
fn a_run_whose_process_is_killed_goes_on_to_its_end_with_another() {
    let Some(lab) = Lab::set_up() else { return };
    let run = lab.killed("14s", "--fleet lab", 3);
    lab.home
        .plimsoll("show last")
        .run()
        .expect(0)
        .says(&format!("plimsoll run --resume {}", run.record().id));
    let at = lab.server.served();
    let ended = lab.resume("--json");
    let record = ended.json();
    assert_eq!(record["outcome"], "completed", "{:#} {}", record["verdict"], ended.stderr);
    assert_eq!(record["id"], run.record().id);
    let agents = record["fleet"]["agents"].as_array().expect("agents");
    assert!(agents.len() == 2 && agents.iter().all(|agent| agent["lost"].is_null()), "{agents:#?}");
    assert!(lab.server.served() > at, "users went on");
    assert!(lab.expect_all_of_it() >= 14);
    let unseen = texts(&record["unseen"]);
    assert!(unseen.iter().any(|text| text.contains("another one has taken it over")), "{unseen:?}");
    let series = lab.home.plimsoll("show last --json --series").run().expect(0).json();
    let series = series.to_string();
    assert!(series.contains("generator"), "{series}");
    lab.home
        .plimsoll("show last")
        .run()
        .expect(0)
        .says("driven by 2 agents of fleet lab")
        .says("taken it over");
    wait_for("the agents have nothing left to tell", || {
        ["a1", "a2"].iter().all(|agent| is_empty(&lab.home.path().join("spools").join(agent))).then_some(())
    });
}

#[test]
fn a_run_that_is_taken_over_when_its_agents_have_stopped_has_all_that_they_told_and_is_interrupted() {
    let Some(lab) = Lab::set_up() else { return };
    lab.killed("120s", "--fleet lab", 3);
    lab.home.plimsoll("fleet status lab").run().expect(0).says("plimsoll run --resume");
    lab.wait_for_silence();
    let asked = lab.server.served();
    let record = lab.resume("--json").expect(105).json();
    assert_eq!(record["outcome"], "interrupted", "{:#}", record["verdict"]);
    assert_eq!(lab.server.served(), asked, "nobody began anew");
    let seconds = lab.expect_all_of_it();
    assert!((15..40).contains(&seconds), "{seconds} seconds");
    let unseen = texts(&record["unseen"]);
    assert!(unseen.iter().any(|text| text.contains("had stopped by themselves")), "{unseen:?}");
    lab.resume("").expect(2).says("has ended, and its record is finished");
    wait_for("the agents have nothing left to tell", || {
        ["a1", "a2"].iter().all(|agent| is_empty(&lab.home.path().join("spools").join(agent))).then_some(())
    });
    // The fleet is as good as new.
    let words = format!(
        "run null --target http://{} --users 2 --ramp-up 0s --steady 30s --ramp-down 0s --fleet lab --catalogue",
        lab.server.address()
    );
    let running = lab.home.plimsoll(&words).arg(lab.catalogue.path()).start().until_dropped();
    wait_for("its requests", || (lab.server.served() > asked + 100).then_some(()));
    lab.resume("").expect(2).says("is still under way");
    running.end();
}

#[test]
fn what_killed_runs_left_on_the_broker_is_given_back_by_the_next_one_unless_they_can_be_taken_over() {
    let Some(lab) = Lab::set_up() else { return };
    let run = lab.killed("60s", "--fleet lab", 1);
    let of_run = |streams: &[String]| streams.iter().filter(|name| name.ends_with(&run.record().id)).count();
    // A trial of a study, which nobody takes over.
    let words =
        format!("find null --target http://{} --fleet lab --window 5s --catalogue", lab.server.address());
    let find = lab.home.plimsoll(&words).arg(lab.catalogue.path()).start().until_dropped();
    wait_for("a trial is under way, and has told something", || {
        let trial = store::under_way(lab.home.path()).ok()??;
        trial.seconds().is_ok_and(|kept| kept.len() >= 1).then_some(())
    });
    find.kill();
    // Its stream and its bundle's beside those of the run.
    assert_eq!(streams(&lab.home).len(), 4);
    let one = || {
        let load = "--users 2 --ramp-up 0s --steady 1s --ramp-down 0s";
        let run = format!("run null --target http://{} {load} --fleet lab --catalogue", lab.server.address());
        lab.home.plimsoll(&run).arg(lab.catalogue.path()).run()
    };
    let next = one();
    let left = streams(&lab.home);
    assert!(next.stderr.contains("nobody can take over any more: "), "{next:#?}");
    assert!(left.len() == 2 && of_run(&left) == 2, "{left:?} {next:#?}");
    let kept = one();
    assert!(!kept.stderr.contains("nobody can take over"), "{kept:#?}");
    // As if the machine had been started anew.
    let file = run.directory().join("fleet.json");
    let mut changed: Json =
        serde_json::from_slice(&fs::read(&file).expect("it is there")).expect("it is JSON");
    changed["boot_id"] = "another".into();
    fs::write(&file, changed.to_string()).expect("a file");
    let last = one();
    assert!(last.stderr.contains(&run.record().id), "{last:#?}");
    assert_eq!(streams(&lab.home), [] as [String; 0], "{last:#?}");
}

#[test]
fn a_run_that_nobody_can_go_on_with_is_refused_with_the_reason() {
    let Some(lab) = Lab::set_up() else { return };
    lab.resume("").expect(2).says("there are no runs");
    lab.killed("60s", "--fleet local:2", 1);
    lab.resume("").expect(2).says("was driven by local:2, whose agents ended with their controller");
    lab.killed("60s", "", 1);
    lab.resume("").expect(2).says("has no fleet.json");
    for words in ["run null --resume last", "run --resume last --users 5", "run --resume last --fleet lab"] {
        lab.home.plimsoll(words).run().expect(2).says("cannot be used with");
    }
    lab.home.plimsoll("run --resume last --allow-target x").run().expect(2).says("cannot be used with");
    lab.home.plimsoll("run").run().expect(2).says("KIT");
    // Without its catalogue nobody knows its kit.
    let run = lab.killed("60s", "--fleet lab", 1);
    lab.home.plimsoll("run --resume last").run().expect(2).says("--catalogue DIR");
    // Another program than the one that began it.
    let file = run.directory().join("fleet.json");
    let text = fs::read_to_string(&file).expect("it is there");
    let mut changed: Json = serde_json::from_str(&text).expect("it is JSON");
    changed["build"] = "0000".into();
    fs::write(&file, changed.to_string()).expect("a file");
    lab.resume("").expect(2).says("another build of Plimsoll (0000)");
    fs::write(&file, "{").expect("a file");
    lab.resume("").expect(2).says("is damaged");
    // What agents told is gone with the broker's store.
    fs::write(&file, text).expect("a file");
    lab.home.plimsoll("fleet down lab").run().expect(0);
    let store = lab.home.path().join("fleets/lab/jetstream");
    assert!(store.is_dir(), "the broker's store is somewhere else");
    fs::remove_dir_all(store).expect("it is ours");
    lab.home.plimsoll("fleet up lab").run().expect(0);
    lab.resume("").expect(2).says("has nothing of run").says("plimsoll show");
}
