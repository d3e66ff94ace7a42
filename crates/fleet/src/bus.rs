//! The bus between agents and their controller: NATS with JetStream. What an agent tells goes into a stream of its run, and from
//! there to the controller, each message once and in its agent's order, whichever of the three is killed and begins again.
//!
//! JetStream acknowledges before a message is safe on its disk, so an acknowledgement is no reason to forget: an agent keeps what
//! it has told until the controller says that it has it, and tells it again after every reconnect. The broker leaves out what it
//! has already (`Nats-Msg-Id`), the controller does so for good ([`order`]).
//!
//! Each side has one thread of its own with an asynchronous runtime on it; nothing of it runs on a generator's threads.

mod address;
mod announcer;
mod clock;
mod objects;
mod order;
mod reader;
mod station;
mod teller;

use std::fmt;
use std::time::{Duration, Instant};

use async_nats::jetstream::{self, context::ContextBuilder};
use async_nats::{Client, ConnectOptions, Event};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

pub use address::{Kind, Name, Voice};
pub use announcer::{Announcer, HeardOf};
pub use clock::now_ns;
pub use reader::{NothingTold, Reader, StreamOf, Told};
pub use station::{Heard, Station};
pub use teller::{Teller, Telling};

/// How long the broker may take to answer anything. A dead one answers nothing, neither yes nor no.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// A broker that is silent is asked whether it lives this often; the second question without an answer ends the connection.
const PING_INTERVAL: Duration = Duration::from_secs(2);

/// From one try to connect again to the next, at most.
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(2);

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
struct Connection {
    client: Client,
    context: jetstream::Context,
    /// How often it has been made.
    made: watch::Receiver<u64>,
}

impl Broker {
    /// A connection, tried for until `deadline`.
    async fn connect(&self, name: &str, deadline: Instant) -> Result<Connection, BusError> {
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
fn runtime() -> Result<Runtime, BusError> {
    Builder::new_current_thread().enable_all().build().map_err(|error| BusError::NoThread(error.to_string()))
}
