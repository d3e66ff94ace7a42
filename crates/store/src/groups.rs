//! Runs that belong together, folded into one row: the trials of a study, or the repeats of one setup.

use std::collections::BTreeMap;

use model::Problem;
use rusqlite::params_from_iter;
use rusqlite::types::Value as Cell;
use schemars::JsonSchema;
use serde::Serialize;

use crate::columns::STUDY;
use crate::filter::Filter;
use crate::index::{Entry, Index};
use crate::select::{Scope, Selection, limits};
use crate::summary::RunSummary;

/// What belongs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// The trials of a study; a run that stands alone is by itself.
    Study,
    /// Runs of the same kit, stack, data, settings and load, made with the same versions.
    Setup,
}

/// Rows of a list in which what belongs together is folded.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Folded {
    /// In the order that was asked for.
    pub groups: Vec<RunGroup>,
    /// How many groups are meant.
    pub number: usize,
    /// How many runs are in them.
    pub runs: usize,
    /// How many runs were looked at: what is missing, the filter has left out.
    pub all: usize,
    /// How many runs there was no time to read.
    #[serde(skip)]
    pub unread: usize,
}

/// Runs that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunGroup {
    /// The study that they are trials of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<String>,
    /// How many runs the row stands for.
    pub number: usize,
    /// How many of them ended with each verdict.
    pub verdicts: BTreeMap<String, usize>,
    /// Operations completed per second, of those that have the figure.
    pub operations_per_s: Option<Spread>,
    /// The largest p95 of an operation's response time, in seconds, likewise.
    pub worst_p95_s: Option<Spread>,
    /// The run that began last.
    pub last: RunSummary,
}

/// How a figure of several runs is spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// Runs that have it.
    pub number: usize,
    /// The smallest.
    pub min: f64,
    /// As many are above as below.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

impl Fold {
    /// All of them, by their words.
    pub const ALL: [(&str, Fold); 2] = [("study", Fold::Study), ("setup", Fold::Setup)];

    /// The one of that word.
    ///
    /// # Errors
    /// There is none.
    pub fn read(word: &str) -> model::Result<Fold> {
        match Fold::ALL.iter().find(|(known, _)| *known == word) {
            Some((_, fold)) => Ok(*fold),
            None => {
                let what = format!("runs can't be folded by `{}`", word.escape_debug());
                Err(Problem::recipe(what).key("--fold").remedy("study or setup").into())
            }
        }
    }

    /// What all runs of a group have in common, and no other run has.
    fn key(self) -> String {
        match self {
            Fold::Study => format!("iif({STUDY} = '', id, {STUDY})"),
            Fold::Setup => "setup || ' ' || versions".to_string(),
        }
    }

    fn scope(self, selection: &Selection) -> Scope {
        match self {
            Fold::Study => Scope::All,
            Fold::Setup => Scope::of(&selection.filter),
        }
    }
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Option<Spread> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            0 => f64::midpoint(values[middle - 1], values[middle]),
            _ => values[middle],
        };
        Some(Spread { number: values.len(), min, median, max })
    }
}

/// What is known of a group while its runs are gone through.
#[derive(Default)]
struct Gathered {
    verdicts: BTreeMap<String, usize>,
    operations_per_s: Vec<f64>,
    worst_p95_s: Vec<f64>,
    /// The row and the id of the run that began last.
    last: (String, i64),
}

impl Index {
    /// The groups of the runs that are meant, and the run of each that began last, as the index has it.
    pub(crate) fn groups(&self, fold: Fold, selection: &Selection) -> rusqlite::Result<(Folded, Vec<Entry>)> {
        let (sql, cells) = selection.filter.sql();
        let (key, scope) = (fold.key(), fold.scope(selection).sql());
        let count = format!("SELECT count(DISTINCT {key}), count(*) FROM run WHERE {scope} AND {sql}");
        let (number, runs): (u32, u32) =
            self.connection
                .query_row(&count, params_from_iter(cells.clone()), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let all = self.count(&Filter::default(), fold.scope(selection))?;
        let keys = self.group_keys(&key, selection, &scope)?;
        let mut gathered = self.gathered(&key, &keys, selection, &scope)?;
        let (mut groups, mut entries) = (Vec::new(), Vec::new());
        for key in &keys {
            let Some(found) = gathered.remove(key) else { continue };
            let entry = self.entry(found.last.1)?;
            groups.push(RunGroup {
                study: entry.summary.study.clone().filter(|_| fold == Fold::Study),
                number: found.verdicts.values().sum(),
                verdicts: found.verdicts,
                operations_per_s: Spread::of(found.operations_per_s),
                worst_p95_s: Spread::of(found.worst_p95_s),
                last: entry.summary.clone(),
            });
            entries.push(entry);
        }
        Ok((Folded { groups, number: number as usize, runs: runs as usize, all, unread: 0 }, entries))
    }

    /// What the groups of a page have in common, in their order: each by its largest figure where the largest are first, else
    /// by its smallest.
    fn group_keys(&self, key: &str, selection: &Selection, scope: &str) -> rusqlite::Result<Vec<String>> {
        let (sql, mut cells) = selection.filter.sql();
        let (column, direction) = (selection.order.key(), selection.order.direction());
        let end = if selection.order.falling { "max" } else { "min" };
        let query = format!(
            "SELECT {key} FROM run WHERE {scope} AND {sql} GROUP BY 1 \
             ORDER BY {end}(\"{column}\") {direction}, {end}(id) {direction} LIMIT ? OFFSET ?"
        );
        cells.extend(limits(selection));
        let mut query = self.connection.prepare(&query)?;
        query.query_map(params_from_iter(cells), |row| row.get(0))?.collect()
    }

    fn gathered(
        &self,
        key: &str,
        keys: &[String],
        selection: &Selection,
        scope: &str,
    ) -> rusqlite::Result<BTreeMap<String, Gathered>> {
        let (sql, mut cells) = selection.filter.sql();
        let places = vec!["?"; keys.len()].join(", ");
        cells.extend(keys.iter().cloned().map(Cell::Text));
        let query = format!(
            "SELECT {key}, key, id, verdict, ops, p95 FROM run WHERE {scope} AND {sql} AND {key} IN ({places})"
        );
        let mut query = self.connection.prepare(&query)?;
        let mut rows = query.query(params_from_iter(cells))?;
        let mut gathered: BTreeMap<String, Gathered> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let group = gathered.entry(row.get(0)?).or_default();
            group.last = group.last.clone().max((row.get(2)?, row.get(1)?));
            *group.verdicts.entry(row.get(3)?).or_default() += 1;
            group.operations_per_s.extend(row.get::<_, Option<f64>>(4)?);
            group.worst_p95_s.extend(row.get::<_, Option<f64>>(5)?);
        }
        Ok(gathered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_has_as_many_above_as_below() {
        assert_eq!(Spread::of(Vec::new()), None);
        assert_eq!(Spread::of(vec![3.0]), Some(Spread { number: 1, min: 3.0, median: 3.0, max: 3.0 }));
        let four = Spread { number: 4, min: 1.0, median: 2.5, max: 9.0 };
        assert_eq!(Spread::of(vec![9.0, 2.0, 1.0, 3.0]), Some(four));
    }
}
