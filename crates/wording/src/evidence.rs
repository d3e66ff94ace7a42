//! What shows that there is no load line, and what there is to say of a trial that shows it.

use analysis::{fewest_samples, nearest_limit, overload_fault, share_of_limit, worst_missed};
use model::record::TargetOutcome;
use model::record::study::{By, NoAnswer, NoAnswerFacts, Trial};
use model::units::{number, percent};

use crate::find::{load, whole_seconds};

/// Fills in an answer's evidence from its facts and the study's `trials`; loads are counted as `by` says. Answers of older
/// studies have no facts, and keep theirs.
pub(crate) fn fill_in(by: By, no_answer: &mut NoAnswer, trials: &[Trial]) {
    if let Some(facts) = &no_answer.facts {
        no_answer.evidence = evidence(by, facts, trials);
    }
}

fn evidence(by: By, facts: &NoAnswerFacts, trials: &[Trial]) -> String {
    let of_trial = |number: u32, words: fn(&Trial) -> String| {
        let trial = trials.iter().find(|trial| trial.number == number);
        trial.map_or_else(|| format!("see trial {number}"), words)
    };
    match facts {
        NoAnswerFacts::Missed { trial } => of_trial(*trial, missed),
        NoAnswerFacts::Wanting { trial, target } => {
            let at = of_trial(*trial, |trial| format!("at {}", number(trial.load)));
            format!("{at} `{target}` is not met, and more load misses other targets")
        }
        NoAnswerFacts::Nearest { trial } => of_trial(*trial, nearest),
        NoAnswerFacts::Faults { trial } => of_trial(*trial, faults),
        NoAnswerFacts::TwoModes { trials, low, high } => format!(
            "{trials} trials fall into two groups, some as if the line were {}, others as if it were {}",
            rounded(by, *low),
            rounded(by, *high)
        ),
        NoAnswerFacts::Moved { trials, first, last } => {
            let way = if last < first { "fell" } else { "rose" };
            format!(
                "over {trials} trials the line {way} from {} to {}",
                rounded(by, *first),
                rounded(by, *last)
            )
        }
        NoAnswerFacts::Spent { spent_s, trials } => {
            let trials = if *trials == 1 { "1 trial".to_string() } else { format!("{trials} trials") };
            format!("{trials} in {}", whole_seconds(*spent_s))
        }
    }
}

fn rounded(by: By, at: f64) -> String {
    load(by, if by == By::Users { at.round() } else { at })
}

/// What a trial missed most; where it missed no target, what says that its load was not carried.
fn missed(trial: &Trial) -> String {
    match (worst_missed(trial), overload_fault(trial)) {
        (Some(target), _) => against_limit(target),
        (None, Some(fault)) => format!("no target is missed, but {}", fault.sentence),
        (None, None) => "no target was met".to_string(),
    }
}

