//! `SHOW GLOBAL STATUS` and InnoDB's metrics on one connection that is kept. The server counts what both do among all
//! else (MariaDB 10.11: a temporary table, a scan, and a row of the scan for each row that is told; 200 of them for
//! `INNODB_METRICS`), so that only what counters need is asked for.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use model::catalogue::server_job::{Asked, StatusJob, StatusPlace};
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

use super::exchange::{left, wrong};
use super::figures::Figures;

/// What stands before the names of InnoDB's metrics.
const METRIC: &str = "innodb.";

/// A database that is asked.
#[derive(Debug)]
pub(super) struct Database {
    options: OptsBuilder,
    status: Option<String>,
    metrics: Option<String>,
    conn: Option<Conn>,
}

impl Database {
    /// Asks for these names only: what is not sent need not be read.
    pub(super) fn new<'a>(job: &StatusJob, asked: &Asked, names: impl Iterator<Item = &'a str>) -> Database {
        let (metrics, status): (BTreeSet<&str>, BTreeSet<&str>) =
            names.partition(|name| name.starts_with(METRIC));
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
        // Each answer came in time; both together may not have.
        left(deadline)?;
        self.conn = Some(conn);
        if figures.is_empty() { Err(wrong("the database said nothing")) } else { Ok(figures) }
    }
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
        let names = ["Questions", "innodb.lock_deadlocks", "Threads_running", "x') OR ('1"];
        let database = Database::new(&job, &asked, names.into_iter());
        let status = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions','Threads_running')";
        assert_eq!(database.status.as_deref(), Some(status));
        assert!(database.metrics.is_some_and(|text| text.ends_with("NAME IN ('lock_deadlocks')")));
        assert_eq!(Database::new(&job, &asked, ["Questions"].into_iter()).metrics, None);
    }
}
