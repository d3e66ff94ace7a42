//! One run as it was kept.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use model::record::calls::CallStep;
use model::record::interval::fields::{DISTRIBUTIONS, FIGURES};
use model::record::interval::{
    OperationInterval, OperationKind, OperationName, Sums, Times, encoded, new_times,
};
use model::record::statements::{StatementFacts, StatementSeen};
use model::record::threads::ThreadsSeen;
use model::record::{Event, Evidence, Series};
use model::{ErrorKind, Interval, Plan, Problem, Result, RunRecord};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

use crate::stored::{self, Stored};
use crate::touch::touch;
use crate::{call_steps, fault, format, lists, statements, threads};

pub(crate) const DATABASE: &str = "run.sqlite";
pub(crate) const PLAN: &str = "plan.json";
pub(crate) const LOCK: &str = "under-way.lock";

/// A run as it was kept.
pub type Run = Stored<RunRecord>;

impl Run {
    /// Replaces the record by one that knows more; it is on the disk when this returns.
    pub fn update(&self, record: &RunRecord) -> Result<()> {
        stored::write(&self.directory, record, true)?;
        touch(&self.directory);
        // The new name, too.
        File::open(&self.directory)
            .and_then(|directory| directory.sync_all())
            .map_err(|error| fault::io(&error, "syncing the run", &self.directory).into())
    }

    /// What was to be done.
    ///
    /// # Errors
    /// The file is missing, damaged, or of a newer format.
    pub fn plan(&self) -> Result<Plan> {
        #[derive(serde::Deserialize)]
        struct Envelope {
            format: u32,
            plan: serde_json::Value,
        }
        let path = self.directory.join(PLAN);
        let damaged = |what: String| {
            Problem::environment(format!("the run's plan is damaged: {what}"))
                .file(path.display().to_string())
        };
        let bytes = self.file(PLAN)?.ok_or_else(|| damaged("it is missing".to_string()))?;
        let read: Envelope = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if read.format > format::PLAN_FORMAT {
            return Err(fault::newer(&path, read.format.into(), format::PLAN_FORMAT.into()).into());
        }
        Ok(serde_json::from_value(read.plan).map_err(|error| damaged(error.to_string()))?)
    }

    /// The seconds of the run, to be read one at a time.
    pub fn seconds(&self) -> Result<Seconds> {
        self.seconds_after(None)
    }

    /// The seconds that came after `last`, of a run that is still being measured.
    pub fn seconds_after(&self, last: Option<u32>) -> Result<Seconds> {
        let path = self.directory.join(DATABASE);
        let database = self.database()?;
        let doing = |error: &rusqlite::Error| fault::sql(error, "reading the run's seconds", &path);
        let names = read_names(&database).map_err(|error| doing(&error))?;
        let from = last.map_or(0, |last| u64::from(last) + 1);
        let query = format!("SELECT second FROM second WHERE second >= {from} ORDER BY second");
        let seconds = rows(&database, &query, |row| row.get(0)).map_err(|e| doing(&e))?;
        Ok(Seconds { path, database, names, seconds, next: 0, empty: new_times(), detail: Detail::All })
    }

    /// The seconds from `from` up to `to`, each as [`Interval::for_figures`] has it: the rest is not even read.
    pub fn figures(&self, from: u32, to: u32) -> Result<Seconds> {
        let mut seconds = self.seconds()?;
        seconds.seconds.retain(|second| (from..to).contains(second));
        Ok(Seconds { detail: Detail::Figures, ..seconds })
    }

    /// The series of tiers and host, each with its points in the order of time. Those of a run of many hours take much
    /// memory: see [`Run::each_series`].
    pub fn series(&self) -> Result<Vec<Series>> {
        let mut all = Vec::new();
        self.each_series(|one| all.push(one))?;
        Ok(all)
    }

    /// The same one after the other, so that the points of only one are in memory.
    pub fn each_series(&self, mut take: impl FnMut(Series)) -> Result<()> {
        self.read("reading the run's series", |database| {
            let series = rows(database, "SELECT id, name, tier, unit FROM series ORDER BY id", |row| {
                let (name, tier, unit) = (row.get(1)?, row.get(2)?, row.get(3)?);
                Ok((row.get::<_, i64>(0)?, Series { name, tier, unit, points: Vec::new() }))
            })?;
            let mut query =
                database.prepare("SELECT second, value FROM sample WHERE series = ? ORDER BY second")?;
            for (id, one) in series {
                let points = query.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
                take(Series { points: points.collect::<rusqlite::Result<_>>()?, ..one });
            }
            Ok(())
        })
    }

