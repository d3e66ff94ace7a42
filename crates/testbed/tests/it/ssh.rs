//! Another machine by ssh, on a real sshd: files and processes.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use testbed::StopOutcome;
use testbed::process::Identity;
use testbed::ssh::{RemoteProcess, RemoteState, SshHost};

use crate::sshd::{Machines, children_of, name_of};
use crate::waiting::{kill, wait_until};

pub(crate) fn host(machines: &Machines, name: &str) -> SshHost {
    SshHost::new(name, Some(&machines.config())).expect("a right name")
}

/// The clients that this process has started; sshd is a child of it too.
pub(crate) fn clients() -> Vec<u32> {
    children_of(std::process::id()).into_iter().filter(|pid| name_of(*pid) == "ssh").collect()
}

/// A program of that size, no two pieces of which are alike, and its SHA-256.
pub(crate) fn program(machines: &Machines, kib: u64) -> (PathBuf, String) {
    let path = machines.path("program");
    let mut file = File::create(&path).expect("a file");
    file.write_all(b"#!/bin/sh\necho copied\nexit 0\n").expect("a write");
    for number in 0..kib {
        let line = format!("{number:0>1023}\n");
        file.write_all(line.as_bytes()).expect("a write");
    }
    drop(file);
    let output = Command::new("sha256sum").arg(&path).output().expect("sha256sum runs");
    let sum = String::from_utf8(output.stdout).expect("text");
    (path, sum.split_whitespace().next().expect("a sum").to_string())
}

/// What is said of a copy that is broken off once something of it is in the folder of programs.
pub(crate) fn broken_copy(
    host: &SshHost,
    (file, sha256): (&Path, &str),
    programs: &Path,
    mut break_off: impl FnMut(),
) -> String {
    let mut is_broken = false;
    let result = host.copy(file, sha256, &mut |_, _| {
        if !is_broken && !names_in(programs).is_empty() {
            is_broken = true;
            break_off();
        }
        true
    });
    let said = result.expect_err("it was broken off").to_string();
    assert!(is_broken, "it failed before: {said}");
    said
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn shell(host: &SshHost, folder: &str, script: &str) -> RemoteProcess {
    host.start(folder, "sh", &["-c".to_string(), script.to_string()]).expect("it starts")
}

fn log_of(process: &RemoteProcess) -> String {
    fs::read_to_string(Path::new(&process.folder).join("log")).unwrap_or_default()
}

/// Whether the process of that number on the far side, which is this machine, still runs.
pub(crate) fn runs(process: &RemoteProcess) -> bool {
    process.identity.runs()
}

#[test]
fn a_host_says_what_it_is_and_nothing_is_written_there() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    let facts = host(&machines, "load1").facts().expect("facts");
    let uname = Command::new("uname").arg("-m").output().expect("uname runs");
    assert_eq!(facts.machine, String::from_utf8_lossy(&uname.stdout).trim());
    assert!(facts.cpus >= 1 && facts.free_bytes > 0 && facts.max_open_files != Some(0), "{facts:?}");
    assert!(facts.kernel.starts_with("Linux ") && facts.home.starts_with('/'), "{facts:?}");
    assert_eq!(Path::new(&facts.cache), machines.cache("load1"));
    assert!(!machines.cache("load1").exists());
}

#[test]
fn a_program_is_copied_once_and_a_damaged_copy_is_replaced() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    let (file, sha256) = program(&machines, 1024);
    let load1 = host(&machines, "load1");
    let copy = || {
        let mut heard = Vec::new();
        let path = load1.copy(&file, &sha256, &mut |sent, total| {
            heard.push((sent, total));
            true
        });
        (PathBuf::from(path.expect("it is copied")), heard)
    };
    let (path, heard) = copy();
    let length = fs::metadata(&file).expect("a file").len();
    assert_eq!(path, machines.cache("load1").join("plimsoll/bin").join(&sha256));
    assert_eq!(heard.last(), Some(&(length, length)), "all of it has gone out");
    assert_eq!(mode(&path), 0o700);
    assert!(fs::read(&path).expect("a copy") == fs::read(&file).expect("a file"));
    assert_eq!(copy(), (path.clone(), Vec::new()), "the second time nothing goes out");
    fs::write(&path, "damaged").expect("a write");
    let (_, heard) = copy();
    assert!(!heard.is_empty() && fs::metadata(&path).expect("a copy").len() == length);
    assert_eq!(
        names_in(path.parent().expect("a folder")),
        std::slice::from_ref(&sha256),
        "nothing else is left"
    );
    let said = load1.copy(&file, &"0".repeat(64), &mut |_, _| true).expect_err("another file").to_string();
    assert!(said.contains("load1") && said.contains("SHA-256"), "{said}");
    assert_eq!(names_in(path.parent().expect("a folder")), std::slice::from_ref(&sha256));
    load1.copy(&file, "../../x", &mut |_, _| true).expect_err("no SHA-256");
}

