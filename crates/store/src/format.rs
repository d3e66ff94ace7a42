//! `run.sqlite`: the tables, shared by writer and reader, and the version of them.

use std::path::Path;

use model::Result;
use model::record::interval::fields::{DISTRIBUTIONS, FIGURES};
use rusqlite::{Connection, OptionalExtension};

use crate::{call_steps, fault, statements, threads};

/// The version of the tables below; counts up when a reader of the old ones would misread the new ones. A new figure
/// or a new table is no new version: a reader takes what is missing as nothing.
pub(crate) const SQLITE_FORMAT: i64 = 1;

/// The version of `plan.json`'s envelope.
pub(crate) const PLAN_FORMAT: u32 = 1;

const TABLES: &str = "
CREATE TABLE format (name TEXT PRIMARY KEY, version INTEGER NOT NULL);
CREATE TABLE operation (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL);
CREATE TABLE operation_second (
    second INTEGER NOT NULL,
    operation INTEGER NOT NULL REFERENCES operation (id),
    completed INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    response BLOB,
    service BLOB,
    PRIMARY KEY (second, operation)
);
CREATE TABLE failure (
    second INTEGER NOT NULL,
    operation INTEGER NOT NULL REFERENCES operation (id),
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (second, operation, kind)
);
CREATE TABLE counter (
    second INTEGER NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (second, name)
);
CREATE TABLE series (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tier TEXT, unit TEXT NOT NULL);
CREATE TABLE sample (series INTEGER NOT NULL REFERENCES series (id), second REAL NOT NULL, value REAL NOT NULL);
CREATE INDEX sample_by_series ON sample (series, second);
CREATE TABLE evidence (
    second INTEGER NOT NULL,
    operation TEXT NOT NULL,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    request TEXT,
    answer TEXT
);
CREATE TABLE event (second REAL NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL);
";

/// Creates the tables in an empty database.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.execute_batch(call_steps::TABLES)?;
    connection.execute_batch(statements::TABLES)?;
    connection.execute_batch(threads::TABLE)?;
    let blobs = DISTRIBUTIONS.iter().map(|(name, ..)| format!(", {name} BLOB"));
    let columns: String =
        blobs.chain(FIGURES.iter().map(|(name, ..)| format!(", {name} REAL NOT NULL"))).collect();
    connection.execute_batch(&format!(
        "CREATE TABLE second (second INTEGER PRIMARY KEY, last_sessions BLOB, choices BLOB, pauses BLOB{columns});"
    ))?;
    connection.execute("INSERT INTO format VALUES ('run.sqlite', ?1)", [SQLITE_FORMAT])?;
    Ok(())
}

/// Refuses a file that is not a run's, or is newer than this program.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<()> {
    let version: Option<i64> = connection
        .query_row("SELECT version FROM format WHERE name = 'run.sqlite'", [], |row| row.get(0))
        .optional()
        .map_err(|error| fault::sql(&error, "reading the file's format", path))?;
    match version {
        Some(version) if version > SQLITE_FORMAT => Err(fault::newer(path, version, SQLITE_FORMAT).into()),
        Some(_) => Ok(()),
        None => Err(model::Problem::environment("the file does not say that it is a run's")
            .file(path.display().to_string())
            .into()),
    }
}
