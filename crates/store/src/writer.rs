//! One run while it is measured.

mod reopening;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::record::calls::CallStep;
use model::record::interval::encoded::Encoder;
use model::record::interval::fields::{DISTRIBUTIONS, FIGURES};
use model::record::interval::{OperationInterval, OperationName};
use model::record::statements::{StatementFacts, StatementSeen};
use model::record::threads::ThreadsSeen;
use model::record::{Event, Evidence, Series};
use model::{ErrorKind, Interval, Plan, Problem, Result, RunRecord};
use rusqlite::{Connection, Transaction, params, params_from_iter, types::Value as Cell};

use crate::call_steps::CallSteps;
use crate::statements::{self, Statements};
use crate::{disk, fault, format, id, lists, run, stored, threads};

/// Those who read a run at its end are waited for no longer.
const READERS_TIMEOUT: Duration = Duration::from_secs(5);

/// Keeps a run. Each second is on the disk when [`RunWriter::second`] returns, as far as the death of this process is
/// concerned: no sync is done before [`RunWriter::finish`], because it would disturb the database under test. A
/// writer that is dropped leaves an unfinished run, which can be read.
pub struct RunWriter {
    directory: PathBuf,
    database: Connection,
    names: usize,
    /// The seconds below this one were kept by a writer before this one.
    kept: u32,
    series: BTreeMap<(String, Option<String>), i64>,
    /// The time of the last point of each series that a writer before this one kept.
    sampled: BTreeMap<i64, f64>,
    call_steps: CallSteps,
    statements: Statements,
    encoder: Encoder,
    insert_second: String,
    /// Held, never read: as long as it lives, others see that the run is under way.
    _lock: File,
}

impl RunWriter {
    /// Makes the directory of `record` below `runs`, with an unfinished record and an empty database.
    pub(crate) fn create(runs: &Path, record: &RunRecord) -> Result<RunWriter> {
        id::check(&record.id)?;
        let directory = runs.join(&record.id);
        fs::create_dir(&directory)
            .map_err(|error| fault::io(&error, "making the run's directory", &directory))?;
        let lock_path = directory.join(run::LOCK);
        let lock = File::create(&lock_path).map_err(|error| fault::io(&error, "making", &lock_path))?;
        lock.try_lock()
            .map_err(|error| fault::io(&std::io::Error::other(error.to_string()), "locking", &lock_path))?;
        for inner in ["conf", "logs"] {
            let path = directory.join(inner);
            fs::create_dir(&path).map_err(|error| fault::io(&error, "making", &path))?;
        }
        stored::write(&directory, record, false)?;
        let path = directory.join(run::DATABASE);
        let database = open(&path).map_err(|error| fault::sql(&error, "making the run's database", &path))?;
        Ok(RunWriter {
            directory,
            database,
            names: 0,
            kept: 0,
            series: BTreeMap::new(),
            sampled: BTreeMap::new(),
            call_steps: CallSteps::default(),
            statements: Statements::default(),
            encoder: Encoder::default(),
            insert_second: insert_second(),
            _lock: lock,
        })
    }

