//! The tables of the ledger of calls: what each second's step said, with every cell's names kept once.

use std::collections::BTreeMap;

use model::record::calls::{CallStep, Cell, CellTime};
use model::record::stacks::{SlowWait, Stack, StackTime};
use rusqlite::{Connection, OptionalExtension, ToSql, Transaction, params};

/// `call_step.rest` is the step in JSON but for its times, stacks and slow waits, which are rows of the tables below it.
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
CREATE TABLE call_stack (id INTEGER PRIMARY KEY, stack TEXT NOT NULL);
CREATE TABLE stack_time (
    step INTEGER NOT NULL REFERENCES call_step (id),
    stack INTEGER NOT NULL REFERENCES call_stack (id),
    s REAL NOT NULL,
    samples INTEGER NOT NULL
);
CREATE INDEX stack_time_by_step ON stack_time (step);
CREATE TABLE slow_wait (
    step INTEGER NOT NULL REFERENCES call_step (id),
    stack INTEGER NOT NULL REFERENCES call_stack (id),
    at_s REAL NOT NULL,
    s REAL NOT NULL
);
CREATE INDEX slow_wait_by_step ON slow_wait (step);
";

/// Appends steps to a run's database.
#[derive(Debug, Default)]
pub(crate) struct CallSteps {
    cells: Ids<Cell>,
    stacks: Ids<Stack>,
}

impl CallSteps {
    /// Goes on with what the database has.
    pub(crate) fn of(database: &Connection) -> rusqlite::Result<CallSteps> {
        let cells = Ids::of(named(database, "SELECT id, cell FROM call_cell")?);
        let stacks = Ids::of(named(database, "SELECT id, stack FROM call_stack")?);
        Ok(CallSteps { cells, stacks })
    }

    /// Appends one.
    pub(crate) fn append(&mut self, transaction: &Transaction<'_>, step: &CallStep) -> rusqlite::Result<()> {
        let (times, stacks, slow) = (Vec::new(), Vec::new(), Vec::new());
        let rest = json(&CallStep { times, stacks, slow, ..step.clone() })?;
        let insert = |text: &str, values: &[&dyn ToSql]| -> rusqlite::Result<()> {
            transaction.prepare_cached(text)?.execute(values).map(|_| ())
        };
        insert("INSERT INTO call_step (at_s, rest) VALUES (?, ?)", params![step.at_s, rest])?;
        let id = transaction.last_insert_rowid();
        for time in &step.times {
            let cell = self.cells.id(&time.cell, |id, text| insert(NEW_CELL, params![id, text]))?;
            let count = signed(time.count);
            insert(
                "INSERT INTO call_time VALUES (?, ?, ?, ?, ?)",
                params![id, cell, count, time.s, time.max_s],
            )?;
        }
        for time in &step.stacks {
            let stack = self.stacks.id(&time.stack, |id, text| insert(NEW_STACK, params![id, text]))?;
            let samples = signed(time.samples);
            insert("INSERT INTO stack_time VALUES (?, ?, ?, ?)", params![id, stack, time.s, samples])?;
        }
        for wait in &step.slow {
            let stack = self.stacks.id(&wait.stack, |id, text| insert(NEW_STACK, params![id, text]))?;
            insert("INSERT INTO slow_wait VALUES (?, ?, ?, ?)", params![id, stack, wait.at_s, wait.s])?;
        }
        Ok(())
    }
}

const NEW_CELL: &str = "INSERT INTO call_cell VALUES (?, ?)";
const NEW_STACK: &str = "INSERT INTO call_stack VALUES (?, ?)";

/// What is kept once, by its number.
#[derive(Debug)]
struct Ids<T>(BTreeMap<T, i64>);

impl<T> Default for Ids<T> {
    fn default() -> Ids<T> {
        Ids(BTreeMap::new())
    }
}

impl<T: Ord + Clone + serde::Serialize> Ids<T> {
    fn of(named: BTreeMap<i64, T>) -> Ids<T> {
        Ids(named.into_iter().map(|(id, value)| (value, id)).collect())
    }

