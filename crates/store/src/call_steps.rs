//! The tables of the ledger of calls: what each second's step said, with every cell's names kept once.

use std::collections::BTreeMap;

use model::record::calls::{CallStep, Cell, CellTime};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

/// `call_step.rest` is the step in JSON but for its times, which are rows of `call_time`.
pub(crate) const TABLES: &str = "
CREATE TABLE call_cell (id INTEGER PRIMARY KEY, cell TEXT NOT NULL);
CREATE TABLE call_step (id INTEGER PRIMARY KEY, at_s REAL NOT NULL, rest TEXT NOT NULL);
CREATE TABLE call_time (
    step INTEGER NOT NULL REFERENCES call_step (id),
    cell INTEGER NOT NULL REFERENCES call_cell (id),
    count INTEGER NOT NULL,
    s REAL NOT NULL,
    max_s REAL NOT NULL
);
CREATE INDEX call_time_by_step ON call_time (step);
";

/// Appends steps to a run's database.
#[derive(Debug, Default)]
pub(crate) struct CallSteps {
    cells: BTreeMap<Cell, i64>,
}

impl CallSteps {
    /// Appends one.
    pub(crate) fn append(&mut self, transaction: &Transaction<'_>, step: &CallStep) -> rusqlite::Result<()> {
        let rest = json(&CallStep { times: Vec::new(), ..step.clone() })?;
        transaction
            .prepare_cached("INSERT INTO call_step (at_s, rest) VALUES (?, ?)")?
            .execute(params![step.at_s, rest])?;
        let id = transaction.last_insert_rowid();
        for time in &step.times {
            let cell = self.cell(transaction, &time.cell)?;
            let count = i64::try_from(time.count).unwrap_or(i64::MAX);
            transaction
                .prepare_cached("INSERT INTO call_time VALUES (?, ?, ?, ?, ?)")?
                .execute(params![id, cell, count, time.s, time.max_s])?;
        }
        Ok(())
    }

    fn cell(&mut self, transaction: &Transaction<'_>, cell: &Cell) -> rusqlite::Result<i64> {
        if let Some(id) = self.cells.get(cell) {
            return Ok(*id);
        }
        let id = self.cells.len() as i64;
        transaction
            .prepare_cached("INSERT INTO call_cell VALUES (?, ?)")?
            .execute(params![id, json(cell)?])?;
        self.cells.insert(cell.clone(), id);
        Ok(id)
    }
}

/// Every step in the order of time, one after the other; none of a run that is older than these tables.
pub(crate) fn each(database: &Connection, mut take: impl FnMut(CallStep)) -> rusqlite::Result<()> {
    let table = "SELECT 1 FROM sqlite_schema WHERE name = 'call_step'";
    if database.query_row(table, [], |_| Ok(())).optional()?.is_none() {
        return Ok(());
    }
    let mut cells: BTreeMap<i64, Cell> = BTreeMap::new();
    let mut query = database.prepare("SELECT id, cell FROM call_cell")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        cells.insert(row.get(0)?, parsed(&row.get::<_, String>(1)?)?);
    }
    let mut steps = database.prepare("SELECT id, rest FROM call_step ORDER BY at_s, id")?;
    let mut times =
        database.prepare("SELECT cell, count, s, max_s FROM call_time WHERE step = ? ORDER BY rowid")?;
    let mut rows = steps.query([])?;
    while let Some(row) = rows.next()? {
        let mut step: CallStep = parsed(&row.get::<_, String>(1)?)?;
        let mut of_step = times.query([row.get::<_, i64>(0)?])?;
        while let Some(time) = of_step.next()? {
            let Some(cell) = cells.get(&time.get::<_, i64>(0)?).cloned() else { continue };
            let count = u64::try_from(time.get::<_, i64>(1)?).unwrap_or(0);
            step.times.push(CellTime { cell, count, s: time.get(2)?, max_s: time.get(3)? });
        }
        take(step);
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })
}

#[cfg(test)]
mod tests {
    use model::record::calls::ThreadLives;
    use model::record::diagnosis::Doing;

    use super::*;

    fn step(at_s: f64, object: &str) -> CallStep {
        let cell = Cell {
            tier: "web".to_string(),
            thread: "nginx".to_string(),
            doing: Doing::WaitingForDisk,
            call: "openat".to_string(),
            object: object.to_string(),
            kernel_lock: false,
        };
        CallStep {
            at_s,
            took_s: 1.0,
            lives: vec![ThreadLives { tier: "web".to_string(), threads: 2, lived_s: 2.0 }],
            times: vec![CellTime { cell, count: 3, s: 0.5, max_s: 0.3 }],
            ..CallStep::default()
        }
    }

    #[test]
    fn steps_come_back_as_they_were_given_and_a_cell_is_named_once() {
        let mut database = Connection::open_in_memory().expect("memory");
        database.execute_batch(TABLES).expect("the tables are well formed");
        let given = [step(1.0, "a"), step(2.0, "b"), step(3.0, "a")];
        let mut steps = CallSteps::default();
        for step in &given {
            let transaction = database.transaction().expect("one at a time");
            steps.append(&transaction, step).expect("it has room");
            transaction.commit().expect("it has room");
        }
        let mut found = Vec::new();
        each(&database, |step| found.push(step)).expect("it can be read");
        assert_eq!(found, given);
        let cells: i64 =
            database.query_row("SELECT count(*) FROM call_cell", [], |row| row.get(0)).expect("a number");
        assert_eq!(cells, 2);
    }

    #[test]
    fn a_run_that_is_older_has_no_steps() {
        let database = Connection::open_in_memory().expect("memory");
        let mut found = 0;
        each(&database, |_| found += 1).expect("missing tables are no error");
        assert_eq!(found, 0);
    }
}
