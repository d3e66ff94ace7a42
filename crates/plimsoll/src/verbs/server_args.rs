//! The flags about a server that somebody else started.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

use runner::server::ServerAccess;

/// The flags about a server that somebody else started.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ServerArgs {
    /// Allow load on a server that is not on this machine: its exact name or address; may be given several times
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_target: Vec<String>,
    /// Connect to this unix socket instead of the URL's host
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,
    /// Local addresses to connect from, in turn: more connections than one address has ports
    #[arg(long, value_name = "ADDR,…", value_delimiter = ',')]
    pub(crate) source: Vec<IpAddr>,
    /// Believe any certificate; the result says so
    #[arg(long, conflicts_with = "cacert")]
    pub(crate) insecure: bool,
    /// Believe these roots only, a PEM file
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
    /// With --target: a page that must be answered with status 200 before users come; without it any answer will do
    #[arg(long, value_name = "PATH")]
    pub(crate) front_page: Option<String>,
}

impl ServerArgs {
    /// What they say; every TLS connection resumes an earlier session.
    pub(crate) fn access(&self) -> ServerAccess {
        ServerAccess {
            allow_target: self.allow_target.clone(),
            unix: self.unix.clone(),
            source: self.source.clone(),
            insecure: self.insecure,
            cacert: self.cacert.clone(),
            front_page: self.front_page.clone(),
            resume: 1.0,
        }
    }
}

/// The same for verbs of a single run.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SingleArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Share of new TLS connections that resume an earlier session, 0 to 1
    #[arg(long, value_name = "RATIO", default_value_t = 1.0)]
    tls_resume: f64,
}

impl SingleArgs {
    /// All of them together.
    pub(crate) fn access(&self) -> ServerAccess {
        ServerAccess { resume: self.tls_resume, ..self.server.access() }
    }
}
