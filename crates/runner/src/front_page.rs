//! Verify before measuring: one request must be answered, over TCP or a unix socket, encrypted where the target is.

use std::io::{self, ErrorKind};

use engine::{Endpoint, Target};
use model::{Problem, Problems, Result};

use crate::exchange::exchange;

/// Characters of a wrong answer that are shown.
const SHOWN_CHARS: usize = 400;

/// A page that is asked for before users come, and what must come of it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FrontPage<'a> {
    /// Status 200.
    Found(&'a str),
    /// Any answer of HTTP.
    Answered(&'a str),
}

impl FrontPage<'_> {
    /// Asks `target` for it once.
    ///
    /// # Errors
    /// No answer within `timeout_s` seconds, or another than must come.
    pub(crate) fn verify(&self, target: &Target, timeout_s: f64) -> Result<()> {
        let url = self.url(target);
        let problem = |what: String| -> Problems {
            Problem::environment(what)
                .tier("web")
                .why("a stack that can't serve its front page can't be measured")
                .into()
        };
        let request =
            format!("GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.path(), target.host);
        let unanswered = |error: io::Error| {
            match error.kind() {
            ErrorKind::TimedOut => problem(format!("failed to fetch {url}: {error}")).with_first(|first| {
                let remedy = "front_page_within_s of kit.toml says how long it may take; what an application does once \
                              belongs into [prepare]";
                first.remedy = Some(remedy.to_string());
            }),
            _ => problem(format!("failed to fetch {url}: {error}")),
        }
        };
        let head = exchange(target, request.as_bytes(), timeout_s, &mut || Ok(()))?.map_err(unanswered)?;
        let head = String::from_utf8_lossy(&head);
        let Some(lacks) = self.lacks(head.lines().next().unwrap_or_default()) else { return Ok(()) };
        let shown: String = head.chars().take(SHOWN_CHARS).collect();
        Err(problem(format!("{url} was not answered {lacks} but with:\n{shown}")))
    }

    fn path(&self) -> &str {
        let (FrontPage::Found(path) | FrontPage::Answered(path)) = self;
        path
    }

    fn url(&self, target: &Target) -> String {
        let (scheme, path) = (if target.tls.is_some() { "https" } else { "http" }, self.path());
        match &target.endpoint {
            Endpoint::Tcp(address) => format!("{scheme}://{address}{path}"),
            Endpoint::Unix(socket) => format!("{scheme}://{}{path} ({})", target.host, socket.display()),
        }
    }

    /// Why what begins with this line is not what must come.
    fn lacks(&self, line: &str) -> Option<&'static str> {
        let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split_whitespace().nth(1));
        let status = status.and_then(|status| status.parse::<u16>().ok());
        match (self, status) {
            (FrontPage::Answered(_), None) => Some("in HTTP"),
            (FrontPage::Found(_), status) if status != Some(200) => Some("with status 200"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;
    use std::sync::Arc;
    use std::thread;

    use engine::{Tls, Trust};
    use rustls::{ServerConfig, ServerConnection, StreamOwned};

    use super::*;

    fn answer(mut stream: impl Read + Write, status: &str) {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes());
        let _ = stream.flush();
        // It closes only when the other side has.
        let _ = stream.read(&mut [0; 1024]);
    }

    fn problem_text(page: FrontPage<'_>, target: &Target) -> String {
        page.verify(target, 5.0).err().map(|problems| problems.to_string()).unwrap_or_default()
    }

    fn target(endpoint: Endpoint, tls: Option<Tls>) -> Target {
        Target { endpoint, host: "shop.example".to_string(), tls, sources: Vec::new() }
    }

    #[test]
    fn a_page_is_asked_for_over_a_unix_socket() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("web.sock");
        let listener = UnixListener::bind(&path).expect("a socket");
        thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| answer(stream, "404 Not Found"))
        });
        let target = target(Endpoint::Unix(path.clone()), None);
        assert_eq!(problem_text(FrontPage::Answered("/"), &target), "");
        let missing = problem_text(FrontPage::Found("/there"), &target);
        let expected =
            format!("http://shop.example/there ({}) was not answered with status 200", path.display());
        assert!(missing.contains(&expected), "{missing}");
    }

    #[test]
    fn a_server_that_takes_too_long_is_told_with_the_time_and_what_to_try() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let target = target(Endpoint::Tcp(listener.local_addr().expect("it is bound")), None);
        let page = FrontPage::Found("/slow");
        let said = page.verify(&target, 0.05).expect_err("nobody answers").to_string();
        for part in ["/slow: no answer within 0.05 s", "front_page_within_s", "[prepare]"] {
            assert!(said.contains(part), "`{part}` is not said: {said}");
        }
    }

    #[test]
    fn a_page_is_asked_for_over_tls_and_a_certificate_that_is_not_believed_is_said() {
        let pair =
            rcgen::generate_simple_self_signed(vec!["shop.example".to_string()]).expect("a certificate");
        let key =
            rustls::pki_types::PrivateKeyDer::try_from(pair.signing_key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.expect("versions").with_no_client_auth();
        let config = builder.with_single_cert(vec![pair.cert.der().clone()], key).expect("a configuration");
        let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").expect("a port"));
        let address = listener.local_addr().expect("it is bound");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = ServerConnection::new(config.clone()).expect("a connection");
                answer(StreamOwned::new(server, stream), "200 OK");
            }
        });
        let server_name = "shop.example".to_string();
        let trusting = |trust| {
            let tls = Tls { server_name: server_name.clone(), trust, resumption_ratio: 1.0 };
            target(Endpoint::Tcp(address), Some(tls))
        };
        let known = trusting(Trust::Roots(pair.cert.pem().into_bytes()));
        assert_eq!(problem_text(FrontPage::Found("/there"), &known), "");
        let other = rcgen::generate_simple_self_signed(vec!["shop.example".to_string()]).expect("another");
        let unknown = trusting(Trust::Roots(other.cert.pem().into_bytes()));
        let unknown = problem_text(FrontPage::Answered("/"), &unknown);
        assert!(unknown.contains(&format!("failed to fetch https://{address}/: TLS: ")), "{unknown}");
    }
}
