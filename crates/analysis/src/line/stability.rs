//! Whether one line explains the trials: the same load may give two different results, or results may move with time.
//!
//! Three explanations of the trials near the line are weighed by their marginal likelihood, summed over grids: one line;
//! two lines of which each trial follows one by chance; a line that moves evenly from the first trial to the last. Noise
//! is Student's t as for the line itself, so a stray or two are explained by one line; and margins are cut off as
//! there, so a cliff is no pair of lines. Two lines and a moving one count only where they differ by a share of the load
//! that matters, and each is supposed of one stack in ten before anything is seen (Kass and Raftery, "Bayes
//! factors", JASA 90, 1995).

use super::crossing::{CUT, slope_prior};

/// Before anything is seen.
const PRIOR: f64 = 0.1;

/// Differences in ln(load) smaller than this don't matter.
const MATTERS: f64 = 0.05;

/// The furthest that two lines may lie apart, or one may move.
const FURTHEST: f64 = 0.6;

/// Cells of the grid over ln(load), and steps of the grid over how far the line moves.
const CELLS: usize = 40;
const MOVES: usize = 8;

/// Slopes: 0.5 times powers of two.
const SLOPES: i32 = 9;

/// Spread from trial to trial that is not yet two modes.
const SPREADS: [f64; 2] = [0.05, 0.12];

/// A margin, where and when it was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timed {
    /// ln(load).
    pub(super) x: f64,
    pub(super) margin: f64,
    pub(super) variance: f64,
    /// From 0, the first trial, to 1, the last.
    pub(super) when: f64,
}

/// What explains the trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// Probability that there are two lines.
    pub two_modes: f64,
    /// The most likely two, as loads.
    pub modes: (f64, f64),
    /// Probability that the line moves.
    pub drifts: f64,
    /// The most likely line at the first trial and at the last, as loads.
    pub moved: (f64, f64),
    /// Trials that were weighed.
    pub trials: usize,
}

/// Weighs the explanations; absent when there are fewer than four trials.
pub(super) fn stability(points: &[Timed]) -> Option<Stability> {
    if points.len() < 4 {
        return None;
    }
    let cells = cells(points);
    let (mut one, mut two, mut moving) = (Weighed::default(), Weighed::default(), Weighed::default());
    for slope in (0..SLOPES).map(|power| 0.5 * f64::from(1 << power)) {
        for spread in SPREADS {
            let prior = slope_prior(slope);
            let table: Vec<Vec<f64>> = cells
                .iter()
                .map(|cell| {
                    points.iter().map(|point| density(point, (cell.x, cell.width), slope, spread)).collect()
                })
                .collect();
            one_line(&table, &cells, prior, &mut one);
            two_lines(&table, &cells, prior, &mut two);
            moving_line(points, (slope, spread), &cells, prior, &mut moving);
        }
    }
    // A cliff parts those that passed from those that failed; that says nothing of two lines, or of a moving one.
    let prior = if is_parted(points) { 0.0 } else { PRIOR };
    let (one, two_mass, moving_mass) =
        ((1.0 - 2.0 * prior) * one.mean(), prior * two.mean(), prior * moving.mean());
    let all = (one + two_mass + moving_mass).max(f64::MIN_POSITIVE);
    Some(Stability {
        two_modes: two_mass / all,
        modes: (two.place.0.exp(), two.place.1.exp()),
        drifts: moving_mass / all,
        moved: (moving.place.0.exp(), moving.place.1.exp()),
        trials: points.len(),
    })
}

/// The likelihood of an explanation, summed over its grid, and its best place.
#[derive(Default)]
struct Weighed {
    sum: f64,
    weights: f64,
    best: f64,
    place: (f64, f64),
}

impl Weighed {
    fn add(&mut self, likelihood: f64, weight: f64, place: (f64, f64)) {
        self.sum += likelihood * weight;
        self.weights += weight;
        if likelihood * weight > self.best {
            self.best = likelihood * weight;
            self.place = place;
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.weights.max(f64::MIN_POSITIVE)
    }
}

/// A part of the grid over ln(load).
#[derive(Debug, Clone, Copy)]
struct Cell {
    x: f64,
    width: f64,
}

/// Even cells, and one between each two neighbouring trials: a cliff may lie in no more than that.
fn cells(points: &[Timed]) -> Vec<Cell> {
    let mut tried: Vec<f64> = points.iter().map(|point| point.x).collect();
    tried.sort_by(f64::total_cmp);
    let (low, high) = (tried[0] - 0.1, tried[tried.len() - 1] + 0.1);
    let even = (0..CELLS).map(|cell| low + (cell as f64 + 0.5) * (high - low) / CELLS as f64);
    let mut middles: Vec<f64> = even.chain(tried.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0)).collect();
    middles.sort_by(f64::total_cmp);
    middles.dedup_by(|one, other| (*one - *other).abs() < 1e-6);
    let edge = |index: usize| match index {
        0 => low,
        index if index == middles.len() => high,
        index => (middles[index - 1] + middles[index]) / 2.0,
    };
    (0..middles.len()).map(|index| Cell { x: middles[index], width: edge(index + 1) - edge(index) }).collect()
}

