//! Verify before measuring: one request must be answered, over TCP or a unix socket, encrypted where the target is.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use engine::tls::{TlsChannel, TlsFault, TlsSetup};
use engine::{Endpoint, Target};
use model::{Problem, Problems, Result};

/// The head of an answer is looked for in this number of bytes at most.
const MAX_HEAD_BYTES: usize = 64 * 1024;
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
    /// No answer within `timeout_s` seconds (1 to 60), or another than must come.
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
        let timeout = Duration::from_secs_f64(timeout_s.clamp(1.0, 60.0));
        let mut connection = Connection::open(target, timeout)?
            .map_err(|error| problem(format!("failed to fetch {url}: {error}")))?;
        let head = connection
            .exchange(request.as_bytes())
            .map_err(|error| problem(format!("failed to fetch {url}: {error}")))?;
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

/// A blocking stream of bytes.
trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection for one exchange.
struct Connection {
    stream: Box<dyn Stream>,
    secure: Option<TlsChannel>,
}

impl Connection {
    /// Connects and shakes hands. The outer error is of the target's own settings, such as roots that can't be read.
    fn open(target: &Target, timeout: Duration) -> Result<io::Result<Connection>> {
        let setup = target.tls.as_ref().map(TlsSetup::new).transpose()?;
        let open = || -> io::Result<Connection> {
            let stream: Box<dyn Stream> = match &target.endpoint {
                Endpoint::Tcp(address) => {
                    let stream = TcpStream::connect_timeout(address, timeout)?;
                    stream.set_read_timeout(Some(timeout))?;
                    Box::new(stream)
                }
                Endpoint::Unix(path) => {
                    let stream = UnixStream::connect(path)?;
                    stream.set_read_timeout(Some(timeout))?;
                    Box::new(stream)
                }
            };
            let secure = setup.as_ref().map(|setup| setup.open(&mut None, 1.0)).transpose();
            let mut connection = Connection { stream, secure: secure.map_err(insecure)? };
            connection.shake_hands()?;
            Ok(connection)
        };
        Ok(open())
    }

    fn shake_hands(&mut self) -> io::Result<()> {
        loop {
            self.flush()?;
            if !self.secure.as_ref().is_some_and(TlsChannel::handshaking) {
                return Ok(());
            }
            if self.receive()?.is_none() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Sends `request` and gives the head of its answer: not every server closes when it is asked to.
    fn exchange(&mut self, request: &[u8]) -> io::Result<Vec<u8>> {
        self.send(request)?;
        let mut answer = Vec::new();
        while !answer.windows(4).any(|end| end == b"\r\n\r\n") && answer.len() < MAX_HEAD_BYTES {
            match self.receive()? {
                Some(bytes) => answer.extend(bytes),
                None => break,
            }
        }
        Ok(answer)
    }

    /// In one piece: a server may answer what came first, and close.
    fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let Some(channel) = &mut self.secure else { return self.stream.write_all(bytes) };
        while !bytes.is_empty() {
            let written = channel.write(bytes).map_err(insecure)?;
            bytes = &bytes[written..];
        }
        self.flush()
    }

    /// Sends what the channel wants to have sent.
    fn flush(&mut self) -> io::Result<()> {
        let Some(channel) = &mut self.secure else { return Ok(()) };
        let mut out = Vec::new();
        channel.pull(&mut out).map_err(insecure)?;
        self.stream.write_all(&out)
    }

    /// What comes next, decrypted, which may be nothing yet; absent at the end.
    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut part = [0; 4096];
        let length = self.stream.read(&mut part)?;
        let Some(channel) = &mut self.secure else {
            return Ok((length > 0).then(|| part[..length].to_vec()));
        };
        let mut plain = Vec::new();
        channel.push(&part[..length], &mut plain).map_err(insecure)?;
        Ok((length > 0 && !channel.closed() || !plain.is_empty()).then_some(plain))
    }
}

fn insecure(fault: TlsFault) -> io::Error {
    io::Error::other(format!("TLS: {fault}"))
}

#[cfg(test)]
mod tests {
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
