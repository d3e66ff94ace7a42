//! The seam between the engine and the network: connections by slot number, readiness events, nothing about HTTP.

pub mod epoll;

use std::io;

/// What became of a connection since the last wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The connection's slot.
    pub slot: u32,
    /// Bytes (or the end of the stream, or an error) can be received.
    pub readable: bool,
    /// It is connected, or has room to send again.
    pub writable: bool,
    /// The peer has ended its side of the stream, or the connection is broken.
    pub ended: bool,
}

/// Connections to one target. Slots are chosen by the caller and are free for use again after [`Self::close`]; no
/// event of a closed connection is ever delivered to its successor.
pub trait Transport {
    /// Starts to connect; `writable` tells when to ask [`Self::finish_connect`].
    fn connect(&mut self, slot: u32) -> io::Result<()>;

    /// Whether connecting worked out.
    fn finish_connect(&mut self, slot: u32) -> io::Result<()>;

    /// Sends as much as there is room for; `WouldBlock` when there is none.
    fn send(&mut self, slot: u32, bytes: &[u8]) -> io::Result<usize>;

    /// Receives what has come, 0 at the end of the stream; `WouldBlock` when nothing has.
    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> io::Result<usize>;

    /// Closes the connection and forgets its events.
    fn close(&mut self, slot: u32);

    /// Waits until something is ready or the clock reads `until_ns`, and appends what is ready.
    fn wait(&mut self, until_ns: u64, ready: &mut Vec<Ready>) -> io::Result<()>;
}
