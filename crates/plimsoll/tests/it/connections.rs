//! The connections of an application to its database, cut while the database goes on: what a firewall, an administrator or
//! an idle limit does to them.

use std::fs;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Row};

use crate::outage::server;

/// The account that owns everything; on the socket it has no password.
const ACCOUNT: &str = "plimsoll";

/// A lab's database, as an administrator comes to it.
pub(crate) struct Administrator(Conn);

impl Administrator {
    #[track_caller]
    pub(crate) fn of(lab: &str) -> Administrator {
        Administrator::of_server(server(lab, "mariadbd"))
    }

    /// Of the server with this process number.
    #[track_caller]
    pub(crate) fn of_server(pid: u32) -> Administrator {
        let socket = socket(pid);
        let options = OptsBuilder::new().socket(Some(socket)).prefer_socket(true).user(Some(ACCOUNT));
        Administrator(Conn::new(options).expect("whoever may enter the lab reaches its database"))
    }

    /// Uses this database from now on.
    #[track_caller]
    pub(crate) fn enter(&mut self, database: &str) {
        self.0.query_drop(format!("USE `{database}`")).expect("the database is there");
    }

    /// What a statement finds, row by row: values as text, in an order of their own.
    #[track_caller]
    pub(crate) fn rows(&mut self, statement: &str) -> Vec<Vec<String>> {
        let found: Vec<Row> = self.0.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        let values = |row: Row| row.unwrap().iter().map(|value| value.as_sql(false)).collect();
        let mut rows: Vec<Vec<String>> = found.into_iter().map(values).collect();
        rows.sort();
        rows
    }

    /// Ends all connections that use this database; how many there were.
    #[track_caller]
    pub(crate) fn cut(&mut self, database: &str) -> usize {
        let list = "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()";
        let all: Vec<u64> = self.0.query(format!("{list} AND DB = '{database}'")).expect("the connections");
        for id in &all {
            // One that has ended by itself meanwhile is no mistake.
            let _ = self.0.query_drop(format!("KILL CONNECTION {id}"));
        }
        all.len()
    }
}

/// The socket of a server, from the file that it was started with.
#[track_caller]
fn socket(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).expect("our own server runs");
    let words = String::from_utf8_lossy(&words).into_owned();
    let file = words.split('\0').find_map(|word| word.strip_prefix("--defaults-file=")).expect("its file");
    let mut text = fs::read_to_string(file).expect("the file is there");
    if let Some(other) = text.lines().find_map(|line| line.strip_prefix("!include ")) {
        text = fs::read_to_string(other).expect("what it includes is there");
    }
    let socket = text.lines().find_map(|line| line.strip_prefix("socket = \"")?.strip_suffix('"'));
    socket.unwrap_or_else(|| panic!("no socket in {text}")).to_string()
}
