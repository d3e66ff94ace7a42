//! Real threads, each in a wait of its own, seen from outside.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use testkit::ending::skip;

use super::*;

/// A python that waits as it is told, ended by the end of its input or by its id.
struct Waiting(Child);

impl Waiting {
    fn start(program: &str) -> Waiting {
        let mut command = Command::new("python3");
        command.args(["-c", program]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python3 is there: apt-get install python3");
        let mut ready = [0; 1];
        child
            .stdout
            .as_mut()
            .expect("it has an output")
            .read_exact(&mut ready)
            .expect("it says when it is ready");
        Waiting(child)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn may_look(id: u32) -> bool {
    let may = std::fs::read_to_string(format!("/proc/{id}/syscall")).is_ok();
    may || skip("/proc/PID/syscall can't be read here")
}

/// Looks until all threads of the process do what is expected of some, or a minute is over.
fn look_for(id: u32, sockets: Vec<PathBuf>, expected: &[(Doing, f64)]) {
    look_for_in(TierJob { name: "app".to_string(), pids: vec![id], sockets, ..TierJob::default() }, expected);
}

fn look_for_in(tier: TierJob, expected: &[(Doing, f64)]) {
    look_for_before(tier, Vec::new(), expected);
}

/// The same of a tier that stands before others.
fn look_for_before(tier: TierJob, behind: Vec<TierJob>, expected: &[(Doing, f64)]) {
    if !tier.pids.iter().all(|id| may_look(*id)) {
        return;
    }
    let tiers = [vec![tier], behind].concat();
    let mut threads = Threads::open(&Job { tiers, ..Job::default() }).expect("this kernel tells");
    let start = Instant::now();
    loop {
        threads.next = Instant::now();
        threads.look();
        let mut points = Points::at(1.0);
        threads.sample(&mut points);
        let value = |doing: &Doing| {
            let name = format!("threads.{}", doing.word());
            points.found.iter().find(|one| one.name == name).map_or(0.0, |one| one.points[0].1)
        };
        if expected.iter().all(|(doing, count)| value(doing) == *count) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "expected {expected:?}, found {:?}", points.found);
        std::thread::yield_now();
    }
}

const READY: &str = "import sys,os; sys.stdout.write('r'); sys.stdout.flush()\n";

#[test]
fn a_thread_that_sleeps_and_one_that_waits_for_a_lock_are_told_apart() {
    let sleeps = Waiting::start(&format!("{READY}import time; time.sleep(1000)"));
    look_for(sleeps.0.id(), Vec::new(), &[(Doing::Sleeping, 1.0), (Doing::WaitingForLock, 0.0)]);
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let path = file.path().to_str().expect("a temporary directory's name is text").to_string();
    let lock = format!("import fcntl\nfile = open('{path}')\n");
    let _holds = Waiting::start(&format!("{lock}fcntl.flock(file, fcntl.LOCK_EX)\n{READY}sys.stdin.read()"));
    let waits = Waiting::start(&format!("{lock}{READY}fcntl.flock(file, fcntl.LOCK_EX)"));
    look_for(waits.0.id(), Vec::new(), &[(Doing::WaitingForLock, 1.0), (Doing::Sleeping, 0.0)]);
}

#[test]
fn a_connection_that_was_made_leads_to_the_callee_and_one_that_was_accepted_to_the_client() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("behind.sock");
    let listener = UnixListener::bind(&path).expect("a path");
    let text = path.to_str().expect("a temporary directory's name is text");
    let connect = format!("import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('{text}')\n");
    let calls = Waiting::start(&format!("{connect}{READY}s.recv(1)"));
    let _accepted = listener.accept().expect("one waits");
    look_for(calls.0.id(), Vec::new(), &[(Doing::WaitingForCallee, 1.0)]);

    let own = directory.path().join("own.sock");
    let own_text = own.to_str().expect("a temporary directory's name is text").to_string();
    let serve = format!(
        "import socket,sys\ns = socket.socket(socket.AF_UNIX)\ns.bind('{own_text}')\ns.listen(1)\n{READY}c,_ = \
         s.accept()\nc.send(b'x')\nc.recv(1)"
    );
    let serves = Waiting::start(&serve);
    look_for(serves.0.id(), vec![own.clone()], &[(Doing::Idle, 1.0)]);
    let mut client = UnixStream::connect(&own).expect("it listens");
    client.read_exact(&mut [0]).expect("it greets");
    look_for(serves.0.id(), vec![own], &[(Doing::WaitingForClient, 1.0)]);
    client.write_all(b"x").expect("it reads");
}

#[test]
fn a_connection_to_a_port_leads_to_the_tier_that_listens_there_and_others_to_the_client() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it has one").port();
    let connect = format!("import socket\ns = socket.create_connection(('127.0.0.1', {port}))\n");
    let calls = Waiting::start(&format!("{connect}{READY}s.recv(1)"));
    let _accepted = listener.accept().expect("one waits");
    let own = || TierJob { name: "app".to_string(), pids: vec![calls.0.id()], ..TierJob::default() };
    let behind = |ports: Vec<u16>| vec![TierJob { name: "db".to_string(), ports, ..TierJob::default() }];
    look_for_before(own(), behind(vec![port]), &[(Doing::WaitingForCallee, 1.0)]);
    look_for_before(own(), behind(vec![port ^ 1]), &[(Doing::WaitingForClient, 1.0)]);
}

