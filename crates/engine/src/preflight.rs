//! What would run out during a run, said before it starts: descriptors, local ports, places in the server's queue.
//!
//! [`check`] decides, from numbers alone; [`Limits::of_this_machine`] asks this machine for them; [`prepare`] does both and
//! raises the limit of descriptors.

use std::net::{IpAddr, Ipv4Addr};

use model::{Problem, Problems, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::target::{Endpoint, Target};

/// Descriptors that a run needs beside its connections: epolls, result files, what observers read.
const SPARE_DESCRIPTORS: u64 = 128;
/// The share of a source address's ports that is planned with: others need some too, and the kernel's search for a free
/// one takes ever longer as the last ones go.
const USABLE_PORTS_RATIO: f64 = 0.9;
/// The share of a source address's ports that the kernel finds at once. It tries every second port, all of them, before
/// it turns to the others: beyond half of the range each connection costs a search through half of it, 10 ms of CPU
/// (measured on Linux 6.18 with 19,000 connections: 100 a second instead of 1,900, and the generator a second late).
const QUICK_PORTS_RATIO: f64 = 0.49;
/// How many addresses of 127.0.0.0/8 are taken at most, from 127.0.0.2 on: seven million ports.
const MAX_LOOPBACK_SOURCES: u64 = 250;
/// How long a port is kept by a connection that its own side closed (TCP_TIMEWAIT_LEN of Linux).
const TIME_WAIT_S: f64 = 60.0;

/// What a run asks of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Needs {
    /// Connections open at the same time, at most.
    pub connections: u64,
    /// Connections that the generator closes and opens anew, each second; 0 when they are kept.
    pub reopened_per_s: f64,
    /// Connections that begin at the same moment.
    pub at_once: u64,
}

impl Needs {
    /// A number of connections that are kept, begun one after another.
    pub fn of_connections(connections: u64) -> Needs {
        Needs { connections, ..Needs::default() }
    }
}

/// What the machine gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// The soft limit of descriptors, and the hard one that it can be raised to.
    pub descriptors: (u64, u64),
    /// Descriptors that are open already.
    pub open_descriptors: u64,
    /// First and last local port.
    pub port_range: (u16, u16),
    /// How many ports of the range nobody is given (`net.ipv4.ip_local_reserved_ports`).
    pub reserved_ports: u64,
    /// `net.ipv4.tcp_tw_reuse`: whether ports in TIME_WAIT are given out again after a second; 2 means on loopback only.
    pub time_wait_reuse: u8,
    /// `net.core.somaxconn`: the most connections that wait for a server to accept them.
    pub backlog: u64,
}

/// What to do before a run starts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preflight {
    /// The addresses to connect from, in turn; the kernel's choice when empty.
    pub sources: Vec<IpAddr>,
    /// The soft limit of descriptors has to be raised to this.
    pub raise_descriptors: Option<u64>,
    /// What the user should know and need not act on.
    pub notes: Vec<String>,
}

/// Raises the limit of descriptors as far as the needs needs and the machine allows, and tells how to connect. An error
/// when something would run out.
pub fn prepare(needs: &Needs, target: &Target) -> Result<Preflight> {
    let preflight = check(needs, target, &Limits::of_this_machine())?;
    if let Some(max) = preflight.raise_descriptors {
        let limit = Rlimit { current: Some(max), ..getrlimit(Resource::Nofile) };
        setrlimit(Resource::Nofile, limit).map_err(|error| {
            Problem::environment(format!("failed to raise the limit of descriptors to {max}: {error}"))
                .why(format!("{} connections need it", needs.connections))
                .remedy(format!("ulimit -n {max}"))
        })?;
    }
    Ok(preflight)
}

/// Whether the needs fits the limits, and how. On loopback, source addresses are chosen where the target names none
/// and one has too few ports. Everything that would run out is told at once.
pub fn check(needs: &Needs, target: &Target, limits: &Limits) -> Result<Preflight> {
    let mut preflight = Preflight { sources: target.sources.clone(), ..Preflight::default() };
    let mut problems = Vec::new();
    match descriptors(needs, limits) {
        Ok(raise) => preflight.raise_descriptors = raise,
        Err(found) => problems.extend(found.into_vec()),
    }
    if let Endpoint::Tcp(address) = target.endpoint {
        match ports(needs, address.ip(), &target.sources, limits) {
            Ok(chosen) if chosen.is_empty() => {}
            Ok(chosen) => {
                preflight.notes.extend(note_of_sources(&chosen, limits));
                preflight.sources = chosen;
            }
            Err(found) => problems.extend(found.into_vec()),
        }
    }
    if needs.at_once > limits.backlog {
        preflight.notes.push(format!(
            "{} connections begin at once and a server queues at most {} (net.core.somaxconn): the others wait a second \
             and more for their next attempt; a ramp-up spreads them",
            needs.at_once, limits.backlog
        ));
    }
    Problems::check(problems)?;
    Ok(preflight)
}

