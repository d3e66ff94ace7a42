//! `SHOW GLOBAL STATUS`, InnoDB's metrics and what clients wait for, on one connection that is kept. The server counts what
//! the first two do among all else (MariaDB 10.11: a temporary table, a scan, and a row of the scan for each row that is
//! told; 200 of them for `INNODB_METRICS`), so that only what counters need is asked for. `SHOW PROCESSLIST` makes no table, a row
//! for each client: states and statements are counted here.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::catalogue::server_job::{Asked, StatusJob, StatusPlace};
use model::record::statements::{PlanStep, RowWait};
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Row};

use super::digest::digest;
use super::exchange::{left, wrong};
use super::figures::Figures;
use super::row_locks::{self, Lock, Transaction};
use super::statements::{Candidate, Statements};

/// What stands before the names of InnoDB's metrics.
const METRIC: &str = "innodb.";
/// How many transactions wait for a row: where none does, nobody is asked for whom.
const ROW_WAITS: &str = "Innodb_row_lock_current_waits";
/// What stands before the names of states that a statement can be in.
const STATE: &str = "state.";

/// Why there is no connection: with the kind by which a server that has ended is known.
fn connecting(error: &mysql::Error) -> io::Error {
    let kind = match error {
        mysql::Error::DriverError(mysql::DriverError::CouldNotConnect(Some((_, _, kind)))) => *kind,
        mysql::Error::IoError(error) => error.kind(),
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error.to_string())
}

/// The value of a status variable; what is on is 1.
fn number(value: &str) -> Option<f64> {
    match value {
        "ON" => Some(1.0),
        "OFF" => Some(0.0),
        other => other.parse().ok(),
    }
}

/// A database that is asked.
#[derive(Debug)]
pub(super) struct Database {
    options: OptsBuilder,
    status: Option<String>,
    metrics: Option<String>,
    /// With what stands before them.
    states: BTreeSet<String>,
    statements: Arc<Statements>,
    conn: Option<Conn>,
}

impl Database {
    /// Asks for these names only: what is not sent need not be read.
    /// Whose statements are seen meanwhile goes to `statements`.
    pub(super) fn new<'a>(
        job: &StatusJob,
        asked: &Asked,
        names: impl Iterator<Item = &'a str>,
        statements: &Arc<Statements>,
    ) -> Database {
        let (states, others): (Vec<&str>, Vec<&str>) = names.partition(|name| name.starts_with(STATE));
        let (metrics, status): (BTreeSet<&str>, BTreeSet<&str>) =
            others.into_iter().partition(|name| name.starts_with(METRIC));
        let metrics: BTreeSet<&str> = metrics.iter().map(|name| &name[METRIC.len()..]).collect();
        let timeout = Duration::from_secs_f64(job.every_s.clamp(0.1, 3600.0)).mul_f64(super::DEADLINE_RATIO);
        let options = OptsBuilder::new()
            .user(job.user.as_deref())
            .tcp_connect_timeout(Some(timeout))
            .read_timeout(Some(timeout))
            .write_timeout(Some(timeout));
        let options = match &asked.at {
            StatusPlace::Socket(path) => options.socket(path.to_str()).prefer_socket(true),
            StatusPlace::Port(port) => {
                options.ip_or_hostname(Some("127.0.0.1")).tcp_port(*port).prefer_socket(false)
            }
        };
        Database {
            options,
            status: listed(&status)
                .map(|names| format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({names})")),
            metrics: listed(&metrics).map(|names| {
                format!("SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME IN ({names})")
            }),
            states: states.into_iter().map(str::to_string).collect(),
            statements: Arc::clone(statements),
            conn: None,
        }
    }

    /// A connection on which something went wrong is given up; the next reading opens another.
    pub(super) fn read(&mut self, deadline: Instant) -> io::Result<Figures> {
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => Conn::new(self.options.clone()).map_err(|error| connecting(&error))?,
        };
        let mut figures = Figures::new();
        if let Some(question) = &self.status {
            let rows: Vec<(String, String)> = conn.query(question).map_err(io::Error::other)?;
            figures.extend(rows.into_iter().filter_map(|(name, value)| Some((name, number(&value)?))));
        }
        if let Some(question) = &self.metrics {
            left(deadline)?;
            let rows: Vec<(String, f64)> = conn.query(question).map_err(io::Error::other)?;
            figures.extend(rows.into_iter().map(|(name, value)| (format!("{METRIC}{name}"), value)));
        }
        if !self.states.is_empty() {
            left(deadline)?;
            let rows = conn.query_map(CLIENTS, Client::of).map_err(io::Error::other)?;
            let (clients, own) = (rows.into_iter().flatten(), conn.connection_id());
            let clients: Vec<Client> = clients.filter(|client| client.id != u64::from(own)).collect();
            figures.extend(counted(&self.states, clients.iter().map(|client| client.state.as_str())));
            let waits = match figures.get(ROW_WAITS) {
                Some(waiting) if *waiting > 0.0 => row_waits(&mut conn, &clients)?,
                _ => BTreeMap::new(),
            };
            for client in clients {
                if let Some(statement) = client.statement {
                    self.statements.add(client.database, statement, waits.get(&client.id).cloned());
                }
            }
            left(deadline)?;
            if let Some(candidate) = self.statements.candidate() {
                let plan = explain(&mut conn, &candidate);
                self.statements.explained(candidate, plan);
            }
        }
        // Each answer came in time; all together may not have.
        left(deadline)?;
        self.conn = Some(conn);
        if figures.is_empty() { Err(wrong("the database said nothing")) } else { Ok(figures) }
    }
}

