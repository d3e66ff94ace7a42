//! The seam between the engine and the network: connections by slot number, readiness events, nothing about HTTP.

pub mod epoll;
mod fault;
mod socket;

use std::io;

pub use fault::ConnectFault;

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

/// Connections to one target. Slots are chosen by the caller and are free for use again after [`Self::close`]. No
/// later wait tells of a closed connection; what a wait has told already is the caller's to drop when the slot got a
/// new connection before its turn came.
///
/// Events are edges: one for what came since the last one. A [`Self::receive`] or [`Self::discard`] that gave less
/// than was asked for has taken all there was: what comes after it makes another event, and so does the peer's end,
/// unless the event at hand is already marked [`Ready::ended`]. Only then is there a reason to ask again.
pub trait Transport {
    /// Starts to connect; `writable` tells when to ask [`Self::finish_connect`]. What an error means says
    /// [`ConnectFault::of`].
    fn connect(&mut self, slot: u32) -> io::Result<()>;

    /// Whether connecting worked out.
    fn finish_connect(&mut self, slot: u32) -> io::Result<()>;

    /// Sends as much as there is room for; `WouldBlock` when there is none.
    fn send(&mut self, slot: u32, bytes: &[u8]) -> io::Result<usize>;

    /// Receives what has come, 0 at the end of the stream; `WouldBlock` when nothing has.
    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> io::Result<usize>;

    /// Throws away what has come, `max` bytes of it at most, and says how many; 0 at the end of the stream,
    /// `WouldBlock` when nothing has come. `max` is not 0.
    fn discard(&mut self, slot: u32, max: usize) -> io::Result<usize> {
        discard_through(&mut [0; 4096], max, |buffer| self.receive(slot, buffer))
    }

    /// Closes the connection and forgets its events.
    fn close(&mut self, slot: u32);

    /// Waits until something is ready or the clock reads `until_ns`, and appends what is ready.
    fn wait(&mut self, until_ns: u64, ready: &mut Vec<Ready>) -> io::Result<()>;
}

/// Throws away up to `max` bytes by receiving them into `scratch` piece by piece, so that less than `max` means that
/// nothing more has come, however small `scratch` is; it is not empty. What ends it behind the first piece (the end of
/// the stream, an error) is the next call's to tell.
fn discard_through(
    scratch: &mut [u8],
    max: usize,
    mut receive: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut dropped = 0;
    while dropped < max {
        let wanted = (max - dropped).min(scratch.len());
        match receive(&mut scratch[..wanted]) {
            Ok(length) => {
                dropped += length;
                if length < wanted {
                    break;
                }
            }
            Err(_) if dropped > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(dropped)
}
