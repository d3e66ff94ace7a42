//! Made-up finds.

use model::record::study::{
    By, Confirmation, Fault, Find, FindAnswer, FindGoal, LoadLine, NoAnswer, Purpose, Question, StudyRecord,
    Trial, WhyNot,
};
use model::record::{Check, Outcome};

use super::parts::{Parts, arm, record};
use super::trial::{Stack, Wanted, spoil};
use crate::sample::diagnosis;

/// How a made-up find ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindEnding {
    /// 412 users; one of its 16 trials is not valid.
    LoadLine,
    /// 41.2 sessions a second, with an interval that is wider than asked for.
    ByRate,
    /// No answer.
    Why(WhyNot),
    /// The tool died after the ramp.
    Unfinished,
}

impl FindEnding {
    /// Every ending.
    pub const ALL: [FindEnding; 14] = [
        FindEnding::LoadLine,
        FindEnding::ByRate,
        FindEnding::Unfinished,
        FindEnding::Why(WhyNot::FailsAtLeast),
        FindEnding::Why(WhyNot::NeverPasses),
        FindEnding::Why(WhyNot::NeverFails),
        FindEnding::Why(WhyNot::GeneratorLimit),
        FindEnding::Why(WhyNot::MachineLimit),
        FindEnding::Why(WhyNot::Unstable),
        FindEnding::Why(WhyNot::Drifts),
        FindEnding::Why(WhyNot::Unsettled),
        FindEnding::Why(WhyNot::NotValid),
        FindEnding::Why(WhyNot::OutOfTime),
        FindEnding::Why(WhyNot::Interrupted),
    ];

    /// A word for file names.
    pub fn word(self) -> &'static str {
        match self {
            FindEnding::LoadLine => "load-line",
            FindEnding::ByRate => "by-rate",
            FindEnding::Unfinished => "unfinished",
            FindEnding::Why(WhyNot::FailsAtLeast) => "fails-at-least",
            FindEnding::Why(WhyNot::NeverPasses) => "never-passes",
            FindEnding::Why(WhyNot::NeverFails) => "never-fails",
            FindEnding::Why(WhyNot::GeneratorLimit) => "generator-limit",
            FindEnding::Why(WhyNot::MachineLimit) => "machine-limit",
            FindEnding::Why(WhyNot::Unstable) => "unstable",
            FindEnding::Why(WhyNot::Drifts) => "drifts",
            FindEnding::Why(WhyNot::Unsettled) => "unsettled",
            FindEnding::Why(WhyNot::NotValid) => "not-valid",
            FindEnding::Why(WhyNot::OutOfTime) => "out-of-time",
            FindEnding::Why(WhyNot::NotKnown) => "not-known",
            FindEnding::Why(WhyNot::Interrupted) => "interrupted",
        }
    }
}

/// Makes up a find.
pub fn find(ending: FindEnding) -> StudyRecord {
    let (trials, answer, sentence) = match ending {
        FindEnding::LoadLine => line(Stack::default(), 1.0),
        FindEnding::ByRate => line(Stack { line: 41.2, by_rate: true, noise: 0.15, ..Stack::default() }, 0.1),
        FindEnding::Unfinished => {
            let (mut trials, ..) = line(Stack::default(), 1.0);
            trials.truncate(9);
            (trials, None, "no answer yet: 9 trials so far".to_string())
        }
        FindEnding::Why(why) => no_answer(why),
    };
    let by_rate = ending == FindEnding::ByRate;
    let goal = FindGoal {
        by: if by_rate { By::Rate } else { By::Users },
        start: trials.first().map_or(1.0, |trial| trial.load),
        ..FindGoal::default()
    };
    let outcome = match ending {
        FindEnding::Unfinished => Outcome::Unfinished,
        FindEnding::Why(WhyNot::Interrupted) => Outcome::Interrupted,
        _ => Outcome::Completed,
    };
    let command = match by_rate {
        true => vec!["plimsoll", "find", "dvdstore", "--by", "rate"],
        false => vec!["plimsoll", "find", "dvdstore", "--qos", "Browse p95 < 300ms"],
    };
    let question = Question::Find(Find { goal, answer });
    let arms = vec![arm("apache-prefork-modphp-mariadb", None)];
    let mut made = record("dvdstore", Parts { question, arms, trials, outcome, sentence, command });
    made.id = format!("20261121-101500-find-dvdstore-{}", ending.word());
    made.diagnosis = (ending == FindEnding::LoadLine).then(diagnosis::of_a_find);
    made
}

