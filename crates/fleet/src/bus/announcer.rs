//! A controller's standing connection: it says once a second what is wanted, and hears where the agents stand.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use async_nats::Subscriber;
use async_nats::connection::State;
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::address::{Name, agent_of_heartbeat, beacon_subject, heartbeat_subjects};
use super::connection::{ANSWER_TIMEOUT, Broker, BusError, Connection, runtime};
use super::leftovers::{self, Leftover};
use super::{clock, objects};
use crate::heartbeat::Heartbeat;
use crate::signed::{Purpose, Signer};
use crate::want::{Beacon, Claim, Want};

/// From one beacon to the next where nothing changes.
const BEACON_EVERY: Duration = Duration::from_secs(1);

enum Order {
    /// This is wanted now.
    Want(Option<Want>),
    /// A run's bundle is to be on the broker, under that name.
    Put(Name, String, Vec<u8>, Sender<Result<(), String>>),
    /// A run's bundle is to be removed.
    Remove(Name),
    /// What the broker has of runs is to be told.
    List(Sender<Result<Vec<Leftover>, String>>),
    /// All that it has of a run is to be removed.
    Forget(Name, Sender<Result<(), String>>),
}

/// Where an agent stood last.
#[derive(Debug, Clone)]
pub struct HeardOf {
    /// What it said.
    pub heartbeat: Heartbeat,
    /// When that came.
    pub at: Instant,
}

/// A controller's standing connection. Dropping it says that nothing is wanted any more, and closes it.
#[derive(Debug)]
pub struct Announcer {
    signer: Arc<Signer>,
    shared: Arc<Shared>,
    orders: Option<UnboundedSender<Order>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    agents: Mutex<Heartbeats>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Heartbeats {
    last: BTreeMap<String, HeardOf>,
    /// How many came.
    came: u64,
}

impl Announcer {
    /// Connects within that time, and wants nothing yet.
    ///
    /// # Errors
    /// The broker isn't there.
    pub fn begin(
        broker: Broker,
        signer: Signer,
        claim: Claim,
        within: Duration,
    ) -> Result<Announcer, BusError> {
        Announcer::wanting(None, broker, signer, claim, within)
    }

    /// Connects within that time, and wants this from its first word on.
    ///
    /// # Errors
    /// The broker isn't there.
    pub fn wanting(
        want: Option<Want>,
        broker: Broker,
        signer: Signer,
        claim: Claim,
        within: Duration,
    ) -> Result<Announcer, BusError> {
        let runtime = runtime()?;
        let (shared, signer) = (Arc::new(Shared::default()), Arc::new(signer));
        let (orders, inbox) = unbounded_channel();
        let (begun, begins) = channel();
        let (ours, signing) = (Arc::clone(&shared), Arc::clone(&signer));
        let deadline = Instant::now() + within;
        let work = async move {
            let opened = open(&broker, &signing, deadline).await;
            match opened {
                Ok((connection, heartbeats)) => {
                    _ = begun.send(Ok(()));
                    let said = Said { claim, counter: 0, want };
                    Work { connection, signer: signing, said, shared: ours, orders: inbox }
                        .run(heartbeats)
                        .await;
                }
                Err(error) => _ = begun.send(Err(error)),
            }
        };
        let thread = thread::Builder::new()
            .name("fleet-announcer".to_string())
            .spawn(move || runtime.block_on(work))
            .map_err(|error| BusError::NoThread(error.to_string()))?;
        let announcer = Announcer { signer, shared, orders: Some(orders), thread: Some(thread) };
        match begins.recv() {
            Ok(begun) => begun.map(|()| announcer),
            Err(_) => Err(BusError::NoThread("it ended as it began".to_string())),
        }
    }

    /// Says at once that this is wanted, and every second from then on.
    pub fn want(&self, want: Option<Want>) {
        self.order(Order::Want(want));
    }

    /// A bundle as agents believe it.
    ///
    /// # Errors
    /// The key can't sign.
    pub fn seal(&self, bundle: &[u8]) -> Result<Vec<u8>, String> {
        self.signer.seal(Purpose::Bundle, bundle)
    }

    /// Puts a run's bundle on the broker.
    ///
    /// # Errors
    /// The broker's.
    pub fn put(&self, run: &Name, name: &str, bytes: Vec<u8>) -> Result<(), BusError> {
        let (done, put) = channel();
        self.order(Order::Put(run.clone(), name.to_string(), bytes, done));
        answer(&put).map_err(|why| BusError::Refused { what: format!("keep the bundle of run {run}"), why })
    }

    /// Removes a run's bundle.
    pub fn remove(&self, run: &Name) {
        self.order(Order::Remove(run.clone()));
    }

    /// The runs of which the broker has something.
    ///
    /// # Errors
    /// The broker's.
    pub fn leftovers(&self) -> Result<Vec<Leftover>, BusError> {
        let (done, listed) = channel();
        self.order(Order::List(done));
        answer(&listed).map_err(|why| BusError::Refused { what: "list what it has of runs".to_string(), why })
    }

    /// Removes all that the broker has of a run.
    ///
    /// # Errors
    /// The broker's.
    pub fn forget(&self, run: &Name) -> Result<(), BusError> {
        let (done, forgotten) = channel();
        self.order(Order::Forget(run.clone(), done));
        answer(&forgotten).map_err(|why| BusError::Refused { what: format!("forget run {run}"), why })
    }

