//! How often intervals hold what is true, on made-up recordings. What is found is printed: it stands in
//! `docs/method/intervals.md`.

use analysis::paired::{self, Looks, Terms};
use analysis::{bootstrap, quantile, unpaired};
use model::random::Random;
use model::record::interval::{OperationName, Times, new_times, record_ns};
use model::record::study::{Better, Measured};
use model::{Interval, OperationInterval, OperationKind};

/// One look, at the end.
const LOOKS: Looks = Looks { confidence_ratio: 0.95, max_values: 1 };

/// Where response times come from.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// Log-normal with spread 0.5 within a second; the logarithms of seconds have a level of standard deviation 0.2 of
    /// which neighbours have this correlation.
    Levels(f64),
    /// As that, and 2 % of the times are ten times as long.
    Outliers(f64),
    /// Responses of one server with random arrivals (M/M/1), busy for this share of the time, 100 served per second.
    Queue(f64),
}

impl Source {
    /// Response times in consecutive batches that last `each_s` seconds.
    fn batches(self, count: usize, each_s: usize, random: &mut Random) -> Vec<Times> {
        match self {
            Source::Levels(memory) | Source::Outliers(memory) => {
                let outliers = if matches!(self, Source::Outliers(_)) { 0.02 } else { 0.0 };
                let mut level = random.normal();
                let mut batch = || {
                    let mut times = new_times();
                    for _ in 0..each_s {
                        level = memory * level + (1.0 - memory * memory).sqrt() * random.normal();
                        for _ in 0..100 {
                            let far = if random.unit() < outliers { 10.0 } else { 1.0 };
                            record(&mut times, far * 0.02 * (0.2 * level + 0.5 * random.normal()).exp());
                        }
                    }
                    times
                };
                (0..count).map(|_| batch()).collect()
            }
            Source::Queue(busy) => queue(busy, count, each_s, random),
        }
    }

    /// The true percentile in seconds.
    fn truth(self, percent: f64) -> f64 {
        let beyond = 1.0 - percent / 100.0;
        match self {
            Source::Queue(busy) => -beyond.ln() / (100.0 * (1.0 - busy)),
            Source::Levels(_) => where_beyond(beyond, 0.0),
            Source::Outliers(_) => where_beyond(beyond, 0.02),
        }
    }
}

fn record(times: &mut Times, seconds: f64) {
    record_ns(times, (seconds * 1e9) as u64);
}

/// Where the log-normal times, `outliers` of them ten times as long, have this share beyond; by bisection.
fn where_beyond(beyond: f64, outliers: f64) -> f64 {
    let spread = 0.2f64.hypot(0.5);
    let share = |at: f64| {
        let one = |scale: f64| 1.0 - analysis::distribution::normal_below((at / scale).ln() / spread);
        (1.0 - outliers) * one(0.02) + outliers * one(0.2)
    };
    let (mut low, mut high) = (1e-6f64, 1e3f64);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if share(middle) > beyond { low = middle } else { high = middle }
    }
    low
}

/// Lindley's recursion, begun in equilibrium.
fn queue(busy: f64, count: usize, each_s: usize, random: &mut Random) -> Vec<Times> {
    let arrivals_per_s = 100.0 * busy;
    let mut waits =
        if random.unit() < busy { random.exponential(1.0 / (100.0 - arrivals_per_s)) } else { 0.0 };
    let mut now = 0.0;
    (1..=count)
        .map(|batch| {
            let mut times = new_times();
            while now < (batch * each_s) as f64 {
                let served = random.exponential(0.01);
                record(&mut times, waits + served);
                let gap = random.exponential(1.0 / arrivals_per_s);
                waits = (waits + served - gap).max(0.0);
                now += gap;
            }
            times
        })
        .collect()
}

/// What became of intervals of 95 %.
#[derive(Debug, Clone, Copy, Default)]
struct Covered {
    /// Share of them that hold the truth.
    held: f64,
    /// Their mean length as a share of it.
    length: f64,
    /// Independent samples that would say as much, on average.
    effective: f64,
}

