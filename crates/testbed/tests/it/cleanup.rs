//! Nothing of a lab is left, however its tool ends.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use model::catalogue::tier_setting::OwnHost;
use rustix::process::Signal;
use testbed::{KeeperCommand, Lab, LabOptions, sweep};
use testkit::cards::cards_of;

use crate::bench::{EVENT, home, keeper, programs_are_there, switch};
use crate::held::{controllers_are_there, groups_of};
use crate::own_host::networks_can_be_made;
use crate::waiting::{kill, own_user, processes_in, processes_of, processes_of_user, wait_until};

fn open(home: &Path, id: &str) -> model::Result<Lab> {
    Lab::open(&LabOptions { home, id, keeper: keeper(), switch: switch(), cgroups: true })
}

/// A tool that holds a lab with processes that try to escape.
struct Tool {
    child: Child,
    id: String,
    home: PathBuf,
    keeper: u32,
    dir: PathBuf,
    group: Option<PathBuf>,
    memory: Option<PathBuf>,
    uid: u32,
}

impl Tool {
    fn start(home: &Path, id: &str, mode: &str) -> Tool {
        Tool::start_as("hold", home, id, mode)
    }

    fn start_as(verb: &str, home: &Path, id: &str, mode: &str) -> Tool {
        let tool = Tool::does(verb, home, id, mode);
        wait_until("the escape", || tool.dir.join("escaped").exists() && tool.dir.join("started").exists());
        wait_until("a tree of four processes", || tool.living().len() >= 4);
        tool
    }

    fn does(verb: &str, home: &Path, id: &str, mode: &str) -> Tool {
        let id = format!("{id}-{}", std::process::id());
        let mut child = Command::new(env!("CARGO_BIN_EXE_testbed-actor"))
            .args([verb, home.to_str().expect("text"), &id, mode])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the actor starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let fields: Vec<&str> = line.trim_end_matches('\n').split('\t').collect();
        assert_eq!(fields.len(), 6, "the actor says where everything is, not {line:?}");
        let dir = PathBuf::from(fields[2]);
        let group = (!fields[3].is_empty()).then(|| PathBuf::from(fields[3]));
        let memory = (!fields[5].is_empty()).then(|| PathBuf::from(fields[5]));
        // As a server leaves a file that is being uploaded.
        memory.iter().for_each(|memory| fs::write(memory.join("upload"), "half").expect("a file"));
        let number = |text: &str| text.parse::<u32>().expect("a number");
        let (keeper, uid, home) = (number(fields[1]), number(fields[4]), home.into());
        Tool { keeper, uid, child, id, home, dir, group, memory }
    }

    fn living(&self) -> Vec<(u32, String)> {
        processes_of(&self.id)
    }

    fn ends(&mut self, signal: Signal) {
        kill(self.child.id(), signal);
        self.child.wait().expect("its end");
    }

    fn expect_nothing_left(&self) {
        wait_until("the end of the keeper's work", || !self.ledger().exists());
        assert_eq!(self.living(), Vec::new(), "no process of the lab may run");
        assert_eq!(processes_in(&self.dir), Vec::<u32>::new(), "no process may hold a file of the lab");
        if own_user(self.uid) {
            // The user may be the next lab's, whose processes don't show whose they are until their program runs; and
            // what was killed shows no environment while it ends. What was really left sleeps for longer than this waits.
            wait_until("the end of all processes that run as the lab's user", || {
                processes_of_user(self.uid, &self.id).is_empty()
            });
        }
        assert!(!self.dir.exists(), "{} must be gone", self.dir.display());
        assert!(self.group.iter().all(|group| !group.exists()), "{:?} must be gone", self.group);
        assert!(self.memory.iter().all(|memory| !memory.exists()), "{:?} must be gone", self.memory);
        assert_eq!(groups_of(&self.id), Vec::<PathBuf>::new(), "no group of any controller may be left");
        assert_eq!(cards_of(&self.id), Vec::<String>::new(), "no network card may be left");
        let left: Vec<_> =
            fs::read_dir(self.home.join("instances")).expect("a directory").flatten().collect();
        assert!(
            left.iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(&self.id)),
            "{left:?}"
        );
    }

    fn ledger(&self) -> PathBuf {
        self.home.join("instances").join(format!("{}.ledger", self.id))
    }
}

#[test]
fn a_killed_tool_leaves_nothing() {
    let home = home();
    let mut tool = Tool::start(home.path(), "killed", "group");
    tool.ends(Signal::KILL);
    tool.expect_nothing_left();
}

