//! Two windows, or two stored runs, against each other, when nothing was measured in pairs.
//!
//! Their intervals hold for what was measured in these windows. How much a figure changes when a stack is set up anew is
//! not in them: two runs differ by that too, and only a paired comparison sees it.

use model::record::study::{Better, Conclusion, Figure};

use crate::distribution::student_quantile;
use crate::paired::Terms;

/// Degrees of freedom of a figure that doesn't say its own, as those of studies from before it did: ten batches.
const USUAL_DEGREES: f64 = 9.0;

/// B against A.
#[derive(Debug, Clone, PartialEq)]
pub struct UnpairedEffect {
    /// B/A.
    pub ratio: f64,
    /// Its interval for who looks only once; absent when a figure has no standard error.
    pub interval: Option<(f64, f64)>,
    /// What follows.
    pub conclusion: Conclusion,
}

/// The effect of B against A on a figure: the difference of the logarithms, with Welch's t interval (Welch 1947), the
/// degrees of freedom after Satterthwaite (1946). `None` unless both values are positive numbers.
pub fn effect(a: &Figure, b: &Figure, terms: &Terms) -> Option<UnpairedEffect> {
    let usable = |figure: &Figure| figure.value.is_finite() && figure.value > 0.0;
    if !usable(a) || !usable(b) {
        return None;
    }
    let difference = (b.value / a.value).ln();
    let error = |figure: &Figure| Some((figure.log_se?, degrees(figure)));
    let far = error(a).zip(error(b)).map(|(a, b)| half_length(a, b, terms.looks.confidence_ratio));
    let ends = far.map(|far| (difference - far, difference + far));
    Some(UnpairedEffect {
        ratio: difference.exp(),
        interval: ends.map(|(low, high)| (low.exp(), high.exp())),
        conclusion: conclude(ends, terms),
    })
}

/// Degrees of freedom of a figure's standard error.
fn degrees(figure: &Figure) -> f64 {
    figure.degrees.unwrap_or(USUAL_DEGREES)
}

/// From each side's standard error and its degrees of freedom.
fn half_length((a, a_degrees): (f64, f64), (b, b_degrees): (f64, f64), confidence_ratio: f64) -> f64 {
    let variance = a * a + b * b;
    let squares = a.powi(4) / a_degrees + b.powi(4) / b_degrees;
    let degrees = if squares > 0.0 { variance * variance / squares } else { a_degrees.min(b_degrees) };
    student_quantile(0.5 + confidence_ratio / 2.0, degrees) * variance.sqrt()
}

/// The interval of a figure by itself; absent without a standard error.
pub fn interval(figure: &Figure, confidence_ratio: f64) -> Option<(f64, f64)> {
    let far = student_quantile(0.5 + confidence_ratio / 2.0, degrees(figure)) * figure.log_se?;
    Some((figure.value * (-far).exp(), figure.value * far.exp()))
}

fn conclude(ends: Option<(f64, f64)>, terms: &Terms) -> Conclusion {
    let band = terms.band_ratio.ln_1p();
    match ends {
        Some((low, high)) if low > -band && high < band => Conclusion::Same,
        Some((low, high)) if low > 0.0 || high < 0.0 => {
            let more = low > 0.0;
            if more == (terms.better == Better::Higher) { Conclusion::Faster } else { Conclusion::Slower }
        }
        _ => Conclusion::Open { more_blocks: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired::Looks;

    const TERMS: Terms = Terms { better: Better::Lower, band_ratio: 0.01, looks: ONCE, seed: 1 };
    const ONCE: Looks = Looks { confidence_ratio: 0.95, max_values: 1 };

    fn figure(value: f64, log_se: Option<f64>) -> Figure {
        Figure { name: "p95".to_string(), operation: None, value, log_se, degrees: Some(9.0) }
    }

    #[test]
    fn a_difference_is_said_when_the_interval_leaves_zero_out() {
        let table = [
            (0.110, Some(0.01), Conclusion::Slower),
            (0.090, Some(0.01), Conclusion::Faster),
            (0.101, Some(0.01), Conclusion::Open { more_blocks: None }),
            (0.1001, Some(0.002), Conclusion::Same),
            (0.2, None, Conclusion::Open { more_blocks: None }),
        ];
        for (b, log_se, expected) in table {
            let found = effect(&figure(0.1, log_se), &figure(b, log_se), &TERMS).expect("both are positive");
            assert_eq!(found.conclusion, expected, "{b}: {found:?}");
        }
    }

    #[test]
    fn the_interval_is_welchs() {
        let found = effect(&figure(1.0, Some(0.03)), &figure(1.0, Some(0.04)), &TERMS).expect("positive");
        let degrees = 9.0 * 0.0025f64.powi(2) / (0.03f64.powi(4) + 0.04f64.powi(4));
        let far = student_quantile(0.975, degrees) * 0.05;
        let (low, high) = found.interval.expect("both have an error");
        assert!((low.ln() + far).abs() < 1e-12 && (high.ln() - far).abs() < 1e-12, "{found:?}, {far}");
        assert!((16.0..18.0).contains(&degrees), "{degrees}");
    }

    #[test]
    fn a_short_window_has_few_degrees_of_freedom_and_a_long_interval() {
        let short = Figure { degrees: Some(3.0), ..figure(1.0, Some(0.03)) };
        let exact = figure(1.0, Some(0.0));
        let found = effect(&short, &exact, &TERMS).expect("positive").interval.expect("both have an error");
        let far = 3.182_446 * 0.03;
        assert!((found.1.ln() - far).abs() < 1e-6, "{found:?}: Student's t of three, not of nine (2.262)");
    }

    #[test]
    fn what_is_no_positive_number_gives_no_effect() {
        for (a, b) in [(0.0, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0), (-1.0, 1.0)] {
            assert_eq!(effect(&figure(a, Some(0.1)), &figure(b, Some(0.1)), &TERMS), None, "{a} {b}");
        }
    }
}
