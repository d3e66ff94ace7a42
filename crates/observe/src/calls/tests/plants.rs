//! Ways to block, each with what is to be seen of it and a clock of its own.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::record::diagnosis::Doing;

/// What a plant does after it has been told to; it gives how long it was blocked.
pub(super) type Act = Box<dyn FnOnce() -> Duration>;

/// A way to block.
pub(super) struct Plant {
    pub(super) name: &'static str,
    /// The calls in which it is blocked.
    pub(super) calls: &'static [&'static str],
    /// A part of the object's name.
    pub(super) object: &'static str,
    pub(super) doing: Doing,
    /// Gets everything ready in a directory of its own.
    pub(super) prepare: fn(&Path) -> Act,
}

pub(super) const PLANTS: &[Plant] = &[
    Plant { name: "sleep", calls: &["clock_nanosleep"], object: "", doing: Doing::Sleeping, prepare: sleep },
    Plant { name: "flock", calls: &["flock"], object: "turn", doing: Doing::WaitingForLock, prepare: flock },
    Plant {
        name: "fsync",
        calls: &["fsync"],
        object: "journal",
        doing: Doing::WaitingForDisk,
        prepare: fsync,
    },
    Plant { name: "pipe", calls: &["read"], object: "pipe", doing: Doing::Idle, prepare: pipe },
    Plant {
        name: "dead-port",
        calls: &["connect"],
        object: "127.0.0.1:",
        doing: Doing::WaitingForCallee,
        prepare: dead_port,
    },
    Plant {
        name: "unix",
        calls: &["read", "recvfrom"],
        object: "callee.sock",
        doing: Doing::WaitingForCallee,
        prepare: unix,
    },
    Plant { name: "mutex", calls: &["futex"], object: "", doing: Doing::WaitingForLock, prepare: mutex },
    Plant {
        name: "children",
        calls: &["wait4", "waitid"],
        object: "",
        doing: Doing::Idle,
        prepare: children,
    },
    Plant {
        name: "faults",
        calls: &["page fault"],
        object: "",
        doing: Doing::WaitingForDisk,
        prepare: faults,
    },
    Plant {
        name: "files",
        calls: &["read", "pread64"],
        object: "cold",
        doing: Doing::WaitingForDisk,
        prepare: files,
    },
];

/// Not among those that have a time: very many threads that wait for nothing.
pub(super) const CROWD: Plant =
    Plant { name: "crowd", calls: &[], object: "", doing: Doing::Idle, prepare: crowd };
/// Of one process: a thread has four maps of memory, and a process 65,530 at most.
pub(super) const CROWD_THREADS: u64 = 10_000;

/// Not among them either: calls of several kinds, which don't block.
pub(super) const CALLER: Plant =
    Plant { name: "caller", calls: &[], object: "", doing: Doing::Running, prepare: caller };
/// Nor one that computes.
pub(super) const SPINNER: Plant =
    Plant { name: "spinner", calls: &[], object: "", doing: Doing::Running, prepare: spinner };

/// How often it makes each.
pub(super) const ROUNDS: u64 = 1_000;

/// How often `sleep` sleeps.
pub(super) const SLEEPS: u64 = 40;
const MOMENT: Duration = Duration::from_millis(20);
/// Shorter times than this are not worth a plant: clocks and wake-ups would be a part of them.
const MIN_BLOCKED: Duration = Duration::from_millis(300);

/// How long the thread was blocked in `act`: it neither had a CPU nor waited for one.
fn timed(act: impl FnOnce()) -> Duration {
    let (began, before) = (Instant::now(), ran_and_waited());
    act();
    began.elapsed().saturating_sub(ran_and_waited() - before)
}

/// Its CPU time, and the second figure of proc(5): how long it was ready without one.
fn ran_and_waited() -> Duration {
    let ran = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("this kernel keeps it");
    let waited_ns = text.split_ascii_whitespace().nth(1).and_then(|figure| figure.parse().ok());
    Duration::new(ran.tv_sec.unsigned_abs(), ran.tv_nsec as u32)
        + Duration::from_nanos(waited_ns.expect("a number of nanoseconds"))
}

