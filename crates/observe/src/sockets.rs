//! Sockets of this machine, asked of the kernel by sock_diag(7): one by its inode, or those that are listened on.
//!
//! `/proc/net` has the same as text of all sockets; this is asked ten times a second about single ones. The kernel tells of
//! one network only, that of whoever asks: of a tier's own host it is asked from there.

use std::collections::HashMap;
use std::fs::{File, Metadata, metadata};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, IPPROTO_TCP, TCP_SYN_RECV};
use netlink_packet_sock_diag::inet::{self, InetRequest, SocketId};
use netlink_packet_sock_diag::unix::{self, UnixRequest, UnixResponse, nlas::Nla, nlas::UnixDiagName};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_SOCK_DIAG};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// A unix socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnixSocket {
    /// Its number in the file system of sockets: of `socket:[INODE]`.
    pub(crate) inode: u64,
    /// The path that it is bound to; a connection that was accepted has that of the socket it came by.
    pub(crate) path: Option<PathBuf>,
    /// The other end's inode.
    pub(crate) peer: Option<u64>,
    /// Connections that wait to be accepted, where it is listened on.
    pub(crate) waiting: Option<u64>,
}

impl UnixSocket {
    /// Whether it is bound to `declared`, or to that with a number behind it: lighttpd makes `php.sock-0` of `php.sock`
    /// for the programs that it spawns.
    pub(crate) fn belongs_to(&self, declared: &Path) -> bool {
        let path = self.path.as_ref().map(|path| path.as_os_str().as_bytes());
        match path.and_then(|path| path.strip_prefix(declared.as_os_str().as_bytes())) {
            Some([]) => true,
            Some([b'-', number @ ..]) => !number.is_empty() && number.iter().all(u8::is_ascii_digit),
            _ => false,
        }
    }
}

/// A TCP socket that is listened on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TcpListener {
    /// Its number in the file system of sockets.
    pub(crate) inode: u64,
    /// Its port.
    pub(crate) port: u16,
    /// Connections that wait to be accepted.
    pub(crate) waiting: u64,
}

/// Connections that nobody serves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unserved {
    /// Accepted, with bytes that nobody has read yet.
    pub(crate) unread: u64,
    /// Open to their clients, who may have asked already, and not here: the queue of those to be accepted is full, and the kernel
    /// drops what would put them there until it comes again.
    pub(crate) half_open: u64,
}

/// Asks the kernel about sockets.
pub(crate) struct Sockets {
    socket: Socket,
    buffer: Vec<u8>,
}

impl std::fmt::Debug for Sockets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Sockets")
    }
}

impl Sockets {
    /// `None` where this kernel doesn't tell.
    pub(crate) fn open() -> Option<Sockets> {
        let mut socket = Socket::new(NETLINK_SOCK_DIAG).ok()?;
        socket.bind_auto().ok()?;
        socket.connect(&SocketAddr::new(0, 0)).ok()?;
        let mut sockets = Sockets { socket, buffer: vec![0; 32 * 1024] };
        sockets.unix_listeners()?;
        Some(sockets)
    }

