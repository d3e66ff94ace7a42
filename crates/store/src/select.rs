//! Runs that are meant, in an order, a page of them: asked of the index, so that what is not shown is not in memory.

use rusqlite::types::Value as Cell;
use rusqlite::{OptionalExtension, Row, params_from_iter};

use crate::columns::{Asked, BASELINE, COLUMNS, Column, SETUP, STUDY};
use crate::filter::Filter;
use crate::index::{Entry, Index};
use crate::summary::RunSummary;

/// Which runs, in which order, and how many of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Those that are meant. Trials of studies are, where it names their study.
    pub filter: Filter,
    /// Their order.
    pub order: Order,
    /// The number of first ones that are left out.
    pub skip: usize,
    /// No more than these; all without it.
    pub rows: Option<usize>,
}

/// By which column, and whether the largest is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    column: &'static str,
    /// The largest first.
    pub falling: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// A page of those that are meant.
    pub runs: Vec<RunSummary>,
    /// How many are meant.
    pub number: usize,
    /// Of how many.
    pub all: usize,
    /// How many there was no time to read.
    pub unread: usize,
}

/// Whose runs are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those that stand alone.
    Alone,
    /// Trials of studies, too.
    All,
}

impl Selection {
    /// Those that `filter` means, the oldest first.
    pub fn of(filter: Filter) -> Selection {
        Selection { filter, order: Order::OLDEST, skip: 0, rows: None }
    }
}

impl Order {
    /// As they were measured.
    pub const OLDEST: Order = Order { column: STARTED, falling: false };
    /// The other way round.
    pub const NEWEST: Order = Order { column: STARTED, falling: true };

    /// `users`, or `-users` for the largest first; nothing where runs have no such order.
    pub fn read(text: &str) -> Option<Order> {
        let (word, falling) = text.strip_prefix('-').map_or((text, false), |word| (word, true));
        let is_ordered = |asked| matches!(asked, Asked::Number | Asked::Seconds | Asked::Moment);
        let column =
            COLUMNS.iter().find(|column: &&Column| column.name == word && is_ordered(column.asked))?;
        Some(Order { column: column.name, falling })
    }

    /// The word of its column.
    pub fn word(self) -> &'static str {
        self.column
    }

    /// As [`Order::read`] reads it.
    pub fn text(self) -> String {
        format!("{}{}", if self.falling { "-" } else { "" }, self.column)
    }

    pub(crate) fn direction(self) -> &'static str {
        if self.falling { "DESC" } else { "ASC" }
    }

    /// Ids begin with the time, and say it of a run whose record can't be read, too.
    pub(crate) fn key(self) -> &'static str {
        if self.column == STARTED { "id" } else { self.column }
    }
}

const STARTED: &str = "started";

impl Scope {
    /// What a filter looks at where nothing is folded.
    pub(crate) fn of(filter: &Filter) -> Scope {
        if filter.names_study() { Scope::All } else { Scope::Alone }
    }

    pub(crate) fn sql(self) -> String {
        match self {
            Scope::Alone => format!("{STUDY} = ''"),
            Scope::All => "true".to_string(),
        }
    }
}

impl Index {
    /// How many runs are meant.
    pub(crate) fn count(&self, filter: &Filter, scope: Scope) -> rusqlite::Result<usize> {
        let (sql, cells) = filter.sql();
        let query = format!("SELECT count(*) FROM run WHERE {} AND {sql}", scope.sql());
        let number =
            self.connection.query_row(&query, params_from_iter(cells), |row| row.get::<_, u32>(0))?;
        Ok(number as usize)
    }

    /// Of all runs that stand alone, their bytes.
    pub(crate) fn bytes(&self) -> rusqlite::Result<u64> {
        let query = format!("SELECT coalesce(sum(bytes), 0) FROM run WHERE {}", Scope::Alone.sql());
        self.connection.query_row(&query, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
    }

    /// The run that others are held against: that of the same setup as a run's, else of the same kit; the last one of several.
    pub(crate) fn baseline_of(&self, run: &str) -> rusqlite::Result<Option<String>> {
        let query = format!(
            "SELECT base.id FROM run AS one JOIN run AS base USING (kit) \
             WHERE one.id = ? AND base.{BASELINE} = 1 AND base.{STUDY} = '' \
             ORDER BY base.{SETUP} = one.{SETUP} DESC, base.id DESC LIMIT 1"
        );
        self.connection.query_row(&query, [run], |row| row.get(0)).optional()
    }

    /// The rows of the runs that are meant.
    pub(crate) fn keys(&self, selection: &Selection) -> rusqlite::Result<Vec<i64>> {
        let (sql, mut cells) = selection.filter.sql();
        let (key, direction) = (selection.order.key(), selection.order.direction());
        let scope = Scope::of(&selection.filter).sql();
        let query = format!(
            "SELECT key FROM run WHERE {scope} AND {sql} ORDER BY \"{key}\" {direction}, id {direction} LIMIT ? OFFSET ?"
        );
        cells.extend(limits(selection));
        let mut query = self.connection.prepare(&query)?;
        query.query_map(params_from_iter(cells), |row| row.get(0))?.collect()
    }

    /// The run of a row.
    pub(crate) fn entry(&self, key: i64) -> rusqlite::Result<Entry> {
        let query = "SELECT stamp, text FROM run JOIN summary USING (key) WHERE key = ?";
        self.connection.prepare_cached(query)?.query_row([key], |row: &Row<'_>| {
            let text: String = row.get(1)?;
            let summary = serde_json::from_str(&text).map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error))
            })?;
            Ok(Entry { stamp: row.get(0)?, summary })
        })
    }
}

/// What is left out before, and how many there are at most, in the order of SQL.
pub(crate) fn limits(selection: &Selection) -> [Cell; 2] {
    let whole = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    [Cell::Integer(selection.rows.map_or(-1, whole)), Cell::Integer(whole(selection.skip))]
}
