//! The controller's side of the bus: what a run's agents tell, each message once and in its agent's order.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, ErrorCode, Message};
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::address::{
    Kept, Kind, Name, PART_HEADER, Voice, clock_subject, kept_subject, stream_of, subjects_of,
};
use super::clock;
use super::connection::{ANSWER_TIMEOUT, Broker, BusError, Connection, runtime};
use super::order::{Order, Piece, Whole};
use crate::clock::{Exchange, Offset, offset};

/// What agents tell is gone from the stream after this; the stream itself is there until somebody removes it ([`super::leftovers`]).
const MAX_AGE: Duration = Duration::from_secs(7 * 86_400);

/// So long the broker knows a message that it has already.
const REPEAT_WINDOW: Duration = Duration::from_secs(600);

/// Agents tell something every second: where nothing comes for so long, the stream is opened again.
const SILENCE: Duration = Duration::from_secs(5);

/// Agents are told what the controller has as often as this, since whoever connects again has to know.
const KEPT_EVERY: Duration = Duration::from_secs(1);

/// After a failure, so long until the next try.
const PAUSE: Duration = Duration::from_millis(500);

/// A message of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Who told it.
    pub voice: Voice,
    /// What it is.
    pub kind: Kind,
    /// Counted by its agent from 0, without gaps.
    pub number: u64,
    /// The message.
    pub bytes: Vec<u8>,
}

/// Why there is no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NothingTold {
    /// None came in that time; what the last try to read said, where it failed.
    Yet(Option<String>),
    /// None will: the reader's thread has ended.
    Ever,
}

impl fmt::Display for NothingTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NothingTold::Yet(None) => f.write_str("no agent has told anything"),
            NothingTold::Yet(Some(why)) => write!(f, "no agent has told anything: {why}"),
            NothingTold::Ever => f.write_str("the bus is closed"),
        }
    }
}

/// Reads what a run's agents tell. Dropping it ends its thread; the stream stays on the broker.
#[derive(Debug)]
pub struct Reader {
    told: Receiver<Result<Told, String>>,
    orders: Option<UnboundedSender<Instruction>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Instruction {
    /// All of the voice below that number is safe.
    Kept(Voice, u64),
    /// An agent is to be asked so often for its clock.
    Ask(Name, usize, Sender<Vec<Exchange>>),
    /// The stream is to be removed; then it is over.
    Remove(Sender<Result<(), BusError>>),
}

/// What a run's stream is.
#[derive(Debug, Clone)]
pub struct StreamOf {
    /// The fleet's name.
    pub fleet: Name,
    /// The run's.
    pub run: Name,
    /// The most that it may hold on the broker's disk. What doesn't fit waits in the agents' spools.
    pub max_bytes: u64,
}

impl Reader {
    /// Makes the run's stream where there is none, and reads it from the beginning. Of the voices in `had` the messages below that
    /// number are known already. The broker has to be there within `within`.
    ///
    /// # Errors
    /// It isn't, or it doesn't make such a stream.
    pub fn begin(
        broker: Broker,
        stream: StreamOf,
        had: BTreeMap<Voice, u64>,
        within: Duration,
    ) -> Result<Reader, BusError> {
        Reader::open(broker, stream, had, (Instant::now() + within, Missing::IsMade))
    }

    /// The same of a run whose stream is there.
    ///
    /// # Errors
    /// The broker isn't, or it has nothing of the run.
    pub fn again(
        broker: Broker,
        stream: StreamOf,
        had: BTreeMap<Voice, u64>,
        within: Duration,
    ) -> Result<Reader, BusError> {
        Reader::open(broker, stream, had, (Instant::now() + within, Missing::IsRefused))
    }