const PERCENTS: [f64; 3] = [50.0, 95.0, 99.0];

/// For each of [`PERCENTS`].
fn coverage(source: Source, batches: usize, each_s: usize, trials: usize) -> [Covered; 3] {
    let mut random = Random::new(95);
    let mut covered = [Covered::default(); 3];
    for _ in 0..trials {
        let parts = source.batches(batches, each_s, &mut random);
        let parts: Vec<&Times> = parts.iter().collect();
        for (percent, covered) in PERCENTS.into_iter().zip(&mut covered) {
            let truth = source.truth(percent);
            let found = quantile::percentile(&parts, percent, 0.95).expect("there are batches");
            let share = 1.0 / trials as f64;
            covered.held += if found.low_s <= truth && truth <= found.high_s { share } else { 0.0 };
            covered.length += share * (found.high_s - found.low_s) / truth;
            covered.effective += share * found.effective_samples;
        }
    }
    covered
}

fn row(source: Source, seconds: usize, covered: &[Covered; 3]) -> String {
    let one = |(percent, Covered { held, length, effective }): (&f64, &Covered)| {
        let (held, length) = (100.0 * held, 100.0 * length);
        format!("p{percent}: {held:.1} % hold, length {length:.0} %, worth {effective:.0} samples")
    };
    let figures: Vec<String> = PERCENTS.iter().zip(covered).map(one).collect();
    format!("{source:?} over {seconds} s: {}", figures.join("; "))
}

#[test]
fn intervals_of_percentiles_hold_the_truth_in_93_to_97_percent_of_1000() {
    let sources = [
        Source::Levels(0.0),
        Source::Levels(0.5),
        Source::Outliers(0.5),
        Source::Queue(0.5),
        Source::Queue(0.7),
    ];
    for source in sources {
        let covered = coverage(source, 10, 9, 1000);
        println!("{}", row(source, 90, &covered));
        for (percent, Covered { held, .. }) in PERCENTS.into_iter().zip(covered) {
            // Of a queue that is busy for 70 % of the time, 90 s hold too few bad moments for p99: see below.
            if matches!(source, Source::Queue(busy) if busy > 0.6) && percent > 98.0 {
                continue;
            }
            assert!((0.93..=0.97).contains(&held), "p{percent} of {source:?}: {held}");
        }
    }
}

#[test]
fn where_a_window_is_short_for_what_resembles_itself_intervals_hold_less_often_and_it_is_known_by_how_much() {
    let table = [
        (Source::Levels(0.0), 24, [0.93, 0.93, 0.93]),
        (Source::Levels(0.5), 24, [0.88, 0.88, 0.88]),
        (Source::Outliers(0.5), 24, [0.88, 0.88, 0.88]),
        (Source::Levels(0.8), 90, [0.88, 0.88, 0.88]),
        (Source::Levels(0.8), 24, [0.75, 0.75, 0.75]),
        (Source::Queue(0.7), 90, [0.93, 0.92, 0.87]),
        (Source::Queue(0.7), 24, [0.93, 0.88, 0.7]),
        (Source::Queue(0.9), 90, [0.93, 0.84, 0.35]),
        (Source::Queue(0.9), 24, [0.85, 0.55, 0.05]),
    ];
    for (source, seconds, least) in table {
        let batches = if seconds == 90 { 10 } else { 12 };
        let covered = coverage(source, batches, seconds / batches, 300);
        println!("{}", row(source, seconds, &covered));
        for (least, Covered { held, .. }) in least.into_iter().zip(covered) {
            assert!(held >= least, "{source:?} over {seconds} s: {held}");
        }
    }
}

/// A window of a number of seconds as a study keeps it.
fn window(source: Source, length_s: usize, random: &mut Random) -> Measured {
    let names = [OperationName { kind: OperationKind::Operation, name: "Browse".to_string() }];
    let seconds = source.batches(length_s, 1, random).into_iter().enumerate().map(|(number, response)| {
        let row = OperationInterval { completed: response.len(), response, ..OperationInterval::empty() };
        Interval { operations: vec![row], ..Interval::empty(number as u32) }
    });
    let seconds: Vec<Interval> = seconds.collect();
    analysis::measured(&seconds, &names, &[], &[], &analysis::Also::default()).expect("it has seconds")
}

