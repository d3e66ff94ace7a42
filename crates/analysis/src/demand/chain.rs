//! What chance and the beginning do to the shares of a Markov chain's states.

/// What one state's share of a chain's steps is in the long run, and how far it may be off before that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Share {
    /// In the long run.
    pub(super) expected: f64,
    /// The variance of the number of visits in n steps, divided by n, as n grows.
    pub(super) variance: f64,
    /// By this number of visits at most the beginning of one user's walk changes their expected number.
    pub(super) beginning: f64,
}

/// The shares of a chain whose rows are probabilities; absent when it has no steady state of its own. All three follow
/// from the fundamental matrix Z = (I - P + 1π)⁻¹: the variance is π(2Z - 1 - π) on its diagonal, and what a walk that
/// begins at i adds to the visits of j tends to Z[i][j] - π[j] (Kemeny and Snell, *Finite Markov Chains*, 1960, 4.3
/// and 4.6).
pub(super) fn shares(rows: &[Vec<f64>]) -> Option<Vec<Share>> {
    let n = rows.len();
    let expected = stationary(rows)?;
    let entry = |i: usize, j: usize| f64::from(u8::from(i == j)) - rows[i][j] + expected[j];
    let z = inverse((0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect())?;
    let share = |state: usize| {
        let pi = expected[state];
        let column = z.iter().map(|row| (row[state] - pi).abs());
        Share {
            expected: pi,
            variance: (pi * (2.0 * z[state][state] - 1.0 - pi)).max(0.0),
            beginning: column.fold(0.0, f64::max),
        }
    };
    Some((0..n).map(share).collect())
}

/// π = πP with Σπ = 1: the last of the n equations follows from the others, and the sum takes its place.
fn stationary(rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let n = rows.len();
    let entry = |equation: usize, state: usize| match equation + 1 == n {
        true => 1.0,
        false => rows[state][equation] - f64::from(u8::from(state == equation)),
    };
    let left: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
    let inverse = inverse(left)?;
    Some(inverse.iter().map(|row| row[n - 1].max(0.0)).collect())
}

/// By Gauss and Jordan with the largest pivot; absent for a matrix that has none.
fn inverse(mut left: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let n = left.len();
    let unit = |i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect();
    let mut right: Vec<Vec<f64>> = (0..n).map(unit).collect();
    for column in 0..n {
        let pivot = (column..n).max_by(|a, b| left[*a][column].abs().total_cmp(&left[*b][column].abs()))?;
        if left[pivot][column].abs() < 1e-12 {
            return None;
        }
        left.swap(column, pivot);
        right.swap(column, pivot);
        let divisor = left[column][column];
        for matrix in [&mut left, &mut right] {
            matrix[column].iter_mut().for_each(|value| *value /= divisor);
        }
        for row in (0..n).filter(|row| *row != column) {
            let factor = left[row][column];
            for matrix in [&mut left, &mut right] {
                let from = matrix[column].clone();
                matrix[row].iter_mut().zip(from).for_each(|(value, from)| *value -= factor * from);
            }
        }
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} against {expected}");
    }

    #[test]
    fn draws_that_are_independent_have_the_binomial_s_variance() {
        let row = || vec![0.2, 0.3, 0.5];
        let shares = shares(&[row(), row(), row()]).expect("a chain");
        for (share, p) in shares.iter().zip([0.2, 0.3, 0.5]) {
            close(share.expected, p);
            close(share.variance, p * (1.0 - p));
        }
    }

    #[test]
    fn a_chain_that_stays_where_it_is_varies_more_than_independent_draws() {
        // Two states left with probability 0.1: the variance is that of draws times (1 + 0.8)/(1 - 0.8).
        let shares = shares(&[vec![0.9, 0.1], vec![0.1, 0.9]]).expect("a chain");
        close(shares[0].variance, 0.25 * 9.0);
        close(shares[0].beginning, 2.5);
    }

    #[test]
    fn a_chain_that_goes_round_has_no_variance() {
        let shares = shares(&[vec![0.0, 1.0], vec![1.0, 0.0]]).expect("a chain");
        close(shares[0].expected, 0.5);
        close(shares[0].variance, 0.0);
    }

    #[test]
    fn two_chains_in_one_have_no_share_of_their_own() {
        assert_eq!(shares(&[vec![1.0, 0.0], vec![0.0, 1.0]]), None);
    }
}
