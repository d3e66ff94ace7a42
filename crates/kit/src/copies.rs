//! Whether the nodes of a cluster have the same rows, once nobody writes any more.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use model::Result;
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::sql::{Server, server};

/// `ER_UNKNOWN_COM_ERROR`: what a node says that is in no cluster.
const NOT_JOINED: u16 = 1047;
/// How long a node may take to join again, and how often it is asked.
const JOIN_TIMEOUT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(200);

/// What the nodes of a cluster have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copies {
    /// The tables that were compared.
    pub tables: usize,
    /// Those that are not everywhere the same: the table, and the nodes that differ from the first one, by their place among the
    /// nodes.
    pub different: BTreeMap<String, Vec<usize>>,
}

/// Compares the checksums of all tables (`CHECKSUM TABLE` reads every row) on `nodes`, one at least. Each is asked when it has applied
/// what was committed anywhere before.
///
/// # Errors
/// A node that doesn't answer.
pub fn compare_copies(nodes: &[Server]) -> Result<Copies> {
    let sums = nodes.iter().map(checksums).collect::<Result<Vec<Checksums>>>()?;
    let tables: std::collections::BTreeSet<&String> = sums.iter().flat_map(BTreeMap::keys).collect();
    let differs = |table: &str| {
        let of = |node: usize| sums[node].get(table);
        (1..sums.len()).filter(|node| of(*node) != of(0)).collect::<Vec<usize>>()
    };
    let different = tables.iter().map(|table| ((*table).clone(), differs(table)));
    let different = different.filter(|(_, nodes)| !nodes.is_empty()).collect();
    Ok(Copies { tables: tables.len(), different })
}

/// By table; nothing for one that the server could not read.
type Checksums = BTreeMap<String, Option<u64>>;

fn checksums(node: &Server) -> Result<Checksums> {
    let mut conn = node.connect()?;
    let failed = |error: mysql::Error| server::problem(&error, "compare the copies of the data");
    // 1: a read waits for what others have committed (MariaDB's documentation of wsrep_sync_wait).
    conn.query_drop("SET SESSION wsrep_sync_wait = 1").map_err(failed)?;
    wait_until_joined(&mut conn).map_err(failed)?;
    let names = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'";
    let names: Vec<String> = conn.query(names).map_err(failed)?;
    names.into_iter().map(|name| Ok((name.clone(), checksum(&mut conn, &name).map_err(failed)?))).collect()
}

/// Waits for a node that was cut off to be one of the cluster again, as long as it may take.
fn wait_until_joined(conn: &mut Conn) -> Result<(), mysql::Error> {
    let started = Instant::now();
    loop {
        match conn.query_drop("SELECT 1") {
            Err(mysql::Error::MySqlError(error))
                if error.code == NOT_JOINED && started.elapsed() < JOIN_TIMEOUT =>
            {
                std::thread::sleep(PAUSE);
            }
            done => return done,
        }
    }
}

fn checksum(conn: &mut Conn, table: &str) -> Result<Option<u64>, mysql::Error> {
    let quoted = table.replace('`', "``");
    let row: Option<(String, Option<u64>)> = conn.query_first(format!("CHECKSUM TABLE `{quoted}`"))?;
    Ok(row.and_then(|(_, sum)| sum))
}
