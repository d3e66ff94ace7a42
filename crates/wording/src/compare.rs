//! What a comparison says, as people read it.
//!
//! "Faster by x %" is a share of A: of its time, where times are compared; of its throughput or load line otherwise.

use model::record::study::{
    Better, By, Compare, Conclusion, Effect, Failed, Failing, Lopsided, SpoilCause, Trial,
};
use model::units::{self, number, percent};

use crate::evidence;

/// No bound is said to be shorter than this.
const RESOLUTION: f64 = 0.001;

/// Fills in what broke in an arm that spoiled more blocks, from its cause and the study's `trials`.
pub fn fill_in(compare: &mut Compare, trials: &[Trial]) {
    let by = compare.goal.as_ref().map_or(By::Users, |goal| goal.by);
    let Some(Lopsided { fault, cause: Some(cause), .. }) = &mut compare.lopsided else { return };
    *fault = match cause {
        SpoilCause::Check { check, trial } => {
            let trial = trials.iter().find(|one| one.number == *trial);
            let broken = trial.and_then(|trial| trial.faults.iter().find(|fault| fault.check == *check));
            broken.map_or_else(|| format!("check {check} failed"), |fault| fault.sentence.clone())
        }
        SpoilCause::Unmeasured => "nothing was measured".to_string(),
        SpoilCause::Unsettled => "no steady state was found".to_string(),
        SpoilCause::NoLine(no_answer) => {
            evidence::fill_in(by, no_answer, trials);
            format!("no load line was found: {}", no_answer.evidence)
        }
    };
}

/// The answer of a comparison: which is faster and by how much, or that no difference is larger than so much, or that
/// the evidence is not enough. `spoiled` blocks were not valid.
pub fn compare(compare: &Compare, spoiled: u32) -> String {
    let Some(primary) = compare.effects.first() else {
        let why = match spoiled {
            0 => "no block is over yet".to_string(),
            1 => "the only block was not valid".to_string(),
            _ => format!("none of {spoiled} blocks was valid"),
        };
        let spoils = compare.lopsided.as_ref().map(|lopsided| format!(": {}", spoils(lopsided)));
        return format!("not enough evidence: {why}{}", spoils.unwrap_or_default());
    };
    let mut sentence = match (&compare.lopsided, &compare.failed) {
        (Some(lopsided), _) => one_sided(primary, lopsided),
        (None, Some(failed)) => by_failures(primary, failed, by_figures),
        (None, None) => by_figures(primary),
    };
    let confidence = percent(compare.confidence_ratio);
    let blocks = if primary.blocks == 1 { "block" } else { "blocks" };
    if primary.low.is_some() {
        sentence += &format!(" ({confidence} interval, {} {blocks})", primary.blocks);
    }
    if let Some(gate) = compare.gate_ratio {
        sentence += &gate_words(gate, compare.gate_held);
    }
    if let Some(failed) = &compare.failed {
        sentence += &format!("; but {}", failures(failed));
    }
    let contrary = contradiction(primary, &compare.effects);
    if let Some(contrary) = contrary.filter(|_| compare.failed.is_none() && compare.lopsided.is_none()) {
        sentence += &format!("; but {} says the opposite: {}", figure(&contrary.figure), change(contrary));
    }
    sentence + &spoiled_blocks(spoiled)
}

/// The same of two stored runs, which have one window each: there are no blocks to add.
pub fn stored(compare: &Compare) -> String {
    let Some(primary) = compare.effects.first() else {
        return "not enough evidence: the runs have no figure in common".to_string();
    };
    let mut sentence = match (&compare.failed, &primary.conclusion) {
        (Some(failed), _) => by_failures(primary, failed, longer),
        (None, Conclusion::Open { .. }) => longer(primary),
        (None, _) => by_figures(primary),
    };
    if primary.low.is_some() {
        sentence += &format!(" ({} interval)", percent(compare.confidence_ratio));
    }
    if let Some(gate) = compare.gate_ratio {
        sentence += &gate_words(gate, compare.gate_held);
    }
    if let Some(failed) = &compare.failed {
        sentence += &format!("; but {}", failures(failed));
    }
    let contrary = contradiction(primary, &compare.effects).filter(|_| compare.failed.is_none());
    if let Some(contrary) = contrary {
        sentence += &format!("; but {} says the opposite: {}", figure(&contrary.figure), change(contrary));
    }
    sentence + "; " + LEFT_OUT
}

