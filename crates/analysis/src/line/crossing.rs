//! Where one target's margin crosses zero, as a distribution: the posterior of a robust local line over ln(load).
//!
//! Near the crossing the margin of a target is m(x) = s·(x − c) with x = ln(load), c the crossing and s the slope. What
//! a trial says of it is m plus noise of variance se² + τ² + (κ·m)²: the window's own standard error, a spread from
//! trial to trial, and how far the true curve may bend away from the line, which grows with the distance from zero. So
//! far points weigh little, without a bandwidth to choose. Margins are cut off at ±[`CUT`], on both sides of the
//! comparison: beyond it only the side counts, and a cliff (−2 here, +3 one per cent further) becomes what it is, a
//! bracket. The noise is Student's t with three degrees of freedom, so that a stray trial pulls a little and no more
//! (Lange, Little and Taylor, "Robust statistical modeling using the t distribution", JASA 84, 1989).
//!
//! c, s and τ are summed over a grid instead of maximised over: with a handful of trials the slope is known badly, and
//! an interval that takes it as known is too short. The slope's prior is log-normal around 6 with a factor of 3.3, τ's
//! around 0.09 with a factor of 2: wide beside what trials say, and what keeps three trials from claiming the world.

/// Margins beyond this count as this.
pub(super) const CUT: f64 = 1.0;

/// κ: how far the curve may bend away from a line, as a share of the margin.
const BEND: f64 = 0.2;

/// The scale of the t distribution as a share of the standard deviation of what it stands for.
const T_SCALE_SQUARE: f64 = 0.7;

/// Slopes: 0.5 times powers of this.
const SLOPE_STEP: f64 = 1.5;
const SLOPES: usize = 18;

/// τ in units of ln(margin).
const SPREADS: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.4];

/// Cells of the grid over the crossing.
const CELLS: usize = 56;

/// How often the grid is laid anew over the part that holds the mass; each time it is shorter by three tenths or more.
const ZOOMS: usize = 64;

/// What is left of the likelihood of a crossing on the wrong side of a trial that only says passed or failed.
const STRAY: f64 = 0.03;

/// What one trial says of one target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reading {
    /// The margin, and the square of its standard error.
    Margin(f64, f64),
    /// It failed, by how much is not known.
    Over,
    /// It passed, by how much is not known.
    Under,
}

/// A reading and the natural logarithm of the load at which it was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) reading: Reading,
}

/// The distribution of (crossing, slope).
#[derive(Debug, Clone)]
pub(super) struct Crossing {
    first_x: f64,
    cell: f64,
    /// Share of the mass up to and with each cell of the grid over the crossing.
    rows: Vec<f64>,
    /// Within each of these cells, share of the mass up to and with each slope.
    slopes: Vec<[f64; SLOPES]>,
    /// The mean of τ².
    pub(super) spread_square: f64,
}

impl Crossing {
    /// From what trials said; the crossing lies within `range` of ln(load).
    pub(super) fn of(points: &[Point], range: (f64, f64)) -> Crossing {
        let mut range = range;
        let mut grid = Grid::over(points, range);
        for _ in 0..ZOOMS {
            let narrow = grid.support();
            // What is no number is not narrower either.
            let narrower = narrow.1 - narrow.0 <= 0.7 * (range.1 - range.0);
            if !narrower {
                break;
            }
            range = narrow;
            grid = Grid::over(points, range);
        }
        grid.normalised()
    }

    /// The crossing at share `u` of the mass, in rising order, and the slope at share `v` of what goes with it.
    pub(super) fn at(&self, u: f64, v: f64) -> (f64, f64) {
        let row = self.rows.partition_point(|mass| *mass < u).min(self.rows.len() - 1);
        let before = if row == 0 { 0.0 } else { self.rows[row - 1] };
        let within = ((u - before) / (self.rows[row] - before).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let slope = self.slopes[row].partition_point(|mass| *mass < v).min(SLOPES - 1);
        (self.first_x + (row as f64 + within - 0.5) * self.cell, slope_of(slope))
    }
}

fn slope_of(index: usize) -> f64 {
    0.5 * SLOPE_STEP.powi(index as i32)
}

/// Probability of one side when the curve is `f` beyond zero there.
fn side(f: f64) -> f64 {
    STRAY + (1.0 - STRAY) / (1.0 + (-f / 0.15).exp())
}

/// Unnormalised mass over a grid.
struct Grid {
    first_x: f64,
    cell: f64,
    mass: Vec<[f64; SLOPES]>,
    spread_square: f64,
}

impl Grid {
    fn over(points: &[Point], (from, to): (f64, f64)) -> Grid {
        let cell = (to - from) / CELLS as f64;
        let first_x = from + cell / 2.0;
        let mut mass = vec![[0.0; SLOPES]; CELLS];
        let (mut all, mut spread_square) = (0.0, 0.0);
        for (row, slopes) in mass.iter_mut().enumerate() {
            let crossing = first_x + row as f64 * cell;
            for (index, value) in slopes.iter_mut().enumerate() {
                let slope = slope_of(index);
                for (likelihood, spread) in likelihoods(points, crossing, slope).into_iter().zip(SPREADS) {
                    let weighted = likelihood * slope_prior(slope) * spread_prior(spread);
                    *value += weighted;
                    all += weighted;
                    spread_square += weighted * spread * spread;
                }
            }
        }
        Grid { first_x, cell, mass, spread_square: spread_square / f64::max(all, f64::MIN_POSITIVE) }
    }

