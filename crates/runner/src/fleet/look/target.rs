//! Whether this machine reaches a server, as an agent on it would: only where the agent's operator allows load.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use engine::tls::TlsSetup;
use engine::{Target, Tls};
use fleet::permissions::Permissions;
use model::Result;
use model::record::plan::Load;

use super::{TargetAsked, TargetLook, Way, WayEnd};
use crate::interrupt::Interrupt;

/// The quickest of this number of connections counts: the first one may have to find the machine beside.
const TIMES: usize = 3;

/// Names may have more addresses than anybody wants to wait for.
const MAX_WAYS: usize = 4;

/// What is shown of the addresses that a name has here.
const MAX_RESOLVED: usize = 16;

/// A server that takes longer is none that a run can be measured with.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Tries all ways to it.
///
/// # Errors
/// The user's wish to stop.
pub(super) fn look(
    asked: &TargetAsked,
    permissions: &Permissions,
    interrupt: &Interrupt,
) -> Result<TargetLook> {
    let mut ways = Vec::new();
    for address in asked.addresses.iter().take(MAX_WAYS) {
        interrupt.check()?;
        let end = way(*address, asked.tls.as_ref(), permissions);
        ways.push(Way { address: *address, end });
    }
    // Whoever may not go there has no reason to ask others for it.
    let is_allowed = ways.iter().any(|way| !matches!(way.end, WayEnd::NotAllowed { .. }));
    let resolved = if is_allowed { resolve(&asked.host) } else { Vec::new() };
    Ok(TargetLook { resolved, ways })
}

fn resolve(host: &str) -> Vec<IpAddr> {
    let found = (host, 0).to_socket_addrs().into_iter().flatten().map(|address| address.ip());
    let mut addresses: Vec<IpAddr> = Vec::new();
    for ip in found.take(MAX_RESOLVED) {
        if !addresses.contains(&ip) {
            addresses.push(ip);
        }
    }
    addresses
}

fn way(address: SocketAddr, tls: Option<&Tls>, permissions: &Permissions) -> WayEnd {
    // How long a run takes is not asked here.
    let no_load = Load { ramp_up_s: 0.0, steady_s: 0.0, ramp_down_s: 0.0, sessions: None, ..Load::default() };
    if let Err(why) = permissions.check_target(&Target::from(address), &no_load) {
        return WayEnd::NotAllowed { why };
    }
    let failed = |error: io::Error| WayEnd::Failed { why: error.to_string() };
    let mut connect_s = f64::INFINITY;
    let mut last = None;
    for _ in 0..TIMES {
        let began = Instant::now();
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(connection) => {
                connect_s = connect_s.min(began.elapsed().as_secs_f64());
                last = Some(connection);
            }
            Err(error) => return failed(error),
        }
    }
    let (Some(tls), Some(connection)) = (tls, last) else {
        return WayEnd::Connected { connect_s, tls_s: None };
    };
    match handshake(connection, tls) {
        Ok(took) => WayEnd::Connected { connect_s, tls_s: Some(took.as_secs_f64()) },
        Err(why) => WayEnd::Failed { why: format!("TCP connects, TLS doesn't: {why}") },
    }
}

/// How long the handshake takes; nothing is asked inside.
fn handshake(mut connection: TcpStream, tls: &Tls) -> std::result::Result<Duration, String> {
    let setup = TlsSetup::new(tls).map_err(|problems| problems.to_string())?;
    let mut channel = setup.open(&mut None, 1.0).map_err(|fault| fault.to_string())?;
    let began = Instant::now();
    let (mut sealed, mut plain, mut chunk) = (Vec::new(), Vec::new(), [0; 16 << 10]);
    loop {
        channel.pull(&mut sealed).map_err(|fault| fault.to_string())?;
        connection.write_all(&sealed).map_err(|error| error.to_string())?;
        sealed.clear();
        if !channel.handshaking() {
            return Ok(began.elapsed());
        }
        let left = TIMEOUT.checked_sub(began.elapsed()).filter(|left| !left.is_zero());
        let left = left.ok_or_else(|| format!("no end of the handshake within {} s", TIMEOUT.as_secs()))?;
        connection.set_read_timeout(Some(left)).map_err(|error| error.to_string())?;
        match connection.read(&mut chunk) {
            Ok(0) => {
                return channel.end_of_stream().map(|()| began.elapsed()).map_err(|fault| fault.to_string());
            }
            Ok(count) => channel.push(&chunk[..count], &mut plain).map_err(|fault| fault.to_string())?,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}
