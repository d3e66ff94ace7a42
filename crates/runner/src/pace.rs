//! Where the steady state of a run is: at the seconds that were planned, or (see [`super::settle`]) where it is found
//! while the run goes on.

use analysis::Steady;
use engine::Second;
use model::Interval;
use model::progress::UsersAsked;
use model::record::plan::Load;
use model::record::{Event, LoadChange};

/// Says which phase a run is in, and when enough was measured.
pub(crate) trait Pace {
    /// A second has ended.
    fn second(&mut self, second: &Second<'_>) -> Pacing;

    /// The seconds that count, as far as that is known by now.
    fn steady(&self) -> &Steady;

    /// Whether the second counts, or may be found to: nothing should disturb what is measured then.
    fn counts(&self) -> bool {
        true
    }

    /// The users that are asked for by hand; nothing where nobody can.
    fn by_hand(&self) -> Option<UsersAsked> {
        None
    }

    /// Those that were, in their order.
    fn load_changes(&self) -> &[LoadChange] {
        &[]
    }

    /// The phase that the second ended in and how far it has come, for people; and the share of all that is done.
    fn words(&self) -> (String, f64);
}

/// What followed from a second.
#[derive(Debug, Default)]
pub(crate) struct Pacing {
    /// What began in it.
    pub(crate) events: Vec<Event>,
    /// The run may end: nobody needs another second.
    pub(crate) enough: bool,
    /// This number of users is asked for from now on, where it is another one.
    pub(crate) users: Option<u32>,
    /// What whoever asked for something should know.
    pub(crate) notes: Vec<String>,
}

/// A phase of the run begins.
pub(crate) fn phase(second: f64, text: &str) -> Event {
    Event { second, kind: "phase".to_string(), text: text.to_string() }
}

/// The phases of a load as they were planned. A load by number of sessions has no planned end: then its last second, in
/// which users had left, does not count.
pub(crate) struct Planned {
    load: Load,
    ended_s: f64,
    /// Sessions that have ended.
    ended: u64,
    /// The last second of a load by number of sessions, as long as nothing came after it.
    held: Option<Interval>,
    /// The seconds that count.
    pub(crate) steady: Steady,
    /// The seconds in which at most a third of the users were there.
    pub(crate) early: Steady,
}

/// The seconds of a ramp-up in which at most a third of the users were there; none yet.
pub(crate) fn early(ramp_up_s: f64) -> Steady {
    let (from_s, to_s) = analysis::signals::early_span_s(ramp_up_s);
    Steady::new(from_s, to_s)
}

impl Planned {
    pub(crate) fn of(load: &Load) -> Planned {
        let (from_s, to_s) = load.steady_span_s();
        let early = early(load.ramp_up_s);
        let steady = Steady::new(from_s, to_s);
        Planned { load: load.clone(), ended_s: 0.0, ended: 0, held: None, steady, early }
    }

    /// The load with the steady state that became of it.
    pub(crate) fn driven(&self) -> Load {
        match self.load.sessions.map(|_| ()).or(self.load.by_hand.map(|_| ())) {
            Some(()) => Load { steady_s: self.steady.length_s(), ..self.load.clone() },
            None => self.load.clone(),
        }
    }
}

impl Pace for Planned {
    fn second(&mut self, second: &Second<'_>) -> Pacing {
        self.ended += second.interval.sessions_ended;
        match self.load.sessions {
            Some(_) => {
                let before = self.held.replace(second.interval.clone());
                before.iter().for_each(|before| self.steady.push(before));
            }
            None => self.steady.push(second.interval),
        }
        self.early.push(second.interval);
        self.ended_s = f64::from(second.interval.second) + 1.0;
        let (begins_s, ends_s) = self.load.steady_span_s();
        let marks = [(begins_s, "steady state begins"), (ends_s, "ramp-down begins")];
        let now = marks.into_iter().filter(|(at_s, _)| (self.ended_s - 1.0..self.ended_s).contains(at_s));
        Pacing { events: now.map(|(at_s, text)| phase(at_s, text)).collect(), ..Pacing::default() }
    }

    fn steady(&self) -> &Steady {
        &self.steady
    }

    fn counts(&self) -> bool {
        let (begins_s, ends_s) = self.load.steady_span_s();
        self.load.sessions.is_some() || (begins_s..ends_s).contains(&self.ended_s)
    }

    fn words(&self) -> (String, f64) {
        let Load { ramp_up_s, steady_s, ramp_down_s, .. } = self.load;
        if let Some(sessions) = self.load.sessions {
            let done = (self.ended as f64 / sessions as f64).min(1.0);
            return (format!("{} of {sessions} sessions", self.ended), done);
        }
        let (name, from_s, length_s) = if self.ended_s <= ramp_up_s {
            ("ramp-up", 0.0, ramp_up_s)
        } else if self.ended_s <= ramp_up_s + steady_s {
            ("steady state", ramp_up_s, steady_s)
        } else {
            ("ramp-down", ramp_up_s + steady_s, ramp_down_s)
        };
        let at_s = (self.ended_s - from_s).min(length_s);
        (format!("{name} {at_s:.0} of {length_s:.0} s"), self.ended_s / self.load.total_s())
    }
}
