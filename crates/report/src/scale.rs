//! Axes: where a value stands, and which values get a label. For drawings of text and of lines alike.

/// The way from a value to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart; values are positive.
    Log,
}

/// An axis from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) kind: Kind,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Scale {
    /// A logarithmic axis around positive `values`, with a margin of `room` (0.05: 5 % of its length) on both sides;
    /// absent without a positive one.
    pub(crate) fn log(values: impl Iterator<Item = f64>, room: f64) -> Option<Scale> {
        let (low, high) = ends(values.filter(|value| *value > 0.0))?;
        let length = (high / low).ln().max(0.2);
        let factor = (length * room).exp();
        Some(Scale { kind: Kind::Log, low: low / factor, high: high * factor })
    }

    /// A linear axis from 0 to a little above the largest of `values`.
    pub(crate) fn from_zero(values: impl Iterator<Item = f64>) -> Option<Scale> {
        let (_, high) = ends(values)?;
        Some(Scale { kind: Kind::Linear, low: 0.0, high: if high > 0.0 { high * 1.1 } else { 1.0 } })
    }

    /// A linear axis around `values`.
    pub(crate) fn around(values: impl Iterator<Item = f64>, room: f64) -> Option<Scale> {
        let (low, high) = ends(values)?;
        let length = if high > low { high - low } else { high.abs().max(1.0) };
        Some(Scale { kind: Kind::Linear, low: low - room * length, high: high + room * length })
    }

    /// Where `value` stands: 0 at the low end, 1 at the high one, beyond them outside.
    pub(crate) fn position(&self, value: f64) -> f64 {
        match self.kind {
            Kind::Linear => (value - self.low) / (self.high - self.low),
            Kind::Log => (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// Whether `value` lies on the axis.
    pub(crate) fn holds(&self, value: f64) -> bool {
        (-1e-9..=1.0 + 1e-9).contains(&self.position(value))
    }

    /// At most `most` values that are worth a label: 1, 2 and 5 times powers of ten.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        match self.kind {
            Kind::Linear => self.linear_ticks(most.max(2)),
            Kind::Log => self.log_ticks(most.max(2)),
        }
    }

    fn log_ticks(&self, most: usize) -> Vec<f64> {
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let among = |steps: &[f64]| -> Vec<f64> {
            let all = powers.clone().flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
            all.filter(|tick| self.holds(*tick)).collect()
        };
        let fine = among(&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]);
        let usual = among(&[1.0, 2.0, 5.0]);
        let coarse = among(&[1.0]);
        if usual.len() < 3 && (2..=most).contains(&fine.len()) && fine.len() > usual.len() {
            return fine;
        }
        match usual.len() {
            // So short a part of the scale that it is nearly even.
            0..2 => self.linear_ticks(most).into_iter().filter(|tick| *tick > 0.0).collect(),
            few if few <= most => usual,
            _ => thinned(coarse, most),
        }
    }

    fn linear_ticks(&self, most: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / most as f64;
        let power = 10f64.powf(rough.abs().max(1e-12).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        // Multiplied by whole numbers and not added up, so that 0.3 is no 0.30000000000000004 by chance of order.
        (first..=last).map(|count| count as f64 * step).collect()
    }
}

fn thinned(ticks: Vec<f64>, most: usize) -> Vec<f64> {
    let every = ticks.len().div_ceil(most).max(1);
    ticks.into_iter().step_by(every).collect()
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |ends, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((f64::min(low, value), f64::max(high, value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_not_too_many() {
        let log = Scale { kind: Kind::Log, low: 45.0, high: 600.0 };
        assert_eq!(log.ticks(8), [50.0, 100.0, 200.0, 500.0]);
        let wide = Scale { kind: Kind::Log, low: 1.0, high: 1e6 };
        assert_eq!(wide.ticks(4), [1.0, 100.0, 1e4, 1e6]);
        let narrow = Scale { kind: Kind::Log, low: 280.0, high: 620.0 };
        assert_eq!(narrow.ticks(8), [300.0, 500.0]);
        let short = Scale { kind: Kind::Log, low: 381.0, high: 442.0 };
        assert_eq!(short.ticks(8), [390.0, 400.0, 410.0, 420.0, 430.0, 440.0]);
        let linear = Scale { kind: Kind::Linear, low: 0.0, high: 412.0 };
        assert_eq!(linear.ticks(5), [0.0, 100.0, 200.0, 300.0, 400.0]);
        let around = Scale { kind: Kind::Linear, low: -0.013, high: 0.021 };
        assert_eq!(around.ticks(4), [-0.01, 0.0, 0.01, 0.02]);
    }

    #[test]
    fn equal_ratios_are_equally_far_apart_on_a_log_axis() {
        let log = Scale { kind: Kind::Log, low: 10.0, high: 1000.0 };
        assert!((log.position(100.0) - 0.5).abs() < 1e-12);
        assert!(!log.holds(0.0) && !log.holds(1001.0) && log.holds(10.0));
        assert_eq!(Scale::log([0.0, -1.0].into_iter(), 0.1), None);
        assert_eq!(Scale::from_zero(std::iter::empty()), None);
    }
}
