//! An agent's side of the bus: what it tells is in its spool first, and is published from there.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use async_nats::Subscriber;
use async_nats::connection::State;
use async_nats::jetstream::message::PublishMessage;
use futures_util::StreamExt;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::address::{Kept, Kind, PART_HEADER, Part, Voice, kept_subject};
use super::connection::{ANSWER_TIMEOUT, Broker, BusError, Connection, runtime};
use crate::spool::{Spool, SpoolError};

/// The broker's default takes messages of 1 MiB.
const PART_BYTES: usize = 512 << 10;

/// Messages on their way to the broker at once.
const MAX_IN_FLIGHT: usize = 256;

/// As much is read from the spool at a time.
const READ_BYTES: usize = 4 << 20;

/// After a message that the broker didn't take it is told again so much later.
const PAUSE: Duration = Duration::from_millis(500);

/// How an agent's telling goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Telling {
    /// How many messages it has told.
    pub told: u64,
    /// Below this number the broker has acknowledged all.
    pub acknowledged: u64,
    /// Below this number the controller has all.
    pub kept: u64,
    /// Why the last message wasn't taken; nothing once one was.
    pub problem: Option<String>,
}

/// Tells what an agent has to tell. Dropping it ends its thread; what is in the spool then stays there.
#[derive(Debug)]
pub struct Teller {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    spool: Mutex<Spool>,
    telling: Mutex<Telling>,
    /// The controller has more than before.
    kept: Condvar,
    /// There is something to do: a message, or the end.
    wake: Notify,
    stop: AtomicBool,
}

impl Teller {
    /// Tells what is in `spool`, and what is added to it, in the name of `voice`. The broker need not be there yet.
    ///
    /// # Errors
    /// This machine gives no thread.
    pub fn begin(broker: Broker, voice: Voice, spool: Spool) -> Result<Teller, BusError> {
        let telling = Telling { told: spool.next(), ..Telling::default() };
        let shared = Arc::new(Shared {
            spool: Mutex::new(spool),
            telling: Mutex::new(telling),
            kept: Condvar::new(),
            wake: Notify::new(),
            stop: AtomicBool::new(false),
        });
        let runtime = runtime()?;
        let ours = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("fleet-bus".to_string())
            .spawn(move || runtime.block_on(publish_all(&broker, &voice, &ours)))
            .map_err(|error| BusError::NoThread(error.to_string()))?;
        Ok(Teller { shared, thread: Some(thread) })
    }

    /// Tells a message. It waits for nothing but this machine's disk.
    ///
    /// # Errors
    /// The spool has no room, or its disk has failed.
    pub fn tell(&self, kind: Kind, message: &[u8]) -> Result<(), SpoolError> {
        let spooled = [&[kind.byte()], message].concat();
        let number = self.shared.spool().append(&spooled)?;
        self.shared.telling().told = number + 1;
        self.shared.wake.notify_one();
        Ok(())
    }

    /// How it goes.
    pub fn telling(&self) -> Telling {
        self.shared.telling().clone()
    }

    /// Waits until the controller has all that was told, at most so long. Whether it has.
    pub fn is_kept_within(&self, within: Duration) -> bool {
        let lacks = |telling: &mut Telling| telling.kept < telling.told;
        let waited = self.shared.kept.wait_timeout_while(self.shared.telling(), within, lacks);
        let (telling, _) = waited.unwrap_or_else(PoisonError::into_inner);
        telling.kept >= telling.told
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of it has been printed, and all that it had is in the spool.
            _ = thread.join();
        }
    }
}

impl Shared {
    fn spool(&self) -> MutexGuard<'_, Spool> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn telling(&self) -> MutexGuard<'_, Telling> {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The controller has all below that number.
    fn keep(&self, below: u64) {
        let mut telling = self.telling();
        if below <= telling.kept || below > telling.told {
            return;
        }
        telling.kept = below;
        telling.acknowledged = telling.acknowledged.max(below);
        drop(telling);
        self.kept.notify_all();
        // A file that can't be removed costs room on the disk and no message.
        if let Err(error) = self.spool().forget_before(below) {
            self.telling().problem = Some(error.to_string());
        }
    }
}

/// Until it is to stop: connects, and publishes.
async fn publish_all(broker: &Broker, voice: &Voice, shared: &Shared) {
    let name = format!("agent {}", voice.agent);
    let connection = loop {
        let tried = broker.connect(&name, Instant::now());
        tokio::select! {
            tried = tried => match tried {
                Ok(connection) => break connection,
                Err(error) => shared.telling().problem = Some(error.to_string()),
            },
            () = stopped(shared) => return,
        }
        if timeout(PAUSE, stopped(shared)).await.is_ok() {
            return;
        }
    };
    let mut publisher = Publisher {
        connection: &connection,
        voice,
        shared,
        secret: RandomState::new().build_hasher().finish(),
        next: 0,
        read: VecDeque::new(),
        in_flight: VecDeque::new(),
    };
    publisher.run().await;
}

async fn stopped(shared: &Shared) {
    while !shared.is_over() {
        shared.wake.notified().await;
    }
}

type Acknowledged = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// One message on its way: its number, and the acknowledgements of its parts.
struct Sent {
    number: u64,
    acknowledged: Acknowledged,
}

struct Publisher<'a> {
    connection: &'a Connection,
    voice: &'a Voice,
    shared: &'a Shared,
    /// Part of its messages' ids, another one each time that it begins: the controller drops what it has been told before.
    secret: u64,
    /// The next message to be read from the spool.
    next: u64,
    /// Read from the spool and not sent yet.
    read: VecDeque<(u64, Vec<u8>)>,
    in_flight: VecDeque<Sent>,
}

