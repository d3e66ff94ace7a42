//! One thread of the generator: its users, its timers, its connections, its scripts. Nothing is shared with other
//! threads while it runs.
//!
//! A user's life, each step an event of its one timer or its one connection:
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

mod answers;
mod asking;
mod batch;
mod comings;
mod follow;
mod pausing;
mod secure;
mod visits;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender};

use batch::Batch;
use comings::Gate;
use mlua::Thread;
use model::Interval;
use model::load::{Arriving, Lifetime, Load};
use model::{Problem, Result};
use pausing::{Pace, Pause};

use crate::belongings::Belongings;
use crate::clock::Clock;
use crate::connection::{Connection, Exchange, NO_CONNECTION};
use crate::control::{Control, Stop};
use crate::http::redirect::Origin;
use crate::http::request::Preamble;
use crate::mix::{Chooser, FRESH};
use crate::program::Program;
use crate::random::Stream;
use crate::recorder::SecondReport;
use crate::scenario::{ConnectionPolicy, Scenario};
use crate::schedule::{Schedule, nanos};
use crate::script::calls::SharedHost;
use crate::script::host::Host;
use crate::target::Tls;
use crate::tls::TlsSetup;
use crate::trace::Trace;
use crate::transport::{Ready, Transport};
use crate::usage::ThreadUsage;
use crate::visit::Visit;
use crate::wheel::Wheel;

/// The generator looks at its own lateness this often.
const PROBE_NS: u64 = 10_000_000;
/// One read takes at most this much.
const RECEIVE_BYTES: usize = 256 * 1024;

/// What a worker is made from.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    /// This thread's number, 0-based.
    pub(crate) worker: usize,
    /// How many threads there are: users are dealt out in turn.
    pub(crate) workers: usize,
    /// Places of users over all threads.
    pub(crate) users: u32,
    /// Among how many unique numbers and rows are dealt out: places, or in the open model all who may arrive.
    pub(crate) people: u64,
    pub(crate) load: Load,
    pub(crate) schedule: Schedule,
    pub(crate) seed: u64,
    pub(crate) host_name: String,
    /// How the target is spoken to privately, if it is.
    pub(crate) encrypted: Option<Tls>,
    pub(crate) tracing: bool,
    /// Each user leaves after so many sessions.
    pub(crate) most_sessions: Option<u32>,
    /// The number of sessions after which all users together leave; in the open model the number of arrivals.
    pub(crate) sessions_in_all: Option<u64>,
    /// After the ramp-down, sessions under way may take this long to end.
    pub(crate) drain_ns: u64,
}

impl Assignment {
    /// Whether user `index`, 0-based over all threads, has done its share after so many sessions.
    pub(crate) fn sated(&self, index: u32, sessions: u32) -> bool {
        let share = |all: u64| {
            let users = u64::from(self.users.max(1));
            all / users + u64::from(u64::from(index) < all % users)
        };
        self.most_sessions.is_some_and(|most| sessions >= most)
            || (self.load.arrivals.is_none()
                && self.sessions_in_all.is_some_and(|all| u64::from(sessions) >= share(all)))
    }
}

