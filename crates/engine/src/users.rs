//! A thread's users: who is there, what each is doing, and when something is due for it.
//!
//! The principal type is [`Users`]: a list of *places*, in each of which users follow one another, with a timer each.
//! It decides who comes, stays and goes: arrivals of the open model, users whose lifetime is over, users who join and
//! leave with the stages. Not here: what they do in their sessions (`worker`), and on which connections.

mod admission;
mod assignment;
mod batch;
mod by_hand;
mod pausing;

use std::ops::{Index, IndexMut};

use mlua::Thread;
use model::catalogue::load::{Arriving, Lifetime};

pub(crate) use assignment::Assignment;
pub(crate) use batch::Batch;
pub(crate) use pausing::{Pace, Pause};

use crate::active_session::ActiveSession;
use crate::mix::FRESH;
use crate::random::Stream;
use crate::schedule::nanos;
use crate::tls::{TlsChannel, TlsFault, TlsSetup};
use crate::user_state::UserState;
use crate::wheel::Wheel;
use admission::{Entry, Gate};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Between sessions since then; absent before the first one.
    Thinking(Option<u64>),
    Waiting,
    /// All that it asked for is there, without a request.
    Served,
    Pausing,
    Gone,
}

/// A user in a session.
pub(crate) struct Presence {
    pub(crate) session: Box<ActiveSession>,
    pub(crate) thread: Option<Thread>,
    pub(crate) batch: Batch,
}

pub(crate) struct User {
    pub(crate) stream: Stream,
    pub(crate) doing: Doing,
    pub(crate) presence: Option<Box<Presence>>,
    /// Between sessions: an active one has it.
    pub(crate) user_state: Option<Box<UserState>>,
    pub(crate) sessions: u32,
    /// Operations so far, in this place.
    pub(crate) operations: u32,
    pub(crate) uniques: u32,
    /// The user's number over all threads, 0-based: other than its place's once the first user has gone.
    pub(crate) person: u32,
    /// When the user's life began: of the closed model's first users, when they are to come.
    pub(crate) life_began_ns: u64,
    /// When its life is over, in the lifetime's own unit; 0 before its first user.
    life_end: u64,
    /// From when on it begins no new session.
    leave_ns: u64,
    /// Where the user stands in the mix.
    pub(crate) mix_state: u16,
    /// The pause that it is in; none before its first session, nor after one that failed.
    pub(crate) pause: Option<Pause>,
    /// The intended start of the session under way or to come.
    pub(crate) intended_ns: u64,
}

impl User {
    /// The user's session, while it is in one.
    #[inline]
    pub(crate) fn session(&self) -> Option<&ActiveSession> {
        self.presence.as_ref().map(|presence| &*presence.session)
    }

    /// What the user has at hand in its session.
    #[inline]
    pub(crate) fn user_state_mut(&mut self) -> Option<&mut UserState> {
        self.presence.as_mut()?.session.user_state.as_deref_mut()
    }

    /// Begins TLS on a connection of the user's own.
    pub(crate) fn open_tls(&mut self, setup: &TlsSetup) -> Result<TlsChannel, TlsFault> {
        // A ratio between none and all draws from the user's stream; the others leave it alone.
        let draw = if setup.draws() { self.stream.unit() } else { 0.0 };
        let mut held = None;
        let wallet = match self.user_state_mut() {
            Some(state) => &mut state.wallet,
            None => &mut held,
        };
        let opened = setup.open(wallet, draw);
        if let (Some(wallet), Some(presence)) = (held, &mut self.presence) {
            presence.session.user_state.get_or_insert_default().wallet = Some(wallet);
        }
        opened
    }
}

/// What else changes with a place's user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a user that goes leaves connections and a table behind"]
pub(crate) enum Change {
    None,
    /// It has gone: its connections are to be closed.
    Gone,
    /// Another one has taken the place: connections are to be closed, and the table forgotten.
    Renewed,
}

/// What an arrival comes to.
pub(crate) enum Admission {
    /// It begins a session in that place, which was due then; `waited` for a place.
    Enters { place: u32, due_ns: u64, waited: bool, change: Change },
    /// None for now.
    Waits,
    /// None any more: the gate is to be closed.
    Over,
}

/// The users of one thread, by place.
pub(crate) struct Users {
    assignment: Assignment,
    lifetime: Option<Lifetime>,
    places: Vec<User>,
    timers: Wheel,
    /// Users who are there or will be, and the gate while it is open, or whoever may ask for users by hand.
    present: usize,
    /// Where arrivals come in; absent in the closed model.
    gate: Option<Gate>,
    /// Users over all threads that are asked for by hand; absent where nobody can, and once the run stops.
    asked: Option<u32>,
    /// Nobody begins another session.
    stopping: bool,
}

