//! Threads that work on one database together: the first failure of any of them stops all, at once, and is the one
//! that is told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{Problem, Problems, Result};
use mysql::Conn;
use mysql::prelude::Queryable;

use super::progress::TICK;
use crate::sql::{Server, server};

/// What the threads share.
pub(crate) struct Crew<'a> {
    server: &'a Server,
    stop: Arc<AtomicBool>,
    first: Mutex<Option<Problems>>,
    connections: Mutex<Vec<u32>>,
}

/// Nothing is checked row by row that is counted at the end, or that the finishing statements make sure of. A table
/// may wait for its first row as long as the others load; a client that dies closes its socket.
const SESSION: &str = "set session unique_checks = 0, foreign_key_checks = 0, \
                       sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', lock_wait_timeout = 60, \
                       net_read_timeout = 31536000, net_write_timeout = 31536000, wait_timeout = 31536000";

impl<'a> Crew<'a> {
    pub(crate) fn new(server: &'a Server) -> Crew<'a> {
        Crew { server, stop: Arc::default(), first: Mutex::default(), connections: Mutex::default() }
    }

    /// True once anything has failed.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// The flag behind [`Self::stopped`].
    pub(crate) fn stop_flag(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// Runs one thread's work; an error of it stops the crew.
    pub(crate) fn run(&self, work: impl FnOnce() -> Result<()>) {
        if let Err(problems) = work() {
            self.fail(problems);
        }
    }

    /// A connection that is cut when the crew stops.
    pub(crate) fn connect(&self) -> Result<Conn> {
        let mut conn = self.server.connect()?;
        conn.query_drop(SESSION).map_err(|error| server::problem(&error, "prepare a connection"))?;
        lock(&self.connections).push(conn.connection_id());
        // After the entry: either whoever cuts the connections finds this one, or it is seen here that they were cut.
        if self.stopped() { Err(Problem::bug("stopped by another thread").into()) } else { Ok(conn) }
    }

    /// Calls `tick` ten times a second until every sender of `ends` is gone; then says what went wrong first.
    pub(crate) fn watch(
        &self,
        ends: &Receiver<()>,
        mut tick: impl FnMut() -> Result<()>,
        wake: impl Fn(),
    ) -> Result<()> {
        let mut cut = false;
        while !matches!(ends.recv_timeout(TICK), Err(RecvTimeoutError::Disconnected)) {
            if !self.stopped() {
                self.run(&mut tick);
            }
            if self.stopped() && !cut {
                // A thread may hold its turn while its table's connection is busy: that has to end first.
                self.cut_connections();
                wake();
                cut = true;
            }
        }
        lock(&self.first).take().map_or(Ok(()), Err)
    }

    fn fail(&self, problems: Problems) {
        lock(&self.first).get_or_insert(problems);
        self.stop.store(true, Ordering::SeqCst);
    }

    /// A server that no longer answers has cut them itself.
    fn cut_connections(&self) {
        if let Ok(mut conn) = self.server.connect_outside() {
            for id in lock(&self.connections).iter() {
                _ = conn.query_drop(format!("kill connection {id}"));
            }
        }
    }
}

/// A thread that panicked while holding the lock left nothing half done: each is held for one assignment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
