//! What a thread does, from the system call that it is blocked in.
//!
//! A call says what is waited for only together with its descriptor or address, so these are looked up through
//! [`Around`]. The words follow from where the tier stands: a socket that it accepted leads to its client, one that it
//! connected to the tier behind it.

use libc::c_long;
use model::record::diagnosis::Doing;

use super::call::{Call, Place};

/// What a descriptor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
    /// A socket that others connect to.
    Listener,
    /// A connection that the tier accepted.
    Served,
    /// A connection that the tier made.
    Called,
    /// A file on a disk.
    File,
    /// The lock by which processes take turns to accept.
    Turn,
    /// A pipe, a timer, a socket of nobody that is known.
    Other,
}

/// What else is to be known of a thread.
pub(crate) trait Around {
    /// What its descriptor is.
    fn thing(&mut self, fd: u64) -> Thing;
    /// The first descriptor of a list of poll(2) at that address.
    fn first_polled(&mut self, address: u64) -> Option<u64>;
    /// Whether that address is a place where threads wait for work: several do, or it is a variable of the program
    /// itself.
    fn is_queue(&mut self, address: u64) -> bool;
    /// Whether the thread is one that serves connections, by what it was seen doing.
    fn serves(&self) -> bool;
    /// Whether it serves nobody: it looks after the others, or after memory and the like.
    fn serves_nobody(&self) -> bool;
    /// Whether a commit waits until others have it, too.
    fn commits_together(&self) -> bool;
}

/// What a thread at `place` does.
pub(crate) fn doing(place: &Place, around: &mut impl Around) -> Doing {
    let found = match place {
        Place::Running => return Doing::Running,
        Place::Fault => Doing::WaitingForDisk,
        Place::Call(call) => of_call(call, around),
    };
    // Such a thread wakes from time to time to do its chores; nobody waits for it.
    if found != Doing::Idle && around.serves_nobody() { Doing::Idle } else { found }
}

fn of_call(call: &Call, around: &mut impl Around) -> Doing {
    let fd = call.args[0] as u32;
    let is = |set: &[c_long]| set.contains(&call.number);
    if is(&IDLE) || is(&IDLE_OF_OLD) {
        Doing::Idle
    } else if is(&SLEEP) {
        Doing::Sleeping
    } else if is(&DISK) {
        Doing::WaitingForDisk
    } else if is(&MEMORY) {
        // Blocked in these means that another thread holds the map of this process's memory.
        Doing::WaitingForLock
    } else if is(&READ) {
        of_stream(around.thing(u64::from(fd)), Doing::Idle)
    } else if is(&WRITE) {
        of_stream(around.thing(u64::from(fd)), Doing::Other)
    } else if is(&POLL) {
        of_poll(call, around)
    } else if is(&[libc::SYS_connect]) {
        Doing::WaitingForCallee
    } else if is(&[libc::SYS_pselect6]) {
        if call.args[0] == 0 { Doing::Sleeping } else { Doing::Idle }
    } else if is(&[libc::SYS_futex]) {
        of_futex(call, around)
    } else if is(&[libc::SYS_flock]) {
        of_file_lock(around.thing(u64::from(fd)))
    } else if is(&[libc::SYS_fcntl]) {
        let waits = matches!(call.args[1] as i32, libc::F_SETLKW | libc::F_OFD_SETLKW);
        if waits { of_file_lock(around.thing(u64::from(fd))) } else { Doing::Other }
    } else if is(&[libc::SYS_semop, libc::SYS_semtimedop]) {
        // Of the servers that are known only the turn to accept is a semaphore of System V.
        if around.serves() { Doing::WaitingForLock } else { Doing::Idle }
    } else {
        Doing::Other
    }
}

fn of_stream(thing: Thing, otherwise: Doing) -> Doing {
    match thing {
        Thing::Served => Doing::WaitingForClient,
        Thing::Called => Doing::WaitingForCallee,
        Thing::File => Doing::WaitingForDisk,
        Thing::Listener => Doing::Idle,
        Thing::Turn | Thing::Other => otherwise,
    }
}

