//! A run from the outside: scenario, load and target in, merged seconds out.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use model::record::plan::Load;
use model::{Problem, Problems, Result};

use crate::barrier::Barrier;
use crate::clock::{Clock, MonotonicClock};
use crate::collector::{Collector, Second, Totals};
use crate::control::{Control, Stop};
use crate::preflight::{self, Needs};
use crate::scenario::Scenario;
use crate::schedule::{Schedule, nanos};
use crate::target::Target;
use crate::time_slices::Share;
use crate::trace::Trace;
use crate::transport::Transport;
use crate::transport::epoll::EpollTransport;
use crate::users::Assignment;
use crate::worker::{Outbox, Report, Setup, Worker};

/// Between "armed" and the first user's start.
const RUN_UP: Duration = Duration::from_millis(20);

/// What a run needs.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// What the users do.
    pub scenario: Scenario,
    /// How many users, and for how long.
    pub load: Load,
    /// Where the stack answers.
    pub target: Target,
    /// One thread on each of these CPUs; the list is not empty.
    pub cpus: Vec<usize>,
    /// Each user leaves after this number of sessions, if given.
    pub max_sessions: Option<u32>,
    /// The number of sessions of all users together, if given, dealt out to the users as evenly as whole numbers allow;
    /// with arrivals the number of these. The run ends with the last one.
    pub total_sessions: Option<u64>,
    /// After the ramp-down, or after a gentle stop, sessions under way may take this long to end; seconds.
    pub drain_s: f64,
    /// Tell every step of every user: for `try`, never for a measurement.
    pub tracing: bool,
    /// The run takes turns with others; absent where it has the machine to itself.
    pub share: Option<Share>,
    /// The part of the load that is this generator's, where others have the rest; absent where it has all of it.
    pub slice: Option<Slice>,
    /// Where it waits for others with which it has to begin; absent where it begins when all threads are armed.
    pub barrier: Option<Barrier>,
}

/// Some of a run's lanes. Users and arrivals are dealt out to the lanes in turn, and each lane is one thread's; so who is in which
/// lane depends on their number alone, and not on how many generators share them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// The first lane, 0-based.
    pub first: u32,
    /// How many from there on; at least one.
    pub lanes: u32,
    /// How many lanes the whole run has; no more than its load has places.
    pub all: u32,
}

impl RunOptions {
    /// One thread on the first CPU, nothing traced, half a minute for sessions under way at the end.
    pub fn of(scenario: Scenario, load: Load, target: impl Into<Target>) -> RunOptions {
        RunOptions {
            scenario,
            load,
            target: target.into(),
            cpus: vec![0],
            max_sessions: None,
            total_sessions: None,
            drain_s: 30.0,
            tracing: false,
            share: None,
            slice: None,
            barrier: None,
        }
    }

    /// The lanes that are this generator's, each a thread: those of its slice, else one on each CPU.
    fn lanes(&self) -> Slice {
        self.slice.unwrap_or_else(|| {
            let lanes = self.cpus.len().clamp(1, self.load.places() as usize) as u32;
            Slice { first: 0, lanes, all: lanes }
        })
    }

    /// The most users that are here at a time.
    fn places(&self) -> u64 {
        let Slice { lanes, all, .. } = self.lanes();
        (u64::from(self.load.places()) * u64::from(lanes)).div_ceil(u64::from(all.max(1)))
    }
}

