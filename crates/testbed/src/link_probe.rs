//! What a link between two hosts does to packets, measured: there and back with messages of several sizes, and as much as it
//! carries each way. One end is a thread in this host's network, the other one in that of a host of its own.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use model::catalogue::tier_setting::OwnHost;
use model::{Problem, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use crate::lab::Lab;
use crate::network;
use crate::stack::Stack;

/// Sizes of the messages that go there and back; bytes.
const MESSAGES_BYTES: [usize; 3] = [1, 1_000, 16_000];
/// Messages of a size, if they take no longer than [`MESSAGES_FOR`].
const MESSAGES: usize = 2_000;
const MESSAGES_FOR: Duration = Duration::from_secs(3);
/// And in a run, before and after the users.
const SHORT_FOR: Duration = Duration::from_millis(500);
/// Messages that count for nothing: the first ones open the connection's window.
const WARM_UP: usize = 20;
/// How long it carries as much as it can, each way.
const BULK_FOR: Duration = Duration::from_secs(3);
/// An end that says nothing for so long is dead.
const TIMEOUT: Duration = Duration::from_secs(10);
const CHUNK_BYTES: usize = 64 << 10;

/// What a link does.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkFigures {
    /// A message and its answer, by the size of both.
    pub round_trips: Vec<RoundTrips>,
    /// To the host, Mbit/s of data.
    pub there_mbit: f64,
    /// From the host, likewise.
    pub back_mbit: f64,
}

/// Messages of a size, each with an answer of that size.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundTrips {
    /// Of the message, and of the answer.
    pub bytes: usize,
    /// How many there were.
    pub count: usize,
    /// The shortest, in seconds.
    pub min_s: f64,
    /// The median, in seconds.
    pub p50_s: f64,
    /// 99 of 100 took no longer; seconds.
    pub p99_s: f64,
    /// What a message and the reading of its answer cost this host's end, in seconds of CPU time; the median, since a neighbour
    /// that takes the CPU away costs some of them much more.
    pub cpu_s: f64,
}

impl Lab {
    /// Makes a host of its own with such a way to it and measures the way; both are gone afterwards. It takes some 15 s.
    /// `on_step` is told what is being measured.
    ///
    /// # Errors
    /// A host that this machine can't make; an end that doesn't answer.
    pub fn measure_link(&self, own: &OwnHost, on_step: &mut dyn FnMut(&str)) -> Result<LinkFigures> {
        on_step("making a host of its own");
        let (door, far) = self.site.make_probed_host(own)?;
        let failed = |error: io::Error| Problem::environment(format!("failed to measure the link: {error}"));
        let (ports, listening) = mpsc::channel();
        let (_near, far_cpu) = OnOneCpu::with_another();
        let answering = thread::spawn(move || {
            stay_on(far_cpu);
            network::inside(&door, move || answer(far, &ports))
        });
        // Nothing comes where the thread has ended: then its own error says why.
        let figures = match listening.recv_timeout(TIMEOUT) {
            Ok(port) => figures(SocketAddr::from((far, port)), on_step),
            Err(_) => Err(io::Error::other("the other end did not listen")),
        };
        let figures = figures.map_err(failed);
        if figures.is_err() {
            self.site.forget_probed_host()?;
            return Ok(figures?);
        }
        let answered = answering.join().unwrap_or_else(|_| Err(io::Error::other("the other end has ended")));
        self.site.forget_probed_host()?;
        answered.map_err(failed)?;
        Ok(figures?)
    }
}

