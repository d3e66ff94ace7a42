//! How the page is served.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use model::{Problem, Problems, Result};

use crate::access::Role;

/// The port, unless another one is asked for.
const PORT: u16 = 9_470;
/// The name under which browsers ask for the page. Cookies know no ports: at 127.0.0.1 the stack that somebody clicks around in
/// would be sent this page's.
const HOST_NAME: &str = "plimsoll.localhost";

/// How the page is served.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens.
    pub listening: Listening,
    /// The name that requests must be for.
    pub host_name: String,
    /// The most that anybody may do.
    pub max_role: Role,
}

/// Where the page listens, and what is between it and the browser.
#[derive(Debug, Clone)]
pub struct Listening {
    /// The address.
    pub address: SocketAddr,
    /// With TLS of its own.
    pub tls: Option<Tls>,
    /// Something in front has TLS.
    pub behind_proxy: bool,
}

/// Files of a certificate and its key, PEM.
#[derive(Debug, Clone)]
pub struct Tls {
    /// The chain, its own certificate first.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

impl Settings {
    /// By what a user asked for.
    ///
    /// # Errors
    /// An address that others reach, without what keeps them away.
    pub fn of(
        listen: Option<&str>,
        host_name: Option<&str>,
        (tls, behind_proxy): (Option<Tls>, bool),
        (has_password, reads_only): (bool, bool),
    ) -> Result<Settings> {
        let address = listen.map_or(Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))), address)?;
        let others = !address.ip().is_loopback();
        let mut problems = Vec::new();
        let mut lacks = |what: &str, remedy: &str| {
            let why = "everybody who reaches that address could start servers on this machine, or read what others type";
            problems.push(Problem::recipe(what.to_string()).key("--listen").why(why).remedy(remedy));
        };
        if others && !has_password {
            lacks("an address that others reach needs a password", "plimsoll serve --set-password");
        }
        if others && tls.is_none() && !behind_proxy {
            let remedy = "--tls CERT.pem,KEY.pem, or --behind-proxy where something in front has TLS";
            lacks("an address that others reach needs TLS", remedy);
        }
        if others && host_name.is_none() {
            lacks("an address that others reach needs the name by which they ask for it", "--host-name NAME");
        }
        Problems::check(problems)?;
        Ok(Settings {
            listening: Listening { address, tls, behind_proxy },
            host_name: host_name.unwrap_or(HOST_NAME).to_ascii_lowercase(),
            max_role: if reads_only { Role::Reader } else { Role::Runner },
        })
    }

    /// Whether browsers ask by TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.listening.tls.is_some() || self.listening.behind_proxy
    }

    /// The page's address as a browser asks for it, without a path; `port` is the one that it listens on.
    pub fn origin(&self, port: u16) -> String {
        match (self.listening.behind_proxy, self.is_secure()) {
            // Which port the proxy has is not known here.
            (true, _) => format!("https://{}", self.host_name),
            (false, true) => format!("https://{}:{port}", self.host_name),
            (false, false) => format!("http://{}:{port}", self.host_name),
        }
    }
}

/// `192.0.2.1:9470`, `[::1]:0`, or either without a port.
fn address(text: &str) -> Result<SocketAddr> {
    let bare =
        |text: &str| text.trim_matches(['[', ']']).parse::<IpAddr>().map(|ip| SocketAddr::from((ip, PORT)));
    text.parse().or_else(|_| bare(text)).map_err(|_| {
        let what = format!("`{}` is no address", text.escape_debug());
        Problem::recipe(what).key("--listen").remedy("127.0.0.1:9470").into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(listen: &str, tls: bool, password: bool, name: Option<&str>) -> Result<Settings> {
        Settings::of(Some(listen), name, (None, tls), (password, false))
    }

    #[test]
    fn an_address_that_others_reach_needs_a_password_tls_and_a_name_told_at_once() {
        let problems = of("0.0.0.0", false, false, None).expect_err("nothing keeps others away");
        assert_eq!((problems.iter().count(), problems.exit_code()), (3, 2), "{problems}");
        assert!(of("0.0.0.0", true, false, Some("lab.example")).is_err());
        let settings = of("0.0.0.0:80", true, true, Some("Lab.example")).expect("all is there");
        assert_eq!(settings.origin(80), "https://lab.example");
    }

    #[test]
    fn loopback_is_the_default_and_needs_nothing() {
        let settings =
            Settings::of(None, None, (None, false), (false, true)).expect("nobody else reaches it");
        assert_eq!(settings.listening.address.to_string(), "127.0.0.1:9470");
        assert_eq!(settings.origin(9_470), "http://plimsoll.localhost:9470");
        assert_eq!(settings.max_role, Role::Reader);
        assert!(of("[::1]:0", false, false, None).is_ok() && of("::1", false, false, None).is_ok());
        assert!(of("nonsense", false, false, None).is_err());
    }
}
