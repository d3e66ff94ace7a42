//! One look at one thread, through `/proc`.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use model::record::diagnosis::Doing;

use super::call::{self, Place};
use super::judge::{Around, Thing, doing};
use crate::sockets::Sockets;

/// Where a tier stands among the others.
#[derive(Debug, Default)]
pub(super) struct TierContext {
    /// The unix sockets that it listens on.
    pub(super) sockets: Vec<PathBuf>,
    /// The TCP ports that tiers behind it may listen on.
    pub(super) ports: Vec<u16>,
    /// Its main processes, where these only look after the others.
    pub(super) masters: Vec<u32>,
    /// Where the program's own variables lie in the memory of each instance.
    pub(super) images: Vec<Range<u64>>,
    /// Beginnings of the names of its threads that serve nobody.
    pub(super) background: Vec<String>,
    /// A commit on one of its instances waits until all have it.
    pub(super) commits_together: bool,
}

/// A look at a thread, with what is known of its tier.
pub(super) struct Look<'a> {
    pub(super) id: u32,
    pub(super) context: &'a TierContext,
    /// Threads that were seen with a connection.
    pub(super) serving: &'a mut HashSet<u32>,
    /// Addresses at which several threads waited at once.
    pub(super) queues: &'a mut HashSet<u64>,
    /// Sockets by their inode.
    pub(super) things: &'a mut HashMap<u64, Thing>,
    /// Addresses at which threads wait now.
    pub(super) addresses: &'a mut HashSet<u64>,
    pub(super) sockets: Option<&'a mut Sockets>,
    /// The same for the tier's own host.
    pub(super) apart: Option<&'a mut Sockets>,
    /// Where its network's TCP connections lead to, by inode; nothing until somebody asks, as the answer costs time.
    pub(super) remote_ports: &'a mut Option<HashMap<u64, u16>>,
    /// Inodes of the sockets that are listened on.
    pub(super) listening: &'a HashSet<u64>,
}

impl Look<'_> {
    /// What the thread does; `None` when it is gone or can't be looked at.
    pub(super) fn doing(&mut self) -> Option<Doing> {
        let text = fs::read_to_string(format!("/proc/{}/syscall", self.id)).ok()?;
        let place = call::parse(&text)?;
        if let Place::Call(call) = &place
            && call.number == libc::SYS_futex
        {
            // The two halves of a condition variable are four bytes apart.
            let address = call.args[0] & !7;
            if !self.addresses.insert(address) {
                self.queues.insert(address);
            }
        }
        let found = doing(&place, self);
        if matches!(found, Doing::WaitingForClient | Doing::WaitingForCallee) {
            self.serving.insert(self.id);
        }
        Some(found)
    }

    fn is_background(&self) -> bool {
        let background = &self.context.background;
        if background.is_empty() {
            return false;
        }
        let name = fs::read_to_string(format!("/proc/{}/comm", self.id)).unwrap_or_default();
        background.iter().any(|beginning| name.starts_with(beginning))
    }

    fn socket(&mut self, inode: u64) -> Thing {
        if self.listening.contains(&inode) {
            return Thing::Listener;
        }
        if let Some(known) = self.things.get(&inode) {
            return *known;
        }
        // Who comes from here over a unix socket has sockets of here, also at the end that a tier elsewhere accepts.
        let there = self.apart.as_mut().and_then(|sockets| sockets.unix(inode));
        let found = match self.sockets.as_mut().map(|sockets| there.or_else(|| sockets.unix(inode))) {
            // Without the kernel's word a web server's sockets are its clients'.
            None => Thing::Other,
            Some(Some(unix)) => match &unix.path {
                Some(path) if self.context.sockets.contains(path) => Thing::Served,
                Some(_) => Thing::Other,
                None => Thing::Called,
            },
            Some(None) => self.tcp(inode),
        };
        self.things.insert(inode, found);
        found
    }

    /// A socket that is none of the unix ones. Only where a tier behind listens on a port can it lead there.
    fn tcp(&mut self, inode: u64) -> Thing {
        if self.context.ports.is_empty() {
            return Thing::Served;
        }
        let sockets = self.apart.as_mut().or(self.sockets.as_mut());
        let asked = || sockets.and_then(|sockets| sockets.remote_ports()).unwrap_or_default();
        match self.remote_ports.get_or_insert_with(asked).get(&inode) {
            Some(port) if self.context.ports.contains(port) => Thing::Called,
            Some(_) => Thing::Served,
            None => Thing::Other,
        }
    }
}