#[test]
fn a_copy_whose_ssh_is_killed_in_the_middle_leaves_nothing_and_the_next_one_works() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    let (file, sha256) = program(&machines, 32 * 1024);
    let load1 = host(&machines, "load1");
    let bin = machines.cache("load1").join("plimsoll/bin");
    let said = broken_copy(&load1, (&file, &sha256), &bin, || {
        clients().into_iter().for_each(|pid| kill(pid, Signal::KILL));
    });
    assert!(said.contains("load1") && said.contains("copy"), "{said}");
    assert!(!bin.join(&sha256).exists());
    wait_until("the removal of the half copy", || names_in(&bin).is_empty());
    // Ended by whoever watches it: the same.
    let result = load1.copy(&file, &sha256, &mut |_, _| false);
    assert!(result.expect_err("it was ended").to_string().contains("ended by the user"));
    wait_until("the removal of the half copy", || names_in(&bin).is_empty());
    load1.copy(&file, &sha256, &mut |_, _| true).expect("it is copied");
    assert_eq!(names_in(&bin), [sha256]);
}

#[test]
fn a_small_file_is_private_and_whole_whatever_is_in_it() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    let load1 = host(&machines, "load1");
    let bytes: Vec<u8> = (0..=255).chain(*b"'\"$(touch x)\n").collect();
    let root = machines.cache("load1").join("plimsoll");
    for name in ["creds", "fleets/it's \"odd\" $HOME `id` * \\/c'reds", "-rf/-n"] {
        let path = load1.put(name, &bytes).expect("it is written");
        assert_eq!(Path::new(&path), root.join(name));
        assert!(fs::read(&path).expect("a file") == bytes, "{name}");
        assert_eq!(mode(Path::new(&path)), 0o600);
        assert_eq!(mode(Path::new(&path).parent().expect("a folder")), 0o700);
    }
    load1.put("creds", b"").expect("again");
    assert_eq!(fs::read(root.join("creds")).expect("a file"), b"");
    assert_eq!(names_in(&root), ["-rf", "creds", "fleets"], "no other file is left");
    let said = load1.put("fleets", b"x").expect_err("a folder is in its place").to_string();
    assert!(said.contains("is a folder"), "{said}");
    load1.put("../x", b"x").expect_err("it leads out");
}

#[test]
fn only_a_folder_of_ours_is_removed_and_links_are_not_followed() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    let load1 = host(&machines, "load1");
    let root = machines.cache("load1").join("plimsoll");
    load1.put("fleets/a b/creds", b"x").expect("a file");
    load1.put("fleets/c/creds", b"x").expect("a file");
    let others = machines.path("others");
    fs::create_dir(&others).expect("a folder");
    fs::write(others.join("precious"), "x").expect("a file");
    std::os::unix::fs::symlink(&others, root.join("fleets/a b/link")).expect("a link");
    std::os::unix::fs::symlink(&others, root.join("out")).expect("a link");
    assert!(load1.remove("fleets/a b").expect("it is removed"));
    assert!(!load1.remove("fleets/a b").expect("it is gone already"));
    assert_eq!(names_in(&root.join("fleets")), ["c"]);
    load1.remove("out/precious").expect_err("it leads out by a link");
    assert!(load1.remove("out").expect("the link itself is ours"));
    for out in ["", ".", "..", "../other", "/tmp"] {
        load1.remove(out).expect_err(out);
    }
    assert_eq!(names_in(&others), ["precious"]);
}

