//! The line below a find's progress: what is known so far, and how long it will take.

use analysis::sentence;
use experiment::find::{Outlook, Stage, outlook};
use model::study::{FindGoal, Trial};

use crate::verbs::roughly::roughly;

/// `between 380 and 436 users, about 405 [390, 421]; trial 7, about 4 min left`.
pub(super) fn line(goal: &FindGoal, trials: &[Trial], spent_s: f64) -> String {
    text(goal, &outlook(goal, trials, spent_s), trials.len() + 1)
}

fn text(goal: &FindGoal, seen: &Outlook, number: usize) -> String {
    let load = |load: f64| sentence::find::load(goal.by, load);
    let short = |load: f64| {
        let load = if goal.by == model::study::By::Users { load.round() } else { load };
        sentence::number(load)
    };
    let known = match seen.bracket {
        (None, None) => "no load passed or failed yet".to_string(),
        (Some(passed), None) => format!("{} passed", load(passed)),
        (None, Some(failed)) => format!("{} failed", load(failed)),
        (Some(passed), Some(failed)) => format!("between {} and {}", short(passed), load(failed)),
    };
    let estimate = seen
        .estimate
        .map(|(low, middle, high)| format!(", about {} [{}, {}]", short(middle), short(low), short(high)));
    let doing = match seen.stage {
        Stage::WarmUp => "filling caches",
        Stage::Ramp => "looking for the region",
        Stage::Search => "narrowing it",
        Stage::Confirm => "confirming it",
        Stage::Answered => "done",
    };
    let estimate = estimate.unwrap_or_default();
    format!("trial {number}, {doing}: {known}{estimate}; about {} left", roughly(seen.left_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_grows_with_the_trials() {
        let begun = Outlook {
            bracket: (None, None),
            estimate: None,
            trials_left: 14,
            left_s: 512.0,
            stage: Stage::WarmUp,
        };
        let goal = FindGoal::default();
        assert_eq!(
            text(&goal, &begun, 1),
            "trial 1, filling caches: no load passed or failed yet; about 9 min left"
        );
        let later = Outlook {
            bracket: (Some(380.0), Some(436.0)),
            estimate: Some((390.2, 405.4, 420.9)),
            trials_left: 3,
            left_s: 71.0,
            stage: Stage::Search,
        };
        assert_eq!(
            text(&goal, &later, 7),
            "trial 7, narrowing it: between 380 and 436 users, about 405 [390, 421]; about 80 s left"
        );
    }
}