fn one_line(table: &[Vec<f64>], cells: &[Cell], prior: f64, weighed: &mut Weighed) {
    for (row, cell) in table.iter().zip(cells) {
        weighed.add(row.iter().product(), prior * cell.width, (cell.x, cell.x));
    }
}

fn two_lines(table: &[Vec<f64>], cells: &[Cell], prior: f64, weighed: &mut Weighed) {
    for (first, low) in table.iter().zip(cells) {
        for (second, high) in table.iter().zip(cells) {
            if (MATTERS..=FURTHEST).contains(&(high.x - low.x)) {
                let likelihood = first.iter().zip(second).map(|(one, other)| (one + other) / 2.0).product();
                weighed.add(likelihood, prior * low.width * high.width, (low.x, high.x));
            }
        }
    }
}

fn moving_line(
    points: &[Timed],
    (slope, spread): (f64, f64),
    cells: &[Cell],
    prior: f64,
    weighed: &mut Weighed,
) {
    let step = (FURTHEST - MATTERS) / (MOVES - 1) as f64;
    for size in (0..MOVES).map(|number| MATTERS + number as f64 * step) {
        for way in [-size, size] {
            for middle in cells {
                let at = |when: f64| middle.x + way * (when - 0.5);
                let likelihood = points
                    .iter()
                    .map(|point| density(point, (at(point.when), middle.width), slope, spread))
                    .product();
                weighed.add(likelihood, prior * middle.width, (at(0.0), at(1.0)));
            }
        }
    }
}

/// Student's t with three degrees of freedom, up to a factor. The line lies somewhere within its cell: what that leaves
/// open counts as noise, or no cell could hold a cliff.
fn density(point: &Timed, (line, width): (f64, f64), slope: f64, spread: f64) -> f64 {
    let f = (slope * (point.x - line)).clamp(-CUT, CUT);
    let residual = point.margin.clamp(-CUT, CUT) - f;
    let open = (slope * width).min(2.0 * CUT).powi(2) / 12.0;
    let variance = 0.75 * (point.variance + spread * spread + open);
    variance * variance.sqrt() / (variance + residual * residual / 3.0).powi(2)
}

/// Whether one load parts those that passed from those that failed. Where all did the same there is nothing to part: a line
/// that moves ahead of the trials looks so.
fn is_parted(points: &[Timed]) -> bool {
    let loads =
        |failed: bool| points.iter().filter(move |point| (point.margin > 0.0) == failed).map(|point| point.x);
    let highest_passed = loads(false).max_by(f64::total_cmp);
    let lowest_failed = loads(true).min_by(f64::total_cmp);
    highest_passed.zip(lowest_failed).is_some_and(|(passed, failed)| passed < failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve trials around 100, seven per cent up and down, whose line in trial i is that of `line(i)`.
    fn of(line: impl Fn(usize) -> f64) -> Stability {
        let noise = [0.1, -0.3, 0.4, -0.1, 0.2, -0.4, 0.0, 0.3, -0.2, 0.25, -0.35, 0.1];
        let points: Vec<Timed> = (0..12)
            .map(|index| {
                let x = (100.0 * (1.0 + 0.07 * (index as f64 % 3.0 - 1.0))).ln();
                let margin = 9.0 * (x - line(index).ln()) + noise[index];
                Timed { x, margin, variance: 0.09, when: index as f64 / 11.0 }
            })
            .collect();
        stability(&points).expect("there are enough trials")
    }

    #[test]
    fn one_line_two_and_a_moving_one_are_told_apart() {
        let steady = of(|_| 100.0);
        assert!(steady.two_modes < 0.2 && steady.drifts < 0.2, "{steady:?}");
        let two = of(|index| if [0, 3, 4, 7, 8, 11].contains(&index) { 88.0 } else { 113.0 });
        assert!(two.two_modes > 0.9, "{two:?}");
        let moving = of(|index| 118.0 - 3.0 * index as f64);
        assert!(moving.drifts > 0.9 && moving.moved.0 > moving.moved.1, "{moving:?}");
    }

    #[test]
    fn a_line_that_moves_ahead_of_trials_of_which_all_passed_is_a_drift() {
        let noise = [0.1, -0.1, 0.05, 0.0];
        let points: Vec<Timed> = (0..12)
            .map(|index| {
                let (x, line) =
                    (100f64.ln() + 0.035 * f64::from(index), 104f64.ln() + 0.04 * f64::from(index));
                let margin = 9.0 * (x - line) + noise[index as usize % noise.len()];
                Timed { x, margin, variance: 0.09, when: f64::from(index) / 11.0 }
            })
            .collect();
        assert!(points.iter().all(|point| point.margin < 0.0), "{points:?}");
        let seen = stability(&points).expect("there are enough trials");
        assert!(seen.drifts > 0.9 && seen.moved.1 > seen.moved.0, "{seen:?}");
    }

    #[test]
    fn a_single_stray_is_no_second_mode() {
        let stray = of(|index| if index == 4 { 88.0 } else { 100.0 });
        assert!(stray.two_modes < 0.5 && stray.drifts < 0.2, "{stray:?}");
    }
}
