//! What is sent while it is made: a thread writes, the connection reads, and neither is far ahead of the other.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::{Semaphore, mpsc};

/// The number of downloads that are made at once.
pub(crate) const MAX_AT_ONCE: usize = 2;
/// Bytes of a piece.
const PIECE_BYTES: usize = 64 << 10;
/// Pieces that wait for whoever reads.
const PIECES: usize = 4;

/// A body of whatever `make` writes; its connection breaks off where that fails. Nothing where as many are made as may be.
pub(crate) fn body(
    free: &Arc<Semaphore>,
    make: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
) -> Option<Body> {
    let place = free.clone().try_acquire_owned().ok()?;
    let (sender, receiver) = mpsc::channel(PIECES);
    std::thread::spawn(move || {
        let _place = place;
        let mut pieces = Pieces { piece: Vec::with_capacity(PIECE_BYTES), sender };
        let made = make(&mut pieces).and_then(|()| pieces.flush());
        if let Err(error) = made {
            _ = pieces.sender.blocking_send(Err(error));
        }
    });
    let pieces = stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) });
    Some(Body::from_stream(pieces))
}

/// Collects what is written into pieces.
struct Pieces {
    piece: Vec<u8>,
    sender: mpsc::Sender<io::Result<Bytes>>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = PIECE_BYTES - self.piece.len();
        let taken = &bytes[..bytes.len().min(room)];
        self.piece.extend_from_slice(taken);
        if self.piece.len() == PIECE_BYTES {
            self.flush()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
        // Whoever read it is gone.
        self.sender.blocking_send(Ok(piece.into())).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
