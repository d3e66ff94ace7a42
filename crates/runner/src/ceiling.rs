//! The generator's own ceiling: what it can do against a server that does nothing. A stack is measured only far below.

use engine::null_server::NullServer;
use engine::{Audience, Control, Program, RunOptions, Scenario, Second, Source};
use model::catalogue::load::{Arrivals, Arriving, Pattern};
use model::record::ValidityCheck;
use model::record::plan::{Load, Placement};
use model::record::study::Ceiling;
use model::{Interval, OperationKind, Problem, Result};
use wording::Asking;

use crate::interrupt::Interrupt;
use crate::progress::Progress;

const USERS: u32 = 50;
const STEADY_S: f64 = 2.0;
/// The lag that counts is that at this share of the ceiling: nobody measures at the ceiling itself.
const LAG_AT_RATIO: f64 = 0.1;

/// What the null server saw of the generator at full speed.
pub struct AtFull {
    /// Requests per second.
    pub requests_per_s: f64,
    /// CPU of one, in seconds.
    pub cpu_s_per_request: f64,
    /// Send lag, 99th percentile, in seconds.
    pub lag_p99_s: f64,
    /// Share of the time in which the generator's threads had to wait for a CPU.
    pub waited_ratio: f64,
}

/// Drives a null server for three seconds with a session of one request and one check, as fast as it goes.
///
/// # Errors
/// The user's wish to stop; no request that was answered.
pub fn at_full(placement: &Placement, interrupt: &Interrupt, progress: &mut dyn Progress) -> Result<AtFull> {
    progress.step("measuring the generator against a server that does nothing");
    let load = Load { users: USERS, ramp_up_s: 0.1, steady_s: STEADY_S + 0.9, ..Load::default() };
    let sum = drive(load, placement, interrupt)?;
    let cores = placement.generator.len().max(1) as f64;
    Ok(AtFull {
        requests_per_s: sum.requests as f64 / STEADY_S,
        cpu_s_per_request: sum.whole.generator_cpu_s / sum.requests as f64,
        lag_p99_s: lag_p99_s(&sum),
        waited_ratio: sum.whole.generator_wait_s / (STEADY_S * cores),
    })
}

/// The generator's ceiling, and its lag at a tenth of it.
pub fn measure(placement: &Placement, interrupt: &Interrupt, progress: &mut dyn Progress) -> Result<Ceiling> {
    let full = at_full(placement, interrupt, progress)?;
    let rate = full.requests_per_s * LAG_AT_RATIO;
    let (pattern, arriving) = (Pattern::Constant, Arriving::Operations);
    let arrivals = Some(Arrivals { pattern, arriving, from_per_s: rate, to_per_s: rate });
    let load = Load { users: USERS, steady_s: STEADY_S + 1.0, arrivals, ..Load::default() };
    let tenth = drive(load, placement, interrupt)?;
    Ok(Ceiling {
        requests_per_s: full.requests_per_s,
        cpu_s_per_request: full.cpu_s_per_request,
        lag_p99_s: lag_p99_s(&tenth),
        cpus: placement.generator.len(),
    })
}

/// Whether the ceiling is far enough above the rate of requests that the answer was found at.
pub fn check(ceiling: &Ceiling, requests_per_s: f64) -> ValidityCheck {
    wording::check(&analysis::ceiling_check(ceiling.requests_per_s, requests_per_s), Asking::Trial)
}

fn lag_p99_s(sum: &Sum) -> f64 {
    sum.whole.lag.value_at_quantile(0.99) as f64 / 1e6
}

struct Sum {
    whole: Interval,
    requests: u64,
}

impl Audience for Sum {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        // The first second warms up; only whole seconds after it count.
        if (1..1 + STEADY_S as u32).contains(&second.interval.second) {
            self.whole.merge(second.interval);
            let rows = second.names.iter().zip(&second.interval.operations);
            let requests = rows.filter(|(name, _)| name.kind == OperationKind::Request);
            self.requests += requests.map(|(_, row)| row.completed).sum::<u64>();
        }
        Ok(())
    }
}

fn drive(load: Load, placement: &Placement, interrupt: &Interrupt) -> Result<Sum> {
    let server = NullServer::start(placement.stack.first().copied())
        .map_err(|error| Problem::environment(format!("failed to start the null server: {error}")))?;
    let text = "function visit() operation 'Null' local page = get('/') check(page:has('null'), 'null') end";
    let source = Source::of("ceiling.lua", text, "visit");
    let scenario = Scenario { timeout_s: 5.0, ..Scenario::of(Program::Script(source)) };
    let options = RunOptions {
        cpus: placement.generator.clone(),
        drain_s: 1.0,
        ..RunOptions::of(scenario, load, server.address())
    };
    let control = Control::default();
    interrupt.steer(&control);
    let mut sum = Sum { whole: Interval::empty(0), requests: 0 };
    let totals = engine::run(&options, &control, &mut sum);
    interrupt.release(&control);
    interrupt.check()?;
    if let Some(evidence) = totals?.evidence.first() {
        let what = format!("requests to the null server failed: {}", evidence.message);
        return Err(Problem::environment(what).remedy("raise the limit of descriptors (ulimit -n)").into());
    }
    if sum.requests == 0 {
        let what = "no request was answered by the null server";
        return Err(Problem::environment(what).remedy("is loopback up?").into());
    }
    Ok(sum)
}