    /// The same for the network that a process has; `None` where that is ours, or where the kernel doesn't let us in.
    pub(crate) fn apart(process: u32) -> Option<Sockets> {
        let network = File::open(format!("/proc/{process}/ns/net")).ok()?;
        let ours = metadata("/proc/self/ns/net").ok()?;
        let which = |about: &Metadata| (about.dev(), about.ino());
        if which(&network.metadata().ok()?) == which(&ours) {
            return None;
        }
        // On a thread that ends with it: the socket stays in the network that it was made in, and nothing else does.
        let open = move || {
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).ok()?;
            Sockets::open()
        };
        thread::Builder::new().name("network".to_string()).spawn(open).ok()?.join().ok()?
    }

    /// A unix socket by its inode; `None` when it is gone, or of another kind.
    pub(crate) fn unix(&mut self, inode: u64) -> Option<UnixSocket> {
        let request = UnixRequest {
            state_flags: unix::StateFlags::all(),
            inode: u32::try_from(inode).ok()?,
            show_flags: unix::ShowFlags::NAME | unix::ShowFlags::PEER,
            cookie: [0xff; 8],
        };
        let answers = self.ask(SockDiagMessage::UnixRequest(request), NLM_F_REQUEST)?;
        answers.into_iter().find_map(unix_of)
    }

    /// Every unix socket that is listened on.
    pub(crate) fn unix_listeners(&mut self) -> Option<Vec<UnixSocket>> {
        let request = UnixRequest {
            state_flags: unix::StateFlags::LISTEN,
            inode: 0,
            show_flags: unix::ShowFlags::NAME | unix::ShowFlags::RQLEN,
            cookie: [0xff; 8],
        };
        let answers = self.ask(SockDiagMessage::UnixRequest(request), NLM_F_REQUEST | NLM_F_DUMP)?;
        Some(answers.into_iter().filter_map(unix_of).collect())
    }

    /// Every TCP socket of IPv4 that is listened on.
    pub(crate) fn tcp_listeners(&mut self) -> Option<Vec<TcpListener>> {
        let request = InetRequest {
            family: AF_INET,
            protocol: IPPROTO_TCP,
            extensions: inet::ExtensionFlags::empty(),
            states: inet::StateFlags::LISTEN,
            socket_id: SocketId::new_v4(),
        };
        let answers = self.ask(SockDiagMessage::InetRequest(request), NLM_F_REQUEST | NLM_F_DUMP)?;
        let listener = |answer: SockDiagMessage| match answer {
            SockDiagMessage::InetResponse(response) => Some(TcpListener {
                inode: u64::from(response.header.inode),
                port: response.header.socket_id.source_port,
                waiting: u64::from(response.header.recv_queue),
            }),
            _ => None,
        };
        Some(answers.into_iter().filter_map(listener).collect())
    }

    /// The TCP connections of IPv4 at `port` that nobody serves: accepted with bytes that nobody has read yet, and those that are
    /// open to their clients alone. The kernel only tells of that port's. Those whose client has closed them are left out: their
    /// end counts as a byte.
    pub(crate) fn unserved(&mut self, port: u16) -> Option<Unserved> {
        let request = InetRequest {
            family: AF_INET,
            protocol: IPPROTO_TCP,
            extensions: inet::ExtensionFlags::empty(),
            states: inet::StateFlags::ESTABLISHED | inet::StateFlags::SYN_RECV,
            socket_id: SocketId { source_port: port, ..SocketId::new_v4() },
        };
        let answers = self.ask(SockDiagMessage::InetRequest(request), NLM_F_REQUEST | NLM_F_DUMP)?;
        let mut found = Unserved::default();
        for answer in &answers {
            // The port is asked again, as a kernel that doesn't know the question tells of all.
            let SockDiagMessage::InetResponse(response) = answer else { continue };
            let header = &response.header;
            match header.socket_id.source_port == port {
                true if header.state == TCP_SYN_RECV => found.half_open += 1,
                // What nobody has accepted yet has no inode, and counts where it waits.
                true if header.inode != 0 && header.recv_queue > 0 => found.unread += 1,
                _ => {}
            }
        }
        Some(found)
    }

    /// The remote ports of the TCP connections of IPv4, by their sockets' inodes. Those that are over and only wait for their
    /// time to pass belong to nobody; the kernel leaves them out, and there may be tens of thousands.
    pub(crate) fn remote_ports(&mut self) -> Option<HashMap<u64, u16>> {
        let request = InetRequest {
            family: AF_INET,
            protocol: IPPROTO_TCP,
            extensions: inet::ExtensionFlags::empty(),
            states: inet::StateFlags::ESTABLISHED
                | inet::StateFlags::SYN_SENT
                | inet::StateFlags::FIN_WAIT1
                | inet::StateFlags::FIN_WAIT2
                | inet::StateFlags::CLOSE_WAIT
                | inet::StateFlags::LAST_ACK
                | inet::StateFlags::CLOSING,
            socket_id: SocketId::new_v4(),
        };
        let answers = self.ask(SockDiagMessage::InetRequest(request), NLM_F_REQUEST | NLM_F_DUMP)?;
        let connection = |answer: SockDiagMessage| match answer {
            SockDiagMessage::InetResponse(response) => {
                Some((u64::from(response.header.inode), response.header.socket_id.destination_port))
            }
            _ => None,
        };
        Some(answers.into_iter().filter_map(connection).collect())
    }

    /// All answers to a question. The kernel has them ready when the question is told, so nothing is waited for.
    fn ask(&mut self, question: SockDiagMessage, flags: u16) -> Option<Vec<SockDiagMessage>> {
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        let mut message = NetlinkMessage::new(header, question.into());
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0).ok()?;
        let mut found = Vec::new();
        loop {
            let length = self.socket.recv(&mut &mut self.buffer[..], libc::MSG_DONTWAIT).ok()?;
            let mut rest = self.buffer.get(..length)?;
            while !rest.is_empty() {
                let answer = <NetlinkMessage<SockDiagMessage>>::deserialize(rest).ok()?;
                match answer.payload {
                    NetlinkPayload::InnerMessage(one) => found.push(one),
                    NetlinkPayload::Done(_) => return Some(found),
                    // Asked about one socket that is not there.
                    _ => return (flags & NLM_F_DUMP == 0).then_some(found),
                }
                let whole = (answer.header.length as usize).max(1).next_multiple_of(4);
                rest = rest.get(whole..).unwrap_or_default();
            }
            if flags & NLM_F_DUMP == 0 {
                return Some(found);
            }
        }
    }
}

