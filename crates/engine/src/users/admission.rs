//! The gate of the open model: arrivals that are due, and the places that they find free.

use model::catalogue::load::Arriving;

use super::assignment::Assignment;
use crate::arrivals::{Arrival, ArrivalStream};

/// The arrivals of the open model and the places that they may take.
pub(super) struct Gate {
    arrivals: ArrivalStream,
    /// The next one that has not begun; its intended start may have passed.
    next: Option<Arrival>,
    /// Places in which nobody is busy; the last one used is used again.
    free: Vec<u32>,
    /// The gate's own timer.
    pub(super) timer: u32,
    /// Users stay in their place until the next arrival.
    pub(super) keeps: bool,
    /// An arrival waits for a place.
    blocked: bool,
    /// When a place became free that was waited for: who was due before has waited.
    freed_ns: u64,
}

/// What the gate has to let in.
pub(super) enum Entry {
    /// An arrival into that place, and whether it has waited for one.
    Arrival(Arrival, u32, bool),
    /// Nobody before then.
    NotBefore(u64),
    /// Nobody before a place is free.
    Blocked,
    /// Nobody any more.
    Over,
}

impl Gate {
    /// The gate of a thread with a number of `places`; absent in the closed model.
    pub(super) fn of(assignment: &Assignment, places: u32) -> Option<Gate> {
        let Assignment { load, people, lane, lanes, .. } = assignment;
        let open = load.arrivals.as_ref()?;
        let mut arrivals = ArrivalStream::new(load.profile(), open, load.seed, *people, (*lane, *lanes));
        Some(Gate {
            next: arrivals.next(),
            arrivals,
            free: (0..places).rev().collect(),
            timer: places,
            keeps: open.arriving == Arriving::Operations,
            blocked: false,
            freed_ns: 0,
        })
    }

    /// When the next arrival is due.
    pub(super) fn due_ns(&self) -> u64 {
        self.next.map_or(u64::MAX, |arrival| arrival.at_ns)
    }

    /// Lets in the next one that is due, if there is a place.
    pub(super) fn next(&mut self, now_ns: u64) -> Entry {
        let Some(arrival) = self.next else { return Entry::Over };
        if arrival.at_ns > now_ns {
            self.blocked = false;
            return Entry::NotBefore(arrival.at_ns);
        }
        let Some(place) = self.free.pop() else {
            self.blocked = true;
            return Entry::Blocked;
        };
        self.next = self.arrivals.next();
        Entry::Arrival(arrival, place, arrival.at_ns < self.freed_ns)
    }

    /// A place is free from now on; true when an arrival waits for it.
    pub(super) fn free(&mut self, place: u32, now_ns: u64) -> bool {
        self.free.push(place);
        if self.blocked {
            self.freed_ns = now_ns;
        }
        self.blocked
    }

    /// The number of arrivals that were due by now and found no place.
    pub(super) fn count_waiting(self, now_ns: u64) -> u64 {
        if !self.blocked {
            return 0;
        }
        let waiting = self.next.into_iter().chain(self.arrivals);
        waiting.take_while(|arrival| arrival.at_ns <= now_ns).count() as u64
    }
}
