//! The user that a lab's servers run as: a numeric one of the lab's own where we are root, ourselves where we are not.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use model::{Problem, Result};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, socket_with};

/// Not assigned to anything by Debian's or systemd's conventions (systemd.io/UIDS-GIDS: 60706 to 61183 are unused).
const RANGE: std::ops::RangeInclusive<u32> = 61_000..=61_183;

/// The user of a lab's servers.
#[derive(Debug)]
pub(crate) struct Owner {
    /// The user's number, used as group number too.
    pub(crate) uid: u32,
    claim: Option<OwnedFd>,
}

impl Owner {
    /// Claims a user for this lab, until the tool and its keeper have ended.
    pub(crate) fn claim() -> Result<Owner> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Owner { uid: rustix::process::geteuid().as_raw(), claim: None });
        }
        let named = named_users();
        let busy = running_users();
        for uid in RANGE.filter(|uid| !named.contains(uid) && !busy.contains(uid)) {
            if let Some(claim) = claim_number(uid) {
                return Ok(Owner { uid, claim: Some(claim) });
            }
        }
        Err(Problem::environment("every user number that servers may run as is in use")
            .why("two labs that share a user could reach each other's servers")
            .remedy("wait for other runs to end, or `plimsoll clean`")
            .into())
    }

    /// Whom files are given to: `None` when they are the right user's anyway.
    pub(crate) fn of_files(&self) -> Option<u32> {
        self.claim.is_some().then_some(self.uid)
    }

    /// What holds the claim, for the keeper to inherit.
    pub(crate) fn claim_fd(&self) -> Option<BorrowedFd<'_>> {
        self.claim.as_ref().map(AsFd::as_fd)
    }
}

/// An abstract socket's name is free again when the last process that holds it ends, without a file to clean up.
fn claim_number(uid: u32) -> Option<OwnedFd> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None).ok()?;
    let name = SocketAddrUnix::new_abstract_name(format!("plimsoll-uid-{uid}").as_bytes()).ok()?;
    bind(&socket, &name).ok()?;
    Some(socket)
}

fn named_users() -> Vec<u32> {
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    passwd.lines().filter_map(|line| line.split(':').nth(2)?.parse().ok()).collect()
}

/// Users of the processes that run now: a lab that lost its keeper too may have left some.
fn running_users() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok())
        // A dead process that nobody has waited for yet does no harm.
        .filter(|status| !status.contains("State:\tZ"))
        .filter_map(|status| {
            status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().next()?.parse().ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_claimed_once_and_free_again_afterwards() {
        // Outside of the range that labs use, so that a lab on this machine does not disturb the test.
        let number = 900_000 + std::process::id();
        let first = claim_number(number).expect("nobody else claims it");
        assert!(claim_number(number).is_none());
        drop(first);
        assert!(claim_number(number).is_some());
    }
}