impl Around for Look<'_> {
    fn thing(&mut self, fd: u64) -> Thing {
        let Ok(link) = fs::read_link(format!("/proc/{}/fd/{fd}", self.id)) else { return Thing::Other };
        let Some(text) = link.to_str() else { return Thing::File };
        match text.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')?.parse().ok()) {
            Some(inode) => self.socket(inode),
            // Apache names the file of its turn after what it is for, e.g. `accept-lock.4711`.
            None if text.starts_with('/') && text.contains("accept") => Thing::Turn,
            None if text.starts_with("/dev/") => Thing::Other,
            None if text.starts_with('/') => Thing::File,
            None => Thing::Other,
        }
    }

    fn first_polled(&mut self, address: u64) -> Option<u64> {
        let mut fd = [0; 4];
        let memory = File::open(format!("/proc/{}/mem", self.id)).ok()?;
        memory.read_exact_at(&mut fd, address).ok()?;
        u64::try_from(i32::from_ne_bytes(fd)).ok()
    }

    fn is_queue(&mut self, address: u64) -> bool {
        self.queues.contains(&(address & !7))
            || self.context.images.iter().any(|image| image.contains(&address))
    }

    fn serves(&self) -> bool {
        self.serving.contains(&self.id)
    }

    fn serves_nobody(&self) -> bool {
        self.context.masters.contains(&self.id) || self.is_background()
    }

    fn commits_together(&self) -> bool {
        self.context.commits_together
    }
}

/// Where the variables of a process's program lie: from the first to the last mapping of its file, and the anonymous
/// one right behind them.
pub(crate) fn image(id: u32) -> Option<Range<u64>> {
    let program = fs::read_link(format!("/proc/{id}/exe")).ok()?;
    image_in(&fs::read_to_string(format!("/proc/{id}/maps")).ok()?, program.to_str()?)
}

fn image_in(maps: &str, program: &str) -> Option<Range<u64>> {
    let mut found: Option<Range<u64>> = None;
    for line in maps.lines() {
        let (addresses, rest) = line.split_once(' ')?;
        let (from, to) = addresses.split_once('-')?;
        let (from, to) = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
        let named = rest.split_ascii_whitespace().nth(4);
        match &mut found {
            None if named == Some(program) => found = Some(from..to),
            Some(image) if named == Some(program) => image.end = to,
            Some(image) if named.is_none() && image.end == from => image.end = to,
            Some(_) => break,
            None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_variables_are_its_files_mappings_and_what_lies_right_behind() {
        let maps = "\
555af0000000-555af0800000 r--p 00000000 fe:00 123   /usr/sbin/mariadbd
555af0800000-555af1000000 r-xp 00800000 fe:00 123   /usr/sbin/mariadbd
555af1000000-555af1200000 rw-p 01000000 fe:00 123   /usr/sbin/mariadbd
555af1200000-555af1900000 rw-p 00000000 00:00 0
555af3000000-555af5000000 rw-p 00000000 00:00 0     [heap]
7f0000000000-7f0000100000 rw-p 00000000 00:00 0
";
        assert_eq!(image_in(maps, "/usr/sbin/mariadbd"), Some(0x555a_f000_0000..0x555a_f190_0000));
        assert_eq!(image_in(maps, "/usr/sbin/other"), None);
        assert!(image(std::process::id()).is_some_and(|image| image.end > image.start));
    }
}
