//! Lines that real servers gave (Debian 12, kernel 6.18, x86-64), and what their threads were doing then.

#![cfg(target_arch = "x86_64")]

use super::*;
use crate::tier::threads::call::parse;

/// A thread of which everything is said beforehand.
struct KnownThread {
    things: Vec<(u64, Thing)>,
    polled: Option<u64>,
    queues: Vec<u64>,
    serves: bool,
    serves_nobody: bool,
    commits_together: bool,
}

impl Around for KnownThread {
    fn thing(&mut self, fd: u64) -> Thing {
        self.things.iter().find(|(known, _)| *known == fd).map_or(Thing::Other, |(_, thing)| *thing)
    }
    fn first_polled(&mut self, _: u64) -> Option<u64> {
        self.polled
    }
    fn is_queue(&mut self, address: u64) -> bool {
        self.queues.contains(&address)
    }
    fn serves(&self) -> bool {
        self.serves
    }
    fn serves_nobody(&self) -> bool {
        self.serves_nobody
    }
    fn commits_together(&self) -> bool {
        self.commits_together
    }
}

fn serving_thread() -> KnownThread {
    let things = vec![(3, Thing::Listener), (8, Thing::Served), (9, Thing::Called), (6, Thing::File)];
    KnownThread {
        things,
        polled: None,
        queues: vec![0x555a_dede_4248],
        serves: true,
        serves_nobody: false,
        commits_together: false,
    }
}

fn of(line: &str, mut around: KnownThread) -> Doing {
    doing(&parse(line).expect("a kernel's line"), &mut around)
}

const POLL: &str =
    "7 0x7ffd4a23a930 0x1 0x1388 0x7ffd4a23aa18 0x0 0x7f8ff4a8b660 0x7ffd4a23a928 0x7f8ff56e323b";

#[test]
fn a_process_of_apache_prefork_waits_for_work_its_client_or_the_database() {
    let accept = "288 0x3 0x7ffd4a23abb0 0x7ffd4a23ab90 0x80000 0x0 0x0 0x7ffd4a23ab68 0x7f8ff56f1f63";
    assert_eq!(of(accept, serving_thread()), Doing::Idle);
    assert_eq!(
        of(POLL, KnownThread { polled: Some(8), ..serving_thread() }),
        Doing::WaitingForClient,
        "kept alive"
    );
    assert_eq!(
        of(POLL, KnownThread { polled: Some(9), ..serving_thread() }),
        Doing::WaitingForCallee,
        "a query"
    );
    assert_eq!(
        of(POLL, KnownThread { polled: Some(3), ..serving_thread() }),
        Doing::Idle,
        "several ports to listen on"
    );
    let usleep = "230 0x0 0x0 0x7ffd4a23aa10 0x0 0x0 0x0 0x7ffd4a23a9f8 0x7f8ff56b0f53";
    assert_eq!(of(usleep, serving_thread()), Doing::Sleeping);
    let turn = "72 0x5 0x7 0x7f8ff4a8b660 0x0 0x0 0x0 0x7ffd4a23a9f8 0x7f8ff56b0f53";
    assert_eq!(of(turn, KnownThread { things: vec![(5, Thing::Turn)], ..serving_thread() }), Doing::Idle);
    assert_eq!(of(turn, serving_thread()), Doing::WaitingForLock, "a session's file");
    let parent = "270 0x0 0x0 0x0 0x0 0x7ffd4a23ad50 0x0 0x7ffd4a23ad40 0x7f8ff56e5954";
    assert_eq!(of(parent, KnownThread { serves_nobody: true, ..serving_thread() }), Doing::Idle);
    assert_eq!(of(parent, serving_thread()), Doing::Sleeping, "a list of nothing, by one that serves");
}

