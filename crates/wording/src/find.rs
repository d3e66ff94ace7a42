//! What is said of a find: the load line, or why there is none and what to try.

use analysis::{fewest_samples, nearest_limit, overload_fault, share_of_limit, worst_missed};
use model::QosTarget;
use model::qos::Measure;
use model::record::TargetOutcome;
use model::study::{
    By, Confirmation, Find, FindAnswer, FindGoal, LoadLine, NoAnswer, NoAnswerFacts, Trial, WhyNot,
};
use model::units::{self, number, percent};

/// Fills in the evidence of an answer from its facts and the study's `trials`.
pub fn fill_in(find: &mut Find, trials: &[Trial]) {
    if let Some(FindAnswer::NoAnswer(no_answer)) = &mut find.answer {
        fill_in_evidence(find.goal.by, no_answer, trials);
    }
}

/// The same where the answer is one of several: loads are counted as `by` says.
pub(crate) fn fill_in_evidence(by: By, no_answer: &mut NoAnswer, trials: &[Trial]) {
    if let Some(facts) = &no_answer.facts {
        no_answer.evidence = evidence(by, facts, trials);
    }
}

/// The answer in a sentence or three.
pub fn answer(goal: &FindGoal, answer: &FindAnswer) -> String {
    match answer {
        FindAnswer::LoadLine(line) => load_line(goal, line),
        FindAnswer::NoAnswer(no_answer) => format!("no load line: {}", why(goal, no_answer)),
    }
}

/// `412 users`, `41.2 sessions/s`, `1 user`.
pub fn load(by: By, load: f64) -> String {
    match by {
        By::Users if load == 1.0 => "1 user".to_string(),
        By::Users => format!("{} users", number(load)),
        By::Rate => format!("{} sessions/s", number(load)),
    }
}

fn load_line(goal: &FindGoal, line: &LoadLine) -> String {
    let by = goal.by;
    let mut said = format!(
        "load line {} [{}, {}] ({} interval)",
        load(by, line.load),
        number(line.low),
        number(line.high),
        percent(goal.confidence_ratio)
    );
    if let Some(target) = &line.held_by {
        said += &format!(", held by {}", holder(target));
        if line.held_by_ratio < 0.8 {
            said += &format!(" in {} of the resampled fits", percent(line.held_by_ratio));
        }
    } else {
        said += ", held by no target: above it the load is not carried any more";
    }
    let passed = line.passed.as_ref();
    let failed = line.failed.as_ref();
    match (passed, failed) {
        (Some(passed), Some(failed)) => {
            let long = whole_seconds(passed.for_s);
            said += &format!("; {} passed for {long}, {} failed", number(passed.load), number(failed.load));
        }
        (Some(passed), None) => {
            let long = whole_seconds(passed.for_s);
            said += &format!("; {} passed for {long}, none above it was shown to fail", number(passed.load));
        }
        (None, Some(failed)) => {
            said += &format!("; {} failed, none below it was shown to pass", number(failed.load));
        }
        (None, None) if line.confirming == 0 => {
            said += "; not confirmed: there was no time left for it";
        }
        (None, None) => said += "; not confirmed",
    }
    said += &contradicted(line);
    if line.high >= goal.most && line.failed.is_none() {
        // No trial may be above, however much time there is.
        said += &format!(
            "; no more than {} were to be tried, and the line may lie above (--most; a kit's data may be for so many only: \
             --size)",
            load(by, goal.most)
        );
    } else if line.wide {
        said += "; the interval is longer than asked for: give it more time (--budget)";
    }
    // Within the interval it is no difference that could be told.
    if let Some(average) = line.by_average.filter(|average| *average > line.high) {
        said +=
            &format!("; judged by averages it would be {}: the average hides the tail", load(by, average));
    }
    said
}

/// The confirming trials that went the wrong way: `; but 390 failed for 90 s`.
fn contradicted(line: &LoadLine) -> String {
    let said = |trial: &Confirmation| {
        let how = if trial.load <= line.load { "failed" } else { "passed" };
        format!("{} {how} for {}", number(trial.load), whole_seconds(trial.for_s))
    };
    let all: Vec<String> = line.contradicted.iter().map(said).collect();
    if all.is_empty() { String::new() } else { format!("; but {}", all.join(" and ")) }
}