    fn open(
        broker: Broker,
        stream: StreamOf,
        had: BTreeMap<Voice, u64>,
        (deadline, missing): (Instant, Missing),
    ) -> Result<Reader, BusError> {
        let runtime = runtime()?;
        let (tell, told) = channel();
        let (orders, instructions) = unbounded_channel();
        let (begun, begins) = channel();
        let work = async move {
            let connection = match open(&broker, &stream, (deadline, missing)).await {
                Ok(connection) => connection,
                Err(error) => {
                    _ = begun.send(Err(error));
                    return;
                }
            };
            _ = begun.send(Ok(()));
            let mut order = Order::default();
            had.iter().for_each(|(voice, below)| order.had(voice.clone(), *below));
            let work = Work { connection, stream, tell, instructions, order, kept: had, last: 0 };
            work.run().await;
        };
        let thread = thread::Builder::new()
            .name("fleet-bus".to_string())
            .spawn(move || runtime.block_on(work))
            .map_err(|error| BusError::NoThread(error.to_string()))?;
        let reader = Reader { told, orders: Some(orders), thread: Some(thread) };
        match begins.recv() {
            Ok(begun) => begun.map(|()| reader),
            Err(_) => Err(BusError::NoThread("it ended as it began".to_string())),
        }
    }

    /// The next message, waited for at most `within`.
    ///
    /// # Errors
    /// There is none.
    pub fn next(&self, within: Duration) -> Result<Told, NothingTold> {
        let deadline = Instant::now() + within;
        let mut why = None;
        loop {
            match self.told.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Ok(told)) => return Ok(told),
                Ok(Err(failed)) => why = Some(failed),
                Err(RecvTimeoutError::Timeout) => return Err(NothingTold::Yet(why)),
                Err(RecvTimeoutError::Disconnected) => return Err(NothingTold::Ever),
            }
        }
    }

    /// All messages of `voice` below that number are safe where the controller keeps them: its agent may forget them.
    pub fn keep(&self, voice: &Voice, below: u64) {
        if let Some(orders) = &self.orders {
            // Where its thread has ended the agent keeps them.
            _ = orders.send(Instruction::Kept(voice.clone(), below));
        }
    }

    /// How far the clock of `agent` is ahead of this machine's, by that number of questions, one after the other. Nothing where it answers
    /// too few of them to be believed.
    pub fn clock(&self, agent: &Name, questions: usize) -> Option<Offset> {
        let (done, is_done) = channel();
        self.orders.as_ref()?.send(Instruction::Ask(agent.clone(), questions, done)).ok()?;
        let exchanges = is_done.recv().ok()?;
        offset(&exchanges, clock::now_ns())
    }

    /// Removes the stream from the broker: all of it is safe, or nobody wants it.
    ///
    /// # Errors
    /// The broker doesn't.
    pub fn remove(self) -> Result<(), BusError> {
        let (done, is_done) = channel();
        let gone = || BusError::NoThread("it has ended".to_string());
        let orders = self.orders.as_ref().ok_or_else(gone)?;
        orders.send(Instruction::Remove(done)).map_err(|_| gone())?;
        is_done.recv().map_err(|_| gone())?
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A panic of it has been printed.
            _ = thread.join();
        }
    }
}

/// What becomes of a run that the broker doesn't know.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    IsMade,
    IsRefused,
}

async fn open(
    broker: &Broker,
    stream: &StreamOf,
    (deadline, missing): (Instant, Missing),
) -> Result<Connection, BusError> {
    let connection = broker.connect("controller", deadline).await?;
    if missing == Missing::IsRefused {
        check_is_there(&connection.context, stream).await?;
    }
    match make(&connection.context, stream).await {
        Ok(_) => Ok(connection),
        Err(why) => Err(BusError::Refused { what: format!("make the stream of run {}", stream.run), why }),
    }
}

async fn check_is_there(context: &jetstream::Context, stream: &StreamOf) -> Result<(), BusError> {
    let asking = context.get_stream(stream_of(&stream.fleet, &stream.run));
    let refused =
        |why: String| BusError::Refused { what: format!("open the stream of run {}", stream.run), why };
    let error = match timeout(ANSWER_TIMEOUT, asking).await {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(error)) => error,
        Err(_) => return Err(refused("it is silent".to_string())),
    };
    match error.kind() {
        GetStreamErrorKind::JetStream(said) if said.error_code() == ErrorCode::STREAM_NOT_FOUND => {
            Err(BusError::Forgotten { run: stream.run.to_string() })
        }
        _ => Err(refused(error.to_string())),
    }
}

