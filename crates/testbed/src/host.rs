//! Hosts of their own for a tier's instances, as far as the network goes: a network namespace each, and a [`Star`] that joins them
//! with this host.
//!
//! This host's card in the star is a line of the lab's ledger: whoever ends the lab sees to it that it is gone, instead of waiting for
//! the kernel to get round to it.
//!
//! Files are not part of it: unix sockets with a path are reached from here as before, which is how data is loaded,
//! servers are asked whether they are ready, and observers ask them what they do.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::catalogue::tier_setting::OwnHost;
use model::record::plan::PlanTier;
use model::{Plan, Problem, Problems, Result};

use crate::helper::{Helper, Helping};
use crate::lab::Site;
use crate::ledger::Entry;
use crate::refusal::HostRefusal;
use crate::star::{Middle, Star, Wanted, middle};
use crate::subnet::{self, MAX_HOSTS, Subnet};
use crate::switch::{READY, SwitchPort};

/// The group of the processes that carry packets, and what they cost stands under.
const NETWORK: &str = "network";
/// What stands for the stack and the tier of a host that is only looked at.
const PROBED: &str = "probe";

/// The addresses of the hosts of their own that tiers' instances have, by tier; of a tier that has none, nothing.
pub(crate) type Addresses = BTreeMap<String, Vec<Ipv4Addr>>;

/// The hosts of one stack.
#[derive(Debug)]
struct OfStack {
    instance: String,
    /// Who is on each host.
    hosts: Vec<OnHost>,
    star: Star,
}

/// Those who are on a host: the tier of each, and the number of its instance.
type OnHost = Vec<(String, usize)>;

impl OfStack {
    /// Which host an instance of a tier is on.
    fn host(&self, of: (&str, usize)) -> Option<usize> {
        position(&self.hosts, of).map(|(host, _)| host)
    }

    /// The address of an instance of a tier.
    fn address(&self, of: (&str, usize)) -> Option<Ipv4Addr> {
        let (host, among) = position(&self.hosts, of)?;
        self.star.addresses().get(host)?.get(among).copied()
    }
}

/// Which host an instance of a tier is on, and which one among those there it is.
fn position(hosts: &[OnHost], (tier, number): (&str, usize)) -> Option<(usize, usize)> {
    let is_it = |(name, of): &(String, usize)| name == tier && *of == number;
    hosts.iter().enumerate().find_map(|(host, there)| Some((host, there.iter().position(is_it)?)))
}

/// The hosts of a lab's tiers.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    all: Mutex<Vec<OfStack>>,
}

impl Hosts {
    fn lock(&self) -> MutexGuard<'_, Vec<OfStack>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way into the network of an instance of a stack's tier, where it has one of its own.
    pub(crate) fn door(&self, instance: &str, (tier, number): (&str, usize)) -> Result<Option<OwnedFd>> {
        let all = self.lock();
        let of_stack = all.iter().find(|one| one.instance == instance);
        let host = of_stack.and_then(|one| one.star.door(one.host((tier, number))?));
        let door = host.map(OwnedFd::try_clone).transpose();
        door.map_err(|error| {
            Problem::environment(format!("failed to enter its network: {error}")).tier(tier).into()
        })
    }

    /// The address of the host of an instance of a stack's tier, where it has one of its own.
    pub(crate) fn address(&self, instance: &str, of: (&str, usize)) -> Option<Ipv4Addr> {
        let all = self.lock();
        let of_stack = all.iter().find(|one| one.instance == instance)?;
        of_stack.address(of)
    }

    /// Cuts the host of an instance of a stack's tier off, or joins it again.
    pub(crate) fn cut(&self, instance: &str, (tier, number): (&str, usize), off: bool) -> Result<()> {
        let all = self.lock();
        let found = all
            .iter()
            .find(|one| one.instance == instance)
            .and_then(|one| Some((&one.star, one.host((tier, number))?)));
        let (star, place) =
            found.ok_or_else(|| Problem::recipe("it has no host of its own to be cut off").tier(tier))?;
        let done = if off { star.cut(place) } else { star.mend(place) };
        done.map_err(|refusal| Problem::environment(refusal.to_string()).tier(tier).into())
    }

