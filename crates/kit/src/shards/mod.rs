//! A data set that is shared out over several database servers, and the tables of the servers that show it as one (MariaDB's Spider
//! storage engine).
//!
//! A row is on the server that its key says: sixteen numbers in a row are on one, the next sixteen on the next. What a kit's `[shards]`
//! doesn't name is on the first one.

mod front;

use std::collections::BTreeMap;

use model::{Problem, Result};
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::sql::{Server, server};

/// How many numbers in a row are on the same server: those who give numbers in turn would else each fill a server of its own.
pub const IN_A_ROW: u64 = 16;

/// The column of each table that says where a row is, by the table's name.
pub type Keys = BTreeMap<String, String>;

/// One of the servers that have the rows between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 0.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

/// The statements that make the tables of `whole`, a server with all rows, on a server that has none of its own and finds them on
/// `of` others. Those are its foreign servers `shard1` to `shardN`, which it must know when a table is used.
///
/// # Errors
/// A key that is none of a table of the database, or that a primary key lacks; an index that Spider doesn't have (full-text,
/// spatial); a server that doesn't answer.
pub fn front_tables(whole: &Server, keys: &Keys, of: usize) -> Result<Vec<String>> {
    let mut conn = whole.connect()?;
    let names = tables(&mut conn)?;
    check_names(keys, &names)?;
    let mut statements = Vec::new();
    for name in &names {
        let made: Option<(String, String)> = conn
            .query_first(format!("SHOW CREATE TABLE `{name}`"))
            .map_err(|error| server::problem(&error, &format!("table {name}: reading its columns")))?;
        let (_, text) =
            made.ok_or_else(|| Problem::environment(format!("table {name} is there, and not described")))?;
        let key = keys.get(name).map(String::as_str);
        let statement = front::table(&text, name, key, of);
        statements.push(statement.map_err(|what| refused(name, &what))?);
    }
    Ok(statements)
}

/// Makes those tables on `front`, in a database that is not there yet. It knows `of` foreign servers from then on, none of which is
/// anywhere until it is told where.
///
/// # Errors
/// A statement that the server refuses; one that doesn't answer.
pub fn create_front(front: &Server, statements: &[String], of: usize) -> Result<()> {
    let mut conn = front.connect_outside()?;
    let run = |conn: &mut Conn, text: &str, doing: &str| -> Result<()> {
        conn.query_drop(text).map_err(|error| server::problem(&error, doing).into())
    };
    let name = &front.database;
    run(&mut conn, &format!("CREATE DATABASE `{name}`"), &format!("create database {name}"))?;
    run(&mut conn, &format!("USE `{name}`"), &format!("use database {name}"))?;
    for number in 1..=of {
        let text = format!(
            "CREATE OR REPLACE SERVER shard{number} FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.{number}', PORT 1)"
        );
        run(&mut conn, &text, &format!("create server shard{number}"))?;
    }
    for statement in statements {
        let title = statement.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
        run(&mut conn, statement, &title.to_lowercase())?;
    }
    Ok(())
}

/// Leaves of all rows, which `whole` has, those of `shard`. Foreign keys go: a row and the one that it refers to may be on different
/// servers. `on_table` is told each table and what share of them is done before its turn comes; an error of its own ends it.
///
/// # Errors
/// A key that is none of a table of the database; a statement that fails; a server that doesn't answer.
pub fn keep_rows_of(
    whole: &Server,
    keys: &Keys,
    shard: Shard,
    on_table: &mut dyn FnMut(&str, f64) -> Result<()>,
) -> Result<()> {
    let mut conn = whole.connect()?;
    let names = tables(&mut conn)?;
    check_names(keys, &names)?;
    conn.query_drop("SET SESSION foreign_key_checks = 0, unique_checks = 0")
        .map_err(|error| server::problem(&error, "share the rows out"))?;
    for (done, name) in names.iter().enumerate() {
        on_table(name, done as f64 / names.len() as f64)?;
        keep_rows(&mut conn, name, keys.get(name).map(String::as_str), shard)
            .map_err(|error| server::problem(&error, &format!("table {name}: sharing its rows out")))?;
    }
    let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    conn.query_drop(format!("ANALYZE TABLE {}", all.join(", ")))
        .map_err(|error| server::problem(&error, "look at what the tables have").into())
}

/// By a new table, in which there are no holes; it has the indexes of the old one, and no foreign key.
fn keep_rows(conn: &mut Conn, name: &str, key: Option<&str>, shard: Shard) -> Result<(), mysql::Error> {
    let new = format!("{name}_of_shard");
    let Shard { number, of } = shard;
    let kept = match key {
        Some(key) => format!("MOD(`{key}` DIV {IN_A_ROW}, {of}) = {number}"),
        None if number == 0 => "TRUE".to_string(),
        None => "FALSE".to_string(),
    };
    // The next number is that of the whole table: one that another server has given must not come again.
    let next: Option<Option<u64>> = conn.exec_first(
        "SELECT auto_increment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
        (name,),
    )?;
    conn.query_drop(format!("CREATE TABLE `{new}` LIKE `{name}`"))?;
    conn.query_drop(format!("INSERT INTO `{new}` SELECT * FROM `{name}` WHERE {kept}"))?;
    conn.query_drop(format!("DROP TABLE `{name}`"))?;
    conn.query_drop(format!("RENAME TABLE `{new}` TO `{name}`"))?;
    match next.flatten() {
        Some(next) => conn.query_drop(format!("ALTER TABLE `{name}` AUTO_INCREMENT = {next}")),
        None => Ok(()),
    }
}

/// The tables of the database, in alphabetical order.
fn tables(conn: &mut Conn) -> Result<Vec<String>> {
    let names = "SELECT table_name FROM information_schema.tables \
                 WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name";
    conn.query(names).map_err(|error| server::problem(&error, "look for the tables").into())
}

fn check_names(keys: &Keys, tables: &[String]) -> Result<()> {
    let unknown = keys.keys().filter(|name| !tables.contains(name));
    let problems = unknown.map(|name| refused(name, "there is no such table")).collect();
    model::Problems::check(problems)
}

fn refused(table: &str, what: &str) -> Problem {
    Problem::recipe(format!("table {table} can't be shared out: {what}")).key(format!("shards.{table}"))
}
