//! The servers of a tier, one by one.

use std::net::SocketAddr;

use crate::prepare::numbered;
use crate::stack::Tier;

/// One of the servers that a tier consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance<'a> {
    /// The tier, and of several instances which one: `db-2`.
    pub name: String,
    /// The service's name.
    pub service: &'a str,
    /// Its main process.
    pub pid: u32,
    /// Where it is reached: an address with a port, else its first socket, else nothing.
    pub reached_at: String,
}

impl Tier {
    /// Its instances, in the order of their numbers.
    pub fn instances(&self) -> impl Iterator<Item = Instance<'_>> {
        let name = |instance| match self.pids.len() {
            1 => self.name.clone(),
            _ => format!("{}-{}", self.name, instance + 1),
        };
        let socket = |instance| {
            let first = self.sockets.keys().next()?;
            self.sockets.get(&numbered(first, instance)).map(|path| path.display().to_string())
        };
        let reached_at = move |instance: usize| {
            let address = self.addresses.get(instance).map(SocketAddr::to_string);
            address.or_else(|| socket(instance)).unwrap_or_default()
        };
        self.pids.iter().enumerate().map(move |(instance, pid)| Instance {
            name: name(instance),
            service: &self.service,
            pid: *pid,
            reached_at: reached_at(instance),
        })
    }
}