/// `90 s`, `14 min 20 s`: nobody waits for tenths.
fn whole_seconds(seconds: f64) -> String {
    if seconds < 119.5 { format!("{seconds:.0} s") } else { units::show_seconds(seconds.round()) }
}

/// `Browse p95 < 300 ms` is spoken of as `p95 of Browse`.
fn holder(target: &QosTarget) -> String {
    match (target.measure, &target.operation) {
        (Measure::Waiting(over_s), _) => {
            format!("users waiting for longer than {}", units::show_seconds(over_s))
        }
        (measure, Some(operation)) => format!("{measure} of {operation}"),
        (measure, None) => measure.to_string(),
    }
}

fn why(goal: &FindGoal, no_answer: &NoAnswer) -> String {
    let evidence = &no_answer.evidence;
    let at = no_answer.load.map(|at| load(goal.by, at)).unwrap_or_default();
    let bracket = bracket(goal.by, no_answer);
    let on_both_sides = no_answer.highest_passed.is_some() && no_answer.lowest_failed.is_some();
    match no_answer.why {
        WhyNot::FailsAtLeast => format!(
            "the stack fails at the least load, {at}: {evidence}; look at one user with `plimsoll try`, or ask for what an \
             idle stack can do (--qos, the kit's cycle times)"
        ),
        WhyNot::NeverPasses => {
            format!("no load meets all targets: {evidence}; ask for less, or for slower answers (--qos)")
        }
        WhyNot::NeverFails => format!(
            "the targets are still met at {at}, the highest load that was to be tried: {evidence}; allow more (--most; a \
             kit's data may be for so many only: --size), or set stricter targets (--qos)"
        ),
        WhyNot::GeneratorLimit | WhyNot::MachineLimit if on_both_sides => format!(
            "the loads near the line could not be driven validly, the last of them {at}: {evidence}; {bracket}; give the \
             generator and the machine more room"
        ),
        WhyNot::GeneratorLimit => format!(
            "the generator reached its limit at {at}, before the stack did: {evidence}; {bracket}; give the generator more \
             CPUs"
        ),
        WhyNot::MachineLimit => {
            format!("this machine reached a limit of its own at {at}: {evidence}; {bracket}")
        }
        WhyNot::Unstable => format!(
            "unstable: {evidence}; {bracket}; compare runs of both kinds with `plimsoll show`, look for what differs \
             between starts of the stack"
        ),
        WhyNot::Drifts => format!(
            "the results drift: {evidence}; {bracket}; look for what fills up or wears out (memory, tables, logs), or let \
             the data be reset for each trial"
        ),
        WhyNot::Unsettled => format!(
            "no steady state was found at {at}: {evidence}; {bracket}; give it longer windows (--window), or look at its \
             throughput over time with `plimsoll show`"
        ),
        WhyNot::NotValid => format!("trials at {at} were not valid: {evidence}; {bracket}"),
        WhyNot::OutOfTime => format!("the time was up: {evidence}; {bracket}; give it more (--budget)"),
        WhyNot::NotKnown => format!(
            "the line is still open, with as many trials as were to be made: {evidence}; {bracket}; give them longer \
             windows (--window)"
        ),
        WhyNot::Interrupted => {
            format!("interrupted: {evidence}; {bracket}; go on with `plimsoll find --resume`")
        }
    }
}

fn bracket(by: By, no_answer: &NoAnswer) -> String {
    match (no_answer.highest_passed, no_answer.lowest_failed) {
        (Some(passed), Some(failed)) if passed < failed => {
            format!("{} passed, {} failed", number(passed), load(by, failed))
        }
        (Some(passed), Some(failed)) => {
            format!("{} passed and yet {} failed", number(passed), load(by, failed))
        }
        (Some(passed), None) => format!("{} passed, none failed", load(by, passed)),
        (None, Some(failed)) => format!("{} failed, none passed", load(by, failed)),
        (None, None) => "no load passed or failed yet".to_string(),
    }
}