    /// What the kernel counted of the tiers' calls, step by step in the order of time; nothing where it didn't count.
    pub fn each_call_step(&self, take: impl FnMut(CallStep)) -> Result<()> {
        self.read("reading the run's calls", |database| call_steps::each(database, take))
    }

    /// The statements that clients of databases were seen in, with their second in the order of time.
    pub fn statements_seen(&self) -> Result<Vec<(f64, StatementSeen)>> {
        self.read("reading the run's statements", statements::looks)
    }

    /// What is known of some of them.
    pub fn statement_facts(&self) -> Result<Vec<StatementFacts>> {
        self.read("reading what is known of the run's statements", statements::facts)
    }

    /// What threads with a request were at, with their second in the order of time.
    pub fn threads_seen(&self) -> Result<Vec<(f64, ThreadsSeen)>> {
        self.read("reading what the run's threads were at", threads::looks)
    }

    /// The series, each with its last point only.
    pub fn latest(&self) -> Result<Vec<Series>> {
        let query = "SELECT s.name, s.tier, s.unit, p.second, p.value FROM series s JOIN sample p ON p.rowid = \
                     (SELECT rowid FROM sample WHERE series = s.id ORDER BY second DESC LIMIT 1) ORDER BY s.id";
        self.read("reading the run's last samples", |database| {
            rows(database, query, |row| {
                let points = vec![(row.get(3)?, row.get(4)?)];
                Ok(Series { name: row.get(0)?, tier: row.get(1)?, unit: row.get(2)?, points })
            })
        })
    }

    /// What happened, in the order of time.
    pub fn events(&self) -> Result<Vec<Event>> {
        self.read("reading the run's events", |database| {
            rows(database, "SELECT second, kind, text FROM event ORDER BY second, rowid", |row| {
                Ok(Event { second: row.get(0)?, kind: row.get(1)?, text: row.get(2)? })
            })
        })
    }

    /// Offending answers and script errors, as they came; also of an unfinished run, whose record has none yet.
    pub fn evidence(&self) -> Result<Vec<Evidence>> {
        let query = "SELECT second, operation, kind, message, request, answer FROM evidence ORDER BY rowid";
        self.read("reading the run's evidence", |database| {
            rows(database, query, |row| {
                Ok(Evidence {
                    second: row.get(0)?,
                    operation: row.get(1)?,
                    kind: row.get(2)?,
                    message: row.get(3)?,
                    request: row.get(4)?,
                    answer: row.get(5)?,
                })
            })
        })
    }

    fn read<T>(&self, doing: &str, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let database = self.database()?;
        query(&database).map_err(|error| fault::sql(&error, doing, &self.directory.join(DATABASE)).into())
    }

    fn database(&self) -> Result<Connection> {
        let path = self.directory.join(DATABASE);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(&path, flags)
            .and_then(|database| database.busy_timeout(std::time::Duration::from_secs(2)).map(|()| database))
            .map_err(|error| fault::sql(&error, "opening the run's database", &path))?;
        format::check(&database, &path)?;
        Ok(database)
    }
}

/// The seconds of a run in order. They are read one at a time because each holds two histograms for every name: an
/// hour of a rich session would not fit into memory.
pub struct Seconds {
    path: PathBuf,
    database: Connection,
    names: Vec<OperationName>,
    seconds: Vec<u32>,
    next: usize,
    empty: Times,
    detail: Detail,
}

/// How much of each second is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    All,
    /// Only what figures of sessions and operations need.
    Figures,
    /// No histogram.
    Counts,
}

impl Seconds {
    /// What the rows of [`Interval::operations`] are about.
    pub fn names(&self) -> &[OperationName] {
        &self.names
    }

    /// Number of those that are still to come and lie from `from` up to `to`.
    pub fn count_within(&self, from: u32, to: u32) -> usize {
        self.seconds[self.next..].iter().filter(|second| (from..to).contains(*second)).count()
    }

