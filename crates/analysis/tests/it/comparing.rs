//! Comparisons of stacks that are made up, so that the right answer is known. What is found is printed: it stands in
//! `docs/method/comparing.md`.

use analysis::paired::{Looks, Terms, effect, interval};
use model::random::Random;
use model::record::study::{Better, Conclusion};
use proptest::prelude::*;

/// Looked at after each of at most twenty pairs.
const LOOKS: Looks = Looks { confidence_ratio: 0.95, max_values: 20 };

/// After each of at most `max_values`.
fn planned(max_values: usize) -> Looks {
    Looks { max_values: max_values as u32, ..LOOKS }
}

/// How two arms are measured, pair by pair: logarithms of a figure.
#[derive(Debug, Clone, Copy)]
struct Arms {
    name: &'static str,
    /// ln(B/A), true.
    effect: f64,
    /// Standard deviation of the log ratios.
    noise: f64,
    /// Share of pairs of which one arm, either, was disturbed: its time is up to 30 % longer.
    outliers: f64,
    /// Change from one pair to the next, half of it between the two trials of a pair; which arm is first is drawn.
    drift: f64,
}

const CALM: Arms = Arms { name: "normal noise", effect: 0.0, noise: 0.02, outliers: 0.0, drift: 0.0 };
const SPOILT: Arms = Arms { name: "5 % outliers", outliers: 0.05, ..CALM };
const DRIFTING: Arms = Arms { name: "drift of both arms by 1 % a pair", drift: 0.01, ..CALM };
const KINDS: [Arms; 3] = [CALM, SPOILT, DRIFTING];

impl Arms {
    fn pair(&self, number: usize, random: &mut Random) -> (f64, f64) {
        let each = self.noise / 2f64.sqrt();
        let drift = self.drift * number as f64;
        let first = if random.unit() < 0.5 { 0.0 } else { self.drift / 2.0 };
        let mut a = drift + first + each * random.normal();
        let mut b = drift + self.drift / 2.0 - first + self.effect + each * random.normal();
        if random.unit() < self.outliers {
            let longer = 0.3 * random.unit();
            if random.unit() < 0.5 { a += longer } else { b += longer }
        }
        (a.exp(), b.exp())
    }

    /// Looks after every pair until the interval leaves zero out: how many pairs that took, and whether B was then said
    /// to be above.
    fn looked_at(&self, most: usize, random: &mut Random) -> Option<(usize, bool)> {
        let mut logs = Vec::new();
        for number in 1..=most {
            let (a, b) = self.pair(number, random);
            logs.push((b / a).ln());
            match interval(&logs, planned(most)) {
                Some((low, _)) if low > 0.0 => return Some((number, true)),
                Some((_, high)) if high < 0.0 => return Some((number, false)),
                _ => {}
            }
        }
        None
    }

    /// `trials` comparisons: the shares that found B above and below within `most` pairs, and the median of how many
    /// pairs that took.
    fn outcomes(&self, most: usize, trials: usize) -> (f64, f64, usize) {
        let mut random = Random::new(2026);
        let answers: Vec<(usize, bool)> =
            (0..trials).filter_map(|_| self.looked_at(most, &mut random)).collect();
        let above = answers.iter().filter(|(_, above)| *above).count() as f64 / trials as f64;
        let mut took: Vec<usize> = answers.iter().map(|(pairs, _)| *pairs).collect();
        took.sort_unstable();
        let below = answers.len() as f64 / trials as f64 - above;
        (above, below, took.get(took.len() / 2).copied().unwrap_or(0))
    }
}

#[test]
fn the_same_stack_twice_is_called_different_in_at_most_7_percent_of_500_looked_at_after_every_pair() {
    for arms in KINDS {
        let (above, below, _) = arms.outcomes(30, 500);
        println!("A/A, {}: {:.1} % called different", arms.name, 100.0 * (above + below));
        assert!(above + below <= 0.07, "{arms:?}: {above} + {below}");
    }
}

#[test]
fn a_change_of_3_percent_is_found_in_14_pairs_with_80_percent_power_and_never_the_wrong_way_round() {
    for arms in KINDS {
        for effect in [0.03f64, -0.03] {
            let (above, below, took) = Arms { effect: effect.ln_1p(), ..arms }.outcomes(14, 500);
            let (right, wrong) = if effect > 0.0 { (above, below) } else { (below, above) };
            println!("{effect:+}, {}: {:.1} % found, half of them in {took} pairs", arms.name, 100.0 * right);
            assert!(right >= 0.8, "{arms:?} {effect}: {right}");
            assert!(wrong <= 0.002, "{arms:?} {effect}: {wrong} the wrong way round");
        }
    }
}

/// Natural logarithm of the evidence against zero by the t mixture with unit prior variance, for normal values.
fn t_mixture(logs: &[f64]) -> f64 {
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let (u, r) = (n * mean * mean / squares, 1.0 + n);
    0.5 * n * ((1.0 + u) / (1.0 + u / r)).ln() - 0.5 * r.ln()
}

