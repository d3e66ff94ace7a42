//! Made-up comparisons: interleaved blocks of two trials each.

use model::record::study::{Better, Compare, Conclusion, Effect, Purpose, Question, StudyRecord, Trial};
use model::record::{Check, Outcome};

use super::parts::{Parts, arm, record, wobble};
use super::trial::{Stack, Wanted, spoil};

/// How a made-up comparison ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareEnding {
    /// B is 6 % faster.
    Faster,
    /// No difference; one trial is not valid.
    Same,
    /// Not enough evidence.
    Open,
    /// B is 5 % slower, and the gate is at 3 %.
    GateFailed,
}

impl CompareEnding {
    /// Every ending.
    pub const ALL: [CompareEnding; 4] =
        [CompareEnding::Faster, CompareEnding::Same, CompareEnding::Open, CompareEnding::GateFailed];

    /// A word for file names.
    pub fn word(self) -> &'static str {
        match self {
            CompareEnding::Faster => "faster",
            CompareEnding::Same => "same",
            CompareEnding::Open => "open",
            CompareEnding::GateFailed => "gate-failed",
        }
    }

    /// How B's times relate to A's; blocks; half the width of the interval of p95, as a logarithm.
    fn dimensions(self) -> (f64, u32, f64) {
        match self {
            CompareEnding::Faster => (0.94, 9, 0.017),
            CompareEnding::Same => (1.001, 14, 0.005),
            CompareEnding::Open => (0.985, 6, 0.031),
            CompareEnding::GateFailed => (1.052, 8, 0.014),
        }
    }

    fn conclusion(self) -> Conclusion {
        match self {
            CompareEnding::Faster => Conclusion::Faster,
            CompareEnding::Same => Conclusion::Same,
            CompareEnding::Open => Conclusion::Open { more_blocks: Some(9) },
            CompareEnding::GateFailed => Conclusion::Slower,
        }
    }

    fn sentence(self, effect: &Effect) -> String {
        let percent = |ratio: f64| format!("{:.1}", (ratio - 1.0).abs() * 100.0);
        let (low, high) = (effect.low.unwrap_or(1.0), effect.high.unwrap_or(1.0));
        let (by, low, high) = (percent(effect.ratio), percent(low), percent(high));
        let blocks = effect.blocks;
        match self {
            CompareEnding::Faster => {
                format!(
                    "B is faster by {by} % [{high}, {low}] (p95 at 300 users, 95 % interval, {blocks} blocks)"
                )
            }
            CompareEnding::Same => {
                format!("no difference larger than 1 % (p95 at 300 users, 95 % interval, {blocks} blocks)")
            }
            CompareEnding::Open => format!(
                "not enough evidence after {blocks} blocks: p95 of B is between {low} % lower and {high} % higher; about 9 more blocks would do"
            ),
            CompareEnding::GateFailed => format!(
                "B is slower by {by} % [{low}, {high}] (p95 at 300 users, 95 % interval, {blocks} blocks); the gate allows 3 %"
            ),
        }
    }
}

/// Makes up a comparison.
pub fn compare(ending: CompareEnding) -> StudyRecord {
    let (slower, blocks, half) = ending.dimensions();
    let trials = measure(ending, slower, blocks);
    let gate_ratio = (ending == CompareEnding::GateFailed).then_some(0.03);
    let figures = [
        ("p95", None),
        ("throughput", None),
        ("mean", None),
        ("p50", None),
        ("p99", None),
        ("p95", Some("Browse")),
        ("p99", Some("Browse")),
    ];
    let effects: Vec<Effect> = figures
        .iter()
        .zip(0..)
        .map(|(figure, index)| effect(*figure, &trials, half, index, ending))
        .collect();
    let sentence = ending.sentence(&effects[0]);
    let question = Question::Compare(Compare {
        load: "300 users".into(),
        by: "p95".into(),
        band_ratio: 0.01,
        gate_ratio,
        confidence_ratio: 0.95,
        most_blocks: 20,
        window_s: 20.0,
        seed: 1,
        goal: None,
        effects,
        conclusion: Some(ending.conclusion()),
        gate_held: gate_ratio.map(|_| false),
        failed: None,
        lopsided: None,
        unpaired: false,
    });
    let mut arms =
        vec![arm("web.MaxRequestWorkers=150", Some(300)), arm("web.MaxRequestWorkers=64", Some(300))];
    for (arm, workers) in arms.iter_mut().zip([150, 64]) {
        arm.recipe.set.insert("web.MaxRequestWorkers".into(), model::Value::Int(workers));
    }
    let mut command = vec![
        "plimsoll",
        "compare",
        "dvdstore",
        "--a",
        "web.MaxRequestWorkers=150",
        "--b",
        "web.MaxRequestWorkers=64",
    ];
    if gate_ratio.is_some() {
        command.extend(["--gate", "3%"]);
    }
    let outcome = Outcome::Completed;
    let mut made = record("dvdstore", Parts { question, arms, trials, outcome, sentence, command });
    made.id = format!("20261121-101500-compare-dvdstore-{}", ending.word());
    made
}

