//! TLS between a worker's connections and its transport.

use std::io;

use model::interval::ErrorKind;

use super::Worker;
use crate::clock::Clock;
use crate::connection::{Phase, Secure};
use crate::tls::TlsFault;
use crate::transport::Transport;

impl<C: Clock, T: Transport> Worker<C, T> {
    /// The TCP connection stands: the handshake begins.
    pub(super) fn begin_handshake(&mut self, slot: u32) {
        let Some(setup) = &self.tls else { return };
        let connection = &mut self.connections[slot as usize];
        let state = &mut self.users[connection.user as usize];
        // A ratio between none and all draws from the user's stream; the others leave it alone.
        let draw = if setup.draws() { state.stream.unit() } else { 0.0 };
        let mut held = None;
        let belongings = state.presence.as_mut().and_then(|presence| presence.visit.belongings.as_mut());
        let wallet = belongings.map_or(&mut held, |belongings| &mut belongings.wallet);
        let opened = setup.open(wallet, draw);
        if let (Some(wallet), Some(presence)) = (held, &mut state.presence) {
            presence.visit.belongings.get_or_insert_default().wallet = Some(wallet);
        }
        match opened {
            Ok(channel) => {
                connection.phase = Phase::Securing;
                connection.begun_ns = self.now_ns;
                connection.secure = Some(Box::new(Secure { channel, out: Vec::new(), sent: 0 }));
                self.flush(slot);
            }
            Err(fault) => self.broken(slot, &fault),
        }
    }

    /// Takes in what was received: the handshake goes on, or `plain` is overwritten with what it says.
    pub(super) fn decrypt(&mut self, slot: u32, ciphertext: &[u8], plain: &mut Vec<u8>) {
        plain.clear();
        let connection = &mut self.connections[slot as usize];
        let Some(secure) = &mut connection.secure else { return };
        let pushed = secure.channel.push(ciphertext, plain);
        connection.ended |= secure.channel.closed();
        if let Err(fault) = pushed {
            self.alert(slot);
            return self.broken(slot, &fault);
        }
        let done = connection.phase == Phase::Securing && !secure.channel.handshaking();
        if !done {
            return self.flush(slot);
        }
        let resumed = secure.channel.resumed();
        connection.phase = Phase::Waiting;
        let took_ns = self.now_ns.saturating_sub(connection.begun_ns);
        self.host.borrow_mut().recorder.handshaken(took_ns, resumed);
        self.push_out_secure(slot);
    }

    /// Encrypts and sends the connection's request as far as there is room.
    pub(super) fn push_out_secure(&mut self, slot: u32) {
        loop {
            self.flush(slot);
            let connection = &mut self.connections[slot as usize];
            let Some(secure) = connection.secure.as_mut().filter(|secure| secure.flushed()) else { return };
            let Some(exchange) = connection.exchange.as_mut().filter(|exchange| !exchange.sent_whole())
            else {
                return;
            };
            if connection.phase != Phase::Waiting {
                return;
            }
            match secure.channel.write(exchange.unsent()) {
                Ok(written) => exchange.sent += written,
                Err(fault) => return self.broken(slot, &fault),
            }
        }
    }

    /// Sends what the channel wants to have sent.
    fn flush(&mut self, slot: u32) {
        loop {
            let Some(secure) = &mut self.connections[slot as usize].secure else { return };
            if secure.flushed() {
                secure.out.clear();
                secure.sent = 0;
                if let Err(fault) = secure.channel.pull(&mut secure.out) {
                    return self.broken(slot, &fault);
                }
            }
            if secure.flushed() {
                return;
            }
            match self.transport.send(slot, &secure.out[secure.sent..]) {
                Ok(sent) => secure.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => return self.lost(slot, &format!("failed to send: {error}")),
            }
        }
    }

    /// Tells the server that no more comes, if there is room to say so at once.
    pub(super) fn say_goodbye(&mut self, slot: u32) {
        if let Some(secure) = &mut self.connections[slot as usize].secure {
            secure.channel.close();
            self.alert(slot);
            self.connections[slot as usize].secure = None;
        }
    }

    /// The last words on a connection that is about to be closed in any case: what can't be said now is not said.
    fn alert(&mut self, slot: u32) {
        let Some(secure) = &mut self.connections[slot as usize].secure else { return };
        if secure.flushed() {
            secure.out.clear();
            secure.sent = 0;
            if secure.channel.pull(&mut secure.out).is_ok() {
                let _ = self.transport.send(slot, &secure.out);
            }
        }
    }

    /// TLS went wrong: while connecting that is a failure to connect.
    pub(super) fn broken(&mut self, slot: u32, fault: &TlsFault) {
        let securing = matches!(self.connections[slot as usize].phase, Phase::Connecting | Phase::Securing);
        let kind = if securing { ErrorKind::Connect } else { ErrorKind::Protocol };
        self.fail_exchange(slot, kind, &format!("TLS: {fault}"));
    }
}