/// What the interval of two stored runs leaves out.
const LEFT_OUT: &str = "one run of each, not paired: how much it changes from one start of a stack to the next is not in \
                        the interval, and what drifted between the runs is in the difference";

/// Two windows that leave it open.
fn longer(primary: &Effect) -> String {
    format!("not enough evidence (longer runs, or a paired comparison, would tell): {}", bounds(primary))
}

fn by_figures(primary: &Effect) -> String {
    match &primary.conclusion {
        Conclusion::Faster => better(primary, "faster"),
        Conclusion::Slower => better(primary, "slower"),
        Conclusion::Same => same(primary),
        Conclusion::Open { more_blocks } => open(primary, *more_blocks),
    }
}

/// Who fails more is not the better one, however soon the rest completed.
/// `open` says what would close a question that the figures leave open.
fn by_failures(primary: &Effect, failed: &Failed, open: impl Fn(&Effect) -> String) -> String {
    match (failed.arm, &primary.conclusion) {
        (1, Conclusion::Slower) | (0, Conclusion::Faster) => by_figures(primary),
        (1, _) => format!("B is worse: of what completed, {}", bounds(primary)),
        (_, Conclusion::Slower) => format!("neither is better: of what completed, {}", bounds(primary)),
        (_, Conclusion::Open { .. }) => open(primary),
        _ => by_figures(primary),
    }
}

/// `40 % of B's operations failed (A: 0 %)`.
fn failures(failed: &Failed) -> String {
    let (own, other) = match failed.arm {
        0 => (failed.a_ratio, failed.b_ratio),
        _ => (failed.b_ratio, failed.a_ratio),
    };
    let (name, other_name) = names(failed.arm);
    let (own, other) = (percent(own), percent(other));
    match failed.what {
        Failing::Operations => format!("{own} of {name}'s operations failed ({other_name}: {other})"),
        Failing::Waiting => format!("{own} of {name}'s users were left waiting ({other_name}: {other})"),
    }
}

/// What is left of an arm whose other trials broke is no fair sample of it.
fn one_sided(primary: &Effect, lopsided: &Lopsided) -> String {
    format!("not enough evidence: {}; in those that are left, {}", spoils(lopsided), bounds(primary))
}

/// `5 blocks were spoiled by B and 1 by A, most often because the generator was late`.
fn spoils(Lopsided { arm, spoiled, other, fault, .. }: &Lopsided) -> String {
    let (name, other_name) = names(*arm);
    format!("{spoiled} blocks were spoiled by {name} and {other} by {other_name}, most often because {fault}")
}

fn names(arm: usize) -> (&'static str, &'static str) {
    if arm == 0 { ("A", "B") } else { ("B", "A") }
}

/// `throughput`, `mean response time`, `95th percentile`: a figure in words.
pub fn figure(name: &str) -> String {
    match name {
        "mean" => "mean response time".to_string(),
        "p50" => "median response time".to_string(),
        "load_line" => "load line".to_string(),
        "throughput" => "throughput".to_string(),
        other => format!("{} response time", other),
    }
}

/// `5.2 % faster [3.1, 7.0]`; without an interval where there is none yet.
pub fn change(effect: &Effect) -> String {
    let (by, low, high) = shares(effect);
    let word = if by >= 0.0 { "faster" } else { "slower" };
    let (by, low, high) = if by >= 0.0 { (by, low, high) } else { (-by, high.map(|x| -x), low.map(|x| -x)) };
    match (low, high) {
        (Some(low), Some(high)) => format!("{} {word} [{}, {}]", percent(by), bare(low), bare(high)),
        _ => format!("{} {word}", percent(by)),
    }
}

/// By which share of A's value B is better: the estimate and both ends of its interval.
fn shares(effect: &Effect) -> (f64, Option<f64>, Option<f64>) {
    match effect.better {
        Better::Higher => (effect.ratio - 1.0, effect.low.map(|x| x - 1.0), effect.high.map(|x| x - 1.0)),
        Better::Lower => (1.0 - effect.ratio, effect.high.map(|x| 1.0 - x), effect.low.map(|x| 1.0 - x)),
    }
}

