//! The connections of an application to its database, cut while the database goes on: what a firewall, an administrator or
//! an idle limit does to them.

use std::fs;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

use crate::outage::server;

/// The account that owns everything; on the socket it has no password.
const ACCOUNT: &str = "plimsoll";

/// A lab's database, as an administrator comes to it.
pub(crate) struct Administrator(Conn);

impl Administrator {
    #[track_caller]
    pub(crate) fn of(lab: &str) -> Administrator {
        let socket = socket(server(lab, "mariadbd"));
        let options = OptsBuilder::new().socket(Some(socket)).prefer_socket(true).user(Some(ACCOUNT));
        Administrator(Conn::new(options).expect("whoever may enter the lab reaches its database"))
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
    let text = fs::read_to_string(file).expect("the file is there");
    let socket = text.lines().find_map(|line| line.strip_prefix("socket = \"")?.strip_suffix('"'));
    socket.unwrap_or_else(|| panic!("no socket in {text}")).to_string()
}
