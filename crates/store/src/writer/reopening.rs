//! Going on with a run whose writer has died.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::Path;

use model::record::Outcome;
use model::{Problem, Result, RunRecord};
use rusqlite::Connection;

use super::{RunWriter, insert_second, set_up};
use crate::call_steps::CallSteps;
use crate::run::Run;
use crate::statements::Statements;
use crate::{fault, format, run};

impl RunWriter {
    /// Goes on with the run in `directory`, whose record is given as it was left. The last second that is kept is dropped, since what
    /// belongs to it may not all be there: it is to be appended again. [`Self::next_second`] says which is the next.
    pub(crate) fn reopen(directory: &Path) -> Result<(RunRecord, RunWriter)> {
        let run = Run::open(directory)?;
        run.check_left()?;
        let id = &run.record().id;
        let lock_path = directory.join(run::LOCK);
        let lock = File::create(&lock_path).map_err(|error| fault::io(&error, "making", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(is_under_way(id).into()),
            Err(TryLockError::Error(error)) => return Err(fault::io(&error, "locking", &lock_path).into()),
        }
        let path = directory.join(run::DATABASE);
        let failed = |error| fault::sql(&error, "opening the run's database", &path);
        let database = Connection::open(&path).and_then(set_up).map_err(failed)?;
        format::check(&database, &path)?;
        let writer = RunWriter {
            directory: directory.to_path_buf(),
            names: count(&database, "SELECT count(*) FROM operation").map_err(failed)?,
            kept: drop_last_second(&database).map_err(failed)?,
            series: series(&database).map_err(failed)?,
            sampled: sampled(&database).map_err(failed)?,
            call_steps: CallSteps::of(&database).map_err(failed)?,
            statements: Statements::of(&database).map_err(failed)?,
            encoder: Default::default(),
            insert_second: insert_second(),
            database,
            _lock: lock,
        };
        Ok((run.record, writer))
    }
}

impl Run {
    /// Refuses a run that wasn't left behind by whoever measured it.
    ///
    /// # Errors
    /// It has ended, or is still under way.
    pub fn check_left(&self) -> Result<()> {
        let id = &self.record.id;
        if self.record.outcome != Outcome::Unfinished {
            let what = format!("run {id} has ended, and its record is finished");
            return Err(Problem::recipe(what).remedy(format!("plimsoll show {id}")).into());
        }
        match self.under_way() {
            true => Err(is_under_way(id).into()),
            false => Ok(()),
        }
    }
}

fn is_under_way(id: &str) -> Problem {
    let problem = Problem::environment(format!("run {id} is still under way"));
    let problem = problem.why("the process that measures it lives");
    problem.remedy(format!("wait for its end, or end it; `plimsoll show {id}` shows what there is so far"))
}

fn count(database: &Connection, query: &str) -> rusqlite::Result<usize> {
    let number: i64 = database.query_row(query, [], |row| row.get(0))?;
    Ok(usize::try_from(number).unwrap_or(0))
}

/// Drops the last second; gives its number, or 0 where there is none.
fn drop_last_second(database: &Connection) -> rusqlite::Result<u32> {
    let last: Option<u32> = database.query_row("SELECT max(second) FROM second", [], |row| row.get(0))?;
    let last = last.unwrap_or(0);
    let transaction = database.unchecked_transaction()?;
    for table in ["second", "operation_second", "failure", "counter", "evidence"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE second >= ?"), [last])?;
    }
    transaction.commit()?;
    Ok(last)
}

/// The time of each series' last point.
fn sampled(database: &Connection) -> rusqlite::Result<BTreeMap<i64, f64>> {
    let mut query = database.prepare("SELECT series, max(second) FROM sample GROUP BY series")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// The numbers of the series that are there, by name and tier.
fn series(database: &Connection) -> rusqlite::Result<BTreeMap<(String, Option<String>), i64>> {
    let mut query = database.prepare("SELECT name, tier, id FROM series")?;
    let rows = query.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    rows.collect()
}