/// The run's stream, which is made where there is none.
async fn make(context: &jetstream::Context, stream: &StreamOf) -> Result<jetstream::stream::Stream, String> {
    let config = Config {
        name: stream_of(&stream.fleet, &stream.run),
        subjects: vec![format!("{}.>", subjects_of(&stream.fleet, &stream.run))],
        storage: StorageType::File,
        retention: RetentionPolicy::Limits,
        // Full, it refuses, and never forgets.
        discard: DiscardPolicy::New,
        max_bytes: i64::try_from(stream.max_bytes).unwrap_or(i64::MAX),
        max_age: MAX_AGE,
        duplicate_window: REPEAT_WINDOW,
        num_replicas: 1,
        // Nobody has a reason to remove some of it, and the broker can be brought to do so by detours (crate::broker_config).
        deny_delete: true,
        deny_purge: true,
        ..Config::default()
    };
    let made = timeout(ANSWER_TIMEOUT, context.get_or_create_stream(config)).await;
    made.map_err(|_| "it is silent".to_string())?.map_err(|error| error.to_string())
}

struct Work {
    connection: Connection,
    stream: StreamOf,
    tell: Sender<Result<Told, String>>,
    instructions: UnboundedReceiver<Instruction>,
    order: Order,
    /// What is safe of each voice.
    kept: BTreeMap<Voice, u64>,
    /// The stream's own number of the last message that was read; 0 before the first.
    last: u64,
}

/// How reading the stream ended.
enum Ended {
    /// It is to be opened again, from where it was.
    Again,
    /// It is to be read from the beginning: the broker may have lost what it had, and given its numbers to what it was told since.
    FromTheFirst,
    /// For good.
    Done,
}

impl Work {
    async fn run(mut self) {
        loop {
            let ended = match self.messages().await {
                Ok(messages) => self.read(messages).await,
                Err(why) => {
                    _ = self.tell.send(Err(why));
                    Ended::Again
                }
            };
            match ended {
                Ended::Again => {}
                Ended::FromTheFirst => self.last = 0,
                Ended::Done => return,
            }
            if self.rest().await {
                return;
            }
        }
    }

    /// Waits a moment before the next try. Whether it is over meanwhile.
    async fn rest(&mut self) -> bool {
        let deadline = tokio::time::Instant::now() + PAUSE;
        loop {
            match tokio::time::timeout_at(deadline, self.instructions.recv()).await {
                Err(_) => return false,
                Ok(instruction) => {
                    if self.obey(instruction).await {
                        return true;
                    }
                }
            }
        }
    }

    async fn messages(&mut self) -> Result<Ordered, String> {
        // Whoever connects again from here on reads from the first.
        self.connection.made.mark_unchanged();
        let stream = make(&self.connection.context, &self.stream).await?;
        let deliver_policy = match self.last {
            0 => DeliverPolicy::All,
            last => DeliverPolicy::ByStartSequence { start_sequence: last + 1 },
        };
        let config = OrderedConfig { deliver_policy, ..OrderedConfig::default() };
        let opening = async {
            let consumer = stream.create_consumer(config).await.map_err(|error| error.to_string())?;
            consumer.messages().await.map_err(|error| error.to_string())
        };
        timeout(2 * ANSWER_TIMEOUT, opening).await.map_err(|_| "the broker is silent".to_string())?
    }

