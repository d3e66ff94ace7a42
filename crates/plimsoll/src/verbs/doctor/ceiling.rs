//! The generator's own ceiling: what it can do against a server that does nothing.

use engine::null_server::NullServer;
use engine::{Audience, Control, Program, RunOptions, Scenario, Second, Source};
use model::plan::Load;
use model::{Interval, OperationKind, Problem, Result, units};

use super::findings::Finding;
use crate::context::Context;
use crate::verbs::recipe_args::cpus;

const USERS: u32 = 50;
const STEADY_S: f64 = 2.0;

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

/// Drives a null server for three seconds with a session of one request and one check.
pub(super) fn measure(context: &mut Context) -> Result<Vec<Finding>> {
    context.console.step("measuring the generator against a server that does nothing");
    let placement = model::plan::Placement::of_machine(&cpus());
    let server = NullServer::start(placement.stack.first().copied())
        .map_err(|error| Problem::environment(format!("failed to start the null server: {error}")))?;
    let text = "function visit() operation 'Null' local page = get('/') check(page:has('null'), 'null') end";
    let source = Source::of("ceiling.lua", text, "visit");
    let scenario = Scenario { timeout_s: 5.0, ..Scenario::of(Program::Script(source)) };
    let load = Load { users: USERS, ramp_up_s: 0.1, steady_s: STEADY_S + 0.9, ..Load::default() };
    let options = RunOptions {
        cpus: placement.generator.clone(),
        drain_s: 1.0,
        ..RunOptions::of(scenario, load, server.address())
    };
    let control = Control::default();
    context.interrupt.steer(&control);
    let mut sum = Sum { whole: Interval::empty(0), requests: 0 };
    let totals = engine::run(&options, &control, &mut sum)?;
    context.interrupt.release();
    context.interrupt.check()?;
    if let Some(evidence) = totals.evidence.first() {
        let what = format!("requests to the null server failed: {}", evidence.message);
        return Ok(vec![Finding::limited("generator", what, "raise the limit of descriptors (ulimit -n)")]);
    }
    Ok(vec![finding(&sum, placement.generator.len())])
}

fn finding(sum: &Sum, cores: usize) -> Finding {
    let rate = sum.requests as f64 / STEADY_S;
    let cost_us = sum.whole.generator_cpu_s / sum.requests.max(1) as f64 * 1e6;
    let lag_s = sum.whole.lag.value_at_quantile(0.99) as f64 / 1e6;
    let waited = sum.whole.generator_wait_s / (STEADY_S * cores.max(1) as f64);
    let what = format!(
        "{rate:.0} scripted requests/s on {cores} CPU(s), {} µs of CPU each; send lag p99 {} at full load; waited for a \
         CPU {:.1}% of the time",
        units::significant(cost_us),
        units::show_seconds(lag_s),
        waited * 100.0
    );
    if sum.requests == 0 {
        return Finding::limited(
            "generator",
            "no request was answered by the null server",
            "is loopback up?",
        );
    }
    if waited > 0.05 {
        return Finding::limited(
            "generator",
            what,
            "other processes want its CPU: end them before you measure",
        );
    }
    Finding::good("generator", what)
}
