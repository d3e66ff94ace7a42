//! `queue.sqlite`: the jobs of the laboratory's queue, what became of each, and whether it is paused. Any number of processes may
//! use it at once; each change is one transaction.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Problem, ProcessIdentity, Result};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fault;

/// The version of the tables.
const QUEUE_FORMAT: i64 = 1;
const FILE: &str = "queue.sqlite";
/// How long another process may hold the queue.
const BUSY: Duration = Duration::from_secs(5);

const TABLES: &str = "
CREATE TABLE format (name TEXT PRIMARY KEY, version INTEGER NOT NULL);
CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    place INTEGER,
    state TEXT NOT NULL,
    command TEXT NOT NULL,
    directory TEXT NOT NULL,
    added TEXT NOT NULL,
    began TEXT,
    ended TEXT,
    process INTEGER,
    process_start INTEGER,
    exit_code INTEGER
);
CREATE TABLE paused (since TEXT NOT NULL);
";
const COLUMNS: &str = "id, state, command, directory, added, began, ended, process, process_start, exit_code";

/// An entry of the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// Its number, which no other job ever has.
    pub id: i64,
    /// What became of it.
    pub state: JobState,
    /// The words behind `plimsoll`.
    pub command: Vec<String>,
    /// Where it was added: files that its words name are found from there.
    pub directory: PathBuf,
    /// RFC 3339, UTC.
    pub added: String,
    /// Likewise; absent before it has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<String>,
    /// Likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The process that does it; absent before it is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessIdentity>,
    /// With which it ended; absent before, and where nobody saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
}

/// What became of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It is to be done.
    Waiting,
    /// It is being done.
    Running,
    /// It ended by itself: its exit code says how.
    Ended,
    /// Its process is gone and left no exit code.
    Interrupted,
}

impl JobState {
    const ALL: [(&str, JobState); 4] = [
        ("waiting", JobState::Waiting),
        ("running", JobState::Running),
        ("ended", JobState::Ended),
        ("interrupted", JobState::Interrupted),
    ];

    /// A word for it, as in JSON.
    pub fn word(self) -> &'static str {
        JobState::ALL.iter().find(|(_, state)| *state == self).map_or("", |(word, _)| word)
    }
}

/// The laboratory's queue.
pub struct Queue {
    database: Connection,
    path: PathBuf,
}

impl Queue {
    /// The queue below `home`, which is made where it is missing.
    ///
    /// # Errors
    /// It can't be opened, is damaged, or of a newer format.
    pub fn open(home: &Path) -> Result<Queue> {
        std::fs::create_dir_all(home).map_err(|error| fault::io(&error, "making", home))?;
        let path = home.join(FILE);
        let failed = |error: &rusqlite::Error| fault::sql(error, "opening the queue", &path);
        let database = Connection::open(&path).map_err(|error| failed(&error))?;
        database.busy_timeout(BUSY).map_err(|error| failed(&error))?;
        let mut queue = Queue { database, path: path.clone() };
        let version = queue.change("opening the queue", |transaction| {
            let has_tables: i64 =
                transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            if has_tables == 0 {
                transaction.execute_batch(TABLES)?;
                transaction.execute("INSERT INTO format VALUES (?, ?)", params![FILE, QUEUE_FORMAT])?;
            }
            let query = "SELECT version FROM format WHERE name = ?";
            transaction.query_row(query, [FILE], |row| row.get::<_, i64>(0)).optional()
        })?;
        match version {
            Some(QUEUE_FORMAT) => Ok(queue),
            Some(newer) => Err(fault::newer(&path, newer, QUEUE_FORMAT).into()),
            None => Err(Problem::environment("the file does not say that it is a queue's")
                .file(path.display().to_string())
                .into()),
        }
    }