    async fn read(&mut self, mut messages: Ordered) -> Ended {
        let mut tick = interval(KEPT_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = tokio::time::Instant::now();
        let mut made = self.connection.made.clone();
        loop {
            tokio::select! {
                changed = made.changed() => return if changed.is_ok() { Ended::FromTheFirst } else { Ended::Done },
                message = messages.next() => match message {
                    Some(Ok(message)) => {
                        heard = tokio::time::Instant::now();
                        if let Some(ended) = self.take(&message) {
                            return ended;
                        }
                    }
                    Some(Err(error)) => {
                        _ = self.tell.send(Err(error.to_string()));
                        return Ended::Again;
                    }
                    None => return Ended::Again,
                },
                instruction = self.instructions.recv() => {
                    if self.obey(instruction).await {
                        return Ended::Done;
                    }
                }
                _ = tick.tick() => {
                    self.announce().await;
                    if heard.elapsed() > SILENCE {
                        return Ended::Again;
                    }
                }
            }
        }
    }

    /// Takes a message of the stream; how reading ends with it, where it does.
    fn take(&mut self, message: &Message) -> Option<Ended> {
        let Ok(info) = message.info() else { return None };
        self.last = info.stream_sequence;
        let header = message.headers.as_ref().and_then(|headers| headers.get(PART_HEADER))?;
        let named = (message.subject.as_str(), header.as_str());
        // What isn't ours is nothing that an agent told.
        let (voice, kind, number, part) = Voice::read(&self.stream.fleet, &self.stream.run, named)?;
        let piece = Piece { voice: voice.clone(), kind, number, part, bytes: message.payload.to_vec() };
        for Whole { kind, number, bytes } in self.order.take(piece) {
            let told = Told { voice: voice.clone(), kind, number, bytes };
            if self.tell.send(Ok(told)).is_err() {
                return Some(Ended::Done);
            }
        }
        None
    }

    /// Does what the controller wants; whether that was the last of it.
    async fn obey(&mut self, instruction: Option<Instruction>) -> bool {
        match instruction {
            Some(Instruction::Kept(voice, below)) => {
                let kept = self.kept.entry(voice).or_default();
                *kept = below.max(*kept);
                false
            }
            Some(Instruction::Ask(agent, questions, done)) => {
                let client = self.connection.client.clone();
                let subject = clock_subject(&self.stream.fleet, &agent);
                // Beside what is read, which must not wait for an agent that doesn't answer.
                tokio::spawn(async move {
                    // Who asked may be gone.
                    _ = done.send(clock::exchanges(client, subject, questions).await);
                });
                false
            }
            Some(Instruction::Remove(done)) => {
                // Agents are told once more, so that they have no reason to wait.
                self.farewell().await;
                _ = done.send(self.remove().await);
                true
            }
            None => {
                self.farewell().await;
                true
            }
        }
    }

    async fn remove(&self) -> Result<(), BusError> {
        let name = stream_of(&self.stream.fleet, &self.stream.run);
        let removing = timeout(ANSWER_TIMEOUT, self.connection.context.delete_stream(&name)).await;
        let why = match removing {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it is silent".to_string(),
        };
        Err(BusError::Refused { what: format!("remove the stream of run {}", self.stream.run), why })
    }

    /// Tells the agents what is safe, and waits until the broker has heard it: a connection that is closed while there is more to
    /// read from it takes with it what wasn't read at the other end.
    async fn farewell(&self) {
        self.announce().await;
        let name = stream_of(&self.stream.fleet, &self.stream.run);
        // The broker answers in the order in which it was asked. Where it doesn't, agents keep what they have.
        _ = timeout(ANSWER_TIMEOUT, self.connection.context.get_stream(&name)).await;
    }

    /// Tells the agents what is safe. One who doesn't hear it is told again.
    async fn announce(&self) {
        for (voice, below) in &self.kept {
            let kept = Kept { run: voice.run.to_string(), incarnation: voice.incarnation, below: *below };
            let Ok(payload) = serde_json::to_vec(&kept) else { continue };
            let subject = kept_subject(&voice.fleet, &voice.agent);
            let telling = self.connection.client.publish(subject, payload.into());
            _ = timeout(Duration::from_millis(100), telling).await;
        }
        _ = timeout(Duration::from_millis(100), self.connection.client.flush()).await;
    }
}