fn of_file_lock(thing: Thing) -> Doing {
    if thing == Thing::Turn { Doing::Idle } else { Doing::WaitingForLock }
}

/// A list of nothing is a way to sleep; of several descriptors the first says what kind they are.
fn of_poll(call: &Call, around: &mut impl Around) -> Doing {
    if call.args[1] == 0 {
        return Doing::Sleeping;
    }
    match around.first_polled(call.args[0]) {
        Some(fd) => of_stream(around.thing(fd), Doing::Idle),
        None => Doing::Other,
    }
}

/// `FUTEX_WAIT`, which glibc's mutexes and InnoDB's latches use, is a lock. Condition variables and semaphores wait
/// with a bit set: for work, when many wait at one place; else for what the thread needs to go on, a row lock for
/// example. One on its own stack, or among its own variables behind it, is InnoDB's group commit, which MariaDB 10.11 waits for without a
/// bit set: until another thread has written the log. A node of a Galera cluster waits in the same way until the others have what it
/// commits, and the write of its own log can't be told from that. With a timeout it is a sleep that can be ended early, as SLEEP of SQL.
fn of_futex(call: &Call, around: &mut impl Around) -> Doing {
    let [address, operation, _, timeout, ..] = call.args;
    let (private, command) = (operation & PRIVATE != 0, operation & COMMAND);
    if !private {
        // Shared between processes: their turn to accept.
        return if around.serves() { Doing::WaitingForLock } else { Doing::Idle };
    }
    let own = (call.stack..call.stack + STACK_BYTES).contains(&address);
    let commits = if around.commits_together() { Doing::WaitingForCallee } else { Doing::WaitingForDisk };
    match command {
        WAIT if own && timeout == 0 => commits,
        WAIT | LOCK_PI | LOCK_PI2 => Doing::WaitingForLock,
        _ if !around.serves() || around.is_queue(address) => Doing::Idle,
        _ if !own => Doing::WaitingForLock,
        _ if timeout != 0 => Doing::Sleeping,
        _ => commits,
    }
}

/// `linux/futex.h`.
const PRIVATE: u64 = libc::FUTEX_PRIVATE_FLAG as u64;
const COMMAND: u64 = libc::FUTEX_CMD_MASK as u32 as u64;
const WAIT: u64 = libc::FUTEX_WAIT as u64;
const LOCK_PI: u64 = libc::FUTEX_LOCK_PI as u64;
const LOCK_PI2: u64 = libc::FUTEX_LOCK_PI2 as u64;

/// MariaDB's threads have stacks of 292 KiB, others of up to 8 MiB: from the stack pointer to the thread's own
/// variables at its upper end it is much less.
const STACK_BYTES: u64 = 256 * 1024;

const READ: [c_long; 6] = [
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_splice,
];
const WRITE: [c_long; 6] = [
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_sendfile,
];
#[cfg(target_arch = "x86_64")]
const POLL: [c_long; 2] = [libc::SYS_poll, libc::SYS_ppoll];
#[cfg(not(target_arch = "x86_64"))]
const POLL: [c_long; 1] = [libc::SYS_ppoll];
const SLEEP: [c_long; 2] = [libc::SYS_nanosleep, libc::SYS_clock_nanosleep];
const MEMORY: [c_long; 6] = [
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
];

/// Waiting for whatever comes next, by calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
const IDLE_OF_OLD: [c_long; 3] = [libc::SYS_epoll_wait, libc::SYS_pause, libc::SYS_select];
#[cfg(not(target_arch = "x86_64"))]
const IDLE_OF_OLD: [c_long; 0] = [];

/// Waiting for whatever comes next.
const IDLE: [c_long; 9] = [
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_epoll_pwait,
    libc::SYS_io_getevents,
    libc::SYS_io_uring_enter,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigsuspend,
    libc::SYS_wait4,
    libc::SYS_waitid,
];

/// Calls on files that are only ever blocked by a disk, or by who else waits for it.
const DISK: [c_long; 16] = [
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_fallocate,
    libc::SYS_ftruncate,
    libc::SYS_openat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_getdents64,
    libc::SYS_msync,
];

#[cfg(test)]
mod tests;
