//! Where a run's steady state begins: the marginal standard error rule over batches, MSER-5.
//!
//! Of all beginnings, take the one that makes the mean of what is left best known: cutting more removes what the
//! warm-up adds to the scatter, and removes values (White 1997; White and Spratt 2000). Among the rules that need no
//! look at a chart it was the best in the comparison of Hoad, Robinson and Davies (2010). A cut in the last half means that the run
//! is too short to say.

use crate::batch;

/// The minimum number of batches that a series is cut into, so that a batch is at most a thirtieth of it.
const MIN_BATCHES: usize = 30;

/// The maximum number of values put together: the 5 of MSER-5.
const MAX_TOGETHER: usize = 5;

/// With fewer values than this nothing is said.
const MIN_VALUES: usize = 6;

/// Share of the batches left behind the last cut that is considered: a few values at the end often lie close together
/// by chance, and would draw the cut to them.
const MIN_LEFT_RATIO: f64 = 0.4;

/// Of cuts that are this nearly as good as the best, the earliest is taken.
const AS_GOOD: f64 = 1.1;

/// Values further from the median than this number of standard deviations are taken as that far: one stalled second is no
/// warm-up.
const MAX_DEVIATIONS: f64 = 4.0;

/// Halves of what is left that differ by more than this, as a share, and beyond chance, are a drift.
const DRIFT: f64 = 0.05;

/// The number of standard errors that is beyond chance. A steady stack that is doubted wrongly is asked again a second later.
const BEYOND_CHANCE: f64 = 2.0;

/// The second at which the steady state begins, given each second's completions and mean response time (any unit; not a
/// number where nothing completed); `None` when there is no steady state yet. The later of the beginnings of both
/// logarithms counts, and neither may drift from there on. Asked again after each second it finds the steady state as
/// soon as it can be seen.
pub fn steady_from(completed: &[f64], mean_response: &[f64]) -> Option<usize> {
    let throughput: Vec<f64> = completed.iter().map(|count| count.max(0.5).ln()).collect();
    let response: Vec<f64> = mean_response.iter().map(|time| time.ln()).collect();
    let series = [filled(&throughput)?, filled(&response)?];
    let mut from = 0;
    for values in &series {
        from = from.max(mser(values)?);
    }
    let drifting = series.iter().any(|values| drifts(&values[from.min(values.len())..]));
    (!drifting).then_some(from)
}

/// The index of the first value that belongs to the steady state by MSER: the cut d that minimises
/// Σ (y − ȳ)² / m² over the m batches behind it. Batches are of 5 values when there are at least 150, and of
/// fewer when there are fewer: a second is a batch of many responses already. `None` for a cut in the last half, for
/// fewer than six values, and when one is not a number.
pub fn mser(values: &[f64]) -> Option<usize> {
    if values.len() < MIN_VALUES || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let together = (values.len() / MIN_BATCHES).clamp(1, MAX_TOGETHER);
    let surplus = values.len() % together;
    let batches: Vec<f64> = clipped(values)[surplus..].chunks(together).map(mean).collect();
    let last = batches.len() - (MIN_LEFT_RATIO * batches.len() as f64) as usize;
    let errors: Vec<f64> = (0..=last).map(|cut| marginal(&batches[cut..])).collect();
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let cut = errors.iter().position(|error| *error <= AS_GOOD * least)?;
    let from = if cut == 0 { 0 } else { surplus + cut * together };
    (2 * from <= values.len()).then_some(from)
}

/// The marginal standard error's square: Σ (y − ȳ)² / m².
fn marginal(left: &[f64]) -> f64 {
    let centre = mean(left);
    left.iter().map(|y| (y - centre).powi(2)).sum::<f64>() / (left.len() as f64).powi(2)
}

/// Whether the second half of `values` differs from the first by more than [`DRIFT`] and more than chance.
fn drifts(values: &[f64]) -> bool {
    let (early, late) = values.split_at(values.len() / 2);
    let difference = mean(late) - mean(early);
    // Likeness of neighbours is not allowed for: it is what a drift looks like within a half.
    let se = |half: &[f64]| {
        let (n, centre) = (half.len() as f64, mean(half));
        let squares: f64 = half.iter().map(|value| (value - centre).powi(2)).sum();
        (half.len() >= batch::MIN_BATCHES).then(|| (squares / (n * (n - 1.0))).sqrt())
    };
    let Some((early_se, late_se)) = se(early).zip(se(late)) else { return false };
    difference.abs() > DRIFT && difference.abs() > BEYOND_CHANCE * early_se.hypot(late_se)
}

/// `values`, none further from their median than [`MAX_DEVIATIONS`].
fn clipped(values: &[f64]) -> Vec<f64> {
    let centre = median(values.to_vec());
    let deviation = 1.4826 * median(values.iter().map(|value| (value - centre).abs()).collect());
    if deviation == 0.0 {
        return values.to_vec();
    }
    let most = MAX_DEVIATIONS * deviation;
    values.iter().map(|value| value.clamp(centre - most, centre + most)).collect()
}

/// `values` with those that are no numbers replaced by the one before, or the first number; `None` without any.
fn filled(values: &[f64]) -> Option<Vec<f64>> {
    let mut last = *values.iter().find(|value| value.is_finite())?;
    let fill = |value: &f64| {
        if value.is_finite() {
            last = *value;
        }
        last
    };
    Some(values.iter().map(fill).collect())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(values: Vec<f64>) -> f64 {
    crate::median(values).unwrap_or(f64::NAN)
}
