//! A generator that is starved on purpose, against a server of known delay that it could serve with ease: every case
//! is refused before the start or judged invalid, with the right reason. None gives a pretty number.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal};
use serde_json::Value as Json;
use testkit::ending::skip;
use testkit::origin::Origin;

use crate::tool::{Finished, Home, Tool, wait_for};

fn origin() -> Origin {
    Origin::fixed(Duration::from_millis(10)).expect("a loopback port")
}

/// A thousand requests a second: a few hundredths of a CPU.
fn hit(origin: &Origin, words: &str) -> Tool {
    Home::shared().plimsoll(&format!("hit http://{}/ --threads 1 {words} --json", origin.address()))
}

/// The named check failed with this figure or more, and says why in these words.
#[track_caller]
fn expect_invalid(ended: Finished, check: &str, least: f64, parts: &[&str]) {
    let record = ended.expect(3).json();
    assert_eq!(record["verdict"]["valid"], false);
    let rows = record["validity"].as_array().map(Vec::as_slice).unwrap_or_default();
    let row = rows.iter().find(|row| row["check"] == check).unwrap_or(&Json::Null);
    assert_eq!(row["ok"], false, "check {check}: {rows:#?}");
    assert!(row["observed"].as_f64().is_some_and(|seen| seen >= least), "{least} at least: {row:#}");
    let sentence = row["sentence"].as_str().unwrap_or_default();
    for part in parts {
        assert!(sentence.contains(part), "`{part}` is missing in: {sentence}");
    }
}

fn wait_for_requests(origin: &Origin, count: usize) {
    wait_for("requests arrive", || (origin.ledger().exchanges.len() >= count).then_some(()));
}

#[test]
fn a_generator_stopped_for_half_a_second_is_late_and_says_so() {
    let origin = origin();
    let running = hit(&origin, "-c 10 -d 5s").start();
    wait_for_requests(&origin, 300);
    running.signal(Signal::STOP);
    // The stop itself is what is measured: nothing can be waited for but time.
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::CONT);
    // A tenth of the five seconds: the longest hundredth of all lags lies in the first tenth of the stop.
    expect_invalid(running.wait(), "send_lag", 0.3, &["lag"]);
}

/// A cgroup of our own with a part of a CPU, removed when dropped.
pub(crate) struct Quota(PathBuf);

impl Quota {
    /// That number of hundredths of a CPU, by the millisecond in every 100.
    pub(crate) fn of_hundredths(number: u32) -> Option<Quota> {
        let name = format!("plimsoll-test-{}", std::process::id());
        let quota_us = number * 1000;
        let (first_text, second_text) = (quota_us.to_string(), format!("{quota_us} 100000"));
        let first = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let second = Path::new("/sys/fs/cgroup").join(&name);
        for (path, file, text) in
            [(&first, "cpu.cfs_quota_us", first_text), (&second, "cpu.max", second_text)]
        {
            if fs::create_dir(path).is_err() {
                continue;
            }
            let quota = Quota(path.clone());
            if fs::write(path.join(file), text).is_ok() {
                return Some(quota);
            }
        }
        None
    }

    /// Puts that process into it, all of its threads.
    pub(crate) fn confine(&self, pid: u32) {
        move_to(&self.0, pid);
    }

    /// Takes that process out again, all of its threads.
    pub(crate) fn release(&self, pid: u32) {
        move_to(self.0.parent().expect("it was made below the hierarchy's root"), pid);
    }
}

fn move_to(cgroup: &Path, pid: u32) {
    fs::write(cgroup.join("cgroup.procs"), pid.to_string()).expect("a process of ours can be moved");
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_generator_with_a_hundredth_of_a_cpu_is_late_and_says_so() {
    let Some(quota) = Quota::of_hundredths(1) else {
        skip("no right to make a cgroup with a CPU quota");
        return;
    };
    let origin = origin();
    let running = hit(&origin, "-c 10 -d 4s").start();
    wait_for_requests(&origin, 100);
    let pid = running.pid();
    quota.confine(pid);
    // The want of a CPU itself is what is measured: nothing can be waited for but time. It gets 1 ms in every 100. That it
    // judges and writes at this pace, too, would show nothing more, and takes minutes.
    std::thread::sleep(Duration::from_secs(2));
    quota.release(pid);
    expect_invalid(running.wait(), "send_lag", 0.08, &["lag"]);
}

#[test]
fn too_few_descriptors_are_said_before_anything_starts() {
    let origin = origin();
    let few = Rlimit { current: Some(100), maximum: Some(100) };
    let tool = hit(&origin, "-c 200 -d 1s").before(move |command: &mut Command| {
        // SAFETY: between fork and exec only one system call is made, and nothing is allocated.
        unsafe { command.pre_exec(move || Ok(rustix::process::setrlimit(Resource::Nofile, few)?)) };
    });
    tool.run().expect(2).says("200 connections need").says("descriptors").says("ulimit -Hn");
    assert_eq!(origin.ledger().connections.saturating_sub(1), 0, "at most the tool's own look at the server");
}

/// Runs a test in a network of its own, in which one address has 40 ports.
fn with_few_ports(body: fn()) {
    let inside = std::thread::spawn(move || {
        // SAFETY: only this thread's network changes; no descriptors or memory stop being shared.
        let apart = unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNET) };
        if apart.is_err() {
            skip("no right to make a network of one's own");
            return;
        }
        let up = Command::new("ip").args(["link", "set", "lo", "up"]).status();
        let narrow = fs::write("/proc/sys/net/ipv4/ip_local_port_range", "40000 40039");
        assert!(up.is_ok_and(|status| status.success()) && narrow.is_ok(), "our own network can be set up");
        body();
    });
    inside.join().expect("the test inside holds");
}

#[test]
fn too_few_ports_are_said_before_anything_starts() {
    with_few_ports(|| {
        let origin = origin();
        let told = hit(&origin, "-c 100 -d 1s --source 127.0.0.1").run().expect(2);
        told.says("100 connections need 100 local ports").says("ip_local_port_range").says("--source");
    });
}

#[test]
fn ports_used_up_on_the_way_make_the_run_invalid() {
    with_few_ports(|| {
        let origin = origin();
        // Each request takes a port, and the kernel keeps it for a second after.
        let told = hit(&origin, "-c 20 -d 3s --connection per-request").run();
        expect_invalid(told, "room", 1.0, &["no free port", "less load"]);
    });
}
