//! Upstream pressure: waiting goes up to the callers. The deepest tier whose wait its callee doesn't explain is to blame,
//! so a caller that mostly waits is cleared by as much as something behind it is guilty.

use model::record::diagnosis::{Doing, SignalSummary};

use super::weigh::Weighed;
use super::{ClueFacts, ClueSeen};
use crate::ledger;
use crate::signals::find;

/// What it takes from a caller's log-odds when it does nothing but wait for a tier that is surely guilty.
const WEIGHT: f64 = -5.0;
/// A caller that waits for its callee for this share of its work isn't cleared at all, or wholly.
const CALLEE_RATIO: (f64, f64) = (0.35, 0.75);

/// Clears callers of what their callees are guilty of. `tiers` are in the order of their start, the deepest first.
pub(super) fn upstream(tiers: &[&str], signals: &[SignalSummary], suspects: &mut [Weighed]) {
    let waits = ledger::of_work(Doing::WaitingForCallee);
    for (depth, tier) in tiers.iter().enumerate().skip(1) {
        let behind = &tiers[..depth];
        let guilty = suspects.iter().filter(|suspect| behind.contains(&suspect.tier.as_str()));
        let most = guilty.max_by(|one, other| one.sure_ratio().total_cmp(&other.sure_ratio()));
        let Some((sure, name)) = most.map(|most| (most.sure_ratio(), most.tier.clone())) else { continue };
        let Some(wait) = find(signals, Some(tier), &waits.name).map(|signal| signal.mean) else { continue };
        let (from, full) = CALLEE_RATIO;
        let strength_ratio = ((wait - from) / (full - from)).clamp(0.0, 1.0) * sure;
        for suspect in
            suspects.iter_mut().filter(|suspect| suspect.tier == *tier && suspect.cleared_by_callee)
        {
            suspect.add(ClueFacts {
                signal: waits.name.to_string(),
                value: wait,
                strength_ratio,
                weight: WEIGHT * strength_ratio,
                seen: ClueSeen::Waited { ratio: wait, tier: (*tier).into(), callee: name.clone() },
            });
        }
    }
}