/// What a worker tells.
#[derive(Debug)]
pub(crate) enum Report {
    Second(usize, Box<SecondReport>),
    Traces(Vec<Trace>),
    /// What its users were told last of each thing, nothing for what is gone; and the things of which nobody knows.
    Told(BTreeMap<String, Option<String>>, BTreeSet<String>),
    /// All its users have gone; nothing more comes.
    Finished(usize),
    /// When it stopped; nanoseconds since the run's start.
    Ended(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// Between sessions since then; absent before the first one.
    Thinking(Option<u64>),
    Waiting,
    /// All that it asked for is there, without a request.
    Served,
    Pausing,
    Gone,
}

struct Presence {
    visit: Box<Visit>,
    thread: Option<Thread>,
    batch: Batch,
}

struct User {
    stream: Stream,
    doing: Doing,
    presence: Option<Box<Presence>>,
    belongings: Option<Box<Belongings>>,
    /// The first of its connections.
    connections: u32,
    sessions: u32,
    /// Operations so far, in this place.
    operations: u32,
    uniques: u32,
    /// The user's number over all threads, 0-based: other than its place's once the first user has gone.
    person: u32,
    /// When the user's life began: of the closed model's first users, when they are to come.
    life_began_ns: u64,
    /// When its life is over, in the lifetime's own unit; 0 before its first user.
    life_end: u64,
    /// From when on it begins no new session.
    leave_ns: u64,
    /// Where the user stands in the mix.
    mix_state: u16,
    /// The pause that it is in; none before its first session, nor after one that failed.
    pause: Option<Pause>,
    /// The intended start of the session under way or to come.
    intended_ns: u64,
}

/// Where a worker's reports go, and where emptied intervals come back.
#[derive(Debug)]
pub(crate) struct Outbox {
    pub(crate) reports: SyncSender<Report>,
    pub(crate) spare: Receiver<Interval>,
}

/// One thread of the generator.
pub(crate) struct Worker<C: Clock, T: Transport> {
    clock: C,
    transport: T,
    scenario: Scenario,
    assignment: Assignment,
    chooser: Chooser,
    pace: Pace,
    session_rows: Vec<crate::recorder::Row>,
    host: SharedHost,
    program: Program,
    session_names: Vec<String>,
    wheel: Wheel,
    users: Vec<User>,
    /// Users who are there or will be, and the gate while it is open.
    present: usize,
    /// Where arrivals come in; absent in the closed model.
    gate: Option<Gate>,
    lifetime: Option<Lifetime>,
    connections: Vec<Connection>,
    free_connections: Vec<u32>,
    /// Free from the next wait on: events that the last one told may still name them.
    closed_connections: Vec<u32>,
    #[expect(clippy::vec_box, reason = "a connection holds its exchange by pointer: idle ones are small")]
    spare_exchanges: Vec<Box<Exchange>>,
    #[expect(clippy::vec_box, reason = "the host and the user hand it to one another by pointer")]
    spare_visits: Vec<Box<Visit>>,
    preamble: Preamble,
    /// What redirects are relative to; absent when the target's name is not one that a URL can have.
    origin: Option<Origin>,
    /// Seconds since 1970 at the run's start.
    epoch_s: i64,
    receive_buffer: Box<[u8]>,
    /// What the last encrypted bytes said.
    plain: Vec<u8>,
    tls: Option<TlsSetup>,
    timeout_ns: u64,
    stopping: bool,
    outbox: Outbox,
    usage: ThreadUsage,
    boundary_ns: u64,
    /// The time of the event under way, as last read.
    now_ns: u64,
}

impl<C: Clock, T: Transport> Worker<C, T> {
    /// Compiles the scenario and makes room for everything that the run needs.
    pub(crate) fn arm(
        clock: C,
        transport: T,
        scenario: &Scenario,
        assignment: Assignment,
        outbox: Outbox,
    ) -> Result<Worker<C, T>> {
        let close = scenario.connections == ConnectionPolicy::PerRequest;
        let tls = assignment.encrypted.as_ref().map(TlsSetup::new).transpose()?;
        let origin = Origin::new(tls.is_some(), &assignment.host_name).ok();
        let preamble = Preamble::new(&assignment.host_name, tls.is_some(), close);
        let host = Rc::new(RefCell::new(Host::new(assignment.users, assignment.people, assignment.tracing)));
        host.borrow().pages.borrow_mut().origin = origin.clone();
        let program = Program::compile(&scenario.program, &host)?;
        let mix = scenario.mix();
        let session_names = mix.names.clone();
        let lifetime = lifetime(&assignment.load);
        let mine = (assignment.worker as u32..assignment.users).step_by(assignment.workers);
        let users: Vec<User> = mine.map(|index| place(&assignment, lifetime, index)).collect();
        let mut wheel = Wheel::new(users.len() + 1);
        let gate = Gate::of(&assignment, users.len() as u32);
        match &gate {
            Some(gate) => wheel.set(gate.timer, gate.due_ns()),
            None => {
                let places = users.iter().enumerate();
                places.for_each(|(user, state)| wheel.set(user as u32, state.intended_ns));
            }
        }
        let (boundary_ns, session_rows) = {
            let recorder = &mut host.borrow_mut().recorder;
            recorder.expect_choices(mix.cells());
            recorder.expect_pauses(mix.names.len());
            recorder.watch_waiting(scenario.waiting_over_s);
            let row = |name: &String| recorder.row(model::OperationKind::Session, name.as_bytes());
            let rows = session_names.iter().map(row).collect();
            (recorder.boundary_ns(), rows)
        };
        Ok(Worker {
            clock,
            transport,
            chooser: Chooser::of(&mix),
            pace: Pace::of(scenario, &mix.names),
            session_names,
            session_rows,
            timeout_ns: nanos(scenario.timeout_s),
            scenario: scenario.clone(),
            assignment,
            program,
            wheel,
            present: if gate.is_some() { 1 } else { users.len() },
            gate,
            lifetime,
            users,
            connections: Vec::new(),
            free_connections: Vec::new(),
            closed_connections: Vec::new(),
            spare_exchanges: Vec::new(),
            spare_visits: Vec::new(),
            preamble,
            origin,
            epoch_s: epoch_s(),
            now_ns: 0,
            receive_buffer: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            plain: Vec::new(),
            tls,
            stopping: false,
            boundary_ns,
            host,
            outbox,
            usage: ThreadUsage::of_this_thread(),
        })
    }

