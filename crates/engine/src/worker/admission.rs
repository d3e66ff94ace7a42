//! Who comes and goes: arrivals of the open model, users whose lifetime is over, users who join and leave with the
//! stages. A *place* is a user's slot on this thread; the users in it follow one another.

use model::load::{Arriving, Lifetime};

use super::{Assignment, Doing, User, Worker};
use crate::arrivals::{Arrival, ArrivalStream};
use crate::clock::Clock;
use crate::mix::FRESH;
use crate::random::Stream;
use crate::schedule::nanos;
use crate::transport::Transport;

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

impl Gate {
    /// The gate of a thread with a number of `places`; absent in the closed model.
    pub(super) fn of(assignment: &Assignment, places: u32) -> Option<Gate> {
        let Assignment { load, people, worker, workers, .. } = assignment;
        let open = load.arrivals.as_ref()?;
        let mut arrivals = ArrivalStream::new(load.profile(), open, load.seed, *people, (*worker, *workers));
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
}

impl<C: Clock, T: Transport> Worker<C, T> {
    /// Lets everyone in who is due and finds a place.
    pub(super) fn admit(&mut self) {
        loop {
            let now_ns = self.now();
            let Some(gate) = &mut self.gate else { return };
            let Some(arrival) = gate.next.filter(|_| !self.stopping) else { return self.close_gate() };
            if arrival.at_ns > now_ns {
                gate.blocked = false;
                self.wheel.set(gate.timer, arrival.at_ns);
                return;
            }
            let Some(place) = gate.free.pop() else {
                gate.blocked = true;
                return;
            };
            gate.next = gate.arrivals.next();
            let waited = arrival.at_ns < gate.freed_ns;
            self.enter(place, arrival, waited);
        }
    }

    fn enter(&mut self, place: u32, arrival: Arrival, waited: bool) {
        let keeps = self.gate.as_ref().is_some_and(|gate| gate.keeps);
        let now_ns = self.now();
        let state = &self.users[place as usize];
        if !keeps || state.life_end == 0 || self.is_life_over(state, now_ns) {
            self.renew(place, arrival.number, now_ns);
        }
        self.present += 1;
        self.recorder.arrived(waited);
        let state = &mut self.users[place as usize];
        state.intended_ns = arrival.at_ns;
        state.doing = Doing::Thinking(None);
        // Who waited for a place is not late by the generator's fault: that is told by a count of its own.
        let due_ns = if waited { now_ns } else { arrival.at_ns };
        self.begin_session(place, due_ns, None);
    }

    /// No more arrivals: those that still wait are counted, and the run ends with the users who are there.
    pub(super) fn close_gate(&mut self) {
        let now_ns = self.now();
        let Some(gate) = self.gate.take() else { return };
        if gate.blocked {
            let waiting = gate.next.into_iter().chain(gate.arrivals);
            let count = waiting.take_while(|arrival| arrival.at_ns <= now_ns).count();
            self.recorder.turned_away(count as u64);
        }
        self.wheel.cancel(gate.timer);
        self.present -= 1;
    }

    /// The session of an arrival is over, and with it the user's stay.
    pub(super) fn make_room(&mut self, place: u32) {
        let Some(gate) = &mut self.gate else { return self.leave(place) };
        gate.free.push(place);
        if gate.blocked {
            // By the timer, not at once: a backlog of sessions that ask for nothing must not pile up on the stack.
            gate.freed_ns = self.now_ns;
            self.wheel.set(gate.timer, self.now_ns);
        }
        if gate.keeps {
            self.users[place as usize].doing = Doing::Gone;
            self.wheel.cancel(place);
            self.present -= 1;
        } else {
            self.leave(place);
        }
    }

    /// A new user takes the place: number, cookies, table, random stream and connections are its own.
    pub(super) fn renew(&mut self, place: u32, person: u32, now_ns: u64) {
        self.close_connections(place);
        self.program.forget(place);
        let seed = self.assignment.seed;
        let state = &mut self.users[place as usize];
        state.person = person;
        state.stream = Stream::new(seed, u64::from(person));
        if self.assignment.load.arrivals.is_some() {
            // Its unique numbers are those of its own arrival, not of the place that it happens to find free.
            state.uniques = 0;
        }
        state.user_state = None;
        state.mix_state = FRESH;
        state.life_began_ns = now_ns;
        state.life_end = life_end(self.lifetime, state, now_ns);
    }

    /// In the closed model, the next user of a place is numbered beyond those of all places.
    pub(super) fn renew_in_turn(&mut self, place: u32, now_ns: u64) {
        let person = self.users[place as usize].person.wrapping_add(self.assignment.users);
        self.renew(place, person, now_ns);
    }

    /// The user has lived as long as it was to.
    pub(super) fn is_life_over(&self, state: &User, now_ns: u64) -> bool {
        match self.lifetime {
            None => false,
            Some(Lifetime::Sessions(_)) => u64::from(state.sessions) >= state.life_end,
            Some(Lifetime::Operations(_)) => u64::from(state.operations) >= state.life_end,
            Some(Lifetime::Seconds(_)) => now_ns >= state.life_end,
        }
    }

    /// A session has ended: whether its user goes. In the closed model a user whose life is over makes way for the next
    /// one at once, who begins as if it had thought.
    pub(super) fn ends_stay(&mut self, place: u32, now_ns: u64) -> bool {
        let over = self.is_life_over(&self.users[place as usize], now_ns);
        match &self.assignment.load.arrivals {
            // Also when the last one has arrived: the others live their lives to the end.
            Some(open) => over || self.stopping || open.arriving == Arriving::Operations,
            None => {
                if over {
                    self.renew_in_turn(place, now_ns);
                }
                false
            }
        }
    }

    /// The place is not to be taken for now: when the stages ask for it again, a new user comes.
    pub(super) fn vacate(&mut self, place: u32, now_ns: u64) {
        let index = self.global_index(place);
        let next = self.assignment.schedule.stay_after(index, now_ns).filter(|_| !self.stopping);
        let Some((from_ns, until_ns)) = next else { return self.leave(place) };
        let from_ns = from_ns.max(now_ns);
        self.renew_in_turn(place, from_ns);
        let state = &mut self.users[place as usize];
        state.doing = Doing::Thinking(None);
        (state.intended_ns, state.leave_ns) = (from_ns, until_ns);
        self.wheel.set(place, from_ns);
    }
}

/// When the life of a user that begins now is over, in the lifetime's own unit.
pub(super) fn life_end(lifetime: Option<Lifetime>, state: &mut User, now_ns: u64) -> u64 {
    let Some(lifetime) = lifetime else { return u64::MAX };
    let drawn = lifetime.distribution().sample(state.stream.unit());
    match lifetime {
        Lifetime::Sessions(_) => u64::from(state.sessions) + (drawn.round() as u64).max(1),
        Lifetime::Operations(_) => u64::from(state.operations) + (drawn.round() as u64).max(1),
        Lifetime::Seconds(_) => now_ns + nanos(drawn).max(1),
    }
}
