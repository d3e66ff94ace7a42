//! The seconds of several runs at the same time as those of one.

use std::collections::BTreeMap;
use std::iter::Peekable;

use model::record::interval::{OperationInterval, OperationName};
use model::{Interval, Result};
use store::{Run, RunWriter, Seconds};

/// Writes the sums of the runs' seconds to `writer`, second by second; gives the names of their rows. A second that one run doesn't have
/// any more is the sum of the others.
pub(super) fn write_seconds(runs: &[&Run], writer: &mut RunWriter) -> Result<Vec<OperationName>> {
    let seconds = runs.iter().map(|run| run.seconds()).collect::<Result<Vec<Seconds>>>()?;
    let rows = Rows::of(seconds.iter().map(Seconds::names));
    let mut all: Vec<Peekable<Seconds>> = seconds.into_iter().map(Iterator::peekable).collect();
    loop {
        let next = all.iter_mut().filter_map(|own| own.peek()?.as_ref().ok().map(|one| one.second)).min();
        let mut sum: Option<Interval> = None;
        for (own, map) in all.iter_mut().zip(&rows.maps) {
            let is_due = |one: &Result<Interval>| one.as_ref().map_or(true, |one| Some(one.second) == next);
            let Some(second) = own.next_if(is_due) else { continue };
            let second = rows.placed(second?, map);
            match &mut sum {
                None => sum = Some(second),
                Some(sum) => sum.merge(&second),
            }
        }
        let Some(sum) = sum else { return Ok(rows.names) };
        writer.second(&sum, &rows.names)?;
    }
}

/// Rows of all runs, and where each run's are among them.
struct Rows {
    names: Vec<OperationName>,
    maps: Vec<Vec<usize>>,
}

impl Rows {
    fn of<'a>(runs: impl Iterator<Item = &'a [OperationName]>) -> Rows {
        let (mut names, mut places) = (Vec::new(), BTreeMap::new());
        let mut place = |name: &OperationName| {
            *places.entry(name.clone()).or_insert_with(|| {
                names.push(name.clone());
                names.len() - 1
            })
        };
        let maps = runs.map(|own| own.iter().map(&mut place).collect()).collect();
        Rows { names, maps }
    }

    /// A run's second with its rows in their places.
    fn placed(&self, mut second: Interval, map: &[usize]) -> Interval {
        let own = std::mem::take(&mut second.operations);
        second.operations = self.names.iter().map(|_| OperationInterval::empty()).collect();
        for (row, place) in own.into_iter().zip(map) {
            second.operations[*place] = row;
        }
        second.last_sessions.retain(|session| session.operation < map.len());
        second.last_sessions.iter_mut().for_each(|session| session.operation = map[session.operation]);
        second
    }
}

#[cfg(test)]
mod tests {
    use model::OperationKind;

    use super::*;

    #[test]
    fn rows_of_the_same_name_are_summed_whatever_their_places() {
        let name = |name: &str| OperationName { kind: OperationKind::Operation, name: name.to_string() };
        let (one, other) = ([name("Browse"), name("Login")], [name("Login"), name("Buy")]);
        let rows = Rows::of([one.as_slice(), other.as_slice()].into_iter());
        assert_eq!(rows.names, [name("Browse"), name("Login"), name("Buy")]);
        let second = |counts: &[u64]| Interval {
            operations: counts
                .iter()
                .map(|count| OperationInterval { completed: *count, ..OperationInterval::empty() })
                .collect(),
            ..Interval::empty(3)
        };
        let mut sum = rows.placed(second(&[1, 2]), &rows.maps[0]);
        sum.merge(&rows.placed(second(&[10, 20]), &rows.maps[1]));
        let completed: Vec<u64> = sum.operations.iter().map(|row| row.completed).collect();
        assert_eq!((completed, sum.second), (vec![1, 12, 20], 3));
    }
}