impl Index<u32> for Users {
    type Output = User;

    #[inline]
    fn index(&self, user: u32) -> &User {
        &self.places[user as usize]
    }
}

impl IndexMut<u32> for Users {
    #[inline]
    fn index_mut(&mut self, user: u32) -> &mut User {
        &mut self.places[user as usize]
    }
}

impl Users {
    /// The places of an assignment, in the closed model each with its first user, who comes when it is time.
    pub(crate) fn new(assignment: Assignment) -> Users {
        let lifetime = assignment.lifetime();
        let places: Vec<User> =
            assignment.places().map(|index| first_user(&assignment, lifetime, index)).collect();
        let mut timers = Wheel::new(places.len() + 1);
        let gate = Gate::of(&assignment, places.len() as u32);
        match &gate {
            Some(gate) => timers.set(gate.timer, gate.due_ns()),
            None => {
                let starts = places.iter().enumerate().filter(|(_, user)| user.doing != Doing::Gone);
                starts.for_each(|(place, user)| timers.set(place as u32, user.intended_ns));
            }
        }
        let asked = assignment.load.by_hand.map(|_| assignment.load.users);
        let coming = places.iter().filter(|user| user.doing != Doing::Gone).count();
        let present = coming + usize::from(gate.is_some() || asked.is_some());
        Users { assignment, lifetime, places, timers, present, gate, asked, stopping: false }
    }

    /// The number of places.
    pub(crate) fn places(&self) -> u32 {
        self.places.len() as u32
    }

    /// Whether nobody is there or will be.
    pub(crate) fn all_gone(&self) -> bool {
        self.present == 0
    }

    /// Whether users arrive by themselves.
    pub(crate) fn are_arriving(&self) -> bool {
        self.assignment.is_open()
    }

    /// A user's number over all threads, 0-based.
    pub(crate) fn global_index(&self, user: u32) -> u32 {
        self.assignment.global_index(user)
    }

    /// Something is due for a user then.
    #[inline]
    pub(crate) fn set_timer(&mut self, user: u32, deadline_ns: u64) {
        self.timers.set(user, deadline_ns);
    }

    #[inline]
    pub(crate) fn cancel_timer(&mut self, user: u32) {
        self.timers.cancel(user);
    }

    /// All that the user asked for is there; its session goes on by the timer, not at once.
    pub(crate) fn serve(&mut self, user: u32, now_ns: u64) {
        self[user].doing = Doing::Served;
        self.timers.set(user, now_ns);
    }

    /// Users who wait for an answer.
    pub(crate) fn waiting(&self) -> u64 {
        self.places.iter().filter(|user| user.doing == Doing::Waiting).count() as u64
    }

    /// Appends users whose timer is due, with its deadline; the number of places stands for the gate.
    pub(crate) fn expire(&mut self, now_ns: u64, due: &mut Vec<(u32, u64)>) {
        self.timers.expire(now_ns, due);
    }

    /// When to look at the timers again.
    pub(crate) fn next_timer_ns(&self) -> Option<u64> {
        self.timers.next_ns()
    }

