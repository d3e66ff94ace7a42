//! A window cut into consecutive batches, and what their scatter says of a figure of the whole window.
//!
//! Responses that follow each other resemble each other, so the scatter of single responses says too little of how far
//! a window's figure can be trusted. Batches long enough are nearly independent (batch means: Law and Kelton,
//! *Simulation Modeling and Analysis*, chapter 9); what dependence is left is estimated and allowed for.

use model::Interval;

use crate::steady::Steady;

/// Batches that a window is cut into when it is long enough for seconds to be put together.
const WANTED: usize = 10;

/// With fewer batches than this their scatter says nothing.
pub(crate) const MIN_BATCHES: usize = 4;

/// The correlation between neighbouring batches is taken for at most this: estimated from ten batches, a higher one is
/// mostly chance.
const MAX_CORRELATION: f64 = 0.7;

/// A window's batches, made as its seconds come, so that they need not all be in memory: 10 to 19 of equal length in whole
/// seconds when the window has at least ten seconds, one a second when it has fewer. Seconds left over are those at the
/// window's beginning.
#[derive(Debug, Clone)]
pub struct Batches {
    /// Seconds of a batch.
    each: usize,
    /// Seconds that are left over.
    surplus: usize,
    pushed: usize,
    before: Option<Steady>,
    parts: Vec<Steady>,
}

impl Batches {
    /// Of a window that will have exactly `seconds` seconds.
    pub fn of(seconds: usize) -> Batches {
        let each = (seconds / WANTED).max(1);
        Batches { each, surplus: seconds % each, pushed: 0, before: None, parts: Vec::new() }
    }

    /// Takes the window's next second; all of them count.
    pub fn push(&mut self, second: &Interval) {
        let fresh = || Steady::new(f64::from(second.second), f64::INFINITY);
        let place = self.pushed.checked_sub(self.surplus);
        self.pushed += 1;
        let Some(place) = place else {
            self.before.get_or_insert_with(fresh).push(second);
            return;
        };
        if place.is_multiple_of(self.each) {
            self.parts.push(fresh());
        }
        if let Some(part) = self.parts.last_mut() {
            part.push(second);
        }
    }

    /// The whole window; absent without a second.
    pub(crate) fn whole(&self) -> Option<Steady> {
        (self.pushed > 0).then(|| Steady::joined(self.before.iter().chain(&self.parts)))
    }

    /// The batches.
    pub(crate) fn parts(&self) -> &[Steady] {
        &self.parts
    }

    /// `together` times as long ones, fewer of them; what is left over is at the beginning.
    pub(crate) fn joined(&self, together: usize) -> Vec<Steady> {
        let surplus = self.parts.len() % together;
        self.parts[surplus..].chunks(together).map(Steady::joined).collect()
    }
}

/// Standard error of the sum of `residuals`, which are the batches' contributions to an estimate and add up to about
/// zero: √(k/(k−1) · Σ e² · (1 + r)/(1 − r)), r being the correlation of neighbours where it is positive, as in a
/// first-order autoregression. Estimated from k values it comes out too small by (1 + 4r)/k on average (Kendall 1954;
/// Marriott and Pope 1954), which is put back. `None` for fewer than [`MIN_BATCHES`] batches.
pub(crate) fn sum_se(residuals: &[f64]) -> Option<f64> {
    let k = residuals.len();
    if k < MIN_BATCHES {
        return None;
    }
    let squares: f64 = residuals.iter().map(|e| e * e).sum();
    let seen = neighbours(residuals);
    let correlation = (seen + (1.0 + 4.0 * seen) / k as f64).clamp(0.0, MAX_CORRELATION);
    let inflated = (1.0 + correlation) / (1.0 - correlation);
    Some((squares * inflated * k as f64 / (k - 1) as f64).sqrt())
}

/// Correlation of each value with the next one, around zero; 0 when nothing varies.
fn neighbours(residuals: &[f64]) -> f64 {
    let squares: f64 = residuals.iter().map(|e| e * e).sum();
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_cut_into_ten_to_nineteen_equal_batches_or_into_its_seconds() {
        let table = [(0, 0, 0), (4, 4, 1), (9, 9, 1), (10, 10, 1), (19, 19, 1), (25, 12, 2), (90, 10, 9)];
        for (seconds, batches, each_s) in table {
            let mut cut = Batches::of(seconds as usize);
            (100..100 + seconds).for_each(|second| cut.push(&Interval::empty(second)));
            let parts = cut.parts();
            assert_eq!(parts.len(), batches, "{seconds} s");
            assert!(parts.iter().all(|part| part.length_s() == f64::from(each_s)), "{seconds} s");
            let end = parts.last().map_or(100.0, |part| part.span_s().1);
            assert_eq!(end, f64::from(100 + seconds), "what is left over is at the beginning");
            let twice = cut.joined(2);
            assert_eq!(twice.len(), batches / 2, "{seconds} s, twice as long batches");
            assert!(twice.iter().all(|part| part.length_s() == f64::from(2 * each_s)), "{seconds} s");
            assert_eq!(twice.last().map_or(end, |part| part.span_s().1), end, "{seconds} s");
            let whole = cut.whole().map_or(0.0, |whole| whole.length_s());
            assert_eq!(whole, f64::from(seconds), "the whole window has them all");
        }
    }

    #[test]
    fn the_scatter_of_batches_becomes_a_standard_error_and_likeness_of_neighbours_widens_it() {
        let apart = sum_se(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]).expect("six batches");
        assert!((apart - (6.0f64 * 6.0 / 5.0).sqrt()).abs() < 1e-12, "{apart}");
        let alike = sum_se(&[1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0]).expect("eight batches");
        let r = 1.0 / 8.0 + (1.0 + 4.0 / 8.0) / 8.0;
        let expected = (8.0f64 * 8.0 / 7.0 * (1.0 + r) / (1.0 - r)).sqrt();
        assert!(
            (alike - expected).abs() < 1e-12,
            "four like and three unlike neighbours: {alike}, not {expected}"
        );
        assert_eq!(sum_se(&[1.0, -1.0, 0.0]), None, "three batches say nothing");
        assert_eq!(sum_se(&[0.0; 5]), Some(0.0));
    }
}
