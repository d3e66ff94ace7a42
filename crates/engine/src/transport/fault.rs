//! Why there is no connection, in words, and whose fault that is.

use std::io;

use rustix::io::Errno;

/// Why connecting failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectFault {
    /// No local port is free for another connection to this target.
    PortsUsedUp,
    /// The process, or the machine, may not open another descriptor.
    DescriptorsUsedUp,
    /// The kernel has no memory for another connection.
    MemoryUsedUp,
    /// The server's queue of connections that wait to be accepted is full (unix sockets say so at once).
    QueueFull,
    /// Nobody listens there.
    Refused,
    /// The server, or something on the way, broke the connection off.
    Reset,
    /// No answer came.
    TimedOut,
    /// There is no way to the target's network or host.
    Unreachable,
    /// There is no socket file at the path.
    NoSocketFile,
    /// This user may not use the socket, or a filter forbids it.
    Forbidden,
    /// Anything else.
    Other,
}

impl ConnectFault {
    /// What an error of [`super::Transport::connect`] or [`super::Transport::finish_connect`] means.
    pub fn of(error: &io::Error) -> ConnectFault {
        match Errno::from_io_error(error) {
            Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE) => ConnectFault::PortsUsedUp,
            Some(Errno::MFILE | Errno::NFILE) => ConnectFault::DescriptorsUsedUp,
            Some(Errno::NOBUFS | Errno::NOMEM | Errno::NOSPC) => ConnectFault::MemoryUsedUp,
            Some(Errno::AGAIN) => ConnectFault::QueueFull,
            Some(Errno::NOENT) => ConnectFault::NoSocketFile,
            Some(Errno::ACCESS | Errno::PERM) => ConnectFault::Forbidden,
            _ => match error.kind() {
                io::ErrorKind::ConnectionRefused => ConnectFault::Refused,
                io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => ConnectFault::Reset,
                io::ErrorKind::TimedOut => ConnectFault::TimedOut,
                io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable
                | io::ErrorKind::NetworkDown => ConnectFault::Unreachable,
                _ => ConnectFault::Other,
            },
        }
    }

    /// Whether the generator's machine, and not the server, is the limit: a run with such a fault is not valid.
    pub fn is_the_generators(self) -> bool {
        use ConnectFault::{DescriptorsUsedUp, MemoryUsedUp, PortsUsedUp};
        matches!(self, PortsUsedUp | DescriptorsUsedUp | MemoryUsedUp)
    }

    /// What happened and what to try; absent where only the error itself says it.
    pub fn words(self) -> Option<&'static str> {
        Some(match self {
            ConnectFault::PortsUsedUp => {
                "no local port is left for another connection to the target; connect from more addresses (--source) \
                 or keep connections"
            }
            ConnectFault::DescriptorsUsedUp => {
                "the limit of open descriptors is reached; raise it (ulimit -n) or use fewer connections"
            }
            ConnectFault::MemoryUsedUp => "the generator's kernel has no memory for another connection",
            ConnectFault::QueueFull => {
                "the server's queue of new connections is full; raise its listen backlog and net.core.somaxconn"
            }
            ConnectFault::Refused => "connection refused: nobody listens there",
            ConnectFault::Reset => "the connection was reset while connecting",
            ConnectFault::TimedOut => "no answer to the attempt to connect",
            ConnectFault::Unreachable => "there is no way to the target's network or host",
            ConnectFault::NoSocketFile => "there is no socket at the path",
            ConnectFault::Forbidden => "this user may not connect to it",
            ConnectFault::Other => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_generators_machine_lacks_is_the_generators_fault() {
        let generators = [Errno::ADDRNOTAVAIL, Errno::MFILE, Errno::NFILE, Errno::NOBUFS];
        let servers = [Errno::CONNREFUSED, Errno::CONNRESET, Errno::AGAIN, Errno::TIMEDOUT, Errno::NOENT];
        for errno in generators {
            assert!(ConnectFault::of(&errno.into()).is_the_generators(), "{errno:?}");
        }
        for errno in servers {
            assert!(!ConnectFault::of(&errno.into()).is_the_generators(), "{errno:?}");
        }
    }

    #[test]
    fn used_up_ports_and_descriptors_are_told_apart_and_say_what_to_try() {
        let words = |errno: Errno| ConnectFault::of(&errno.into()).words().unwrap_or_default();
        assert!(words(Errno::ADDRNOTAVAIL).contains("--source"), "{}", words(Errno::ADDRNOTAVAIL));
        assert!(words(Errno::MFILE).contains("ulimit -n"), "{}", words(Errno::MFILE));
        assert_eq!(ConnectFault::of(&io::Error::other("odd")).words(), None);
    }
}
