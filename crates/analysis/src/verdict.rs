//! The two judgements of a run.

use model::record::{TargetOutcome, ValidityCheck};

/// Whether a run counts, and whether it met its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// Every check of the instrument holds, and there is one.
    pub valid: bool,
    /// Every target is met, also when there is none; absent for a run that is not valid.
    pub pass: Option<bool>,
}

/// Valid when every check holds; then passed when every target is met. A run that is not valid neither passes nor fails.
pub fn verdict(checks: &[ValidityCheck], targets: &[TargetOutcome]) -> Judgement {
    let valid = !checks.is_empty() && checks.iter().all(|check| check.ok);
    let pass = valid.then(|| targets.iter().all(|target| target.pass));
    Judgement { valid, pass }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ok: bool) -> ValidityCheck {
        let check = model::Check::of("c");
        ValidityCheck { check, ok, sentence: String::new(), observed: None, limit: None }
    }

    fn target(observed: f64) -> TargetOutcome {
        TargetOutcome::of("p95 < 2.00 s".parse().expect("a target"), Some(observed), 1000)
    }

    #[test]
    fn a_run_is_valid_by_its_checks_and_then_passes_by_its_targets() {
        let (met, missed) = (target(0.0452), target(2.31));
        let judged = |checks: &[ValidityCheck], targets: &[TargetOutcome]| {
            let Judgement { valid, pass } = verdict(checks, targets);
            (valid, pass)
        };
        assert_eq!(judged(&[check(true)], &[met.clone(), met.clone()]), (true, Some(true)));
        assert_eq!(judged(&[check(true)], &[met.clone(), missed]), (true, Some(false)));
        assert_eq!(judged(&[check(true)], &[]), (true, Some(true)), "nothing was asked for");
        assert_eq!(judged(&[check(true), check(false), check(false)], &[met]), (false, None));
        assert_eq!(judged(&[], &[]), (false, None), "nothing was checked");
    }
}
