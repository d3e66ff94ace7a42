//! A connection to the web server under test on which no answer is waited for longer than a while; encrypted where the
//! target is, kept where the server keeps it.

use std::io;
use std::time::{Duration, Instant};

use engine::Target;
use engine::clock::{Clock, MonotonicClock};
use engine::http::response::Response;
use engine::tls::{TlsChannel, TlsFault, TlsSetup, Wallet};
use engine::transport::epoll::EpollTransport;
use engine::transport::{ConnectFault, Ready, Transport};
use model::{Problem, Result, units};

/// There is never more than one connection.
const SLOT: u32 = 0;
const BUFFER_BYTES: usize = 64 * 1024;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Broken {
    /// The server closed a kept connection before it answered a byte, as it may: a new one may have an answer.
    Stale,
    /// In words.
    For(String),
}

/// What cuts an exchange short.
enum Cut {
    /// The server ended the connection.
    ByServer(String),
    Other(String),
}

/// The way to the web server.
pub(super) struct Connection {
    transport: EpollTransport,
    clock: MonotonicClock,
    tls: Option<TlsSetup>,
    wallet: Option<Box<Wallet>>,
    timeout: Duration,
    open: bool,
    /// The open connection's TLS.
    secure: Option<TlsChannel>,
    ready: Vec<Ready>,
    buffer: Vec<u8>,
}