type Found = (Vec<Trial>, Option<FindAnswer>, String);

/// A ramp, a search and two confirming trials; loads are those of a line at 412, times `scale`.
fn line(stack: Stack, scale: f64) -> Found {
    let mut trials = Vec::new();
    let mut measure = |purpose, load: f64, window_s| {
        let load = if stack.by_rate { (load * scale * 10.0).round() / 10.0 } else { load * scale };
        stack.measure(Wanted { arm: 0, block: 0, purpose, load, window_s }, &mut trials);
        if load == 433.0 {
            spoil(
                &mut trials,
                Check::SendLag,
                "send lag p99 was 7.4 ms; the limit is 5 ms: the hypervisor took 7.1 % of the CPUs' time",
            );
        }
    };
    measure(Purpose::WarmUp, 50.0, 10.0);
    [50.0, 75.0, 113.0, 169.0, 254.0, 381.0, 571.0]
        .into_iter()
        .for_each(|load| measure(Purpose::Ramp, load, 8.0));
    [387.0, 433.0, 434.0, 411.0, 396.0, 422.0]
        .into_iter()
        .for_each(|load| measure(Purpose::Search, load, 25.0));
    [399.0, 436.0].into_iter().for_each(|load| measure(Purpose::Confirm, load, 90.0));
    let confirmation = |trial: &Trial| Confirmation { trial: trial.number, load: trial.load, for_s: 90.0 };
    let (passed, failed) = (confirmation(&trials[14]), confirmation(&trials[15]));
    let (low, high) = if stack.by_rate { (38.3, 44.1) } else { (398.2, 421.3) };
    let answer = LoadLine {
        load: stack.line,
        low,
        high,
        wide: stack.by_rate,
        held_by: Some("Browse p95 < 300 ms".parse().expect("a target")),
        held_by_ratio: 0.97,
        slope: 8.7,
        passed: Some(passed),
        failed: Some(failed),
        contradicted: Vec::new(),
        confirming: 2,
        throughput_per_s: Some(if stack.by_rate { 251.3 } else { 387.6 }),
        by_average: (!stack.by_rate).then_some(468.4),
    };
    let sentence = match stack.by_rate {
        true => {
            "load line 41.2 sessions/s [38.3, 44.1] (90 % interval, wider than asked for), held by Browse p95 < 300 ms; \
             39.9 passed for 90 s, 43.6 failed"
        }
        false => {
            "load line 412 users [398, 421] (90 % interval), held by Browse p95 < 300 ms; 399 passed for 90 s, 436 failed"
        }
    };
    (trials, Some(FindAnswer::LoadLine(answer)), sentence.to_string())
}

