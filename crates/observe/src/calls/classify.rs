//! From what the kernel counted to what it means: what a thread did, in which call, on what.

use std::ops::Range;
use std::path::PathBuf;

use model::record::calls::Cell;
use model::record::diagnosis::Doing;

use super::raw::{BLOCKED, READY, RawCell};
use super::syscall;
use crate::job::TierJob;
use crate::tier::{Around, Call, Place, Thing, doing};

/// Marks of a block, as `ledger.bpf.c` numbers them.
mod mark {
    pub(super) const IN_IOWAIT: u8 = 1;
    pub(super) const TIMED: u8 = 2;
    pub(super) const KERNEL_LOCK: u8 = 4;
    pub(super) const FAULT: u8 = 8;
    pub(super) const ON_STACK: u8 = 16;
    pub(super) const SERVING: u8 = 32;
    pub(super) const MAIN: u8 = 64;
}

/// What an object is, likewise.
pub(super) mod kind {
    pub(in super::super) const REGULAR_FILE: u8 = 1;
    pub(in super::super) const TCP: u8 = 2;
    pub(in super::super) const UNIX: u8 = 3;
    pub(in super::super) const PIPE: u8 = 4;
    pub(in super::super) const EVENT: u8 = 5;
    pub(in super::super) const PATH: u8 = 6;
    pub(in super::super) const FUTEX: u8 = 7;
    pub(in super::super) const EMPTY_LIST: u8 = 8;
}

/// Which end of a socket, likewise.
mod end {
    pub(super) const SERVES: u8 = 1;
    pub(super) const CALLS: u8 = 2;
    pub(super) const LISTENS: u8 = 3;
}

/// Where tiers are found by those who call them.
#[derive(Debug, Default)]
pub(super) struct Callees {
    ports: Vec<(u16, String)>,
    sockets: Vec<(PathBuf, String)>,
}

impl Callees {
    pub(super) fn of(tiers: &[TierJob]) -> Callees {
        let ports = tiers.iter().flat_map(|tier| tier.ports.iter().map(|port| (*port, tier.name.clone())));
        let sockets =
            tiers.iter().flat_map(|tier| tier.sockets.iter().map(|path| (path.clone(), tier.name.clone())));
        Callees { ports: ports.collect(), sockets: sockets.collect() }
    }

    /// Every port that a tier listens on.
    pub(super) fn ports(&self) -> Vec<u16> {
        self.ports.iter().map(|(port, _)| *port).collect()
    }

    /// Whether a tier has that name.
    pub(super) fn is_tier(&self, name: &str) -> bool {
        self.ports.iter().any(|(_, tier)| tier == name) || self.sockets.iter().any(|(_, tier)| tier == name)
    }

    fn by_port(&self, port: u64) -> Option<&str> {
        self.ports.iter().find(|(known, _)| u64::from(*known) == port).map(|(_, tier)| tier.as_str())
    }

    /// A path may be cut short in the kernel.
    fn by_path(&self, path: &str) -> Option<&str> {
        let is =
            |known: &PathBuf| known.to_str().is_some_and(|known| !path.is_empty() && known.starts_with(path));
        self.sockets.iter().find(|(known, _)| is(known)).map(|(_, tier)| tier.as_str())
    }
}

/// What is known of a tier beside the counts.
#[derive(Debug, Default)]
pub(super) struct TierFacts {
    pub(super) name: String,
    /// Beginnings of the names of its threads that serve nobody.
    pub(super) background: Vec<String>,
    /// A commit on one of its instances waits until all have it.
    pub(super) commits_together: bool,
    /// Where the program's own variables lie in the memory of each instance.
    pub(super) images: Vec<Range<u64>>,
}

/// One of the kernel's cells with all that is known of it.
pub(super) struct Block<'a> {
    pub(super) raw: &'a RawCell,
    pub(super) tier: &'a TierFacts,
    /// The name of the thread.
    pub(super) thread: &'a str,
    /// The object's directory and name; empty where it has none.
    pub(super) name: &'a (String, String),
    /// More than one thread waited there at once.
    pub(super) several: bool,
}