fn better(effect: &Effect, word: &str) -> String {
    let (by, low, high) = shares(effect);
    let (by, ends) = if by >= 0.0 { (by, [low, high]) } else { (-by, [high.map(|x| -x), low.map(|x| -x)]) };
    let interval = match ends {
        [Some(low), Some(high)] => format!(" [{}, {}]", bare(low), bare(high)),
        _ => String::new(),
    };
    format!("B is {word} by {}{interval}: {}", percent(by), values(effect))
}

/// `mean response time 38.2 ms instead of 40.1 ms`.
fn values(effect: &Effect) -> String {
    let name = figure(&effect.figure);
    match effect.figure.as_str() {
        "throughput" => format!("{name} {}/s instead of {}/s", number(effect.b), number(effect.a)),
        "load_line" => format!("{name} {} instead of {}", number(effect.b), number(effect.a)),
        _ => format!("{name} {} instead of {}", units::show_seconds(effect.b), units::show_seconds(effect.a)),
    }
}

fn same(effect: &Effect) -> String {
    let ends = [effect.low, effect.high].into_iter().flatten();
    let largest = ends.map(|x| (x - 1.0).abs()).fold(RESOLUTION, f64::max);
    format!("no difference larger than {}: {}", percent(rounded_up(largest)), values(effect))
}

fn open(effect: &Effect, more_blocks: Option<u32>) -> String {
    let more = match more_blocks {
        Some(1) => " (about 1 more block would do)".to_string(),
        Some(more) => format!(" (about {} more blocks would do)", number(f64::from(more))),
        None if effect.blocks < 3 => " (more blocks are needed to tell how many would do)".to_string(),
        None => " (no number of blocks within reason would do: the noise is too large)".to_string(),
    };
    format!("not enough evidence{more}: {}", bounds(effect))
}

/// Between which shares of A's value B's lies, or both values where that is not known.
fn bounds(effect: &Effect) -> String {
    match (effect.low, effect.high) {
        (Some(low), Some(high)) => {
            let (low, high) = (signed(low - 1.0), signed(high - 1.0));
            format!("{} of B is between {low} and {high} of A's", figure(&effect.figure))
        }
        _ => values(effect),
    }
}

fn gate_words(gate: f64, held: Option<bool>) -> String {
    let gate = percent(gate);
    match held {
        Some(true) => format!("; the gate of {gate} holds"),
        Some(false) => format!("; the gate of {gate} fails"),
        None => format!("; whether the gate of {gate} holds is still open"),
    }
}

/// A figure of all operations that certainly goes the other way.
fn contradiction<'a>(primary: &Effect, effects: &'a [Effect]) -> Option<&'a Effect> {
    let opposite = match primary.conclusion {
        Conclusion::Faster => Conclusion::Slower,
        Conclusion::Slower => Conclusion::Faster,
        _ => return None,
    };
    effects.iter().skip(1).find(|effect| effect.operation.is_none() && effect.conclusion == opposite)
}

fn spoiled_blocks(spoiled: u32) -> String {
    match spoiled {
        0 => String::new(),
        1 => "; 1 more block was not valid".to_string(),
        _ => format!("; {spoiled} more blocks were not valid"),
    }
}

/// A share in per cent without its sign: `3.1`.
fn bare(ratio: f64) -> String {
    let sign = if ratio < 0.0 { "−" } else { "" };
    let text = percent(ratio.abs());
    format!("{sign}{}", text.trim_end_matches(" %"))
}

/// `+3.1 %`, `−0.4 %`.
fn signed(ratio: f64) -> String {
    let sign = if ratio < 0.0 { "−" } else { "+" };
    format!("{sign}{}", percent(ratio.abs()))
}