/// The soft limit to set, if any.
fn descriptors(needs: &Needs, limits: &Limits) -> Result<Option<u64>> {
    let (soft, hard) = limits.descriptors;
    let need = needs.connections + limits.open_descriptors + SPARE_DESCRIPTORS;
    if need <= soft {
        return Ok(None);
    }
    if need <= hard {
        return Ok(Some(hard));
    }
    let room = hard.saturating_sub(limits.open_descriptors + SPARE_DESCRIPTORS);
    let connections = needs.connections;
    Err(Problem::environment(format!(
        "{connections} connections need {need} descriptors, and this process may open {hard}"
    ))
    .why(format!(
        "every connection after about {room} would fail here and look like a server that refuses it"
    ))
    .remedy(format!(
        "ulimit -Hn {need} (as root, or nofile in /etc/security/limits.conf), or at most {room} connections"
    ))
    .into())
}

/// Source addresses to use in place of none; empty when those that are given do.
fn ports(needs: &Needs, target: IpAddr, given: &[IpAddr], limits: &Limits) -> Result<Vec<IpAddr>> {
    let held_s = limits.time_wait_s(target.is_loopback());
    let waiting = (needs.reopened_per_s * held_s).ceil() as u64;
    let need = needs.connections + waiting;
    let share = |ratio: f64| ((limits.ports() as f64 * ratio) as u64).max(1);
    if need <= share(QUICK_PORTS_RATIO) * given.len().max(1) as u64 {
        return Ok(Vec::new());
    }
    let addresses = need.div_ceil(share(QUICK_PORTS_RATIO));
    if given.is_empty() && is_loopback_v4(target) && addresses <= MAX_LOOPBACK_SOURCES {
        let source = |number: u64| IpAddr::V4(Ipv4Addr::new(127, 0, 0, number as u8 + 2));
        return Ok((0..addresses).map(source).collect());
    }
    if need <= share(USABLE_PORTS_RATIO) * given.len().max(1) as u64 {
        return Ok(Vec::new());
    }
    let addresses = need.div_ceil(share(USABLE_PORTS_RATIO));
    Err(too_few_ports(needs, waiting, held_s, given.len().max(1) as u64, addresses, limits).into())
}

fn is_loopback_v4(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(address) if address.is_loopback())
}

fn too_few_ports(
    needs: &Needs,
    waiting: u64,
    held_s: f64,
    given: u64,
    addresses: u64,
    limits: &Limits,
) -> Problem {
    let (first, last) = limits.port_range;
    let mut need = format!("{} connections", needs.connections);
    if waiting > 0 {
        need += &format!(
            " and {waiting} ports that closed ones keep for {held_s} s ({} a second)",
            needs.reopened_per_s
        );
    }
    let from = if given == 1 { "one source address".into() } else { format!("{given} source addresses") };
    let have = limits.ports() * given;
    Problem::environment(format!(
        "{need} need {} local ports to one target, and {from} can give {have} \
         (net.ipv4.ip_local_port_range is {first} {last})",
        needs.connections + waiting
    ))
    .why("when they are used up connecting fails here, and the server gets less load than was asked for")
    .remedy(format!(
        "--source with {addresses} addresses of this machine (--source 127.0.0.2,127.0.0.3 on loopback), a wider \
         net.ipv4.ip_local_port_range{}",
        if waiting > 0 { ", or kept connections" } else { "" }
    ))
}

fn note_of_sources(chosen: &[IpAddr], limits: &Limits) -> Option<String> {
    let (first, last) = (chosen.first()?, chosen.last()?);
    Some(format!(
        "connections come from {first} to {last}: one address has {} ports, and the kernel finds a free one quickly among \
         half of them",
        limits.ports()
    ))
}

impl Limits {
    /// This process's and this machine's. What can't be read is taken to be Linux's default.
    pub fn of_this_machine() -> Limits {
        let limit = getrlimit(Resource::Nofile);
        let number = |path: &str| read_numbers(path).first().copied();
        let range = read_numbers("/proc/sys/net/ipv4/ip_local_port_range");
        let port_range = match range[..] {
            [first, last] => (first as u16, last as u16),
            _ => (32_768, 60_999),
        };
        let reserved = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_reserved_ports");
        Limits {
            descriptors: (limit.current.unwrap_or(u64::MAX), limit.maximum.unwrap_or(u64::MAX)),
            open_descriptors: std::fs::read_dir("/proc/self/fd").map_or(0, |list| list.count() as u64),
            port_range,
            reserved_ports: reserved.map_or(0, |text| count_reserved(&text, port_range)),
            time_wait_reuse: number("/proc/sys/net/ipv4/tcp_tw_reuse").unwrap_or(2) as u8,
            backlog: number("/proc/sys/net/core/somaxconn").unwrap_or(4096),
        }
    }

    /// The number of local ports of one source address.
    pub fn ports(&self) -> u64 {
        let (first, last) = self.port_range;
        (u64::from(last.saturating_sub(first)) + 1).saturating_sub(self.reserved_ports)
    }

    /// How long a closed connection keeps its port from another one to the same target.
    fn time_wait_s(&self, loopback: bool) -> f64 {
        if self.time_wait_reuse == 1 || (self.time_wait_reuse == 2 && loopback) { 1.0 } else { TIME_WAIT_S }
    }
}

fn read_numbers(path: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// How many ports of the range a list like `8080,9000-9010` takes away.
fn count_reserved(list: &str, (first, last): (u16, u16)) -> u64 {
    let taken = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u16, u16) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        let (from, to) = (from.max(first), to.min(last));
        (from <= to).then(|| u64::from(to - from) + 1)
    };
    list.split(',').filter_map(taken).sum()
}

#[cfg(test)]
mod tests;
