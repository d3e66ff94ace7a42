//! The table of what a JVM's threads were at, look by look.

use model::record::threads::ThreadsSeen;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

/// `seen` is [`ThreadsSeen`] in JSON.
pub(crate) const TABLE: &str = "CREATE TABLE threads_seen (at_s REAL NOT NULL, seen TEXT NOT NULL);";

/// Appends what was seen at `at_s` seconds of the run.
pub(crate) fn append(transaction: &Transaction<'_>, at_s: f64, seen: &[ThreadsSeen]) -> rusqlite::Result<()> {
    for one in seen {
        let text = serde_json::to_string(one)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        transaction.prepare_cached("INSERT INTO threads_seen VALUES (?, ?)")?.execute(params![at_s, text])?;
    }
    Ok(())
}

/// What was seen, with its second, in the order of time; nothing of a run that is older than this table.
pub(crate) fn looks(database: &Connection) -> rusqlite::Result<Vec<(f64, ThreadsSeen)>> {
    let table = "SELECT 1 FROM sqlite_schema WHERE name = 'threads_seen'";
    if database.query_row(table, [], |_| Ok(())).optional()?.is_none() {
        return Ok(Vec::new());
    }
    let mut query = database.prepare("SELECT at_s, seen FROM threads_seen ORDER BY at_s, rowid")?;
    let rows = query.query_map([], |row| Ok((row.get::<_, f64>(0)?, row.get::<_, String>(1)?)))?;
    let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    // What another version wrote otherwise is not worth the rest of the run.
    let one = |(at_s, text): (f64, String)| Some((at_s, serde_json::from_str(&text).ok()?));
    Ok(rows.into_iter().filter_map(one).collect())
}

#[cfg(test)]
mod tests {
    use model::record::threads::{ThreadPlace, ThreadState};

    use super::*;

    #[test]
    fn what_threads_were_at_comes_back_and_an_older_run_has_nothing() {
        let mut database = Connection::open_in_memory().expect("memory");
        assert!(looks(&database).expect("no error").is_empty());
        database.execute_batch(TABLE).expect("the table is well formed");
        let place = ThreadPlace {
            state: ThreadState::Blocked,
            call: "shop.Cart.add".into(),
            lock: Some("java.lang.Object".into()),
            holder: None,
        };
        let seen = [ThreadsSeen { tier: "web".into(), place, threads: 3 }];
        let transaction = database.transaction().expect("one at a time");
        append(&transaction, 1.5, &seen).expect("it has room");
        transaction.execute("INSERT INTO threads_seen VALUES (2.5, '{}')", []).expect("it has room");
        transaction.commit().expect("it has room");
        assert_eq!(looks(&database).expect("it can be read"), [(1.5, seen[0].clone())]);
    }
}
