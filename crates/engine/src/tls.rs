//! TLS as a state machine between a connection and its transport: bytes in, bytes out, no socket and no clock of its
//! own. [`TlsSetup`] is made once a thread and opens [`TlsChannel`]s.
//!
//! What a worker does with a channel: [`TlsChannel::write`] a request, at once if it likes (it is held until the
//! handshake is over); send what [`TlsChannel::pull`] gives after every write and every push; [`TlsChannel::push`] what
//! was received. The handshake is over when [`TlsChannel::handshaking`] turns false.

mod fault;
mod trust;
mod wallet;

use std::io::{Read, Write};
use std::sync::Arc;

use model::{Problem, Result};
use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, HandshakeKind};

pub use fault::TlsFault;
pub use wallet::Wallet;

use crate::target::Tls;

/// What is offered to be spoken inside (ALPN). HTTP/2 will stand before it.
const PROTOCOLS: [&[u8]; 1] = [b"http/1.1"];

/// How channels to a target are opened.
#[derive(Debug)]
pub struct TlsSetup {
    name: ServerName<'static>,
    /// For channels that never resume.
    config: Arc<ClientConfig>,
    resumption_ratio: f64,
}

impl TlsSetup {
    /// Reads the roots. A problem when there are none, or the server's name is none.
    pub fn new(tls: &Tls) -> Result<TlsSetup> {
        let name = ServerName::try_from(tls.server_name.clone()).map_err(|_| {
            Problem::recipe(format!("`{}` can't be the name in a server's certificate", tls.server_name))
                .why("without a name the server's identity can't be verified")
                .remedy("a host name or an IP address")
        })?;
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| Problem::bug(format!("no version of TLS to speak: {error}")))?;
        let verifier = trust::verifier(&tls.trust, &provider)?;
        // The verifier is rustls' own unless the user asked for none.
        let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        config.alpn_protocols = PROTOCOLS.iter().map(|name| name.to_vec()).collect();
        config.resumption = Resumption::disabled();
        Ok(TlsSetup { name, config: Arc::new(config), resumption_ratio: tls.resumption_ratio })
    }

    /// A channel for a new connection. `wallet` is the user's: it is filled in when sessions are to be resumed, and
    /// stays with the user. `draw` is the user's random number from 0 to 1: below the target's ratio, the connection
    /// offers to resume an earlier session of the same wallet, if there is one.
    pub fn open(&self, wallet: &mut Option<Box<Wallet>>, draw: f64) -> Result<TlsChannel, TlsFault> {
        let connection = if self.resumption_ratio > 0.0 {
            let wallet = wallet.get_or_insert_with(|| Box::new(Wallet::new(&self.config)));
            wallet.offering(draw < self.resumption_ratio, |config| self.connection(config))
        } else {
            self.connection(Arc::clone(&self.config))
        };
        Ok(TlsChannel { connection: connection?, first: None, closed: false })
    }

    /// Whether some connections offer to resume and some don't.
    pub fn draws(&self) -> bool {
        self.resumption_ratio > 0.0 && self.resumption_ratio < 1.0
    }

    fn connection(&self, config: Arc<ClientConfig>) -> Result<ClientConnection, TlsFault> {
        ClientConnection::new(config, self.name.clone()).map_err(|error| TlsFault::of(&error, true))
    }
}

/// One connection's TLS.
#[derive(Debug)]
pub struct TlsChannel {
    connection: ClientConnection,
    /// The first byte that the server sent.
    first: Option<u8>,
    /// The server has said that nothing more comes.
    closed: bool,
}

impl TlsChannel {
    /// Whether the handshake is still under way.
    pub fn handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether the server took up an earlier session; known once the handshake is over.
    pub fn resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// What both sides speak inside (ALPN); absent when the server doesn't say, which means HTTP/1.1.
    pub fn protocol(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }

    /// Whether the server has ended the stream in good order (`close_notify`).
    pub fn closed(&self) -> bool {
        self.closed
    }

    /// Encrypts as much of `plaintext` as there is room for and says how much: nothing when what is there has to be
    /// pulled and sent first. During the handshake it is held back.
    pub fn write(&mut self, plaintext: &[u8]) -> Result<usize, TlsFault> {
        self.connection.writer().write(plaintext).map_err(|error| TlsFault::Broken(error.to_string()))
    }

    /// Says that nothing more will be written; what is pulled then tells the server.
    pub fn close(&mut self) {
        self.connection.send_close_notify();
    }

    /// Appends what has to be sent to `ciphertext`. After a fault that is the alert that tells the server.
    pub fn pull(&mut self, ciphertext: &mut Vec<u8>) -> Result<(), TlsFault> {
        while self.connection.wants_write() {
            self.connection.write_tls(ciphertext).map_err(|error| TlsFault::Broken(error.to_string()))?;
        }
        Ok(())
    }

    /// Takes in what was received and appends what it says to `plaintext`, which may be nothing. What comes after the
    /// server's `close_notify` is dropped.
    pub fn push(&mut self, mut ciphertext: &[u8], plaintext: &mut Vec<u8>) -> Result<(), TlsFault> {
        self.first = self.first.or_else(|| ciphertext.first().copied());
        while !ciphertext.is_empty() && !self.closed {
            let before = ciphertext.len();
            self.connection.read_tls(&mut ciphertext).map_err(|error| TlsFault::Broken(error.to_string()))?;
            let state = match self.connection.process_new_packets() {
                Ok(state) => state,
                Err(error) => return Err(self.fault(&error)),
            };
            self.closed = state.peer_has_closed();
            let (start, came) = (plaintext.len(), state.plaintext_bytes_to_read());
            plaintext.resize(start + came, 0);
            self.connection
                .reader()
                .read_exact(&mut plaintext[start..])
                .map_err(|error| TlsFault::Broken(error.to_string()))?;
            if ciphertext.len() == before && came == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The transport's stream has ended: a fault unless the server said so before.
    pub fn end_of_stream(&self) -> Result<(), TlsFault> {
        match (self.closed, self.handshaking()) {
            (true, false) => Ok(()),
            (_, true) => Err(TlsFault::EndedInHandshake),
            (false, false) => Err(TlsFault::CutOff),
        }
    }

    fn fault(&self, error: &rustls::Error) -> TlsFault {
        // The first byte of a server that speaks HTTP to us: a status line, or a page without one.
        if matches!(self.first, Some(b'H' | b'<')) {
            return TlsFault::PlainHttp;
        }
        TlsFault::of(error, self.handshaking())
    }
}

#[cfg(test)]
mod tests;
