//! `SHOW GLOBAL STATUS`, InnoDB's metrics and what clients wait for, on one connection that is kept. The server counts what
//! the first two do among all else (MariaDB 10.11: a temporary table, a scan, and a row of the scan for each row that is
//! told; 200 of them for `INNODB_METRICS`), so that only what counters need is asked for. `SHOW PROCESSLIST` makes no table, a row
//! for each client: states are counted here.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use model::catalogue::server_job::{Asked, StatusJob, StatusPlace};
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Row};

use super::exchange::{left, wrong};
use super::figures::Figures;

/// What stands before the names of InnoDB's metrics.
const METRIC: &str = "innodb.";
/// What stands before the names of states that a statement can be in.
const STATE: &str = "state.";

/// A database that is asked.
#[derive(Debug)]
pub(super) struct Database {
    options: OptsBuilder,
    status: Option<String>,
    metrics: Option<String>,
    /// With what stands before them.
    states: BTreeSet<String>,
    conn: Option<Conn>,
}

impl Database {
    /// Asks for these names only: what is not sent need not be read.
    pub(super) fn new<'a>(job: &StatusJob, asked: &Asked, names: impl Iterator<Item = &'a str>) -> Database {
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
            conn: None,
        }
    }

    /// A connection on which something went wrong is given up; the next reading opens another.
    pub(super) fn read(&mut self, deadline: Instant) -> io::Result<Figures> {
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => Conn::new(self.options.clone()).map_err(io::Error::other)?,
        };
        let mut figures = Figures::new();
        if let Some(question) = &self.status {
            let rows: Vec<(String, String)> = conn.query(question).map_err(io::Error::other)?;
            figures.extend(rows.into_iter().filter_map(|(name, value)| Some((name, value.parse().ok()?))));
        }
        if let Some(question) = &self.metrics {
            left(deadline)?;
            let rows: Vec<(String, f64)> = conn.query(question).map_err(io::Error::other)?;
            figures.extend(rows.into_iter().map(|(name, value)| (format!("{METRIC}{name}"), value)));
        }
        if !self.states.is_empty() {
            left(deadline)?;
            let seen = conn.query_map("SHOW PROCESSLIST", state_of).map_err(io::Error::other)?;
            figures.extend(counted(&self.states, seen.into_iter().flatten()));
        }
        // Each answer came in time; all together may not have.
        left(deadline)?;
        self.conn = Some(conn);
        if figures.is_empty() { Err(wrong("the database said nothing")) } else { Ok(figures) }
    }
}

/// The state of a client's statement, from its row of the process list; a client that waits for nothing has none.
fn state_of(row: Row) -> Option<String> {
    row.get_opt("State")?.ok()
}

/// How many statements are in each of the states that are asked for.
fn counted(asked: &BTreeSet<String>, seen: impl Iterator<Item = String>) -> Figures {
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
        };
        let names =
            ["Questions", "innodb.lock_deadlocks", "Threads_running", "state.User sleep", "x') OR ('1"];
        let database = Database::new(&job, &asked, names.into_iter());
        let status = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions','Threads_running')";
        assert_eq!(database.status.as_deref(), Some(status));
        assert!(database.metrics.is_some_and(|text| text.ends_with("NAME IN ('lock_deadlocks')")));
        assert_eq!(database.states, BTreeSet::from(["state.User sleep".to_string()]));
        assert_eq!(Database::new(&job, &asked, ["Questions"].into_iter()).metrics, None);
    }

    #[test]
    fn statements_are_counted_by_state_and_a_state_that_nobody_is_in_is_none_of_them() {
        let asked = BTreeSet::from(["state.User sleep", "state.User lock"].map(str::to_string));
        let seen = ["User sleep", "Sending data", "User sleep", ""].map(str::to_string);
        let figures = counted(&asked, seen.into_iter());
        let expected = [("state.User sleep", 2.0), ("state.User lock", 0.0)];
        assert_eq!(figures, expected.map(|(name, count)| (name.to_string(), count)).into_iter().collect());
    }
}
