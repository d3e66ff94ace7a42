//! Making non-blocking sockets towards a target, from its source addresses in turn.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::target::{Endpoint, Target};

#[derive(Debug)]
enum Peer {
    Tcp(SocketAddr),
    Unix(SocketAddrUnix),
}

/// What a user's socket may receive ahead where packets go over loopback. Its segments are as large as the window that a socket
/// offers first (64 KiB), so that a server whose next segment doesn't fit waits until the last one is acknowledged, and one alone is
/// acknowledged 40 ms later: docs/decisions/2026-11-28-loopback-window.md. Segments of a network are a fortieth of that. It is the most
/// that Linux gives to everybody (net.core.rmem_max as it is delivered), and twice as much memory at most.
const LOOPBACK_BUFFER_BYTES: usize = 212_992;

/// Opens sockets to one target.
#[derive(Debug)]
pub(super) struct Dialler {
    peer: Peer,
    sources: Vec<SocketAddr>,
    /// The source of the next connection.
    turn: usize,
}

impl Dialler {
    /// An error when the path of a unix socket is too long, or a source address is not one of this machine's or of
    /// another family than the target's.
    pub(super) fn new(target: &Target) -> io::Result<Dialler> {
        let peer = match &target.endpoint {
            Endpoint::Tcp(address) => Peer::Tcp(*address),
            Endpoint::Unix(path) => Peer::Unix(SocketAddrUnix::new(path)?),
        };
        let dialler = Dialler {
            peer,
            sources: target.sources.iter().map(|source| SocketAddr::new(*source, 0)).collect(),
            turn: 0,
        };
        for source in &dialler.sources {
            let told = |error: io::Error| {
                io::Error::new(error.kind(), format!("can't connect from {}: {error}", source.ip()))
            };
            dialler.socket().and_then(|socket| dialler.leave_from(&socket, source)).map_err(told)?;
        }
        Ok(dialler)
    }

    /// A socket that is connected or about to be. When one source address has no port left the others are tried.
    pub(super) fn dial(&mut self) -> io::Result<OwnedFd> {
        let socket = self.socket()?;
        let address = match &self.peer {
            Peer::Unix(address) => {
                net::connect(&socket, address)?;
                return Ok(socket);
            }
            Peer::Tcp(address) => *address,
        };
        if self.sources.is_empty() {
            begin(&socket, &address)?;
            return Ok(socket);
        }
        self.dial_from_sources(socket, &address)
    }

    fn dial_from_sources(&mut self, mut socket: OwnedFd, address: &SocketAddr) -> io::Result<OwnedFd> {
        let mut left = self.sources.len();
        loop {
            let source = self.sources[self.turn];
            self.turn = (self.turn + 1) % self.sources.len();
            left -= 1;
            match self.leave_from(&socket, &source).and_then(|()| begin(&socket, address)) {
                Ok(()) => return Ok(socket),
                Err(error) if left > 0 && error.kind() == io::ErrorKind::AddrNotAvailable => {
                    // It stays bound to the address that has no port.
                    socket = self.socket()?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn socket(&self) -> io::Result<OwnedFd> {
        let family = match &self.peer {
            Peer::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
            Peer::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
            Peer::Unix(_) => AddressFamily::UNIX,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
        if self.is_tcp() {
            // A request that fills more than a segment would wait for an acknowledgement before its last bytes.
            sockopt::set_tcp_nodelay(&socket, true)?;
        }
        if matches!(&self.peer, Peer::Tcp(address) if address.ip().is_loopback()) {
            sockopt::set_socket_recv_buffer_size(&socket, LOOPBACK_BUFFER_BYTES)?;
        }
        Ok(socket)
    }

    /// Binds the address alone: its port is chosen when the target is known, so that it may serve other targets too
    /// and each address has its whole range for this one (ip(7), IP_BIND_ADDRESS_NO_PORT).
    fn leave_from(&self, socket: &OwnedFd, source: &SocketAddr) -> io::Result<()> {
        match &self.peer {
            Peer::Tcp(address) if address.is_ipv4() == source.is_ipv4() => {}
            _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "the target is of another family")),
        }
        let on: libc::c_int = 1;
        let size = size_of_val(&on) as libc::socklen_t;
        let (fd, value) = (socket.as_raw_fd(), (&raw const on).cast());
        // SAFETY: the descriptor is open as long as `socket` is borrowed, `value` points to `size` bytes of `on`, and
        // the kernel only reads them.
        let result =
            unsafe { libc::setsockopt(fd, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, value, size) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(net::bind(socket, source)?)
    }

    /// Whether connections are TCP's.
    pub(super) fn is_tcp(&self) -> bool {
        matches!(self.peer, Peer::Tcp(_))
    }
}

fn begin(socket: &OwnedFd, address: &SocketAddr) -> io::Result<()> {
    match net::connect(socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Throws away up to `max` bytes that have come on a TCP socket, without copying them (tcp(7), MSG_TRUNC); 0 at the
/// end of the stream.
pub(super) fn discard_tcp(socket: impl AsFd, max: usize) -> io::Result<usize> {
    let fd = socket.as_fd().as_raw_fd();
    loop {
        // SAFETY: the descriptor is borrowed and so open; a TCP socket never writes to the buffer under MSG_TRUNC, and
        // any other kind finds a null pointer and fails with EFAULT.
        let dropped = unsafe { libc::recv(fd, std::ptr::null_mut(), max, libc::MSG_TRUNC) };
        if let Ok(dropped) = usize::try_from(dropped) {
            return Ok(dropped);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
