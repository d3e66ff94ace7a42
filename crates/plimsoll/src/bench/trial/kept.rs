//! The figures of a kept run, as those of a trial.

use analysis::Also;
use model::kit::Metric;
use model::study::Measured;
use model::{Problem, Result};
use store::Run;

use super::verdict::slim;

/// The figures of the run's steady state with their standard errors, and those of these metrics.
pub(crate) fn of_run(run: &Run, metrics: &[Metric]) -> Result<Measured> {
    let setup = &run.record().setup;
    let from = setup.ramp_up_s.ceil() as u32;
    let to = (setup.ramp_up_s + setup.steady_s).floor() as u32;
    let seconds = run.seconds()?;
    let names = seconds.names().to_vec();
    let mut kept = Vec::new();
    for second in seconds {
        let second = second?;
        if (from..to).contains(&second.second) {
            kept.push(slim(second, &names));
        }
    }
    let also = Also { percentiles: &[], metrics };
    analysis::measured(&kept, &names, &[], &run.record().tiers, &also).ok_or_else(|| {
        Problem::invalid(format!("run {} has no second of steady state", run.record().id)).into()
    })
}
