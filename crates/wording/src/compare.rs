//! What a comparison says, as people read it.
//!
//! "Faster by x %" is a share of A: of its time, where times are compared; of its throughput or load line otherwise.

use model::record::study::{
    Better, By, CPU, Compare, Conclusion, Effect, Failed, Failing, Lopsided, SpoilCause, Trial,
};
use model::units::{self, number, percent};

use crate::evidence;

/// No bound is said to be shorter than this.
const RESOLUTION: f64 = 0.001;

/// Fills in what broke in an arm that spoiled more blocks, from its cause and the study's `trials`.
pub fn fill_in(compare: &mut Compare, trials: &[Trial]) {
    let by = compare.goal.as_ref().map_or(By::Users, |goal| goal.by);
    let Some(Lopsided { fault, cause: Some(cause), .. }) = &mut compare.lopsided else { return };
    *fault = spoiled_by(cause, by, trials);
}

/// What broke, in words; `trials` are the study's, whose loads are counted in `by`.
pub fn spoiled_by(cause: &mut SpoilCause, by: By, trials: &[Trial]) -> String {
    match cause {
        SpoilCause::Check { check, trial } => {
            let trial = trials.iter().find(|one| one.number == *trial);
            let broken = trial.and_then(|trial| trial.faults.iter().find(|fault| fault.check == *check));
            broken.map_or_else(|| format!("check {check} failed"), |fault| fault.sentence.clone())
        }
        SpoilCause::Unmeasured => "nothing was measured".to_string(),
        SpoilCause::Unsettled => "no steady state was found".to_string(),
        SpoilCause::LongAnswers { ratio } => {
            format!("{} of the answers were under way when a turn ended", percent(*ratio))
        }
        SpoilCause::NoLine(no_answer) => {
            evidence::fill_in(by, no_answer, trials);
            format!("no load line was found: {}", no_answer.evidence)
        }
    }
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
        (None, Some(failed)) => {
            by_failures(primary, failed, |effect| by_figures(effect, compare.most_blocks))
        }
        (None, None) => by_figures(primary, compare.most_blocks),
    };
    let confidence = percent(compare.confidence_ratio);
    let blocks = if primary.blocks == 1 { "block" } else { "blocks" };
    if primary.low.is_some() {
        sentence += &format!(" ({confidence} interval, {} {blocks})", primary.blocks);
    }
    if let Some(gate) = compare.gate_ratio {
        sentence += &gate_words(gate, compare.gate_held);
    }
    sentence += &cpu_words(primary, &compare.effects);
    if let Some(failed) = &compare.failed {
        sentence += &format!("; but {}", failures(failed));
    }
    let contrary = contradiction(primary, &compare.effects);
    if let Some(contrary) = contrary.filter(|_| compare.failed.is_none() && compare.lopsided.is_none()) {
        sentence += &format!("; but {} says the opposite: {}", figure(&contrary.figure), change(contrary));
    }
    sentence + &spoiled_blocks(spoiled)
}

/// What is said after the answer of a comparison whose time was over after `blocks` of those that were planned, valid or not.
pub fn time_over(compare: &Compare, blocks: u32) -> String {
    let each_s = compare.max_s.map(|max_s| max_s / f64::from(compare.most_blocks.max(1)));
    let expected = each_s.map_or(String::new(), |each_s| format!(" (a block was to take {each_s:.0} s)"));
    format!(
        "; its time was over after {blocks} of {} blocks{expected}: ask again with more --most-blocks, which have more time",
        compare.most_blocks
    )
}