fn no_answer(why: WhyNot) -> Found {
    let (stack, loads): (Stack, &[f64]) = match why {
        WhyNot::FailsAtLeast => (Stack { line: 0.6, ..Stack::default() }, &[10.0, 3.0, 1.0]),
        WhyNot::NeverFails => {
            (Stack { line: 9e3, ..Stack::default() }, &[50.0, 150.0, 450.0, 1350.0, 4000.0])
        }
        WhyNot::GeneratorLimit | WhyNot::MachineLimit => {
            (Stack { line: 3e4, ..Stack::default() }, &[50.0, 200.0, 800.0, 3200.0, 12800.0])
        }
        WhyNot::Interrupted | WhyNot::OutOfTime => (Stack::default(), &[50.0, 113.0, 254.0, 381.0, 571.0]),
        _ => (Stack::default(), &[50.0, 113.0, 254.0, 381.0, 571.0, 412.0, 411.0, 413.0, 410.0, 412.0]),
    };
    let mut trials = Vec::new();
    for (index, load) in loads.iter().enumerate() {
        let (purpose, window_s) = if index < 5 { (Purpose::Ramp, 8.0) } else { (Purpose::Search, 25.0) };
        let slower = match (why, index) {
            (WhyNot::Unstable, 5..) if index % 2 == 0 => 3.2,
            (WhyNot::Drifts, 5..) => 1.0 + 0.35 * (index - 4) as f64,
            _ => 1.0,
        };
        Stack { slower, ..stack }
            .measure(Wanted { arm: 0, block: 0, purpose, load: *load, window_s }, &mut trials);
    }
    damage(why, &mut trials);
    let (load, evidence) = reason(why);
    let valid = || trials.iter().filter(|trial| trial.valid());
    let loads = |pass| valid().filter(move |trial| trial.pass() == Some(pass)).map(|trial| trial.load);
    let answer = NoAnswer {
        why,
        load,
        evidence: evidence.into(),
        facts: None,
        highest_passed: loads(true).reduce(f64::max),
        lowest_failed: loads(false).reduce(f64::min),
    };
    let sentence = format!("no load line: {evidence}");
    (trials, Some(FindAnswer::NoAnswer(answer)), sentence)
}

/// What the trials themselves show of the reason.
fn damage(why: WhyNot, trials: &mut [Trial]) {
    match why {
        WhyNot::GeneratorLimit => {
            spoil(trials, Check::GeneratorCpu, "the generator used 97 % of its core; the limit is 80 %")
        }
        WhyNot::MachineLimit => {
            spoil(trials, Check::Room, "connections had no local port: 28 231 of 28 232 used")
        }
        WhyNot::NotValid => trials.iter_mut().skip(5).for_each(|trial| {
            let sentence = "users by Little's law differ by 6.2 %; the limit is 2 %".to_string();
            trial.faults.push(Fault { check: Check::Little, sentence });
        }),
        WhyNot::Unsettled => trials.iter_mut().skip(5).for_each(|trial| {
            (trial.warm_up_s, trial.measured) = (None, None);
            let sentence = "no steady state within 75 s".to_string();
            trial.faults.push(Fault { check: Check::Duration, sentence });
        }),
        _ => {}
    }
}

fn reason(why: WhyNot) -> (Option<f64>, &'static str) {
    match why {
        WhyNot::FailsAtLeast => (Some(1.0), "Browse p95 misses 300 ms with a single user"),
        WhyNot::NeverPasses => {
            (Some(412.0), "at 412 users `throughput > 900/s` is not met, and more load misses Browse p95")
        }
        WhyNot::NeverFails => (Some(4000.0), "4 000 users, the most that were to be tried, still pass"),
        WhyNot::GeneratorLimit => {
            (Some(12800.0), "the generator reached its limit at 12 800 users, before the stack did")
        }
        WhyNot::MachineLimit => (
            Some(12800.0),
            "the machine ran out of ports at 12 800 users, before the stack reached its limit",
        ),
        WhyNot::Unstable => (Some(412.0), "412 users pass and fail by turns: Browse p95 is 250 ms or 800 ms"),
        WhyNot::Drifts => (Some(412.0), "Browse p95 at 412 users rises by 24 % from trial to trial"),
        WhyNot::Unsettled => (Some(412.0), "no steady state at 412 users within 75 s"),
        WhyNot::NotValid => (Some(412.0), "trials near 412 users are not valid: Little's law does not hold"),
        WhyNot::OutOfTime => (None, "the time was up; the line lies between 381 and 571 users"),
        WhyNot::NotKnown => (None, "12 trials left it open; the line lies between 381 and 571 users"),
        WhyNot::Interrupted => (None, "the user ended it; the line lies between 381 and 571 users"),
    }
}
