//! After a run: what the users were told against what the database holds, as the kit's `check.lua` states it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use engine::Totals;
use engine::script::constants;
use mlua::{Error, Lua, Table, Value};
use model::interval::OperationKind;
use model::record::ConsistencyResult;
use model::{Problem, Problems, Result};
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::folder::{Kit, Setup};
use crate::script;
use crate::sql::{Server, server};

/// What the users were told over the whole run, ramp-up and ramp-down included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckInputs {
    /// Operations (and sessions) completed without error, by name.
    pub completed: BTreeMap<String, u64>,
    /// Operations whose outcome is unknown, by name: failed after a request, timed out, cut off at the end.
    pub unanswered: BTreeMap<String, u64>,
    /// The session's own counters.
    pub counters: BTreeMap<String, u64>,
    /// What the session noted with `told`: each thing's state, or nothing for what is gone.
    pub told: BTreeMap<String, Option<String>>,
}

impl CheckInputs {
    /// What the engine counted over a whole run.
    pub fn of(totals: &Totals) -> CheckInputs {
        let by_name = |counts: &[u64]| {
            let of_kind = |kind: OperationKind| {
                let rows = totals.names.iter().zip(counts).filter(move |(name, _)| name.kind == kind);
                rows.map(|(name, count)| (name.name.clone(), *count))
            };
            // A session that is one operation shares its name: then the operation is meant.
            let mut map: BTreeMap<String, u64> = of_kind(OperationKind::Session).collect();
            map.extend(of_kind(OperationKind::Operation));
            map
        };
        CheckInputs {
            completed: by_name(&totals.completed),
            unanswered: by_name(&totals.unanswered),
            counters: totals.counters.clone(),
            told: totals.told.clone(),
        }
    }
}

/// Runs the kit's check; empty when it has none.
///
/// # Errors
/// A script's or statement's mistake with file and line, or a database that doesn't answer. A statement that does not
/// hold is no error but a result that says so.
pub fn check(
    kit: &Kit,
    setup: &Setup,
    inputs: &CheckInputs,
    server: &Server,
) -> Result<Vec<ConsistencyResult>> {
    let Some(file) = kit.manifest.check.as_deref() else { return Ok(Vec::new()) };
    let mut conn = server.connect()?;
    // The check looks and touches nothing: the server sees to that.
    conn.query_drop("start transaction with consistent snapshot, read only")
        .map_err(|error| server::problem(&error, "begin the consistency check"))?;
    let shared =
        Rc::new(Shared { conn: RefCell::new(conn), results: RefCell::default(), lost: RefCell::default() });
    let outcome = script::new_state(kit, setup).and_then(|lua| {
        install(&lua, &shared, inputs)?;
        lua.load(kit.text(file).map_err(Error::external)?).set_name(format!("@{}", kit.place(file))).exec()
    });
    if let Some(problem) = shared.lost.take() {
        return Err(problem.into());
    }
    outcome.map_err(|error| Problems::from(script::problem(kit, file, &error)))?;
    Ok(shared.results.take())
}

/// Transactions that are open on the server, whoever's they are. InnoDB tells it anew only where nobody has asked for a
/// tenth of a second.
///
/// # Errors
/// A database that doesn't answer.
pub fn open_transactions(server: &Server) -> Result<u64> {
    let count: Result<Option<u64>, mysql::Error> =
        server.connect()?.query_first("SELECT COUNT(*) FROM information_schema.INNODB_TRX");
    let count = count.map_err(|error| server::problem(&error, "look for open transactions"))?;
    Ok(count.unwrap_or(0))
}

struct Shared {
    conn: RefCell<Conn>,
    results: RefCell<Vec<ConsistencyResult>>,
    /// The database went away: that is not the script's mistake.
    lost: RefCell<Option<Problem>>,
}

fn install(lua: &Lua, shared: &Rc<Shared>, inputs: &CheckInputs) -> mlua::Result<()> {
    let globals = lua.globals();
    for (name, counts) in
        [("completed", &inputs.completed), ("unanswered", &inputs.unanswered), ("counters", &inputs.counters)]
    {
        globals.raw_set(name, counts_table(lua, counts)?)?;
    }
    let told = inputs.told.iter().map(|(key, state)| (key.as_str(), state.as_deref()));
    globals.raw_set("told", told_table(lua, told)?)?;
    let asked = Rc::clone(shared);
    globals.raw_set("query", lua.create_function(move |_, sql: String| query(&asked, &sql))?)?;
    let told = Rc::clone(shared);
    let expect = move |_: &Lua, (name, found, low, high): (String, f64, f64, Option<f64>)| {
        told.results.borrow_mut().push(judge(name, found, low, high.unwrap_or(low)));
        Ok(())
    };
    globals.raw_set("expect", lua.create_function(expect)?)
}

/// What is gone is `false`.
fn told_table<'a>(lua: &Lua, told: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for (key, state) in told {
        match state {
            Some(state) => table.raw_set(key, state)?,
            None => table.raw_set(key, false)?,
        }
    }
    Ok(table)
}

/// What never happened counts 0.
fn counts_table(lua: &Lua, counts: &BTreeMap<String, u64>) -> mlua::Result<Table> {
    let table = lua.create_table_from(counts.iter().map(|(name, count)| (name.as_str(), *count)))?;
    let meta = lua.create_table()?;
    meta.raw_set("__index", lua.create_function(|_, _: (Table, Value)| Ok(0))?)?;
    table.set_metatable(Some(meta))?;
    Ok(table)
}

/// The first column of the first row as a number; nil for NULL.
fn query(shared: &Shared, sql: &str) -> mlua::Result<Value> {
    let row: Result<Option<mysql::Row>, mysql::Error> = shared.conn.borrow_mut().query_first(sql);
    let row = match row {
        Ok(row) => row.ok_or_else(|| Error::runtime(format!("the query gives no row: {sql}")))?,
        Err(mysql::Error::MySqlError(error)) => {
            return Err(Error::runtime(format!("{}: {sql}", error.message)));
        }
        Err(other) => {
            *shared.lost.borrow_mut() = Some(server::problem(&other, "check the data"));
            return Err(Error::runtime("the database went away"));
        }
    };
    match row.as_ref(0) {
        Some(mysql::Value::NULL) | None => Ok(Value::Nil),
        Some(mysql::Value::Int(number)) => Ok(Value::Integer(*number)),
        Some(mysql::Value::UInt(number)) => Ok(constants::number(*number as f64)),
        Some(mysql::Value::Float(number)) => Ok(constants::number(f64::from(*number))),
        Some(mysql::Value::Double(number)) => Ok(constants::number(*number)),
        Some(mysql::Value::Bytes(text)) => {
            let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
            number
                .map(constants::number)
                .ok_or_else(|| Error::runtime(format!("the query gives no number: {sql}")))
        }
        Some(_) => Err(Error::runtime(format!("the query gives a date, not a number: {sql}"))),
    }
}

fn judge(name: String, found: f64, low: f64, high: f64) -> ConsistencyResult {
    let ok = found >= low && found <= high;
    let expected = if low == high { format!("{low}") } else { format!("{low} to {high}") };
    ConsistencyResult { sentence: format!("{name}: found {found}, expected {expected}"), name, ok }
}