/// Whether a process may have a network of its own here.
fn networks_can_be_made() -> bool {
    let unshare = "import ctypes,sys; sys.exit(ctypes.CDLL(None).unshare(0x40000000) != 0)";
    let made = Command::new("python3").args(["-c", unshare]).status().is_ok_and(|status| status.success());
    made || skip("no network namespace can be made here")
}

#[test]
fn a_tier_with_a_network_of_its_own_is_seen_as_one_without() {
    if !networks_can_be_made() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("db.sock");
    let text = path.to_str().expect("a temporary directory's name is text").to_string();
    let mut serves = Waiting::start(&format!(
        "import ctypes,socket,sys\nassert ctypes.CDLL(None).unshare(0x40000000) == 0\ns = \
         socket.socket(socket.AF_UNIX)\ns.bind('{text}')\ns.listen(5)\n{READY}sys.stdin.read(1)\nc,_ = \
         s.accept()\nc.send(b'x')\nc.recv(1)\ns.accept()"
    ));
    let mut client = UnixStream::connect(&path).expect("a path leads there from every network");
    let tier = TierJob { pids: vec![serves.0.id()], sockets: vec![path.clone()], ..TierJob::default() };
    let threads = Threads::open(&Job { tiers: vec![tier], ..Job::default() }).expect("this kernel tells");
    assert_eq!(threads.tiers[0].queue, Some(1), "the connection that nobody has accepted yet");
    serves.0.stdin.as_mut().expect("it has an input").write_all(b"x").expect("it reads");
    client.read_exact(&mut [0]).expect("it greets");
    look_for(serves.0.id(), vec![path.clone()], &[(Doing::WaitingForClient, 1.0)]);
    client.write_all(b"x").expect("it reads");
    look_for(serves.0.id(), vec![path], &[(Doing::Idle, 1.0)]);
}

#[test]
fn threads_that_wait_together_wait_for_work_and_one_alone_that_serves_waits_for_a_lock() {
    let together = Waiting::start(&format!(
        "import threading\nlock = threading.Lock()\nlock.acquire()\nfor _ in range(3):\n \
         threading.Thread(target=lock.acquire, daemon=True).start()\n{READY}sys.stdin.read()"
    ));
    look_for(together.0.id(), Vec::new(), &[(Doing::Idle, 4.0), (Doing::WaitingForLock, 0.0)]);
}

