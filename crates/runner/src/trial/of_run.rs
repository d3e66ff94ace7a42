//! The figures of a kept run, as those of a trial.

use analysis::{Also, Batches};
use model::catalogue::kit::Metric;
use model::record::study::Measured;
use model::{Problem, Result};
use store::Run;

/// The figures of the run's steady state with their standard errors, and those of these metrics.
pub fn of_run(run: &Run, metrics: &[Metric]) -> Result<Measured> {
    let setup = &run.record().setup;
    let from = setup.ramp_up_s.ceil() as u32;
    let to = (setup.ramp_up_s + setup.steady_s).floor() as u32;
    let seconds = run.figures(from, to)?;
    let names = seconds.names().to_vec();
    // A second takes megabytes: it is forgotten as soon as it is in its batch.
    let mut batches = Batches::of(seconds.len());
    for second in seconds {
        batches.push(&second?);
    }
    let also = Also { percentiles: &[], metrics, response_times: false };
    analysis::measured_in(&batches, &names, &[], &run.record().tiers, &also).ok_or_else(|| {
        Problem::invalid(format!("run {} has no second of steady state", run.record().id)).into()
    })
}
