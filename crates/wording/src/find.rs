//! What is said of a find: the load line, or why there is none and what to try.

use model::QosTarget;
use model::catalogue::qos::Measure;
use model::record::study::{
    By, Conditions, Confirmation, Find, FindAnswer, FindGoal, LoadLine, NoAnswer, Trial, Unjudged, WhyNot,
};
use model::units::{self, number, percent};

use crate::evidence;

/// Fills in the evidence of an answer from its facts and the study's `trials`.
pub fn fill_in(find: &mut Find, trials: &[Trial]) {
    if let Some(FindAnswer::NoAnswer(no_answer)) = &mut find.answer {
        evidence::fill_in(find.goal.by, no_answer, trials);
    }
}

/// The answer in a sentence or three.
pub fn answer(goal: &FindGoal, answer: &FindAnswer) -> String {
    match answer {
        FindAnswer::LoadLine(line) => load_line(goal, line),
        FindAnswer::NoAnswer(no_answer) => {
            let chosen = chosen(goal, &no_answer.conditions);
            format!("no load line{chosen}: {}", why(goal, no_answer))
        }
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

/// What is made once and kept: data and files.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MadeOnce {
    /// What they take.
    pub bytes: u64,
    /// Seconds that making them took.
    pub took_s: f64,
}

/// What the search goes on with, and why; `made` is what the data so far took.
pub fn change(goal: &FindGoal, (before, now): (&Conditions, &Conditions), made: Option<MadeOnce>) -> String {
    match now.web_cores.filter(|_| now.web_cores != before.web_cores) {
        Some(cores) => format!(
            "the generator or the machine ended before the stack did: going on with the web tier held to {} \
             (--set web.cgroup.cpu=… fixes it)",
            share_of_cpus(cores)
        ),
        None => {
            let (fewer, more) = (users_of(goal, before), users_of(goal, now));
            let cost = made.map(|made| cost(made, more / fewer)).unwrap_or_default();
            format!(
                "the stack carries what the data are for, {}: going on with data for {}{cost} (--size fixes it)",
                load(goal.by, fewer),
                load(goal.by, more)
            )
        }
    }
}

/// The users that the data of a search are for.
fn users_of(goal: &FindGoal, conditions: &Conditions) -> f64 {
    let size = |size: &String| goal.sizes.iter().find(|one| one.size == *size);
    let found = conditions.size.as_ref().and_then(size).or(goal.sizes.first());
    found.map_or(goal.most, |size| size.users)
}

fn cost(made: MadeOnce, times: f64) -> String {
    format!(
        ", made once if nobody has: about {} and {}, which do not count as its time",
        units::show_bytes((made.bytes as f64 * times) as u64),
        crate::roughly(made.took_s * times)
    )
}

/// `10 % of a CPU`, `2 CPUs`.
fn share_of_cpus(cores: f64) -> String {
    if cores < 1.0 { format!("{} of a CPU", percent(cores)) } else { format!("{} CPUs", number(cores)) }
}

/// What a search chose for the stack: ` with data for 1 000 users`, empty where it chose nothing.
fn chosen(goal: &FindGoal, conditions: &Conditions) -> String {
    let mut said = String::new();
    if conditions.size.is_some() {
        said += &format!(", with data for {}", load(goal.by, users_of(goal, conditions)));
    }
    if let Some(cores) = conditions.web_cores {
        said += &format!(", with the web tier held to {}", share_of_cpus(cores));
    }
    said
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
    said += &chosen(goal, &line.conditions);
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
    said += &unjudged(&line.unjudged);
    if line.high >= goal.most && line.failed.is_none() {
        // No trial may be above, however much time there is.
        said += &format!(
            "; no more than {} were to be tried, and the line may lie above (--most; a kit's data may be for no more: \
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

/// The targets that had no part in the answer: `; too few samples to judge Login p95 < 1 s (31 of 100)`.
fn unjudged(all: &[Unjudged]) -> String {
    let one = |one: &Unjudged| format!("{} ({} of {})", one.target, one.samples, one.samples_needed);
    let all: Vec<String> = all.iter().map(one).collect();
    if all.is_empty() { String::new() } else { format!("; too few samples to judge {}", all.join(", ")) }
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
pub(crate) fn whole_seconds(seconds: f64) -> String {
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
             kit's data may be for no more: --size), or set stricter targets (--qos)"
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::line;
    use model::record::study::SizeForUsers;

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
            conditions: Default::default(),
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

    fn sizes() -> Vec<SizeForUsers> {
        let size = |(size, users): (&str, f64)| SizeForUsers { size: size.to_string(), users };
        [("medium", 400.0), ("huge", 2500.0)].map(size).to_vec()
    }

    #[test]
    fn what_the_search_chose_for_the_stack_is_in_its_answer() {
        let goal = FindGoal { sizes: sizes(), ..FindGoal::default() };
        let more = Conditions { size: Some("huge".to_string()), web_cores: None };
        let told = sentence(&goal, LoadLine { conditions: more, ..line() });
        assert!(told.contains("(90 % interval), with data for 2 500 users, held by"), "{told}");
        let less = Conditions { size: None, web_cores: Some(0.1) };
        let told = sentence(&goal, LoadLine { conditions: less, ..line() });
        assert!(told.contains(", with the web tier held to 10 % of a CPU, held by"), "{told}");
    }

    #[test]
    fn a_change_of_the_data_is_told_with_what_it_costs() {
        let goal = FindGoal { sizes: sizes(), ..FindGoal::default() };
        let (before, more) =
            (Conditions::default(), Conditions { size: Some("huge".to_string()), web_cores: None });
        let made = MadeOnce { bytes: 400_000_000, took_s: 16.0 };
        assert_eq!(
            change(&goal, (&before, &more), Some(made)),
            "the stack carries what the data are for, 400 users: going on with data for 2 500 users, made once if nobody \
             has: about 2.50 GB and 2 min, which do not count as its time (--size fixes it)"
        );
        let held = Conditions { size: None, web_cores: Some(0.02) };
        let told = change(&goal, (&before, &held), None);
        assert!(
            told.contains("the web tier held to 2 % of a CPU (--set web.cgroup.cpu=… fixes it)"),
            "{told}"
        );
    }

    #[test]
    fn targets_without_samples_enough_are_told() {
        let few = Unjudged { target: "Login p95 < 1.00 s".to_string(), samples: 31, samples_needed: 100 };
        let told = sentence(&FindGoal::default(), LoadLine { unjudged: vec![few], ..line() });
        assert!(told.ends_with("; too few samples to judge Login p95 < 1.00 s (31 of 100)"), "{told}");
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
            let none = NoAnswer {
                why,
                load: Some(60.0),
                conditions: Default::default(),
                evidence,
                facts: None,
                highest_passed,
                lowest_failed,
            };
            let told = answer(&FindGoal::default(), &FindAnswer::NoAnswer(none));
            assert!(told.starts_with("no load line: ") && told.contains("what was seen"), "{why:?}: {told}");
        }
    }
}