    /// Where the run is kept.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The run's id.
    pub fn id(&self) -> String {
        self.directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The next second, where a writer before this one kept those below it; 0 for a run that begins.
    pub fn next_second(&self) -> u32 {
        self.kept
    }

    /// Where the servers' logs are kept.
    pub fn logs(&self) -> PathBuf {
        self.directory.join("logs")
    }

    /// Keeps `bytes` as the file `inner` of the run's directory: `conf/web/httpd.conf`, `recipe.toml`.
    pub fn keep(&self, inner: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = disk::below(&self.directory, inner)?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| fault::io(&error, "making", parent))?;
        }
        fs::write(&path, bytes).map_err(|error| fault::io(&error, "writing", &path))?;
        Ok(path)
    }

    /// The same for what only the user who measures may read: servers' logs.
    pub fn keep_private(&self, inner: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = disk::below(&self.directory, inner)?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| fault::io(&error, "making", parent))?;
        }
        let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
        opened
            .and_then(|mut file| file.write_all(bytes))
            .map_err(|error| fault::io(&error, "writing", &path))?;
        Ok(path)
    }

    /// Takes the file at `from` into the directory as `inner`, for its owner alone.
    ///
    /// # Errors
    /// It can't be read, or there is no room.
    pub fn take(&self, inner: &str, from: &Path) -> Result<()> {
        let path = disk::below(&self.directory, inner)?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| fault::io(&error, "making", parent))?;
        }
        fs::copy(from, &path)
            .and_then(|_| fs::set_permissions(&path, Permissions::from_mode(0o600)))
            .map_err(|error| fault::io(&error, "writing", &path).into())
    }

    /// Keeps what was to be done as `plan.json`.
    pub fn plan(&self, plan: &Plan) -> Result<()> {
        let envelope = serde_json::json!({ "format": format::PLAN_FORMAT, "plan": plan });
        let text = serde_json::to_string_pretty(&envelope).map_err(not_json)?;
        self.keep(run::PLAN, text.as_bytes()).map(|_| ())
    }

    /// Replaces the record by one that knows more, while the run is still under way.
    pub fn update(&self, record: &RunRecord) -> Result<()> {
        stored::write(&self.directory, record, false)
    }

    /// Appends one second. `names` is the engine's list, which only grows.
    pub fn second(&mut self, interval: &Interval, names: &[OperationName]) -> Result<()> {
        let outcome = self.append_second(interval, names);
        outcome.map_err(|failure| self.problem(failure, "keeping a second of the run"))
    }

    fn append_second(&mut self, interval: &Interval, names: &[OperationName]) -> Result<(), Failure> {
        let encoder = &mut self.encoder;
        let transaction = self.database.transaction()?;
        for (id, name) in names.iter().enumerate().skip(self.names) {
            let mut insert = transaction.prepare_cached("INSERT INTO operation VALUES (?, ?, ?)")?;
            insert.execute(params![id as i64, run::kind_word(name.kind), name.name])?;
        }
        let last_sessions = lists::encode_sessions(&interval.last_sessions);
        let choices = lists::encode_choices(&interval.choices);
        let pauses = lists::encode_pauses(&interval.pauses);
        let mut cells: Vec<Cell> = vec![interval.second.into()];
        cells.extend([last_sessions, choices, pauses].map(Cell::from));
        for (_, get, _) in &DISTRIBUTIONS {
            cells.push(Cell::from(encoder.encode(get(interval))?));
        }
        cells.extend(FIGURES.iter().map(|(_, get, _)| Cell::from(get(interval))));
        transaction.prepare_cached(&self.insert_second)?.execute(params_from_iter(cells))?;
        for (operation, part) in interval.operations.iter().enumerate() {
            if part.completed > 0 || part.failed() > 0 || part.bytes > 0 {
                append_operation(&transaction, encoder, interval.second, operation as i64, part)?;
            }
        }
        for (name, count) in &interval.counters {
            let mut insert = transaction.prepare_cached("INSERT INTO counter VALUES (?, ?, ?)")?;
            insert.execute(params![interval.second, name, whole(*count)])?;
        }
        transaction.commit()?;
        self.names = self.names.max(names.len());
        Ok(())
    }

    /// Appends points to series, making those that are new. Series are told apart by name and tier.
    pub fn samples(&mut self, series: &[Series]) -> Result<()> {
        let outcome = self.append_samples(series);
        outcome.map_err(|failure| self.problem(failure, "keeping samples"))
    }

    fn append_samples(&mut self, series: &[Series]) -> Result<(), Failure> {
        let mut known = std::mem::take(&mut self.series);
        let transaction = self.database.transaction()?;
        for one in series {
            let next = known.len() as i64;
            let id = *known.entry((one.name.clone(), one.tier.clone())).or_insert(next);
            if id == next {
                let mut insert = transaction.prepare_cached("INSERT INTO series VALUES (?, ?, ?, ?)")?;
                insert.execute(params![id, one.name, one.tier, one.unit])?;
            }
            // Whoever watched for the writer before this one may tell all of it again.
            let kept_s = self.sampled.get(&id).copied().unwrap_or(f64::NEG_INFINITY);
            let new = |(second, value): &&(f64, f64)| value.is_finite() && *second > kept_s;
            for (second, value) in one.points.iter().filter(new) {
                let mut insert = transaction.prepare_cached("INSERT INTO sample VALUES (?, ?, ?)")?;
                insert.execute(params![id, second, value])?;
            }
        }
        transaction.commit()?;
        self.series = known;
        Ok(())
    }

    /// Appends what the kernel counted of the tiers' calls.
    pub fn calls(&mut self, steps: &[CallStep]) -> Result<()> {
        let mut append = || -> Result<(), Failure> {
            let transaction = self.database.transaction()?;
            for step in steps {
                self.call_steps.append(&transaction, step)?;
            }
            Ok(transaction.commit()?)
        };
        append().map_err(|failure| self.problem(failure, "keeping the tiers' calls"))
    }

    /// Appends the statements that clients of databases were seen in by `at_s` seconds of the run, and what is known of some.
    pub fn statements(&mut self, at_s: f64, seen: &[StatementSeen], facts: &[StatementFacts]) -> Result<()> {
        let mut append = || -> Result<(), Failure> {
            let transaction = self.database.transaction()?;
            self.statements.append(&transaction, at_s, seen)?;
            statements::append_facts(&transaction, facts)?;
            Ok(transaction.commit()?)
        };
        append().map_err(|failure| self.problem(failure, "keeping statements"))
    }

    /// Appends what threads with a request were at by `at_s` seconds of the run.
    pub fn threads(&mut self, at_s: f64, seen: &[ThreadsSeen]) -> Result<()> {
        let mut append = || -> Result<(), Failure> {
            let transaction = self.database.transaction()?;
            threads::append(&transaction, at_s, seen)?;
            Ok(transaction.commit()?)
        };
        append().map_err(|failure| self.problem(failure, "keeping what threads were at"))
    }

    /// Appends evidence.
    pub fn evidence(&mut self, evidence: &[Evidence]) -> Result<()> {
        let mut append = || -> Result<(), Failure> {
            let transaction = self.database.transaction()?;
            for one in evidence {
                transaction.prepare_cached("INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?)")?.execute(
                    params![one.second, one.operation, one.kind, one.message, one.request, one.answer],
                )?;
            }
            Ok(transaction.commit()?)
        };
        append().map_err(|failure| self.problem(failure, "keeping evidence"))
    }

    /// Appends an event, unless the same one is kept for that time.
    pub fn event(&mut self, event: &Event) -> Result<()> {
        let cells = params![event.second, event.kind, event.text];
        let insert = "INSERT INTO event SELECT ?1, ?2, ?3 \
                      WHERE NOT EXISTS (SELECT 1 FROM event WHERE second = ?1 AND kind = ?2 AND text = ?3)";
        let outcome = self.database.execute(insert, cells);
        outcome.map(|_| ()).map_err(|error| self.problem(error.into(), "keeping an event"))
    }

    /// Ends the run: the final record, and one sync of everything. Gives the run's directory.
    pub fn finish(self, record: &RunRecord) -> Result<PathBuf> {
        // First of all: nothing below may take the result away.
        stored::write(&self.directory, record, true)?;
        close(self.database)
            .map_err(|error| fault::sql(&error, "closing", &self.directory.join(run::DATABASE)))?;
        _ = fs::remove_file(self.directory.join(run::LOCK));
        disk::sync_tree(&self.directory)
            .map_err(|error| fault::io(&error, "syncing the run", &self.directory))?;
        Ok(self.directory)
    }

    fn problem(&self, failure: Failure, doing: &str) -> model::Problems {
        match failure {
            Failure::Sql(error) => fault::sql(&error, doing, &self.directory.join(run::DATABASE)).into(),
            Failure::Text(what) => Problem::bug(format!("{doing} failed: {what}")).into(),
        }
    }
}

