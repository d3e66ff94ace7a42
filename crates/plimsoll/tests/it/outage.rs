//! Servers that stand still, are killed, and come back, while a test looks on.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::tool::{Home, wait_for};

/// The process of a run's or a standing stack's server: of all command lines that name that lab, the one with `words`.
#[track_caller]
pub(crate) fn server(lab: &str, words: &str) -> u32 {
    let servers = Home::shared().servers();
    let found = servers.iter().find(|(_, line)| line.contains(lab) && line.contains(words));
    found.unwrap_or_else(|| panic!("{words} of {lab} does not run: {servers:#?}")).0
}

pub(crate) fn kill(pid: u32) {
    signal(pid, Signal::KILL).expect("our own server can be killed");
}

/// Kills all servers whose command lines have these words, and waits until they are gone.
pub(crate) fn kill_all(words: &str) {
    wait_for("they are gone", || {
        let servers = Home::shared().servers().into_iter();
        let left: Vec<u32> = servers.filter(|(_, line)| line.contains(words)).map(|(pid, _)| pid).collect();
        for pid in &left {
            // One that has ended with another is no mistake.
            let _ = signal(*pid, Signal::KILL);
        }
        left.is_empty().then_some(())
    });
}

fn signal(pid: u32, signal: Signal) -> rustix::io::Result<()> {
    kill_process(Pid::from_raw(pid as i32).expect("a process number"), signal)
}

/// A server that stands still, as on a machine that hangs, until this is dropped.
pub(crate) struct Stopped(u32);

impl Stopped {
    pub(crate) fn new(pid: u32) -> Stopped {
        signal(pid, Signal::STOP).expect("our own server can be stopped");
        Stopped(pid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // Where it is gone nothing waits for it any more.
        let _ = signal(self.0, Signal::CONT);
    }
}

/// A server as it was started, so that it can be started again just so.
pub(crate) struct Started {
    program: PathBuf,
    words: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    directory: PathBuf,
    user: u32,
    group: u32,
}

impl Started {
    /// As the kernel shows it while it runs.
    pub(crate) fn of(pid: u32) -> Started {
        let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).expect("our own server runs");
        let link = |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).expect("our own server runs");
        let texts = |file: &str| -> Vec<OsString> {
            let bytes = read(file);
            let texts = bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty());
            texts.map(|text| OsString::from_vec(text.to_vec())).collect()
        };
        let status = String::from_utf8_lossy(&read("status")).into_owned();
        let number = |key: &str| -> u32 {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("the kernel tells it");
            line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
        };
        Started {
            program: link("exe"),
            words: texts("cmdline"),
            environment: texts("environ").iter().filter_map(|text| variable(text)).collect(),
            directory: link("cwd"),
            user: number("Uid:"),
            group: number("Gid:"),
        }
    }

    /// It has the mark of the lab in its environment, as it had before: whatever ends the lab's servers ends it, too.
    pub(crate) fn again(&self) -> Child {
        let (name, arguments) = self.words.split_first().expect("a program's name");
        let mut command = Command::new(&self.program);
        command.arg0(name).args(arguments).env_clear().envs(self.environment.iter().cloned());
        command.current_dir(&self.directory).uid(self.user).gid(self.group);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("what ran before can run again")
    }
}

/// Waits until a server that was started again has ended, too.
#[track_caller]
pub(crate) fn ended(mut server: Child) {
    wait_for("a server that was started again ends", || server.try_wait().expect("it is our own child"));
}

/// The name and the value of `NAME=VALUE`.
fn variable(text: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = text.as_bytes();
    let sign = bytes.iter().position(|byte| *byte == b'=')?;
    let part = |bytes: &[u8]| OsStr::from_bytes(bytes).to_os_string();
    Some((part(&bytes[..sign]), part(&bytes[sign + 1..])))
}