    /// From now on nobody begins another session.
    pub(crate) fn stop(&mut self) {
        self.stopping = true;
        if self.asked.take().is_some() {
            self.present -= 1;
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// A session is due in a place, where a user has been `thinking` or is to begin its first one. Whether there is one,
    /// and what changes before it.
    #[inline]
    pub(crate) fn begin_due(&mut self, place: u32, now_ns: u64, thinking: bool) -> (bool, Change) {
        let user = &self[place];
        let done = self.assignment.is_share_done(self.global_index(place), user.sessions);
        let leaves = self.stopping || done || now_ns >= user.leave_ns;
        let over = thinking && self.is_life_over(place, now_ns);
        match self.are_arriving() {
            true if leaves || over => (false, self.make_room(place, now_ns)),
            false if leaves && done => (false, self.leave(place)),
            false if leaves => (false, self.vacate(place, now_ns)),
            false if over => (true, self.renew_in_turn(place, now_ns)),
            _ => (true, Change::None),
        }
    }

    /// A session has ended: whether its user thinks about the next one, and what changes before. In the closed model a
    /// user whose life is over makes way for the next one at once, who begins as if it had thought.
    #[inline]
    pub(crate) fn end_session(&mut self, place: u32, now_ns: u64) -> (bool, Change) {
        let over = self.is_life_over(place, now_ns);
        match &self.assignment.load.arrivals {
            // Also when the last one has arrived: the others live their lives to the end.
            Some(open) if over || self.stopping || open.arriving == Arriving::Operations => {
                (false, self.make_room(place, now_ns))
            }
            None if over => (true, self.renew_in_turn(place, now_ns)),
            _ => (true, Change::None),
        }
    }

    /// The next arrival that is due and finds a place.
    pub(crate) fn admit(&mut self, now_ns: u64) -> Admission {
        let Some(gate) = &mut self.gate else { return Admission::Waits };
        let entry = if self.stopping { Entry::Over } else { gate.next(now_ns) };
        let (arrival, place, waited) = match entry {
            Entry::Arrival(arrival, place, waited) => (arrival, place, waited),
            Entry::NotBefore(at_ns) => {
                self.timers.set(gate.timer, at_ns);
                return Admission::Waits;
            }
            Entry::Blocked => return Admission::Waits,
            Entry::Over => return Admission::Over,
        };
        let stays = gate.keeps && self[place].life_end != 0 && !self.is_life_over(place, now_ns);
        let change = if stays { Change::None } else { self.renew(place, arrival.number, now_ns) };
        self.present += 1;
        let user = &mut self[place];
        user.intended_ns = arrival.at_ns;
        user.doing = Doing::Thinking(None);
        // Who waited for a place is not late by the generator's fault: that is told by a count of its own.
        let due_ns = if waited { now_ns } else { arrival.at_ns };
        Admission::Enters { place, due_ns, waited, change }
    }

    /// No more arrivals: the run ends with the users who are there. The number of those who still waited.
    pub(crate) fn close_gate(&mut self, now_ns: u64) -> u64 {
        let Some(gate) = self.gate.take() else { return 0 };
        self.timers.cancel(gate.timer);
        self.present -= 1;
        gate.count_waiting(now_ns)
    }

    /// A user goes for good.
    pub(crate) fn leave(&mut self, place: u32) -> Change {
        if self[place].doing == Doing::Gone {
            return Change::None;
        }
        self.stand_empty(place);
        Change::Gone
    }

    fn stand_empty(&mut self, place: u32) {
        self[place].doing = Doing::Gone;
        self.timers.cancel(place);
        self.present -= 1;
    }

    /// The session of an arrival is over, and with it the user's stay.
    fn make_room(&mut self, place: u32, now_ns: u64) -> Change {
        let Some(gate) = &mut self.gate else { return self.leave(place) };
        if gate.free(place, now_ns) {
            // By the timer, not at once: a backlog of sessions that ask for nothing must not pile up on the stack.
            self.timers.set(gate.timer, now_ns);
        }
        if !gate.keeps {
            return self.leave(place);
        }
        self.stand_empty(place);
        Change::None
    }

    /// The place is not to be taken for now: when the stages ask for it again, a new user comes.
    fn vacate(&mut self, place: u32, now_ns: u64) -> Change {
        let index = self.global_index(place);
        let returns = !self.stopping && self.asked.is_none();
        let next = self.assignment.schedule.stay_after(index, now_ns).filter(|_| returns);
        let Some((from_ns, until_ns)) = next else { return self.leave(place) };
        let from_ns = from_ns.max(now_ns);
        let change = self.renew_in_turn(place, from_ns);
        let user = &mut self[place];
        user.doing = Doing::Thinking(None);
        (user.intended_ns, user.leave_ns) = (from_ns, until_ns);
        self.timers.set(place, from_ns);
        change
    }

    /// In the closed model, the next user of a place is numbered beyond those of all places.
    fn renew_in_turn(&mut self, place: u32, now_ns: u64) -> Change {
        let person = self[place].person.wrapping_add(self.assignment.users);
        self.renew(place, person, now_ns)
    }

    /// A new user takes the place: number, cookies, table, random stream and connections are its own.
    fn renew(&mut self, place: u32, person: u32, now_ns: u64) -> Change {
        let (seed, open, lifetime) = (self.assignment.seed, self.are_arriving(), self.lifetime);
        let user = &mut self[place];
        user.person = person;
        user.stream = Stream::new(seed, u64::from(person));
        if open {
            // Its unique numbers are those of its own arrival, not of the place that it happens to find free.
            user.uniques = 0;
        }
        user.user_state = None;
        user.mix_state = FRESH;
        user.life_began_ns = now_ns;
        user.life_end = life_end(lifetime, user, now_ns);
        Change::Renewed
    }

    /// The user has lived as long as it was to.
    fn is_life_over(&self, place: u32, now_ns: u64) -> bool {
        let user = &self[place];
        match self.lifetime {
            None => false,
            Some(Lifetime::Sessions(_)) => u64::from(user.sessions) >= user.life_end,
            Some(Lifetime::Operations(_)) => u64::from(user.operations) >= user.life_end,
            Some(Lifetime::Seconds(_)) => now_ns >= user.life_end,
        }
    }
}

/// A place's first user; nobody in the open model.
fn first_user(assignment: &Assignment, lifetime: Option<Lifetime>, index: u32) -> User {
    let open = assignment.is_open();
    // A place of the open model is empty, and who takes it stays as long as there is something to do.
    let stay = if open { None } else { assignment.schedule.stay_after(index, 0) };
    let (intended_ns, leave_ns) = stay.unwrap_or((0, u64::MAX));
    // One that may be asked for by hand, and is not there at first.
    let empty = open || (stay.is_none() && assignment.load.by_hand.is_some());
    let mut user = User {
        stream: Stream::new(assignment.seed, u64::from(index)),
        doing: if empty { Doing::Gone } else { Doing::Thinking(None) },
        presence: None,
        user_state: None,
        sessions: 0,
        operations: 0,
        uniques: 0,
        mix_state: FRESH,
        pause: None,
        person: index,
        life_began_ns: intended_ns,
        life_end: 0,
        leave_ns,
        intended_ns,
    };
    if !empty {
        user.life_end = life_end(lifetime, &mut user, intended_ns);
    }
    user
}

/// When the life of a user that begins now is over, in the lifetime's own unit.
fn life_end(lifetime: Option<Lifetime>, user: &mut User, now_ns: u64) -> u64 {
    let Some(lifetime) = lifetime else { return u64::MAX };
    let drawn = lifetime.distribution().sample(user.stream.unit());
    match lifetime {
        Lifetime::Sessions(_) => u64::from(user.sessions) + (drawn.round() as u64).max(1),
        Lifetime::Operations(_) => u64::from(user.operations) + (drawn.round() as u64).max(1),
        Lifetime::Seconds(_) => now_ns + nanos(drawn).max(1),
    }
}

#[cfg(test)]
mod tests {
    use model::catalogue::load::{Arrivals, Load, Pattern};

    use super::*;
    use crate::schedule::Schedule;

    const MS: u64 = 1_000_000;

    fn one_place(load: Load) -> Users {
        let schedule = Schedule::new(&load);
        let (max_sessions, total_sessions) = (None, None);
        let (lane, lanes, users, people, seed) = (0, 1, 1, 1_000, 5);
        Users::new(Assignment {
            lane,
            lanes,
            users,
            people,
            load,
            schedule,
            seed,
            max_sessions,
            total_sessions,
        })
    }

    #[test]
    fn who_finds_no_place_waits_for_one_and_is_counted_when_the_gate_closes() {
        let (pattern, arriving) = (Pattern::Constant, Arriving::Sessions);
        let arrivals = Some(Arrivals { pattern, arriving, from_per_s: 10.0, to_per_s: 10.0 });
        let mut users = one_place(Load { users: 1, arrivals, steady_s: 100.0, ..Load::default() });
        let Admission::Enters { place: 0, due_ns: 0, waited: false, .. } = users.admit(50 * MS) else {
            panic!("the first one finds the place");
        };
        users[0].sessions += 1;
        assert!(matches!(users.admit(150 * MS), Admission::Waits), "the second one is due and finds none");
        assert_eq!(users.end_session(0, 200 * MS), (false, Change::Gone));
        let entered = users.admit(200 * MS);
        let Admission::Enters { due_ns, waited: true, change: Change::Renewed, .. } = entered else {
            panic!("it has waited for the place");
        };
        assert_eq!(due_ns, 200 * MS, "that is not the generator's lag");
        assert!(matches!(users.admit(250 * MS), Admission::Waits));
        assert_eq!(users.close_gate(450 * MS), 3, "those of 200, 300 and 400 ms");
        assert_eq!((users.leave(0), users.leave(0)), (Change::Gone, Change::None));
        assert!(users.all_gone());
    }

    #[test]
    fn a_user_whose_life_is_over_makes_way_for_the_next_one() {
        let lifetime = Some(Lifetime::Sessions(model::Distribution::Fixed { value: 2.0 }));
        let mut users = one_place(Load { users: 1, lifetime, steady_s: 100.0, ..Load::default() });
        assert_eq!(users.begin_due(0, 0, false), (true, Change::None));
        users[0].sessions += 1;
        assert_eq!(users.end_session(0, MS), (true, Change::None));
        assert_eq!(users.begin_due(0, 2 * MS, true), (true, Change::None));
        users[0].sessions += 1;
        assert_eq!(users.end_session(0, 3 * MS), (true, Change::Renewed));
        assert_eq!((users[0].person, users[0].life_began_ns), (1, 3 * MS));
        users.stop();
        assert_eq!(users.begin_due(0, 4 * MS, true), (false, Change::Gone));
    }
}
