//! A switch that holds packets, where the kernel has nothing that could: a process that carries packets between network devices
//! without hardware (TUN), one in each host's network, and gives each on when its time has come. TCP stays end to end; whole
//! segments pass as the kernel makes them, with their checksums left to be filled in (virtio's header goes with them).
//!
//! It is the tool again, as a helper: what it costs is seen, and its devices end with it, whatever it dies of. Its wake-ups take
//! some tens of microseconds, so that a delay below [`MIN_DELAY_US`] would be mostly theirs.

mod tun;
mod wire;

use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use model::catalogue::tier_setting::OwnHost;
use model::{Problem, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::network;
use wire::{Held, Wires};

/// The shortest delay that it makes.
pub(crate) const MIN_DELAY_US: u32 = 1_000;
/// What it says when all devices are there.
pub(crate) const READY: &str = "ready";
/// The largest packet that the kernel gives, and the header before it.
const MAX_PACKET_BYTES: usize = (1 << 16) + tun::HEADER_BYTES;
/// Packets that are taken from one host before the others have their turn.
const BATCH: usize = 64;
/// A packet may be given on so much before it is due: sleeping for less costs more than it is worth.
const EARLY: Duration = Duration::from_micros(10);
/// What it takes its own wake-ups to be late by at most: more is a machine that is busy, and is not made up for.
const MAX_LATE: Duration = Duration::from_micros(200);
/// Of that mean, what the last wake-up makes of it.
const LAST_RATIO: f64 = 1.0 / 16.0;
/// What stands for this host's network instead of a file.
const HERE: &str = "-";

/// A host that a switch joins to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchPort {
    /// The name of its device.
    pub(crate) device: String,
    /// A file that stands for its network, `/proc/PID/fd/N` of the tool; that of this host when absent.
    pub(crate) door: Option<PathBuf>,
    /// Its addresses.
    pub(crate) addresses: Vec<Ipv4Addr>,
    /// What is done to packets from and to it.
    pub(crate) host: OwnHost,
}

impl SwitchPort {
    /// As arguments of a command, for [`SwitchPort::read_all`].
    pub(crate) fn words(&self) -> Vec<OsString> {
        // What a packet costs its sender is none of the switch's.
        let OwnHost { rate_mbit, delay_us, jitter_us, loss_ppm, cpu_us: _ } = self.host;
        let numbers =
            [rate_mbit, delay_us, jitter_us, loss_ppm].map(|number| number.unwrap_or(0).to_string());
        let door = self.door.clone().map_or(HERE.into(), PathBuf::into_os_string);
        let addresses: Vec<String> = self.addresses.iter().map(Ipv4Addr::to_string).collect();
        let words = [self.device.clone().into(), door, addresses.join(",").into()];
        words.into_iter().chain(numbers.map(OsString::from)).collect()
    }

    /// From the words of all hosts, one after the other.
    ///
    /// # Errors
    /// Others.
    pub fn read_all(words: &[OsString]) -> Result<Vec<SwitchPort>> {
        words.chunks(7).map(SwitchPort::read).collect()
    }

    fn read(words: &[OsString]) -> Result<SwitchPort> {
        let wrong = || Problem::bug("a switch is started with seven words for each host");
        let text = |at: usize| -> Result<&str> {
            Ok(words.get(at).and_then(|word| word.to_str()).ok_or_else(wrong)?)
        };
        let number = |at: usize| -> Result<Option<u32>> {
            let number: u32 = text(at)?.parse().map_err(|_| wrong())?;
            Ok(Some(number).filter(|number| *number > 0))
        };
        let addresses: std::result::Result<Vec<Ipv4Addr>, _> = text(2)?.split(',').map(str::parse).collect();
        Ok(SwitchPort {
            device: text(0)?.to_string(),
            door: Some(text(1)?).filter(|door| *door != HERE).map(PathBuf::from),
            addresses: addresses.map_err(|_| wrong())?,
            host: OwnHost {
                rate_mbit: number(3)?,
                delay_us: number(4)?,
                jitter_us: number(5)?,
                loss_ppm: number(6)?,
                cpu_us: None,
            },
        })
    }

    fn open(&self) -> io::Result<OwnedFd> {
        let Some(door) = &self.door else { return tun::open(&self.device) };
        let (door, device) = (OwnedFd::from(File::open(door)?), self.device.clone());
        network::inside(&door, move || tun::open(&device))
    }
}

/// Carries packets until its input ends; says [`READY`] on its output first.
///
/// # Errors
/// A device that can't be made.
pub fn run(ports: &[SwitchPort], input: impl AsFd, mut output: impl Write) -> Result<()> {
    let opened = ports.iter().map(|port| -> Result<OwnedFd> {
        let failed =
            |error| Problem::environment(format!("failed to make the device {}: {error}", port.device));
        Ok(port.open().map_err(failed)?)
    });
    let devices = opened.collect::<Result<Vec<OwnedFd>>>()?;
    be_punctual();
    let said = writeln!(output, "{READY}").and_then(|()| output.flush());
    said.map_err(|error| Problem::environment(format!("failed to say so: {error}")))?;
    let wires = Wires::new(ports.iter().map(|port| (port.addresses.clone(), port.host)));
    let (held, buffer) = (BinaryHeap::new(), vec![0; MAX_PACKET_BYTES]);
    let mut switch = Switch { devices, wires, held, buffer, late: Duration::ZERO };
    // A device that was removed under it ends it as its input's end does.
    while switch.carry(&input).unwrap_or(false) {}
    Ok(())
}