#[test]
fn a_thread_named_as_one_that_serves_nobody_idles_and_another_that_sleeps_does_not() {
    let sleeps = Waiting::start(&format!(
        "import threading,time\ndef chores():\n open('/proc/thread-self/comm', 'w').write('mc-lrumaint')\n \
         named.set()\n time.sleep(1000)\nnamed = threading.Event()\nthreading.Thread(target=chores, \
         daemon=True).start()\nnamed.wait()\n{READY}time.sleep(1000)"
    ));
    let tier = |background: &[&str]| TierJob {
        name: "cache".to_string(),
        pids: vec![sleeps.0.id()],
        background_threads: background.iter().map(ToString::to_string).collect(),
        ..TierJob::default()
    };
    look_for_in(tier(&["mc-log", "mc-lru"]), &[(Doing::Idle, 1.0), (Doing::Sleeping, 1.0)]);
    look_for_in(tier(&["mc-log"]), &[(Doing::Idle, 0.0), (Doing::Sleeping, 2.0)]);
}

#[test]
fn all_instances_of_a_tier_are_looked_at_and_none_looks_after_another() {
    let sleep = || Waiting::start(&format!("{READY}import time; time.sleep(1000)"));
    let both = [sleep(), sleep()];
    let pids = both.iter().map(|one| one.0.id()).collect();
    let tier = TierJob { name: "cache".to_string(), pids, ..TierJob::default() };
    look_for_in(tier, &[(Doing::Sleeping, 2.0), (Doing::Idle, 0.0)]);
}

#[test]
fn connections_wait_at_a_declared_socket_and_at_those_numbered_after_it() {
    let listener = |path: &str, waiting| UnixSocket {
        inode: 1,
        path: Some(PathBuf::from(path)),
        peer: None,
        waiting: Some(waiting),
    };
    let unnamed = UnixSocket { inode: 1, path: None, peer: None, waiting: Some(512) };
    let unix = [
        listener("/s/php.sock-0", 1),
        listener("/s/php.sock-12", 2),
        listener("/s/php.sock", 4),
        listener("/s/php.sock-", 8),
        listener("/s/php.sock-0a", 16),
        listener("/s/php.sock0", 32),
        listener("/s/php.sock-0/x", 64),
        listener("/other/php.sock-0", 128),
        listener("/s/php", 256),
        unnamed,
    ];
    let tcp = |port, waiting| TcpListener { inode: 2, port, waiting };
    let tcp = [tcp(80, 1024), tcp(81, 2048)];
    let job = |sockets, ports| TierJob { sockets, ports, ..TierJob::default() };
    let php = || vec![PathBuf::from("/s/php.sock")];
    assert_eq!(waiting(&job(php(), Vec::new()), &tcp, &unix), Some(1 + 2 + 4));
    assert_eq!(waiting(&job(php(), vec![80]), &tcp, &unix), Some(1 + 2 + 4 + 1024));
    assert_eq!(waiting(&job(Vec::new(), vec![82]), &tcp, &unix), None);
}

#[test]
fn random_numbers_are_below_their_limit_and_reach_it() {
    let mut random = Random::seeded();
    let drawn: HashSet<usize> = (0..1000).map(|_| random.below(5)).collect();
    assert_eq!(drawn, (0..5).collect());
    assert!((0..1000).map(|_| random.ratio()).all(|ratio| (0.0..1.0).contains(&ratio)));
}

#[test]
fn dear_threads_are_looked_at_less_often_but_once_a_second() {
    assert_eq!(within_budget(1e-6), (8, 10.0));
    assert_eq!(within_budget(125e-6), (4, 10.0));
    assert_eq!(within_budget(500e-6), (1, 10.0));
    assert_eq!(within_budget(2.5e-3), (1, 2.0));
    assert_eq!(within_budget(0.1), (1, 1.0));
}
