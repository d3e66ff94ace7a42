//! A connection to the broker, which comes back by itself.

use std::fmt;
use std::net::ToSocketAddrs;
use std::time::{Duration, Instant};

use async_nats::jetstream::{self, context::ContextBuilder};
use async_nats::{Client, ConnectOptions, Event};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// How long the broker may take to answer anything. A dead one answers nothing, neither yes nor no.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// A broker that is silent is asked whether it lives this often; the second question without an answer ends the connection.
pub(super) const PING_INTERVAL: Duration = Duration::from_secs(2);

/// From one try to connect again to the next, at most.
pub(super) const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(2);

/// Where the broker is.
#[derive(Debug, Clone)]
pub struct Broker {
    /// `nats://HOST:PORT`.
    pub url: String,
}

/// Why the bus can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BusError {
    /// Nobody answers there, or somebody who doesn't let us in.
    Unreachable {
        /// The broker's address.
        url: String,
        /// What the last try said.
        why: String,
    },
    /// The broker refused what a run needs.
    Refused {
        /// What was to be done.
        what: String,
        /// What it said.
        why: String,
    },
    /// This machine gives no thread, or none that can wait for a network.
    NoThread(String),
}

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BusError::Unreachable { url, why } => write!(f, "the broker at {url} can't be reached: {why}"),
            BusError::Refused { what, why } => write!(f, "the broker refused to {what}: {why}"),
            BusError::NoThread(why) => write!(f, "no thread for the bus: {why}"),
        }
    }
}

impl std::error::Error for BusError {}

/// An open connection, which comes back by itself.
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) context: jetstream::Context,
    /// How often it has been made.
    pub(super) made: watch::Receiver<u64>,
}

impl Broker {
    /// Whether it is on this machine, where nobody listens on the way.
    ///
    /// # Errors
    /// What is wrong with its address, or that it is elsewhere.
    pub fn check_is_local(&self) -> Result<(), String> {
        let Some(place) = self.url.strip_prefix("nats://") else {
            return Err(format!("`{}` is no broker's address: those are nats://HOST:PORT", self.url));
        };
        let addresses = place.to_socket_addrs().map_err(|error| format!("`{}`: {error}", self.url))?;
        match addresses.into_iter().find(|address| !address.ip().is_loopback()) {
            Some(address) => Err(format!(
                "the broker at {address} is not on this machine, and its connection is not encrypted"
            )),
            None => Ok(()),
        }
    }

    /// A connection, tried for until `deadline`.
    pub(super) async fn connect(&self, name: &str, deadline: Instant) -> Result<Connection, BusError> {
        let (told, made) = watch::channel(0);
        loop {
            let tried = self.options(name, told.clone()).connect(&self.url).await;
            match tried {
                Ok(client) => {
                    let builder = ContextBuilder::new().timeout(ANSWER_TIMEOUT).ack_timeout(ANSWER_TIMEOUT);
                    return Ok(Connection { context: builder.build(client.clone()), client, made });
                }
                Err(error) if Instant::now() >= deadline => {
                    return Err(BusError::Unreachable { url: self.url.clone(), why: error.to_string() });
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    fn options(&self, name: &str, made: watch::Sender<u64>) -> ConnectOptions {
        let delay = |tries: usize| MAX_RECONNECT_DELAY.min(Duration::from_millis(50 << tries.min(6)));
        ConnectOptions::new()
            .name(name)
            .connection_timeout(ANSWER_TIMEOUT)
            .request_timeout(Some(ANSWER_TIMEOUT))
            .ping_interval(PING_INTERVAL)
            .max_reconnects(None)
            .reconnect_delay_callback(delay)
            .event_callback(move |event| {
                if event == Event::Connected {
                    made.send_modify(|times| *times += 1);
                }
                std::future::ready(())
            })
    }
}

/// An asynchronous runtime of one thread: the caller's.
pub(super) fn runtime() -> Result<Runtime, BusError> {
    Builder::new_current_thread().enable_all().build().map_err(|error| BusError::NoThread(error.to_string()))
}
