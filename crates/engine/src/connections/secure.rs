//! TLS between connections and their transport.

use std::io;

use model::record::interval::ErrorKind;

use super::connection::Secure;
use super::receive::feed;
use super::{Connections, Phase, Progress, Trouble};
use crate::recorder::Recorder;
use crate::tls::{TlsChannel, TlsFault};
use crate::transport::Transport;

impl<T: Transport> Connections<T> {
    /// The TCP connection stands: the handshake begins, if a channel for it could be opened.
    pub(super) fn begin_handshake(
        &mut self,
        slot: u32,
        opened: Result<TlsChannel, TlsFault>,
        now_ns: u64,
    ) -> Progress {
        let channel = opened.map_err(|fault| self.insecure(slot, &fault))?;
        let connection = &mut self.slots[slot as usize];
        connection.phase = Phase::Securing;
        connection.begun_ns = now_ns;
        connection.secure = Some(Box::new(Secure { channel, out: Vec::new(), sent: 0 }));
        self.flush(slot)
    }

    /// Takes in the first `length` bytes of the buffer: the handshake goes on, or the answer is fed with what they say.
    /// Whether that is complete.
    pub(super) fn decrypt(
        &mut self,
        slot: u32,
        length: usize,
        now_ns: u64,
        recorder: &mut Recorder,
    ) -> Progress<bool> {
        self.plain.clear();
        let connection = &mut self.slots[slot as usize];
        let Some(secure) = &mut connection.secure else { return Ok(false) };
        let pushed = secure.channel.push(&self.buffer[..length], &mut self.plain);
        connection.ended |= secure.channel.closed();
        if let Err(fault) = pushed {
            self.alert(slot);
            return Err(self.insecure(slot, &fault));
        }
        if connection.phase == Phase::Securing && !secure.channel.handshaking() {
            let resumed = secure.channel.resumed();
            connection.phase = Phase::Waiting;
            recorder.handshaken(now_ns.saturating_sub(connection.begun_ns), resumed);
            self.push_out_secure(slot)?;
        } else {
            self.flush(slot)?;
        }
        if self.plain.is_empty() {
            return Ok(false);
        }
        match feed(&mut self.slots[slot as usize], &self.pages, &self.plain, now_ns) {
            Some(fed) => fed.map_err(|fault| Trouble::unread(slot, fault)),
            None => Ok(self.drop_idle(slot, recorder)),
        }
    }

    /// Encrypts and sends the connection's request as far as there is room.
    pub(super) fn push_out_secure(&mut self, slot: u32) -> Progress {
        loop {
            self.flush(slot)?;
            let connection = &mut self.slots[slot as usize];
            let Some(secure) = connection.secure.as_mut().filter(|secure| secure.flushed()) else {
                return Ok(());
            };
            let Some(exchange) = connection.exchange.as_mut().filter(|exchange| !exchange.sent_whole())
            else {
                return Ok(());
            };
            if connection.phase != Phase::Waiting {
                return Ok(());
            }
            match secure.channel.write(exchange.unsent()) {
                Ok(written) => exchange.sent += written,
                Err(fault) => return Err(self.insecure(slot, &fault)),
            }
        }
    }

    /// Sends what the channel wants to have sent.
    fn flush(&mut self, slot: u32) -> Progress {
        loop {
            let Some(secure) = &mut self.slots[slot as usize].secure else { return Ok(()) };
            if secure.flushed() {
                secure.out.clear();
                secure.sent = 0;
                if let Err(fault) = secure.channel.pull(&mut secure.out) {
                    return Err(self.insecure(slot, &fault));
                }
            }
            if secure.flushed() {
                return Ok(());
            }
            match self.transport.send(slot, &secure.out[secure.sent..]) {
                Ok(sent) => secure.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(Trouble::lost(slot, format!("failed to send: {error}"))),
            }
        }
    }

    /// Tells the server that no more comes, if there is room to say so at once.
    pub(super) fn say_goodbye(&mut self, slot: u32) {
        if let Some(secure) = &mut self.slots[slot as usize].secure {
            secure.channel.close();
            self.alert(slot);
            self.slots[slot as usize].secure = None;
        }
    }

    /// The last words on a connection that is about to be closed in any case: what can't be said now is not said.
    fn alert(&mut self, slot: u32) {
        let Some(secure) = &mut self.slots[slot as usize].secure else { return };
        if secure.flushed() {
            secure.out.clear();
            secure.sent = 0;
            if secure.channel.pull(&mut secure.out).is_ok() {
                let _ = self.transport.send(slot, &secure.out);
            }
        }
    }

    /// TLS went wrong: while connecting that is a failure to connect.
    pub(super) fn insecure(&self, slot: u32, fault: &TlsFault) -> Box<Trouble> {
        let securing = matches!(self.slots[slot as usize].phase, Phase::Connecting | Phase::Securing);
        let kind = if securing { ErrorKind::Connect } else { ErrorKind::Protocol };
        Trouble::failed(slot, kind, format!("TLS: {fault}"))
    }
}