#[test]
fn a_killed_tool_leaves_nothing_where_no_cgroup_can_be_made() {
    let home = home();
    let mut tool = Tool::start(home.path(), "ledger", "ledger");
    assert_eq!(tool.group, None);
    tool.ends(Signal::KILL);
    tool.expect_nothing_left();
}

#[test]
fn a_terminated_tool_leaves_nothing() {
    let home = home();
    let mut tool = Tool::start(home.path(), "terminated", "group");
    tool.ends(Signal::TERM);
    tool.expect_nothing_left();
}

#[test]
fn a_tool_that_panics_leaves_nothing() {
    let home = home();
    let mut tool = Tool::start_as("panic", home.path(), "panics", "group");
    drop(tool.child.stdin.take());
    assert_eq!(tool.child.wait().expect("its end").code(), Some(101), "it panics");
    tool.expect_nothing_left();
}

#[test]
fn a_killed_tool_leaves_nothing_of_real_servers() {
    for mode in ["group", "ledger"] {
        let home = home();
        if !programs_are_there(home.path(), EVENT) {
            return;
        }
        let mut tool = Tool::does("stack", home.path(), &format!("stack-{mode}"), mode);
        // PHP-FPM overwrites its environment: it does not show the mark, and must be found without it.
        let php = php_without_mark(&tool);
        assert!(
            !php.is_empty() && tool.living().len() >= 3,
            "database, PHP, web server run: {:?}",
            tool.living()
        );
        if controllers_are_there() {
            assert_eq!(groups_of(&tool.id).len(), 1, "the database is held back");
        }
        tool.ends(Signal::KILL);
        tool.expect_nothing_left();
    }
}

#[test]
fn a_killed_tool_leaves_nothing_of_a_tiers_own_host() {
    let home = home();
    if !programs_are_there(home.path(), EVENT) || !networks_can_be_made(&OwnHost::default()) {
        return;
    }
    for keeper_too in [false, true] {
        let mut tool = Tool::does("far", home.path(), &format!("far-{keeper_too}"), "group");
        let cables = cards_of(&tool.id);
        assert_eq!(cables.len(), 1, "{cables:?}");
        if keeper_too {
            kill(tool.keeper, Signal::KILL);
        }
        tool.ends(Signal::KILL);
        if keeper_too {
            wait_until("the keeper's end", || !running(tool.keeper));
            assert_eq!(sweep(home.path()).expect("a sweep").labs, vec![tool.id.clone()]);
        }
        tool.expect_nothing_left();
    }
}

#[test]
fn a_keeper_that_is_asked_to_end_keeps_on_keeping() {
    let home = home();
    let mut tool = Tool::start(home.path(), "stubborn", "group");
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        kill(tool.keeper, signal);
    }
    tool.ends(Signal::KILL);
    tool.expect_nothing_left();
}

#[test]
fn the_next_sweep_finishes_what_a_tool_and_its_keeper_left() {
    for mode in ["group", "ledger"] {
        let home = home();
        let mut tool = Tool::start(home.path(), &format!("swept-{mode}"), mode);
        assert_eq!(
            sweep(home.path()).expect("a sweep").alive,
            vec![tool.id.clone()],
            "a living lab is left alone"
        );
        kill(tool.keeper, Signal::KILL);
        tool.ends(Signal::KILL);
        // The keeper was the tool's child: it is gone when its number is.
        wait_until("the keeper's end", || !running(tool.keeper));
        assert!(
            !tool.living().is_empty(),
            "those that ignore the death signal must still run, or this tests nothing"
        );
        let swept = sweep(home.path()).expect("a sweep");
        assert_eq!(swept.labs, vec![tool.id.clone()]);
        assert!(swept.processes > 0, "{swept:?}");
        tool.expect_nothing_left();
        assert_eq!(
            sweep(home.path()).expect("a sweep"),
            testbed::Swept::default(),
            "the second finds nothing"
        );
    }
}

#[test]
fn what_no_lab_made_is_left_alone_wherever_it_lies() {
    // Issue 16.16: with a home in which somebody keeps instances of another kind.
    let home = home();
    let instances = home.path().join("instances");
    let theirs = instances.join("production");
    fs::create_dir_all(&theirs).expect("a directory");
    fs::write(theirs.join("precious"), "data").expect("a file");
    let accounts = instances.join("accounts.ledger");
    fs::write(&accounts, "2026-11-22 opening balance\n").expect("a file");
    let swept = sweep(home.path()).expect("a sweep");
    assert_eq!((swept.labs, swept.foreign), (Vec::new(), vec![accounts.clone(), theirs.clone()]));
    let refused = open(home.path(), "production").expect_err("its place is taken");
    assert!(refused.to_string().contains("no run of Plimsoll made it"), "{refused}");
    assert_eq!(fs::read_to_string(theirs.join("precious")).expect("it is there"), "data");
    assert!(accounts.exists());
    assert!(!instances.join("production.ledger").exists(), "a lab that was refused leaves no ledger");
}

