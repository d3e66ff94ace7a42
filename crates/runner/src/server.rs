//! A server that somebody else started: where it is, and whether load may go there. This machine's loopback is free;
//! anything else only when it was allowed by name.

use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use engine::{Endpoint, Target, Tls, Trust};
use model::{Problem, Result};
use url::{Host, Url};

/// How long a server may take to accept the first connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How a server that somebody else started is reached, and what load may go there.
#[derive(Debug, Clone)]
pub struct ServerAccess {
    /// Hosts that are not on this machine and may have load: exact names or addresses.
    pub allow_target: Vec<String>,
    /// The unix socket to connect to instead of the URL's host.
    pub unix: Option<PathBuf>,
    /// Local addresses to connect from, in turn.
    pub source: Vec<IpAddr>,
    /// Any certificate is believed.
    pub insecure: bool,
    /// The only roots that are believed, a PEM file.
    pub cacert: Option<PathBuf>,
    /// A page that must be answered with status 200 before users come; without it any answer will do.
    pub front_page: Option<String>,
    /// Share of new TLS connections that resume an earlier session, 0 to 1.
    pub resume: f64,
}

impl Default for ServerAccess {
    fn default() -> ServerAccess {
        ServerAccess {
            allow_target: Vec::new(),
            unix: None,
            source: Vec::new(),
            insecure: false,
            cacert: None,
            front_page: None,
            resume: 1.0,
        }
    }
}

/// Where the load goes.
#[derive(Debug, Clone)]
pub struct Server {
    /// As the engine wants it.
    pub target: Target,
    /// The URL as understood.
    pub url: Url,
    /// The host that `--allow-target` allowed; absent on this machine.
    pub allowed: Option<String>,
}

/// A server that nobody has gone to yet.
#[derive(Debug, Clone)]
pub struct LookedUp {
    /// Its name in the URL.
    pub host: String,
    /// Its addresses, with its port, each once.
    pub addresses: Vec<SocketAddr>,
    /// How its connections are encrypted.
    pub tls: Option<Tls>,
}

impl Server {
    /// Its address or socket, for people.
    pub fn location(&self) -> String {
        match &self.target.endpoint {
            Endpoint::Tcp(address) => address.to_string(),
            Endpoint::Unix(path) => path.display().to_string(),
        }
    }
}

impl ServerAccess {
    /// Finds the server of a URL and refuses one that load must not go to. One connection is opened and closed to see
    /// whether somebody listens; nothing is sent.
    pub fn find(&self, text: &str) -> Result<Server> {
        let url = parse(text)?;
        let tls = self.tls(&url)?;
        let (endpoint, allowed) = match &self.unix {
            Some(path) => (Endpoint::Unix(path.clone()), None),
            None => self.resolve(&url)?,
        };
        self.check_sources(&endpoint)?;
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = format!("{}{port}", url.host_str().unwrap_or_default());
        Ok(Server { target: Target { endpoint, host, tls, sources: self.source.clone() }, url, allowed })
    }

    /// All addresses of a URL's server and how its connections are encrypted, without a packet to it: nothing is allowed by that.
    ///
    /// # Errors
    /// It is no URL, or has a path, which no server of a kit has, or is of a host that has no address.
    pub fn look_up_root(&self, text: &str) -> Result<LookedUp> {
        let url = parse(text)?;
        check_root(&url, text)?;
        let addresses = addresses(&url)?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_string();
        match addresses.is_empty() {
            true => Err(Problem::environment(format!("{host} has no address")).into()),
            false => Ok(LookedUp { tls: self.tls(&url)?, host, addresses }),
        }
    }

    /// The same for a server whose paths a kit's sessions know: the URL has none.
    pub fn find_root(&self, text: &str) -> Result<Server> {
        check_root(&parse(text)?, text)?;
        self.find(text)
    }

    /// Refuses a front page where nobody would ask for it, or that is no path.
    pub fn check_front_page(&self, has_target: bool) -> Result<()> {
        let Some(page) = &self.front_page else { return Ok(()) };
        let problem = |what: &str| Problem::recipe(what.to_string()).key("--front-page");
        if !has_target {
            let what = "it is of a server that somebody else started";
            return Err(problem(what).remedy("--target URL, or leave it out").into());
        }
        if !page.starts_with('/') || page.chars().any(|c| c.is_control() || c == ' ') {
            return Err(problem(&format!("`{page}` is no path")).remedy("/index.html").into());
        }
        Ok(())
    }