impl Stack {
    /// The median time of a byte to the first host of a tier's own and back, over half a second, in seconds; `None` where it has
    /// none.
    ///
    /// # Errors
    /// A host that can't be entered, or doesn't answer.
    pub fn way_there_and_back_s(&self, tier: &str) -> Result<Option<f64>> {
        let (site, instance) = self.site_and_instance();
        let Some(far) = site.hosts.address(instance, (tier, 0)) else { return Ok(None) };
        let Some(door) = site.hosts.door(instance, (tier, 0))? else { return Ok(None) };
        let (ports, listening) = mpsc::channel();
        let (_near, far_cpu) = OnOneCpu::with_another();
        let answering = thread::spawn(move || {
            stay_on(far_cpu);
            network::inside(&door, move || answer(far, &ports))
        });
        let measured = || -> io::Result<f64> {
            let port =
                listening.recv_timeout(TIMEOUT).map_err(|_| io::Error::other("its host did not listen"))?;
            let address = SocketAddr::from((far, port));
            let trips = messages(ask(address, ECHO, 1)?, 1, SHORT_FOR)?;
            ask(address, END, 0)?;
            Ok(trips.p50_s)
        };
        let failed = |error: io::Error| {
            Problem::environment(format!("failed to measure the way to it: {error}")).tier(tier)
        };
        let p50_s = measured().map_err(failed)?;
        let answered = answering.join().unwrap_or_else(|_| Err(io::Error::other("its end has ended")));
        answered.map_err(failed)?;
        Ok(Some(p50_s))
    }
}

/// Keeps the calling thread on one CPU for as long as this is there. Two ends that the kernel happens to put on one CPU are a
/// tenth of the way from each other that they are on two (5 and 50 µs): links are compared with a cable, so both lie alike.
struct OnOneCpu {
    before: Option<CpuSet>,
}

impl OnOneCpu {
    /// On the first CPU that the thread may use, and the last one, for the other end.
    fn with_another() -> (Self, Option<usize>) {
        let before = sched_getaffinity(None).ok();
        let mut allowed = before.iter().flat_map(|set| (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)));
        let first = allowed.next();
        let last = allowed.last().or(first);
        stay_on(first);
        (Self { before }, last)
    }
}

impl Drop for OnOneCpu {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            _ = sched_setaffinity(None, before);
        }
    }
}

/// Where the kernel refuses, the figures are only less steady.
fn stay_on(cpu: Option<usize>) {
    let Some(cpu) = cpu else { return };
    let mut set = CpuSet::new();
    set.set(cpu);
    _ = sched_setaffinity(None, &set);
}

/// What an end is asked for, and the size of a message.
const ECHO: u8 = b'e';
const TAKE: u8 = b't';
const GIVE: u8 = b'g';
const END: u8 = b'x';

fn figures(address: SocketAddr, on_step: &mut dyn FnMut(&str)) -> io::Result<LinkFigures> {
    let mut round_trips = Vec::new();
    for bytes in MESSAGES_BYTES {
        on_step(&format!("messages of {bytes} bytes, there and back"));
        round_trips.push(messages(ask(address, ECHO, bytes)?, bytes, MESSAGES_FOR)?);
    }
    on_step("as much as it carries to the host");
    let there_mbit = sent(ask(address, TAKE, 0)?)?;
    on_step("as much as it carries from the host");
    let back_mbit = received(ask(address, GIVE, 0)?)?;
    ask(address, END, 0)?;
    Ok(LinkFigures { round_trips, there_mbit, back_mbit })
}

fn ask(address: SocketAddr, what: u8, bytes: usize) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let size = u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes();
    stream.write_all(&[&[what][..], &size].concat())?;
    Ok(stream)
}

fn messages(mut stream: TcpStream, bytes: usize, longest: Duration) -> io::Result<RoundTrips> {
    let (message, mut answer) = (vec![7; bytes], vec![0; bytes]);
    let (mut took_s, mut cpu_s) = (Vec::with_capacity(MESSAGES), Vec::with_capacity(MESSAGES));
    let began = Instant::now();
    for number in 0..WARM_UP + MESSAGES {
        if number > WARM_UP && began.elapsed() > longest {
            break;
        }
        let (start, start_cpu_s) = (Instant::now(), thread_cpu_s());
        stream.write_all(&message)?;
        stream.read_exact(&mut answer)?;
        if number >= WARM_UP {
            took_s.push(start.elapsed().as_secs_f64());
            cpu_s.push(thread_cpu_s() - start_cpu_s);
        }
    }
    took_s.sort_by(f64::total_cmp);
    cpu_s.sort_by(f64::total_cmp);
    let at = |sorted: &[f64], ratio: f64| sorted[((sorted.len() - 1) as f64 * ratio).round() as usize];
    Ok(RoundTrips {
        bytes,
        count: took_s.len(),
        min_s: at(&took_s, 0.0),
        p50_s: at(&took_s, 0.5),
        p99_s: at(&took_s, 0.99),
        cpu_s: at(&cpu_s, 0.5),
    })
}

