//! Which session a user begins next: by weights, by a matrix of transitions, or in a fixed sequence.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::nearest;
use crate::problem::{Problem, Problems, Result};

/// How far a row's sum may be from its total: what rounding its entries to three digits leaves.
const ROUNDING_RATIO: f64 = 2e-3;

/// A matrix of transitions, as `[matrix]` declares it: which session follows which.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// The session that a user begins with.
    pub first: String,
    /// What each row sums to: 1 for probabilities, 100 for percentages, 9999 as in TPC-W.
    #[serde(default = "one")]
    pub total: f64,
    /// For each session, how likely each next one is; what is not named is never next.
    pub rows: BTreeMap<String, BTreeMap<String, f64>>,
}

fn one() -> f64 {
    1.0
}

/// How a user's sessions follow each other. A kit declares one of the three.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sessions {
    /// Sessions by weight: the names of functions in the session file. Each is drawn afresh.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mix: BTreeMap<String, f64>,
    /// Sessions by a matrix: the next one depends on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Matrix>,
    /// Sessions in this order, again and again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequence: Vec<String>,
}

/// A checked [`Sessions`], by index into the names.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    /// The sessions' names, each once.
    pub names: Vec<String>,
    /// How they follow each other.
    pub order: Order,
}

/// How sessions follow each other.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Drawn afresh each time with these probabilities, which sum to 1.
    Weights(Vec<f64>),
    /// The next one depends on the last: rows of probabilities, each of which sums to 1.
    Matrix {
        /// What a user begins with.
        first: usize,
        /// From one session (the row) to the next.
        rows: Vec<Vec<f64>>,
    },
    /// In this order, again and again.
    Sequence(Vec<usize>),
}

impl Sessions {
    /// The names of all sessions, each once, in the order in which they are numbered.
    pub fn names(&self) -> Vec<&str> {
        let rows = self.matrix.iter().flat_map(|matrix| {
            let ends = matrix.rows.values().flat_map(BTreeMap::keys);
            [&matrix.first].into_iter().chain(matrix.rows.keys()).chain(ends)
        });
        let names: BTreeSet<&str> =
            self.mix.keys().chain(rows).chain(&self.sequence).map(String::as_str).collect();
        names.into_iter().collect()
    }

    /// The keys that are given, of which one should be.
    pub fn keys(&self) -> Vec<&'static str> {
        let declared = [
            ("mix", !self.mix.is_empty()),
            ("matrix", self.matrix.is_some()),
            ("sequence", !self.sequence.is_empty()),
        ];
        declared.into_iter().filter(|(_, given)| *given).map(|(key, _)| key).collect()
    }

    /// Checks everything; all mistakes at once, each with its key.
    pub fn resolve(&self) -> Result<Mix> {
        let mut problems = Vec::new();
        match self.keys()[..] {
            [] => problems.push(
                Problem::recipe("no session is named")
                    .key("mix")
                    .remedy("[mix] with a weight for each session, [matrix], or sequence = [\"…\"]"),
            ),
            [_] => {}
            [first, second, ..] => {
                let what = format!("{first} and {second} exclude each other");
                problems.push(Problem::recipe(what).key(second).why("each says which session is next"));
            }
        }
        check_weights(&self.mix, &mut problems);
        if let Some(matrix) = &self.matrix {
            check_matrix(matrix, &mut problems);
        }
        Problems::check(problems)?;
        Ok(self.mix())
    }

    /// The mix of a declaration that holds no mistake.
    fn mix(&self) -> Mix {
        let names: Vec<String> = self.names().iter().map(|name| (*name).to_string()).collect();
        let index = |name: &String| names.binary_search(name).expect("names() lists every name, sorted");
        let order = if let Some(matrix) = &self.matrix {
            let row = |name: &String| {
                let total: f64 = matrix.rows[name].values().sum();
                let mut row = vec![0.0; names.len()];
                matrix.rows[name].iter().for_each(|(next, share)| row[index(next)] = share / total);
                row
            };
            Order::Matrix { first: index(&matrix.first), rows: names.iter().map(row).collect() }
        } else if self.sequence.is_empty() {
            let total: f64 = self.mix.values().sum();
            Order::Weights(names.iter().map(|name| self.mix[name] / total).collect())
        } else {
            Order::Sequence(self.sequence.iter().map(index).collect())
        };
        Mix { names, order }
    }
}

fn check_weights(mix: &BTreeMap<String, f64>, problems: &mut Vec<Problem>) {
    for (name, weight) in mix.iter().filter(|(_, weight)| !(weight.is_finite() && **weight >= 0.0)) {
        let what = format!("a weight is 0 or more, not {weight}");
        problems.push(Problem::recipe(what).key(format!("mix.{name}")));
    }
    if !mix.is_empty() && mix.values().all(|weight| *weight == 0.0) {
        problems.push(Problem::recipe("no session of the mix has a weight greater than 0").key("mix"));
    }
}

