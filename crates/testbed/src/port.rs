//! Free TCP ports on loopback: claimed by binding them, released just before the server binds them itself. On a host of a
//! tier's own all are free.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};

use model::{Problem, Result};

/// The first port of a server on a host of its own: below those that the kernel gives to whoever connects.
const FIRST_OF_HOST: u16 = 20_000;
/// How many free ports of 127.0.0.1 are tried that somebody has at another address.
const TRIES: u32 = 5;
/// As many as a tier has room for.
const OF_TIER: usize = 1_200;

/// Ports held for a tier until its server starts.
#[derive(Debug)]
pub(crate) struct Claim {
    listeners: Vec<TcpListener>,
    /// Where on this host they are; on a host of the tier's own nobody else is.
    pub(crate) at: Option<Ipv4Addr>,
    /// The ports by the names that the service gives them.
    pub(crate) ports: BTreeMap<String, u16>,
}

impl Claim {
    /// Claims a port at `at`, an address of loopback, for each name; the first gets `wanted`, if that is asked for. No two claims that
    /// are held at once have the same number, wherever they are: numbers tell servers apart.
    pub(crate) fn new(names: &[String], wanted: Option<u16>, at: Ipv4Addr) -> Result<Claim> {
        let mut claim = Claim { listeners: Vec::new(), at: Some(at), ports: BTreeMap::new() };
        for (index, name) in names.iter().enumerate() {
            let asked = wanted.filter(|_| index == 0);
            let (port, listeners) = take(asked, at)?;
            check_privilege(port, first_unprivileged())?;
            claim.ports.insert(name.clone(), port);
            claim.listeners.extend(listeners);
        }
        Ok(claim)
    }

    /// Ports on a host of a tier's own, for the `instance`th of its servers; `tier` is its number among the stack's, since others may
    /// be on the same host.
    pub(crate) fn alone(names: &[String], (tier, instance): (usize, usize)) -> Claim {
        let first = tier * OF_TIER + instance * names.len();
        let nth = |index: usize| u16::try_from(first + index).unwrap_or(u16::MAX);
        let port = |index: usize| FIRST_OF_HOST.saturating_add(nth(index));
        let ports = names.iter().enumerate().map(|(index, name)| (name.clone(), port(index)));
        Claim { listeners: Vec::new(), at: None, ports: ports.collect() }
    }

    /// Lets the server have them.
    pub(crate) fn release(&mut self) {
        self.listeners.clear();
    }

    /// Whether somebody else has taken one of them since.
    pub(crate) fn lost(&self) -> bool {
        self.at.is_some_and(|at| {
            self.ports.values().any(|port| {
                let bound = TcpListener::bind((at, *port));
                bound.is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
            })
        })
    }
}

/// Binds the port that is asked for, or a free one, at `at` and at 127.0.0.1.
fn take(asked: Option<u16>, at: Ipv4Addr) -> Result<(u16, Vec<TcpListener>)> {
    let bound = |at: Ipv4Addr, port: u16| TcpListener::bind((at, port));
    for attempt in 1.. {
        let near = bound(Ipv4Addr::LOCALHOST, asked.unwrap_or(0)).map_err(|error| refused(asked, &error))?;
        let port = near.local_addr().map_err(|error| refused(asked, &error))?.port();
        if at == Ipv4Addr::LOCALHOST {
            return Ok((port, vec![near]));
        }
        match bound(at, port) {
            Ok(there) => return Ok((port, vec![near, there])),
            Err(_) if asked.is_none() && attempt < TRIES => {}
            Err(error) => return Err(refused(asked, &error).into()),
        }
    }
    Err(Problem::bug("as many tries as there are numbers").into())
}

fn refused(asked: Option<u16>, error: &std::io::Error) -> Problem {
    match asked {
        Some(port) if error.kind() == ErrorKind::AddrInUse => {
            Problem::environment(format!("port {port} on 127.0.0.1 is taken by another program"))
                .key("port")
                .remedy(format!(
                    "another port, or none for a free one; `ss -ltnp sport = :{port}` shows who has it"
                ))
        }
        Some(port) => {
            Problem::environment(format!("port {port} on 127.0.0.1 can't be used: {error}")).key("port")
        }
        None => Problem::environment(format!("there is no free port on 127.0.0.1: {error}")),
    }
}

fn first_unprivileged() -> u16 {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").unwrap_or_default();
    text.trim().parse().unwrap_or(1024)
}

/// Servers run as a user without privileges, even where we have them.
fn check_privilege(port: u16, first: u16) -> Result<()> {
    if port >= first {
        return Ok(());
    }
    Err(Problem::environment(format!("port {port} is below {first}: only root may listen there"))
        .key("port")
        .why("servers run as an unprivileged user")
        .remedy(format!("a port from {first} up"))
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_refused_by_name() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = taken.local_addr().expect("an address").port();
        let text = Claim::new(&["http".into()], Some(port), Ipv4Addr::LOCALHOST)
            .expect_err("it is taken")
            .to_string();
        assert!(text.contains(&format!("port {port}")) && text.contains("try:"), "{text}");
    }

    #[test]
    fn a_claim_knows_when_it_was_lost_after_release() {
        let mut claim = Claim::new(&["http".into()], None, Ipv4Addr::LOCALHOST).expect("a port");
        let port = claim.ports["http"];
        assert!(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err(), "a claimed port is held");
        claim.release();
        assert!(!claim.lost());
        let _thief = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
        assert!(claim.lost());
    }

    #[test]
    fn servers_with_addresses_of_their_own_on_loopback_have_numbers_that_nobody_else_has() {
        let second = Ipv4Addr::new(127, 0, 0, 2);
        let mut claim = Claim::new(&["tcp".into()], None, second).expect("a port");
        let port = claim.ports["tcp"];
        for at in [Ipv4Addr::LOCALHOST, second] {
            assert!(TcpListener::bind((at, port)).is_err(), "held at {at}");
        }
        claim.release();
        let _near = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
        assert!(!claim.lost(), "that is another place");
        let _thief = TcpListener::bind((second, port)).expect("the port is free");
        assert!(claim.lost());
    }

    #[test]
    fn servers_that_are_alone_have_ports_that_differ_and_can_not_be_lost() {
        let names = ["tcp".to_string(), "admin".to_string()];
        let claims =
            [Claim::alone(&names, (0, 0)), Claim::alone(&names, (0, 1)), Claim::alone(&names, (1, 0))];
        let mut ports: Vec<u16> = claims.iter().flat_map(|claim| claim.ports.values().copied()).collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 6);
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = taken.local_addr().expect("an address").port();
        let ports = [("tcp".to_string(), port)].into();
        let claim = Claim { listeners: Vec::new(), at: None, ports };
        assert!(!claim.lost(), "whoever has that port here is somewhere else");
    }

    #[test]
    fn a_privileged_port_is_refused_before_a_server_fails_on_it() {
        assert!(check_privilege(1024, 1024).is_ok());
        let text = check_privilege(80, 1024).expect_err("only root may").to_string();
        assert!(text.contains("port 80 is below 1024") && text.contains("from 1024 up"), "{text}");
    }
}