    /// This host's cards that lead to others.
    pub(crate) fn cables(&self) -> Vec<String> {
        self.lock().iter().map(|one| one.star.subnet.name()).collect()
    }

    /// What carries packets between those of a stack, where that is a process.
    pub(crate) fn carrier(&self, instance: &str) -> Option<(u32, Option<PathBuf>)> {
        let all = self.lock();
        let switch = all.iter().find(|one| one.instance == instance)?.star.switch()?;
        Some((switch.pid(), switch.cgroup().map(Path::to_path_buf)))
    }

    /// Removes those of a stack, whose processes have ended; this host's card in it was written `owner`'s.
    pub(crate) fn remove(&self, instance: &str, owner: &str) -> Result<()> {
        let mut all = self.lock();
        let ours = all.iter().filter(|one| one.instance == instance);
        let removed = ours.map(|one| subnet::remove(&one.star.subnet.name(), owner));
        let problems = removed.filter_map(|removed| removed.err()).flat_map(Problems::into_vec).collect();
        all.retain(|one| one.instance != instance);
        Problems::check(problems)
    }
}

impl Site {
    /// Makes the hosts of those tiers of a stack that have some of their own.
    pub(crate) fn make_hosts(&self, instance: &str, tiers: &[&PlanTier]) -> Result<Addresses> {
        let (on_hosts, hosts) = wanted_hosts(tiers.iter().copied());
        if hosts.is_empty() {
            return Ok(Addresses::new());
        }
        let first = tiers.iter().find(|tier| tier.own_host.is_some());
        let of_tier = |refusal: HostRefusal| match first {
            Some(tier) => refusal.of_tier(tier),
            None => refusal.alone(),
        };
        let servers = on_hosts.iter().map(Vec::len);
        let wanted: Vec<Wanted> =
            hosts.iter().zip(servers).map(|(own, servers)| Wanted { own: *own, servers }).collect();
        let star = self.make_star(&wanted)?.map_err(of_tier)?;
        let mut addresses = Addresses::new();
        let of_stack = OfStack { instance: instance.to_string(), hosts: on_hosts, star };
        for tier in tiers.iter().filter(|tier| tier.own_host.is_some()) {
            let all = instances(tier).filter_map(|number| of_stack.address((&tier.name, number)));
            addresses.insert(tier.name.clone(), all.collect());
        }
        self.hosts.lock().push(of_stack);
        Ok(addresses)
    }

    /// Makes a host of its own outside of any stack, to look at the way to it: the way in, and its address.
    ///
    /// # Errors
    /// What it takes that this machine doesn't have.
    pub(crate) fn make_probed_host(&self, own: &OwnHost) -> Result<(OwnedFd, Ipv4Addr)> {
        let star = self.make_star(&[Wanted { own: *own, servers: 1 }])?.map_err(HostRefusal::alone)?;
        let (address, hosts) = (star.subnet.far(0), vec![vec![(PROBED.to_string(), 0)]]);
        self.hosts.lock().push(OfStack { instance: PROBED.to_string(), hosts, star });
        let door = self.hosts.door(PROBED, (PROBED, 0))?;
        Ok((door.ok_or_else(|| Problem::bug("a host that was just made is not there"))?, address))
    }

    /// Removes it again.
    pub(crate) fn forget_probed_host(&self) -> Result<()> {
        self.hosts.remove(PROBED, &self.marker)
    }