/// The same of two stored runs, which have one window each: there are no blocks to add.
pub fn stored(compare: &Compare) -> String {
    let Some(primary) = compare.effects.first() else {
        return "not enough evidence: the runs have no figure in common".to_string();
    };
    let mut sentence = match (&compare.failed, &primary.conclusion) {
        (Some(failed), _) => by_failures(primary, failed, longer),
        (None, Conclusion::Open { .. }) => longer(primary),
        (None, _) => by_figures(primary, compare.most_blocks),
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
pub const LEFT_OUT: &str = "one run of each, not paired: how much it changes from one start of a stack to the next is not in \
                        the interval, and what drifted between the runs is in the difference";

/// Two windows that leave it open.
fn longer(primary: &Effect) -> String {
    format!("not enough evidence (longer runs, or a paired comparison, would tell): {}", bounds(primary))
}

/// `planned` blocks may be measured at most.
fn by_figures(primary: &Effect, planned: u32) -> String {
    match &primary.conclusion {
        Conclusion::Faster | Conclusion::Slower => better(primary),
        Conclusion::Same => same(primary),
        Conclusion::Open { more_blocks } => open(primary, *more_blocks, planned),
    }
}

/// `faster` or `slower`; of CPU time, `cheaper` or `costlier`.
fn comparative(effect: &Effect, by: f64) -> &'static str {
    match (effect.figure.as_str(), by >= 0.0) {
        (CPU, true) => "cheaper",
        (CPU, false) => "costlier",
        (_, true) => "faster",
        (_, false) => "slower",
    }
}

/// What the CPU time says where the figure that was asked about says nothing yet: it varies far less.
fn cpu_words(primary: &Effect, effects: &[Effect]) -> String {
    let open = matches!(primary.conclusion, Conclusion::Open { .. });
    let Some(cpu) = effects.iter().find(|effect| open && effect.figure == CPU && *effect != primary) else {
        return String::new();
    };
    match &cpu.conclusion {
        Conclusion::Open { .. } => String::new(),
        Conclusion::Same => format!("; by its CPU time there is {}", same(cpu)),
        Conclusion::Faster | Conclusion::Slower => format!("; by its CPU time, {}", better(cpu)),
    }
}

/// Who fails more is not the better one, however soon the rest completed.
/// `open` says what would close a question that the figures leave open.
fn by_failures(primary: &Effect, failed: &Failed, open: impl Fn(&Effect) -> String) -> String {
    match (failed.arm, &primary.conclusion) {
        (1, Conclusion::Slower) | (0, Conclusion::Faster) => better(primary),
        (1, _) => format!("B is worse: of what completed, {}", bounds(primary)),
        (_, Conclusion::Slower) => format!("neither is better: of what completed, {}", bounds(primary)),
        (_, Conclusion::Open { .. }) => open(primary),
        (_, Conclusion::Faster) => better(primary),
        (_, Conclusion::Same) => same(primary),
    }
}

/// `40 % of B's operations failed (A: 0 %)`.
fn failures(failed: &Failed) -> String {
    failures_of(failed, ["A", "B"])
}

/// The same of two that have these names.
pub fn failures_of(failed: &Failed, [first, second]: [&str; 2]) -> String {
    let (own, other, name, other_name) = match failed.arm {
        0 => (failed.a_ratio, failed.b_ratio, first, second),
        _ => (failed.b_ratio, failed.a_ratio, second, first),
    };
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
        CPU => "CPU time of an operation".to_string(),
        "throughput" => "throughput".to_string(),
        other => format!("{} response time", other),
    }
}

/// `5.2 % faster [3.1, 7.0]`; without an interval where there is none yet.
pub fn change(effect: &Effect) -> String {
    let (by, low, high) = shares(effect);
    let word = comparative(effect, by);
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

fn better(effect: &Effect) -> String {
    let (by, low, high) = shares(effect);
    let word = comparative(effect, by);
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

fn open(effect: &Effect, more_blocks: Option<u32>, planned: u32) -> String {
    let more = match more_blocks {
        Some(more) if effect.blocks + more > planned => {
            let all = effect.blocks + more;
            format!(" (about {} blocks would do: --most-blocks {all})", number(f64::from(all)))
        }
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
mod tests;