fn sleep(_: &Path) -> Act {
    Box::new(|| (0..SLEEPS).map(|_| timed(|| thread::sleep(MOMENT))).sum())
}

/// Another thread holds the lock, again and again.
fn flock(directory: &Path) -> Act {
    let path = directory.join("turn");
    let (own, other) = (File::create(&path).expect("writable"), File::create(&path).expect("writable"));
    Box::new(move || {
        let mut blocked = Duration::ZERO;
        for _ in 0..20 {
            other.lock().expect("nobody holds it");
            let holder = other.try_clone().expect("a copy");
            let holding = thread::spawn(move || {
                thread::sleep(MOMENT);
                holder.unlock().expect("it holds it");
            });
            blocked += timed(|| own.lock().expect("it comes to hold it"));
            own.unlock().expect("it holds it");
            holding.join().expect("no panic");
        }
        blocked
    })
}

fn fsync(directory: &Path) -> Act {
    let mut file = File::create(directory.join("journal")).expect("writable");
    Box::new(move || {
        let mut blocked = Duration::ZERO;
        let began = Instant::now();
        while blocked < MIN_BLOCKED && began.elapsed() < Duration::from_secs(20) {
            file.write_all(&[7; 1 << 20]).expect("the disk has room");
            blocked += timed(|| file.sync_all().expect("the disk works"));
        }
        blocked
    })
}

fn pipe(_: &Path) -> Act {
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    Box::new(move || {
        let writing = thread::spawn(move || {
            for _ in 0..20 {
                thread::sleep(MOMENT);
                writer.write_all(b"x").expect("somebody reads");
            }
        });
        let mut byte = [0];
        let blocked = (0..20).map(|_| timed(|| reader.read_exact(&mut byte).expect("somebody writes"))).sum();
        writing.join().expect("no panic");
        blocked
    })
}

/// The listener's queue is full: first packets are dropped.
fn dead_port(_: &Path) -> Act {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    // SAFETY: the descriptor is the listener's own.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0, "its queue is made short");
    let address = listener.local_addr().expect("it has one");
    let full: Vec<_> = (0..4).map(|_| connecting(address, Duration::from_millis(50))).collect();
    Box::new(move || {
        let blocked = timed(|| _ = connecting(address, Duration::from_millis(600)));
        drop((listener, full));
        blocked
    })
}

/// A blocking connect that gives up after `timeout`, as PHP's does; the socket, so that it stays open.
fn connecting(address: SocketAddr, timeout: Duration) -> Option<std::os::fd::OwnedFd> {
    use rustix::net::{AddressFamily, SocketType, connect, socket, sockopt};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(timeout)).expect("it may time out");
    _ = connect(&socket, &address);
    Some(socket)
}

fn unix(directory: &Path) -> Act {
    let path = directory.join("callee.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    Box::new(move || {
        let answering = thread::spawn(move || {
            let (mut peer, _) = listener.accept().expect("somebody comes");
            for _ in 0..20 {
                thread::sleep(MOMENT);
                peer.write_all(b"x").expect("somebody reads");
            }
        });
        let mut stream = UnixStream::connect(&path).expect("somebody listens");
        let mut byte = [0];
        let blocked =
            (0..20).map(|_| timed(|| stream.read_exact(&mut byte).expect("somebody answers"))).sum();
        answering.join().expect("no panic");
        blocked
    })
}

/// A word in memory as glibc's mutexes use it.
fn mutex(_: &Path) -> Act {
    Box::new(|| {
        let word = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let ended = Arc::new(AtomicBool::new(false));
        let waker = thread::spawn({
            let (word, ended) = (word.clone(), ended.clone());
            move || {
                while !ended.load(Ordering::SeqCst) {
                    thread::sleep(MOMENT);
                    futex(&word, libc::FUTEX_WAKE, 1);
                }
            }
        });
        let blocked = (0..20).map(|_| timed(|| futex(&word, libc::FUTEX_WAIT, 0))).sum();
        ended.store(true, Ordering::SeqCst);
        waker.join().expect("no panic");
        blocked
    })
}

