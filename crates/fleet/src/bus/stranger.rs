//! What somebody can do on a broker who has nothing of a fleet's.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use async_nats::ConnectOptions;

use super::connection::{Broker, BusError, runtime};

/// A broker may take so long to answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Of what a broker says.
const MAX_BYTES: usize = 64 << 10;

/// Whether a broker at HOST:PORT serves whoever speaks NATS to it without encryption and without a key
/// (docs.nats.io, client protocol: `CONNECT`, then `PING`, which only who is let in has a `PONG` for).
pub fn is_open_to_anybody(place: &str) -> bool {
    let Some(address) = place.to_socket_addrs().ok().and_then(|mut addresses| addresses.next()) else {
        return false;
    };
    let Ok(mut connection) = TcpStream::connect_timeout(&address, TIMEOUT) else { return false };
    let asked = connection
        .set_read_timeout(Some(TIMEOUT))
        .and_then(|()| connection.write_all(b"CONNECT {\"verbose\":false,\"pedantic\":false}\r\nPING\r\n"));
    if asked.is_err() {
        return false;
    }
    let (began, mut said, mut chunk) = (Instant::now(), Vec::new(), [0; 4096]);
    while began.elapsed() < TIMEOUT && said.len() < MAX_BYTES {
        match connection.read(&mut chunk) {
            Ok(0) | Err(_) => return false,
            Ok(count) => said.extend_from_slice(&chunk[..count]),
        }
        if said.windows(4).any(|word| word == b"PONG") {
            return true;
        }
    }
    false
}

/// Whether a guarded broker lets somebody in who encrypts as its own do, trusts its authority, and has no key at all.
///
/// # Errors
/// This machine gives no thread.
pub fn is_open_without_key(broker: &Broker) -> Result<bool, BusError> {
    let Some(access) = &broker.access else { return Ok(false) };
    let options = access.encrypt(ConnectOptions::new().name("stranger").connection_timeout(TIMEOUT));
    // Connecting ends with the broker's answer to a PING, which only who is let in has.
    Ok(runtime()?.block_on(async { options.connect(&broker.url).await.is_ok() }))
}
