//! From weights to a probability: how often suspects with such weights were the limit.
//!
//! The weights of rules are set by hand and mean an order. What they add up to becomes a probability by a logistic regression
//! (Platt, *Advances in Large Margin Classifiers*, 2000) on bottlenecks that were drawn, where the right answer is known:
//! the logarithm of the odds is `offset + slope · s − rival · max(0, r)` for a suspect whose weights add up to *s* while those
//! of the likeliest other one add up to *r*.

use super::SuspectFacts;

/// Weights as they are: not fitted yet. `bench blind-fit` gives what belongs here, once there are plants enough.
pub(super) const IN_FORCE: Calibration = Calibration { offset: 0.0, slope: 1.0, rival: 0.0 };

/// What is believed before any plant was seen (weights are log-odds as they are, and suspects don't know of each other), and
/// how far each of the three may be off.
const PRIOR: ([f64; 3], [f64; 3]) = ([0.0, 1.0, 0.0], [2.0, 0.5, 0.5]);
/// Newton's steps; a handful is enough.
const MAX_STEPS: usize = 50;
/// Of a step that leads nowhere.
const MAX_HALVINGS: usize = 30;

/// How weights become a probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Log-odds of a suspect without weight.
    pub offset: f64,
    /// Of each unit of weight.
    pub slope: f64,
    /// That each unit of weight of the likeliest other suspect takes away.
    pub rival: f64,
}

/// A suspect that came first, and whether it was the limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// What its weights added up to.
    pub log_odds: f64,
    /// The same of the second suspect; negative infinity without one.
    pub rival_log_odds: f64,
    /// Whether it was the limit.
    pub right: bool,
}

impl Calibration {
    /// Probability that a suspect is the limit.
    pub fn probability(&self, log_odds: f64, rival_log_odds: f64) -> f64 {
        logistic(dot(&self.parameters(), &features(log_odds, rival_log_odds)))
    }

    /// The likeliest of all, given `samples` and what is believed before.
    pub fn fitted(samples: &[Sample]) -> Calibration {
        let (means, deviations) = PRIOR;
        let mut parameters = means;
        for _ in 0..MAX_STEPS {
            let mut gradient = [0.0; 3];
            let mut curvature = [[0.0; 3]; 3];
            for index in 0..3 {
                let precision = deviations[index].powi(-2);
                gradient[index] = precision * (means[index] - parameters[index]);
                curvature[index][index] = precision;
            }
            for sample in samples {
                let features = features(sample.log_odds, sample.rival_log_odds);
                let probability = logistic(dot(&parameters, &features));
                let residual = f64::from(u8::from(sample.right)) - probability;
                for row in 0..3 {
                    gradient[row] += residual * features[row];
                    for column in 0..3 {
                        curvature[row][column] +=
                            probability * (1.0 - probability) * features[row] * features[column];
                    }
                }
            }
            let step = solved(curvature, gradient);
            let here = log_posterior(&parameters, samples);
            // A whole step from far away may lead further away.
            let after = |part: f64| [0, 1, 2].map(|index: usize| parameters[index] + part * step[index]);
            let parts = std::iter::successors(Some(1.0), |part: &f64| Some(part / 2.0)).take(MAX_HALVINGS);
            let better = parts.map(after).find(|next| log_posterior(next, samples) > here);
            let Some(next) = better else { break };
            parameters = next;
        }
        let [offset, slope, rival] = parameters;
        Calibration { offset, slope, rival }
    }

    fn parameters(&self) -> [f64; 3] {
        [self.offset, self.slope, self.rival]
    }
}

/// The logarithm of how likely these parameters are, but for a constant.
fn log_posterior(parameters: &[f64; 3], samples: &[Sample]) -> f64 {
    let (means, deviations) = PRIOR;
    let prior = |index: usize| -0.5 * ((parameters[index] - means[index]) / deviations[index]).powi(2);
    let likelihood = |sample: &Sample| {
        let log_odds = dot(parameters, &features(sample.log_odds, sample.rival_log_odds));
        // ln(1/(1 + e^-x)), which doesn't end at minus infinity for a large -x.
        let x = if sample.right { log_odds } else { -log_odds };
        x.min(0.0) - (-x.abs()).exp().ln_1p()
    };
    (0..3).map(prior).sum::<f64>() + samples.iter().map(likelihood).sum::<f64>()
}

/// Gives each of `suspects`, the likeliest first, its probability.
pub(super) fn calibrate(suspects: &mut [SuspectFacts]) {
    let log_odds: Vec<f64> = suspects.iter().map(|one| one.log_odds).collect();
    for (index, suspect) in suspects.iter_mut().enumerate() {
        let rival = log_odds.get(usize::from(index == 0)).copied().unwrap_or(f64::NEG_INFINITY);
        suspect.sure_ratio = IN_FORCE.probability(suspect.log_odds, rival);
    }
}

fn features(log_odds: f64, rival_log_odds: f64) -> [f64; 3] {
    [1.0, log_odds, -rival_log_odds.max(0.0)]
}

fn dot(one: &[f64; 3], other: &[f64; 3]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// `matrix · x = right`, by elimination; the matrix is positive definite, so that no pivot is 0.
fn solved(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> [f64; 3] {
    for pivot in 0..3 {
        for row in pivot + 1..3 {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            let above = matrix[pivot];
            for (own, above) in matrix[row].iter_mut().zip(above) {
                *own -= factor * above;
            }
            right[row] -= factor * right[pivot];
        }
    }
    let mut x = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|column| matrix[row][column] * x[column]).sum();
        x[row] = (right[row] - known) / matrix[row][row];
    }
    x
}

#[cfg(test)]
mod tests {
    use model::random::Random;

    use super::*;

    /// As many suspects as asked for, right as often as `of` says.
    fn drawn(count: usize, of: Calibration) -> Vec<Sample> {
        let mut random = Random::new(7);
        let mut sample = || {
            let (log_odds, rival_log_odds) = (10.0 * random.unit() - 2.0, 8.0 * random.unit() - 4.0);
            let right = random.unit() < of.probability(log_odds, rival_log_odds);
            Sample { log_odds, rival_log_odds, right }
        };
        (0..count).map(|_| sample()).collect()
    }

    #[test]
    fn what_samples_were_drawn_with_is_found_again() {
        let drawn_with = Calibration { offset: -0.5, slope: 0.6, rival: 0.4 };
        let found = Calibration::fitted(&drawn(20_000, drawn_with));
        for (found, drawn) in found.parameters().into_iter().zip(drawn_with.parameters()) {
            assert!((found - drawn).abs() < 0.1, "{found} instead of {drawn}");
        }
    }

    #[test]
    fn few_samples_of_which_all_are_right_make_nobody_certain() {
        let right = Sample { log_odds: 4.0, rival_log_odds: f64::NEG_INFINITY, right: true };
        let found = Calibration::fitted(&[right; 5]);
        assert!(found.probability(4.0, f64::NEG_INFINITY) < 0.999, "{found:?}");
        assert_eq!(Calibration::fitted(&[]), Calibration { offset: 0.0, slope: 1.0, rival: 0.0 });
    }

    #[test]
    fn two_suspects_with_the_same_weights_are_less_sure_than_one() {
        let calibration = Calibration { offset: 0.0, slope: 1.0, rival: 0.5 };
        assert!(calibration.probability(4.0, 4.0) < calibration.probability(4.0, -1.0));
        let even = calibration.probability(4.0, -1.0);
        assert_eq!(even, calibration.probability(4.0, -9.0), "who is unlikely takes nothing away");
    }
}