/// Who is told what happens, on the caller's thread.
pub trait Audience {
    /// A second has ended on all threads.
    fn second(&mut self, second: &Second<'_>) -> Result<()>;

    /// Steps of users, when the run is traced.
    fn traces(&mut self, _traces: &[Trace]) {}
}

/// Reports that may wait for the collector. In real time it is never an hour behind; a thread that had to wait for it would
/// send late.
const REPORTS_AHEAD: usize = 3_600;
/// The same where time is virtual: a second passes in no time, and those that nobody has merged yet would fill the memory.
const VIRTUAL_REPORTS_AHEAD: usize = 16;

/// Runs the load. The audience is told of every second as it ends; an error of the audience ends the run. A load for
/// which this machine has too few descriptors or ports is refused before it starts.
pub fn run(options: &RunOptions, control: &Control, audience: &mut dyn Audience) -> Result<Totals> {
    let _leaving_out = options.share.as_ref().map(Share::or_leave_out);
    let sources = preflight::prepare(&Needs::of_connections(options.places()), &options.target)?.sources;
    let target = &Target { sources, ..options.target.clone() };
    let workers = options.lanes().lanes as usize;
    let (reports, inbox) = sync_channel(REPORTS_AHEAD);
    let (answers, roll_call) = channel();
    thread::scope(|scope| {
        let (mut spares, mut starts, mut handles) = (Vec::new(), Vec::new(), Vec::new());
        let mut problems: Vec<Problem> = Vec::new();
        for worker in 0..workers {
            let (spare, spare_inbox) = channel();
            let (start, start_inbox) = channel();
            let outbox = Outbox { worker, reports: reports.clone(), spare: spare_inbox };
            let place = Place { worker, target, armed: answers.clone(), start: start_inbox };
            let body = move || work(options, place, outbox, control);
            let name = format!("generator-{worker}");
            match thread::Builder::new().name(name).spawn_scoped(scope, body) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    let what = format!("failed to start a thread of the generator: {error}");
                    problems
                        .push(Problem::environment(what).remedy("raise the limit of processes (ulimit -u)"));
                }
            }
            spares.push(spare);
            starts.push(start);
        }
        drop((reports, answers));
        // The call ends when every thread has answered, or has ended without an answer.
        if roll_call.iter().count() == workers {
            let origin = match &options.barrier {
                Some(barrier) => barrier.arm(),
                None => Some(Instant::now() + RUN_UP),
            };
            if let Some(origin) = origin {
                options.share.iter().for_each(|share| share.join(workers));
                starts.iter().for_each(|start| _ = start.send(origin));
            }
        }
        drop(starts);
        let mut collector = Collector::new(workers, spares);
        let collected = collect(&inbox, &mut collector, control, audience);
        for handle in handles {
            match handle.join() {
                Ok(Ok(())) => {}
                Ok(Err(found)) => problems.extend(found.into_vec()),
                Err(_) => problems.push(Problem::bug("a thread of the generator panicked")),
            }
        }
        problems.dedup();
        Problems::check(problems)?;
        collected?;
        Ok(collector.into_totals())
    })
}

/// Runs the load on the calling thread over the given clock and transport: with a virtual pair, in no time. The
/// audience is told on a thread of its own, so that no more than a few seconds are kept, however long the run.
pub fn run_on<C: Clock, T: Transport>(
    options: &RunOptions,
    clock: C,
    transport: T,
    audience: &mut (dyn Audience + Send),
) -> Result<Totals> {
    run_on_under(&Control::default(), options, clock, transport, audience)
}

/// The same, steered by `control` from the same thread: by the server's side of a virtual transport.
pub fn run_on_under<C: Clock, T: Transport>(
    control: &Control,
    options: &RunOptions,
    clock: C,
    transport: T,
    audience: &mut (dyn Audience + Send),
) -> Result<Totals> {
    let (reports, inbox) = sync_channel(VIRTUAL_REPORTS_AHEAD);
    let (spare, spare_inbox) = channel();
    let outbox = Outbox { worker: 0, reports, spare: spare_inbox };
    // One thread is one lane.
    let slice = options.slice.unwrap_or(Slice { first: 0, lanes: 1, all: 1 });
    let assignment = assignment(options, slice, 0);
    let worker = Worker::arm(clock, transport, setup(options), assignment, outbox)?;
    thread::scope(|scope| {
        let collecting = scope.spawn(move || {
            let mut collector = Collector::new(1, vec![spare]);
            collect(&inbox, &mut collector, control, audience)?;
            Ok(collector.into_totals())
        });
        let ran = worker.run(control, None);
        let collected = collecting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ran?;
        collected
    })
}