#[test]
fn a_labs_directory_is_swept_although_its_ledger_was_removed() {
    let home = home();
    let lab = open(home.path(), &format!("orphan-{}", std::process::id())).expect("a lab");
    let copy = home.path().join("instances/orphan");
    let copied = Command::new("cp").arg("-a").arg(lab.dir()).arg(&copy).status().expect("cp");
    assert!(copied.success());
    let swept = sweep(home.path()).expect("a sweep");
    assert_eq!((swept.labs, swept.foreign), (vec!["orphan".to_string()], Vec::new()));
    assert!(!copy.exists() && lab.dir().is_dir(), "the living lab is untouched");
    lab.close().expect("a clean end");
}

fn php_without_mark(tool: &Tool) -> Vec<u32> {
    let marked: Vec<u32> = tool.living().into_iter().map(|(pid, _)| pid).collect();
    let command = |pid: u32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let found = processes_in(&tool.home).into_iter();
    found.filter(|pid| !marked.contains(pid) && command(*pid).contains("php-fpm")).collect()
}

fn running(pid: u32) -> bool {
    testbed::process::Identity::of(pid).is_some_and(testbed::process::Identity::runs)
}

#[test]
fn two_labs_at_once_do_not_collide() {
    let home = home();
    let mut first = Tool::start(home.path(), "first", "group");
    let mut second = Tool::start(home.path(), "second", "ledger");
    if own_user(first.uid) {
        assert_ne!(first.uid, second.uid);
    }
    first.ends(Signal::KILL);
    first.expect_nothing_left();
    assert!(second.living().len() >= 4, "the other lab is untouched: {:?}", second.living());
    second.ends(Signal::KILL);
    second.expect_nothing_left();
}

#[test]
fn a_lab_that_is_closed_leaves_nothing_and_its_id_is_free_again() {
    let home = home();
    let id = format!("closed-{}", std::process::id());
    let lab = open(home.path(), &id).expect("a lab");
    let (dir, group, keeper) =
        (lab.dir().to_path_buf(), lab.cgroup().map(Path::to_path_buf), lab.keeper_pid());
    assert!(dir.is_dir());
    let refused = open(home.path(), &id).expect_err("the id is in use");
    assert!(refused.to_string().contains("runs already"), "{refused}");
    lab.close().expect("a clean end");
    assert!(!dir.exists() && group.is_none_or(|group| !group.exists()));
    assert!(!running(keeper.expect("a keeper")), "the keeper ends with its lab");
    open(home.path(), &id).expect("the id is free").close().expect("a clean end");
    assert_eq!(fs::read_dir(home.path().join("instances")).expect("a directory").count(), 0);
}

#[test]
fn a_program_that_is_no_keeper_is_refused_before_anything_is_made() {
    let home = home();
    for (program, args) in
        [("/bin/false", vec![]), ("/bin/echo", vec!["hello".into()]), ("/no/such/file", vec![])]
    {
        let keeper = KeeperCommand { program: program.into(), args };
        let options =
            LabOptions { home: home.path(), id: "no-keeper", keeper, switch: switch(), cgroups: true };
        let refused = Lab::open(&options).expect_err(program);
        assert!(refused.to_string().contains("keeper"), "{refused}");
        assert!(!home.path().join("instances/no-keeper").exists());
    }
    assert_eq!(sweep(home.path()).expect("a sweep").processes, 0);
}

#[test]
fn a_home_that_servers_can_not_enter_is_refused_with_the_closed_directory() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).expect("a mode");
    let inside = home.path().join("inside");
    match open(&inside, "closed") {
        // Where we are not root, servers run as we do.
        Ok(lab) => assert_eq!(lab.uid(), rustix::process::geteuid().as_raw()),
        Err(problems) => {
            let text = problems.to_string();
            assert!(text.contains(&format!("other users can't enter {}\n", home.path().display())), "{text}");
        }
    }
    assert_eq!(sweep(&inside).expect("a sweep").processes, 0);
}

#[test]
fn a_deep_home_gets_short_socket_paths_and_they_go_too() {
    let home = home();
    let deep = home.path().join("d".repeat(60)).join("e".repeat(60));
    let id = format!("deep-{}", std::process::id());
    let lab = open(&deep, &id).expect("a lab");
    let sockets = lab.socket_dir().to_path_buf();
    assert!(!sockets.starts_with(home.path()) && sockets.is_dir(), "{}", sockets.display());
    lab.close().expect("a clean end");
    assert!(!sockets.exists());
}