/// Every client, with the whole text of what it is in.
const CLIENTS: &str = "SHOW FULL PROCESSLIST";

/// A client of the database.
#[derive(Debug)]
struct Client {
    id: u64,
    /// What its statement waits for; empty where that is nothing.
    state: String,
    database: Option<String>,
    /// Absent while it is in none.
    statement: Option<String>,
}

impl Client {
    fn of(row: Row) -> Option<Client> {
        let text = |name: &str| row.get_opt::<Option<String>, _>(name)?.ok().flatten();
        Some(Client {
            id: row.get_opt("Id")?.ok()?,
            state: text("State").unwrap_or_default(),
            database: text("db"),
            // One that has ended is still named for a client that is asleep.
            statement: text("Info").filter(|_| text("Command").is_some_and(|command| command != "Sleep")),
        })
    }
}

/// Whose rows the clients wait for that wait for any, by their numbers.
fn row_waits(conn: &mut Conn, clients: &[Client]) -> io::Result<BTreeMap<u64, RowWait>> {
    let transactions = conn.query_map(row_locks::TRANSACTIONS, Transaction::of).map_err(io::Error::other)?;
    let locks = conn.query_map(row_locks::LOCKS, Lock::of).map_err(io::Error::other)?;
    let (transactions, locks): (Vec<Transaction>, Vec<Lock>) =
        (transactions.into_iter().flatten().collect(), locks.into_iter().flatten().collect());
    let statement = |id: u64| {
        let client = clients.iter().find(|client| client.id == id)?;
        client.statement.as_deref().map(digest)
    };
    let wait =
        |one: row_locks::Waiting| (one.client, RowWait { table: one.table, holder: statement(one.holder) });
    Ok(row_locks::waiting(&transactions, &locks).into_iter().map(wait).collect())
}

/// How the database carries a statement out; nothing where it doesn't say.
fn explain(conn: &mut Conn, candidate: &Candidate) -> Vec<PlanStep> {
    if let Some(database) = &candidate.database {
        let named = conn.query_drop(format!("USE `{}`", database.replace('`', "``")));
        if named.is_err() {
            return Vec::new();
        }
    }
    conn.query_map(format!("EXPLAIN {}", candidate.example), plan_step).unwrap_or_default()
}

fn plan_step(row: Row) -> PlanStep {
    let text = |name: &str| row.get_opt::<Option<String>, _>(name)?.ok().flatten();
    PlanStep {
        table: text("table"),
        access: text("type"),
        key: text("key"),
        rows: text("rows").and_then(|rows| rows.parse().ok()),
        extra: text("Extra").unwrap_or_default(),
    }
}

/// How many statements are in each of the states that are asked for.
fn counted<'a>(asked: &BTreeSet<String>, seen: impl Iterator<Item = &'a str>) -> Figures {
    let mut figures: Figures = asked.iter().map(|name| (name.clone(), 0.0)).collect();
    for state in seen {
        figures.entry(format!("{STATE}{state}")).and_modify(|count| *count += 1.0);
    }
    figures
}

/// Names as a list of SQL; one that could be more than a name is left out.
fn listed(names: &BTreeSet<&str>) -> Option<String> {
    let plain = |name: &&&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let quoted: Vec<String> = names.iter().filter(plain).map(|name| format!("'{name}'")).collect();
    (!quoted.is_empty()).then(|| quoted.join(","))
}

#[cfg(test)]
mod tests {
    use model::catalogue::service::Reader;

    use super::*;

    #[test]
    fn only_what_counters_need_is_asked_for_and_nothing_that_is_no_name() {
        let asked = Asked { at: StatusPlace::Socket("/nowhere".into()), path: String::new() };
        let job = StatusJob {
            name: "status".into(),
            reader: Reader::Mysql,
            asked: Vec::new(),
            user: None,
            every_s: 1.0,
            threads: None,
        };
        let names =
            ["Questions", "innodb.lock_deadlocks", "Threads_running", "state.User sleep", "x') OR ('1"];
        let database = Database::new(&job, &asked, names.into_iter(), &Arc::default());
        let status = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions','Threads_running')";
        assert_eq!(database.status.as_deref(), Some(status));
        assert!(database.metrics.is_some_and(|text| text.ends_with("NAME IN ('lock_deadlocks')")));
        assert_eq!(database.states, BTreeSet::from(["state.User sleep".to_string()]));
        assert_eq!(Database::new(&job, &asked, ["Questions"].into_iter(), &Arc::default()).metrics, None);
    }

    #[test]
    fn statements_are_counted_by_state_and_a_state_that_nobody_is_in_is_none_of_them() {
        let asked = BTreeSet::from(["state.User sleep", "state.User lock"].map(str::to_string));
        let seen = ["User sleep", "Sending data", "User sleep", ""];
        let figures = counted(&asked, seen.into_iter());
        let expected = [("state.User sleep", 2.0), ("state.User lock", 0.0)];
        assert_eq!(figures, expected.map(|(name, count)| (name.to_string(), count)).into_iter().collect());
    }
}
