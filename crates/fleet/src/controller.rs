//! A controller: has a fleet's agents drive the users of a run, each its slice of them, and makes one run of what they tell.

mod beginning;
mod driving;
mod handover;
mod observers;
mod place;
mod resuming;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::{Audience, Control, Slice, Totals};
use model::record::AgentSecond;
use model::{Problem, Result};
use observe::Answer;

use crate::bundle::Bundle;
use crate::bus::{Announcer, Broker, BusError, Leftover, Name, Reader, StreamOf, Voice};
use crate::clock::Offset;
use crate::signed::Signer;
use crate::want::Claim;
use driving::Driving;
pub use handover::Handover;
use observers::Event;
pub use observers::ObserverSeen;
pub use place::Member;

/// The most that a run's stream may take on the broker's disk: the first of these that it has room for.
const STREAM_BYTES: [u64; 3] = [8 << 30, 1 << 30, 128 << 20];

/// The broker may take so long until it can be reached.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A run that is to be driven.
#[derive(Debug)]
pub struct Job<'a> {
    /// Its name.
    pub run: Name,
    /// Who drives it.
    pub members: &'a [Member],
    /// Who watches what the bundle says of them; they may be among those who drive.
    pub observers: &'a [Member],
    /// What the users do.
    pub bundle: &'a Bundle,
    /// How long an agent goes on without a word of the controller.
    pub lease_s: u64,
    /// The number of agents that it may lose and goes on without.
    pub tolerated: u32,
}

/// What happens while a run is driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// All have begun, or will at the time that was set.
    Begun {
        /// So far ahead.
        ahead: Duration,
    },
    /// The run had another controller before, which has ended.
    TakenOver {
        /// So long after its first second began.
        since: Duration,
        /// Whether agents still have users; they had stopped by themselves otherwise.
        goes_on: bool,
    },
    /// An agent has said nothing for a while.
    Silent {
        /// Its name.
        agent: Name,
        /// For so long.
        silent: Duration,
    },
    /// It is heard again.
    Back {
        /// Its name.
        agent: Name,
    },
    /// It is given up.
    Lost {
        /// Its name.
        agent: Name,
        /// Why.
        why: String,
        /// The others go on: the run is allowed to lose it.
        is_tolerated: bool,
    },
    /// An observer is given up, and the run goes on without it.
    ObserverLost {
        /// Its name.
        agent: Name,
        /// The tiers that nobody watches from then on.
        tiers: Vec<String>,
        /// The first second of which no reading came.
        second: u32,
        /// Why.
        why: String,
    },
}

/// Who is told of a run's seconds, and of what happens to its agents.
pub trait Follower: Audience {
    /// The run is about to begin, and no agent goes before this returns: what is kept of it lets another controller take the run over
    /// ([`Controller::take_over`]).
    ///
    /// # Errors
    /// It can't be kept: nobody begins.
    fn hands_over(&mut self, _handover: &Handover) -> Result<()> {
        Ok(())
    }

    /// This has happened.
    fn news(&mut self, news: &News);

    /// An observer has read its tiers: series by the run's seconds, where they come from, and what can't be seen.
    fn observed(&mut self, agent: &Name, answer: Answer) {
        let _ = (agent, answer);
    }
}

/// Tells the follower what became of the observers, or what they say.
fn tell(event: Event, follower: &mut dyn Follower) {
    match event {
        Event::Observed { agent, answer } => follower.observed(&agent, *answer),
        Event::Silent { agent, silent } => follower.news(&News::Silent { agent, silent }),
        Event::Back { agent } => follower.news(&News::Back { agent }),
        Event::Lost { agent, tiers, second, why } => {
            follower.news(&News::ObserverLost { agent, tiers, second, why });
        }
    }
}

/// What a controller saw of one of a run's agents.
#[derive(Debug, Clone)]
pub struct AgentSeen {
    /// Who.
    pub member: Member,
    /// Its lanes.
    pub slice: Slice,
    /// By how much its clock was ahead when it was made ready.
    pub offset: Offset,
    /// By how much that has changed at least until the end; nothing where it wasn't answered then.
    pub drift_ns: Option<u64>,
    /// How long after the time that was set the last of its threads began.
    pub late_ns: Option<u64>,
    /// What its generator saw of itself, in each second that it has told.
    pub seconds: Vec<AgentSecond>,
    /// Why it was given up, where it was.
    pub lost: Option<String>,
}

/// A run that is over.
#[derive(Debug)]
pub struct Driven {
    /// Sums over the whole run.
    pub totals: Totals,
    /// Its agents, in the order in which their seconds were added up.
    pub agents: Vec<AgentSeen>,
    /// Who watched.
    pub observers: Vec<ObserverSeen>,
}

/// A fleet's controller.
#[derive(Debug)]
pub struct Controller {
    announcer: Announcer,
    broker: Broker,
    fleet: Name,
    /// The run that was driven last, until [`Self::keep`].
    open: Option<OpenRun>,
}

