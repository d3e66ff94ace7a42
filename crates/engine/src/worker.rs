//! One thread of the generator: its users, their connections and scripts, and what it records. Nothing is shared with
//! other threads while it runs.
//!
//! A user's life, each step an event of its one timer or of one of its connections:
//!
//! | doing | event | next |
//! |---|---|---|
//! | Thinking | timer (the intended start) | a session starts; its script runs to its first request |
//! | Waiting | answer complete | the script goes on: Waiting, Pausing, or the session ends: Thinking |
//! | Waiting | timer (time-out), connection lost | the operation and the session fail: Thinking |
//! | Served | timer (at once) | the script goes on: nothing had to be asked for |
//! | Pausing | timer | the script goes on |
//! | any | the user's time to leave, at the next session's start | Gone |
//! | any | the end of the drain | Gone, its operation of unknown outcome |
//!
//! [`Users`] knows who is there and when something is due, [`Connections`] what goes over the wire; here the one leads
//! to the other.

mod answers;
mod follow;
mod reports;
mod requests;
mod sessions;

use std::cell::RefCell;
use std::rc::Rc;

pub(crate) use reports::{Outbox, Report};

use model::{Problem, Result};

use crate::clock::Clock;
use crate::connections::Connections;
use crate::control::{Control, Stop};
use crate::http::redirect::Origin;
use crate::http::request::Preamble;
use crate::lendable::Lendable;
use crate::program::Program;
use crate::recorder::Recorder;
use crate::scenario::{ConnectionPolicy, Resend, Scenario};
use crate::schedule::nanos;
use crate::script::page::Pages;
use crate::target::Target;
use crate::time_slices::Seat;
use crate::tls::TlsSetup;
use crate::transport::{Ready, Transport};
use crate::users::{Assignment, Doing, Users};
use reports::Reports;
use sessions::Sessions;

/// The generator looks at its own lateness this often.
const PROBE_NS: u64 = 10_000_000;

/// At the end of a time slice answers are waited for, for this part of a slice at most.
const MAX_DRAIN_SHARE: u64 = 4;

/// What a worker is made from, beside its users.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) target: &'a Target,
    pub(crate) tracing: bool,
    /// After the ramp-down, sessions under way may take this long to end.
    pub(crate) drain_ns: u64,
}

/// One thread of the generator.
pub(crate) struct Worker<C: Clock, T: Transport> {
    clock: C,
    /// The time of the event under way, as last read.
    now_ns: u64,
    /// Seconds since 1970 at the run's start.
    epoch_s: i64,
    end_ns: u64,
    drain_ns: u64,
    users: Users,
    connections: Connections<T>,
    program: Program,
    sessions: Sessions,
    /// A session that has its turn has it.
    recorder: Lendable<Recorder>,
    reports: Reports,
    /// The answers, which sessions look at.
    pages: Rc<RefCell<Pages>>,
    preamble: Preamble,
    /// What redirects are relative to; absent when the target's name is not one that a URL can have.
    origin: Option<Origin>,
    /// An answer must be complete within this.
    timeout_ns: u64,
    resend: Resend,
    /// Users' caches take what doesn't say for how long it is fresh to be so for a tenth of its age.
    heuristic_freshness: bool,
    /// The slice is over: sessions go on when the next one begins.
    resting: bool,
}

impl<C: Clock, T: Transport> Worker<C, T> {
    /// Compiles the scenario and makes room for everything that the run needs.
    pub(crate) fn arm(
        clock: C,
        transport: T,
        setup: Setup<'_>,
        assignment: Assignment,
        outbox: Outbox,
    ) -> Result<Worker<C, T>> {
        let Setup { scenario, target, tracing, drain_ns } = setup;
        let tls = target.tls.as_ref().map(TlsSetup::new).transpose()?;
        let origin = Origin::new(tls.is_some(), &target.host).ok();
        let close = scenario.connections == ConnectionPolicy::PerRequest;
        let preamble = Preamble::new(&target.host, tls.is_some(), close);
        let pages = Rc::new(RefCell::new(Pages::new(origin.clone())));
        let program = Program::compile(&scenario.program, (assignment.users, assignment.people), &pages)?;
        let mut recorder = Recorder::new(tracing);
        recorder.watch_waiting(scenario.waiting_over_s);
        let sessions = Sessions::new(scenario, &mut recorder);
        let (reports, end_ns) = (Reports::new(outbox), assignment.schedule.end_ns());
        let users = Users::new(assignment);
        let places = users.places() as usize;
        let connections = Connections::new(transport, tls, scenario.connections, places, Rc::clone(&pages));
        Ok(Worker {
            clock,
            now_ns: 0,
            epoch_s: epoch_s(),
            end_ns,
            drain_ns,
            users,
            connections,
            program,
            sessions,
            recorder: Lendable::new(recorder),
            reports,
            pages,
            preamble,
            origin,
            timeout_ns: nanos(scenario.timeout_s),
            resend: scenario.resend,
            heuristic_freshness: scenario.heuristic_freshness,
            resting: false,
        })
    }

