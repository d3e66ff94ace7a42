//! Settings of the machine that a run asks for: both values are in its record, and however the tool ends they are back.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use testkit::ending::skip;

use crate::tool::{Home, have, wait_for};

const STACK: &str = "nginx";

/// A setting of the machine that does no harm to what else runs here: one for each test, since one lab at a time has it.
struct Setting {
    name: &'static str,
    file: &'static str,
    found: String,
}

impl Setting {
    /// Nothing where it can't be changed here; the test is skipped then.
    fn of(name: &'static str, file: &'static str) -> Option<Setting> {
        let found = fs::read_to_string(file).unwrap_or_default().trim().to_string();
        let opened = fs::OpenOptions::new().write(true).open(file);
        if !rustix::process::geteuid().is_root() || opened.is_err() {
            skip(&format!("{file} can't be changed here"));
            return None;
        }
        Some(Setting { name, file, found })
    }

    fn now(&self) -> String {
        fs::read_to_string(self.file).expect("a setting").trim().to_string()
    }

    /// Another value than the one found.
    fn other(&self) -> String {
        (self.found.parse::<u64>().expect("a number") + 1).to_string()
    }

    fn words(&self, verb: &str) -> String {
        format!("{verb} static --stack {STACK} --set host.{}={}", self.name, self.other())
    }
}

#[test]
fn a_run_says_what_it_found_and_what_it_set_and_puts_it_back() {
    let Some(setting) = Setting::of("vm.dirty_expire_centisecs", "/proc/sys/vm/dirty_expire_centisecs")
    else {
        return;
    };
    if !have(STACK) {
        return;
    }
    let load = "--users 2 --ramp-up 1s --steady 3s --ramp-down 0s --json";
    let ended = Home::shared().plimsoll(&format!("{} {load}", setting.words("run"))).run();
    let record = ended.json();
    let said = &record["setup"]["machine_settings"][0];
    assert_eq!(said["name"], setting.name, "{}", record["setup"]);
    assert_eq!((&said["found"], &said["set"]), (&setting.found.clone().into(), &setting.other().into()));
    assert_eq!(setting.now(), setting.found, "it is back");
    let id = record["id"].as_str().expect("an id");
    let page = fs::read_to_string(Home::shared().path().join("runs").join(id).join("report.html"));
    let page = page.unwrap_or_else(|error| panic!("the report of {id}: {error}"));
    assert!(page.contains(&format!("(found: {})", setting.found)), "{id}");
    Home::shared().expect_nothing_left();
}

#[test]
fn nothing_stays_changed_whenever_the_tool_is_killed() {
    let Some(setting) = Setting::of("vm.dirty_writeback_centisecs", "/proc/sys/vm/dirty_writeback_centisecs")
    else {
        return;
    };
    if !have(STACK) {
        return;
    }
    let home = Home::empty();
    // A first start makes the files, which the others find.
    let mut stack = home.plimsoll(&setting.words("up")).start();
    stack.address();
    assert_eq!(setting.now(), setting.other());
    let began = Instant::now();
    assert_eq!(stack.until_dropped().end().code, Some(0));
    assert_eq!(setting.now(), setting.found, "it is back after Ctrl-C");
    let mut seen = 0;
    for moment in 0..10 {
        let standing = home.plimsoll(&setting.words("up")).start().until_dropped();
        if moment % 2 == 0 {
            wait_for("the change", || (setting.now() != setting.found).then_some(()));
            seen += 1;
        }
        // Anywhere in the start, and beyond it: by the clock, which no two machines have alike.
        std::thread::sleep(Duration::from_micros(u64::from(began.elapsed().subsec_micros()) % 300_000));
        assert_eq!(standing.kill().code, None, "killed by a signal");
        wait_for("the keeper", || (setting.now() == setting.found).then_some(()));
    }
    assert_eq!(seen, 5);
    wait_for("the keeper's end", || home.servers().is_empty().then_some(()));
    home.plimsoll("clean").run().expect(0);
    home.expect_nothing_left();
}

#[test]
fn the_second_lab_that_wants_a_setting_is_refused_whatever_its_home() {
    let Some(setting) = Setting::of("vm.vfs_cache_pressure", "/proc/sys/vm/vfs_cache_pressure") else {
        return;
    };
    if !have(STACK) {
        return;
    }
    let (one, other) = (Home::empty(), Home::empty());
    let mut stack = one.plimsoll(&setting.words("up")).start();
    stack.address();
    let standing = stack.until_dropped();
    let refused = other.plimsoll(&setting.words("up")).run().expect(2);
    let refused =
        refused.says("vm.vfs_cache_pressure of this machine can't be changed: another lab has changed it");
    refused.says("set.host.vm.vfs_cache_pressure");
    assert_eq!(setting.now(), setting.other(), "the first one has it still");
    assert_eq!(standing.end().code, Some(0));
    assert_eq!(setting.now(), setting.found);
    one.expect_nothing_left();
    other.expect_nothing_left();
}

#[test]
fn what_is_mounted_for_reading_only_and_what_is_unknown_are_refused_before_anything_starts() {
    if !rustix::process::geteuid().is_root() {
        skip("only root can mount");
        return;
    }
    if !have(STACK) {
        return;
    }
    let home = Home::empty();
    let in_its_own = |words: &str| {
        home.plimsoll(words).before(|command: &mut Command| {
            let program = command.get_program().to_os_string();
            let args: Vec<_> = command.get_args().map(std::ffi::OsStr::to_os_string).collect();
            let envs: Vec<_> = command
                .get_envs()
                .filter_map(|(key, value)| Some((key.to_os_string(), value?.to_os_string())))
                .collect();
            let script =
                "mount -o remount,bind,ro /sys 2>/dev/null || mount --bind -o ro /sys /sys; exec \"$@\"";
            let mut inside = Command::new("unshare");
            inside.args(["--mount", "sh", "-c", script, "sh"]).arg(program).args(args).envs(envs);
            *command = inside;
        })
    };
    let refused =
        in_its_own(&format!("up static --stack {STACK} --set host.thp.enabled=never")).run().expect(2);
    let refused = refused.says("thp.enabled of this machine can't be changed");
    refused.says("is mounted for reading only").says("plimsoll list host");
    let unknown =
        home.plimsoll(&format!("up static --stack {STACK} --set host.vm.swapiness=1")).run().expect(2);
    unknown.says("set.host.vm.swapiness").says("`vm.swappiness`");
    let outside =
        home.plimsoll(&format!("up static --stack {STACK} --set host.vm.swappiness=201")).run().expect(2);
    outside.says("set.host.vm.swappiness").says("201");
    let none =
        home.plimsoll(&format!("up static --stack {STACK} --set host.cable.rps_cpus=1")).run().expect(2);
    none.says("there is no cable");
    home.expect_nothing_left();
}