    /// The number of `value`; what is new is kept by `insert`.
    fn id(
        &mut self,
        value: &T,
        insert: impl FnOnce(i64, &str) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<i64> {
        if let Some(id) = self.0.get(value) {
            return Ok(*id);
        }
        let id = self.0.len() as i64;
        insert(id, &json(value)?)?;
        self.0.insert(value.clone(), id);
        Ok(id)
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Every step in the order of time, one after the other; none of a run that is older than these tables.
pub(crate) fn each(database: &Connection, mut take: impl FnMut(CallStep)) -> rusqlite::Result<()> {
    if !has_table(database, "call_step")? {
        return Ok(());
    }
    let cells: BTreeMap<i64, Cell> = named(database, "SELECT id, cell FROM call_cell")?;
    let stacks: BTreeMap<i64, Stack> = if has_table(database, "call_stack")? {
        named(database, "SELECT id, stack FROM call_stack")?
    } else {
        BTreeMap::new()
    };
    let mut steps = database.prepare("SELECT id, rest FROM call_step ORDER BY at_s, id")?;
    let mut times =
        database.prepare("SELECT cell, count, s, max_s FROM call_time WHERE step = ? ORDER BY rowid")?;
    let mut rows = steps.query([])?;
    while let Some(row) = rows.next()? {
        let mut step: CallStep = parsed(&row.get::<_, String>(1)?)?;
        let id = row.get::<_, i64>(0)?;
        let mut of_step = times.query([id])?;
        while let Some(time) = of_step.next()? {
            let Some(cell) = cells.get(&time.get::<_, i64>(0)?).cloned() else { continue };
            let count = unsigned(time.get(1)?);
            step.times.push(CellTime { cell, count, s: time.get(2)?, max_s: time.get(3)? });
        }
        if !stacks.is_empty() {
            add_stacks(database, id, &stacks, &mut step)?;
        }
        take(step);
    }
    Ok(())
}

fn add_stacks(
    database: &Connection,
    id: i64,
    stacks: &BTreeMap<i64, Stack>,
    step: &mut CallStep,
) -> rusqlite::Result<()> {
    let mut times =
        database.prepare_cached("SELECT stack, s, samples FROM stack_time WHERE step = ? ORDER BY rowid")?;
    let mut rows = times.query([id])?;
    while let Some(row) = rows.next()? {
        let Some(stack) = stacks.get(&row.get::<_, i64>(0)?).cloned() else { continue };
        step.stacks.push(StackTime { stack, s: row.get(1)?, samples: unsigned(row.get(2)?) });
    }
    let mut slow =
        database.prepare_cached("SELECT stack, at_s, s FROM slow_wait WHERE step = ? ORDER BY rowid")?;
    let mut rows = slow.query([id])?;
    while let Some(row) = rows.next()? {
        let Some(stack) = stacks.get(&row.get::<_, i64>(0)?).cloned() else { continue };
        step.slow.push(SlowWait { stack, at_s: row.get(1)?, s: row.get(2)? });
    }
    Ok(())
}

fn has_table(database: &Connection, name: &str) -> rusqlite::Result<bool> {
    let found = database.query_row("SELECT 1 FROM sqlite_schema WHERE name = ?", [name], |_| Ok(()));
    Ok(found.optional()?.is_some())
}

fn named<T: serde::de::DeserializeOwned>(
    database: &Connection,
    query: &str,
) -> rusqlite::Result<BTreeMap<i64, T>> {
    let mut query = database.prepare(query)?;
    let mut rows = query.query([])?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        found.insert(row.get(0)?, parsed(&row.get::<_, String>(1)?)?);
    }
    Ok(found)
}

fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
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
    use model::record::stacks::Waker;

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
        let stack = Stack {
            cell: Cell { object: String::new(), ..cell.clone() },
            frames: vec!["vfs_read".to_string()],
            woken_by: Some(Waker::default()),
        };
        CallStep {
            at_s,
            took_s: 1.0,
            lives: vec![ThreadLives {
                tier: "web".to_string(),
                threads: 2,
                lived_s: 2.0,
                cgroup_cpu_s: None,
            }],
            stacks: vec![StackTime { stack: stack.clone(), s: 0.4, samples: 4 }],
            slow: vec![SlowWait { stack, at_s, s: 0.3 }],
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
        let count = |table: &str| -> i64 {
            let query = format!("SELECT count(*) FROM {table}");
            database.query_row(&query, [], |row| row.get(0)).expect("a number")
        };
        assert_eq!((count("call_cell"), count("call_stack")), (2, 1));
    }

    #[test]
    fn a_run_that_is_older_has_no_steps() {
        let database = Connection::open_in_memory().expect("memory");
        let mut found = 0;
        each(&database, |_| found += 1).expect("missing tables are no error");
        assert_eq!(found, 0);
    }
}
