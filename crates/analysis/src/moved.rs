//! What an intervention did to the target that holds a load line: the change of its margin ln(observed/limit), in trials of
//! the same block with and without it.

use crate::paired::{self, Looks};

/// Probability with which an interval holds.
pub const CONFIDENCE_RATIO: f64 = 0.9;
/// A line that moves by less than this was not held by what was changed.
const MIN_LINE_FACTOR: f64 = 1.1;
/// A margin that moves by more than this, up, when a tier has 15 % less CPU time, depends on that time.
const MIN_MARGIN: f64 = 0.1;

/// What pairs of trials showed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moved {
    /// Change of the margin; below 0 the target is nearer to being met. Absent without a pair.
    pub margin: Option<f64>,
    /// Its interval; absent for few pairs.
    pub interval: Option<(f64, f64)>,
    /// By what factor the line would move; absent where its slope is not known.
    pub line_factor: Option<f64>,
    /// Pairs.
    pub pairs: u32,
}

/// What follows from margins without and with the intervention, pair by pair; `slope` is how steeply the margin rises with the
/// logarithm of the load at the line, and `blocks` how many pairs there were to be.
pub fn moved(pairs: &[(f64, f64)], slope: Option<f64>, blocks: u32) -> Moved {
    let changes: Vec<f64> =
        pairs.iter().map(|(without, with)| with - without).filter(|change| change.is_finite()).collect();
    if changes.is_empty() {
        return Moved::default();
    }
    let margin = paired::centre(&changes);
    let looks = Looks { confidence_ratio: CONFIDENCE_RATIO, max_values: blocks };
    Moved {
        margin: Some(margin),
        interval: paired::interval(&changes, looks),
        line_factor: slope.filter(|slope| *slope > 0.0).map(|slope| (-margin / slope).exp()),
        pairs: changes.len() as u32,
    }
}

/// What is to be said of what an intervention did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It moves the line up.
    Raises,
    /// It moves the line down.
    Lowers,
    /// It moves the line by little, if at all.
    Little,
    /// The trials don't tell.
    Open,
}

impl Moved {
    /// Which of these it is.
    pub fn effect(&self) -> Effect {
        let (Some(_), Some((low, high))) = (self.margin, self.interval) else { return Effect::Open };
        let factor = self.line_factor.unwrap_or(f64::NAN);
        // Without a slope the margin itself must move by what matters.
        let up = factor >= MIN_LINE_FACTOR || (factor.is_nan() && high <= -MIN_MARGIN);
        match () {
            () if high < 0.0 && up => Effect::Raises,
            () if low > 0.0 && high > MIN_MARGIN => Effect::Lowers,
            () if low > -MIN_MARGIN && high < MIN_MARGIN => Effect::Little,
            () if high < 0.0 && !up => Effect::Little,
            () => Effect::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(change: f64) -> Vec<(f64, f64)> {
        (0..5).map(|n| (0.2 + 0.01 * f64::from(n), 0.2 + change + 0.012 * f64::from(n))).collect()
    }

    #[test]
    fn a_margin_that_falls_moves_the_line_up_by_what_the_slope_says() {
        let seen = moved(&pairs(-2.0), Some(4.0), 5);
        assert_eq!(seen.pairs, 5);
        let (low, high) = seen.interval.expect("five pairs are enough");
        assert!(low <= -1.9 && high < -1.5, "{seen:?}");
        assert!((seen.line_factor.expect("a slope") - 0.5_f64.exp()).abs() < 0.02, "{seen:?}");
        assert_eq!(seen.effect(), Effect::Raises);
    }

    #[test]
    fn what_hardly_moves_the_target_is_little_and_what_makes_it_worse_lowers_the_line() {
        assert_eq!(moved(&pairs(0.0), Some(4.0), 5).effect(), Effect::Little);
        assert_eq!(moved(&pairs(0.8), Some(4.0), 5).effect(), Effect::Lowers);
        assert_eq!(
            moved(&pairs(-0.2), Some(9.0), 5).effect(),
            Effect::Little,
            "a steep target hardly moves the line"
        );
    }

    #[test]
    fn too_few_pairs_say_nothing_for_sure() {
        assert_eq!(moved(&pairs(-2.0)[..2], Some(4.0), 5).effect(), Effect::Open);
        assert_eq!(moved(&[], Some(4.0), 5), Moved::default());
        assert_eq!(moved(&[(f64::NEG_INFINITY, 0.1)], None, 5).pairs, 0, "nothing was observed");
    }
}
