//! Rows from generator threads into the database: one connection a table, each fed through a bounded channel, so that
//! memory stays small whatever the size, and the slower side sets the pace.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

use model::{Problem, Result};
use mysql::prelude::Queryable;
use mysql::{Conn, LocalInfileHandler};

use super::crew::Crew;
use super::declaration::{Declaration, TableColumns};
use super::generator::{Generator, Rows};
use super::line::Line;
use super::progress::Meter;
use crate::folder::{Kit, Setup};
use crate::sql::{Server, server};

/// Chunks that wait for a table's connection.
const WAITING_CHUNKS: usize = 4;

/// What was sent.
#[derive(Default)]
pub(crate) struct Sent {
    /// Rows by table.
    pub(crate) rows: BTreeMap<String, u64>,
    /// Bytes of all tables.
    pub(crate) bytes: u64,
}

#[derive(Default)]
struct Tally {
    rows: AtomicU64,
    bytes: AtomicU64,
}

/// Makes all rows of `file` on `threads` threads and loads them.
pub(crate) fn run(
    (kit, file, setup): (&Kit, &str, &Setup),
    declaration: &Declaration,
    server: &Server,
    threads: usize,
    meter: &mut Meter<'_>,
) -> Result<Sent> {
    let crew = Crew::new(server);
    let line = Line::new(declaration);
    let tallies: Vec<Arc<Tally>> = declaration.tables.iter().map(|_| Arc::default()).collect();
    let sum =
        |of: fn(&Tally) -> &AtomicU64| tallies.iter().map(|t| of(t).load(Ordering::Relaxed)).sum::<u64>();
    thread::scope(|scope| {
        let (ended, ends) = channel();
        let mut senders = Vec::new();
        let crew = &crew;
        let line = &line;
        for (table, tally) in declaration.tables.iter().zip(&tallies) {
            let (sender, receiver) = sync_channel(WAITING_CHUNKS);
            senders.push(sender);
            let (tally, ended) = (tally.clone(), ended.clone());
            scope.spawn(move || {
                crew.run(|| load_table(crew, table, receiver, tally));
                _ = ended.send(());
            });
        }
        for _ in 0..threads {
            let (senders, ended) = (senders.clone(), ended.clone());
            scope.spawn(move || {
                crew.run(|| {
                    let generator = Generator::new(kit, file, setup)?;
                    line.work(&generator, &crew.stop_flag(), |rows| deliver(rows, &senders))
                });
                _ = ended.send(());
            });
        }
        drop((ended, senders));
        crew.watch(&ends, || meter.rows(sum(|t| &t.rows), sum(|t| &t.bytes)), || line.wake())
    })?;
    let rows = declaration.tables.iter().zip(&tallies);
    let rows = rows.map(|(table, tally)| (table.name.clone(), tally.rows.load(Ordering::Relaxed))).collect();
    Ok(Sent { rows, bytes: sum(|t| &t.bytes) })
}

/// Hands a chunk's rows to the tables' connections; waits where one has enough to do. A connection that has ended
/// says why itself.
fn deliver(rows: Vec<Rows>, senders: &[SyncSender<Rows>]) -> Result<()> {
    for (rows, sender) in rows.into_iter().zip(senders).filter(|(rows, _)| rows.count > 0) {
        _ = sender.send(rows);
    }
    Ok(())
}

fn load_table(
    crew: &Crew<'_>,
    table: &TableColumns,
    receiver: Receiver<Rows>,
    tally: Arc<Tally>,
) -> Result<()> {
    let mut conn = crew.connect()?;
    conn.set_local_infile_handler(Some(feed(receiver, tally.clone(), crew.stop_flag())));
    let columns = table.columns.iter().map(|column| format!("`{column}`")).collect::<Vec<_>>().join(", ");
    let name = &table.name;
    let doing = format!("table {name}: loading rows");
    conn.query_drop(format!(
        "load data local infile '{name}' into table `{name}` character set utf8mb4 ({columns})"
    ))
    .map_err(|error| server::problem(&error, &doing))?;
    let (loaded, warnings) = (conn.affected_rows(), conn.warnings());
    let sent = tally.rows.load(Ordering::Relaxed);
    if warnings > 0 || loaded != sent {
        let what = format!("table {name}: {loaded} of {sent} rows were taken{}", complaints(&mut conn));
        return Err(Problem::recipe(what).why("a LOCAL load turns errors in rows into warnings").into());
    }
    Ok(())
}

/// The first warnings about rows, in the server's words.
fn complaints(conn: &mut Conn) -> String {
    let list: Vec<(String, u16, String)> = conn.query("show warnings limit 3").unwrap_or_default();
    list.iter().map(|(_, code, message)| format!("; {message} (warning {code})")).collect()
}

/// Gives the server what comes through the channel. An error here cuts the connection, so that a load that was
/// stopped half-way isn't taken for a whole one.
fn feed(receiver: Receiver<Rows>, tally: Arc<Tally>, stop: Arc<AtomicBool>) -> LocalInfileHandler {
    LocalInfileHandler::new(move |_, writer| {
        for rows in &receiver {
            writer.write_all(&rows.bytes)?;
            tally.rows.fetch_add(rows.count, Ordering::Relaxed);
            tally.bytes.fetch_add(rows.bytes.len() as u64, Ordering::Relaxed);
        }
        if stop.load(Ordering::SeqCst) { Err(io::Error::other("the load was stopped")) } else { Ok(()) }
    })
}
