//! What an agent does for its controller: one step after the other, each when it is wanted and the one before is done. It begins only
//! when all of a fleet do, and ends by itself when nobody is heard to want it any more.

use crate::lease::{Lease, MAX_BEACON_AGE_NS, Wish};
use crate::start::LAST_GO_NS;
use crate::want::{Beacon, Phase, Share, Standing, Want};

/// Longer leases are refused: for that time users would go on whom nobody wants.
const MAX_LEASE_S: u64 = 600;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Fetch and check the bundle, then say so with [`Duty::checked`] or [`Duty::failed`].
    Fetch {
        /// The run.
        run: String,
        /// The bundle's SHA-256.
        bundle: String,
    },
    /// Make the generator of that part ready, and what watches, then say so with [`Duty::armed`] or [`Duty::failed`].
    Arm(Share),
    /// Let the users come, and watch.
    Begin {
        /// When the first second begins, by this machine's CLOCK_MONOTONIC.
        at_ns: i64,
    },
    /// No new sessions. Who watches goes on.
    StopGently,
    /// Nothing goes out any more, and nobody watches; what was made ready is thrown away.
    StopAtOnce,
}

/// An agent's part in a run, and where it stands in it.
#[derive(Debug)]
struct Task {
    run: String,
    share: Share,
    standing: Standing,
    lease: Lease,
    /// Whether it was told to stop gently, or at once.
    stops: (bool, bool),
}

/// One agent in one of its lives.
#[derive(Debug)]
pub struct Duty {
    agent: String,
    incarnation: u64,
    /// The last beacon that was believed, by epoch and counter.
    last: (u64, u64),
    /// The last run in which it has begun: it has no second part in it.
    begun: Option<String>,
    task: Option<Task>,
}

impl Duty {
    /// Of an agent that has just begun.
    pub fn of(agent: &str, incarnation: u64) -> Duty {
        Duty { agent: agent.to_string(), incarnation, last: (0, 0), begun: None, task: None }
    }

    /// Where it stands, and in which run.
    pub fn standing(&self) -> (Option<&str>, Standing) {
        let task = self.task.as_ref();
        (task.map(|task| task.run.as_str()), task.map_or(Standing::Idle, |task| task.standing.clone()))
    }

    /// What is its in the run that it has a part in.
    pub fn share(&self) -> Option<&Share> {
        self.task.as_ref().map(|task| &task.share)
    }

    /// Whether it is of a controller that another one has replaced.
    pub fn is_outdated(&self, beacon: &Beacon) -> bool {
        beacon.epoch < self.last.0
    }

    /// A beacon came whose signature is right, at `now_ns` of this machine's CLOCK_MONOTONIC. What is to be done, if anything.
    pub fn hears(&mut self, now_ns: i64, beacon: &Beacon) -> Option<Act> {
        // One that came before, or of a controller that was replaced, says nothing.
        if (beacon.epoch, beacon.counter) <= self.last {
            return None;
        }
        let share = beacon.want.as_ref().and_then(|want| want.share_of(&self.agent, self.incarnation));
        let (Some(want), Some(share)) = (&beacon.want, share) else {
            self.last = (beacon.epoch, beacon.counter);
            return self.is_wanted_no_more();
        };
        let age_ns = now_ns.saturating_sub(share.here_ns(beacon.said_ns)).max(0) as u64;
        if age_ns > MAX_BEACON_AGE_NS {
            return None;
        }
        self.last = (beacon.epoch, beacon.counter);
        if self.task.as_ref().is_some_and(|task| task.run != want.run) {
            let act = self.is_wanted_no_more();
            // It ends what it does first; the other run is wanted in a second as well.
            if act.is_some() || self.task.is_some() {
                return act;
            }
        }
        let Some(task) = &mut self.task else { return self.takes_up(now_ns, beacon, want, share) };
        task.lease.beacon(now_ns.max(0) as u64, beacon.epoch, beacon.counter, age_ns);
        let act = task.is_wanted(now_ns, want.phase);
        if matches!(act, Some(Act::Begin { .. })) {
            self.begun = Some(want.run.clone());
        }
        act
    }