    /// The inner error is why there can be none.
    fn make_star(&self, wanted: &[Wanted]) -> Result<Result<Star, HostRefusal>> {
        let servers: usize = wanted.iter().map(|host| host.servers).sum();
        if servers > MAX_HOSTS {
            let what = format!("a network has room for {MAX_HOSTS} servers, and {servers} are asked for");
            return Err(Problem::recipe(what).into());
        }
        let hosts: Vec<OwnHost> = wanted.iter().map(|host| host.own).collect();
        let middle = match middle(&hosts) {
            Ok(middle) => middle,
            Err(refusal) => return Ok(Err(refusal)),
        };
        for subnet in Subnet::free() {
            // Before it is made. A line for a card that turns out to be somebody else's does no harm: it says whose.
            self.note(&Entry::Cable { name: subnet.name(), owner: self.marker.clone() })?;
            match Star::make(subnet, wanted, middle, &self.marker, |ports| self.start_switch(ports))? {
                Ok(Some(star)) => return Ok(Ok(star)),
                Ok(None) => {}
                Err(refusal) => {
                    subnet::remove(&subnet.name(), &self.marker)?;
                    return Ok(Err(refusal));
                }
            }
        }
        Ok(Err(HostRefusal::Network("all of 198.18.0.0/15 leads somewhere already".to_string())))
    }

    /// Starts what carries packets between hosts; nothing when it ended before it was ready.
    fn start_switch(&self, ports: &[SwitchPort]) -> Result<Option<Helping>> {
        let words = ports.iter().flat_map(SwitchPort::words);
        let mut helping = self.help(&Helper {
            name: NETWORK.to_string(),
            program: self.switch.program.clone(),
            args: self.switch.args.iter().cloned().chain(words).collect(),
            cpus: Vec::new(),
        })?;
        let mut said = String::new();
        let read = helping.output.take().map(|output| BufReader::new(output).read_line(&mut said));
        Ok(matches!(read, Some(Ok(_)) if said.trim_end() == READY).then_some(helping))
    }
}

/// The hosts that tiers ask for, and who is on each: those that a topology names are one, each other instance has its own.
fn wanted_hosts<'a>(tiers: impl Iterator<Item = &'a PlanTier>) -> (Vec<OnHost>, Vec<OwnHost>) {
    let mut names: Vec<Option<&String>> = Vec::new();
    let (mut on_hosts, mut hosts) = (Vec::new(), Vec::new());
    for (tier, own) in tiers.filter_map(|tier| Some((tier, tier.own_host?))) {
        for number in instances(tier) {
            let name = tier.hosts.get(number);
            let known = name.and_then(|name| names.iter().position(|known| *known == Some(name)));
            let place = known.unwrap_or_else(|| {
                names.push(name);
                on_hosts.push(OnHost::new());
                hosts.push(own);
                hosts.len() - 1
            });
            on_hosts[place].push((tier.name.clone(), number));
        }
    }
    (on_hosts, hosts)
}

/// The numbers of a tier's instances.
fn instances(tier: &PlanTier) -> std::ops::Range<usize> {
    0..tier.instances.max(1) as usize
}

/// Refuses a plan whose tiers can't be on hosts of their own on this machine as asked, before anything is made for it.
///
/// # Errors
/// Why they can't, and how to run without; of each tier, or of all together.
pub fn check_hosts(plan: &Plan) -> Result<()> {
    let with_own = || plan.tiers.iter().filter(|tier| tier.own_host.is_some());
    let alone = with_own().filter_map(|tier| Some(middle(&[tier.own_host?]).err()?.of_tier(tier)));
    let refused: Vec<Problem> = alone.collect();
    Problems::check(refused)?;
    let (_, hosts) = wanted_hosts(plan.tiers.iter());
    let together = (hosts.len() > 1).then(|| middle(&hosts).err()).flatten();
    let last = with_own().next_back();
    Problems::check(together.zip(last).map(|(refusal, tier)| refusal.of_tier(tier)).into_iter().collect())
}

/// Whether a tier could be on such a host of its own here: tried in a network that is gone afterwards, so that nothing of
/// it is ever seen in this host's.
///
/// # Errors
/// Why it couldn't.
pub fn try_host(own: &OwnHost) -> std::result::Result<(), HostRefusal> {
    middle(std::slice::from_ref(own)).map(|_: Middle| ())
}