    /// All seconds that are still to come, in order, into each of `sums`: what [`Interval::merge`] makes of them, and quicker.
    ///
    /// # Errors
    /// What can't be read; the seconds before it are in the sums.
    pub fn add_to(mut self, sums: &mut [&mut dyn Sums]) -> Result<()> {
        self.detail = Detail::Counts;
        while let Some(&second) = self.seconds.get(self.next) {
            self.next += 1;
            let added = self.load(second).and_then(|bare| {
                let mut wanted = sums.iter_mut().filter_map(|sum| sum.take(&bare));
                wanted.try_for_each(|sum| self.add_times(second, sum))
            });
            added.map_err(|what| self.unreadable(second, &what))?;
        }
        Ok(())
    }

    /// Adds the histograms of a second to those of `sum`.
    fn add_times(&self, second: u32, sum: &mut Interval) -> Result<(), String> {
        let text = |error: rusqlite::Error| error.to_string();
        let add = |times: &mut Times, bytes: Option<&[u8]>| {
            bytes.map_or(Ok(()), |bytes| encoded::add(bytes, times))
        };
        let mut query =
            self.database.prepare_cached("SELECT * FROM second WHERE second = ?").map_err(text)?;
        let columns: Vec<String> = query.column_names().map(str::to_string).collect();
        let mut found = query.query([second]).map_err(text)?;
        if let Some(row) = found.next().map_err(text)? {
            let has = |name: &str| columns.iter().any(|column| column == name);
            for (name, _, put) in DISTRIBUTIONS.iter().filter(|(name, ..)| has(name)) {
                add(put(sum), bytes_of(row.get_ref(*name).map_err(text)?)?)?;
            }
        }
        let query = "SELECT operation, response, service FROM operation_second WHERE second = ?";
        let mut query = self.database.prepare_cached(query).map_err(text)?;
        let mut found = query.query([second]).map_err(text)?;
        while let Some(row) = found.next().map_err(text)? {
            let Some((_, part)) = part(&mut sum.operations, row).map_err(text)? else { continue };
            for (column, times) in [(1, &mut part.response), (2, &mut part.service)] {
                add(times, bytes_of(row.get_ref(column).map_err(text)?)?)?;
            }
        }
        Ok(())
    }

    fn unreadable(&self, second: u32, what: &str) -> Problem {
        Problem::environment(format!("reading second {second} of the run failed: {what}"))
            .file(self.path.display().to_string())
            .remedy("`sqlite3 FILE .recover` saves what can be read; run.json beside it still has the result")
    }

    fn load(&self, second: u32) -> Result<Interval, String> {
        let mut interval = match self.detail {
            Detail::All => Interval::empty(second),
            Detail::Figures | Detail::Counts => Interval::bare(second),
        };
        let text = |error: rusqlite::Error| error.to_string();
        let mut query =
            self.database.prepare_cached("SELECT * FROM second WHERE second = ?").map_err(text)?;
        let columns: Vec<String> = query.column_names().map(str::to_string).collect();
        let mut found = query.query([second]).map_err(text)?;
        if let Some(row) = found.next().map_err(text)? {
            // A file of an older version lacks the columns that came later.
            let has = |name: &str| columns.iter().any(|column| column == name);
            if has("last_sessions") {
                let sessions = blob(row, "last_sessions").map_err(text)?;
                interval.last_sessions = lists::decode_sessions(sessions.as_deref().unwrap_or_default());
            }
            if has("choices") {
                let choices = blob(row, "choices").map_err(text)?;
                interval.choices = lists::decode_choices(choices.as_deref().unwrap_or_default());
            }
            if has("pauses") {
                let pauses = blob(row, "pauses").map_err(text)?;
                interval.pauses = lists::decode_pauses(pauses.as_deref().unwrap_or_default());
            }
            let wanted = |name: &str| self.detail == Detail::All && has(name);
            for (name, _, put) in DISTRIBUTIONS.iter().filter(|(name, ..)| wanted(name)) {
                self.put_times(put(&mut interval), row, name)?;
            }
            for (name, _, put) in FIGURES.iter().filter(|(name, ..)| has(name)) {
                put(&mut interval, row.get(*name).map_err(text)?);
            }
        }
        self.load_operations(&mut interval)?;
        let query = "SELECT name, count FROM counter WHERE second = ?";
        let mut counters = self.database.prepare_cached(query).map_err(text)?;
        let counts = counters.query_map([second], |row| Ok((row.get(0)?, count(row, 1)?))).map_err(text)?;
        interval.counters = counts.collect::<rusqlite::Result<_>>().map_err(text)?;
        Ok(interval)
    }