    /// Leaves it to the kernel when changes reach the disk: a sync would queue before those of a database that is being measured. What
    /// was changed is lost with the machine's power, and with nothing else.
    ///
    /// # Errors
    /// The queue can't be used.
    pub fn without_sync(self) -> Result<Queue> {
        let set = self.database.execute_batch("PRAGMA synchronous = OFF");
        set.map_err(|error| fault::sql(&error, "setting the queue up", &self.path))?;
        Ok(self)
    }

    /// The directory below which everything is kept.
    pub fn home(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Adds a job behind all others; gives its number. Files that its words name are found from `directory`.
    pub fn add(&mut self, command: &[String], directory: &Path, now: &str) -> Result<i64> {
        let text = serde_json::to_string(command).map_err(|error| Problem::bug(error.to_string()))?;
        self.change("adding a job", |transaction| {
            let insert = "INSERT INTO job (place, state, command, directory, added) \
                          VALUES ((SELECT coalesce(max(place), 0) + 1 FROM job), 'waiting', ?, ?, ?)";
            transaction.execute(insert, params![text, directory.to_string_lossy(), now])?;
            Ok(transaction.last_insert_rowid())
        })
    }

    /// Every job: those that have begun in the order in which they did, then those that wait in theirs.
    pub fn jobs(&self) -> Result<Vec<Job>> {
        let query = format!("SELECT {COLUMNS} FROM job ORDER BY place IS NOT NULL, place, began, id");
        let read = || -> rusqlite::Result<Vec<Job>> {
            let mut query = self.database.prepare(&query)?;
            query.query_map([], job)?.collect()
        };
        read().map_err(|error| fault::sql(&error, "reading the queue", &self.path).into())
    }

    /// The job of that number.
    ///
    /// # Errors
    /// There is none.
    pub fn job(&self, id: i64) -> Result<Job> {
        let query = format!("SELECT {COLUMNS} FROM job WHERE id = ?");
        let found = self.database.query_row(&query, [id], job).optional();
        let found = found.map_err(|error| fault::sql(&error, "reading the queue", &self.path))?;
        found.ok_or_else(|| no_job(id).into())
    }

    /// Puts a job that waits at a place among those that wait, from 1.
    ///
    /// # Errors
    /// There is no such job, or it does not wait any more.
    pub fn move_to(&mut self, id: i64, place: usize) -> Result<()> {
        self.waiting(id, "moved")?;
        self.change("moving a job", |transaction| {
            let mut ids: Vec<i64> = {
                let mut query = transaction
                    .prepare("SELECT id FROM job WHERE state = 'waiting' AND id <> ? ORDER BY place")?;
                query.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?
            };
            ids.insert(place.saturating_sub(1).min(ids.len()), id);
            for (place, id) in (1_i64..).zip(ids) {
                let update = "UPDATE job SET place = ? WHERE id = ? AND state = 'waiting'";
                transaction.execute(update, params![place, id])?;
            }
            Ok(())
        })
    }

    /// Takes a job that does not run out of the queue.
    ///
    /// # Errors
    /// There is no such job, or it runs.
    pub fn remove(&mut self, id: i64) -> Result<()> {
        let removed = self.change("removing a job", |transaction| {
            transaction.execute("DELETE FROM job WHERE id = ? AND state <> 'running'", [id])
        })?;
        if removed == 1 {
            return Ok(());
        }
        let job = self.job(id)?;
        let what = format!("job {id} is under way");
        let process = job.process.map(|process| format!("end it first: kill -INT {}", process.id));
        Err(Problem::recipe(what).remedy(process.unwrap_or_else(|| "end it first".to_string())).into())
    }

    /// Whether no further job is begun.
    pub fn is_paused(&self) -> Result<bool> {
        let count = self.database.query_row("SELECT count(*) FROM paused", [], |row| row.get::<_, i64>(0));
        let count = count.map_err(|error| fault::sql(&error, "reading the queue", &self.path))?;
        Ok(count > 0)
    }

    /// Has no further job begun, or lets it be again; what runs goes on.
    pub fn set_paused(&mut self, paused: bool, now: &str) -> Result<()> {
        self.change("pausing the queue", |transaction| {
            transaction.execute("DELETE FROM paused", [])?;
            if paused {
                transaction.execute("INSERT INTO paused VALUES (?)", [now])?;
            }
            Ok(())
        })
    }

    /// The first job that waits, unless the queue is paused or a job runs.
    pub fn next(&self) -> Result<Option<Job>> {
        let query = format!(
            "SELECT {COLUMNS} FROM job WHERE state = 'waiting' AND NOT EXISTS (SELECT 1 FROM paused) \
             AND NOT EXISTS (SELECT 1 FROM job WHERE state = 'running') ORDER BY place LIMIT 1"
        );
        let found = self.database.query_row(&query, [], job).optional();
        found.map_err(|error| fault::sql(&error, "reading the queue", &self.path).into())
    }

    /// Says that a job that waits is begun; false where it does not wait any more, or another one runs.
    pub fn begin(&mut self, id: i64, now: &str) -> Result<bool> {
        let changed = self.change("beginning a job", |transaction| {
            let update = "UPDATE job SET state = 'running', place = NULL, began = ?2 \
                          WHERE id = ?1 AND state = 'waiting' \
                          AND NOT EXISTS (SELECT 1 FROM job WHERE state = 'running')";
            transaction.execute(update, params![id, now])
        })?;
        Ok(changed == 1)
    }

    /// Says which process does a job that has begun.
    pub fn set_process(&mut self, id: i64, process: ProcessIdentity) -> Result<()> {
        self.change("keeping a job's process", |transaction| {
            let update =
                "UPDATE job SET process = ?2, process_start = ?3 WHERE id = ?1 AND state = 'running'";
            transaction.execute(update, params![id, process.id, process.start as i64])
        })?;
        Ok(())
    }

    /// Says that a job that ran has ended; without an exit code nobody saw how.
    pub fn end(&mut self, id: i64, exit_code: Option<u8>, now: &str) -> Result<()> {
        let state = if exit_code.is_some() { JobState::Ended } else { JobState::Interrupted };
        self.change("ending a job", |transaction| {
            let update =
                "UPDATE job SET state = ?2, ended = ?3, exit_code = ?4 WHERE id = ?1 AND state = 'running'";
            transaction.execute(update, params![id, state.word(), now, exit_code])
        })?;
        Ok(())
    }

    /// A job that waits.
    fn waiting(&self, id: i64, done: &str) -> Result<Job> {
        let job = self.job(id)?;
        if job.state == JobState::Waiting {
            return Ok(job);
        }
        Err(Problem::recipe(format!("job {id} does not wait any more and can't be {done}"))
            .remedy("`plimsoll queue list`")
            .into())
    }

    /// What `change` gives, done whole or not at all.
    fn change<T>(
        &mut self,
        doing: &str,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let path = self.path.clone();
        let changed = || -> rusqlite::Result<T> {
            let transaction = self.database.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let given = change(&transaction)?;
            transaction.commit()?;
            Ok(given)
        };
        changed().map_err(|error| fault::sql(&error, doing, &path).into())
    }
}

fn no_job(id: i64) -> Problem {
    Problem::recipe(format!("there is no job {id}")).remedy("`plimsoll queue list`")
}

/// A row of the table.
fn job(row: &Row<'_>) -> rusqlite::Result<Job> {
    let state: String = row.get(1)?;
    let command: String = row.get(2)?;
    let process: (Option<u32>, Option<i64>) = (row.get(7)?, row.get(8)?);
    let broken = |what: &str| rusqlite::Error::InvalidColumnName(what.to_string());
    Ok(Job {
        id: row.get(0)?,
        state: JobState::ALL
            .iter()
            .find(|(word, _)| *word == state)
            .map(|(_, state)| *state)
            .ok_or_else(|| broken("state"))?,
        command: serde_json::from_str(&command).map_err(|_| broken("command"))?,
        directory: PathBuf::from(row.get::<_, String>(3)?),
        added: row.get(4)?,
        began: row.get(5)?,
        ended: row.get(6)?,
        process: process.0.zip(process.1).map(|(id, start)| ProcessIdentity { id, start: start as u64 }),
        exit_code: row.get(9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-27T12:00:00Z";

    fn queue() -> (tempfile::TempDir, Queue) {
        let home = tempfile::tempdir().expect("a directory");
        let queue = Queue::open(home.path()).expect("a queue");
        (home, queue)
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_string).collect()
    }

    fn with_three() -> (tempfile::TempDir, Queue, [i64; 3]) {
        let (home, mut queue) = queue();
        let mut add = |text: &str| queue.add(&words(text), Path::new("/"), NOW).expect("it is added");
        let ids = [add("run dvdstore"), add("find tpcw"), add("sweep sun-2008-table3")];
        (home, queue, ids)
    }

    fn waiting(queue: &Queue) -> Vec<i64> {
        let jobs = queue.jobs().expect("it can be read");
        jobs.iter().filter(|job| job.state == JobState::Waiting).map(|job| job.id).collect()
    }

    #[test]
    fn jobs_wait_in_their_order_which_can_be_changed_and_outlives_the_process() {
        let (home, mut queue, [one, two, three]) = with_three();
        assert_eq!(waiting(&queue), [one, two, three]);
        queue.move_to(three, 1).expect("it waits");
        assert_eq!(waiting(&queue), [three, one, two]);
        queue.move_to(three, 99).expect("it waits");
        queue.remove(one).expect("it waits");
        let again = Queue::open(home.path()).expect("a queue");
        assert_eq!(waiting(&again), [two, three]);
        assert_eq!(again.job(two).expect("it is there").command, words("find tpcw"));
        assert!(again.job(one).is_err() && queue.move_to(one, 1).is_err(), "it is gone");
    }

    #[test]
    fn one_job_runs_at_a_time_and_none_is_begun_while_the_queue_is_paused() {
        let (_home, mut queue, [one, two, _]) = with_three();
        queue.set_paused(true, NOW).expect("it can be");
        assert_eq!(queue.next().expect("it can be read"), None);
        queue.set_paused(false, NOW).expect("it can be");
        assert_eq!(queue.next().expect("it can be read").map(|job| job.id), Some(one));
        assert_eq!(queue.begin(one, NOW), Ok(true));
        assert_eq!(queue.begin(two, NOW), Ok(false), "one runs");
        assert_eq!(queue.next().expect("it can be read"), None);
        let process = ProcessIdentity { id: 4711, start: u64::MAX / 2 };
        queue.set_process(one, process).expect("it runs");
        assert_eq!(queue.job(one).expect("it is there").process, Some(process));
        assert!(queue.remove(one).is_err() && queue.move_to(one, 2).is_err(), "it runs");
        queue.end(one, Some(99), NOW).expect("it ran");
        let job = queue.job(one).expect("it is there");
        assert_eq!((job.state, job.exit_code, job.ended.as_deref()), (JobState::Ended, Some(99), Some(NOW)));
        queue.remove(one).expect("it has ended");
        assert_eq!(queue.begin(two, NOW), Ok(true));
        queue.end(two, None, NOW).expect("it ran");
        assert_eq!(queue.job(two).expect("it is there").state, JobState::Interrupted);
    }

    #[test]
    fn a_queue_that_is_damaged_or_newer_is_refused_and_left_as_it_is() {
        let (home, queue, _) = with_three();
        drop(queue);
        let path = home.path().join(FILE);
        Connection::open(&path)
            .expect("it is there")
            .execute("UPDATE format SET version = 99", [])
            .expect("a row");
        assert!(Queue::open(home.path()).is_err_and(|problems| problems.to_string().contains("99")));
        std::fs::write(
            &path,
            "this is no database, and longer than the head of one would be, by some bytes, I think",
        )
        .expect("a file");
        assert!(Queue::open(home.path()).is_err());
        assert!(path.exists(), "it may be mended");
    }
}