    /// The part of the grid that holds nearly all of the mass, with a cell to spare on each side.
    fn support(&self) -> (f64, f64) {
        let rows: Vec<f64> = self.mass.iter().map(|slopes| slopes.iter().sum()).collect();
        let most = rows.iter().copied().fold(0.0, f64::max);
        let counts = |mass: &f64| *mass > most * 2e-4;
        let first = rows.iter().position(counts).unwrap_or(0) as f64;
        let last = rows.iter().rposition(counts).unwrap_or(CELLS - 1) as f64;
        (self.first_x + (first - 1.5) * self.cell, self.first_x + (last + 1.5) * self.cell)
    }

    fn normalised(self) -> Crossing {
        let all: f64 = self.mass.iter().flatten().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut sum = 0.0;
        let mut rows = Vec::with_capacity(CELLS);
        let mut slopes = Vec::with_capacity(CELLS);
        for mass in &self.mass {
            let row = mass.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            let mut within = 0.0;
            slopes.push(mass.map(|value| {
                within += value / row;
                within
            }));
            sum += row / all;
            rows.push(sum);
        }
        Crossing { first_x: self.first_x, cell: self.cell, rows, slopes, spread_square: self.spread_square }
    }
}

pub(super) fn slope_prior(slope: f64) -> f64 {
    let away = (slope / 6.0).ln();
    (-0.5 * (away / if away < 0.0 { 1.0 } else { 1.5 }).powi(2)).exp()
}

fn spread_prior(spread: f64) -> f64 {
    (-0.5 * ((spread / 0.09).ln() / 0.7).powi(2)).exp()
}

/// The likelihood for each spread. With three degrees of freedom the density of t at residual r and scale² v is, up to a
/// factor, v^(3/2)/(v + r²/3)²: no logarithm, no power but one root at the end.
fn likelihoods(points: &[Point], crossing: f64, slope: f64) -> [f64; SPREADS.len()] {
    let mut scales = [1.0; SPREADS.len()];
    let mut sums = [1.0; SPREADS.len()];
    let mut sides = 1.0;
    for point in points {
        let f = slope * (point.x - crossing);
        let (margin, variance) = match point.reading {
            Reading::Margin(margin, variance) => (margin, variance),
            Reading::Over => {
                sides *= side(f);
                continue;
            }
            Reading::Under => {
                sides *= side(-f);
                continue;
            }
        };
        let f = f.clamp(-CUT, CUT);
        let residual = margin.clamp(-CUT, CUT) - f;
        let known = variance + (BEND * f).powi(2);
        for ((scale, sum), spread) in scales.iter_mut().zip(&mut sums).zip(SPREADS) {
            let v = T_SCALE_SQUARE * (known + spread * spread);
            *scale *= v;
            *sum *= v + residual * residual / 3.0;
        }
    }
    let mut found = [0.0; SPREADS.len()];
    for ((value, scale), sum) in found.iter_mut().zip(scales).zip(sums) {
        *value = sides * (scale / sum).powi(2) / scale.sqrt();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(load: f64, margin: f64) -> Point {
        Point { x: load.ln(), reading: Reading::Margin(margin, 0.05f64.powi(2)) }
    }

    fn quantile(points: &[Point], u: f64) -> f64 {
        Crossing::of(points, (10f64.ln(), 1000f64.ln())).at(u, 0.5).0.exp()
    }

    #[test]
    fn clean_margins_of_any_slope_cross_where_they_cross() {
        for slope in [1.0, 4.0, 9.0, 20.0] {
            let margin = |load: f64| point(load, slope * (load / 100.0f64).ln());
            let points: Vec<Point> = [50.0, 80.0, 92.0, 97.0, 104.0, 111.0].map(margin).to_vec();
            let found = quantile(&points, 0.5);
            assert!((found / 100.0 - 1.0).abs() < 0.02, "slope {slope}: {found}");
            let slope_found = Crossing::of(&points, (2.0, 7.0)).at(0.5, 0.5).1;
            assert!((slope_found / slope).ln().abs() < 0.7, "slope {slope} was taken for {slope_found}");
        }
    }

    #[test]
    fn of_a_cliff_only_the_bracket_is_known() {
        let cliff =
            [point(50.0, -3.0), point(90.0, -2.0), point(98.0, -2.0), point(102.0, 3.0), point(102.0, 3.2)];
        let (low, high) = (quantile(&cliff, 0.05), quantile(&cliff, 0.95));
        assert!(low > 97.5 && low < 99.5 && high > 100.5 && high < 104.5, "{low} to {high}");
    }

    #[test]
    fn a_stray_trial_pulls_a_little_and_no_more() {
        let mut points: Vec<Point> = [94.0, 97.0, 100.0, 103.0, 106.0]
            .map(|load: f64| point(load, 9.0 * (load / 100.0f64).ln()))
            .to_vec();
        let without = quantile(&points, 0.5);
        points.push(point(97.0, 1.0));
        let with = quantile(&points, 0.5);
        assert!((with / without).ln().abs() < 0.04, "{without} became {with}");
    }

    #[test]
    fn sides_without_margins_are_bounds() {
        let side = |load: f64, reading| Point { x: load.ln(), reading };
        let points = [side(90.0, Reading::Under), side(99.0, Reading::Under), side(110.0, Reading::Over)];
        let middle = quantile(&points, 0.5);
        assert!(middle > 95.0 && middle < 115.0, "{middle}");
    }
}
