//! A host of its own for a tier, as far as the network goes: a network namespace, joined to this host by a [`Cable`].
//!
//! The namespace has no name. It lasts as long as a process that runs in it or the descriptor that the tool holds, so
//! that it outlives neither, whatever they die of, and the cable ends with it. The cable is a line of the lab's ledger
//! all the same: whoever ends the lab sees to it that it is gone, instead of waiting for the kernel to get round to it.
//!
//! Files are not part of it: unix sockets with a path are reached from here as before, which is how data is loaded,
//! servers are asked whether they are ready, and observers ask them what they do.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use model::catalogue::tier_setting::OwnHost;
use model::record::plan::PlanTier;
use model::{Plan, Problem, Problems, Result};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::cable::{self, Cable, HostRefusal};
use crate::lab::Site;
use crate::ledger::Entry;

/// A tier's own host.
#[derive(Debug)]
struct Host {
    cable: Cable,
    /// The way into its network.
    door: OwnedFd,
}

/// The hosts of a lab's tiers.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// Each with its instance and tier.
    all: Mutex<Vec<(String, String, Host)>>,
}

impl Hosts {
    fn lock(&self) -> MutexGuard<'_, Vec<(String, String, Host)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way into the network of an instance's tier, where it has one of its own.
    pub(crate) fn door(&self, instance: &str, tier: &str) -> Result<Option<OwnedFd>> {
        let all = self.lock();
        let host = all.iter().find(|(own, name, _)| own == instance && name == tier);
        let door = host.map(|(.., host)| host.door.try_clone()).transpose();
        door.map_err(|error| {
            Problem::environment(format!("failed to enter its network: {error}")).tier(tier).into()
        })
    }

    /// Removes those of an instance, whose processes have ended; the cables that were written `owner`'s.
    pub(crate) fn remove(&self, instance: &str, owner: &str) -> Result<()> {
        let mut all = self.lock();
        let ours = all.iter().filter(|(own, ..)| own == instance);
        let removed = ours.map(|(.., host)| cable::remove(&host.cable.name(), owner));
        let problems = removed.filter_map(|removed| removed.err()).flat_map(Problems::into_vec).collect();
        all.retain(|(own, ..)| own != instance);
        Problems::check(problems)
    }
}

impl Site {
    /// Makes the hosts of those tiers of an instance that have one of their own; the address of each, by its tier.
    pub(crate) fn make_hosts(
        &self,
        instance: &str,
        tiers: &[&PlanTier],
    ) -> Result<BTreeMap<String, Ipv4Addr>> {
        let mut addresses = BTreeMap::new();
        for tier in tiers {
            let Some(own) = &tier.own_host else { continue };
            let host = self.make_host(own)?.map_err(|refusal| refusal.of_tier(&tier.name))?;
            addresses.insert(tier.name.clone(), host.cable.far());
            self.hosts.lock().push((instance.to_string(), tier.name.clone(), host));
        }
        Ok(addresses)
    }

    /// The inner error is why there can be none.
    fn make_host(&self, own: &OwnHost) -> Result<Result<Host, HostRefusal>> {
        let door = match network() {
            Ok(door) => door,
            Err(refusal) => return Ok(Err(refusal)),
        };
        for cable in Cable::free() {
            // Before it is made. A line for a cable that turns out to be somebody else's does no harm: it says whose.
            self.note(&Entry::Cable { name: cable.name(), owner: self.marker.clone() })?;
            match cable.add(&door) {
                Ok(true) => {
                    let joined = cable.join(&self.marker, own, &door);
                    if joined.is_err() {
                        cable::remove(&cable.name(), &self.marker)?;
                    }
                    return Ok(joined.map(|()| Host { cable, door }));
                }
                Ok(false) => {}
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        Ok(Err(HostRefusal::Network("all of 198.18.0.0/15 leads somewhere already".to_string())))
    }
}

/// Refuses a plan whose tiers can't be on hosts of their own on this machine as asked, before anything is made for it.
///
/// # Errors
/// Why they can't, and how to run without; of all tiers.
pub fn check_hosts(plan: &Plan) -> Result<()> {
    let asked = plan.tiers.iter().filter_map(|tier| Some((tier, tier.own_host.as_ref()?)));
    let refused = asked.filter_map(|(tier, own)| Some(try_host(own).err()?.of_tier(&tier.name)));
    Problems::check(refused.collect())
}

/// Whether a tier could be on such a host of its own here: tried in a network that is gone afterwards, so that nothing of
/// it is ever seen in this host's.
///
/// # Errors
/// Why it couldn't.
pub fn try_host(own: &OwnHost) -> Result<(), HostRefusal> {
    cable::try_out(own, &network()?)
}

/// A network that nobody is in yet.
fn network() -> Result<OwnedFd, HostRefusal> {
    let apart = || -> io::Result<OwnedFd> {
        // SAFETY: with this flag alone it is the network of the calling thread that becomes another; memory, descriptors
        // and directories stay shared with the others.
        let moved = unsafe { unshare_unsafe(UnshareFlags::NEWNET) };
        moved?;
        File::open("/proc/thread-self/ns/net").map(OwnedFd::from)
    };
    // On a thread that ends with it: no other may be left in there.
    let thread = thread::Builder::new().name("network".to_string()).spawn(apart);
    let ended = || Err(io::Error::other("the thread that makes it has ended"));
    let made = thread.and_then(|thread| thread.join().unwrap_or_else(|_| ended()));
    made.map_err(|error| HostRefusal::Network(error.to_string()))
}