fn unix_of(answer: SockDiagMessage) -> Option<UnixSocket> {
    let SockDiagMessage::UnixResponse(response) = answer else { return None };
    let path = match response.name() {
        Some(UnixDiagName::Pathname(path)) => Some(PathBuf::from(path)),
        Some(UnixDiagName::Abstract(_)) | None => None,
    };
    Some(UnixSocket {
        inode: u64::from(response.header.inode),
        path,
        peer: response.peer().map(u64::from),
        waiting: waiting(&response),
    })
}

fn waiting(response: &UnixResponse) -> Option<u64> {
    response.nlas.iter().find_map(|nla| match nla {
        Nla::ReceiveQueueLength(waiting, _) => Some(u64::from(*waiting)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::read_link;
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::{UnixListener, UnixStream};

    use testkit::ending::skip;

    fn inode(fd: &impl AsRawFd) -> u64 {
        let link = read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).expect("it is open");
        let text = link.to_str().expect("ASCII").trim_start_matches("socket:[").trim_end_matches(']');
        text.parse().expect("a number")
    }

    /// Also a container may be without it.
    fn open() -> Option<Sockets> {
        let sockets = Sockets::open();
        if sockets.is_none() {
            skip("this kernel does not tell about sockets");
        }
        sockets
    }

    #[test]
    fn both_ends_of_a_unix_connection_and_its_queue_are_found() {
        let Some(mut sockets) = open() else { return };
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a.sock");
        let listener = UnixListener::bind(&path).expect("a path");
        let out = UnixStream::connect(&path).expect("it listens");
        let queue = |sockets: &mut Sockets| {
            let all = sockets.unix_listeners().expect("it told before");
            all.into_iter().find(|one| one.path.as_ref() == Some(&path)).expect("it is listened on")
        };
        assert_eq!(queue(&mut sockets).waiting, Some(1));
        assert_eq!(queue(&mut sockets).inode, inode(&listener));
        let (accepted, _) = listener.accept().expect("one waits");
        assert_eq!(queue(&mut sockets).waiting, Some(0));
        let (here, there) = (sockets.unix(inode(&out)), sockets.unix(inode(&accepted)));
        let (here, there) = (here.expect("it is open"), there.expect("it is open"));
        assert_eq!((here.path, here.peer), (None, Some(there.inode)));
        assert_eq!((there.path.as_ref(), there.peer), (Some(&path), Some(inode(&out))));
        let none = inode(&out);
        drop(out);
        assert_eq!(sockets.unix(none), None, "it is gone");
        assert!(sockets.unix_listeners().is_some(), "an answer of an error leaves nothing behind");
    }

    #[test]
    fn a_tcp_port_that_is_listened_on_tells_who_waits() {
        let Some(mut sockets) = open() else { return };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let _waits = std::net::TcpStream::connect(address).expect("it listens");
        let all = sockets.tcp_listeners().expect("this kernel tells about TCP");
        let found = all.iter().find(|one| one.port == address.port()).expect("it is listened on");
        assert_eq!((found.inode, found.waiting), (inode(&listener), 1));
    }

    #[test]
    fn a_connection_whose_client_said_something_is_unread_until_somebody_reads_it() {
        let Some(mut sockets) = open() else { return };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let connect = || std::net::TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        let mut unread = || sockets.unserved(port).expect("this kernel tells about TCP").unread;
        let (mut says, silent) = (connect(), connect());
        assert_eq!(unread(), 0, "nobody has said anything");
        says.write_all(b"GET / HTTP/1.1").expect("it is open");
        assert_eq!(unread(), 0, "it waits to be accepted, which is counted there");
        let (mut served, _) = listener.accept().expect("one waits");
        assert_eq!(unread(), 1, "being accepted is not being read");
        served.read_exact(&mut [0; 14]).expect("it was said");
        assert_eq!(unread(), 0);
        drop(silent);
        assert_eq!(unread(), 0, "an end is no request");
    }

    #[test]
    fn a_tcp_connection_leads_to_the_port_at_its_other_end() {
        let Some(mut sockets) = open() else { return };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = |address: std::io::Result<std::net::SocketAddr>| address.expect("it has one").port();
        let client =
            std::net::TcpStream::connect(("127.0.0.1", port(listener.local_addr()))).expect("it listens");
        let (served, _) = listener.accept().expect("one waits");
        let ports = sockets.remote_ports().expect("the kernel tells");
        assert_eq!(ports.get(&inode(&client)), Some(&port(listener.local_addr())));
        assert_eq!(ports.get(&inode(&served)), Some(&port(client.local_addr())));
        assert_eq!(ports.get(&inode(&listener)), None, "it leads nowhere");
    }
}
