//! Hosts of their own and this one, joined in a star: each has a network namespace, and one network with the others.
//!
//! Where the kernel can do what is asked for, the middle is a bridge in a namespace of its own, with a pair of virtual network cards
//! (veth(4)) to each host; where only a process can, it is a [`switch`] with a device in each host's namespace. No namespace has a
//! name. Each lasts as long as a process that runs in it or the descriptor that the tool holds, so that it outlives neither, whatever
//! they die of, and the cards end with it.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use model::catalogue::tier_setting::OwnHost;

use crate::helper::Helping;
use crate::iproute::run;
use crate::network::network;
use crate::refusal::HostRefusal;
use crate::slow::slow_down;
use crate::subnet::{PREFIX_BITS, Subnet};
use crate::switch::{self, MIN_DELAY_US, SwitchPort};
use crate::toll;

/// The name of a host's only card.
const CARD: &str = "eth0";
/// What all of them use, whatever this machine's default is: else a result would depend on it.
const CONGESTION_CONTROL: &str = "cubic";
/// Packets that a device without hardware has room for: as many as a switch holds.
const QUEUE_PACKETS: u32 = 10_000;

/// What the middle of a star is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Middle {
    /// The kernel's bridge.
    Bridge,
    /// A process of the tool's.
    Switch,
}

/// A host that is wanted: how it is joined to the others, and how many servers are on it, each with an address of its own: some
/// servers tell others apart by that alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) own: OwnHost,
    pub(crate) servers: usize,
}

/// Hosts that are joined.
#[derive(Debug)]
pub(crate) struct Star {
    pub(crate) subnet: Subnet,
    /// The ways into their networks.
    doors: Vec<OwnedFd>,
    /// The addresses on each.
    addresses: Vec<Vec<Ipv4Addr>>,
    /// The way into the network of the bridge, which lasts as long.
    _bridge: Option<OwnedFd>,
    /// What carries their packets, where that is not the kernel.
    switch: Option<Helping>,
}

impl Star {
    /// The way into the network of host `number`, from 0.
    pub(crate) fn door(&self, number: usize) -> Option<&OwnedFd> {
        self.doors.get(number)
    }

    /// What carries their packets, where that is a process.
    pub(crate) fn switch(&self) -> Option<&Helping> {
        self.switch.as_ref()
    }

    /// The addresses of the servers on each.
    pub(crate) fn addresses(&self) -> &[Vec<Ipv4Addr>] {
        &self.addresses
    }

