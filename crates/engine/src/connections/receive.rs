//! What comes in on connections: bytes for answers, and ends.

use std::cell::RefCell;
use std::io;

use model::ConnectionPolicy;
use model::record::interval::ErrorKind;

use super::{Connection, Connections, Exchange, Phase, Progress, Trouble};
use crate::http::response::Fault;
use crate::recorder::Recorder;
use crate::script::page::Pages;
use crate::transport::Transport;

/// An answer whose body nobody looks at is read this far, to see its head; the rest is dropped unseen.
const HEAD_BYTES: usize = 4096;
/// At most this much is dropped at once.
const MAX_DROPPED_BYTES: usize = 16 << 20;

/// What a read gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Received {
    /// The answer is complete.
    pub(crate) answered: bool,
    /// There may be more to read.
    pub(crate) more: bool,
}

const NOTHING: Received = Received { answered: false, more: false };

/// An answer that is complete.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) user: u32,
    pub(crate) exchange: Box<Exchange>,
    pub(crate) status: u16,
}

impl<T: Transport> Connections<T> {
    /// Whether an event's bytes are to be read: a repeated request may just have begun to connect anew, and the old
    /// connection's bytes are not its own.
    pub(crate) fn is_readable(&self, slot: u32) -> bool {
        !matches!(self.slots[slot as usize].phase, Phase::Closed | Phase::Connecting)
    }

    /// Whether reading is to go on after an answer was dealt with.
    pub(crate) fn expects_bytes(&self, slot: u32) -> bool {
        let connection = &self.slots[slot as usize];
        connection.phase == Phase::Idle || connection.exchange.is_some()
    }

    /// Reads once, and feeds the answer with it; what nobody looks at is dropped unseen.
    pub(crate) fn receive(&mut self, slot: u32, now_ns: u64, recorder: &mut Recorder) -> Progress<Received> {
        let connection = &self.slots[slot as usize];
        let (droppable, beyond, discards) = match &connection.exchange {
            Some(exchange) if connection.secure.is_none() => {
                let mut pages = self.pages.borrow_mut();
                let response = pages.response(exchange.page);
                let droppable = usize::try_from(response.droppable()).unwrap_or(MAX_DROPPED_BYTES);
                (droppable, usize::from(response.ends_with_droppable()), exchange.draft.discard)
            }
            _ => (0, 0, false),
        };
        let (wanted, taken) = if droppable > 0 {
            // At the answer's end one more than there should be: what a server sends beyond it must not pass for the
            // next answer, and a read that gave less than asked for needs no second one. After a chunk its end is to
            // come.
            let wanted = droppable.saturating_add(beyond).min(MAX_DROPPED_BYTES);
            (wanted, self.transport.discard(slot, wanted))
        } else {
            let wanted = if discards { HEAD_BYTES } else { self.buffer.len() };
            (wanted, self.transport.receive(slot, &mut self.buffer[..wanted]))
        };
        let length = match taken {
            Ok(0) => return self.end_of_stream(slot, recorder),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(NOTHING),
            Err(error) => return Err(Trouble::lost(slot, format!("failed to receive: {error}"))),
        };
        let answered = if droppable > 0 {
            self.bytes_dropped(slot, length)?
        } else if self.tls.is_some() {
            self.decrypt(slot, length, now_ns, recorder)?
        } else {
            let connection = &mut self.slots[slot as usize];
            match feed(connection, &self.pages, &self.buffer[..length], now_ns) {
                Some(fed) => fed.map_err(|fault| Trouble::unread(slot, fault))?,
                None => self.drop_idle(slot, recorder),
            }
        };
        // The peer's end may hide behind the bytes, and no other event would tell.
        Ok(Received { answered, more: length == wanted || self.slots[slot as usize].ended })
    }

    fn bytes_dropped(&mut self, slot: u32, length: usize) -> Progress<bool> {
        let Some(page) = self.slots[slot as usize].page() else { return Ok(false) };
        let fed = self.pages.borrow_mut().response(page).dropped(length as u64);
        fed.map_err(|fault| Trouble::unread(slot, fault))
    }

    fn end_of_stream(&mut self, slot: u32, recorder: &mut Recorder) -> Progress<Received> {
        let connection = &self.slots[slot as usize];
        if let Some(secure) = &connection.secure
            && let Err(fault) = secure.end_of_stream()
            && connection.phase != Phase::Idle
        {
            // Without TLS's word that the stream should end.
            return Err(match connection.phase {
                Phase::Securing => self.insecure(slot, &fault),
                _ => Trouble::lost(slot, format!("TLS: {fault}")),
            });
        }
        match (connection.phase, connection.page()) {
            (Phase::Idle, _) => _ = self.drop_idle(slot, recorder),
            (Phase::Waiting, Some(page)) => {
                let ended = self.pages.borrow_mut().response(page).end_of_stream();
                let begun =
                    connection.exchange.as_ref().is_some_and(|exchange| exchange.first_byte_ns.is_some());
                return match ended {
                    Ok(()) => Ok(Received { answered: true, more: false }),
                    Err(fault) if begun => Err(Trouble::lost(slot, fault.words())),
                    Err(_) => Err(Trouble::lost(slot, "the connection was closed before an answer came")),
                };
            }
            (Phase::Connecting | Phase::Securing, _) => {
                return Err(Trouble::failed(slot, ErrorKind::Connect, "closed while connecting"));
            }
            _ => {}
        }
        Ok(NOTHING)
    }

    /// Bytes or an end that nobody asked for: the connection can't be trusted any more. No answer is complete by it.
    pub(super) fn drop_idle(&mut self, slot: u32, recorder: &mut Recorder) -> bool {
        if self.slots[slot as usize].phase == Phase::Idle {
            self.close(slot, recorder);
        }
        false
    }

    /// The answer on the connection is complete: gives it away, and closes the connection where no other request can
    /// follow.
    pub(crate) fn take_answered(&mut self, slot: u32, recorder: &mut Recorder) -> Option<Answered> {
        let connection = &mut self.slots[slot as usize];
        let exchange = connection.exchange.take()?;
        connection.phase = Phase::Idle;
        connection.used = true;
        let (status, closes) = {
            let mut pages = self.pages.borrow_mut();
            let response = pages.response(exchange.page);
            (response.status(), response.closes())
        };
        // A server may answer before it has the whole request; what is left of it must not run into the next one.
        let flushed = connection.secure.as_ref().is_none_or(|secure| secure.flushed());
        let over = closes || connection.ended || !(exchange.sent_whole() && flushed);
        let user = connection.user;
        if over || self.policy == ConnectionPolicy::PerRequest {
            self.close(slot, recorder);
        }
        Some(Answered { user, exchange, status })
    }
}

/// Feeds the connection's answer; whether it is complete. Nothing where none is waited for.
pub(super) fn feed(
    connection: &mut Connection,
    pages: &RefCell<Pages>,
    bytes: &[u8],
    now_ns: u64,
) -> Option<Result<bool, Fault>> {
    let (Phase::Waiting, Some(exchange)) = (connection.phase, &mut connection.exchange) else { return None };
    exchange.first_byte_ns.get_or_insert(now_ns);
    Some(pages.borrow_mut().feed(exchange.page, bytes))
}