    /// Runs until every user has gone.
    pub(crate) fn run(mut self, control: &Control) -> Result<()> {
        let (mut ready, mut due) = (Vec::<Ready>::new(), Vec::new());
        let mut probe_ns = PROBE_NS;
        let end_ns = self.assignment.schedule.end_ns();
        let mut cut_ns = end_ns + self.assignment.drain_ns;
        while self.present > 0 {
            let now_ns = self.now();
            if control.stop() != Stop::No && !self.stopping {
                self.stopping = true;
                cut_ns = cut_ns.min(now_ns + self.assignment.drain_ns);
                self.send_thinkers_home(now_ns);
            }
            if now_ns >= end_ns && !self.stopping {
                self.stopping = true;
                self.send_thinkers_home(now_ns);
            }
            if now_ns >= cut_ns || control.stop() == Stop::AtOnce {
                self.cut_all();
                break;
            }
            while probe_ns <= now_ns {
                self.host.borrow_mut().recorder.probe(now_ns - probe_ns, PROBE_NS);
                probe_ns += PROBE_NS;
            }
            self.wheel.expire(now_ns, &mut due);
            for (user, deadline_ns) in due.drain(..) {
                self.timer(user, deadline_ns);
            }
            self.send_traces();
            let phase_ns = if self.stopping { cut_ns } else { end_ns };
            let until_ns = self.wheel.next_ns().unwrap_or(u64::MAX).min(probe_ns).min(phase_ns);
            if self.present > 0 {
                self.transport.wait(until_ns, &mut ready).map_err(|error| {
                    Problem::environment(format!("failed to wait for the network: {error}"))
                        .why("the generator can't go on without it")
                })?;
            }
            for event in ready.drain(..) {
                self.connection_ready(event);
            }
            self.free_connections.append(&mut self.closed_connections);
        }
        self.send_traces();
        let ended_ns = self.now();
        self.end_seconds(self.boundary_ns);
        let (told, unknown) = self.host.borrow_mut().told.take();
        let _ = self.outbox.reports.send(Report::Told(told, unknown));
        let _ = self.outbox.reports.send(Report::Ended(ended_ns));
        Ok(())
    }

    /// The current time. Every second that ended before it has been handed over: what is recorded from now on belongs
    /// to the second under way.
    fn now(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        if now_ns >= self.boundary_ns {
            self.end_seconds(now_ns);
        }
        self.now_ns = now_ns;
        now_ns
    }

    /// Seconds since 1970.
    fn now_s(&self) -> i64 {
        self.epoch_s + (self.now_ns / 1_000_000_000) as i64
    }

    /// A program has run: a script may have computed for a while.
    fn time_has_passed(&mut self) {
        if matches!(self.program, Program::Script(_)) {
            self.now();
        }
    }

    fn end_seconds(&mut self, now_ns: u64) {
        let mut host = self.host.borrow_mut();
        while host.recorder.boundary_ns() <= now_ns {
            while let Ok(interval) = self.outbox.spare.try_recv() {
                host.recorder.recycle(interval);
            }
            let mut report = host.recorder.end_second();
            let (cpu_s, wait_s) = self.usage.since_last();
            report.interval.generator_cpu_s = cpu_s;
            report.interval.busiest_thread_cpu_s = cpu_s;
            report.interval.generator_wait_s = wait_s;
            // The collector outlives its workers; were it gone, nobody would be there to be told.
            let _ = self.outbox.reports.send(Report::Second(self.assignment.worker, Box::new(report)));
        }
        self.boundary_ns = host.recorder.boundary_ns();
    }

    fn send_traces(&mut self) {
        if let Some(traces) = self.host.borrow_mut().traces.as_mut().filter(|traces| !traces.is_empty()) {
            let _ = self.outbox.reports.send(Report::Traces(std::mem::take(traces)));
        }
    }

    fn timer(&mut self, user: u32, deadline_ns: u64) {
        if user as usize >= self.users.len() {
            return self.admit();
        }
        match self.users[user as usize].doing {
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

/// How long a user lives. One who arrives stays for one session, if nothing else is said.
fn lifetime(load: &Load) -> Option<Lifetime> {
    let arriving = load.arrivals.map(|open| open.arriving);
    let one = Lifetime::Sessions(model::Distribution::Fixed { value: 1.0 });
    load.lifetime.or((arriving == Some(Arriving::Sessions)).then_some(one))
}

/// A place: in the closed model with its first user, who comes when it is time.
fn place(assignment: &Assignment, lifetime: Option<Lifetime>, index: u32) -> User {
    let open = assignment.load.arrivals.is_some();
    // A place of the open model is empty, and who takes it stays as long as there is something to do.
    let stay = if open { None } else { assignment.schedule.stay_after(index, 0) };
    let (intended_ns, leave_ns) = stay.unwrap_or((0, u64::MAX));
    let mut user = User {
        stream: Stream::new(assignment.seed, u64::from(index)),
        doing: if open { Doing::Gone } else { Doing::Thinking(None) },
        presence: None,
        belongings: None,
        connections: NO_CONNECTION,
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
    if !open {
        user.life_end = comings::life_end(lifetime, &mut user, intended_ns);
    }
    user
}
