//! A data set: rows that `data.lua` makes on all cores, streamed into a database without a file between.
//!
//! [`load`] runs the schema, streams every table, runs the finishing statements and counts the rows. It is all or
//! nothing: after an error the caller throws the database away.

mod crew;
mod declaration;
mod finish;
mod generator;
mod identity;
mod line;
mod progress;
mod schedule;
mod stream;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use model::{Problem, Result};
use mysql::prelude::Queryable;

pub use identity::dataset_id;
pub use progress::{Phase, Progress};

use crate::folder::{Kit, Setup};
use crate::sql::{Server, server};
use declaration::Declaration;
use generator::Generator;
use progress::Meter;

/// What is loaded where.
pub struct LoadOptions<'a> {
    /// The kit.
    pub kit: &'a Kit,
    /// Size, parameters and seed.
    pub setup: &'a Setup,
    /// Where to; the database must not exist yet.
    pub server: &'a Server,
    /// Generator threads: the cores that may be used.
    pub threads: usize,
    /// Called some ten times a second.
    pub on_progress: &'a mut dyn FnMut(Progress),
    /// Set by another thread to give up soon.
    pub cancelled: &'a AtomicBool,
}

/// What was loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Rows by table, as the database counts them.
    pub rows: BTreeMap<String, u64>,
    /// Bytes sent as rows.
    pub bytes: u64,
    /// Seconds.
    pub took_s: f64,
}

/// Makes the database and everything in it. A kit without `data` gets an empty database.
///
/// # Errors
/// Everything that the kit's files, the server or the disk can do wrong, with the table or the file and line;
/// [`model::Kind::Interrupted`] when cancelled. The database is then not to be used.
pub fn load(options: LoadOptions<'_>) -> Result<Loaded> {
    let started = Instant::now();
    let LoadOptions { kit, setup, server, threads, on_progress, cancelled } = options;
    let threads = threads.max(1);
    let declaration = declaration(kit, setup)?;
    let mut meter = Meter::new(on_progress, cancelled, declaration.rows_expected());
    meter.enter(Phase::Tables)?;
    create_database(server)?;
    finish::run(kit, kit.manifest.schema.as_deref(), setup, server, &mut meter)?;
    meter.enter(Phase::Rows)?;
    let sent = match kit.manifest.data.as_deref() {
        Some(file) => stream::run((kit, file, setup), &declaration, server, threads, &mut meter)?,
        None => stream::Sent::default(),
    };
    meter.enter(Phase::Finish)?;
    finish::run(kit, kit.manifest.finish.as_deref(), setup, server, &mut meter)?;
    meter.enter(Phase::Verify)?;
    let rows = finish::count(server, &sent.rows, &mut meter)?;
    Ok(Loaded { rows, bytes: sent.bytes, took_s: started.elapsed().as_secs_f64() })
}

fn declaration(kit: &Kit, setup: &Setup) -> Result<Declaration> {
    match kit.manifest.data.as_deref() {
        Some(file) => Ok(Generator::new(kit, file, setup)?.declaration().clone()),
        None => Ok(Declaration { tables: Vec::new(), parts: Vec::new() }),
    }
}

/// The tables that the kit's data script fills, by running its declarations and making no row.
pub fn declared_tables(kit: &Kit, setup: &Setup) -> Result<Vec<String>> {
    Ok(declaration(kit, setup)?.tables.into_iter().map(|table| table.name).collect())
}

fn create_database(server: &Server) -> Result<()> {
    let mut conn = server.connect_outside()?;
    let name = &server.database;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(Problem::recipe(format!("`{name}` is not a database's name")).into());
    }
    conn.query_drop(format!("create database `{name}` character set utf8mb4 collate utf8mb4_general_ci"))
        .map_err(|error| server::problem(&error, &format!("create database {name}")).into())
}