/// The target that a trial came nearest to missing.
fn nearest(trial: &Trial) -> String {
    let nearest = nearest_limit(trial).map_or_else(
        || "nothing was near its limit".to_string(),
        |target| format!("nearest to its limit: {}", against_limit(target)),
    );
    [Some(nearest), passed_as_seen(trial)].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// `passed as far as seen: AddEvent p90 had 2 of 51 samples`; absent unless that is all there is to say of it.
pub(crate) fn passed_as_seen(trial: &Trial) -> Option<String> {
    if !trial.passed_as_seen() {
        return None;
    }
    let had = fewest_samples(trial).map_or_else(
        || faults(trial),
        |target| {
            let name = target.target.subject();
            let (had, needed) = (number(target.samples as f64), number(target.samples_needed as f64));
            format!("{name} had {had} of {needed} samples")
        },
    );
    Some(format!("passed as far as seen: {had}"))
}

/// The check that broke first, in its own words, and the number of others: they say the same of the same cause, and each of
/// them stands with the trial.
fn faults(trial: &Trial) -> String {
    match (trial.faults.as_slice(), trial.warm_up_s) {
        ([first], _) => first.sentence.clone(),
        ([first, _], _) => format!("{} (and one more check failed)", first.sentence),
        ([first, rest @ ..], _) => format!("{} (and {} more checks failed)", first.sentence, rest.len()),
        ([], None) => "throughput and response times kept changing until the end of the window".to_string(),
        ([], Some(_)) => "nothing was measured".to_string(),
    }
}

fn against_limit(target: &TargetOutcome) -> String {
    match share_of_limit(target) {
        None => format!("`{}` is not met", target.target),
        Some(times) if times >= 1.0 => {
            format!("`{}`, observed {} times its limit", target.target, number(times))
        }
        Some(share) => format!("`{}`, observed {} of its limit", target.target, percent(share)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;
    use crate::sample::{self, outcome};
    use model::Check;
    use model::record::study::{Fault, Find, FindAnswer, FindGoal, WhyNot};

    fn with(targets: Vec<TargetOutcome>) -> Trial {
        sample::trial(targets, &[])
    }

    /// A trial with one target, met or missed by a factor, in which checks broke.
    fn trial(observed: f64, faults: &[Check]) -> Trial {
        let target = outcome("p95 < 2.00 s", observed, (observed / 2.0).ln());
        let sentences: Vec<String> = faults.iter().map(|check| format!("{check} broke")).collect();
        let faults: Vec<(Check, &str)> =
            faults.iter().cloned().zip(sentences.iter().map(String::as_str)).collect();
        sample::trial(vec![target], &faults)
    }

    /// The sentence of a find that ended so, with its evidence filled in.
    fn sentence_of(why: WhyNot, facts: NoAnswerFacts, trial: Trial, loads: [Option<f64>; 3]) -> String {
        let [load, highest_passed, lowest_failed] = loads;
        let evidence = String::new();
        let none = NoAnswer {
            why,
            load,
            conditions: Default::default(),
            evidence,
            facts: Some(facts),
            highest_passed,
            lowest_failed,
        };
        let mut find = Find { goal: FindGoal::default(), answer: Some(FindAnswer::NoAnswer(none)) };
        find::fill_in(&mut find, &[trial]);
        find::answer(&find.goal, &find.answer.expect("it has one"))
    }

    #[test]
    fn what_the_least_load_missed_or_did_not_carry_is_said() {
        let at_least = |trial| {
            let facts = NoAnswerFacts::Missed { trial: 3 };
            sentence_of(WhyNot::FailsAtLeast, facts, trial, [Some(1.0), None, Some(1.0)])
        };
        let missed = at_least(trial(3.0, &[]));
        assert!(
            missed.contains("least load, 1 user: `p95 < 2.00 s`, observed 1.5 times its limit;"),
            "{missed}"
        );
        let not_carried = at_least(trial(1.0, &[Check::Little, Check::Cycle]));
        assert!(
            not_carried.contains("least load, 1 user: no target is missed, but cycle broke;"),
            "{not_carried}"
        );
        assert!(!not_carried.contains("are missed"), "{not_carried}");
    }

    #[test]
    fn what_was_nearest_to_its_limit_is_said_where_nothing_failed() {
        let facts = NoAnswerFacts::Nearest { trial: 3 };
        let loads = [Some(1000.0), Some(1000.0), None];
        let text = sentence_of(WhyNot::NeverFails, facts, trial(1.0, &[]), loads);
        let expected = "still met at 1 000 users, the highest load that was to be tried: nearest to its limit: `p95 < \
                        2.00 s`, observed 50 % of its limit;";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn the_check_that_broke_first_is_told_and_the_others_are_counted() {
        let not_valid = |faults: &[Check]| {
            let facts = NoAnswerFacts::Faults { trial: 3 };
            sentence_of(WhyNot::NotValid, facts, trial(1.0, faults), [Some(20.0), None, None])
        };
        let two = not_valid(&[Check::Consistency, Check::Alarms]);
        assert!(two.contains("consistency broke (and one more check failed)"), "{two}");
        assert!(!two.contains("alarms broke"), "{two}");
        let three = not_valid(&[Check::Consistency, Check::Alarms, Check::Little]);
        assert!(three.contains("consistency broke (and 2 more checks failed)"), "{three}");
    }

    #[test]
    fn groups_of_trials_and_what_was_spent_are_said_in_figures() {
        let of = |why, facts| sentence_of(why, facts, trial(1.0, &[]), [None, Some(40.0), None]);
        let modes = NoAnswerFacts::TwoModes { trials: 9, low: 180.2, high: 240.4 };
        let text = of(WhyNot::Unstable, modes);
        assert!(
            text.contains("9 trials fall into two groups, some as if the line were 180 users, others"),
            "{text}"
        );
        assert!(text.contains("as if it were 240 users; 40 users passed, none failed;"), "{text}");
        let text = of(WhyNot::Drifts, NoAnswerFacts::Moved { trials: 9, first: 240.4, last: 180.2 });
        assert!(text.contains("over 9 trials the line fell from 240 users to 180 users;"), "{text}");
        let text = of(WhyNot::OutOfTime, NoAnswerFacts::Spent { spent_s: 860.0, trials: 12 });
        assert!(
            text.contains("the time was up: 12 trials in 14 min 20 s; 40 users passed, none failed;"),
            "{text}"
        );
        let wanting = "throughput > 900/s".parse().expect("a target");
        let text = of(WhyNot::NeverPasses, NoAnswerFacts::Wanting { trial: 3, target: wanting });
        assert!(
            text.contains("at 20 `throughput > 900/s` is not met, and more load misses other targets;"),
            "{text}"
        );
    }

    #[test]
    fn an_answer_of_an_older_study_keeps_its_evidence() {
        let none = NoAnswer {
            why: WhyNot::NotKnown,
            load: None,
            conditions: Default::default(),
            evidence: "12 trials".to_string(),
            facts: None,
            highest_passed: None,
            lowest_failed: None,
        };
        let answer = Some(FindAnswer::NoAnswer(none));
        let mut find = Find { goal: FindGoal::default(), answer: answer.clone() };
        find::fill_in(&mut find, &[]);
        assert_eq!(find.answer, answer);
    }

    #[test]
    fn a_share_of_failures_in_few_samples_is_not_said_to_be_near_its_limit() {
        let few = TargetOutcome {
            samples: 91,
            samples_needed: 1000,
            pass: true,
            ..outcome("errors < 0.1%", 0.0, 1.69)
        };
        let mut trial = with(vec![outcome("p95 < 2.00 s", 0.3, -1.9), few]);
        trial.faults = vec![Fault { check: Check::Samples, sentence: "it has too few".to_string() }];
        let told = nearest(&trial);
        assert!(told.starts_with("nearest to its limit: `p95 < 2.00 s`"), "{told}");
        assert!(told.ends_with("; passed as far as seen: errors had 91 of 1 000 samples"), "{told}");
    }

    #[test]
    fn how_near_a_limit_is_follows_from_what_was_observed_and_a_share_of_nothing_is_never_near() {
        let nobody = outcome("errors < 0.1%", 0.0, -0.69);
        let p95 = outcome("p95 < 2.00 s", 0.3, -1.9);
        let enough = outcome("throughput > 100/s", 130.0, -0.26);
        // Its margin is that of half an event more than there were: 45 %.
        let some = outcome("waiting over 4.00 s < 1%", 0.004, -0.8);
        let told = |clauses: &[&TargetOutcome]| nearest(&with(clauses.iter().copied().cloned().collect()));
        assert_eq!(told(&[&nobody]), "nothing was near its limit");
        let found = told(&[&p95, &nobody]);
        assert_eq!(found, "nearest to its limit: `p95 < 2.00 s`, observed 15 % of its limit");
        let found = told(&[&p95, &some, &nobody]);
        assert_eq!(found, "nearest to its limit: `waiting over 4.00 s < 1%`, observed 40 % of its limit");
        let found = told(&[&p95, &some, &enough, &nobody]);
        assert_eq!(found, "nearest to its limit: `throughput > 100/s`, observed 1.3 times its limit");
    }
}
