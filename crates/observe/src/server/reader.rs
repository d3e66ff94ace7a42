//! One status of one instance, read again and again.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use model::catalogue::server_job::{Asked, StatusJob};
use model::catalogue::service;

use super::exchange::{Asker, wrong};
use super::figures::{self, Figures};
use super::jmx_threads::{Places, Threads};
use super::sql::Database;
use super::statements::Statements;
use super::{fastcgi, http, jmx, plain, prometheus};

/// Reads one status.
#[derive(Debug)]
pub(super) struct Reader {
    reader: service::Reader,
    asker: Asker,
    path: String,
    database: Option<Database>,
    threads: Threads,
}

impl Reader {
    /// Reads figures of these names, and maybe others, of one of the instances; of a database also what statements its clients are
    /// in, of a virtual machine what its threads are at.
    pub(super) fn new<'a>(
        job: &StatusJob,
        asked: &Asked,
        names: impl Iterator<Item = &'a str>,
        statements: &Arc<Statements>,
        places: &Arc<Places>,
    ) -> Reader {
        let is_database = job.reader == service::Reader::Mysql;
        let database = is_database.then(|| Database::new(job, asked, names, statements));
        let threads = Threads::new(job.threads.clone().unwrap_or_default(), places);
        Reader {
            reader: job.reader,
            asker: Asker::new(&asked.at),
            path: asked.path.clone(),
            database,
            threads,
        }
    }

    /// Asks and waits until `deadline` at most.
    pub(super) fn read(&mut self, deadline: Instant) -> io::Result<Figures> {
        if let Some(database) = &mut self.database {
            return database.read(deadline);
        }
        let (at, path) = (&mut self.asker, self.path.as_str());
        let json = |body: Vec<u8>| figures::json(&body).ok_or(wrong("the answer is no JSON object"));
        match self.reader {
            service::Reader::Lines => {
                http::get(at, path, deadline).map(|body| figures::lines(&String::from_utf8_lossy(&body)))
            }
            service::Reader::Json => http::get(at, path, deadline).and_then(json),
            service::Reader::FastcgiJson => fastcgi::get(at, path, deadline).and_then(json),
            service::Reader::Nginx => {
                let read = |body: Vec<u8>| plain::nginx(&body).ok_or(wrong("the answer is not nginx's"));
                http::get(at, path, deadline).and_then(read)
            }
            service::Reader::Memcached => plain::memcached(at, deadline),
            service::Reader::Jmx => {
                let read = |body: Vec<u8>| {
                    jmx::beans(&String::from_utf8_lossy(&body))
                        .ok_or(wrong("the answer is not that of a JMX proxy"))
                };
                http::get(at, path, deadline).and_then(read)
            }
            service::Reader::Prometheus => {
                let read = |body: Vec<u8>| {
                    prometheus::samples(&String::from_utf8_lossy(&body))
                        .ok_or(wrong("the answer is no page for Prometheus"))
                };
                http::get(at, path, deadline).and_then(read)
            }
            service::Reader::JmxThreads => self.threads.read(at, path, deadline),
            service::Reader::Mysql => Err(wrong("a database is asked otherwise")),
        }
    }
}