/// What of a run is on the broker.
#[derive(Debug)]
struct OpenRun {
    run: Name,
    reader: Reader,
    /// What was had of each voice: all messages below that number.
    had: BTreeMap<Voice, u64>,
}

impl Controller {
    /// Speaks with the key of `signer` from now on.
    ///
    /// # Errors
    /// The broker isn't there.
    pub fn begin(broker: Broker, signer: Signer, claim: Claim) -> Result<Controller> {
        let fleet = signer.fleet().clone();
        let announcer =
            Announcer::begin(broker.clone(), signer, claim, CONNECT_TIMEOUT).map_err(of_the_bus)?;
        Ok(Controller { announcer, broker, fleet, open: None })
    }

    /// Waits until `is_enough` of the agents that are heard, at most `within`; those that are.
    pub fn wait_for(&self, within: Duration, is_enough: &dyn Fn(&[Member]) -> bool) -> Vec<Member> {
        let deadline = Instant::now() + within;
        loop {
            let heard = self.announcer.agents().into_values();
            let member = |heard: crate::bus::HeardOf| {
                let one = heard.heartbeat;
                let name = Name::of(&one.agent).ok()?;
                let weight = one.cpus.len().max(1) as u32;
                Some(Member { name, incarnation: one.incarnation, cpus: one.cpus, build: one.build, weight })
            };
            let members: Vec<Member> = heard.filter_map(member).collect();
            let left = deadline.saturating_duration_since(Instant::now());
            if is_enough(&members) || left.is_zero() {
                return members;
            }
            self.announcer.wait(left.min(Duration::from_millis(200)));
        }
    }

    /// Has the agents drive `job`; the follower is told of every second that all of them have told. What they told is on the
    /// broker until [`Self::keep`].
    ///
    /// # Errors
    /// Nobody has begun: an agent can't, or isn't there any more. Or the follower's error, which ends the run.
    pub fn run(&mut self, job: &Job<'_>, control: &Control, follower: &mut dyn Follower) -> Result<Driven> {
        self.keep()?;
        let reader = self.reader(&job.run)?;
        let open = self.open.insert(OpenRun { run: job.run.clone(), reader, had: BTreeMap::new() });
        match beginning::begin(&self.announcer, &open.reader, job, control, follower) {
            Ok(None) => Ok(Driven { totals: Totals::default(), agents: Vec::new(), observers: Vec::new() }),
            Ok(Some(begun)) => {
                Driving::of(&self.announcer, open, begun, &self.fleet).drive(control, follower)
            }
            Err(problems) => {
                // There is nothing to be read: it must not take the next runs' room on the broker.
                _ = self.keep();
                Err(problems)
            }
        }
    }

    /// Reads what the run's agents will tell.
    fn reader(&self, run: &Name) -> Result<Reader> {
        let open = |max_bytes| {
            let stream = StreamOf { fleet: self.fleet.clone(), run: run.clone(), max_bytes };
            Reader::begin(self.broker.clone(), stream, BTreeMap::new(), CONNECT_TIMEOUT)
        };
        let [most, less @ ..] = STREAM_BYTES;
        let mut opened = open(most);
        for max_bytes in less {
            // A broker whose disk is smaller refuses what it couldn't keep.
            if let Err(BusError::Refused { .. }) = opened {
                opened = open(max_bytes);
            }
        }
        opened.map_err(of_the_bus)
    }

    /// All that the last run's agents told is safe: they forget it, and the broker does.
    ///
    /// # Errors
    /// The broker's; the next controller has it forget the run ([`Self::leftovers`]).
    pub fn keep(&mut self) -> Result<()> {
        let Some(OpenRun { run, reader, had }) = self.open.take() else { return Ok(()) };
        had.iter().for_each(|(voice, below)| reader.keep(voice, *below));
        let removed = reader.remove();
        self.announcer.remove(&run);
        self.announcer.want(None);
        removed.map_err(of_the_bus)
    }
}

impl Controller {
    /// The runs of which the broker has something: those whose controllers ended before they were kept.
    ///
    /// # Errors
    /// The broker's.
    pub fn leftovers(&self) -> Result<Vec<Leftover>> {
        let mut all = self.announcer.leftovers().map_err(of_the_bus)?;
        all.retain(|one| self.open.as_ref().is_none_or(|open| open.run != one.run));
        Ok(all)
    }

    /// Has the broker forget a run that nobody will take over.
    ///
    /// # Errors
    /// The broker's.
    pub fn forget(&self, run: &Name) -> Result<()> {
        self.announcer.forget(run).map_err(of_the_bus)
    }
}

/// A failure of the bus as a problem of this run.
fn of_the_bus(error: BusError) -> model::Problems {
    Problem::environment(error.to_string())
        .why("agents are spoken with over it alone")
        .remedy(
            "is nats-server running there, with JetStream and room on its disk? A run whose process was killed has some of it for a \
             week, or until `plimsoll run --resume RUN`",
        )
        .into()
}