/// Why a row could not be written.
enum Failure {
    Sql(rusqlite::Error),
    Text(String),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        Failure::Sql(error)
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        Failure::Text(text)
    }
}

fn insert_second() -> String {
    let blobs = DISTRIBUTIONS.iter().map(|(name, ..)| *name);
    let columns: Vec<&str> = blobs.chain(FIGURES.iter().map(|(name, ..)| *name)).collect();
    let places = vec!["?"; columns.len() + 4].join(", ");
    let columns = columns.join(", ");
    format!("INSERT INTO second (second, last_sessions, choices, pauses, {columns}) VALUES ({places})")
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let database = set_up(Connection::open(path)?)?;
    format::create(&database)?;
    Ok(database)
}

fn set_up(database: Connection) -> rusqlite::Result<Connection> {
    database.set_prepared_statement_cache_capacity(16);
    // WAL: a commit is one write to the page cache. Without syncs, because those would queue before the database
    // under test; the death of this process loses nothing, that of the machine may lose the run.
    database.execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL;")?;
    Ok(database)
}

/// Out of WAL, so that the finished run is one file that can also be read where nothing may be written. Somebody who
/// follows the run reads it now and then, which this waits for; one who never lets go leaves it in WAL.
fn close(database: Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + READERS_TIMEOUT;
    loop {
        match database.execute_batch("PRAGMA synchronous = FULL; PRAGMA journal_mode = DELETE;") {
            Ok(()) => return Ok(()),
            Err(error) if !busy(&error) => return Err(error),
            Err(_) if Instant::now() > deadline => return Ok(()),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked))
}

fn append_operation(
    transaction: &Transaction<'_>,
    encoder: &mut Encoder,
    second: u32,
    operation: i64,
    part: &OperationInterval,
) -> Result<(), Failure> {
    let (response, service) = (encoder.encode(&part.response)?, encoder.encode(&part.service)?);
    transaction
        .prepare_cached("INSERT INTO operation_second VALUES (?, ?, ?, ?, ?, ?)")?
        .execute(params![second, operation, whole(part.completed), whole(part.bytes), response, service])?;
    for (kind, count) in ErrorKind::ALL.iter().zip(part.errors).filter(|(_, count)| *count > 0) {
        let mut insert = transaction.prepare_cached("INSERT INTO failure VALUES (?, ?, ?, ?)")?;
        insert.execute(params![second, operation, kind.word(), whole(count)])?;
    }
    Ok(())
}

/// SQLite's integers are signed.
fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn not_json(error: serde_json::Error) -> Problem {
    Problem::bug(format!("a record can't be written as JSON: {error}"))
}
