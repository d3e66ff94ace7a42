//! Free TCP ports on loopback: claimed by binding them, released just before the server binds them itself. On a host of a
//! tier's own all are free.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};

use model::{Problem, Result};

/// The first port of a server on a host of its own: below those that the kernel gives to whoever connects.
const FIRST_OF_HOST: u16 = 20_000;

/// Ports held for a tier until its server starts.
#[derive(Debug, Default)]
pub(crate) struct Claim {
    listeners: BTreeMap<String, TcpListener>,
    /// Nobody else is where they are.
    alone: bool,
    /// The ports by the names that the service gives them.
    pub(crate) ports: BTreeMap<String, u16>,
}

impl Claim {
    /// Claims a port for each name; the first gets `wanted`, if that is asked for.
    pub(crate) fn new(names: &[String], wanted: Option<u16>) -> Result<Claim> {
        let mut claim = Claim::default();
        for (index, name) in names.iter().enumerate() {
            let asked = wanted.filter(|_| index == 0);
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, asked.unwrap_or(0)))
                .map_err(|error| refused(asked, &error))?;
            let address = listener.local_addr().map_err(|error| refused(asked, &error))?;
            check_privilege(address.port(), first_unprivileged())?;
            claim.ports.insert(name.clone(), address.port());
            claim.listeners.insert(name.clone(), listener);
        }
        Ok(claim)
    }

    /// Ports on a host of the tier's own, for the `instance`th of its servers.
    pub(crate) fn alone(names: &[String], instance: usize) -> Claim {
        let first = instance * names.len();
        let nth = |index: usize| u16::try_from(first + index).unwrap_or(u16::MAX);
        let port = |index: usize| FIRST_OF_HOST.saturating_add(nth(index));
        let ports = names.iter().enumerate().map(|(index, name)| (name.clone(), port(index)));
        Claim { listeners: BTreeMap::new(), alone: true, ports: ports.collect() }
    }

    /// Lets the server have them.
    pub(crate) fn release(&mut self) {
        self.listeners.clear();
    }

    /// Whether somebody else has taken one of them since.
    pub(crate) fn lost(&self) -> bool {
        !self.alone
            && self.ports.values().any(|port| {
                let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, *port));
                bound.is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
            })
    }
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
        let text = Claim::new(&["http".into()], Some(port)).expect_err("it is taken").to_string();
        assert!(text.contains(&format!("port {port}")) && text.contains("try:"), "{text}");
    }

    #[test]
    fn a_claim_knows_when_it_was_lost_after_release() {
        let mut claim = Claim::new(&["http".into()], None).expect("a port");
        let port = claim.ports["http"];
        assert!(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err(), "a claimed port is held");
        claim.release();
        assert!(!claim.lost());
        let _thief = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
        assert!(claim.lost());
    }

    #[test]
    fn servers_that_are_alone_have_ports_that_differ_and_can_not_be_lost() {
        let names = ["tcp".to_string(), "admin".to_string()];
        let claims = [Claim::alone(&names, 0), Claim::alone(&names, 1)];
        let mut ports: Vec<u16> = claims.iter().flat_map(|claim| claim.ports.values().copied()).collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 4);
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = taken.local_addr().expect("an address").port();
        let claim = Claim { alone: true, ports: [("tcp".to_string(), port)].into(), ..Claim::default() };
        assert!(!claim.lost(), "whoever has that port here is somewhere else");
    }

    #[test]
    fn a_privileged_port_is_refused_before_a_server_fails_on_it() {
        assert!(check_privilege(1024, 1024).is_ok());
        let text = check_privilege(80, 1024).expect_err("only root may").to_string();
        assert!(text.contains("port 80 is below 1024") && text.contains("from 1024 up"), "{text}");
    }
}
