//! A connection of a user, and the exchange that is under way on it.

use crate::http::request::Draft;
use crate::script::page::{NO_PAGE, PageSlot};
use crate::tls::{TlsChannel, TlsFault};

/// No connection: the end of a list of slots.
pub(super) const NONE: u32 = u32::MAX;

/// A connection's TLS, with what it has yet to send.
#[derive(Debug)]
pub(crate) struct Secure {
    pub(super) channel: TlsChannel,
    pub(super) out: Vec<u8>,
    pub(super) sent: usize,
}

impl Secure {
    /// Whether all that was written has gone out.
    pub(super) fn flushed(&self) -> bool {
        self.sent == self.out.len()
    }

    /// The transport's stream has ended: a fault unless the server said so before.
    pub(super) fn end_of_stream(&self) -> Result<(), TlsFault> {
        self.channel.end_of_stream()
    }
}

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The slot is free.
    Closed,
    /// The TCP handshake is under way; the request waits.
    Connecting,
    /// The TLS handshake is.
    Securing,
    /// Open, nothing outstanding.
    Idle,
    /// A request is out, or going out.
    Waiting,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) phase: Phase,
    /// Whether an earlier request was answered on it: only then may the server have closed it in good faith.
    pub(crate) used: bool,
    /// The server has ended its side: what has come can be read, but no further request goes out on it.
    pub(crate) ended: bool,
    /// Its user, by number on this thread.
    pub(crate) user: u32,
    /// The user's next connection.
    pub(crate) next: u32,
    /// The operation for which it was last used, by the session's count.
    pub(crate) operation: u32,
    /// When it began to connect, or its TLS handshake.
    pub(crate) begun_ns: u64,
    /// The request and its answer, while there is one.
    pub(crate) exchange: Option<Box<Exchange>>,
    /// Its TLS; none on plain connections.
    pub(crate) secure: Option<Box<Secure>>,
}

impl Connection {
    /// A free slot.
    pub(crate) fn new() -> Connection {
        Connection {
            phase: Phase::Closed,
            used: false,
            ended: false,
            user: 0,
            next: NONE,
            operation: 0,
            begun_ns: 0,
            exchange: None,
            secure: None,
        }
    }

    /// The page of the answer under way.
    pub(crate) fn page(&self) -> Option<PageSlot> {
        self.exchange.as_ref().map(|exchange| exchange.page)
    }

    /// The bytes that are to go out next.
    pub(crate) fn unsent(&self) -> &[u8] {
        self.exchange.as_ref().map_or(&[], |exchange| exchange.unsent())
    }
}

/// A request and its answer. Kept by the worker and used again: an idle connection has none.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The request as the session asked for it.
    pub(crate) draft: Draft,
    /// Its head and the first part of its body as bytes.
    pub(crate) out: Vec<u8>,
    /// How many bytes of head and body have gone out.
    pub(crate) sent: usize,
    /// Where its answer is read into.
    pub(crate) page: PageSlot,
    /// Which of the requests that the script waits for together.
    pub(crate) index: u16,
    /// How often the server asked for credentials.
    pub(crate) challenged: u8,
    /// Which of the user's agreements with the server the request carried; 0 for none.
    pub(crate) proof: u32,
    /// How many redirects have led here.
    pub(crate) redirected: u8,
    /// When the request was issued, connecting included.
    pub(crate) issued_ns: u64,
    /// When the first byte of the answer came.
    pub(crate) first_byte_ns: Option<u64>,
}

impl Default for Exchange {
    fn default() -> Exchange {
        Exchange {
            draft: Draft::default(),
            out: Vec::new(),
            sent: 0,
            page: NO_PAGE,
            index: 0,
            challenged: 0,
            proof: 0,
            redirected: 0,
            issued_ns: 0,
            first_byte_ns: None,
        }
    }
}

impl Exchange {
    /// The bytes that are to go out next.
    pub(crate) fn unsent(&self) -> &[u8] {
        if let Some(rest) = self.out.get(self.sent..).filter(|rest| !rest.is_empty()) {
            return rest;
        }
        let mut from = self.sent - self.out.len();
        for segment in &self.draft.segments {
            if from < segment.len() {
                return &segment[from..];
            }
            from -= segment.len();
        }
        &[]
    }

    /// Writes the request's first line only: for a request that is not sent.
    pub(crate) fn write_line(&mut self) {
        self.out.clear();
        self.out.extend_from_slice(&self.draft.method);
        self.out.push(b' ');
        self.out.extend_from_slice(&self.draft.target);
        self.out.extend_from_slice(b" HTTP/1.1\r\n");
    }

    /// Whether the whole request has gone out.
    pub(crate) fn sent_whole(&self) -> bool {
        self.unsent().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_request_goes_out_with_all_pieces_of_its_body_in_order() {
        let segments = vec![Arc::from(&b"one"[..]), Arc::from(&b""[..]), Arc::from(&b"two"[..])];
        let mut exchange = Exchange {
            draft: Draft { segments, ..Draft::default() },
            out: b"head".to_vec(),
            ..Exchange::default()
        };
        let mut seen = Vec::new();
        while let Some(byte) = exchange.unsent().first().copied() {
            assert!(!exchange.sent_whole());
            seen.push(byte);
            exchange.sent += 1;
        }
        assert_eq!(seen, b"headonetwo");
        assert!(exchange.sent_whole());
    }
}
