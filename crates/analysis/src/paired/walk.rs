//! Evidence against a centre of symmetry, looked at after each of a number of values that is known beforehand.
//!
//! If values are symmetric around a centre, then given their distances from it each lies above or below with equal
//! chance (Fisher 1935, *The Design of Experiments*, section 21). The sum of their signed scores is then a random walk
//! whose steps are known and whose directions a fair coin draws, whatever the values' distribution: what it does is
//! computed exactly, without what crossed a bound at an earlier look. The bound of each look is the lowest that lets
//! no more through than may have been let through by then (Lan and DeMets 1983; the share as a power of the values'
//! number: Kim and DeMets 1987). Scores grow with the distance up to a bound of their own (Huber 1964): an outlier
//! counts as much as a value at that distance.

use super::Looks;

/// Steps of a score in one median distance: scores are whole numbers, so that the walk's distribution is exact.
const STEPS: f64 = 8.0;

/// The largest score: distances beyond this number of median distances count as that. Chosen by simulation
/// (`docs/method/comparing.md`).
const MAX_DISTANCES: f64 = 2.0;

/// The error that may have been made after a share of the values is the whole error times the share to this power.
/// Chosen by simulation, too.
const SPENDING_POWER: f64 = 1.5;

/// Whether `centre` was ruled out at a look at the first of `values`, or the first two, and so on.
pub(super) fn rules_out(values: &[f64], centre: f64, looks: Looks) -> bool {
    let mut walk = Walk::new();
    let mut distances: Vec<f64> = Vec::with_capacity(values.len());
    (1..).zip(values).any(|(number, value)| {
        let off = value - centre;
        let place = distances.partition_point(|distance| *distance < off.abs());
        distances.insert(place, off.abs());
        walk.step(score(off, median_of_sorted(&distances)));
        walk.look(looks.may_err(number))
    })
}

/// In units of the median distance so far.
fn score(off: f64, unit: f64) -> i64 {
    let distance = if unit > 0.0 { (off / unit).clamp(-MAX_DISTANCES, MAX_DISTANCES) } else { 0.0 };
    (distance * STEPS).round() as i64
}

impl Looks {
    /// Probability of having ruled out the right centre by the look at that many values.
    fn may_err(self, number: u32) -> f64 {
        let share = f64::from(number) / f64::from(self.max_values.max(1));
        (1.0 - self.confidence_ratio) * share.min(1.0).powf(SPENDING_POWER)
    }
}

/// A walk that a fair coin directs, and where it went.
struct Walk {
    /// Probability of each sum from 0 up, by symmetry also of its negative; of walks that crossed no bound.
    chances: Vec<f64>,
    /// Where this one is.
    sum: i64,
    /// Probability of having crossed a bound.
    crossed_ratio: f64,
}

impl Walk {
    fn new() -> Walk {
        Walk { chances: vec![1.0], sum: 0, crossed_ratio: 0.0 }
    }

    fn step(&mut self, score: i64) {
        self.sum += score;
        let step = score.unsigned_abs() as usize;
        let before = std::mem::take(&mut self.chances);
        let at = |sum: usize| before.get(sum).copied().unwrap_or(0.0);
        let chance = |sum: usize| 0.5 * (at(sum.abs_diff(step)) + at(sum + step));
        self.chances = (0..before.len() + step).map(chance).collect();
    }

    /// Sets the bound so that no more than `may_err` crosses any up to here; whether this walk does.
    fn look(&mut self, may_err: f64) -> bool {
        let mut bound = self.chances.len();
        while bound > 1 && self.crossed_ratio + 2.0 * self.chances[bound - 1] <= may_err {
            self.crossed_ratio += 2.0 * self.chances[bound - 1];
            bound -= 1;
        }
        self.chances.truncate(bound);
        self.sum.unsigned_abs() as usize >= bound
    }
}

pub(super) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n == 0 {
        return 0.0;
    }
    (sorted[n / 2] + sorted[(n - 1) / 2]) / 2.0
}