    /// Joins `hosts` with this host in `subnet`, whose card is written `owner`'s. `start` starts a switch between ports: nothing
    /// when it ended at once. Nothing when somebody else took the network's card meanwhile.
    pub(crate) fn make<E>(
        subnet: Subnet,
        wanted: &[Wanted],
        middle: Middle,
        owner: &str,
        start: impl FnOnce(&[SwitchPort]) -> Result<Option<Helping>, E>,
    ) -> Result<Result<Option<Star>, HostRefusal>, E> {
        let hosts: Vec<OwnHost> = wanted.iter().map(|host| host.own).collect();
        let hosts = hosts.as_slice();
        let addresses = addresses(subnet, wanted);
        let doors = match hosts.iter().map(|_| new_network()).collect::<Result<Vec<OwnedFd>, _>>() {
            Ok(doors) => doors,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut star = Star { subnet, doors, addresses, _bridge: None, switch: None };
        let made = match middle {
            Middle::Bridge => star.bridge(hosts),
            Middle::Switch => {
                star.switch = start(&star.ports(hosts))?;
                match &star.switch {
                    Some(_) => Ok(true),
                    // Its own card would be gone with it.
                    None if subnet.is_there() => Ok(false),
                    None => {
                        let what = "the process that would carry its packets ended";
                        Err(HostRefusal::Network(what.to_string()))
                    }
                }
            }
        };
        Ok(match made {
            Ok(true) => star.address(owner).and_then(|()| star.charge(hosts)).map(|()| Some(star)),
            Ok(false) => Ok(None),
            Err(refusal) => Err(refusal),
        })
    }

    /// A pair of cards for each host and for this one, whose other ends are on a bridge. `false` when somebody else has taken
    /// this host's card.
    fn bridge(&mut self, hosts: &[OwnHost]) -> Result<bool, HostRefusal> {
        let bridge = new_network()?;
        let ip = |line: &str| run("ip", line, Some(&bridge)).map_err(HostRefusal::Network);
        ip("link add br0 type bridge stp_state 0")?;
        ip("link set dev br0 up")?;
        let here = format!("/proc/{}/ns/net", std::process::id());
        match ip(&format!("link add near type veth peer name {} netns {here}", self.subnet.name())) {
            Err(HostRefusal::Network(said)) if said.contains("File exists") => return Ok(false),
            added => added?,
        }
        for number in 0..hosts.len() {
            let there = file_of(&self.doors[number]).display().to_string();
            ip(&format!("link add far{number} type veth peer name {CARD} netns {there}"))?;
        }
        let ports = (0..hosts.len()).map(|number| format!("far{number}"));
        for port in ports.chain(["near".to_string()]) {
            ip(&format!("link set dev {port} master br0"))?;
            ip(&format!("link set dev {port} up"))?;
        }
        for (number, host) in hosts.iter().enumerate() {
            slow_down(&format!("far{number}"), host, Some(&bridge))?;
            slow_down(CARD, host, Some(&self.doors[number]))?;
        }
        self._bridge = Some(bridge);
        Ok(true)
    }

    /// What a switch is told: this host, and then the others, whose networks are reached by the tool's own descriptors.
    fn ports(&self, hosts: &[OwnHost]) -> Vec<SwitchPort> {
        let here = SwitchPort {
            device: self.subnet.name(),
            door: None,
            addresses: vec![self.subnet.near()],
            host: OwnHost::default(),
        };
        let far = hosts.iter().enumerate().map(|(number, host)| SwitchPort {
            device: CARD.to_string(),
            door: Some(file_of(&self.doors[number])),
            addresses: self.addresses[number].clone(),
            host: *host,
        });
        [here].into_iter().chain(far).collect()
    }

    /// Writes on this host's card whose it is, and gives all of them their addresses.
    fn address(&self, owner: &str) -> Result<(), HostRefusal> {
        let name = self.subnet.name();
        run("ip", &format!("link set dev {name} alias {owner}"), None).map_err(HostRefusal::Network)?;
        self.join(&name, &[self.subnet.near()], None)?;
        for (number, door) in self.doors.iter().enumerate() {
            run("ip", "link set dev lo up", Some(door)).map_err(HostRefusal::Network)?;
            self.join(CARD, &self.addresses[number], Some(door))?;
        }
        Ok(())
    }

    /// Lets packets cost their senders CPU time: those between two hosts what the dearer of their two links costs.
    fn charge(&self, hosts: &[OwnHost]) -> Result<(), HostRefusal> {
        let cost_us = |number: usize| hosts[number].cpu_us.unwrap_or(0);
        let near = self.subnet.name();
        for from in 0..hosts.len() {
            if cost_us(from) > 0 {
                toll::charge(CARD, cost_us(from), None, self.door(from))?;
            }
            for to in (0..hosts.len()).filter(|to| *to != from) {
                let more_us = cost_us(to).saturating_sub(cost_us(from));
                self.charge_to(to, (CARD, more_us), self.door(from))?;
            }
            self.charge_to(from, (&near, cost_us(from)), None)?;
        }
        Ok(())
    }

    /// What goes by a card to host `to` costs so much.
    fn charge_to(
        &self,
        to: usize,
        (card, cost_us): (&str, u32),
        door: Option<&OwnedFd>,
    ) -> Result<(), HostRefusal> {
        let addresses = self.addresses[to].iter().filter(|_| cost_us > 0);
        addresses.copied().try_for_each(|address| toll::charge(card, cost_us, Some(address), door))
    }

    /// Gives a card its addresses, and the way to the others.
    fn join(&self, card: &str, addresses: &[Ipv4Addr], door: Option<&OwnedFd>) -> Result<(), HostRefusal> {
        let ip = |line: String| run("ip", &line, door).map_err(HostRefusal::Network);
        ip(format!("link set dev {card} txqueuelen {QUEUE_PACKETS}"))?;
        for address in addresses {
            ip(format!("addr add {address}/{PREFIX_BITS} dev {card} noprefixroute"))?;
        }
        self.open_way(card, addresses, door)
    }

    /// Whoever sends does so from the first of them.
    fn open_way(
        &self,
        card: &str,
        addresses: &[Ipv4Addr],
        door: Option<&OwnedFd>,
    ) -> Result<(), HostRefusal> {
        let Some(address) = addresses.first() else { return Ok(()) };
        let network = self.subnet.network();
        // The default of a network is only root's of this host's to choose, that of a route is ours.
        let way = format!("dev {card} src {address} congctl {CONGESTION_CONTROL}");
        let lines =
            [format!("link set dev {card} up"), format!("route replace {network}/{PREFIX_BITS} {way}")];
        lines.iter().try_for_each(|line| run("ip", line, door).map_err(HostRefusal::Network))
    }

    /// Cuts host `number` off: what is on its way is lost, and connections hear nothing of it.
    pub(crate) fn cut(&self, number: usize) -> Result<(), HostRefusal> {
        let line = format!("link set dev {CARD} down");
        run("ip", &line, self.door(number)).map_err(HostRefusal::Network)
    }

    /// Joins it again.
    pub(crate) fn mend(&self, number: usize) -> Result<(), HostRefusal> {
        self.open_way(CARD, self.addresses.get(number).map_or(&[], Vec::as_slice), self.door(number))
    }
}

/// An address for each server, host by host.
fn addresses(subnet: Subnet, wanted: &[Wanted]) -> Vec<Vec<Ipv4Addr>> {
    let mut first = 0;
    let of_host = |host: &Wanted| {
        let numbers = first..first + host.servers;
        first = numbers.end;
        numbers.map(|number| subnet.far(number)).collect()
    };
    wanted.iter().map(of_host).collect()
}

fn file_of(door: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), door.as_raw_fd()))
}