impl Block<'_> {
    /// What it means.
    pub(super) fn cell(mut self, callees: &Callees) -> Cell {
        let blocked = self.raw.state == BLOCKED;
        Cell {
            tier: self.tier.name.clone(),
            thread: self.thread.to_string(),
            doing: self.doing(),
            call: if blocked { syscall::name(self.raw.call) } else { String::new() },
            object: if blocked { self.object(callees) } else { String::new() },
            kernel_lock: self.has(mark::KERNEL_LOCK),
        }
    }

    fn has(&self, mark: u8) -> bool {
        self.raw.marks & mark != 0
    }

    fn doing(&mut self) -> Doing {
        match self.raw.state {
            BLOCKED => self.blocked(),
            READY => Doing::WaitingForCpu,
            _ => Doing::Running,
        }
    }

    fn blocked(&mut self) -> Doing {
        // A ring's own wait has the kernel's mark of a disk whatever it waits for.
        let on_disk = self.has(mark::IN_IOWAIT) && i64::from(self.raw.call) != libc::SYS_io_uring_enter;
        if self.has(mark::KERNEL_LOCK) {
            return Doing::WaitingForLock;
        }
        if on_disk {
            return Doing::WaitingForDisk;
        }
        if self.has(mark::FAULT) {
            // Not for a disk: for memory, or for another thread that changes the map of it.
            return Doing::Other;
        }
        let place = Place::Call(self.call());
        doing(&place, self)
    }

    /// The call as the judge wants it. Of arguments only those matter that it looks at.
    fn call(&self) -> Call {
        let number = libc::c_long::from(self.raw.call);
        // An address that lies on the thread's stack, whatever it is.
        const ON_STACK: u64 = 1 << 20;
        let (mut args, mut stack) = ([0, 1, 0, 0, 0, 0], 0);
        if self.raw.kind == kind::FUTEX {
            args = [self.raw.object, self.raw.device, 0, u64::from(self.has(mark::TIMED)), 0, 0];
            if self.has(mark::ON_STACK) {
                (args[0], stack) = (ON_STACK, ON_STACK);
            }
        } else if self.raw.kind == kind::EMPTY_LIST {
            args[1] = 0;
        } else if number == libc::SYS_fcntl {
            // Only those block.
            args[1] = libc::F_SETLKW as u64;
        } else if number == libc::SYS_pselect6 {
            args[0] = 1;
        }
        Call { number, args, stack }
    }

    fn object(&self, callees: &Callees) -> String {
        let (directory, name) = self.name;
        match (self.raw.kind, self.raw.end) {
            (kind::TCP | kind::UNIX, end::SERVES) => "client".to_string(),
            (kind::TCP | kind::UNIX, end::LISTENS) => "new connections".to_string(),
            (kind::TCP, end::CALLS) => self.callee(callees),
            (kind::UNIX, end::CALLS) => callees.by_path(name).unwrap_or(name).to_string(),
            (kind::UNIX, _) => "socket pair".to_string(),
            (kind::PIPE, _) => "pipe".to_string(),
            (kind::EVENT, _) => "events".to_string(),
            (kind::FUTEX, _) if self.tier.commits_together && self.has(mark::ON_STACK) => {
                "other nodes".to_string()
            }
            (kind::REGULAR_FILE, _) if directory.is_empty() || directory == "/" => name.clone(),
            (kind::REGULAR_FILE, _) => format!("{directory}/{name}"),
            (kind::PATH, _) => name.clone(),
            _ => String::new(),
        }
    }

    /// The tier that listens on the port; else the address, of IPv6 only the port.
    fn callee(&self, callees: &Callees) -> String {
        let port = self.raw.object;
        match (callees.by_port(port), u32::try_from(self.raw.device)) {
            (Some(tier), _) => tier.to_string(),
            (None, Ok(address)) => {
                let [a, b, c, d] = address.to_ne_bytes();
                format!("{a}.{b}.{c}.{d}:{port}")
            }
            (None, Err(_)) => format!("port {port}"),
        }
    }
}

