//! Evidence against a centre of symmetry that may be looked at after every value.
//!
//! If values are symmetric around a centre, then given their distances from it each lies above or below with equal
//! chance. Whoever bets on the side therefore can't expect to win; who wins much has evidence against the centre. A bet
//! of strength λ on "above" multiplies the stake by 2/(1 + exp(−2λy)), y being the signed distance in units of the
//! median distance so far: at most 2, so no single value proves anything. Wealth over all values, averaged over
//! strengths and both directions, is a martingale if the centre is right, whatever the distribution: the probability
//! that it ever reaches 1/α is at most α (Ville 1939). Symmetric supermartingales: de la Peña 1999; the mixture: Robbins
//! 1970; the view as a bet: Ramdas, Grünwald, Vovk and Shafer 2023.

/// Strengths λ in quarters, and their shares of the stake. Chosen by simulation (`docs/method/comparing.md`): strong bets
/// find a change larger than the noise soon, weak ones make the interval short after many values.
const STRENGTHS: [(i32, f64); 4] = [(1, 0.15), (2, 0.2), (4, 0.3), (7, 0.35)];

/// Distances beyond this number of median distances are taken as that: what an outlier on the wrong side can cost.
const MAX_DISTANCES: f64 = 1.25;

/// Natural logarithm of the wealth won by betting against `centre`.
pub(super) fn evidence(values: &[f64], centre: f64) -> f64 {
    // The wealth on "above" and on "below", for each strength. More than a float holds is infinite, and enough.
    let mut wealth = [[1.0f64; 2]; STRENGTHS.len()];
    let mut distances: Vec<f64> = Vec::with_capacity(values.len());
    for value in values {
        let off = value - centre;
        let place = distances.partition_point(|distance| *distance < off.abs());
        distances.insert(place, off.abs());
        let unit = median_of_sorted(&distances);
        let y = if unit > 0.0 { (off / unit).clamp(-MAX_DISTANCES, MAX_DISTANCES) } else { 0.0 };
        // exp(−2λy) with λ of a quarter; the other strengths are powers of it.
        let weakest = (-0.5 * y).exp();
        for ((quarters, _), [above, below]) in STRENGTHS.iter().zip(&mut wealth) {
            let odds = weakest.powi(*quarters);
            *above *= 2.0 / (1.0 + odds);
            *below *= 2.0 * odds / (1.0 + odds);
        }
    }
    let shares = STRENGTHS.iter().zip(&wealth);
    shares.map(|((_, share), [above, below])| share * 0.5 * (above + below)).sum::<f64>().ln()
}

pub(super) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n == 0 {
        return 0.0;
    }
    (sorted[n / 2] + sorted[(n - 1) / 2]) / 2.0
}

/// All centres against which there is less evidence than 1/(1 − `confidence_ratio`), as an interval around `estimate`;
/// `None` as long as there are too few values for any centre to be ruled out (seven for 95 %).
pub(super) fn interval(values: &[f64], estimate: f64, confidence_ratio: f64) -> Option<(f64, f64)> {
    if values.len() < least(confidence_ratio) {
        return None;
    }
    let enough = -(1.0 - confidence_ratio).ln();
    let spread = values.iter().map(|value| (value - estimate).abs()).fold(0.0, f64::max);
    if spread == 0.0 {
        return Some((estimate, estimate));
    }
    Some((end(values, estimate, -spread, enough), end(values, estimate, spread, enough)))
}

/// How many values it takes to rule any centre out: from very far away they are all on one side and equally far, and no
/// centre has more evidence against it.
pub(super) fn least(confidence_ratio: f64) -> usize {
    let enough = -(1.0 - confidence_ratio).ln();
    let mut values = Vec::new();
    while evidence(&values, 0.0) < enough && values.len() < 1000 {
        values.push(1.0);
    }
    values.len()
}

/// The outermost centre that can't be ruled out on the side to which `step` points: the first one met on the way in
/// from afar, on a grid of distances that shrink by three tenths, and then by bisection.
fn end(values: &[f64], estimate: f64, step: f64, enough: f64) -> f64 {
    let holds = |distance: f64| evidence(values, estimate + distance * step) < enough;
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

    #[test]
    fn the_wealth_can_not_be_expected_to_grow_if_the_centre_is_right() {
        // All 2^10 ways to put signs on ten distances: the mean wealth is exactly 1.
        let distances: [f64; 10] = [0.3, 2.0, 0.1, 1.0, 1.1, 40.0, 0.5, 0.7, 0.2, 3.0];
        let wealth: f64 = (0..1024u32)
            .map(|signs| {
                let signed = |(index, d): (usize, &f64)| if signs >> index & 1 == 1 { *d } else { -d };
                let values: Vec<f64> = distances.iter().enumerate().map(signed).collect();
                evidence(&values, 0.0).exp()
            })
            .sum();
        assert!((wealth / 1024.0 - 1.0).abs() < 1e-12, "{}", wealth / 1024.0);
    }

    #[test]
    fn one_value_proves_nothing_however_far_off() {
        assert!(evidence(&[1e9], 0.0) < 2f64.ln());
        assert!(evidence(&[], 0.0).abs() < 1e-12);
        let six = [1.0, 1.1, 0.9, 1.0, 1.2, 0.8];
        assert_eq!(interval(&six, 1.0, 0.95), None);
        assert!(interval(&[&six[..], &[1.0]].concat(), 1.0, 0.95).is_some(), "seven are enough");
    }

    #[test]
    fn the_interval_ends_where_the_evidence_suffices() {
        let values = [0.01, 0.03, 0.02, 0.05, -0.01, 0.02, 0.04, 0.03, 0.02, 0.01];
        let (low, high) = interval(&values, 0.021, 0.95).expect("ten values");
        for (inside, outside) in [(low + 1e-5, low - 1e-5), (high - 1e-5, high + 1e-5)] {
            assert!(evidence(&values, inside) < 20f64.ln() + 0.01, "{inside}");
            assert!(evidence(&values, outside) >= 20f64.ln() - 0.01, "{outside}");
        }
        assert!(low > 0.0 && high < 0.045, "{low} {high}");
    }
}
