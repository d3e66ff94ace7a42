//! `index.sqlite`: summaries of all runs, so that a list of a thousand runs does not read a thousand records. Only a
//! cache: every row carries a stamp of the record that it was made from, and nothing here can fail for the caller.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use model::RunRecord;
use rusqlite::{Connection, ErrorCode, params};

use crate::stored::Record;
use crate::summary::RunSummary;

/// The version of the table and of [`RunSummary`]'s JSON in it; another version's index is made anew.
const INDEX_FORMAT: i64 = 1;

/// How long another process may hold the index before the list does without it.
const BUSY: Duration = Duration::from_millis(500);

/// What a summary was made from: changes whenever the record or the list of the run's files does.
pub(crate) type Stamp = String;

/// The cached summaries by run id, each with its stamp.
pub(crate) type Rows = BTreeMap<String, (Stamp, RunSummary)>;

/// The stamp of the run in `directory` as it is now.
pub(crate) fn stamp(directory: &Path) -> Stamp {
    let part = |path: &Path| {
        let metadata = fs::metadata(path).ok()?;
        let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{}.{:09}:{}", modified.as_secs(), modified.subsec_nanos(), metadata.len()))
    };
    format!("{:?} {:?}", part(&directory.join(RunRecord::FILE)), part(directory))
}

/// The cached rows; none when the index is missing, damaged, locked or of another version.
pub(crate) fn load(path: &Path) -> Rows {
    let read = || -> rusqlite::Result<Rows> {
        let index = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        index.busy_timeout(BUSY)?;
        if version(&index)? != INDEX_FORMAT {
            return Ok(Rows::new());
        }
        let mut query = index.prepare("SELECT id, stamp, summary FROM run")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)))?;
        let mut known = Rows::new();
        for row in rows {
            let (id, stamp, text) = row?;
            if let Ok(summary) = serde_json::from_str(&text) {
                known.insert(id, (stamp, summary));
            }
        }
        Ok(known)
    };
    read().unwrap_or_default()
}

/// Replaces the cached rows by `rows`. A failure costs only time at the next list, so it is not reported.
pub(crate) fn save(path: &Path, rows: &Rows) {
    let Err(error) = try_save(path, rows) else { return };
    let held = matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked));
    // Damaged, or of a version that has other tables: only a new one helps.
    if !held && fs::remove_file(path).is_ok() {
        _ = fs::remove_file(path.with_extension("sqlite-journal"));
        _ = try_save(path, rows);
    }
}

fn try_save(path: &Path, rows: &Rows) -> rusqlite::Result<()> {
    let mut index = Connection::open(path)?;
    index.busy_timeout(BUSY)?;
    index.execute_batch("PRAGMA synchronous = OFF")?;
    let transaction = index.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    if version(&transaction)? != INDEX_FORMAT {
        transaction.execute_batch(
            "DROP TABLE IF EXISTS run; DROP TABLE IF EXISTS format;
             CREATE TABLE format (name TEXT PRIMARY KEY, version INTEGER NOT NULL);
             CREATE TABLE run (id TEXT PRIMARY KEY, stamp TEXT NOT NULL, summary TEXT NOT NULL);",
        )?;
        transaction.execute("INSERT INTO format VALUES ('index.sqlite', ?)", [INDEX_FORMAT])?;
    }
    transaction.execute("DELETE FROM run", [])?;
    for (id, (stamp, summary)) in rows {
        let Ok(text) = serde_json::to_string(summary) else { continue };
        let mut insert = transaction.prepare_cached("INSERT INTO run VALUES (?, ?, ?)")?;
        insert.execute(params![id, stamp, text])?;
    }
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
