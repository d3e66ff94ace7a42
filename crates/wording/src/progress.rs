//! The line below a study's progress: what is known so far, and how long it will take.

use model::record::study::{By, Compare, Effect, FindGoal, FindOutlook, Purpose};
use model::units::{number, percent};

use crate::compare::change;
use crate::find::load;
use crate::roughly;

/// `trial 7, narrowing it: between 380 and 436 users, about 405 [390, 421]; about 80 s left`; `trial` is the number of the
/// next one.
pub fn find(by: By, outlook: &FindOutlook, trial: usize) -> String {
    let short = |load: f64| number(if by == By::Users { load.round() } else { load });
    let known = bracket(by, outlook.bracket);
    let estimate = outlook
        .estimate
        .map(|(low, middle, high)| format!(", about {} [{}, {}]", short(middle), short(low), short(high)));
    let (doing, estimate) = (doing(outlook.next), estimate.unwrap_or_default());
    format!("trial {trial}, {doing}: {known}{estimate}; about {} left", roughly(outlook.left_s))
}

/// `load line so far 404 users [390, 420] (90 % interval), narrowing it; about 80 s left`: the line is the one that would be the answer if
/// no trial followed.
pub fn find_so_far(goal: &FindGoal, outlook: &FindOutlook) -> String {
    let known = match &outlook.line {
        Some(line) => format!(
            "load line so far {} [{}, {}] ({} interval)",
            load(goal.by, line.load),
            number(line.low),
            number(line.high),
            percent(goal.confidence_ratio)
        ),
        None if outlook.bracket == (None, None) => "no load line yet".to_string(),
        None => format!("no load line yet: {}", bracket(goal.by, outlook.bracket)),
    };
    format!("{known}, {}; about {} left", doing(outlook.next), roughly(outlook.left_s))
}

fn bracket(by: By, ends: (Option<f64>, Option<f64>)) -> String {
    let short = |load: f64| number(if by == By::Users { load.round() } else { load });
    match ends {
        (None, None) => "no load passed or failed yet".to_string(),
        (Some(passed), None) => format!("{} passed", load(by, passed)),
        (None, Some(failed)) => format!("{} failed", load(by, failed)),
        (Some(passed), Some(failed)) => format!("between {} and {}", short(passed), load(by, failed)),
    }
}

fn doing(next: Option<Purpose>) -> &'static str {
    match next {
        Some(Purpose::WarmUp) => "filling caches",
        Some(Purpose::Ramp) => "looking for the region",
        Some(Purpose::Search) => "narrowing it",
        Some(Purpose::Confirm | Purpose::Measure) => "confirming it",
        None => "done",
    }
}

/// `block 5 of at most 20; so far B is 2.1 % slower [−0.4, 4.6]; at most about 12 min left`; `effect` is what the blocks
/// that are over say.
pub fn compare(compare: &Compare, block: u32, effect: Option<&Effect>, left_s: f64) -> String {
    let so_far = effect.map(|effect| format!("; so far B is {}", change(effect)));
    format!(
        "block {block} of at most {}{}; at most about {} left",
        compare.most_blocks,
        so_far.unwrap_or_default(),
        roughly(left_s)
    )
}

/// `measurement 5 of 21, about 6 min left`; `measurement` is the number of the next one.
pub fn sweep(measurement: usize, all: usize, left_s: f64) -> String {
    format!("measurement {measurement} of {all}, about {} left", roughly(left_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_grows_with_the_trials() {
        let begun = FindOutlook {
            bracket: (None, None),
            estimate: None,
            line: None,
            trials_left: 14,
            left_s: 512.0,
            next: Some(Purpose::WarmUp),
        };
        assert_eq!(
            find(By::Users, &begun, 1),
            "trial 1, filling caches: no load passed or failed yet; about 9 min left"
        );
        let later = FindOutlook {
            bracket: (Some(380.0), Some(436.0)),
            estimate: Some((390.2, 405.4, 420.9)),
            line: Some(crate::sample::line()),
            trials_left: 3,
            left_s: 71.0,
            next: Some(Purpose::Search),
        };
        assert_eq!(
            find(By::Users, &later, 7),
            "trial 7, narrowing it: between 380 and 436 users, about 405 [390, 421]; about 80 s left"
        );
        let goal = FindGoal::default();
        assert_eq!(find_so_far(&goal, &begun), "no load line yet, filling caches; about 9 min left");
        assert_eq!(
            find_so_far(&goal, &later),
            "load line so far 412 users [398, 421] (90 % interval), narrowing it; about 80 s left"
        );
    }
}
