//! An agent's standing connection: it hears what a controller wants, says every second where the agent stands, answers for its
//! clock, and fetches bundles.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use async_nats::Subscriber;
use async_nats::connection::State;
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{MissedTickBehavior, interval};

use super::address::{Name, beacon_subject, clock_subject, heartbeat_subject};
use super::connection::{Broker, BusError, Connection, runtime};
use super::{clock, objects};
use crate::heartbeat::Heartbeat;

/// From one heartbeat to the next where nothing changes.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(1);

/// After a failure, so long until the next try.
const PAUSE: Duration = Duration::from_millis(500);

/// What an agent hears.
#[derive(Debug)]
pub enum Heard {
    /// A controller's beacon, still sealed.
    Beacon {
        /// When it came, by this machine's CLOCK_MONOTONIC.
        at_ns: i64,
        /// The message.
        sealed: Vec<u8>,
    },
    /// A bundle that was to be fetched, still sealed, or why it can't be.
    Bundle {
        /// Of this run.
        run: Name,
        /// Under this name.
        name: String,
        /// It.
        fetched: Result<Vec<u8>, String>,
    },
    /// The bus isn't there yet, and why; said again only where that is another reason.
    Waiting(String),
    /// The bus is there.
    Connected,
    /// The broker and this agent won't come together, however often they try: nothing more is heard.
    Refused(BusError),
}

enum Order {
    /// The agent stands there now.
    Say(Heartbeat),
    /// Fetch a run's bundle of that name.
    Fetch(Name, String),
}

/// An agent's standing connection. Dropping it closes it.
#[derive(Debug)]
pub struct Station {
    heard: Receiver<Heard>,
    orders: Option<UnboundedSender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Station {
    /// Connects, for as long as it takes; the broker need not be there yet. Where it refuses, that is heard.
    ///
    /// # Errors
    /// This machine gives no thread.
    pub fn begin(broker: Broker, fleet: Name, first: Heartbeat) -> Result<Station, BusError> {
        let runtime = runtime()?;
        let (hear, heard) = channel();
        let (orders, inbox) = unbounded_channel();
        let work = Work { broker, fleet, heartbeat: first, hear, orders: inbox };
        let thread = thread::Builder::new()
            .name("fleet-station".to_string())
            .spawn(move || runtime.block_on(work.run()))
            .map_err(|error| BusError::NoThread(error.to_string()))?;
        Ok(Station { heard, orders: Some(orders), thread: Some(thread) })
    }

    /// The next thing heard, waited for at most `within`.
    pub fn next(&self, within: Duration) -> Option<Heard> {
        self.heard.recv_timeout(within).ok()
    }

    /// Says so at once, and every second from then on.
    pub fn say(&self, heartbeat: Heartbeat) {
        self.order(Order::Say(heartbeat));
    }

    /// Fetches a run's bundle, which is heard later.
    pub fn fetch(&self, run: Name, name: String) {
        self.order(Order::Fetch(run, name));
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // Its thread has ended only where it panicked, which was printed.
            _ = orders.send(order);
        }
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

struct Work {
    broker: Broker,
    fleet: Name,
    heartbeat: Heartbeat,
    hear: Sender<Heard>,
    orders: UnboundedReceiver<Order>,
}

impl Work {
    async fn run(mut self) {
        let Ok(agent) = Name::of(&self.heartbeat.agent) else { return };
        let Some(connection) = self.connect(&agent).await else { return };
        let questions = connection.client.subscribe(clock_subject(&self.fleet, &agent)).await;
        let beacons = connection.client.subscribe(beacon_subject(&self.fleet)).await;
        // The client has been closed, which nobody but it does.
        let (Ok(questions), Ok(beacons)) = (questions, beacons) else { return };
        self.serve(&connection, beacons, questions).await;
    }

    async fn connect(&mut self, agent: &Name) -> Option<Connection> {
        let name = format!("station of agent {agent}");
        let mut said = String::new();
        loop {
            match self.broker.connect(&name, Instant::now()).await {
                Ok(connection) => {
                    self.hear.send(Heard::Connected).ok()?;
                    return Some(connection);
                }
                Err(error @ BusError::Unreachable { is_final: true, .. }) => {
                    // Who isn't there any more needs no reason.
                    _ = self.hear.send(Heard::Refused(error));
                    return None;
                }
                Err(error) => {
                    let why = error.to_string();
                    if why != said {
                        said.clone_from(&why);
                        self.hear.send(Heard::Waiting(why)).ok()?;
                    }
                }
            }
            let until = tokio::time::Instant::now() + PAUSE;
            while let Ok(order) = tokio::time::timeout_at(until, self.orders.recv()).await {
                match order? {
                    Order::Say(heartbeat) => self.heartbeat = heartbeat,
                    Order::Fetch(run, name) => {
                        let fetched = Err("there is no connection to the broker".to_string());
                        self.hear.send(Heard::Bundle { run, name, fetched }).ok()?;
                    }
                }
            }
        }
    }

    async fn serve(mut self, connection: &Connection, mut beacons: Subscriber, mut questions: Subscriber) {
        let mut tick = interval(HEARTBEAT_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // First, since what it waits behind makes the clock's bound wider.
                biased;
                question = questions.next() => match question {
                    Some(question) => clock::answer(&connection.client, question, clock::now_ns()).await,
                    None => return,
                },
                beacon = beacons.next() => {
                    let Some(beacon) = beacon else { return };
                    let heard = Heard::Beacon { at_ns: clock::now_ns(), sealed: beacon.payload.to_vec() };
                    if self.hear.send(heard).is_err() {
                        return;
                    }
                }
                order = self.orders.recv() => match order {
                    Some(Order::Say(heartbeat)) => {
                        self.heartbeat = heartbeat;
                        self.beat(connection).await;
                        tick.reset();
                    }
                    Some(Order::Fetch(run, name)) => self.fetch(connection, run, name),
                    None => return,
                },
                _ = tick.tick() => self.beat(connection).await,
            }
        }
    }

    async fn beat(&self, connection: &Connection) {
        // What is held back until the broker is there again says nothing of then.
        if connection.client.connection_state() != State::Connected {
            return;
        }
        let Ok(agent) = Name::of(&self.heartbeat.agent) else { return };
        let subject = heartbeat_subject(&self.fleet, &agent);
        _ = connection.client.publish(subject, self.heartbeat.encode().into()).await;
    }

    /// Beside all else: it may take long.
    fn fetch(&self, connection: &Connection, run: Name, name: String) {
        let (context, fleet, hear) = (connection.context.clone(), self.fleet.clone(), self.hear.clone());
        tokio::spawn(async move {
            let fetched = objects::get(&context, (&fleet, &run), &name).await;
            // Whoever wanted it may be gone.
            _ = hear.send(Heard::Bundle { run, name, fetched });
        });
    }
}