    fn resolve(&self, url: &Url) -> Result<(Endpoint, Option<String>)> {
        let name = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let (mut refused, mut silent) = (None, None);
        for address in addresses(url)? {
            let ip = address.ip().to_canonical();
            let allowed = self.allows(name, ip);
            if !ip.is_loopback() && allowed.is_none() {
                refused = refused.or(Some(ip));
                continue;
            }
            let allowed = allowed.filter(|_| !ip.is_loopback());
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(_) => return Ok((Endpoint::Tcp(address), allowed)),
                Err(error) => silent = silent.or(Some((address, error))),
            }
        }
        Err(match (silent, refused) {
            (Some((address, error)), _) => nobody_listens(address, &error),
            (None, Some(ip)) => not_allowed(name, ip),
            (None, None) => Problem::environment(format!("{name} has no address")),
        }
        .into())
    }

    fn allows(&self, name: &str, ip: IpAddr) -> Option<String> {
        let same = |given: &&String| {
            given.eq_ignore_ascii_case(name) || given.parse::<IpAddr>().is_ok_and(|given| given == ip)
        };
        self.allow_target.iter().find(same).cloned()
    }

    fn tls(&self, url: &Url) -> Result<Option<Tls>> {
        if !(0.0..=1.0).contains(&self.resume) {
            let what = format!("{} is not a share between 0 and 1", self.resume);
            return Err(Problem::recipe(what).key("--tls-resume").into());
        }
        let trust = match &self.cacert {
            Some(path) => Trust::Roots(std::fs::read(path).map_err(|error| {
                Problem::recipe(format!("failed to read: {error}")).file(path.display().to_string())
            })?),
            None if self.insecure => Trust::Anybody,
            None => Trust::System,
        };
        let server_name = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_string();
        let tls = Tls { server_name, trust, resumption_ratio: self.resume };
        Ok((url.scheme() == "https").then_some(tls))
    }

    fn check_sources(&self, endpoint: &Endpoint) -> Result<()> {
        let problem = |what: String| Err(Problem::recipe(what).key("--source").into());
        match (endpoint, self.source.first()) {
            (_, None) => Ok(()),
            (Endpoint::Unix(_), Some(_)) => problem("a unix socket has no source address".to_string()),
            (Endpoint::Tcp(address), Some(_)) => {
                match self.source.iter().find(|source| source.is_ipv4() != address.is_ipv4()) {
                    Some(other) => problem(format!("{other} can't reach {address}: another family")),
                    None => Ok(()),
                }
            }
        }
    }
}

fn addresses(url: &Url) -> Result<Vec<SocketAddr>> {
    let name = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or(80);
    let found = (name, port).to_socket_addrs().map_err(|error| {
        Problem::environment(format!("failed to find the address of {name}: {error}"))
            .remedy("check the name, or give its address")
    })?;
    Ok(found.collect())
}

/// Refuses the URL of a page where one of a server is wanted.
fn check_root(url: &Url, text: &str) -> Result<()> {
    if url.path() == "/" && url.query().is_none() {
        return Ok(());
    }
    Err(Problem::recipe(format!("`{text}` has a path; the kit's sessions have their own"))
        .key("--target")
        .remedy(url.origin().ascii_serialization())
        .into())
}

fn parse(text: &str) -> Result<Url> {
    let example = "http://127.0.0.1:8080/";
    let problem = |what: String| Problem::recipe(format!("`{text}`: {what}")).remedy(example);
    let url = Url::parse(text).map_err(|error| problem(format!("not a URL: {error}")))?;
    match (url.scheme(), url.host()) {
        ("http" | "https", Some(Host::Domain(_) | Host::Ipv4(_) | Host::Ipv6(_))) => {}
        // `localhost:8080` is a URL of the scheme `localhost`.
        (scheme, _) => return Err(problem(format!("`{scheme}` is not a scheme; use http or https")).into()),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(problem("a name and password in a URL would be ignored".to_string())
            .remedy("-H 'Authorization: Basic …'")
            .into());
    }
    Ok(url)
}

