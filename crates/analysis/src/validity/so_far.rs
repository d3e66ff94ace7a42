//! Checks before the end of a run: the same outcomes, and whether enough was seen to go by them.

use model::progress::CheckState;
use model::record::Check;

use crate::finding::CheckOutcome;

/// In fewer steady seconds than this most of what is counted is chance, or was under way at the edges.
const MIN_JUDGED_S: f64 = 5.0;

/// What a check says after `steady_s` seconds of the steady state; absent for one that only the end can judge.
pub fn state_so_far(outcome: &CheckOutcome, steady_s: f64) -> Option<CheckState> {
    // What happened once does not become undone.
    let final_at_once = match outcome.check {
        Check::Duration | Check::Link | Check::Consistency | Check::Ceiling | Check::Other(_) => return None,
        Check::Tiers | Check::Alarms | Check::Room | Check::LoadByHand => true,
        _ => false,
    };
    Some(match (final_at_once, outcome.ok) {
        (true, false) => CheckState::Fails,
        (true, true) if outcome.check != Check::Room => CheckState::Holds,
        _ if steady_s < MIN_JUDGED_S || outcome.finding.is_open() => CheckState::Unknown,
        (_, true) => CheckState::Holds,
        (_, false) => CheckState::Fails,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Finding, MixDraws, Samples};

    fn outcome(check: Check, ok: bool, finding: Finding) -> CheckOutcome {
        CheckOutcome::new(check, ok, None, finding)
    }

    #[test]
    fn a_check_says_nothing_before_enough_was_seen_unless_it_can_not_be_undone() {
        let cpu = |ok| outcome(Check::GeneratorCpu, ok, Finding::GeneratorCpu { used_ratio: 0.5 });
        let room = |ok| outcome(Check::Room, ok, Finding::Room { exhausted: 1 });
        let tiers = |ok| outcome(Check::Tiers, ok, Finding::Tiers(Vec::new()));
        let (holds, fails, unknown) =
            (Some(CheckState::Holds), Some(CheckState::Fails), Some(CheckState::Unknown));
        for (outcome, steady_s, expected) in [
            (cpu(true), 4.0, unknown),
            (cpu(false), 4.0, unknown),
            (cpu(true), 5.0, holds),
            (cpu(false), 5.0, fails),
            (room(true), 0.0, unknown),
            (room(true), 5.0, holds),
            (room(false), 1.0, fails),
            (tiers(true), 0.0, holds),
            (tiers(false), 0.0, fails),
        ] {
            assert_eq!(state_so_far(&outcome, steady_s), expected, "{outcome:?} after {steady_s} s");
        }
    }

    #[test]
    fn what_is_undecided_may_still_be_decided_and_what_only_the_end_tells_is_left_out() {
        let samples =
            |ok, samples| state_so_far(&outcome(Check::Samples, ok, Finding::Samples(samples)), 60.0);
        let target = "p95 < 2s".parse().expect("a target");
        let lacking = Samples::Lacking { target, samples: 3, needed: 100, enough_after_s: None };
        assert_eq!(samples(false, lacking), Some(CheckState::Unknown), "there may be enough at the end");
        assert_eq!(samples(true, Samples::Enough { fewest: 100 }), Some(CheckState::Holds));
        let mix = outcome(Check::Mix, true, Finding::Mix(MixDraws::NotJudged));
        assert_eq!(state_so_far(&mix, 60.0), Some(CheckState::Unknown));
        let consistency = Finding::Consistency { statements: 0, broken: 0, first: None };
        assert_eq!(state_so_far(&outcome(Check::Consistency, true, consistency), 60.0), None);
    }
}
