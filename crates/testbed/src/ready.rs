//! Readiness: asked, not slept for.

mod until;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use model::catalogue::service::{Probe, Ready};

use crate::render::Reach;

pub use until::Ask;
pub(crate) use until::Until;

/// How long one try may take; a server that is slower answers a later one.
const TRY: Duration = Duration::from_secs(2);

/// Where a probe goes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum At {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// A question to a server.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    at: At,
    probe: Probe,
}

impl Question {
    /// The probe of a service that can be reached at `reach`; the error says what its manifest lacks.
    pub(crate) fn new(ready: &Ready, first_port: Option<&String>, reach: &Reach) -> Result<Question, String> {
        let name = ready.at.as_ref().or(first_port).ok_or("it has neither a port nor `ready.at`")?;
        let tcp = reach.ports.get(name).map(|port| At::Tcp(reach.address(*port)));
        let unix = || reach.sockets.get(name).map(|path| At::Unix(path.clone()));
        let at = tcp.or_else(unix).ok_or_else(|| format!("`{name}` is neither a port nor a socket of it"))?;
        Ok(Question { at, probe: ready.probe })
    }

    /// The port that is asked, where others of this host could have taken it.
    pub(crate) fn port(&self) -> Option<u16> {
        match &self.at {
            At::Tcp(address) if address.ip().is_loopback() => Some(address.port()),
            _ => None,
        }
    }

    /// Asks once.
    pub(crate) fn answered(&self) -> bool {
        match &self.at {
            At::Tcp(address) => TcpStream::connect_timeout(address, TRY)
                .is_ok_and(|stream| stream.set_read_timeout(Some(TRY)).is_ok() && self.speaks(stream)),
            At::Unix(path) => UnixStream::connect(path)
                .is_ok_and(|stream| stream.set_read_timeout(Some(TRY)).is_ok() && self.speaks(stream)),
        }
    }

    fn speaks(&self, mut stream: impl Read + Write) -> bool {
        match self.probe {
            Probe::Accept => true,
            Probe::Greeting => stream.read_exact(&mut [0]).is_ok(),
            Probe::Http => {
                let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
                let mut start = [0; 5];
                stream.write_all(request).is_ok()
                    && stream.read_exact(&mut start).is_ok()
                    && start == *b"HTTP/"
            }
        }
    }
}