    fn takes_up(&mut self, now_ns: i64, beacon: &Beacon, want: &Want, share: Share) -> Option<Act> {
        // Whoever comes later than the beginning has no part in the run any more.
        let is_too_late = want.phase != Phase::Prepare || self.begun.as_ref() == Some(&want.run);
        if is_too_late || share.part.as_ref().is_some_and(|part| part.slice().is_none()) {
            return None;
        }
        let length_ns = want.lease_s.min(MAX_LEASE_S) * 1_000_000_000;
        let mut lease = Lease::begin(now_ns.max(0) as u64, length_ns, beacon.epoch);
        lease.beacon(now_ns.max(0) as u64, beacon.epoch, beacon.counter, 0);
        self.task = Some(Task {
            run: want.run.clone(),
            share,
            standing: Standing::Fetching,
            lease,
            stops: (false, false),
        });
        Some(Act::Fetch { run: want.run.clone(), bundle: want.bundle.clone() })
    }

    /// Its run is over for it: the controller wants another one, or none.
    fn is_wanted_no_more(&mut self) -> Option<Act> {
        let task = self.task.as_mut()?;
        match task.standing {
            Standing::Running => task.stop_at_once(),
            _ => {
                let has_something = task.has_something();
                self.task = None;
                has_something.then_some(Act::StopAtOnce)
            }
        }
    }

    /// The bundle is there and what it should be.
    pub fn checked(&mut self) {
        self.goes_on(&Standing::Fetching, Standing::Checked);
    }

    /// The generator's threads stand ready.
    pub fn armed(&mut self) {
        self.goes_on(&Standing::Arming, Standing::Armed);
    }

    /// The last user has gone.
    pub fn ended(&mut self) {
        self.goes_on(&Standing::Running, Standing::Ended);
    }

    /// It can't do what is wanted.
    pub fn failed(&mut self, why: &str) {
        if let Some(task) = &mut self.task {
            task.standing = Standing::Failed { why: why.to_string() };
        }
    }

    fn goes_on(&mut self, from: &Standing, to: Standing) {
        if let Some(task) = self.task.as_mut().filter(|task| task.standing == *from) {
            task.standing = to;
        }
    }

    /// What is to be done at `now_ns` though nobody said anything. To be asked for a few times a second.
    pub fn passes(&mut self, now_ns: i64) -> Option<Act> {
        let task = self.task.as_mut()?;
        if let Standing::Agreed { at_ns } = task.standing
            && now_ns >= task.share.here_ns(at_ns) - LAST_GO_NS
        {
            task.standing = Standing::Missed;
            return Some(Act::StopAtOnce);
        }
        match task.lease.wish(now_ns.max(0) as u64) {
            Wish::Run { .. } => None,
            Wish::StopGently if task.standing == Standing::Running => task.stop_gently(),
            Wish::StopAtOnce if task.standing == Standing::Running => task.stop_at_once(),
            Wish::StopGently => None,
            Wish::StopAtOnce => self.is_wanted_no_more(),
        }
    }
}

impl Share {
    /// A time of the controller's clock by this machine's.
    fn here_ns(&self, controller_ns: i64) -> i64 {
        controller_ns.saturating_add(self.offset_ns)
    }
}

impl Task {
    fn is_wanted(&mut self, now_ns: i64, phase: Phase) -> Option<Act> {
        match (&self.standing, phase) {
            (Standing::Checked, Phase::Arm) => {
                self.standing = Standing::Arming;
                Some(Act::Arm(self.share.clone()))
            }
            (Standing::Armed, Phase::Set { at_ns }) => {
                self.standing = Standing::Agreed { at_ns };
                None
            }
            (Standing::Agreed { at_ns: agreed_ns }, Phase::Go { at_ns }) if *agreed_ns == at_ns => {
                let at_ns = self.share.here_ns(at_ns);
                let is_late = now_ns >= at_ns - LAST_GO_NS;
                self.standing = if is_late { Standing::Missed } else { Standing::Running };
                Some(if is_late { Act::StopAtOnce } else { Act::Begin { at_ns } })
            }
            (Standing::Running, Phase::Stop) => self.stop_gently(),
            (Standing::Running, Phase::Abort | Phase::Over) => self.stop_at_once(),
            (_, Phase::Abort) if self.has_something() => {
                self.standing = Standing::Ended;
                Some(Act::StopAtOnce)
            }
            _ => None,
        }
    }

    /// A bundle or a generator that would have to be thrown away.
    fn has_something(&self) -> bool {
        !matches!(self.standing, Standing::Ended | Standing::Missed | Standing::Failed { .. })
    }

    fn stop_gently(&mut self) -> Option<Act> {
        let is_told = std::mem::replace(&mut self.stops.0, true);
        (!is_told).then_some(Act::StopGently)
    }

    fn stop_at_once(&mut self) -> Option<Act> {
        let is_told = std::mem::replace(&mut self.stops.1, true);
        (!is_told).then_some(Act::StopAtOnce)
    }
}

#[cfg(test)]
mod tests;