#[test]
fn intervals_of_ratios_of_two_windows_hold_the_truth_in_93_to_97_percent_of_1000() {
    let terms = Terms { better: Better::Lower, band_ratio: 0.01, looks: LOOKS, seed: 1 };
    for source in [Source::Levels(0.3), Source::Outliers(0.3)] {
        let mut random = Random::new(17);
        let windows: Vec<Measured> = (0..1001).map(|_| window(source, 30, &mut random)).collect();
        for name in ["mean", "p50", "p95", "p99"] {
            let held = windows.windows(2).filter(|pair| {
                let figure = |index: usize| pair[index].figure(name, None).expect("it is always there");
                let found = unpaired::effect(figure(0), figure(1), &terms).expect("times are positive");
                found.interval.is_some_and(|(low, high)| low <= 1.0 && 1.0 <= high)
            });
            let held = held.count() as f64 / 1000.0;
            println!("ratio of two {name}, {source:?}: {:.1} % hold", 100.0 * held);
            // With 30 outliers beyond it and 30 below, p99 lies where times are rare: its intervals are too long.
            let most = if name == "p99" && matches!(source, Source::Outliers(_)) { 0.98 } else { 0.97 };
            assert!((0.93..=most).contains(&held), "{name} of {source:?}: {held}");
        }
    }
}

#[test]
fn intervals_of_ratios_of_short_windows_hold_the_truth_in_at_least_93_percent_of_1000() {
    let terms = Terms { better: Better::Lower, band_ratio: 0.01, looks: LOOKS, seed: 1 };
    let mut told = Vec::new();
    for length_s in 4..=9 {
        let mut random = Random::new(length_s as u64);
        let windows: Vec<Measured> =
            (0..=1000).map(|_| window(Source::Levels(0.0), length_s, &mut random)).collect();
        for name in ["mean", "p50", "p95"] {
            let held = windows.windows(2).filter(|pair| {
                let figure = |index: usize| pair[index].figure(name, None).expect("it is always there");
                let found = unpaired::effect(figure(0), figure(1), &terms).expect("times are positive");
                found.interval.is_some_and(|(low, high)| low <= 1.0 && 1.0 <= high)
            });
            let held = held.count() as f64 / 1000.0;
            println!("ratio of two {name} over {length_s} s: {:.1} % hold", 100.0 * held);
            told.push((length_s, name, held));
        }
    }
    // Few seconds that are alike by chance are taken for such as resemble each other: that errs on the long side.
    let wrong: Vec<_> = told.iter().filter(|(.., held)| !(0.93..=0.995).contains(held)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn bootstrap_intervals_of_paired_ratios_hold_the_truth_in_93_to_97_percent_of_1000() {
    for (pairs, outliers) in [(8, 0.0), (12, 0.0), (12, 0.05), (20, 0.05)] {
        let mut random = Random::new(23);
        let held = (0..1000).filter(|seed| {
            let mut log = || {
                let far = if random.unit() < outliers { 10.0 } else { 1.0 };
                0.03 + far * 0.02 * random.normal()
            };
            let logs: Vec<f64> = (0..pairs).map(|_| log()).collect();
            let found = bootstrap::bca(&logs, |drawn| paired::centre(drawn), 0.95, 500, *seed);
            found.is_some_and(|(low, high)| low <= 0.03 && 0.03 <= high)
        });
        let held = held.count() as f64 / 1000.0;
        println!(
            "bootstrap of {pairs} pairs, {:.0} % outliers: {:.1} % hold",
            100.0 * outliers,
            100.0 * held
        );
        assert!((0.93..=0.97).contains(&held), "{pairs} pairs, {outliers}: {held}");
    }
}