impl Publisher<'_> {
    async fn run(&mut self) {
        let Voice { fleet, agent, .. } = self.voice;
        let Some(mut kept) = self.subscription(kept_subject(fleet, agent)).await else { return };
        let mut made = self.connection.made.clone();
        self.rewind();
        while !self.shared.is_over() {
            let filled = self.fill().await;
            if let Err(why) = filled {
                self.failed(why).await;
                continue;
            }
            tokio::select! {
                () = self.shared.wake.notified() => {}
                ended = first(&mut self.in_flight), if !self.in_flight.is_empty() => match ended {
                    Ok(number) => self.acknowledged(number),
                    Err(why) => self.failed(why).await,
                },
                message = kept.next() => match message {
                    Some(message) => self.heard(&message.payload),
                    // The client has been closed, which nobody but it does: what is told stays in the spool.
                    None => return,
                },
                changed = made.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    // What the broker acknowledged before may be lost with its machine.
                    self.rewind();
                }
            }
        }
    }

    /// One that is tried for until there is nothing to do any more.
    async fn subscription(&self, subject: String) -> Option<Subscriber> {
        loop {
            match self.connection.client.subscribe(subject.clone()).await {
                Ok(subscriber) => return Some(subscriber),
                Err(error) => self.shared.telling().problem = Some(error.to_string()),
            }
            if timeout(PAUSE, stopped(self.shared)).await.is_ok() {
                return None;
            }
        }
    }

    /// Begins again with what the controller isn't known to have.
    fn rewind(&mut self) {
        self.in_flight.clear();
        self.read.clear();
        self.next = self.shared.telling().kept;
    }

    /// Sends as many messages as there are and as may be on their way.
    async fn fill(&mut self) -> Result<(), String> {
        // The client would hold it back until it is connected again, and send it before what was lost and is told anew.
        let is_connected = self.connection.client.connection_state() == State::Connected;
        if !is_connected {
            self.shared.telling().problem = Some("it is not connected to the broker".to_string());
            return Ok(());
        }
        while self.in_flight.len() < MAX_IN_FLIGHT {
            if self.read.is_empty() {
                let read = self.shared.spool().from(self.next, READ_BYTES);
                self.read = read.map_err(|error| error.to_string())?.into();
            }
            let Some((number, spooled)) = self.read.pop_front() else { return Ok(()) };
            let acknowledged = self.send(number, &spooled).await?;
            self.next = number + 1;
            self.in_flight.push_back(Sent { number, acknowledged });
        }
        Ok(())
    }

    async fn send(&self, number: u64, spooled: &[u8]) -> Result<Acknowledged, String> {
        let (kind, message) = Kind::split(spooled).ok_or("a message of the spool is damaged")?;
        let subject = self.voice.subject(kind);
        // A header beside it takes far less than this.
        let room = self.connection.client.server_info().max_payload.saturating_sub(4096).max(1024);
        let parts: Vec<&[u8]> = match message {
            [] => vec![message],
            _ => message.chunks(PART_BYTES.min(room)).collect(),
        };
        let of = u32::try_from(parts.len()).map_err(|error| error.to_string())?;
        let mut sent = Vec::new();
        for (index, bytes) in parts.into_iter().enumerate() {
            let part = Part { number: index as u32, of };
            let publish = PublishMessage::build()
                .message_id(self.voice.id(self.secret, number, part))
                .header(PART_HEADER, self.voice.header(number, part))
                .payload(bytes.to_vec().into());
            let sending = self.connection.context.send_publish(subject.clone(), publish);
            let taken = timeout(ANSWER_TIMEOUT, sending).await.map_err(|_| "the broker is silent")?;
            sent.push(taken.map_err(|error| error.to_string())?);
        }
        Ok(Box::pin(async move {
            for part in sent {
                part.await.map_err(|error| error.to_string())?;
            }
            Ok(())
        }))
    }

    fn acknowledged(&self, number: u64) {
        let mut telling = self.shared.telling();
        telling.acknowledged = telling.acknowledged.max(number + 1);
        telling.problem = None;
    }

    /// Begins again after a while, with the first that wasn't acknowledged.
    async fn failed(&mut self, why: String) {
        let next = {
            let mut telling = self.shared.telling();
            telling.problem = Some(why);
            telling.acknowledged
        };
        self.rewind();
        self.next = self.next.max(next);
        _ = timeout(PAUSE, stopped(self.shared)).await;
    }

    fn heard(&self, payload: &[u8]) {
        // Whatever else comes there says nothing to this agent.
        let Ok(kept) = serde_json::from_slice::<Kept>(payload) else { return };
        if kept.run == self.voice.run.as_str() && kept.incarnation == self.voice.incarnation {
            self.shared.keep(kept.below);
        }
    }
}

/// The oldest message's end: its number once all its parts are acknowledged.
async fn first(in_flight: &mut VecDeque<Sent>) -> Result<u64, String> {
    let Some(oldest) = in_flight.front_mut() else { return std::future::pending().await };
    oldest.acknowledged.as_mut().await?;
    let number = oldest.number;
    in_flight.pop_front();
    Ok(number)
}
