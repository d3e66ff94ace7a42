//! Whether each target can have its samples, told before anything starts.

use analysis::ExpectedSamples;
use model::catalogue::load::Load;
use model::{Catalogue, Plan, Result};
use wording::Asking;

/// What each target of the plan can have in `steady_s` seconds under that load, as far as it can be told.
pub(crate) fn expected(
    plan: &Plan,
    load: &Load,
    steady_s: f64,
    catalogue: &Catalogue,
) -> Result<Vec<ExpectedSamples>> {
    let operations = kit::occurrences(plan, catalogue)?;
    Ok(analysis::expected_samples(&plan.qos, load, &plan.kit.populations()?, &operations, steady_s))
}

/// What a run of the plan will lack, in a sentence; absent where it lacks nothing that is known.
pub(crate) fn lacking(plan: &Plan, catalogue: &Catalogue) -> Result<Option<String>> {
    let all = expected(plan, &plan.load, plan.load.steady_s, catalogue)?;
    Ok(wording::samples::expected(&all, Asking::Run))
}