/// Asks for its time as soon as it is due. Without the right to, it is as punctual as others.
fn be_punctual() {
    // SAFETY: both calls take values and change nothing of this process's memory.
    unsafe {
        // The kernel may let a sleep last this long over: 50 µs by default.
        libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize, 0_usize, 0_usize, 0_usize);
        let priority = libc::sched_param { sched_priority: 1 };
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority);
    }
}

struct Switch {
    devices: Vec<OwnedFd>,
    wires: Wires,
    held: BinaryHeap<Held>,
    buffer: Vec<u8>,
    /// By how much its wake-ups are late, on the mean.
    late: Duration,
}

impl Switch {
    /// Waits until something has come or is due, and does it; whether there is more to do.
    fn carry(&mut self, input: &impl AsFd) -> io::Result<bool> {
        // As much earlier as it will be late.
        let wake_at = self.held.peek().and_then(|held| held.due.checked_sub(self.late));
        let timeout = wake_at.map(|wake_at| timespec(wake_at.saturating_duration_since(Instant::now())));
        let devices = self.devices.iter().map(|device| PollFd::new(device, PollFlags::IN));
        let mut watched: Vec<PollFd<'_>> = devices.chain([PollFd::new(input, PollFlags::IN)]).collect();
        let slept = timeout.is_some_and(|timeout| timeout.tv_sec > 0 || timeout.tv_nsec > 0);
        match poll(&mut watched, timeout.as_ref()) {
            Ok(0) if slept => self.late = mean_late(self.late, wake_at),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut come: Vec<PollFlags> = watched.iter().map(PollFd::revents).collect();
        let ended = come.pop().is_some_and(|events| !events.is_empty());
        if ended || come.iter().any(|events| events.intersects(PollFlags::ERR | PollFlags::NVAL)) {
            return Ok(false);
        }
        self.give(Instant::now())?;
        for from in (0..come.len()).filter(|from| come[*from].contains(PollFlags::IN)) {
            // It is as late in taking a packet as it is in giving one on.
            let now = Instant::now();
            self.take(from, now.checked_sub(self.late).unwrap_or(now))?;
        }
        Ok(true)
    }

    /// Takes what has come from a host; no more than a batch.
    fn take(&mut self, from: usize, now: Instant) -> io::Result<()> {
        for _ in 0..BATCH {
            let bytes = match rustix::io::read(&self.devices[from], &mut self.buffer[..]) {
                Ok(bytes) => bytes,
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            self.held.extend(self.wires.held(from, &self.buffer[..bytes], now, self.held.len()));
        }
        Ok(())
    }

    /// Gives on what is due. What a host has no room for is lost, as on any network.
    fn give(&mut self, now: Instant) -> io::Result<()> {
        while self.held.peek().is_some_and(|held| held.due <= now + EARLY) {
            let Some(held) = self.held.pop() else { break };
            match rustix::io::write(&self.devices[held.to], &held.packet) {
                // Full, or not up yet.
                Ok(_) | Err(Errno::AGAIN | Errno::NOBUFS | Errno::IO | Errno::INVAL) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// The mean lateness of wake-ups with one that was to be at `wake_at` and is now.
fn mean_late(mean: Duration, wake_at: Option<Instant>) -> Duration {
    let last = wake_at.map_or(mean, |wake_at| wake_at.elapsed()).min(MAX_LATE);
    mean.mul_f64(1.0 - LAST_RATIO) + last.mul_f64(LAST_RATIO)
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}

/// Whether devices of this kind can be made in the network behind `door`.
///
/// # Errors
/// Why they can't.
pub(crate) fn try_out(door: &OwnedFd) -> io::Result<()> {
    network::inside(door, || tun::open("tried")).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_reads_what_it_is_started_with() {
        let port = |device: &str, door: Option<PathBuf>, delay_us| SwitchPort {
            device: device.into(),
            door,
            addresses: [1, 2].map(|last| Ipv4Addr::new(198, 18, 0, last)).to_vec(),
            host: OwnHost { rate_mbit: Some(100), delay_us, ..OwnHost::default() },
        };
        let ports = [port("plim3", None, None), port("eth0", Some("/proc/1/fd/7".into()), Some(2_000))];
        let words: Vec<OsString> = ports.iter().flat_map(SwitchPort::words).collect();
        assert_eq!(SwitchPort::read_all(&words), Ok(ports.to_vec()));
        assert!(SwitchPort::read_all(&words[..9]).is_err());
    }
}