fn nobody_listens(address: SocketAddr, error: &std::io::Error) -> Problem {
    Problem::environment(format!("failed to connect to {address}: {error}"))
        .why("a server that isn't there can't be measured")
        .remedy("start it, or check the port")
}

fn not_allowed(name: &str, ip: IpAddr) -> Problem {
    let known = if name == ip.to_string() { String::new() } else { format!(" ({ip})") };
    Problem::recipe(format!("{name}{known} is not on this machine's loopback"))
        .why("load on somebody else's server is an attack, unless they asked for it")
        .remedy(format!("--allow-target {name}, if you may"))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn listening() -> (TcpListener, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        let port = listener.local_addr().expect("it is bound").port();
        (listener, port)
    }

    fn fault(args: &ServerAccess, url: &str) -> String {
        args.find(url).expect_err("it is refused").to_string()
    }

    #[test]
    fn loopback_needs_no_permission_by_whatever_name() {
        let (_listener, port) = listening();
        for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
            let server =
                ServerAccess::default().find(&format!("http://{host}:{port}/a?b")).expect("it is free");
            assert_eq!((server.allowed, server.target.tls.is_none()), (None, true), "{host}");
            assert!(server.target.host.ends_with(&format!(":{port}")), "{}", server.target.host);
        }
    }

    #[test]
    fn another_machine_is_refused_before_anything_is_sent() {
        let said = fault(&ServerAccess::default(), "http://192.0.2.1/");
        assert!(said.contains("192.0.2.1 is not on this machine"), "{said}");
        assert!(said.contains("--allow-target 192.0.2.1"), "{said}");
        let other = ServerAccess { allow_target: vec!["192.0.2.2".into()], ..ServerAccess::default() };
        assert!(fault(&other, "http://192.0.2.1/").contains("not on this machine"));
    }

    #[test]
    fn a_name_or_an_address_is_allowed_exactly_as_given() {
        let args = ServerAccess {
            allow_target: vec!["Shop.example".into(), "192.0.2.1".into()],
            ..ServerAccess::default()
        };
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        assert_eq!(args.allows("shop.example", ip("192.0.2.7")).as_deref(), Some("Shop.example"));
        assert_eq!(args.allows("other.example", ip("192.0.2.1")).as_deref(), Some("192.0.2.1"));
        assert_eq!(args.allows("www.shop.example", ip("192.0.2.7")), None);
    }

    #[test]
    fn what_is_no_url_is_said_in_words() {
        for (url, expected) in [
            ("localhost:8080", "`localhost` is not a scheme"),
            ("127.0.0.1:80", "not a URL"),
            ("ftp://127.0.0.1/", "`ftp` is not a scheme"),
            ("http://a:b@127.0.0.1/", "a name and password"),
            ("http://", "not a URL"),
        ] {
            let said = fault(&ServerAccess::default(), url);
            assert!(said.contains(expected), "{url}: {said}");
        }
    }

    #[test]
    fn nobody_at_the_port_is_said_before_the_start() {
        let (listener, port) = listening();
        drop(listener);
        let said = fault(&ServerAccess::default(), &format!("http://127.0.0.1:{port}/"));
        assert!(said.contains("failed to connect") && said.contains("start it"), "{said}");
    }

    #[test]
    fn https_has_its_own_port_and_names_whom_to_trust() {
        let unix = || ServerAccess { unix: Some("/nowhere".into()), ..ServerAccess::default() };
        let server = unix().find("https://shop.example/").expect("a unix socket is this machine's");
        assert_eq!(server.target.host, "shop.example");
        let tls = server.target.tls.expect("https is encrypted");
        assert!(matches!(tls.trust, Trust::System) && tls.server_name == "shop.example", "{tls:?}");
        let any =
            ServerAccess { insecure: true, ..unix() }.find("https://shop.example/").expect("it is found");
        assert!(matches!(any.target.tls.expect("https").trust, Trust::Anybody));
        let half = ServerAccess { resume: 1.5, ..unix() };
        assert!(fault(&half, "https://shop.example/").contains("between 0 and 1"));
    }

    #[test]
    fn source_addresses_are_of_the_servers_family() {
        let (_listener, port) = listening();
        let args =
            ServerAccess { source: vec!["::1".parse().expect("an address")], ..ServerAccess::default() };
        assert!(fault(&args, &format!("http://127.0.0.1:{port}/")).contains("another family"));
    }
}
