//! Listening on a fleet's bus without saying what is wanted: who is there, how far their clocks are off, and whether a controller
//! speaks. Nothing that an agent does changes by it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use tokio::time::timeout_at;

use super::address::{Name, agent_of_heartbeat, beacon_subject, clock_subject, heartbeat_subjects};
use super::announcer::HeardOf;
use super::clock;
use super::connection::{Broker, BusError, Connection, runtime};
use crate::clock::Exchange;
use crate::heartbeat::Heartbeat;
use crate::signed::{Purpose, Trusted};
use crate::want::Beacon;

/// What was heard.
#[derive(Debug, Clone, Default)]
pub struct Listened {
    /// The agents, each with its last word.
    pub agents: BTreeMap<String, HeardOf>,
    /// What a controller said last, signed by a key that is trusted.
    pub beacon: Option<Beacon>,
}

/// Who listens.
#[derive(Debug, Clone)]
pub struct Listener {
    /// Where.
    pub broker: Broker,
    /// Of this fleet.
    pub fleet: Name,
    /// The broker may take so long until it can be reached.
    pub connect_timeout: Duration,
}

impl Listener {
    /// Listens until `is_enough`, at most `within`.
    ///
    /// # Errors
    /// The broker isn't there.
    pub fn listen(
        &self,
        trusted: &Trusted,
        within: Duration,
        is_enough: &dyn Fn(&Listened) -> bool,
    ) -> Result<Listened, BusError> {
        runtime()?.block_on(async {
            let connection = self.connect().await?;
            let mut heartbeats = subscribed(&connection, heartbeat_subjects(&self.fleet)).await?;
            let mut beacons = subscribed(&connection, beacon_subject(&self.fleet)).await?;
            let until = tokio::time::Instant::now() + within;
            let mut listened = Listened::default();
            while !is_enough(&listened) {
                let next = async {
                    tokio::select! {
                        heartbeat = heartbeats.next() => heartbeat.map(|message| (false, message)),
                        beacon = beacons.next() => beacon.map(|message| (true, message)),
                    }
                };
                match timeout_at(until, next).await {
                    Ok(Some((false, message))) => {
                        let agent = agent_of_heartbeat(&self.fleet, message.subject.as_str());
                        listened.hears(agent, &message.payload);
                    }
                    Ok(Some((true, message))) => {
                        let body = trusted.open(Purpose::Beacon, &message.payload).ok();
                        listened.beacon = body.and_then(|body| Beacon::read(body).ok()).or(listened.beacon);
                    }
                    Ok(None) | Err(_) => break,
                }
            }
            Ok(listened)
        })
    }

    /// Asks an agent so often for its clock; the questions that were answered.
    ///
    /// # Errors
    /// The broker isn't there.
    pub fn clock(&self, agent: &Name, questions: usize) -> Result<Vec<Exchange>, BusError> {
        let subject = clock_subject(&self.fleet, agent);
        self.with_client(async |client| clock::exchanges(client, subject, questions).await)
    }

    /// What `ask` finds out over a connection of its own.
    ///
    /// # Errors
    /// The broker isn't there.
    pub(super) fn with_client<T>(&self, ask: impl AsyncFnOnce(Client) -> T) -> Result<T, BusError> {
        runtime()?.block_on(async {
            let connection = self.connect().await?;
            Ok(ask(connection.client).await)
        })
    }

    /// Whether it is let in.
    ///
    /// # Errors
    /// Why not.
    pub fn connects(&self) -> Result<(), BusError> {
        runtime()?.block_on(async { self.connect().await.map(drop) })
    }

    async fn connect(&self) -> Result<Connection, BusError> {
        self.broker.connect("listener", Instant::now() + self.connect_timeout).await
    }
}

async fn subscribed(connection: &Connection, subject: String) -> Result<Subscriber, BusError> {
    let what = format!("let {subject} be heard");
    let subscribing = connection.client.subscribe(subject).await;
    subscribing.map_err(|error| BusError::Refused { what, why: error.to_string() })
}

impl Listened {
    /// Nobody speaks for another one: the broker knows who may publish where, and nothing of what is in a message.
    fn hears(&mut self, agent: Option<&str>, payload: &[u8]) {
        if let Some(heartbeat) = Heartbeat::read(payload).filter(|said| Some(said.agent.as_str()) == agent) {
            self.agents.insert(heartbeat.agent.clone(), HeardOf { heartbeat, at: Instant::now() });
        }
    }
}
