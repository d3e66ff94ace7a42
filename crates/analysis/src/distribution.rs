//! The normal distribution and Student's t: probabilities and quantiles, to at least nine digits.

use std::f64::consts::{PI, TAU};

/// Probability that a standard normal variable is below `x`.
pub fn normal_below(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - normal_below(-x);
    }
    let density = (-x * x / 2.0).exp() / TAU.sqrt();
    if x < 3.0 {
        // Φ(x) = ½ + φ(x)·(x + x³/3 + x⁵/(3·5) + …)
        let (mut term, mut sum, mut n) = (x, x, 1.0);
        while term > 1e-17 * sum {
            n += 2.0;
            term *= x * x / n;
            sum += term;
        }
        return 0.5 + density * sum;
    }
    // 1 − Φ(x) = φ(x)/(x + 1/(x + 2/(x + 3/(x + …))))
    let fraction = (1..=80).rev().fold(x, |below, n| x + f64::from(n) / below);
    1.0 - density / fraction
}

/// The value below which a standard normal variable lies with `probability`; infinite at 0 and 1.
pub fn normal_quantile(probability: f64) -> f64 {
    quantile(probability, normal_below)
}

/// Probability that a Student's t variable with `degrees` of freedom is below `t`.
pub fn student_below(t: f64, degrees: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5);
    if t < 0.0 { tail } else { 1.0 - tail }
}

/// The value below which a Student's t variable with `degrees` of freedom lies with `probability`; infinite at 0 and 1.
pub fn student_quantile(probability: f64, degrees: f64) -> f64 {
    quantile(probability, |t| student_below(t, degrees))
}

/// Where a symmetric distribution function reaches `probability`, by bisection.
fn quantile(probability: f64, below: impl Fn(f64) -> f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    // The upper half mirrors the lower one, whose probabilities have more digits.
    if probability > 0.5 {
        return -quantile(1.0 - probability, below);
    }
    if probability == 0.0 {
        return f64::NEG_INFINITY;
    }
    let mut low = -1.0;
    while below(low) > probability {
        low *= 2.0;
    }
    let mut high = 0.0;
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if below(middle) > probability {
            high = middle;
        } else {
            low = middle;
        }
    }
    (low + high) / 2.0
}

/// The regularised incomplete beta function (Abramowitz and Stegun 26.5.8, evaluated after Lentz).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = (a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp() / a;
    let away = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut product = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for step in [even, odd] {
            d = 1.0 / away(1.0 + step * d);
            c = away(1.0 + step / c);
            product *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * product
}

/// Logarithm of the gamma function for positive arguments (Stirling's series, after raising the argument to 10).
fn ln_gamma(x: f64) -> f64 {
    let (mut argument, mut product) = (x, 1.0);
    while argument < 10.0 {
        product *= argument;
        argument += 1.0;
    }
    let square = argument * argument;
    let series =
        (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / argument;
    (argument - 0.5) * argument.ln() - argument + 0.5 * (2.0 * PI).ln() + series - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_published_tables() {
        let normal = [(0.5, 0.0), (0.95, 1.644_853_627), (0.975, 1.959_963_985), (0.999_9, 3.719_016_485)];
        for (probability, expected) in normal {
            let found = normal_quantile(probability);
            assert!((found - expected).abs() < 1e-8, "{probability}: {found}, not {expected}");
        }
        let student = [
            (0.975, 1.0, 12.706_204_736),
            (0.975, 2.0, 4.302_652_730),
            (0.95, 4.0, 2.131_846_786),
            (0.975, 9.0, 2.262_157_163),
            (0.99, 9.0, 2.821_437_925),
            (0.975, 120.0, 1.979_930_405),
        ];
        for (probability, degrees, expected) in student {
            let found = student_quantile(probability, degrees);
            assert!((found - expected).abs() < 1e-7, "{probability}, {degrees}: {found}, not {expected}");
        }
    }

    #[test]
    fn probabilities_and_quantiles_undo_each_other_on_both_sides() {
        for probability in [1e-6, 0.01, 0.3, 0.5, 0.7, 0.99, 0.999_999] {
            let normal = normal_below(normal_quantile(probability));
            let student = student_below(student_quantile(probability, 5.0), 5.0);
            assert!((normal - probability).abs() < 1e-12, "{probability}: {normal}");
            assert!((student - probability).abs() < 1e-12, "{probability}: {student}");
        }
        assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(normal_quantile(1.5).is_nan() && normal_quantile(f64::NAN).is_nan());
    }
}