    /// Runs until every user has gone; where it has a seat in time slices, in those.
    pub(crate) fn run(mut self, control: &Control, seat: Option<Seat>) -> Result<()> {
        let (mut ready, mut due) = (Vec::<Ready>::new(), Vec::new());
        let mut probe_ns = PROBE_NS;
        let slice_ns = seat.as_ref().map_or(u64::MAX, Seat::slice_ns);
        let mut slice_ends_ns = slice_ns;
        let mut cut_ns = self.end_ns + self.drain_ns;
        while !self.users.all_gone() {
            let now_ns = self.now();
            if !self.users.is_stopping() && (control.stop() != Stop::No || now_ns >= self.end_ns) {
                cut_ns = cut_ns.min(now_ns + self.drain_ns);
                self.users.stop();
                self.send_thinkers_home(now_ns);
            }
            if now_ns >= cut_ns || control.stop() == Stop::AtOnce {
                self.cut_all();
                break;
            }
            if let Some(seat) = seat.as_ref().filter(|_| now_ns >= slice_ends_ns) {
                self.rest(seat, &mut ready)?;
                slice_ends_ns = self.now() + slice_ns;
                continue;
            }
            while probe_ns <= now_ns {
                self.recorder.probe(now_ns - probe_ns, PROBE_NS);
                probe_ns += PROBE_NS;
                self.change_users(control);
            }
            self.users.expire(now_ns, &mut due);
            for (user, deadline_ns) in due.drain(..) {
                self.timer(user, deadline_ns);
            }
            self.reports.send_traces(&mut self.recorder);
            let phase_ns = if self.users.is_stopping() { cut_ns } else { self.end_ns };
            let until_ns = self.users.next_timer_ns().unwrap_or(u64::MAX).min(probe_ns).min(phase_ns);
            if !self.users.all_gone() {
                self.wait(until_ns.min(slice_ends_ns), &mut ready)?;
            }
            for event in ready.drain(..) {
                self.connection_ready(&event);
            }
        }
        let ended_ns = self.now();
        let promises = self.program.take_promises();
        self.reports.finish(ended_ns, &mut self.recorder, promises);
        Ok(())
    }

    fn wait(&mut self, until_ns: u64, ready: &mut Vec<Ready>) -> Result<()> {
        self.connections.wait(until_ns, ready).map_err(|error| {
            Problem::environment(format!("failed to wait for the network: {error}"))
                .why("the generator can't go on without it")
                .into()
        })
    }

    /// The slice is over: nothing begins any more, answers on their way are waited for, and the clock stands still until it
    /// is this run's turn again.
    fn rest(&mut self, seat: &Seat, ready: &mut Vec<Ready>) -> Result<()> {
        self.resting = true;
        let latest_ns = self.now_ns + seat.slice_ns() / MAX_DRAIN_SHARE;
        while self.users.waiting() > 0 && self.now() < latest_ns {
            self.wait(latest_ns, ready)?;
            for event in ready.drain(..) {
                self.connection_ready(&event);
            }
        }
        self.resting = false;
        self.clock.leave_out(seat.rest(self.users.waiting()));
        Ok(())
    }

    /// The current time. Every second that ended before it has been handed over: what is recorded from now on belongs
    /// to the second under way.
    fn now(&mut self) -> u64 {
        self.now_ns = self.clock.now_ns();
        if self.now_ns >= self.recorder.boundary_ns() {
            self.reports.end_seconds(self.now_ns, &mut self.recorder);
        }
        self.now_ns
    }

    /// Seconds since 1970.
    fn now_s(&self) -> i64 {
        self.epoch_s + (self.now_ns / 1_000_000_000) as i64
    }

    /// A program has run: a script may have computed for a while.
    fn time_has_passed(&mut self) {
        if self.program.computes() {
            self.now();
        }
    }

    fn timer(&mut self, user: u32, deadline_ns: u64) {
        if user >= self.users.places() {
            return self.admit();
        }
        match self.users[user].doing {
            Doing::Thinking(since_ns) => self.begin_session(user, deadline_ns, since_ns),
            Doing::Pausing => self.wake(user, deadline_ns),
            Doing::Waiting => self.time_out(user),
            Doing::Served => {
                self.now();
                self.deliver(user);
            }
            Doing::Gone => {}
        }
    }
}

/// What the machine's wall clock says; 1970 when it stands before that.
fn epoch_s() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}