impl Around for Block<'_> {
    fn thing(&mut self, _fd: u64) -> Thing {
        match (self.raw.kind, self.raw.end) {
            // Apache names the file of its turn after what it is for, e.g. `accept-lock.4711`.
            (kind::REGULAR_FILE, _) if self.name.1.contains("accept") => Thing::Turn,
            (kind::REGULAR_FILE, _) => Thing::File,
            (kind::TCP | kind::UNIX, end::SERVES) => Thing::Served,
            (kind::TCP | kind::UNIX, end::CALLS) => Thing::Called,
            (kind::TCP | kind::UNIX, end::LISTENS) => Thing::Listener,
            _ => Thing::Other,
        }
    }

    fn first_polled(&mut self, _address: u64) -> Option<u64> {
        Some(0)
    }

    fn is_queue(&mut self, address: u64) -> bool {
        // Those on stacks are one cell together, and each of them is waited at by one thread.
        let shared = !self.has(mark::ON_STACK);
        shared && (self.several || self.tier.images.iter().any(|image| image.contains(&address)))
    }

    fn serves(&self) -> bool {
        self.has(mark::SERVING)
    }

    fn serves_nobody(&self) -> bool {
        self.has(mark::MAIN)
            || self.tier.background.iter().any(|beginning| self.thread.starts_with(beginning))
    }

    fn commits_together(&self) -> bool {
        self.tier.commits_together
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn callees() -> Callees {
        let db = TierJob { name: "db".to_string(), ports: vec![3306], ..TierJob::default() };
        let app =
            TierJob { name: "app".to_string(), sockets: vec!["/run/php.sock".into()], ..TierJob::default() };
        Callees::of(&[db, app])
    }

    fn blocked(call: libc::c_long) -> RawCell {
        RawCell { state: BLOCKED, call: call as i32, ..RawCell::default() }
    }

    fn meaning(raw: RawCell, name: &str) -> (Doing, String) {
        meaning_where(false, raw, name)
    }

    /// Of a cell in which `several` threads were at once.
    fn meaning_where(several: bool, raw: RawCell, name: &str) -> (Doing, String) {
        meaning_in(&tier(), several, raw, name)
    }

    fn tier() -> TierFacts {
        TierFacts { name: "web".to_string(), background: vec!["ib_".to_string()], ..TierFacts::default() }
    }

    fn meaning_in(tier: &TierFacts, several: bool, raw: RawCell, name: &str) -> (Doing, String) {
        let name = (String::new(), name.to_string());
        let block = Block { raw: &raw, tier, thread: "worker", name: &name, several };
        let cell = block.cell(&callees());
        (cell.doing, cell.object)
    }

    #[test]
    fn a_socket_leads_to_the_client_or_to_the_tier_that_listens_there() {
        let tcp = |end, object, device| RawCell {
            kind: kind::TCP,
            end,
            object,
            device,
            ..blocked(libc::SYS_recvfrom)
        };
        let loopback = u64::from(u32::from_ne_bytes([127, 0, 0, 1]));
        let named = |text: &str| text.to_string();
        assert_eq!(meaning(tcp(end::CALLS, 3306, loopback), ""), (Doing::WaitingForCallee, named("db")));
        assert_eq!(
            meaning(tcp(end::CALLS, 443, loopback), ""),
            (Doing::WaitingForCallee, named("127.0.0.1:443"))
        );
        assert_eq!(meaning(tcp(end::SERVES, 80, 0), ""), (Doing::WaitingForClient, named("client")));
        let unix = RawCell { kind: kind::UNIX, end: end::CALLS, ..blocked(libc::SYS_poll) };
        assert_eq!(meaning(unix, "/run/php.sock"), (Doing::WaitingForCallee, named("app")));
        assert_eq!(meaning(unix, "/run/other.sock"), (Doing::WaitingForCallee, named("/run/other.sock")));
    }

    #[test]
    fn a_disk_and_a_lock_of_the_kernel_are_told_by_its_marks_and_a_ring_by_neither() {
        let marked = |call, marks| meaning(RawCell { marks, ..blocked(call) }, "").0;
        assert_eq!(marked(libc::SYS_sendfile, mark::IN_IOWAIT), Doing::WaitingForDisk);
        assert_eq!(marked(libc::SYS_read, mark::KERNEL_LOCK | mark::IN_IOWAIT), Doing::WaitingForLock);
        assert_eq!(marked(libc::SYS_io_uring_enter, mark::IN_IOWAIT), Doing::Idle);
        assert_eq!(marked(-1, mark::FAULT | mark::IN_IOWAIT), Doing::WaitingForDisk);
        assert_eq!(marked(-1, mark::FAULT), Doing::Other);
    }

    #[test]
    fn calls_without_marks_are_judged_as_those_that_are_looked_at() {
        let plain = |raw| meaning(raw, "").0;
        assert_eq!(plain(blocked(libc::SYS_clock_nanosleep)), Doing::Sleeping);
        assert_eq!(plain(RawCell { kind: kind::EMPTY_LIST, ..blocked(libc::SYS_poll) }), Doing::Sleeping);
        let futex = RawCell {
            kind: kind::FUTEX,
            device: (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as u64,
            object: 0x5555_0000,
            ..blocked(libc::SYS_futex)
        };
        assert_eq!(plain(futex), Doing::WaitingForLock);
        let condition = (libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG) as u64;
        let condition = RawCell { device: condition, ..futex };
        assert_eq!(plain(condition), Doing::Idle, "it has never had a client");
        let serving = RawCell { marks: mark::SERVING, ..condition };
        assert_eq!(plain(serving), Doing::WaitingForLock);
        let commit = RawCell { marks: mark::SERVING | mark::ON_STACK, object: 0, ..condition };
        assert_eq!(plain(commit), Doing::WaitingForDisk, "a group commit waits on the thread's own stack");
        let by_value = RawCell { marks: commit.marks, object: 0, ..futex };
        assert_eq!(
            plain(by_value),
            Doing::WaitingForDisk,
            "so does that of MariaDB 10.11, without a bit set"
        );
        let timed = RawCell { marks: commit.marks | mark::TIMED, ..commit };
        assert_eq!(plain(timed), Doing::Sleeping, "a SLEEP waits there, too, but for a time");
        let by_several = |raw| meaning_where(true, raw, "").0;
        assert_eq!(by_several(serving), Doing::Idle, "a pool's threads wait for work at one place");
        assert_eq!(
            by_several(timed),
            Doing::Sleeping,
            "each of several that SLEEP waits on a stack of its own"
        );
        assert_eq!(by_several(commit), Doing::WaitingForDisk, "so do those of a group commit");
        let of_cluster = TierFacts { commits_together: true, ..tier() };
        let in_cluster = |raw| meaning_in(&of_cluster, false, raw, "");
        assert_eq!(in_cluster(commit), (Doing::WaitingForCallee, "other nodes".to_string()));
        assert_eq!(in_cluster(serving), (Doing::WaitingForLock, String::new()), "a row is another place");
        assert_eq!(plain(RawCell { marks: mark::MAIN, ..blocked(libc::SYS_clock_nanosleep) }), Doing::Idle);
        let file = RawCell { kind: kind::REGULAR_FILE, ..blocked(libc::SYS_flock) };
        assert_eq!(meaning(file, "orders"), (Doing::WaitingForLock, "orders".to_string()));
        assert_eq!(meaning(file, "accept-lock.1").0, Doing::Idle);
    }

    #[test]
    fn a_thread_with_a_cpu_has_neither_call_nor_object() {
        let (doing, object) = meaning(RawCell { call: -1, ..RawCell::default() }, "");
        assert_eq!((doing, object.as_str()), (Doing::Running, ""));
        assert_eq!(
            meaning(RawCell { state: READY, call: -1, ..RawCell::default() }, "").0,
            Doing::WaitingForCpu
        );
    }
}