fn futex(word: &std::sync::atomic::AtomicU32, operation: i32, value: u32) {
    let operation = operation | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word outlives the call, and without a timeout the kernel touches nothing else.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, std::ptr::null::<libc::timespec>())
    };
}

fn children(_: &Path) -> Act {
    Box::new(|| {
        let mut blocked = Duration::ZERO;
        for _ in 0..20 {
            let mut child = Command::new("sleep").arg("0.02").spawn().expect("coreutils are there");
            blocked += timed(|| _ = child.wait().expect("it ends"));
        }
        blocked
    })
}

/// Pages of a file whose data are on the disk only.
fn faults(directory: &Path) -> Act {
    let file = written(&directory.join("mapped"), 64 << 20);
    Box::new(move || {
        let (mut blocked, began) = (Duration::ZERO, Instant::now());
        while blocked < MIN_BLOCKED && began.elapsed() < Duration::from_secs(20) {
            forget(&file);
            let length = 64 << 20;
            // SAFETY: a new mapping of a file that is open and as long; only read from, and unmapped below.
            unsafe {
                let (read, private) = (libc::PROT_READ, libc::MAP_PRIVATE);
                let map = libc::mmap(std::ptr::null_mut(), length, read, private, file.as_raw_fd(), 0);
                assert_ne!(map, libc::MAP_FAILED, "a file can be mapped");
                libc::madvise(map, length, libc::MADV_RANDOM);
                blocked += timed(|| {
                    for page in (0..length).step_by(1 << 16) {
                        std::ptr::read_volatile(map.cast::<u8>().add(page));
                    }
                });
                libc::munmap(map, length);
            }
        }
        blocked
    })
}

/// Reads a small file again and again, as a server does.
fn caller(directory: &Path) -> Act {
    let path = directory.join("page");
    written(&path, 4 << 10);
    Box::new(move || {
        timed(|| {
            let mut bytes = [0; 4 << 10];
            for _ in 0..ROUNDS {
                let mut file = File::open(&path).expect("it was written");
                file.read_exact(&mut bytes).expect("it is as long");
                drop(file);
                // SAFETY: the call touches no memory.
                unsafe { libc::getppid() };
            }
        })
    })
}

fn spinner(_: &Path) -> Act {
    Box::new(|| timed(|| spin(Duration::from_millis(600))))
}

/// A function of its own, so that it has a name.
#[inline(never)]
fn spin(length: Duration) {
    let began = Instant::now();
    let mut number = 1_u64;
    while began.elapsed() < length {
        // Without optimisation a range, or a rotation, would be functions of their own.
        let mut left = 100_000_u32;
        while left > 0 {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            left -= 1;
        }
    }
    std::hint::black_box(number);
}

fn crowd(_: &Path) -> Act {
    for _ in 0..CROWD_THREADS {
        let small = thread::Builder::new().stack_size(16 << 10);
        small.spawn(thread::park).expect("the machine has room for them");
    }
    Box::new(|| timed(|| thread::sleep(MOMENT)))
}

/// Many files, each read once from the disk.
fn files(directory: &Path) -> Act {
    let paths: Vec<_> = (0..100).map(|number| directory.join(format!("cold{number}"))).collect();
    paths.iter().for_each(|path| drop(written(path, 128 << 10)));
    Box::new(move || {
        let (mut blocked, began) = (Duration::ZERO, Instant::now());
        while blocked < MIN_BLOCKED && began.elapsed() < Duration::from_secs(20) {
            for path in &paths {
                let mut file = File::open(path).expect("it was written");
                forget(&file);
                let mut bytes = vec![0; 128 << 10];
                blocked += timed(|| file.read_exact(&mut bytes).expect("the disk works"));
            }
        }
        blocked
    })
}

fn written(path: &Path, bytes: usize) -> File {
    fs::write(path, vec![7; bytes]).expect("the disk has room");
    let file = OpenOptions::new().read(true).open(path).expect("it was written");
    file.sync_all().expect("the disk works");
    file
}

/// Takes the data of a file out of memory.
fn forget(file: &File) {
    // SAFETY: the descriptor is the file's own; the call touches no memory of ours.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}