fn check_matrix(matrix: &Matrix, problems: &mut Vec<Problem>) {
    let known = || matrix.rows.keys().map(String::as_str);
    if !(matrix.total.is_finite() && matrix.total > 0.0) {
        problems.push(Problem::recipe("what a row sums to is greater than 0").key("matrix.total"));
    }
    let mut unknown = |name: &str, key: String| {
        let problem = Problem::recipe(format!("`{name}` has no row")).key(key);
        problems.push(match nearest(name, known()) {
            Some(near) => problem.remedy(format!("`{near}`")),
            None => problem.remedy(format!("rows.{name} = {{ … }}: what follows it")),
        });
    };
    if !matrix.rows.contains_key(&matrix.first) {
        unknown(&matrix.first, "matrix.first".to_string());
    }
    for (from, row) in &matrix.rows {
        for next in row.keys().filter(|next| !matrix.rows.contains_key(*next)) {
            unknown(next, format!("matrix.rows.{from}"));
        }
    }
    for (from, row) in &matrix.rows {
        let key = || format!("matrix.rows.{from}");
        for (next, share) in row.iter().filter(|(_, share)| !(share.is_finite() && **share >= 0.0)) {
            problems.push(Problem::recipe(format!("`{next}` can't be next with {share}")).key(key()));
        }
        let sum: f64 = row.values().sum();
        if (sum - matrix.total).abs() > ROUNDING_RATIO * matrix.total {
            let what = format!("the row sums to {}, not to {}", shown(sum), shown(matrix.total));
            problems.push(Problem::recipe(what).key(key()).why("users would do something else than it says"));
        }
    }
    let reached = reached(matrix);
    for name in matrix.rows.keys().filter(|name| !reached.contains(name.as_str())) {
        let what = format!("no user ever comes to `{name}` from `{}`", matrix.first);
        problems.push(Problem::recipe(what).key(format!("matrix.rows.{name}")));
    }
}

/// Sums without the dust of binary fractions.
fn shown(sum: f64) -> f64 {
    (sum * 1e6).round() / 1e6
}

fn reached(matrix: &Matrix) -> BTreeSet<&str> {
    let mut reached = BTreeSet::from([matrix.first.as_str()]);
    let mut open = vec![matrix.first.as_str()];
    while let Some(row) = open.pop().and_then(|name| matrix.rows.get(name)) {
        let next = row.iter().filter(|(_, share)| **share > 0.0).map(|(name, _)| name.as_str());
        open.extend(next.filter(|name| reached.insert(name)));
        // A name without a row is a mistake of its own, and leads nowhere.
        open.retain(|name| matrix.rows.contains_key(*name));
    }
    reached
}

impl Mix {
    /// One session and nothing else.
    pub fn only(name: &str) -> Mix {
        Mix { names: vec![name.to_string()], order: Order::Weights(vec![1.0]) }
    }

    /// The cells in which choices are counted: for weights one for each session; for a matrix one for each transition,
    /// row by row, and at the end one for each beginning; none for a sequence.
    pub fn cells(&self) -> usize {
        match &self.order {
            Order::Weights(weights) => weights.len(),
            Order::Matrix { rows, .. } => rows.len() * (rows.len() + 1),
            Order::Sequence(_) => 0,
        }
    }

    /// The distributions that the cells were drawn from, each as (first cell, probabilities). The beginnings of a
    /// matrix are no draws.
    pub fn draws(&self) -> Vec<(usize, &[f64])> {
        match &self.order {
            Order::Weights(weights) => vec![(0, weights)],
            Order::Matrix { rows, .. } => {
                rows.iter().enumerate().map(|(from, row)| (from * rows.len(), &row[..])).collect()
            }
            Order::Sequence(_) => Vec::new(),
        }
    }

    /// The long-run share of each session: of a matrix its stationary distribution, by the power method on the lazy
    /// chain (P + I)/2, which has the same one and is not periodic.
    pub fn shares(&self) -> Vec<f64> {
        match &self.order {
            Order::Weights(weights) => weights.clone(),
            Order::Sequence(order) => {
                let count = |name| order.iter().filter(|next| **next == name).count() as f64;
                (0..self.names.len()).map(|name| count(name) / order.len().max(1) as f64).collect()
            }
            Order::Matrix { first, rows } => stationary(*first, rows),
        }
    }
}

fn stationary(first: usize, rows: &[Vec<f64>]) -> Vec<f64> {
    let mut shares = vec![0.0; rows.len()];
    shares[first] = 1.0;
    for _ in 0..100_000 {
        let mut next: Vec<f64> = shares.iter().map(|share| share / 2.0).collect();
        for (share, row) in shares.iter().zip(rows) {
            row.iter().zip(&mut next).for_each(|(p, sum)| *sum += share * p / 2.0);
        }
        let moved: f64 = next.iter().zip(&shares).map(|(a, b)| (a - b).abs()).sum();
        shares = next;
        if moved < 1e-13 {
            break;
        }
    }
    shares
}

#[cfg(test)]
mod tests;