fn new_network() -> Result<OwnedFd, HostRefusal> {
    network().map_err(|error: io::Error| HostRefusal::Network(error.to_string()))
}

/// What the middle of a star with these hosts can be here; tried in a network that is gone afterwards, so that nothing of it is ever
/// seen in this host's.
///
/// The kernel holds packets at a card, so that between two hosts that are both away it would hold them twice: there only a switch does
/// what is asked for.
pub(crate) fn middle(hosts: &[OwnHost]) -> Result<Middle, HostRefusal> {
    let door = new_network()?;
    run("ip", "link add near type veth peer name far", Some(&door)).map_err(HostRefusal::Network)?;
    if let Some(cost_us) = hosts.iter().find_map(|host| host.cpu_us) {
        toll::charge("far", cost_us, None, Some(&door))?;
    }
    let held = |host: &&OwnHost| host.delay_us.or(host.loss_ppm).is_some();
    for host in hosts.iter().filter(|host| !held(host)) {
        slow_down("far", host, Some(&door))?;
        run("tc", "qdisc del dev far root", Some(&door)).ok();
    }
    let mut away = hosts.iter().filter(held);
    let Some(first) = away.next() else { return Ok(Middle::Bridge) };
    let several = away.next().is_some();
    let said = match slow_down("far", first, Some(&door)) {
        Ok(()) if !several => return Ok(Middle::Bridge),
        Ok(()) => "it would hold packets between two such hosts twice".to_string(),
        Err(HostRefusal::Discipline { said, .. }) => said,
        Err(refusal) => return Err(refusal),
    };
    let short = |host: &OwnHost| host.delay_us.is_none_or(|delay_us| delay_us < MIN_DELAY_US);
    if hosts.iter().filter(held).any(short) {
        return Err(HostRefusal::Delay { said, switch: None });
    }
    let made = switch::try_out(&door).map(|()| Middle::Switch);
    made.map_err(|error| HostRefusal::Delay { said, switch: Some(error.to_string()) })
}
