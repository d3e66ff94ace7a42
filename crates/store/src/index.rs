//! `index.sqlite`: what lists need of all runs, so that a list of ten thousand reads no record and keeps none in memory. Only
//! a cache: every row carries a stamp of the record that it was made from, and it can be thrown away.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params, params_from_iter};

use crate::columns::{COLUMNS, GROUPED};
use crate::stored::Record;
use crate::summary::RunSummary;
use crate::touch::BUSY;

/// The version of the tables and of [`RunSummary`]'s JSON in them; another version's index is made anew.
const INDEX_FORMAT: i64 = 5;

/// What a row was made from: changes whenever the record or the list of the run's files does.
pub(crate) type Stamp = String;

/// A run as the index has it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) stamp: Stamp,
    pub(crate) summary: RunSummary,
}

/// The index over all runs of a home, those of its studies' trials among them.
pub(crate) struct Index {
    pub(crate) connection: Connection,
}

/// The stamp of the run in `directory` as it is now.
pub(crate) fn stamp(directory: &Path) -> Stamp {
    format!("{:?} {:?}", stamp_of(&directory.join(<model::RunRecord as Record>::FILE)), stamp_of(directory))
}

/// When a file or a list of files was changed, and its size; nothing where there is none.
pub(crate) fn stamp_of(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}.{:09}:{}", modified.as_secs(), modified.subsec_nanos(), metadata.len()))
}

/// Whether somebody else holds the index.
pub(crate) fn is_held(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Removes an index that can't be used; whether there is room for another one now.
pub(crate) fn discard(path: &Path) -> bool {
    let removed = fs::remove_file(path).is_ok();
    if removed {
        _ = fs::remove_file(path.with_extension("sqlite-journal"));
    }
    removed
}

impl Index {
    /// The one at `path`, made anew where it is missing or of another version.
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Index> {
        Index::of(Connection::open(path)?)
    }

    /// One that nobody else sees and nothing keeps.
    pub(crate) fn in_memory() -> rusqlite::Result<Index> {
        Index::of(Connection::open_in_memory()?)
    }

    fn of(mut connection: Connection) -> rusqlite::Result<Index> {
        connection.busy_timeout(BUSY)?;
        connection.execute_batch("PRAGMA synchronous = OFF")?;
        if version(&connection)? != INDEX_FORMAT {
            make(&mut connection)?;
        }
        Ok(Index { connection })
    }

    /// Keeps rows in place of those that are there of the same runs.
    pub(crate) fn put(&mut self, entries: &[Entry]) -> rusqlite::Result<()> {
        let transaction =
            self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for Entry { stamp, summary } in entries {
            let Ok(text) = serde_json::to_string(summary) else { continue };
            let study = summary.study.as_deref().unwrap_or_default();
            let known = transaction
                .prepare_cached("SELECT key FROM run WHERE study = ? AND id = ?")?
                .query_row([study, &summary.id], |row| row.get::<_, i64>(0))
                .optional()?;
            let mut cells = vec![known.map_or(Cell::Null, Cell::Integer), Cell::Text(summary.id.clone())];
            cells.push(Cell::Text(stamp.clone()));
            cells.extend(COLUMNS.iter().map(|column| (column.of)(summary)));
            for (_, of) in GROUPED {
                cells.push(Cell::Integer(key_of(&transaction, &of(summary))?));
            }
            let places = vec!["?"; cells.len()].join(", ");
            let insert = format!("INSERT OR REPLACE INTO run VALUES ({places})");
            transaction.prepare_cached(&insert)?.execute(params_from_iter(cells))?;
            let key = known.unwrap_or_else(|| transaction.last_insert_rowid());
            let mut insert = transaction.prepare_cached("INSERT OR REPLACE INTO summary VALUES (?, ?)")?;
            insert.execute(params![key, text])?;
        }
        transaction.commit()
    }

    /// Forgets runs of a study, or with an empty name those that stand alone.
    pub(crate) fn remove(&mut self, study: &str, ids: &[String]) -> rusqlite::Result<()> {
        let transaction =
            self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for id in ids {
            let of_it = "SELECT key FROM run WHERE study = ? AND id = ?";
            transaction
                .prepare_cached(&format!("DELETE FROM summary WHERE key IN ({of_it})"))?
                .execute([study, id])?;
            transaction.prepare_cached("DELETE FROM run WHERE study = ? AND id = ?")?.execute([study, id])?;
        }
        transaction.commit()
    }
}

/// The number of a text that many rows have, which is kept once.
fn key_of(connection: &Connection, text: &str) -> rusqlite::Result<i64> {
    connection.prepare_cached("INSERT OR IGNORE INTO shared (text) VALUES (?)")?.execute([text])?;
    connection.prepare_cached("SELECT key FROM shared WHERE text = ?")?.query_row([text], |row| row.get(0))
}

fn make(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Whoever came first has made it.
    if version(&transaction)? == INDEX_FORMAT {
        return Ok(());
    }
    let columns: String = COLUMNS.iter().map(|column| format!(", \"{}\"", column.name)).collect();
    let grouped: String = GROUPED.iter().map(|(name, _)| format!(", \"{name}\" INTEGER NOT NULL")).collect();
    transaction.execute_batch(&format!(
        "DROP TABLE IF EXISTS run; DROP TABLE IF EXISTS format; DROP TABLE IF EXISTS summary;
         DROP TABLE IF EXISTS shared; DROP TABLE IF EXISTS place;
         CREATE TABLE format (name TEXT PRIMARY KEY, version INTEGER NOT NULL);
         CREATE TABLE run (key INTEGER PRIMARY KEY, id TEXT NOT NULL, stamp TEXT NOT NULL{columns}{grouped});
         CREATE UNIQUE INDEX run_by_id ON run (study, id);
         CREATE TABLE summary (key INTEGER PRIMARY KEY, text TEXT NOT NULL);
         CREATE TABLE shared (key INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
         CREATE TABLE place (study TEXT PRIMARY KEY, stamp TEXT NOT NULL);"
    ))?;
    transaction.execute("INSERT INTO format VALUES ('index.sqlite', ?)", [INDEX_FORMAT])?;
    transaction.commit()
}

/// The version of an index; 0 for an empty file.
fn version(index: &Connection) -> rusqlite::Result<i64> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'format'";
    if index.query_row(tables, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(0);
    }
    index.query_row("SELECT coalesce(max(version), 0) FROM format WHERE name = 'index.sqlite'", [], |row| {
        row.get(0)
    })
}