impl Connection {
    /// To `target`, which may take `timeout` for each answer. Nothing is sent yet.
    pub(super) fn new(target: &Target, timeout: Duration) -> Result<Connection> {
        let clock = MonotonicClock::default();
        clock.start_at(Instant::now());
        let transport = EpollTransport::new(target, clock.clone())
            .map_err(|error| Problem::environment(format!("failed to get ready for requests: {error}")))?;
        Ok(Connection {
            transport,
            clock,
            tls: target.tls.as_ref().map(TlsSetup::new).transpose()?,
            wallet: None,
            timeout,
            open: false,
            secure: None,
            ready: Vec::new(),
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    /// Sends `request` and reads its answer.
    pub(super) fn exchange(&mut self, request: &[u8], response: &mut Response) -> Result<(), Broken> {
        let kept = self.open;
        let until_ns = self.clock.now_ns() + self.timeout.as_nanos() as u64;
        let outcome = self.send_and_receive(request, response, until_ns);
        if outcome.is_err() || response.closes() {
            self.close();
        }
        outcome.map_err(|cut| match cut {
            Cut::ByServer(_) if kept && !response.started() => Broken::Stale,
            Cut::ByServer(what) | Cut::Other(what) => Broken::For(what),
        })
    }

    fn send_and_receive(
        &mut self,
        request: &[u8],
        response: &mut Response,
        until_ns: u64,
    ) -> Result<(), Cut> {
        if !self.open {
            self.connect(until_ns)?;
        }
        self.send(request, until_ns)?;
        self.receive(response, until_ns)
    }

    fn connect(&mut self, until_ns: u64) -> Result<(), Cut> {
        self.transport.connect(SLOT).map_err(|error| unconnected(&error))?;
        self.open = true;
        self.wait(until_ns, |event| event.writable)?;
        self.transport.finish_connect(SLOT).map_err(|error| unconnected(&error))?;
        let Some(setup) = &self.tls else { return Ok(()) };
        let mut channel = setup.open(&mut self.wallet, 0.0).map_err(|fault| insecure(&fault))?;
        loop {
            self.flush(&mut channel, until_ns)?;
            if !channel.handshaking() {
                break;
            }
            let length = self.take(until_ns)?;
            if length == 0 {
                channel.end_of_stream().map_err(|fault| insecure(&fault))?;
            }
            channel.push(&self.buffer[..length], &mut Vec::new()).map_err(|fault| insecure(&fault))?;
        }
        self.secure = Some(channel);
        Ok(())
    }

    fn close(&mut self) {
        self.transport.close(SLOT);
        self.secure = None;
        self.open = false;
    }

    fn send(&mut self, mut bytes: &[u8], until_ns: u64) -> Result<(), Cut> {
        // Lent out while it is used; after an error the connection is closed and needs it no more.
        let Some(mut channel) = self.secure.take() else { return self.push(bytes, until_ns) };
        while !bytes.is_empty() {
            let written = channel.write(bytes).map_err(|fault| insecure(&fault))?;
            bytes = &bytes[written..];
            self.flush(&mut channel, until_ns)?;
        }
        self.secure = Some(channel);
        Ok(())
    }

    /// Sends what the channel wants to have sent.
    fn flush(&mut self, channel: &mut TlsChannel, until_ns: u64) -> Result<(), Cut> {
        let mut out = Vec::new();
        channel.pull(&mut out).map_err(|fault| insecure(&fault))?;
        self.push(&out, until_ns)
    }

    fn push(&mut self, mut bytes: &[u8], until_ns: u64) -> Result<(), Cut> {
        while !bytes.is_empty() {
            match self.transport.send(SLOT, bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait(until_ns, |event| event.writable)?;
                }
                Err(error) => return Err(lost("send", &error)),
            }
        }
        Ok(())
    }

    fn receive(&mut self, response: &mut Response, until_ns: u64) -> Result<(), Cut> {
        loop {
            let length = self.take(until_ns)?;
            let mut plain = Vec::new();
            let (bytes, ended) = match &mut self.secure {
                None => (&self.buffer[..length], length == 0),
                Some(channel) => {
                    if length == 0 {
                        channel.end_of_stream().map_err(|fault| Cut::ByServer(format!("TLS: {fault}")))?;
                    }
                    channel.push(&self.buffer[..length], &mut plain).map_err(|fault| insecure(&fault))?;
                    (&plain[..], length == 0 || channel.closed())
                }
            };
            if response.feed(bytes).map_err(|fault| Cut::Other(fault.words().to_string()))? {
                return Ok(());
            }
            if ended {
                return response.end_of_stream().map_err(|fault| Cut::ByServer(fault.words().to_string()));
            }
        }
    }

    /// Receives what comes next; 0 bytes at the end of the stream. An answer without end is never waited for, and would
    /// otherwise be read for ever.
    fn take(&mut self, until_ns: u64) -> Result<usize, Cut> {
        loop {
            self.in_time(until_ns)?;
            match self.transport.receive(SLOT, &mut self.buffer) {
                Ok(length) => return Ok(length),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait(until_ns, |event| event.readable)?;
                }
                Err(error) => return Err(lost("receive", &error)),
            }
        }
    }

    /// Waits for an event. What came before it has been taken: events are edges.
    fn wait(&mut self, until_ns: u64, wanted: impl Fn(&Ready) -> bool) -> Result<(), Cut> {
        loop {
            self.ready.clear();
            self.transport
                .wait(until_ns, &mut self.ready)
                .map_err(|error| Cut::Other(format!("failed to wait for the network: {error}")))?;
            if self.ready.iter().any(&wanted) {
                return Ok(());
            }
            self.in_time(until_ns)?;
        }
    }

    fn in_time(&self, until_ns: u64) -> Result<(), Cut> {
        if self.clock.now_ns() < until_ns {
            return Ok(());
        }
        let timeout = units::show_seconds(self.timeout.as_secs_f64());
        Err(Cut::Other(format!("no whole answer within {timeout}")))
    }
}

fn unconnected(error: &io::Error) -> Cut {
    Cut::Other(ConnectFault::of(error).words().map_or_else(|| error.to_string(), str::to_string))
}

fn insecure(fault: &TlsFault) -> Cut {
    Cut::Other(format!("TLS: {fault}"))
}

fn lost(doing: &str, error: &io::Error) -> Cut {
    let what = format!("failed to {doing}: {error}");
    match error.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Cut::ByServer(what),
        _ => Cut::Other(what),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use engine::Endpoint;
    use engine::http::response::Expected;

    use super::*;

    #[test]
    fn an_answer_that_never_ends_is_given_up_however_fast_it_comes() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody asks");
            stream.read_exact(&mut [0; 4]).expect("the question");
            let mut more = stream.write_all(b"HTTP/1.1 200 X\r\n\r\n");
            // Longer than anybody would wait for this test, if nobody hung up.
            let until = Instant::now() + Duration::from_secs(60);
            while more.is_ok() && Instant::now() < until {
                more = stream.write_all(&[b'a'; 1024]);
            }
            more.is_err()
        });
        let host = address.to_string();
        let target = Target { endpoint: Endpoint::Tcp(address), host, tls: None, sources: Vec::new() };
        let mut connection = Connection::new(&target, Duration::from_millis(200)).expect("a connection");
        let mut response = Response::default();
        response.begin(Expected::default());
        let outcome = connection.exchange(b"ask\n", &mut response);
        assert_eq!(outcome, Err(Broken::For("no whole answer within 200 ms".to_string())));
        assert!(server.join().expect("it ends"), "the connection was closed");
    }
}
