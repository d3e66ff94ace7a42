//! Where a run's requests go, and from which addresses.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The server under load.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Target {
    /// Where it listens.
    pub endpoint: Endpoint,
    /// The `Host` header of each request, with the port unless it is the scheme's own.
    pub host: String,
    /// How connections are encrypted; plain HTTP when absent.
    pub tls: Option<Tls>,
    /// Local addresses to connect from, in turn, so that more connections than one address has ports are possible;
    /// the kernel's choice when empty.
    pub sources: Vec<IpAddr>,
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Endpoint {
    /// A TCP port.
    Tcp(SocketAddr),
    /// A unix stream socket.
    Unix(PathBuf),
}

/// How connections are encrypted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tls {
    /// The name that the certificate must be for.
    pub server_name: String,
    /// Whom to trust.
    pub trust: Trust,
    /// The share of new connections that offer to resume an earlier TLS session of the same user, 0 to 1.
    pub resumption_ratio: f64,
}

/// Whose certificates are believed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Trust {
    /// The machine's own roots.
    System,
    /// These roots only, in PEM.
    Roots(Vec<u8>),
    /// Anybody's: the report says so.
    Anybody,
}

impl From<SocketAddr> for Target {
    /// Plain HTTP to that address.
    fn from(address: SocketAddr) -> Target {
        Target { endpoint: Endpoint::Tcp(address), host: address.to_string(), tls: None, sources: Vec::new() }
    }
}
