//! A trial in a line, for the course of a study.

use model::catalogue::qos::Measure;
use model::record::TargetOutcome;
use model::record::study::{By, Purpose, Question, Trial};
use model::units::{self, number};

use crate::{evidence, find};

/// `trial 3, search: 45 users, 934 operations/s; p95 8.20 ms < 300 ms`; `study` is what is asked, and the trials before.
pub fn line(trial: &Trial, arm: Option<&str>, by: By, study: (&Question, &[Trial])) -> String {
    let arm = arm.map(|label| format!("{label}, ")).unwrap_or_default();
    let head =
        format!("trial {}, {}: {arm}{}", trial.number, trial.purpose.word(), find::load(by, trial.load));
    let figures = trial.measured.as_ref().and_then(|seen| seen.figure("throughput", None));
    let rate = figures.map(|figure| format!(", {} operations/s", number(figure.value)));
    format!("{head}{}; {}", rate.unwrap_or_default(), judged(trial, study))
}

/// What a trial says, with the target or the check that decides: `missed: p95 < 300 ms (412 ms)`.
pub fn judged(trial: &Trial, (question, before): (&Question, &[Trial])) -> String {
    // It fills caches; its figures were never meant to count.
    if trial.purpose == Purpose::WarmUp && trial.measured.is_some() {
        return "not judged".to_string();
    }
    if let Some(passed) = evidence::passed_as_seen(trial) {
        return passed;
    }
    if let Some(fault) = trial.faults.first().filter(|_| trial.as_seen().is_none()) {
        let over = analysis::overloaded(question, before.iter().chain([trial]), trial);
        let word = if over { "overloaded" } else { "not valid" };
        return format!("{word}: {}", fault.sentence);
    }
    let Some(seen) = &trial.measured else { return "nothing was measured".to_string() };
    let margin = |clause: &TargetOutcome| match clause.margin.log {
        Some(margin) if !clause.is_of_nothing() => margin,
        _ => f64::NEG_INFINITY,
    };
    let worst = |missed: bool| {
        let some = seen.targets.iter().filter(|clause| clause.pass != missed);
        some.max_by(|a, b| margin(a).total_cmp(&margin(b)))
    };
    let text = match (worst(true), worst(false)) {
        (Some(missed), _) => format!("missed: {}", against_observed(missed)),
        (None, Some(met)) => format!("met: {}", against_observed(met)),
        (None, None) => "no targets".to_string(),
    };
    match trial.warm_up_s {
        Some(_) => text,
        None => format!("{text}; it never settled"),
    }
}

/// A target with what was seen of it.
fn against_observed(clause: &TargetOutcome) -> String {
    let seen = match clause.observed {
        None => "nothing was seen of it".to_string(),
        Some(value) => in_its_unit(clause.target.measure, value),
    };
    format!("{} ({seen})", clause.target)
}

fn in_its_unit(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Errors | Measure::Waiting(_) => format!("{} %", number(value * 100.0)),
        Measure::Throughput => format!("{}/s", number(value)),
        Measure::Samples => number(value),
        Measure::Percentile(_) | Measure::Mean | Measure::Max => units::show_seconds(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, outcome};
    use model::Check;
    use model::record::study::{Fault, Find, FindGoal};

    fn trial(targets: Vec<TargetOutcome>) -> Trial {
        sample::trial(targets, &[])
    }

    /// The line of the first trial of a find.
    fn line(trial: &Trial) -> String {
        let find = Question::Find(Find { goal: FindGoal::default(), answer: None });
        super::line(trial, None, By::Users, (&find, &[]))
    }

    #[test]
    fn the_target_that_is_nearest_to_its_limit_is_told_and_not_one_of_which_nothing_happened() {
        let p95 = outcome("p95 < 2.00 s", 0.3, -1.9);
        let waiting = outcome("waiting over 4.00 s < 1%", 0.0, -0.02);
        let told = line(&trial(vec![p95, waiting]));
        assert!(told.ends_with("met: p95 < 2.00 s (300 ms)"), "{told}");
        let missed = outcome("waiting over 4.00 s < 1%", 0.25, 3.2);
        let told = line(&trial(vec![outcome("p95 < 2.00 s", 0.3, -1.9), missed]));
        assert!(told.ends_with("missed: waiting over 4.00 s < 1% (25 %)"), "{told}");
    }

    /// A trial in which a rare operation came twice.
    fn with_few(margin: f64) -> Trial {
        let rare =
            TargetOutcome { samples: 2, samples_needed: 51, ..outcome("AddEvent p90 < 2.00 s", 0.3, margin) };
        let mut trial = trial(vec![outcome("p95 < 2.00 s", 0.3, -1.9), rare]);
        trial.faults = vec![Fault { check: Check::Samples, sentence: "it has too few".to_string() }];
        trial
    }

    #[test]
    fn a_trial_that_missed_nothing_with_too_few_samples_passed_as_far_as_was_seen() {
        let told = line(&with_few(-1.9));
        assert!(told.ends_with("; passed as far as seen: AddEvent p90 had 2 of 51 samples"), "{told}");
        let mut late = with_few(-1.9);
        late.faults.push(Fault { check: Check::SendLag, sentence: "it was late".to_string() });
        for spoilt in [with_few(0.4), late] {
            let told = line(&spoilt);
            assert!(told.ends_with("; not valid: it has too few"), "{told}");
        }
    }

    #[test]
    fn a_trial_that_its_overload_broke_is_called_as_the_report_will_call_it() {
        let mut over = trial(vec![outcome("p95 < 2.00 s", 3.0, 0.4)]);
        over.faults = vec![Fault { check: Check::Little, sentence: "users waited".to_string() }];
        assert!(line(&over).ends_with("; overloaded: users waited"), "{}", line(&over));
        let throughput = |met: bool| {
            outcome("throughput > 200/s", if met { 300.0 } else { 100.0 }, if met { -0.4 } else { 0.4 })
        };
        let lowest = Trial { load: 2.0, ..trial(vec![throughput(true)]) };
        let short = Trial { number: 4, faults: over.faults, ..trial(vec![throughput(false)]) };
        let find = Question::Find(Find { goal: FindGoal::default(), answer: None });
        let after = |before: &[Trial]| super::line(&short, None, By::Users, (&find, before));
        assert!(after(&[lowest]).ends_with("; overloaded: users waited"), "it was met at less load");
        assert!(after(&[]).ends_with("; not valid: users waited"), "more load may meet it: {}", after(&[]));
    }

    #[test]
    fn what_fills_caches_is_not_judged_unless_nothing_came_of_it() {
        let warming = Trial { purpose: Purpose::WarmUp, ..with_few(0.4) };
        let told = line(&warming);
        assert!(told.starts_with("trial 3, warm-up: 20 users") && told.ends_with("; not judged"), "{told}");
        let told = line(&Trial { measured: None, ..warming });
        assert!(told.ends_with("; not valid: it has too few"), "{told}");
    }
}
