//! The tables of a database's statements: which its clients were in, look by look, and what is known of some.

use std::collections::BTreeMap;

use model::record::statements::{StatementFacts, StatementSeen};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

/// `statement.facts` is [`StatementFacts`] in JSON.
pub(crate) const TABLES: &str = "
CREATE TABLE statement_digest (id INTEGER PRIMARY KEY, tier TEXT NOT NULL, digest TEXT NOT NULL);
CREATE TABLE statement_seen (
    at_s REAL NOT NULL,
    digest INTEGER NOT NULL REFERENCES statement_digest (id),
    clients INTEGER NOT NULL
);
CREATE TABLE statement_facts (facts TEXT NOT NULL);
";

/// Appends to a run's database.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    digests: BTreeMap<(String, String), i64>,
}

impl Statements {
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
            let mut insert = transaction.prepare_cached("INSERT INTO statement_seen VALUES (?, ?, ?)")?;
            insert.execute(params![at_s, id, clients])?;
        }
        Ok(())
    }
}

/// Appends what is known of statements.
pub(crate) fn append_facts(transaction: &Transaction<'_>, facts: &[StatementFacts]) -> rusqlite::Result<()> {
    for one in facts {
        let text = serde_json::to_string(one)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        transaction.execute("INSERT INTO statement_facts VALUES (?)", [text])?;
    }
    Ok(())
}

/// What was seen, with its second, in the order of time; nothing of a run that is older than these tables.
pub(crate) fn looks(database: &Connection) -> rusqlite::Result<Vec<(f64, StatementSeen)>> {
    if is_older(database)? {
        return Ok(Vec::new());
    }
    let query = "SELECT s.at_s, d.tier, d.digest, s.clients FROM statement_seen s JOIN statement_digest d \
                 ON d.id = s.digest ORDER BY s.at_s, s.rowid";
    let mut query = database.prepare(query)?;
    let rows = query.query_map([], |row| {
        let clients = u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0);
        Ok((row.get(0)?, StatementSeen { tier: row.get(1)?, digest: row.get(2)?, clients }))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_come_back_with_their_second_and_an_older_run_has_none() {
        let mut database = Connection::open_in_memory().expect("memory");
        assert!(
            looks(&database).expect("no error").is_empty() && facts(&database).expect("no error").is_empty()
        );
        database.execute_batch(TABLES).expect("the tables are well formed");
        let one = |digest: &str, clients| StatementSeen { tier: "db".into(), digest: digest.into(), clients };
        let known = StatementFacts {
            tier: "db".into(),
            digest: "SELECT ?".into(),
            example: "SELECT 1".into(),
            plan: Vec::new(),
        };
        let mut statements = Statements::default();
        let transaction = database.transaction().expect("one at a time");
        statements.append(&transaction, 1.5, &[one("SELECT ?", 2), one("COMMIT", 1)]).expect("it has room");
        statements.append(&transaction, 2.5, &[one("SELECT ?", 3)]).expect("it has room");
        append_facts(&transaction, std::slice::from_ref(&known)).expect("it has room");
        transaction.commit().expect("it has room");
        let expected = [(1.5, one("SELECT ?", 2)), (1.5, one("COMMIT", 1)), (2.5, one("SELECT ?", 3))];
        assert_eq!(looks(&database).expect("it can be read"), expected);
        assert_eq!(facts(&database).expect("it can be read"), [known]);
    }
}