    /// Replaces `times` by what `column` holds; NULL means that it stays empty.
    fn put_times(&self, times: &mut Times, row: &Row<'_>, column: &str) -> Result<(), String> {
        if let Some(bytes) = blob(row, column).map_err(|error| error.to_string())? {
            *times = encoded::decode(&bytes, &self.empty)?;
        }
        Ok(())
    }

    fn load_operations(&self, interval: &mut Interval) -> Result<(), String> {
        let text = |error: rusqlite::Error| error.to_string();
        let query =
            "SELECT operation, completed, bytes, response, service FROM operation_second WHERE second = ?";
        let mut query = self.database.prepare_cached(query).map_err(text)?;
        let mut found = query.query([interval.second]).map_err(text)?;
        let none = match self.detail {
            Detail::All => OperationInterval::empty,
            Detail::Figures | Detail::Counts => OperationInterval::bare,
        };
        interval.operations = self.names.iter().map(|_| none()).collect();
        while let Some(row) = found.next().map_err(text)? {
            let Some((index, part)) = part(&mut interval.operations, row).map_err(text)? else { continue };
            part.completed = count(row, 1).map_err(text)?;
            part.bytes = count(row, 2).map_err(text)?;
            let is_request = self.names[index].kind == OperationKind::Request;
            if self.detail == Detail::All || (self.detail == Detail::Figures && !is_request) {
                self.put_times(&mut part.response, row, "response")?;
            }
            if self.detail == Detail::All {
                self.put_times(&mut part.service, row, "service")?;
            }
        }
        let query = "SELECT operation, kind, count FROM failure WHERE second = ?";
        let mut query = self.database.prepare_cached(query).map_err(text)?;
        let mut found = query.query([interval.second]).map_err(text)?;
        while let Some(row) = found.next().map_err(text)? {
            let kind: String = row.get(1).map_err(text)?;
            let Some(slot) = ErrorKind::ALL.iter().position(|known| known.word() == kind) else {
                return Err(format!("`{kind}` is not a kind of error that this Plimsoll knows"));
            };
            let Some((_, part)) = part(&mut interval.operations, row).map_err(text)? else { continue };
            part.errors[slot] = count(row, 2).map_err(text)?;
        }
        Ok(())
    }
}

impl Iterator for Seconds {
    type Item = Result<Interval>;

    fn next(&mut self) -> Option<Result<Interval>> {
        let second = *self.seconds.get(self.next)?;
        self.next += 1;
        Some(self.load(second).map_err(|what| self.unreadable(second, &what).into()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.seconds.len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Seconds {}

/// The word of a kind in `run.sqlite`.
pub(crate) fn kind_word(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Session => "session",
        OperationKind::Operation => "operation",
        OperationKind::Request => "request",
    }
}

/// Whether a living process holds the run's lock.
pub(crate) fn under_way(directory: &Path) -> bool {
    File::open(directory.join(LOCK))
        .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn read_names(database: &Connection) -> rusqlite::Result<Vec<OperationName>> {
    rows(database, "SELECT kind, name FROM operation ORDER BY id", |row| {
        let kind = match row.get::<_, String>(0)?.as_str() {
            "session" => OperationKind::Session,
            "operation" => OperationKind::Operation,
            _ => OperationKind::Request,
        };
        Ok(OperationName { kind, name: row.get(1)? })
    })
}

fn rows<T>(
    database: &Connection,
    query: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    database.prepare(query)?.query_map([], read)?.collect()
}

fn blob(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    row.get(column)
}

/// The bytes of a histogram, in the database's own memory; nothing of an empty one.
fn bytes_of(value: ValueRef<'_>) -> Result<Option<&[u8]>, String> {
    value.as_blob_or_null().map_err(|error| error.to_string())
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

/// The part of the interval that `row`, whose first column is the operation, is about, and its index.
fn part<'a>(
    operations: &'a mut [OperationInterval],
    row: &Row<'_>,
) -> rusqlite::Result<Option<(usize, &'a mut OperationInterval)>> {
    let operation: i64 = row.get(0)?;
    let index = usize::try_from(operation).ok();
    Ok(index.and_then(|index| Some((index, operations.get_mut(index)?))))
}