/// Blocks of both arms in turn, B first in every other one; the machine grows a little slower meanwhile.
fn measure(ending: CompareEnding, slower: f64, blocks: u32) -> Vec<Trial> {
    let noise = match ending {
        CompareEnding::Open => 0.045,
        CompareEnding::Same => 0.006,
        _ => 0.02,
    };
    let mut trials = Vec::new();
    for block in 0..blocks {
        let order = if block % 2 == 0 { [0, 1] } else { [1, 0] };
        for arm in order {
            let drift = 1.0 + 0.004 * f64::from(block);
            // One block in which B was disturbed: an outlier that must be seen.
            let outlier = if block == 5 && arm == 1 { 1.0 + 2.5 * noise } else { 1.0 };
            let stack = Stack {
                slower: drift * outlier * if arm == 1 { slower } else { 1.0 },
                noise,
                ..Stack::default()
            };
            let wanted = Wanted { arm, block, purpose: Purpose::Measure, load: 300.0, window_s: 20.0 };
            stack.measure(wanted, &mut trials);
            if ending == CompareEnding::Same && block == 3 && arm == 0 {
                spoil(&mut trials, Check::SendLag, "send lag p99 was 7.4 ms; the limit is 5 ms");
            }
        }
    }
    trials
}

fn effect(
    (name, operation): (&str, Option<&str>),
    trials: &[Trial],
    half: f64,
    index: u32,
    ending: CompareEnding,
) -> Effect {
    let of = |arm: usize, block: u32| {
        let mut trials =
            trials.iter().filter(|trial| trial.arm == arm && trial.block == block && trial.valid());
        Some(trials.next()?.measured.as_ref()?.figure(name, operation)?.value)
    };
    let blocks = trials.iter().map(|trial| trial.block).max().map_or(0, |last| last + 1);
    let pairs: Vec<(f64, f64)> =
        (0..blocks).filter_map(|block| Some((of(0, block)?, of(1, block)?))).collect();
    let ratio = typical(&pairs);
    let better = if name == "throughput" { Better::Higher } else { Better::Lower };
    let half = half * (1.0 + 0.25 * wobble(index, 3)) * if name == "throughput" { 0.2 } else { 1.0 };
    let (low, high) = (ratio * (-half).exp(), ratio * half.exp());
    let conclusion = match better {
        _ if low > 0.99 && high < 1.01 => Conclusion::Same,
        Better::Lower if high < 1.0 => Conclusion::Faster,
        Better::Lower if low > 1.0 => Conclusion::Slower,
        _ => ending.open(),
    };
    Effect {
        figure: name.into(),
        operation: operation.map(str::to_string),
        better,
        a: median(pairs.iter().map(|(a, _)| *a)),
        b: median(pairs.iter().map(|(_, b)| *b)),
        ratio,
        low: Some(low),
        high: Some(high),
        bootstrap: (pairs.len() > 4).then(|| (ratio * (-0.7 * half).exp(), ratio * (0.72 * half).exp())),
        blocks: pairs.len() as u32,
        conclusion,
    }
}

impl CompareEnding {
    fn open(self) -> Conclusion {
        Conclusion::Open { more_blocks: (self == CompareEnding::Open).then_some(9) }
    }
}

/// e to the median of the averages of all two log ratios.
fn typical(pairs: &[(f64, f64)]) -> f64 {
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b / a).ln()).collect();
    let averages =
        logs.iter().enumerate().flat_map(|(at, one)| logs[at..].iter().map(move |two| (one + two) / 2.0));
    median(averages).exp()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
