//! A kit's SQL statements around the rows, and the count at the end.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use model::{Problem, Result};
use mysql::prelude::Queryable;

use super::crew::Crew;
use super::progress::Meter;
use crate::folder::{Kit, Setup};
use crate::sql::file;
use crate::sql::{Server, server};

/// Runs the statements of `file`, if the kit has one.
pub(crate) fn run(
    kit: &Kit,
    file: Option<&str>,
    setup: &Setup,
    server: &Server,
    meter: &mut Meter<'_>,
) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let statements = file::statements(&file::text(kit, file, setup)?);
    let place = kit.path_of(file);
    let total = statements.len() as u64;
    let done = AtomicU64::new(0);
    let doing = Mutex::new(String::new());
    let crew = Crew::new(server);
    thread::scope(|scope| {
        let (ended, ends) = channel();
        let (crew, done, doing, place) = (&crew, &done, &doing, &place);
        scope.spawn(move || {
            crew.run(|| {
                let mut conn = crew.connect()?;
                for statement in &statements {
                    if crew.stopped() {
                        break;
                    }
                    *doing.lock().unwrap_or_else(PoisonError::into_inner) = statement.title();
                    statement.run(&mut conn, place)?;
                    done.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            });
            _ = ended.send(());
        });
        let tick = || {
            let title = doing.lock().unwrap_or_else(PoisonError::into_inner).clone();
            meter.statements(done.load(Ordering::Relaxed), total, title)
        };
        crew.watch(&ends, tick, || ())
    })
}

/// Counts the rows of each table; every one must hold exactly what was sent.
pub(crate) fn count(
    server: &Server,
    sent: &BTreeMap<String, u64>,
    meter: &mut Meter<'_>,
) -> Result<BTreeMap<String, u64>> {
    let mut conn = server.connect()?;
    let mut found = BTreeMap::new();
    for (table, sent) in sent {
        meter.statements(found.len() as u64, 0, table.clone())?;
        let rows: Option<u64> = conn
            .query_first(format!("select count(*) from `{table}`"))
            .map_err(|error| server::problem(&error, &format!("table {table}: counting rows")))?;
        let rows = rows.unwrap_or_default();
        if rows != *sent {
            let remedy = match rows > *sent {
                true => {
                    "the schema or a trigger adds rows of its own: leave them to the data script, which has to make all of a table that \
                     it sends rows of"
                }
                false => "the schema, a trigger or a foreign key removes rows, or two of them have one key",
            };
            return Err(Problem::environment(format!(
                "table {table} holds {rows} rows, but {sent} were sent"
            ))
            .why("a data set is the same for everybody who makes it, which is known by its rows")
            .remedy(remedy)
            .into());
        }
        found.insert(table.clone(), rows);
    }
    Ok(found)
}
