//! Who listens on a port of this host: the kernel's table of sockets tells the socket, the descriptors of processes who holds
//! it. An answer alone doesn't tell: somebody else may have taken a port between its choice and our server's bind.

use std::fs;
use std::net::Ipv4Addr;

/// A socket that takes the connections to a port on loopback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Listener {
    inode: u64,
    uid: u32,
}

/// A process that is not ours and listens where our server should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stranger {
    pub(crate) port: u16,
    /// Which one; absent where we may not see it.
    process: Option<(u32, String)>,
}

impl std::fmt::Display for Stranger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.process {
            Some((pid, name)) => write!(f, "process {pid} ({name})"),
            None => write!(f, "another program"),
        }
    }
}

/// Whoever listens on `port` without being one of `pids`. Where their descriptors can't be read it is told by the socket's
/// user, who is `uid` for all of ours.
pub(crate) fn stranger(port: u16, pids: &[u32], uid: u32) -> Option<Stranger> {
    let listeners = listeners(port);
    let held: Vec<Option<Vec<u64>>> = pids.iter().map(|pid| sockets_of(*pid)).collect();
    let ours = |listener: &Listener| {
        let by_descriptor = held.iter().flatten().any(|inodes| inodes.contains(&listener.inode));
        by_descriptor || (held.iter().any(Option::is_none) && listener.uid == uid)
    };
    let strange = listeners.into_iter().find(|listener| !ours(listener))?;
    Some(Stranger { port, process: holder(strange.inode) })
}

/// The sockets that a connection to 127.0.0.1 can reach: the kernel prefers those that are bound to that address.
fn listeners(port: u16) -> Vec<Listener> {
    let read = |name: &str| fs::read_to_string(format!("/proc/self/net/{name}")).unwrap_or_default();
    let mut found: Vec<(u8, Listener)> = of_table(&read("tcp"), port);
    found.extend(of_table(&read("tcp6"), port));
    let nearest = found.iter().map(|(distance, _)| *distance).min();
    found.into_iter().filter(|(distance, _)| Some(*distance) == nearest).map(|(_, one)| one).collect()
}

/// Of a table as proc_pid_net(5) has it: those in state LISTEN, with how far their address is from 127.0.0.1.
fn of_table(table: &str, port: u16) -> Vec<(u8, Listener)> {
    const LISTEN: &str = "0A";
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (address, own_port) = fields.get(1)?.split_once(':')?;
        let fits = fields.get(3) == Some(&LISTEN) && u16::from_str_radix(own_port, 16) == Ok(port);
        let listener = Listener { uid: fields.get(7)?.parse().ok()?, inode: fields.get(9)?.parse().ok()? };
        distance(address).filter(|_| fits).map(|distance| (distance, listener))
    };
    table.lines().skip(1).filter_map(row).collect()
}

/// 0 for 127.0.0.1, 1 for any address of IPv4, 2 for any at all; nothing for those that 127.0.0.1 can't reach.
fn distance(address: &str) -> Option<u8> {
    let words =
        (0..address.len() / 8).map(|at| u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok());
    let words = words.collect::<Option<Vec<u32>>>()?;
    let v4 = |word: u32| Ipv4Addr::from(word.to_ne_bytes());
    let mapped = u32::from_ne_bytes([0, 0, 0xff, 0xff]);
    match words[..] {
        [word] | [0, 0, _, word] if words.len() == 1 || words[2] == mapped => match v4(word) {
            Ipv4Addr::LOCALHOST => Some(0),
            Ipv4Addr::UNSPECIFIED => Some(1),
            _ => None,
        },
        [0, 0, 0, 0] => Some(2),
        _ => None,
    }
}

/// The sockets that a process holds; `None` where we may not look. One that has ended holds none.
fn sockets_of(pid: u32) -> Option<Vec<u64>> {
    let entries = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return None,
        Err(_) => return Some(Vec::new()),
    };
    let links = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let inode = |link: std::path::PathBuf| {
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse::<u64>().ok()
    };
    Some(links.filter_map(inode).collect())
}

/// The first process that holds a socket, among those that we may look into.
fn holder(inode: u64) -> Option<(u32, String)> {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pid = pids.find(|pid| sockets_of(*pid).is_some_and(|held| held.contains(&inode)))?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some((pid, name.trim().to_string()))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn whoever_listens_is_told_from_a_stranger() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (me, uid) = (std::process::id(), rustix::process::geteuid().as_raw());
        assert_eq!(stranger(port, &[me], uid), None, "it is ours");
        let found = stranger(port, &[], uid).expect("it is nobody's of ours");
        assert_eq!((found.port, found.process.map(|(pid, _)| pid)), (port, Some(me)));
        drop(listener);
        assert_eq!(stranger(port, &[], uid), None, "nobody listens");
    }

    #[test]
    fn an_address_of_its_own_comes_before_any_address() {
        let any = TcpListener::bind("0.0.0.0:0").expect("a port");
        let port = any.local_addr().expect("an address").port();
        assert_eq!(listeners(port).len(), 1);
        for (address, expected) in [
            ("0100007F", Some(0)),
            ("00000000", Some(1)),
            ("0200007F", None),
            ("00000000000000000000000000000000", Some(2)),
            ("0000000000000000FFFF00000100007F", Some(0)),
            ("00000000000000000000000001000000", None),
            ("", None),
        ] {
            // The table has the words as the machine has them, which on this one is little-endian.
            assert!(cfg!(target_endian = "big") || distance(address) == expected, "{address}");
        }
    }
}
