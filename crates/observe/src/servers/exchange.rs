//! A connection to a server on this machine on which nothing waits longer than until a deadline.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use model::server_job::StatusPlace;

/// More than any status has.
const ANSWER_MAX_BYTES: usize = 4 << 20;

/// A connection with a deadline.
pub(super) struct Exchange {
    stream: Stream,
    deadline: Instant,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Exchange {
    pub(super) fn connect(place: &StatusPlace, deadline: Instant) -> io::Result<Exchange> {
        let stream = match place {
            StatusPlace::Port(port) => {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
                Stream::Tcp(TcpStream::connect_timeout(&address, left(deadline)?)?)
            }
            StatusPlace::Socket(path) => Stream::Unix(UnixStream::connect(path)?),
        };
        Ok(Exchange { stream, deadline })
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let left = Some(left(self.deadline)?);
        match &mut self.stream {
            Stream::Tcp(stream) => stream.set_write_timeout(left).and_then(|()| stream.write_all(bytes)),
            Stream::Unix(stream) => stream.set_write_timeout(left).and_then(|()| stream.write_all(bytes)),
        }
    }

    /// All that comes until the server closes or `enough` says so.
    pub(super) fn receive(&mut self, enough: impl Fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
        let mut answer = Vec::new();
        let mut buffer = [0; 16 * 1024];
        while !enough(&answer) {
            let left = Some(left(self.deadline)?);
            let read = match &mut self.stream {
                Stream::Tcp(stream) => stream.set_read_timeout(left).and_then(|()| stream.read(&mut buffer)),
                Stream::Unix(stream) => stream.set_read_timeout(left).and_then(|()| stream.read(&mut buffer)),
            };
            match read {
                Ok(0) => break,
                Ok(read) => answer.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if answer.len() > ANSWER_MAX_BYTES {
                return Err(wrong("the answer is too long"));
            }
        }
        Ok(answer)
    }
}

/// What is left of the time; an error when nothing is.
pub(super) fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

pub(super) fn wrong(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
