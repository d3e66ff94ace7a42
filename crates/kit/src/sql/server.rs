//! A private database server, and its errors in our words.

use std::path::PathBuf;
use std::time::Duration;

use model::{Kind, Problem, Result};
use mysql::{Conn, OptsBuilder};

/// How to reach a private database server.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its unix socket.
    pub socket: PathBuf,
    /// The account that owns everything; it has no password, because only the socket's directory gives access.
    pub user: String,
    /// The database.
    pub database: String,
}

impl Server {
    /// A connection with the database selected.
    pub(crate) fn connect(&self) -> Result<Conn> {
        self.open(Some(self.database.clone()))
    }

    /// A connection that needs no database.
    pub(crate) fn connect_outside(&self) -> Result<Conn> {
        self.open(None)
    }

    fn open(&self, database: Option<String>) -> Result<Conn> {
        let Some(socket) = self.socket.to_str() else {
            let what = format!("the socket's path {} is not UTF-8", self.socket.display());
            return Err(Problem::environment(what).into());
        };
        let options = OptsBuilder::new()
            .socket(Some(socket))
            .prefer_socket(true)
            .user(Some(&self.user))
            .db_name(database)
            .tcp_connect_timeout(Some(Duration::from_secs(10)));
        Conn::new(options).map_err(|error| problem(&error, "can't connect to the database").into())
    }
}

/// The server has no room: table full, disk full while sorting, writing or creating.
const FULL: [u16; 5] = [1021, 1114, 1026, 1041, 3];

/// A server's or a connection's error; `doing` says at what.
pub(crate) fn problem(error: &mysql::Error, doing: &str) -> Problem {
    match error {
        mysql::Error::MySqlError(error) => {
            let what = format!("{doing}: {} (error {})", error.message, error.code);
            let full = FULL.contains(&error.code) || error.message.contains("No space left");
            if full {
                Problem::environment(what).remedy("free space on the disk that holds the data directory")
            } else {
                Problem::new(kind_of(error.code), what)
            }
        }
        other => Problem::environment(format!("{doing}: the database server went away: {other}"))
            .remedy("the last lines of its error log say why it ended"),
    }
}

/// Syntax, unknown names and broken constraints are the kit's; everything else is the server's or the machine's.
fn kind_of(code: u16) -> Kind {
    match code {
        1044 | 1045 | 1205 | 1213 | 1317 => Kind::Environment,
        1005..=1008 | 1046..=1151 | 1215 | 1216..=1217 | 1261..=1366 | 1406 | 1451..=1452 => Kind::Recipe,
        _ => Kind::Environment,
    }
}