/// What shows that there is no load line.
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
pub(crate) fn nearest(trial: &Trial) -> String {
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
    use crate::sample;
    use model::Check;
    use model::record::Margin;

    fn line() -> LoadLine {
        let confirmation = |trial, load| Some(Confirmation { trial, load, for_s: 90.0 });
        LoadLine {
            load: 412.0,
            low: 398.0,
            high: 421.0,
            wide: false,
            held_by: Some("Browse p95 < 300 ms".parse().expect("a target")),
            held_by_ratio: 0.97,
            slope: 9.0,
            passed: confirmation(17, 399.0),
            failed: confirmation(18, 436.0),
            contradicted: Vec::new(),
            confirming: 2,
            throughput_per_s: Some(940.0),
            by_average: None,
        }
    }

    fn sentence(goal: &FindGoal, line: LoadLine) -> String {
        answer(goal, &FindAnswer::LoadLine(line))
    }

    #[test]
    fn a_load_line_is_told_with_its_interval_its_holder_and_what_confirmed_it() {
        assert_eq!(
            sentence(&FindGoal::default(), line()),
            "load line 412 users [398, 421] (90 % interval), held by p95 of Browse; 399 passed for 90 s, 436 failed"
        );
    }

    #[test]
    fn rates_averages_and_doubts_are_told_too() {
        let rate = FindGoal { by: By::Rate, ..FindGoal::default() };
        let unconfirmed = LoadLine { passed: None, failed: None, confirming: 0, ..line() };
        let by_rate = LoadLine { load: 41.2, low: 39.8, high: 42.1, ..unconfirmed };
        let told = sentence(&rate, by_rate);
        assert!(
            told.starts_with("load line 41.2 sessions/s [39.8, 42.1] (90 % interval), held by"),
            "{told}"
        );
        assert!(told.ends_with("not confirmed: there was no time left for it"), "{told}");
        let waiting =
            LoadLine { held_by: Some("waiting over 4.00 s < 1%".parse().expect("a target")), ..line() };
        let told = sentence(&FindGoal::default(), waiting);
        assert!(told.contains("held by users waiting for longer than 4.00 s; 399 passed"), "{told}");
        let averaged = LoadLine { by_average: Some(610.0), wide: true, held_by_ratio: 0.6, ..line() };
        let told = sentence(&FindGoal::default(), averaged);
        assert!(
            told.ends_with("judged by averages it would be 610 users: the average hides the tail"),
            "{told}"
        );
        assert!(told.contains("the interval is longer than asked for"), "{told}");
        assert!(told.contains("held by p95 of Browse in 60 % of the resampled fits"), "{told}");
    }

    #[test]
    fn an_interval_that_ends_where_no_trial_may_be_above_says_so_and_not_that_it_wants_time() {
        let goal = FindGoal { most: 421.0, ..FindGoal::default() };
        let told = sentence(&goal, LoadLine { wide: true, failed: None, ..line() });
        let cut = "; no more than 421 users were to be tried, and the line may lie above";
        assert!(told.contains(cut) && !told.contains("--budget"), "{told}");
        let goal = FindGoal { most: 422.0, ..goal };
        let told = sentence(&goal, LoadLine { wide: true, ..line() });
        assert!(!told.contains("were to be tried") && told.contains("--budget"), "{told}");
        let goal = FindGoal { most: 436.0, ..goal };
        let told = sentence(&goal, LoadLine { high: 436.0, wide: true, ..line() });
        assert!(!told.contains("may lie above") && told.contains("--budget"), "436 failed: {told}");
    }

    #[test]
    fn what_went_the_wrong_way_is_told_beside_what_went_right() {
        let wrong = |load| vec![Confirmation { trial: 19, load, for_s: 90.0 }];
        let failed_below = LoadLine { contradicted: wrong(390.0), confirming: 3, ..line() };
        let told = sentence(&FindGoal::default(), failed_below);
        assert!(told.ends_with("399 passed for 90 s, 436 failed; but 390 failed for 90 s"), "{told}");
        let passed_above = LoadLine { contradicted: wrong(420.0), confirming: 3, ..line() };
        let told = sentence(&FindGoal::default(), passed_above);
        assert!(told.ends_with("436 failed; but 420 passed for 90 s"), "{told}");
        let neither = LoadLine { passed: None, failed: None, contradicted: wrong(390.0), ..line() };
        let told = sentence(&FindGoal::default(), neither);
        assert!(told.ends_with("; not confirmed; but 390 failed for 90 s"), "{told}");
    }

    #[test]
    fn a_limit_between_loads_that_passed_and_failed_is_not_said_to_come_before_the_stacks() {
        let none = |lowest_failed| NoAnswer {
            why: WhyNot::GeneratorLimit,
            load: Some(60.0),
            evidence: "it was late".to_string(),
            facts: None,
            highest_passed: Some(40.0),
            lowest_failed,
        };
        let told = |none| answer(&FindGoal::default(), &FindAnswer::NoAnswer(none));
        assert!(told(none(None)).contains("before the stack did"));
        let between = told(none(Some(80.0)));
        assert!(between.contains("could not be driven validly"), "{between}");
        assert!(!between.contains("before the stack did"), "{between}");
    }

    #[test]
    fn a_line_that_was_looked_at_without_being_confirmed_did_not_lack_time() {
        let unconfirmed = LoadLine { passed: None, failed: None, confirming: 3, ..line() };
        let text = sentence(&FindGoal::default(), unconfirmed);
        assert!(text.contains("; not confirmed") && !text.contains("no time left"), "{text}");
        let contradicted = vec![Confirmation { trial: 19, load: 420.0, for_s: 90.0 }];
        let text = sentence(&FindGoal::default(), LoadLine { failed: None, contradicted, ..line() });
        assert!(text.ends_with("none above it was shown to fail; but 420 passed for 90 s"), "{text}");
        let text = sentence(&FindGoal::default(), LoadLine { held_by: None, ..line() });
        assert!(text.contains("held by no target: above it the load is not carried any more"), "{text}");
    }

    /// A trial with one target, met or missed by a factor, in which checks broke.
    fn trial(observed: f64, faults: &[Check]) -> Trial {
        let target = TargetOutcome::of("p95 < 2.00 s".parse().expect("a target"), Some(observed), 1000);
        let margin = Margin { log: Some((observed / 2.0).ln()), ..Margin::default() };
        let sentences: Vec<String> = faults.iter().map(|check| format!("{check} broke")).collect();
        let faults: Vec<(Check, &str)> =
            faults.iter().cloned().zip(sentences.iter().map(String::as_str)).collect();
        sample::trial(vec![TargetOutcome { margin, ..target }], &faults)
    }

    /// The sentence of a find that ended so, with its evidence filled in.
    fn sentence_of(why: WhyNot, facts: NoAnswerFacts, trial: Trial, loads: [Option<f64>; 3]) -> String {
        let [load, highest_passed, lowest_failed] = loads;
        let evidence = String::new();
        let none = NoAnswer { why, load, evidence, facts: Some(facts), highest_passed, lowest_failed };
        let mut find = Find { goal: FindGoal::default(), answer: Some(FindAnswer::NoAnswer(none)) };
        fill_in(&mut find, &[trial]);
        answer(&find.goal, &find.answer.expect("it has one"))
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
            evidence: "12 trials".to_string(),
            facts: None,
            highest_passed: None,
            lowest_failed: None,
        };
        let answer = Some(FindAnswer::NoAnswer(none));
        let mut find = Find { goal: FindGoal::default(), answer: answer.clone() };
        fill_in(&mut find, &[]);
        assert_eq!(find.answer, answer);
    }

    #[test]
    fn every_reason_says_what_was_seen() {
        for why in [
            WhyNot::FailsAtLeast,
            WhyNot::NeverPasses,
            WhyNot::NeverFails,
            WhyNot::GeneratorLimit,
            WhyNot::MachineLimit,
            WhyNot::Unstable,
            WhyNot::Drifts,
            WhyNot::Unsettled,
            WhyNot::NotValid,
            WhyNot::OutOfTime,
            WhyNot::NotKnown,
            WhyNot::Interrupted,
        ] {
            let evidence = "what was seen".to_string();
            let (highest_passed, lowest_failed) = (Some(40.0), Some(80.0));
            let none =
                NoAnswer { why, load: Some(60.0), evidence, facts: None, highest_passed, lowest_failed };
            let told = answer(&FindGoal::default(), &FindAnswer::NoAnswer(none));
            assert!(told.starts_with("no load line: ") && told.contains("what was seen"), "{why:?}: {told}");
        }
    }
}
