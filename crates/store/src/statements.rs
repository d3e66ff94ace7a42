//! The tables of a database's statements: which its clients were in, look by look, and what is known of some.

use std::collections::BTreeMap;

use model::record::statements::{RowWaitSeen, StatementFacts, StatementSeen};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde::Serialize;

/// `statement_facts.facts` is [`StatementFacts`] in JSON, `statement_seen.row_waits` a list of [`RowWaitSeen`] or NULL.
pub(crate) const TABLES: &str = "
CREATE TABLE statement_digest (id INTEGER PRIMARY KEY, tier TEXT NOT NULL, digest TEXT NOT NULL);
CREATE TABLE statement_seen (
    at_s REAL NOT NULL,
    digest INTEGER NOT NULL REFERENCES statement_digest (id),
    clients INTEGER NOT NULL,
    row_waits TEXT
);
CREATE TABLE statement_facts (facts TEXT NOT NULL);
";

/// Appends to a run's database.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    digests: BTreeMap<(String, String), i64>,
}

impl Statements {
    /// Goes on with what the database has.
    pub(crate) fn of(database: &Connection) -> rusqlite::Result<Statements> {
        let mut query = database.prepare("SELECT tier, digest, id FROM statement_digest")?;
        let rows = query.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
        Ok(Statements { digests: rows.collect::<rusqlite::Result<_>>()? })
    }

    /// Appends what was seen at `at_s` seconds of the run.
    pub(crate) fn append(
        &mut self,
        transaction: &Transaction<'_>,
        at_s: f64,
        seen: &[StatementSeen],
    ) -> rusqlite::Result<()> {
        for one in seen {
            let next = self.digests.len() as i64;
            let id = *self.digests.entry((one.tier.clone(), one.digest.clone())).or_insert(next);
            if id == next {
                let mut insert =
                    transaction.prepare_cached("INSERT INTO statement_digest VALUES (?, ?, ?)")?;
                insert.execute(params![id, one.tier, one.digest])?;
            }
            let clients = i64::try_from(one.clients).unwrap_or(i64::MAX);
            let row_waits = (!one.row_waits.is_empty()).then(|| json(&one.row_waits)).transpose()?;
            let mut insert = transaction.prepare_cached("INSERT INTO statement_seen VALUES (?, ?, ?, ?)")?;
            insert.execute(params![at_s, id, clients, row_waits])?;
        }
        Ok(())
    }
}

/// Appends what is known of statements.
pub(crate) fn append_facts(transaction: &Transaction<'_>, facts: &[StatementFacts]) -> rusqlite::Result<()> {
    for one in facts {
        transaction.execute("INSERT INTO statement_facts VALUES (?)", [json(one)?])?;
    }
    Ok(())
}

fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// What was seen, with its second, in the order of time; nothing of a run that is older than these tables.
pub(crate) fn looks(database: &Connection) -> rusqlite::Result<Vec<(f64, StatementSeen)>> {
    if is_older(database)? {
        return Ok(Vec::new());
    }
    let row_waits = if has_row_waits(database)? { "s.row_waits" } else { "NULL" };
    let query = format!(
        "SELECT s.at_s, d.tier, d.digest, s.clients, {row_waits} FROM statement_seen s JOIN statement_digest d \
         ON d.id = s.digest ORDER BY s.at_s, s.rowid"
    );
    let mut query = database.prepare(&query)?;
    let rows = query.query_map([], |row| {
        let clients = u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0);
        let row_waits: Option<Vec<RowWaitSeen>> =
            row.get::<_, Option<String>>(4)?.and_then(|text| serde_json::from_str(&text).ok());
        let row_waits = row_waits.unwrap_or_default();
        Ok((row.get(0)?, StatementSeen { tier: row.get(1)?, digest: row.get(2)?, clients, row_waits }))
    })?;
    rows.collect()
}

/// What is known of statements.
pub(crate) fn facts(database: &Connection) -> rusqlite::Result<Vec<StatementFacts>> {
    if is_older(database)? {
        return Ok(Vec::new());
    }
    let mut query = database.prepare("SELECT facts FROM statement_facts ORDER BY rowid")?;
    let texts = query.query_map([], |row| row.get::<_, String>(0))?;
    // What another version wrote otherwise is not worth the rest of the run.
    Ok(texts
        .collect::<rusqlite::Result<Vec<_>>>()?
        .iter()
        .filter_map(|text| serde_json::from_str(text).ok())
        .collect())
}

fn is_older(database: &Connection) -> rusqlite::Result<bool> {
    let table = "SELECT 1 FROM sqlite_schema WHERE name = 'statement_seen'";
    Ok(database.query_row(table, [], |_| Ok(())).optional()?.is_none())
}

/// Runs were kept before anybody asked who waited for whom.
fn has_row_waits(database: &Connection) -> rusqlite::Result<bool> {
    let column = "SELECT 1 FROM pragma_table_info('statement_seen') WHERE name = 'row_waits'";
    Ok(database.query_row(column, [], |_| Ok(())).optional()?.is_some())
}

#[cfg(test)]
mod tests {
    use model::record::statements::RowWait;

    use super::*;

    fn statement(digest: &str, clients: u64) -> StatementSeen {
        StatementSeen { tier: "db".into(), digest: digest.into(), clients, row_waits: Vec::new() }
    }

    #[test]
    fn statements_come_back_with_their_second_and_an_older_run_has_none() {
        let mut database = Connection::open_in_memory().expect("memory");
        assert!(
            looks(&database).expect("no error").is_empty() && facts(&database).expect("no error").is_empty()
        );
        database.execute_batch(TABLES).expect("the tables are well formed");
        let known = StatementFacts {
            tier: "db".into(),
            digest: "SELECT ?".into(),
            example: "SELECT 1".into(),
            plan: Vec::new(),
        };
        let mut statements = Statements::default();
        let transaction = database.transaction().expect("one at a time");
        let wait = RowWait { table: "shop.products".into(), holder: Some("COMMIT".into()) };
        let waiting =
            StatementSeen { row_waits: vec![RowWaitSeen { wait, clients: 2 }], ..statement("SELECT ?", 3) };
        let (first, second) = ([statement("SELECT ?", 2), statement("COMMIT", 1)], [waiting.clone()]);
        statements.append(&transaction, 1.5, &first).expect("it has room");
        statements.append(&transaction, 2.5, &second).expect("it has room");
        append_facts(&transaction, std::slice::from_ref(&known)).expect("it has room");
        transaction.commit().expect("it has room");
        let expected = [(1.5, statement("SELECT ?", 2)), (1.5, statement("COMMIT", 1)), (2.5, waiting)];
        assert_eq!(looks(&database).expect("it can be read"), expected);
        assert_eq!(facts(&database).expect("it can be read"), [known]);
    }
    #[test]
    fn a_run_of_before_anybody_asked_who_waits_for_whom_is_read() {
        let database = Connection::open_in_memory().expect("memory");
        let older = TABLES.replace(",\n    row_waits TEXT", "");
        assert_ne!(older, TABLES);
        database.execute_batch(&older).expect("the tables are well formed");
        let rows = "INSERT INTO statement_digest VALUES (0, 'db', 'COMMIT'); INSERT INTO statement_seen VALUES (1.5, 0, 4);";
        database.execute_batch(rows).expect("it has room");
        assert_eq!(looks(&database).expect("it can be read"), [(1.5, statement("COMMIT", 4))]);
    }
}
