//! From how far evidence is there to a probability: five numbers for all rules, fitted to bottlenecks that were made on purpose.
//!
//! The logarithm of the odds of a suspect is `offset + needed · n + supports · s + against · a + callee · c` by its
//! [`Strengths`]: a logistic regression (Cox, *Journal of the Royal Statistical Society B* 20, 1958) of *it was the limit* on
//! all suspects of all runs.

use model::record::diagnosis::Strengths;

/// What is in force: by `bench blind-fit`; docs/method/diagnosis.md says on which runs.
pub const IN_FORCE: Weights =
    Weights { offset: -5.0, needed: 4.6, supports: 3.3, against: -6.4, callee: -5.8 };

/// What is believed before any run was seen, and how far each may be off.
const PRIOR: ([f64; NUMBER], [f64; NUMBER]) = ([-4.0, 4.0, 2.0, -4.0, -4.0], [2.0; NUMBER]);
/// Of parameters.
const NUMBER: usize = 5;
/// Newton's steps; a handful is enough.
const MAX_STEPS: usize = 50;
/// Of a step that leads nowhere.
const MAX_HALVINGS: usize = 30;

/// How evidence becomes a probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Log-odds of a suspect of whom nothing is there.
    pub offset: f64,
    /// Of all that a rule needs.
    pub needed: f64,
    /// Of all that supports it.
    pub supports: f64,
    /// Of something that speaks against it; negative.
    pub against: f64,
    /// Of waiting for nothing but a tier behind that is surely the limit; negative.
    pub callee: f64,
}

/// A suspect, and whether it was the limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// What was there.
    pub strengths: Strengths,
    /// Whether it was the limit.
    pub right: bool,
}

impl Weights {
    /// Probability that a suspect is the limit.
    pub fn probability(&self, strengths: &Strengths) -> f64 {
        logistic(dot(&self.parameters(), &features(strengths)))
    }

    /// The likeliest of all, given `samples` and what is believed before.
    pub fn fitted(samples: &[Sample]) -> Weights {
        let (means, deviations) = PRIOR;
        let mut parameters = means;
        for _ in 0..MAX_STEPS {
            let mut gradient = [0.0; NUMBER];
            let mut curvature = [[0.0; NUMBER]; NUMBER];
            for index in 0..NUMBER {
                let precision = deviations[index].powi(-2);
                gradient[index] = precision * (means[index] - parameters[index]);
                curvature[index][index] = precision;
            }
            for sample in samples {
                let features = features(&sample.strengths);
                let probability = logistic(dot(&parameters, &features));
                let residual = f64::from(u8::from(sample.right)) - probability;
                for row in 0..NUMBER {
                    gradient[row] += residual * features[row];
                    for column in 0..NUMBER {
                        curvature[row][column] +=
                            probability * (1.0 - probability) * features[row] * features[column];
                    }
                }
            }
            let step = solved(curvature, gradient);
            let here = log_posterior(&parameters, samples);
            // A whole step from far away may lead further away.
            let after = |part: f64| std::array::from_fn(|index| parameters[index] + part * step[index]);
            let parts = std::iter::successors(Some(1.0), |part: &f64| Some(part / 2.0)).take(MAX_HALVINGS);
            let better = parts.map(after).find(|next| log_posterior(next, samples) > here);
            let Some(next) = better else { break };
            parameters = next;
        }
        let [offset, needed, supports, against, callee] = parameters;
        Weights { offset, needed, supports, against, callee }
    }

    fn parameters(&self) -> [f64; NUMBER] {
        [self.offset, self.needed, self.supports, self.against, self.callee]
    }
}

/// The logarithm of how likely these parameters are, but for a constant.
fn log_posterior(parameters: &[f64; NUMBER], samples: &[Sample]) -> f64 {
    let (means, deviations) = PRIOR;
    let prior = |index: usize| -0.5 * ((parameters[index] - means[index]) / deviations[index]).powi(2);
    let likelihood = |sample: &Sample| {
        let log_odds = dot(parameters, &features(&sample.strengths));
        // ln(1/(1 + e^-x)), which doesn't end at minus infinity for a large -x.
        let x = if sample.right { log_odds } else { -log_odds };
        x.min(0.0) - (-x.abs()).exp().ln_1p()
    };
    (0..NUMBER).map(prior).sum::<f64>() + samples.iter().map(likelihood).sum::<f64>()
}

fn features(strengths: &Strengths) -> [f64; NUMBER] {
    let Strengths { needed_ratio, supports_ratio, against_ratio, callee_ratio } = *strengths;
    [1.0, needed_ratio, supports_ratio, against_ratio, callee_ratio]
}

fn dot(one: &[f64; NUMBER], other: &[f64; NUMBER]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// `matrix · x = right`, by elimination; the matrix is positive definite, so that no pivot is 0.
fn solved(mut matrix: [[f64; NUMBER]; NUMBER], mut right: [f64; NUMBER]) -> [f64; NUMBER] {
    for pivot in 0..NUMBER {
        for row in pivot + 1..NUMBER {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            let above = matrix[pivot];
            for (own, above) in matrix[row].iter_mut().zip(above) {
                *own -= factor * above;
            }
            right[row] -= factor * right[pivot];
        }
    }
    let mut x = [0.0; NUMBER];
    for row in (0..NUMBER).rev() {
        let known: f64 = (row + 1..NUMBER).map(|column| matrix[row][column] * x[column]).sum();
        x[row] = (right[row] - known) / matrix[row][row];
    }
    x
}

#[cfg(test)]
mod tests {
    use model::random::Random;

    use super::*;

    /// As many suspects as asked for, the limit as often as `of` says.
    fn drawn(count: usize, of: Weights) -> Vec<Sample> {
        let mut random = Random::new(7);
        let mut sample = || {
            let [needed_ratio, supports_ratio, against_ratio, callee_ratio] = [(); 4].map(|()| random.unit());
            let strengths = Strengths { needed_ratio, supports_ratio, against_ratio, callee_ratio };
            Sample { strengths, right: random.unit() < of.probability(&strengths) }
        };
        (0..count).map(|_| sample()).collect()
    }

    #[test]
    fn what_samples_were_drawn_with_is_found_again() {
        let drawn_with = Weights { offset: -2.0, needed: 3.5, supports: 1.5, against: -3.0, callee: -2.0 };
        let found = Weights::fitted(&drawn(20_000, drawn_with));
        for (found, drawn) in found.parameters().into_iter().zip(drawn_with.parameters()) {
            assert!((found - drawn).abs() < 0.2, "{found} instead of {drawn}");
        }
    }

    #[test]
    fn few_samples_of_which_all_are_right_make_nobody_certain() {
        let strengths = Strengths { needed_ratio: 1.0, supports_ratio: 1.0, ..Strengths::default() };
        let found = Weights::fitted(&[Sample { strengths, right: true }; 5]);
        assert!(found.probability(&strengths) < 0.999, "{found:?}");
    }

    #[test]
    fn what_is_in_force_means_what_its_names_say() {
        let Weights { offset, needed, supports, against, callee } = IN_FORCE;
        assert!(
            offset < 0.0 && needed > 0.0 && supports > 0.0 && against < 0.0 && callee < 0.0,
            "{IN_FORCE:?}"
        );
        let nothing = IN_FORCE.probability(&Strengths::default());
        assert!(nothing < 0.05, "{nothing}");
    }
}