/// All centres that are not ruled out, as an interval around `estimate`; `None` as long as there are too few values for
/// any to be.
pub(super) fn interval(values: &[f64], estimate: f64, looks: Looks) -> Option<(f64, f64)> {
    if least(looks).is_none_or(|least| values.len() < least as usize) {
        return None;
    }
    let spread = values.iter().map(|value| (value - estimate).abs()).fold(0.0, f64::max);
    if spread == 0.0 {
        return Some((estimate, estimate));
    }
    Some((end(values, estimate, -spread, looks), end(values, estimate, spread, looks)))
}

/// How many values it takes to rule any centre out: from very far away they are all on one side and equally far, and no
/// centre has more evidence against it. `None` when that is more than there will be.
pub(super) fn least(looks: Looks) -> Option<u32> {
    // All on one side, and on a given one: twice a half to the power of their number.
    (1..=looks.max_values).find(|number| 2.0 * 0.5f64.powf(f64::from(*number)) <= looks.may_err(*number))
}

/// The outermost centre that can't be ruled out on the side to which `step` points: the first one met on the way in
/// from afar, on a grid of distances that shrink by three tenths, and then by bisection.
fn end(values: &[f64], estimate: f64, step: f64, looks: Looks) -> f64 {
    let holds = |distance: f64| !rules_out(values, estimate + distance * step, looks);
    let mut outside = 64.0;
    let mut inside = 0.0;
    while outside > 1e-4 {
        let next = outside * 0.7;
        if holds(next) {
            inside = next;
            break;
        }
        outside = next;
    }
    for _ in 0..16 {
        let middle = (inside + outside) / 2.0;
        if holds(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    estimate + outside * step
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOKS: Looks = Looks { confidence_ratio: 0.95, max_values: 10 };

    #[test]
    fn of_all_ways_to_put_signs_on_distances_no_more_than_5_percent_rule_the_centre_out() {
        let distances: [f64; 10] = [0.3, 2.0, 0.1, 1.0, 1.1, 40.0, 0.5, 0.7, 0.2, 3.0];
        let ruled_out = (0..1024u32).filter(|signs| {
            let signed = |(index, d): (usize, &f64)| if signs >> index & 1 == 1 { *d } else { -d };
            let values: Vec<f64> = distances.iter().enumerate().map(signed).collect();
            rules_out(&values, 0.0, LOOKS)
        });
        let share = ruled_out.count() as f64 / 1024.0;
        assert!((0.035..=0.05).contains(&share), "{share}");
    }

    #[test]
    fn one_value_proves_nothing_however_far_off() {
        assert!(!rules_out(&[1e9], 0.0, LOOKS) && !rules_out(&[], 0.0, LOOKS));
        let six = [1.0, 1.1, 0.9, 1.0, 1.2, 0.8];
        assert_eq!(least(LOOKS), Some(7));
        assert_eq!(interval(&six, 1.0, LOOKS), None);
        assert!(interval(&[&six[..], &[1.0]].concat(), 1.0, LOOKS).is_some(), "seven are enough");
        assert_eq!(least(Looks { max_values: 5, ..LOOKS }), None, "five are never enough");
        assert_eq!(least(Looks { max_values: 6, ..LOOKS }), Some(6), "six are, with a single look");
    }

    #[test]
    fn the_interval_ends_where_centres_are_ruled_out() {
        let values = [0.01, 0.03, 0.02, 0.05, -0.01, 0.02, 0.04, 0.03, 0.02, 0.01];
        let (low, high) = interval(&values, 0.021, LOOKS).expect("ten values");
        for (inside, outside) in [(low + 1e-5, low - 1e-5), (high - 1e-5, high + 1e-5)] {
            assert!(!rules_out(&values, inside, LOOKS) && rules_out(&values, outside, LOOKS), "{low} {high}");
        }
        assert!(low > 0.0 && high < 0.045, "{low} {high}");
    }

    #[test]
    fn more_values_than_were_planned_rule_nothing_more_out() {
        let planned = [0.2, -0.1, 0.3, 0.1, -0.2, 0.1, 0.4, -0.1, 0.2, -0.3];
        assert!(!rules_out(&planned, 0.0, LOOKS));
        let more = [&planned[..], &[5.0; 10]].concat();
        assert!(!rules_out(&more, 0.0, LOOKS), "all that may be wrong was spent on the ten");
    }
}