    /// The agents that were heard, each with its last word.
    pub fn agents(&self) -> BTreeMap<String, HeardOf> {
        self.shared.agents().last.clone()
    }

    /// Waits until an agent says something, at most `within`.
    pub fn wait(&self, within: Duration) {
        let agents = self.shared.agents();
        let came = agents.came;
        _ = self.shared.news.wait_timeout_while(agents, within, |agents| agents.came == came);
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // Its thread has ended only where it panicked, which was printed.
            _ = orders.send(order);
        }
    }
}

fn answer<T>(of: &Receiver<Result<T, String>>) -> Result<T, String> {
    of.recv().unwrap_or_else(|_| Err("the bus is closed".to_string()))
}

impl Drop for Announcer {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

impl Shared {
    fn agents(&self) -> MutexGuard<'_, Heartbeats> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn open(
    broker: &Broker,
    signer: &Signer,
    deadline: Instant,
) -> Result<(Connection, Subscriber), BusError> {
    let connection = broker.connect("controller", deadline).await?;
    let subscribing = connection.client.subscribe(heartbeat_subjects(signer.fleet()));
    let subscriber = subscribing.await.map_err(|error| BusError::Refused {
        what: "tell where agents stand".to_string(),
        why: error.to_string(),
    })?;
    Ok((connection, subscriber))
}

/// What is said, and how often it was.
struct Said {
    claim: Claim,
    counter: u64,
    want: Option<Want>,
}

struct Work {
    connection: Connection,
    signer: Arc<Signer>,
    said: Said,
    shared: Arc<Shared>,
    orders: UnboundedReceiver<Order>,
}

impl Work {
    async fn run(mut self, mut heartbeats: Subscriber) {
        let mut tick = interval(BEACON_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = tick.tick() => self.say().await,
                order = self.orders.recv() => match order {
                    Some(Order::Want(want)) => {
                        self.said.want = want;
                        self.say().await;
                        tick.reset();
                    }
                    Some(Order::Put(run, name, bytes, done)) => self.put(run, name, bytes, done),
                    Some(Order::Remove(run)) => {
                        objects::remove(&self.connection.context, (self.signer.fleet(), &run)).await;
                    }
                    Some(Order::List(done)) => self.list(done),
                    Some(Order::Forget(run, done)) => self.forget(run, done),
                    None => return self.farewell().await,
                },
                heartbeat = heartbeats.next() => match heartbeat {
                    Some(message) => self.hears(message.subject.as_str(), &message.payload),
                    None => return,
                },
            }
        }
    }

    async fn say(&mut self) {
        // A beacon that is held back until the broker is there again would be too old to be believed.
        if self.connection.client.connection_state() != State::Connected {
            return;
        }
        self.said.counter += 1;
        let Said { claim, counter, want } = &self.said;
        let beacon = Beacon::of(claim, *counter, clock::now_ns(), want.clone());
        let sealed = beacon.encode().and_then(|body| self.signer.seal(Purpose::Beacon, &body));
        // An Ed25519 key that was read signs anything.
        let Ok(sealed) = sealed else { return };
        let subject = beacon_subject(self.signer.fleet());
        _ = self.connection.client.publish(subject, sealed.into()).await;
    }

    /// Beside all else: it may take long.
    fn put(&self, run: Name, name: String, bytes: Vec<u8>, done: Sender<Result<(), String>>) {
        let (context, fleet) = (self.connection.context.clone(), self.signer.fleet().clone());
        tokio::spawn(async move {
            _ = done.send(objects::put(&context, (&fleet, &run), &name, &bytes).await);
        });
    }

    fn list(&self, done: Sender<Result<Vec<Leftover>, String>>) {
        let (context, fleet) = (self.connection.context.clone(), self.signer.fleet().clone());
        tokio::spawn(async move { done.send(leftovers::list(&context, &fleet).await) });
    }

    fn forget(&self, run: Name, done: Sender<Result<(), String>>) {
        let (context, fleet) = (self.connection.context.clone(), self.signer.fleet().clone());
        tokio::spawn(async move { done.send(leftovers::remove(&context, (&fleet, &run)).await) });
    }

    fn hears(&self, subject: &str, payload: &[u8]) {
        let Some(heartbeat) = Heartbeat::read(payload) else { return };
        // The broker knows who may publish where, and nothing of what is in a message: nobody speaks for another one.
        if agent_of_heartbeat(self.signer.fleet(), subject) != Some(heartbeat.agent.as_str()) {
            return;
        }
        let mut agents = self.shared.agents();
        agents.came += 1;
        agents.last.insert(heartbeat.agent.clone(), HeardOf { heartbeat, at: Instant::now() });
        drop(agents);
        self.shared.news.notify_all();
    }

    /// Nothing is wanted any more; waits until the broker has heard it.
    async fn farewell(&mut self) {
        self.said.want = None;
        self.say().await;
        // The broker answers in the order in which it was asked; a connection that is closed while there is more to read from it
        // would take the last word with it.
        _ = timeout(ANSWER_TIMEOUT, self.connection.context.query_account()).await;
    }
}
