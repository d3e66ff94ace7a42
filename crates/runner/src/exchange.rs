//! One HTTP exchange outside of a measurement: over TCP or a unix socket, encrypted where the target is. Whoever waits can be told
//! and can give up.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use engine::tls::{TlsChannel, TlsFault, TlsSetup};
use engine::{Endpoint, Target};
use model::Result;

/// The head of an answer is looked for in this number of bytes at most.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How long a look for an answer takes, before whoever waits is asked.
const LOOK: Duration = Duration::from_millis(100);

/// Sends `request` to `target` and gives the head of its answer with what came beside it. `on_wait` is called several times a
/// second until then.
///
/// # Errors
/// The outer one is of the target's own settings, such as roots that can't be read. The inner one: no connection; one of the kind
/// `TimedOut` after `within_s` seconds without an answer; what `on_wait` says.
pub(crate) fn exchange(
    target: &Target,
    request: &[u8],
    within_s: f64,
    on_wait: &mut dyn FnMut() -> io::Result<()>,
) -> Result<io::Result<Vec<u8>>> {
    let patience = Patience { started: Instant::now(), within_s, on_wait };
    let opened = Connection::open(target, patience)?;
    Ok(opened.and_then(|mut connection| connection.exchange(request)))
}

/// A blocking stream of bytes.
trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection for one exchange.
struct Connection<'a> {
    stream: Box<dyn Stream>,
    secure: Option<TlsChannel>,
    patience: Patience<'a>,
}

/// How long an answer is waited for.
struct Patience<'a> {
    started: Instant,
    within_s: f64,
    on_wait: &'a mut dyn FnMut() -> io::Result<()>,
}

impl Patience<'_> {
    /// Time goes by and nothing has come.
    fn wait(&mut self) -> io::Result<()> {
        if self.started.elapsed().as_secs_f64() < self.within_s {
            return (self.on_wait)();
        }
        let what = format!("no answer within {} s", self.within_s);
        Err(io::Error::new(ErrorKind::TimedOut, what))
    }
}

impl<'a> Connection<'a> {
    /// Connects and shakes hands. The outer error is of the target's own settings, such as roots that can't be read.
    fn open(target: &Target, patience: Patience<'a>) -> Result<io::Result<Connection<'a>>> {
        let setup = target.tls.as_ref().map(TlsSetup::new).transpose()?;
        let open = || -> io::Result<Connection<'a>> {
            let look = LOOK.min(Duration::from_secs_f64(patience.within_s));
            let stream: Box<dyn Stream> = match &target.endpoint {
                Endpoint::Tcp(address) => {
                    let within = Duration::from_secs_f64(patience.within_s);
                    let stream = TcpStream::connect_timeout(address, within)?;
                    stream.set_read_timeout(Some(look))?;
                    Box::new(stream)
                }
                Endpoint::Unix(path) => {
                    let stream = UnixStream::connect(path)?;
                    stream.set_read_timeout(Some(look))?;
                    Box::new(stream)
                }
            };
            let secure = setup.as_ref().map(|setup| setup.open(&mut None, 1.0)).transpose();
            let mut connection = Connection { stream, secure: secure.map_err(insecure)?, patience };
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
        let length = loop {
            match self.stream.read(&mut part) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.patience.wait()?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
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