/// To the next two digits away from zero: a bound must not be rounded to what doesn't hold.
fn rounded_up(ratio: f64) -> f64 {
    if ratio <= 0.0 {
        return 0.0;
    }
    let unit = 10f64.powf(ratio.log10().floor() - 1.0);
    (ratio / unit - 1e-9).ceil() * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use model::Check;
    use model::record::study::{NoAnswer, NoAnswerFacts, WhyNot};

    fn effect(name: &str, ratio: f64, interval: Option<(f64, f64)>, conclusion: Conclusion) -> Effect {
        let better = if name == "throughput" { Better::Higher } else { Better::Lower };
        Effect {
            figure: name.to_string(),
            operation: None,
            better,
            a: if name == "throughput" { 940.0 } else { 0.04 },
            b: if name == "throughput" { 940.0 * ratio } else { 0.04 * ratio },
            ratio,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            bootstrap: None,
            blocks: 12,
            conclusion,
        }
    }

    fn sentence(effects: Vec<Effect>, gate: Option<(f64, Option<bool>)>, spoiled: u32) -> String {
        compare(&comparison(effects, gate), spoiled)
    }

    fn comparison(effects: Vec<Effect>, gate: Option<(f64, Option<bool>)>) -> Compare {
        Compare {
            load: "20 users".to_string(),
            by: effects[0].figure.clone(),
            gate_ratio: gate.map(|(gate, _)| gate),
            conclusion: Some(effects[0].conclusion.clone()),
            gate_held: gate.and_then(|(_, held)| held),
            effects,
            ..Compare::default()
        }
    }

    #[test]
    fn each_answer_has_its_sentence() {
        let open = |more_blocks| Conclusion::Open { more_blocks };
        let table = [
            (
                effect("mean", 0.95, Some((0.93, 0.97)), Conclusion::Faster),
                "B is faster by 5 % [3, 7]: mean response time 38.0 ms instead of 40.0 ms (95 % interval, 12 blocks)",
            ),
            (
                effect("mean", 1.2, Some((1.1, 1.31)), Conclusion::Slower),
                "B is slower by 20 % [10, 31]: mean response time 48.0 ms instead of 40.0 ms (95 % interval, 12 blocks)",
            ),
            (
                effect("throughput", 1.1, Some((1.05, 1.15)), Conclusion::Faster),
                "B is faster by 10 % [5, 15]: throughput 1 034/s instead of 940/s (95 % interval, 12 blocks)",
            ),
            (
                effect("throughput", 0.9, Some((0.85, 0.95)), Conclusion::Slower),
                "B is slower by 10 % [5, 15]: throughput 846/s instead of 940/s (95 % interval, 12 blocks)",
            ),
            (
                effect("p95", 1.001, Some((0.9951, 1.0042)), Conclusion::Same),
                "no difference larger than 0.49 %: p95 response time 40.0 ms instead of 40.0 ms (95 % interval, 12 \
                 blocks)",
            ),
            (
                effect("mean", 1.01, Some((0.96, 1.06)), open(Some(30))),
                "not enough evidence (about 30 more blocks would do): mean response time of B is between −4 % and +6 % \
                 of A's (95 % interval, 12 blocks)",
            ),
            (
                effect("mean", 1.01, None, open(Some(1))),
                "not enough evidence (about 1 more block would do): mean response time 40.4 ms instead of 40.0 ms",
            ),
        ];
        for (effect, expected) in table {
            assert_eq!(sentence(vec![effect], None, 0), expected);
        }
    }

    #[test]
    fn who_fails_more_is_not_called_faster() {
        let failed = |arm, a_ratio, b_ratio| {
            let what = Failing::Operations;
            let failed = Some(Failed { arm, what, a_ratio, b_ratio });
            let faster = effect("mean", 0.5, Some((0.48, 0.52)), Conclusion::Faster);
            compare(&Compare { failed, ..comparison(vec![faster], Some((0.03, Some(false)))) }, 0)
        };
        assert_eq!(
            failed(1, 0.0, 0.4),
            "B is worse: of what completed, mean response time of B is between −52 % and −48 % of A's (95 % interval, 12 \
             blocks); the gate of 3 % fails; but 40 % of B's operations failed (A: 0 %)"
        );
        let told = failed(0, 0.4, 0.0);
        assert!(told.starts_with("B is faster by 50 %"), "{told}");
        assert!(told.ends_with("; but 40 % of A's operations failed (B: 0 %)"), "{told}");
    }

    #[test]
    fn an_arm_that_spoils_its_blocks_is_named_with_what_broke() {
        let fault = "the generator was late".to_string();
        let lopsided = Some(Lopsided { arm: 1, spoiled: 5, other: 1, fault, cause: None });
        let faster = effect("mean", 0.5, None, Conclusion::Faster);
        let told = compare(&Compare { lopsided, ..comparison(vec![faster], None) }, 6);
        let expected = "not enough evidence: 5 blocks were spoiled by B and 1 by A, most often because the \
                        generator was late";
        assert!(told.starts_with(expected), "{told}");
    }

    #[test]
    fn what_spoiled_an_arms_blocks_is_filled_in_from_its_cause() {
        let fault_of = |cause| {
            let faster = effect("mean", 0.5, None, Conclusion::Faster);
            let lopsided =
                Lopsided { arm: 1, spoiled: 5, other: 1, fault: String::new(), cause: Some(cause) };
            let mut compare = Compare { lopsided: Some(lopsided), ..comparison(vec![faster], None) };
            let late = (Check::SendLag, "the generator was late");
            fill_in(&mut compare, &[sample::trial(Vec::new(), &[(Check::Little, "users waited"), late])]);
            compare.lopsided.expect("it was there").fault
        };
        let late = SpoilCause::Check { check: Check::SendLag, trial: 3 };
        assert_eq!(fault_of(late), "the generator was late");
        assert_eq!(fault_of(SpoilCause::Unsettled), "no steady state was found");
        assert_eq!(fault_of(SpoilCause::Unmeasured), "nothing was measured");
        let none = NoAnswer {
            why: WhyNot::OutOfTime,
            load: None,
            conditions: Default::default(),
            evidence: String::new(),
            facts: Some(NoAnswerFacts::Spent { spent_s: 90.0, trials: 1 }),
            highest_passed: None,
            lowest_failed: None,
        };
        assert_eq!(fault_of(SpoilCause::NoLine(none)), "no load line was found: 1 trial in 90 s");
    }

    #[test]
    fn two_stored_runs_have_no_blocks_to_add() {
        let open = effect("mean", 1.01, Some((0.96, 1.06)), Conclusion::Open { more_blocks: None });
        assert_eq!(
            stored(&comparison(vec![open], None)),
            "not enough evidence (longer runs, or a paired comparison, would tell): mean response time of B is between \
             −4 % and +6 % of A's (95 % interval); one run of each, not paired: how much it changes from one start of a \
             stack to the next is not in the interval, and what drifted between the runs is in the difference"
        );
    }

    #[test]
    fn of_two_stored_runs_failures_decide_and_a_gate_that_holds_says_what_its_interval_leaves_out() {
        let faster = || effect("mean", 0.5, Some((0.48, 0.52)), Conclusion::Faster);
        let told = stored(&comparison(vec![faster()], Some((0.03, Some(true)))));
        assert!(told.contains("the gate of 3 % holds; one run of each, not paired"), "{told}");
        let failed = Failed { arm: 1, what: Failing::Operations, a_ratio: 0.0, b_ratio: 0.4 };
        let told = stored(&Compare {
            failed: Some(failed),
            ..comparison(vec![faster()], Some((0.03, Some(false))))
        });
        assert!(told.starts_with("B is worse: of what completed, mean response time of B is"), "{told}");
        assert!(told.contains("the gate of 3 % fails; but 40 % of B's operations failed (A: 0 %)"), "{told}");
    }

    #[test]
    fn a_bound_is_never_rounded_to_what_does_not_hold() {
        assert!((rounded_up(0.00491) - 0.005).abs() < 1e-12);
        assert!((rounded_up(0.0049) - 0.0049).abs() < 1e-12);
        assert_eq!(rounded_up(0.0), 0.0);
    }

    #[test]
    fn gates_contradictions_and_spoiled_blocks_are_told() {
        let slower = effect("mean", 1.2, Some((1.1, 1.31)), Conclusion::Slower);
        let faster = effect("p99", 0.9, Some((0.85, 0.95)), Conclusion::Faster);
        let text = sentence(vec![slower, faster], Some((0.03, Some(false))), 2);
        assert!(text.contains("; the gate of 3 % fails"), "{text}");
        assert!(text.contains("; but p99 response time says the opposite: 10 % faster [5, 15]"), "{text}");
        assert!(text.ends_with("; 2 more blocks were not valid"), "{text}");
    }
}
