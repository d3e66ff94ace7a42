//! Agents of a test: processes of their own, which may be killed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fleet::bus::{Broker, Name};
use fleet::controller::{Controller, Member};
use fleet::signed::Signer;
use fleet::want::Claim;
use rustix::process::{Pid, Signal, kill_process};

use crate::broker::Nats;
use crate::job::BUILD;
use crate::wait::LONG;

/// A process of a test, ended with it.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Process {
    /// Ends it at once; it may have ended by itself.
    pub(crate) fn kill(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }

    /// Sends it that signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.0.id() as i32).expect("a process");
        kill_process(pid, signal).expect("it is ours");
    }
}

/// The key of a fleet's controller.
pub(crate) struct Key(pub(crate) String);

impl Key {
    pub(crate) fn new() -> Key {
        Key(Signer::new_seed().expect("random numbers"))
    }

    pub(crate) fn signer(&self) -> Signer {
        Signer::of(&self.0, Name::of("lab").expect("a name")).expect("a seed")
    }

    pub(crate) fn public(&self) -> String {
        self.signer().public_key()
    }
}

/// The words with which an agent is started.
pub(crate) fn words(nats: &Nats, folder: &Path, name: &str, key: &str, build: &str) -> Vec<String> {
    let spools = folder.join(name).to_string_lossy().into_owned();
    let url = nats.broker().url;
    [env!("CARGO_BIN_EXE_fleet-actor"), "agent", &url, &spools, name, key, build].map(str::to_string).to_vec()
}

/// Starts a process that ends when its input does.
pub(crate) fn start(words: &[String]) -> Process {
    let mut command = Command::new(&words[0]);
    Process(command.args(&words[1..]).stdin(Stdio::piped()).spawn().expect("it can be started"))
}

/// Agents that obey `key`.
pub(crate) fn agents(nats: &Nats, folder: &Path, names: &[&str], key: &Key) -> Vec<Process> {
    names.iter().map(|name| start(&words(nats, folder, name, &key.public(), BUILD))).collect()
}

/// A controller that hears that number of agents.
pub(crate) fn controller(nats: &Nats, key: &Key, agents: usize) -> (Controller, Vec<Member>) {
    controller_at(nats.broker(), key, agents)
}

/// One on whichever bus.
pub(crate) fn controller_at(broker: Broker, key: &Key, agents: usize) -> (Controller, Vec<Member>) {
    let controller = Controller::begin(broker, key.signer(), Claim::of(1, "a test"));
    let controller = controller.unwrap_or_else(|problems| panic!("{problems}"));
    let members = controller.wait_for(LONG, &|members| members.len() == agents);
    assert_eq!(members.len(), agents, "{members:?}");
    (controller, members)
}

/// Nobody can connect to that process, over a network or on this machine.
pub(crate) fn expect_no_listener(process: &Process) {
    let all = ["--listening", "--tcp", "--udp", "--unix", "--processes", "--no-header"];
    let listening = Command::new("ss").args(all).output().expect("ss is part of iproute2");
    let said = String::from_utf8_lossy(&listening.stdout);
    let of = format!("pid={},", process.0.id());
    let found: BTreeSet<&str> = said.lines().filter(|line| line.contains(&of)).collect();
    assert!(found.is_empty(), "{found:?}");
}
