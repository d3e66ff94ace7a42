//! Which part of the load is one thread's.

use model::catalogue::load::{Arriving, Lifetime, Load};

use crate::schedule::Schedule;

/// The users of one thread, as the run's options say.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    /// Which of the run's lanes is this thread's, 0-based.
    pub(crate) lane: usize,
    /// How many lanes there are, on whatever machines: users are dealt out to them in turn.
    pub(crate) lanes: usize,
    /// Places of users over all lanes.
    pub(crate) users: u32,
    /// Among how many unique numbers and rows are dealt out: places, or in the open model all who may arrive.
    pub(crate) people: u64,
    pub(crate) load: Load,
    pub(crate) schedule: Schedule,
    pub(crate) seed: u64,
    /// Each user leaves after this number of sessions.
    pub(crate) max_sessions: Option<u32>,
    /// The number of sessions after which all users together leave; in the open model the number of arrivals.
    pub(crate) total_sessions: Option<u64>,
}

impl Assignment {
    /// Whether users arrive by themselves: the open model.
    pub(super) fn is_open(&self) -> bool {
        self.load.arrivals.is_some()
    }

    /// A user's number over all threads, 0-based, by its number on this one.
    pub(super) fn global_index(&self, user: u32) -> u32 {
        user * self.lanes as u32 + self.lane as u32
    }

    /// The global numbers of the thread's places.
    pub(super) fn places(&self) -> impl Iterator<Item = u32> + use<> {
        (self.lane as u32..self.users).step_by(self.lanes)
    }

    /// Whether user `index`, 0-based over all threads, has done its share after that number of sessions.
    pub(super) fn is_share_done(&self, index: u32, sessions: u32) -> bool {
        let share = |all: u64| {
            let users = u64::from(self.users.max(1));
            all / users + u64::from(u64::from(index) < all % users)
        };
        self.max_sessions.is_some_and(|max| sessions >= max)
            || (!self.is_open() && self.total_sessions.is_some_and(|all| u64::from(sessions) >= share(all)))
    }

    /// How long a user lives. One who arrives stays for one session, if nothing else is said.
    pub(super) fn lifetime(&self) -> Option<Lifetime> {
        let arriving = self.load.arrivals.map(|open| open.arriving);
        let one = Lifetime::Sessions(model::Distribution::Fixed { value: 1.0 });
        self.load.lifetime.or((arriving == Some(Arriving::Sessions)).then_some(one))
    }
}
