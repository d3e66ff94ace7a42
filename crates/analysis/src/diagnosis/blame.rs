//! Upstream pressure: waiting goes up to the callers. The deepest tier whose wait its callee doesn't explain is to blame,
//! so a caller that mostly waits is cleared by as much as something behind it is guilty.

use model::record::diagnosis::{Doing, SignalSummary};

use super::weigh::Weighed;
use super::weights::Weights;
use crate::ledger;
use crate::signals::find;

/// A caller that waits for its callee for this share of its work isn't cleared at all, or wholly.
const CALLEE_RATIO: (f64, f64) = (0.35, 0.75);

/// Clears callers of what their callees are guilty of. `tiers` are in the order of their start, the deepest first.
pub(super) fn upstream(
    tiers: &[&str],
    signals: &[SignalSummary],
    weights: &Weights,
    suspects: &mut [Weighed],
) {
    let waits = ledger::of_work(Doing::WaitingForCallee);
    let (from, full) = CALLEE_RATIO;
    for (depth, tier) in tiers.iter().enumerate().skip(1) {
        let behind = &tiers[..depth];
        let guilty = suspects.iter().filter(|suspect| behind.contains(&suspect.tier.as_str()));
        let guilty = guilty.map(|suspect| (suspect.sure_ratio(weights), suspect.tier.clone()));
        let Some((sure, name)) = guilty.max_by(|one, other| one.0.total_cmp(&other.0)) else { continue };
        let Some(wait) = find(signals, Some(tier), &waits.name).map(|signal| signal.mean) else { continue };
        let callee_ratio = ((wait - from) / (full - from)).clamp(0.0, 1.0) * sure;
        let of_tier =
            suspects.iter_mut().filter(|suspect| suspect.tier == *tier && suspect.cleared_by_callee);
        of_tier.for_each(|suspect| suspect.clear(callee_ratio, wait, &name));
    }
}