#[test]
fn a_process_outlives_its_ssh_and_its_sshd_and_is_stopped_by_a_later_start() {
    let Some(mut machines) = Machines::start(&["load1", "load2"]) else { return };
    let load1 = host(&machines, "load1");
    let odd = "it's $HOME \"\n*".to_string();
    let script =
        "printf '%s\\n' \"$1\" \"$PWD\"; trap 'echo bye; exit' TERM; while :; do sleep 1000 & wait $!; done";
    let args = ["-c".to_string(), script.to_string(), "sh".to_string(), odd.clone()];
    let started = load1.start("fleets/lab/load1", "sh", &args).expect("it starts");
    wait_until("its output", || log_of(&started).lines().count() >= 3);
    assert_eq!(log_of(&started), format!("{odd}\n{}\n", started.folder));
    assert_eq!(Path::new(&started.folder), machines.cache("load1").join("plimsoll/fleets/lab/load1"));
    let stat = fs::read_to_string(format!("/proc/{}/stat", started.identity.pid)).expect("it runs");
    let fields: Vec<&str> = stat[stat.rfind(')').expect("a name") + 2..].split(' ').collect();
    let pid = started.identity.pid.to_string();
    assert_eq!(
        (fields[2], fields[3], fields[4]),
        (pid.as_str(), pid.as_str(), "0"),
        "a session without a terminal"
    );
    let input = fs::read_link(format!("/proc/{pid}/fd/0")).expect("an input");
    assert_eq!(input, Path::new("/dev/null"));
    machines.kill_sshd("load1");
    assert!(runs(&started));
    load1.state(&started).expect_err("nobody can say now");
    machines.start_again("load1");
    let kept = serde_json::to_string(&started).expect("text");
    let later: RemoteProcess = serde_json::from_str(&kept).expect("the same");
    assert_eq!(later, started);
    assert_eq!(load1.state(&later).expect("a state"), RemoteState::Running);
    assert_eq!(load1.stop(&later, Duration::from_secs(20)).expect("it ends"), StopOutcome::Terminated);
    assert!(!runs(&started));
    let RemoteState::Ended { last_lines } = load1.state(&later).expect("a state") else { panic!("it ended") };
    assert_eq!(last_lines.last().map(String::as_str), Some("bye"));
    assert_eq!(load1.stop(&later, Duration::ZERO).expect("no error"), StopOutcome::WasNotRunning);
}

#[test]
fn a_process_that_ignores_term_is_killed_after_its_grace() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    let load1 = host(&machines, "load1");
    let started = shell(&load1, "a", "trap '' TERM; echo ready; while :; do sleep 1; done");
    wait_until("its trap", || log_of(&started) == "ready\n");
    assert_eq!(load1.stop(&started, Duration::from_secs(1)).expect("it ends"), StopOutcome::Killed);
    assert!(!runs(&started));
}

#[test]
fn another_process_with_its_number_is_neither_taken_for_it_nor_stopped() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    let load1 = host(&machines, "load1");
    let started = shell(&load1, "a", "exec sleep 1000");
    let Identity { pid, start_ticks } = started.identity;
    let earlier = Identity { pid, start_ticks: start_ticks - 1 };
    let of_earlier = RemoteProcess { identity: earlier, ..started.clone() };
    let of_another_boot = RemoteProcess { boot_id: "another".to_string(), ..started.clone() };
    for other in [of_earlier, of_another_boot] {
        assert!(matches!(load1.state(&other).expect("a state"), RemoteState::Ended { .. }));
        assert_eq!(load1.stop(&other, Duration::ZERO).expect("no error"), StopOutcome::WasNotRunning);
    }
    assert!(runs(&started));
    assert_eq!(load1.stop(&started, Duration::from_secs(20)).expect("it ends"), StopOutcome::Terminated);
}

