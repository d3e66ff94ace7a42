//! The generator's own ceiling, as doctor tells it.

use model::{Result, units};

use super::findings::Finding;
use crate::context::Context;
use runner::ceiling::{self, AtFull};
use runner::cpus;

/// Drives a null server for three seconds.
pub(super) fn measure(context: &mut Context) -> Result<Vec<Finding>> {
    let placement = model::record::plan::Placement::of_machine(&cpus::allowed());
    let full = match ceiling::at_full(&placement, &context.interrupt, &mut context.console) {
        Ok(full) => full,
        Err(problems) => {
            context.interrupt.check()?;
            let told = |problem: model::Problem| {
                let remedy = problem.remedy.unwrap_or_else(|| "see above".to_string());
                Finding::limited("generator", problem.what, remedy)
            };
            return Ok(problems.into_vec().into_iter().map(told).collect());
        }
    };
    Ok(vec![finding(&full, placement.generator.len())])
}

fn finding(full: &AtFull, cores: usize) -> Finding {
    let what = format!(
        "{:.0} scripted requests/s on {cores} CPU(s), {} µs of CPU each; send lag p99 {} at full load; waited for a \
         CPU {:.1}% of the time",
        full.requests_per_s,
        units::significant(full.cpu_s_per_request * 1e6),
        units::show_seconds(full.lag_p99_s),
        full.waited_ratio * 100.0
    );
    if full.waited_ratio > 0.05 {
        return Finding::limited(
            "generator",
            what,
            "other processes want its CPU: end them before you measure",
        );
    }
    Finding::good("generator", what)
}
