//! Who watches tiers during a run. Their readings are no part of its seconds, and the run goes on without one that is lost.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use observe::Answer;

use crate::bus::{HeardOf, Name, Told, Voice};
use crate::observed::Observed;
use crate::want::Standing;

/// An agent of which nothing was heard for so long is gone.
pub(super) const LOST_AFTER: Duration = Duration::from_secs(15);

/// An agent of which nothing was heard for so long is said to be silent.
pub(super) const SILENT_AFTER: Duration = Duration::from_secs(5);

/// When all users have gone, the last readings are waited for so long.
const LAST_TIMEOUT: Duration = Duration::from_secs(5);

/// What became of one of a run's observers.
#[derive(Debug, Clone)]
pub struct ObserverSeen {
    /// Its name.
    pub agent: Name,
    /// The tiers that it watched.
    pub tiers: Vec<String>,
    /// The number of readings that came of it: one as the run began, one a second, and one at the end.
    pub readings: u32,
    /// Why it was given up, where it was.
    pub lost: Option<String>,
}

/// What they say, and what happens to them.
#[derive(Debug)]
pub(super) enum Event {
    /// One has read its tiers.
    Observed { agent: Name, answer: Box<Answer> },
    /// One has said nothing for so long.
    Silent { agent: Name, silent: Duration },
    /// It is heard again.
    Back { agent: Name },
    /// One is given up, of which no reading came from that second on.
    Lost { agent: Name, tiers: Vec<String>, second: u32, why: String },
}

/// Who is told of it.
type Tell<'a> = &'a mut dyn FnMut(Event);

/// One of them.
struct Observer {
    voice: Voice,
    tiers: Vec<String>,
    /// When it was heard last, by a heartbeat or by a reading.
    heard: Instant,
    is_silent: bool,
    /// The number of its readings.
    readings: u32,
    /// The second of the next one.
    next: u32,
    has_ended: bool,
    lost: Option<String>,
}

/// All of them.
pub(super) struct Observers {
    all: Vec<Observer>,
    /// When the run's users had gone.
    over: Option<Instant>,
}

impl Observers {
    /// Each by its voice, with the tiers that it watches.
    pub(super) fn of(watching: impl Iterator<Item = (Voice, Vec<String>)>) -> Observers {
        let observer = |(voice, tiers)| Observer {
            voice,
            tiers,
            heard: Instant::now(),
            is_silent: false,
            readings: 0,
            next: 0,
            has_ended: false,
            lost: None,
        };
        Observers { all: watching.map(observer).collect(), over: None }
    }

    /// Whether one of them still has something to say.
    pub(super) fn are_waited_for(&self) -> bool {
        self.all.iter().any(Observer::is_waited_for)
    }

    /// The run's users have gone.
    pub(super) fn is_over(&mut self) {
        self.over.get_or_insert_with(Instant::now);
    }

    /// Takes a reading; whether it is of one of them.
    pub(super) fn take(&mut self, told: &Told, tell: Tell<'_>) -> bool {
        let Some(observer) = self.all.iter_mut().find(|one| one.voice == told.voice) else { return false };
        observer.heard = Instant::now();
        // What it tells after it was given up would be a series with a gap that nobody is told of.
        if !observer.is_waited_for() {
            return true;
        }
        match Observed::read(&told.bytes, &observer.tiers) {
            Ok(observed) if observed.second < observer.next => {}
            Ok(observed) => {
                observer.readings += 1;
                observer.next = observed.second.saturating_add(1);
                observer.has_ended = observed.is_last;
                let (agent, answer) = (observer.voice.agent.clone(), Box::new(observed.answer));
                tell(Event::Observed { agent, answer });
            }
            Err(why) => observer.lose(format!("what it told can't be taken: {why}"), tell),
        }
        true
    }

    /// Looks how they are, by what was heard of them.
    pub(super) fn look(&mut self, heard: &BTreeMap<String, HeardOf>, run: &str, tell: Tell<'_>) {
        let is_over_time = self.over.is_some_and(|since| since.elapsed() > LAST_TIMEOUT);
        for observer in self.all.iter_mut().filter(|one| one.is_waited_for()) {
            if let Some(why) = observer.fault(heard.get(observer.voice.agent.as_str()), run) {
                observer.lose(why, tell);
            } else if is_over_time {
                observer.lose("its last reading hasn't come".to_string(), tell);
            } else {
                observer.listen_for(tell);
            }
        }
    }

    /// What became of them.
    pub(super) fn into_seen(self) -> Vec<ObserverSeen> {
        let seen = |one: Observer| ObserverSeen {
            agent: one.voice.agent,
            tiers: one.tiers,
            readings: one.readings,
            lost: one.lost,
        };
        self.all.into_iter().map(seen).collect()
    }
}

impl Observer {
    fn is_waited_for(&self) -> bool {
        !self.has_ended && self.lost.is_none()
    }

    /// Why it is lost, by its last heartbeat or its silence.
    fn fault(&mut self, last: Option<&HeardOf>, run: &str) -> Option<String> {
        if let Some(last) = last {
            let said = &last.heartbeat;
            if said.incarnation != self.voice.incarnation {
                return Some("it ended and has begun anew".to_string());
            }
            self.heard = self.heard.max(last.at);
            match &said.standing {
                _ if said.run.as_deref() != Some(run) => {}
                Standing::Failed { why } => return Some(why.clone()),
                Standing::Missed => return Some("it had no word in time to begin".to_string()),
                _ => {}
            }
        }
        let is_gone = self.heard.elapsed() > LOST_AFTER;
        is_gone.then(|| format!("nothing was heard of it for {} s", LOST_AFTER.as_secs()))
    }

    fn listen_for(&mut self, tell: Tell<'_>) {
        let (silent, agent) = (self.heard.elapsed(), self.voice.agent.clone());
        if silent > SILENT_AFTER && !self.is_silent {
            self.is_silent = true;
            tell(Event::Silent { agent, silent });
        } else if silent < SILENT_AFTER && self.is_silent {
            self.is_silent = false;
            tell(Event::Back { agent });
        }
    }

    /// Gives it up; the run goes on.
    fn lose(&mut self, why: String, tell: Tell<'_>) {
        let (agent, tiers, second) = (self.voice.agent.clone(), self.tiers.clone(), self.next);
        tell(Event::Lost { agent, tiers, second, why: why.clone() });
        self.lost = Some(why);
    }
}