#[test]
fn outliers_cost_less_than_with_the_t_mixture() {
    for arms in [CALM, SPOILT] {
        let arms = Arms { effect: 0.03f64.ln_1p(), ..arms };
        let mut random = Random::new(2026);
        let found = (0..500).filter(|_| {
            let mut logs = Vec::new();
            (1..=14).any(|number| {
                let (a, b) = arms.pair(number, &mut random);
                logs.push((b / a).ln());
                number > 2 && t_mixture(&logs) >= 20f64.ln()
            })
        });
        let found = found.count() as f64 / 500.0;
        let ours = arms.outcomes(14, 500).0;
        println!("t mixture, {}: {:.1} % found; ours {:.1} %", arms.name, 100.0 * found, 100.0 * ours);
        assert!(ours > found - 0.05, "{arms:?}: {ours} and {found}");
        assert!(arms.outliers == 0.0 || ours > found, "{arms:?}: {ours} and {found}");
    }
}

#[test]
fn the_interval_holds_the_true_ratio_at_every_look() {
    for arms in [Arms { effect: 0.03, ..CALM }, Arms { effect: 0.03, ..SPOILT }] {
        let mut random = Random::new(7);
        let missed = (0..300).filter(|_| {
            let mut logs = Vec::new();
            (1..=30).any(|number| {
                let (a, b) = arms.pair(number, &mut random);
                logs.push((b / a).ln());
                interval(&logs, planned(30)).is_some_and(|(low, high)| !(low..=high).contains(&arms.effect))
            })
        });
        let missed = missed.count();
        println!("{}: {missed} of 300 intervals missed the true ratio at some look", arms.name);
        assert!(missed <= 21, "{arms:?}: {missed} of 300");
    }
}

#[test]
fn no_difference_is_said_in_as_many_pairs_as_the_noise_takes() {
    let terms = Terms { better: Better::Higher, band_ratio: 0.01, looks: LOOKS, seed: 1 };
    for (noise, most, at_most) in [(0.005, 30, 12), (0.01, 60, 26), (0.02, 150, 95)] {
        let mut random = Random::new(11);
        let band = terms.band_ratio.ln_1p();
        let mut took: Vec<usize> = (0..100)
            .map(|_| {
                let mut logs = Vec::new();
                let same = |number: &usize| {
                    let (a, b) = Arms { noise, ..CALM }.pair(*number, &mut random);
                    logs.push((b / a).ln());
                    interval(&logs, planned(most)).is_some_and(|(low, high)| low > -band && high < band)
                };
                (1..=most).find(same).unwrap_or(most + 1)
            })
            .collect();
        took.sort_unstable();
        println!("no difference above 1 % at {noise}: half in {}, 80 % in {} pairs", took[50], took[80]);
        assert!(took[50] <= at_most, "{noise}: {} pairs", took[50]);
    }
}

/// A figure of two arms, in pairs.
fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((1e-3f64..1e3, 1e-3f64..1e3), 0..20)
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6 * one.abs().max(other.abs()) || one.is_nan() && other.is_nan()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn units_change_no_ratio(pairs in pairs(), unit in 1e-6f64..1e6) {
        let terms = Terms { better: Better::Lower, band_ratio: 0.01, looks: LOOKS, seed: 3 };
        let one = effect(&pairs, &terms);
        let scaled: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (a * unit, b * unit)).collect();
        let other = effect(&scaled, &terms);
        prop_assert!(close(one.ratio, other.ratio) && close(one.a * unit, other.a), "{:?} {:?}", one, other);
        let ends = |found: &analysis::paired::PairedEffect| found.interval.unwrap_or((1.0, 1.0));
        prop_assert!(close(ends(&one).0, ends(&other).0) && close(ends(&one).1, ends(&other).1));
    }

    #[test]
    fn exchanging_a_and_b_turns_everything_round(pairs in pairs()) {
        let terms = Terms { better: Better::Lower, band_ratio: 0.01, looks: LOOKS, seed: 3 };
        let one = effect(&pairs, &terms);
        let turned: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let other = effect(&turned, &terms);
        prop_assert!(close(one.ratio, 1.0 / other.ratio), "{} {}", one.ratio, other.ratio);
        if let (Some(one), Some(other)) = (one.interval, other.interval) {
            prop_assert!(close(one.0, 1.0 / other.1) && close(one.1, 1.0 / other.0), "{:?} {:?}", one, other);
        }
        let expected = match one.conclusion {
            Conclusion::Faster => Conclusion::Slower,
            Conclusion::Slower => Conclusion::Faster,
            unmoved => unmoved,
        };
        prop_assert_eq!(other.conclusion, expected);
    }

    #[test]
    fn any_numbers_whatever_give_an_effect(pairs in prop::collection::vec((any::<f64>(), any::<f64>()), 0..12)) {
        let terms = Terms { better: Better::Lower, band_ratio: 0.01, looks: LOOKS, seed: 3 };
        let found = effect(&pairs, &terms);
        if let Some((low, high)) = found.interval {
            prop_assert!(low <= found.ratio && found.ratio <= high, "{:?}", found);
        }
    }

    #[test]
    fn more_confidence_is_a_longer_interval(pairs in pairs()) {
        let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b / a).ln()).collect();
        if let (Some(less), Some(more)) = (interval(&logs, Looks { confidence_ratio: 0.9, ..LOOKS }), interval(&logs, Looks { confidence_ratio: 0.99, ..LOOKS })) {
            prop_assert!(more.0 <= less.0 + 1e-9 && less.1 <= more.1 + 1e-9, "{:?} {:?}", less, more);
        }
    }
}
