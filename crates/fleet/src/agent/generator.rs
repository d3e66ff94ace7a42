//! An agent's generator of one run: the engine on threads of its own, whose seconds go into the spool as they end.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::{Audience, Barrier, Control, RunOptions, Second, Stop};
use model::record::interval::encoded::Encoder;
use model::{Problem, Result};

use crate::bus::{Kind, Teller, now_ns};
use crate::{second, totals};

/// It generates load, or is about to.
pub(super) struct Generator {
    control: Control,
    barrier: Barrier,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl Generator {
    /// Makes its threads ready; the first second begins when [`Self::begin_at`] says so.
    pub(super) fn arm(options: RunOptions, teller: Arc<Teller>) -> Result<Generator, String> {
        let (control, barrier) = (Control::default(), Barrier::default());
        let options = RunOptions { barrier: Some(barrier.clone()), ..options };
        let stop = control.clone();
        let thread = thread::Builder::new()
            .name("agent-run".to_string())
            .spawn(move || drive(&options, &stop, &teller))
            .map_err(|error| format!("failed to start a thread: {error}"))?;
        Ok(Generator { control, barrier, thread: Some(thread) })
    }

    /// Whether its threads stand ready.
    pub(super) fn is_armed(&self) -> bool {
        self.barrier.is_armed()
    }

    /// The first second begins then, by this machine's CLOCK_MONOTONIC.
    pub(super) fn begin_at(&self, at_ns: i64) {
        let ahead_ns = u64::try_from(at_ns.saturating_sub(now_ns())).unwrap_or(0);
        self.barrier.set(Instant::now() + Duration::from_nanos(ahead_ns));
    }

    pub(super) fn stop_gently(&self) {
        self.control.ask(Stop::Gently);
    }

    pub(super) fn stop_at_once(&self) {
        self.barrier.call_off();
        self.control.ask(Stop::AtOnce);
    }

    /// How it ended, once it has; said once.
    pub(super) fn ended(&mut self) -> Option<Result<(), String>> {
        let thread = self.thread.take_if(|thread| thread.is_finished())?;
        Some(thread.join().unwrap_or_else(|_| Err("the generator has a fault of its own".to_string())))
    }

    /// Whether it has.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// How long after the time that was set the last of its threads began.
    pub(super) fn late_ns(&self) -> Option<u64> {
        let late = self.barrier.max_late();
        (!late.is_zero()).then_some(late.as_nanos() as u64)
    }

    /// Ends it, and waits for that.
    pub(super) fn close(mut self) {
        self.stop_at_once();
        if let Some(thread) = self.thread.take() {
            // What it says of its end nobody wants any more.
            _ = thread.join();
        }
    }
}

fn drive(options: &RunOptions, control: &Control, teller: &Teller) -> Result<(), String> {
    let mut tells = Tells { teller, named: 0, encoder: Encoder::default() };
    let end = engine::run(options, control, &mut tells).map_err(|problems| problems.to_string())?;
    if options.barrier.as_ref().is_some_and(Barrier::is_called_off) {
        return Ok(());
    }
    teller.tell(Kind::End, &totals::encode(&end)?).map_err(|error| error.to_string())
}

/// Tells each second as it ends.
struct Tells<'a> {
    teller: &'a Teller,
    /// The number of rows that were named.
    named: usize,
    encoder: Encoder,
}

impl Audience for Tells<'_> {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        let message = second::encode(second, self.named, &mut self.encoder).map_err(Problem::bug)?;
        self.named = second.names.len();
        self.teller.tell(Kind::Second, &message).map_err(|error| {
            Problem::environment(error.to_string()).remedy("give the agent more room for its spool").into()
        })
    }
}