/// The CPU time that the calling thread has had, in seconds.
fn thread_cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Sends as much as goes; Mbit/s, by what the other end says that it got.
fn sent(mut stream: TcpStream) -> io::Result<f64> {
    let (chunk, start) = (vec![7; CHUNK_BYTES], Instant::now());
    while start.elapsed() < BULK_FOR {
        stream.write_all(&chunk)?;
    }
    stream.shutdown(Shutdown::Write)?;
    let mut got = [0; 8];
    stream.read_exact(&mut got)?;
    Ok(mbit_per_s(u64::from_be_bytes(got), start.elapsed()))
}

fn received(mut stream: TcpStream) -> io::Result<f64> {
    let (mut chunk, start, mut bytes) = (vec![0; CHUNK_BYTES], Instant::now(), 0);
    loop {
        match stream.read(&mut chunk)? {
            0 => return Ok(mbit_per_s(bytes, start.elapsed())),
            got => bytes += got as u64,
        }
    }
}

fn mbit_per_s(bytes: u64, took: Duration) -> f64 {
    bytes as f64 * 8.0 / 1e6 / took.as_secs_f64()
}

/// The other end: does what it is asked for, until it is told that this was all.
fn answer(address: Ipv4Addr, ports: &mpsc::Sender<u16>) -> io::Result<()> {
    let listener = TcpListener::bind((address, 0))?;
    // Nobody waits for it any more where this fails.
    _ = ports.send(listener.local_addr()?.port());
    loop {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let mut asked = [0; 5];
        stream.read_exact(&mut asked)?;
        let bytes = u32::from_be_bytes([asked[1], asked[2], asked[3], asked[4]]) as usize;
        match asked[0] {
            ECHO => echo(stream, bytes)?,
            TAKE => {
                let mut got = 0_u64;
                let mut chunk = vec![0; CHUNK_BYTES];
                loop {
                    match stream.read(&mut chunk)? {
                        0 => break,
                        more => got += more as u64,
                    }
                }
                stream.write_all(&got.to_be_bytes())?;
            }
            GIVE => {
                let (chunk, start) = (vec![7; CHUNK_BYTES], Instant::now());
                while start.elapsed() < BULK_FOR {
                    stream.write_all(&chunk)?;
                }
            }
            _ => return Ok(()),
        }
    }
}

fn echo(mut stream: TcpStream, bytes: usize) -> io::Result<()> {
    let mut message = vec![0; bytes];
    loop {
        match stream.read_exact(&mut message) {
            Ok(()) => stream.write_all(&message)?,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ends_on_this_host_measure_what_is_between_them() {
        let (ports, listening) = mpsc::channel();
        let other = thread::spawn(move || answer(Ipv4Addr::LOCALHOST, &ports));
        let port = listening.recv_timeout(TIMEOUT).expect("it listens");
        let mut steps = Vec::new();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let figures = figures(address, &mut |step| steps.push(step.to_string())).expect("both ends are here");
        assert_eq!(figures.round_trips.iter().map(|one| one.bytes).collect::<Vec<_>>(), MESSAGES_BYTES);
        let ordered = |one: &RoundTrips| 0.0 < one.min_s && one.min_s <= one.p50_s && one.p50_s <= one.p99_s;
        assert!(figures.round_trips.iter().all(ordered), "{figures:?}");
        assert!(figures.there_mbit > 1.0 && figures.back_mbit > 1.0, "{figures:?}");
        assert_eq!(steps.len(), 5);
        other.join().expect("no panic").expect("it was told that this was all");
    }
}