#[test]
fn a_program_that_ends_at_once_is_told_with_its_log() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    let load1 = host(&machines, "load1");
    let args = ["-c".to_string(), "printf 'no \\033[31mbroker\\n'; exit 1".to_string()];
    match load1.start("a", "sh", &args) {
        Err(problems) => {
            let said = problems.to_string();
            assert!(said.contains("ended at once: no [31mbroker"), "{said}");
        }
        // It may have been seen in its session before it ended.
        Ok(started) => {
            wait_until("its end", || !runs(&started));
            let state = load1.state(&started).expect("a state");
            assert_eq!(state, RemoteState::Ended { last_lines: vec!["no [31mbroker".to_string()] });
        }
    }
    let said = load1.start("a", "/no/such/program", &[]).expect_err("it is not there").to_string();
    assert!(said.contains("there is no program /no/such/program") && said.contains("load1"), "{said}");
}

#[test]
fn a_program_that_is_asked_gets_the_question_as_its_input_and_its_end_is_the_answer() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    let host = host(&machines, "load1");
    let ask = |script: &str, is_wanted: &dyn Fn() -> bool| {
        let args = ["-c", script, "sh", "it's $HOME"].map(str::to_string);
        host.ask("sh", &args, b"{\"a\": 'b'}\n", is_wanted)
    };
    let answer = ask("cat; echo \"$1\"", &|| true).expect("an answer");
    assert_eq!(answer, "{\"a\": 'b'}\nit's $HOME\n");
    let said = ask("echo half; echo broken >&2; exit 7", &|| true).expect_err("it failed").to_string();
    assert!(said.contains("broken") && said.contains("failed to ask sh on load1"), "{said}");
    let said = host.ask("no-such-program", &[], b"", &|| true).expect_err("there is none").to_string();
    assert!(said.contains("there is no program no-such-program"), "{said}");
    let began = machines.path("began");
    let script = format!("echo > '{}'; sleep 600", began.display());
    let said = ask(&script, &|| !began.exists()).expect_err("it isn't wanted any more").to_string();
    assert!(said.contains("ended by the user"), "{said}");
    assert!(clients().is_empty(), "no ssh is left");
}

#[test]
fn busybox_does_all_of_it() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    let Ok(list) = Command::new("busybox").arg("--list").output() else {
        testkit::ending::skip("there is no busybox: scripts/packages.sh installs it");
        return;
    };
    let programs = machines.path("busybox");
    fs::create_dir(&programs).expect("a folder");
    let busybox = Command::new("sh").args(["-c", "command -v busybox"]).output().expect("a shell");
    let busybox = PathBuf::from(String::from_utf8_lossy(&busybox.stdout).trim());
    for name in String::from_utf8_lossy(&list.stdout).lines() {
        std::os::unix::fs::symlink(&busybox, programs.join(name)).expect("a link");
    }
    let only = format!("PATH='{}'; export PATH; eval \\\"$SSH_ORIGINAL_COMMAND\\\"", programs.display());
    machines.allow_only(&only);
    let load1 = host(&machines, "load1");
    let facts = load1.facts().expect("facts");
    assert!(facts.free_bytes > 0 && facts.cpus > 0, "{facts:?}");
    let (file, sha256) = program(&machines, 1024);
    let copied = load1.copy(&file, &sha256, &mut |_, _| true).expect("it is copied");
    load1.copy(&file, &sha256, &mut |_, _| panic!("it is there")).expect("it is there");
    load1.put("fleets/lab/creds", b"secret").expect("it is written");
    let script = format!("'{copied}'; readlink /proc/$$/exe; trap '' TERM; while :; do sleep 1; done");
    let started = shell(&load1, "fleets/lab", &script);
    let expected = format!("copied\n{}\n", fs::canonicalize(&busybox).expect("a program").display());
    wait_until("its output", || log_of(&started) == expected);
    assert_eq!(load1.state(&started).expect("a state"), RemoteState::Running);
    assert_eq!(load1.stop(&started, Duration::from_secs(1)).expect("it ends"), StopOutcome::Killed);
    let RemoteState::Ended { last_lines } = load1.state(&started).expect("a state") else {
        panic!("it ended")
    };
    assert_eq!(last_lines, expected.lines().collect::<Vec<_>>());
    assert!(load1.remove("fleets").expect("it is removed"));
    assert_eq!(names_in(&machines.cache("load1").join("plimsoll")), ["bin"]);
}
