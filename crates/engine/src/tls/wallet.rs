//! A user's tickets for resuming TLS sessions: nobody else ever uses them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::ClientConfig;
use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

/// A ticket of TLS 1.3 is good for one connection (RFC 8446 appendix C.4): as many are kept as a browser has
/// connections to one server.
const MAX_TICKETS: usize = 6;

/// One user's tickets for one target.
#[derive(Debug)]
pub struct Wallet {
    config: Arc<ClientConfig>,
    tickets: Arc<Tickets>,
}

impl Wallet {
    /// An empty one; connections are as `config` says, apart from resumption.
    pub(super) fn new(config: &ClientConfig) -> Wallet {
        let tickets = Arc::new(Tickets::default());
        let mut config = config.clone();
        config.resumption = Resumption::store(Arc::clone(&tickets) as Arc<dyn ClientSessionStore>);
        Wallet { config: Arc::new(config), tickets }
    }

    /// Makes a connection that may use a ticket or not. Either kind brings new ones.
    pub(super) fn offering<T>(&self, offers: bool, make: impl FnOnce(Arc<ClientConfig>) -> T) -> T {
        // Tickets are only taken while a connection is being made.
        self.tickets.offered.store(offers, Ordering::Relaxed);
        let made = make(Arc::clone(&self.config));
        self.tickets.offered.store(false, Ordering::Relaxed);
        made
    }
}

/// Shared by the user's connections, all on one thread: the lock that rustls' trait asks for is never waited for.
#[derive(Debug, Default)]
struct Tickets {
    offered: AtomicBool,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    group: Option<NamedGroup>,
    session: Option<Tls12ClientSessionValue>,
    tickets: VecDeque<Tls13ClientSessionValue>,
}

impl Tickets {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offered(&self) -> bool {
        self.offered.load(Ordering::Relaxed)
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _server: ServerName<'static>, group: NamedGroup) {
        self.held().group = Some(group);
    }

    fn kx_hint(&self, _server: &ServerName<'_>) -> Option<NamedGroup> {
        self.held().group
    }

    fn set_tls12_session(&self, _server: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.held().session = Some(value);
    }

    fn tls12_session(&self, _server: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        if self.offered() { self.held().session.clone() } else { None }
    }

    fn remove_tls12_session(&self, _server: &ServerName<'static>) {
        self.held().session = None;
    }

    fn insert_tls13_ticket(&self, _server: ServerName<'static>, value: Tls13ClientSessionValue) {
        let tickets = &mut self.held().tickets;
        if tickets.len() == MAX_TICKETS {
            tickets.pop_front();
        }
        tickets.push_back(value);
    }

    fn take_tls13_ticket(&self, _server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        if self.offered() { self.held().tickets.pop_back() } else { None }
    }
}