#[test]
fn a_thread_of_mariadb_waits_for_a_row_the_log_its_client_or_to_be_used_again() {
    let queue = "202 0x555adede4248 0x189 0x0 0x7f7070107d00 0x0 0xffffffff 0x7f7070107bd0 0x7f707aaa3f16";
    assert_eq!(of(queue, serving_thread()), Doing::Idle, "the cache of threads");
    let row = "202 0x555af373bdbc 0x189 0x0 0x7f705d5fecb0 0x0 0xffffffff 0x7f705d5feba0 0x7f707aaa3f16";
    assert_eq!(of(row, serving_thread()), Doing::WaitingForLock);
    assert_eq!(
        of(row, KnownThread { serves: false, ..serving_thread() }),
        Doing::Idle,
        "a thread of the background"
    );
    let latch = "202 0x555af373bdbc 0x80 0x2 0x0 0x0 0x0 0x7f705d5feba0 0x7f707aaa3f16";
    assert_eq!(of(latch, serving_thread()), Doing::WaitingForLock);
    let commit = "202 0x7f705d5ff6a8 0x189 0x0 0x0 0x0 0xffffffff 0x7f705d5feba0 0x7f707aaa3f16";
    assert_eq!(of(commit, serving_thread()), Doing::WaitingForDisk, "another thread writes the log for it");
    assert_eq!(
        of(commit, KnownThread { commits_together: true, ..serving_thread() }),
        Doing::WaitingForCallee,
        "the other nodes of its cluster get it, too"
    );
    let sleep = "202 0x7f705d5ff6a8 0x189 0x0 0x7f705d5fecb0 0x0 0xffffffff 0x7f705d5feba0 0x7f707aaa3f16";
    assert_eq!(of(sleep, serving_thread()), Doing::Sleeping, "SLEEP: the same for a time");
    let sync = "75 0x6 0x0 0x0 0x0 0x0 0x0 0x7f705d5feba0 0x7f707aaa3f16";
    assert_eq!(of(sync, serving_thread()), Doing::WaitingForDisk);
    let signals =
        "128 0x7f7070789c10 0x7f7070789c90 0x0 0x8 0x0 0x555adede2000 0x7f7070789bc0 0x7f707aa5ac82";
    assert_eq!(of(signals, serving_thread()), Doing::Idle);
    assert_eq!(
        of("-1 0x7f7070789bc0 0x7f707aa5ac82", serving_thread()),
        Doing::WaitingForDisk,
        "a page comes from disk"
    );
}

#[test]
fn a_thread_of_memcached_that_looks_after_its_memory_idles_unless_it_runs() {
    let usleep = "230 0x0 0x0 0x7f2636ffcad0 0x0 0x0 0x0 0x7f2636ffca90 0x7f26468ed545";
    let chores = || KnownThread { serves: false, serves_nobody: true, ..serving_thread() };
    assert_eq!(of(usleep, chores()), Doing::Idle);
    assert_eq!(
        of(usleep, KnownThread { serves: false, ..serving_thread() }),
        Doing::Sleeping,
        "nobody said so"
    );
    let lock = "202 0x555af373bdbc 0x80 0x2 0x0 0x0 0x0 0x7f705d5feba0 0x7f707aaa3f16";
    assert_eq!(of(lock, chores()), Doing::Idle);
    assert_eq!(of("running", chores()), Doing::Running);
}

#[test]
fn a_process_of_php_fpm_reads_from_its_client_writes_to_it_and_opens_files() {
    let line = |number: u32, fd: u32| format!("{number} {fd:#x} 0x0 0x0 0x0 0x0 0x0 0x7f 0x7f");
    assert_eq!(of(&line(0, 8), serving_thread()), Doing::WaitingForClient);
    assert_eq!(of(&line(1, 8), serving_thread()), Doing::WaitingForClient);
    assert_eq!(of(&line(45, 9), serving_thread()), Doing::WaitingForCallee);
    assert_eq!(of(&line(42, 77), serving_thread()), Doing::WaitingForCallee, "connect: its queue is full");
    assert_eq!(of(&line(257, 0), serving_thread()), Doing::WaitingForDisk);
    assert_eq!(of(&line(0, 6), serving_thread()), Doing::WaitingForDisk);
    assert_eq!(of(&line(11, 0), serving_thread()), Doing::WaitingForLock, "munmap");
    assert_eq!(of(&line(0, 77), serving_thread()), Doing::Idle, "a pipe from the parent");
    assert_eq!(of(&line(300, 0), serving_thread()), Doing::Other);
    assert_eq!(of("running", serving_thread()), Doing::Running);
}