/// What a worker is made from, whatever thread it is.
fn setup(options: &RunOptions) -> Setup<'_> {
    let RunOptions { scenario, target, tracing, drain_s, .. } = options;
    Setup { scenario, target, tracing: *tracing, drain_ns: nanos(*drain_s) }
}

/// The part of thread `worker`, 0-based.
fn assignment(options: &RunOptions, slice: Slice, worker: usize) -> Assignment {
    Assignment {
        lane: slice.first as usize + worker,
        lanes: slice.all as usize,
        users: options.load.places(),
        people: people(options),
        load: options.load.clone(),
        schedule: Schedule::new(&options.load),
        seed: options.load.seed,
        max_sessions: options.max_sessions,
        total_sessions: options.total_sessions,
    }
}

/// Among how many unique numbers and rows are dealt out.
fn people(options: &RunOptions) -> u64 {
    match options.load.most_arrivals() {
        Some(max) => options.total_sessions.unwrap_or(u64::MAX).min(max),
        None => options.load.places().into(),
    }
}

/// A thread's place among the others.
struct Place<'a> {
    worker: usize,
    target: &'a Target,
    /// Told when it is armed; dropped without a word when it can't be.
    armed: Sender<()>,
    /// The run's start, once all are armed; closed when the run can't begin.
    start: Receiver<Instant>,
}

fn work(options: &RunOptions, place: Place<'_>, outbox: Outbox, control: &Control) -> Result<()> {
    settle(options.cpus[place.worker % options.cpus.len()]);
    let assignment = assignment(options, options.lanes(), place.worker);
    let _leaving = Leaving { worker: place.worker, reports: outbox.reports.clone(), control };
    // The clock's origin is only known when every thread is armed: until then nobody reads the clock.
    let clock = MonotonicClock::default();
    let transport = EpollTransport::new(place.target, clock.clone())
        .map_err(|error| Problem::environment(format!("failed to prepare connections: {error}")))?
        .acknowledging(options.scenario.acknowledge);
    let worker = Worker::arm(clock.clone(), transport, setup(options), assignment, outbox)?;
    let _ = place.armed.send(());
    drop(place.armed);
    let Ok(origin) = place.start.recv() else { return Ok(()) };
    let seat = options.share.as_ref().map(Share::seat);
    clock.start_at(origin);
    thread::sleep(origin.saturating_duration_since(Instant::now()));
    options.barrier.iter().for_each(|barrier| barrier.began(origin.elapsed()));
    if let Some(seat) = &seat {
        clock.leave_out(seat.begin(origin));
    }
    worker.run(control, seat).inspect_err(|_| control.ask(Stop::AtOnce))
}

/// However a thread ends, the collector is told, so that the others' seconds are not waited for in vain; one that
/// panics stops them all.
struct Leaving<'a> {
    worker: usize,
    reports: SyncSender<Report>,
    control: &'a Control,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.control.ask(Stop::AtOnce);
        }
        // The collector outlives its workers; were it gone, nobody would be there to be told.
        let _ = self.reports.send(Report::Finished(self.worker));
    }
}

/// The generator's threads go before whatever else wants their CPU: a clock that waits is wrong.
const NICE: i32 = -20;

/// Puts the calling thread on its CPU with the finest timers and before others, as far as this process may. Failing
/// that it runs where and when the kernel likes: the lag that it records tells whether it mattered.
fn settle(cpu: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    let _ = rustix::thread::sched_setaffinity(None, &set);
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

fn collect(
    inbox: &Receiver<Report>,
    collector: &mut Collector,
    control: &Control,
    audience: &mut dyn Audience,
) -> Result<()> {
    let mut first_problem = Ok(());
    while let Ok(report) = inbox.recv() {
        if let Report::Traces(traces) = &report {
            audience.traces(traces);
            continue;
        }
        collector.take(report);
        while let Some(second) = collector.next_second() {
            if first_problem.is_ok() {
                first_problem = audience.second(&second);
                if first_problem.is_err() {
                    control.ask(Stop::AtOnce);
                }
            }
            collector.release();
        }
    }
    first_problem
}
