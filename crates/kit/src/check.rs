//! After a run: what the users were told against what the servers hold, as the kit's `check.lua` states it. It asks the
//! database in SQL and the web server over HTTP, and looks into the files that servers write.

mod connection;
mod data_files;
mod web;

use std::cell::{RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use engine::script::budget::Budget;
use engine::script::constants;
use engine::script::one_page::OnePage;
use engine::{Target, Totals};
use mlua::{Error, Lua, Table, Value};
use model::record::ConsistencyResult;
use model::record::interval::OperationKind;
use model::{Problem, Problems, Result};
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::folder::{Kit, Setup};
use crate::script;
use crate::sql::{Server, server};
use connection::Connection;
use data_files::DataFiles;
use web::{Request, Web};

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
    /// The things of which the session noted that nobody knows.
    pub unknown: BTreeSet<String>,
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
            unknown: totals.unknown.clone(),
        }
    }

    /// What users were told later on the same servers: counts add up, and the last word on each thing is the one that
    /// holds, be it that nobody knows.
    pub fn go_on(&mut self, later: CheckInputs) {
        let add = |sum: &mut BTreeMap<String, u64>, more: BTreeMap<String, u64>| {
            more.into_iter().for_each(|(name, count)| *sum.entry(name).or_default() += count);
        };
        add(&mut self.completed, later.completed);
        add(&mut self.unanswered, later.unanswered);
        add(&mut self.counters, later.counters);
        self.told.retain(|thing, _| !later.unknown.contains(thing));
        self.told.extend(later.told);
    }
}

/// What is checked, and whom it can ask.
pub struct CheckOptions<'a> {
    /// The kit.
    pub kit: &'a Kit,
    /// Size, parameters and seed.
    pub setup: &'a Setup,
    /// What the users were told.
    pub inputs: &'a CheckInputs,
    /// For `query`; absent where there is no database to ask.
    pub database: Option<&'a Server>,
    /// For `request`; absent where there is no web server to ask.
    pub web: Option<&'a Target>,
    /// The directory of the file set for `read_file` and `list_files`; absent where there is none to look into.
    pub files: Option<&'a Path>,
    /// Called with each answer of the web server, with how many there were.
    pub on_answer: &'a mut dyn FnMut(u64),
}

/// Runs the kit's check; empty when it has none.
///
/// # Errors
/// A script's or statement's mistake with file and line, or a server that doesn't answer. A statement that does not
/// hold is no error but a result that says so.
pub fn check(options: CheckOptions<'_>) -> Result<Vec<ConsistencyResult>> {
    let CheckOptions { kit, setup, inputs, database, web, files, on_answer } = options;
    let Some(file) = kit.manifest.check.as_deref() else { return Ok(Vec::new()) };
    let text = kit.text(file)?;
    let conn = database.map(looking).transpose()?;
    // As long as a user would wait.
    let timeout = Duration::from_secs_f64(kit.manifest.users.timeout_s.clamp(1.0, 600.0));
    let connection = web.map(|target| Connection::new(target, timeout)).transpose()?;
    let shared =
        Rc::new(Shared { conn: RefCell::new(conn), results: RefCell::default(), lost: RefCell::default() });
    let outcome = script::new_state(kit, setup).and_then(|(lua, budget)| {
        install(&lua, &shared, inputs, &budget)?;
        look_into(&lua, files, &budget)?;
        let page = OnePage::install(&lua)?;
        let host = web.map_or("", |target| target.host.as_str());
        let web = RefCell::new(connection.map(move |connection| Web::new(connection, host, page, on_answer)));
        let (shared, web) = (&*shared, &web);
        lua.scope(|scope| {
            let log_in = move |_: &Lua, (name, password): (String, String)| {
                web_server(web)?.log_in(&name, &password).map_err(Error::runtime)
            };
            let ask = move |_: &Lua, (method, path, options): (String, String, Option<Table>)| {
                let request = Request::read(method, path, options.as_ref()).map_err(Error::runtime)?;
                let answer = web_server(web)?.ask(&request).map_err(|problem| {
                    *shared.lost.borrow_mut() = Some(*problem);
                    Error::runtime("the web server does not answer")
                });
                budget.renew();
                answer
            };
            lua.globals().raw_set("auth", scope.create_function(log_in)?)?;
            lua.globals().raw_set("request", scope.create_function(ask)?)?;
            lua.load(text).set_name(format!("@{}", kit.path_of(file))).exec()
        })
    });
    if let Some(problem) = shared.lost.take() {
        return Err(problem.into());
    }
    outcome.map_err(|error| Problems::from(script::problem(kit, file, &error)))?;
    Ok(shared.results.take())
}

/// A connection that looks and touches nothing: the server sees to that.
fn looking(database: &Server) -> Result<Conn> {
    let mut conn = database.connect()?;
    conn.query_drop("start transaction with consistent snapshot, read only")
        .map_err(|error| server::problem(&error, "begin the consistency check"))?;
    Ok(conn)
}

/// The web server, where there is one.
fn web_server<'w, 'a>(web: &'w RefCell<Option<Web<'a>>>) -> mlua::Result<RefMut<'w, Web<'a>>> {
    RefMut::filter_map(web.borrow_mut(), Option::as_mut)
        .map_err(|_| Error::runtime("there is no web server that this check could ask"))
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
    /// Absent where there is no database.
    conn: RefCell<Option<Conn>>,
    results: RefCell<Vec<ConsistencyResult>>,
    /// A server went away: that is not the script's mistake.
    lost: RefCell<Option<Problem>>,
}

fn install(lua: &Lua, shared: &Rc<Shared>, inputs: &CheckInputs, budget: &Budget) -> mlua::Result<()> {
    let globals = lua.globals();
    for (name, counts) in
        [("completed", &inputs.completed), ("unanswered", &inputs.unanswered), ("counters", &inputs.counters)]
    {
        globals.raw_set(name, counts_table(lua, counts)?)?;
    }
    let told = inputs.told.iter().map(|(key, state)| (key.as_str(), state.as_deref()));
    globals.raw_set("told", told_table(lua, told)?)?;
    let (asked, budget) = (Rc::clone(shared), budget.clone());
    let ask = move |_: &Lua, sql: String| {
        let found = query(&asked, &sql);
        budget.renew();
        found
    };
    globals.raw_set("query", lua.create_function(ask)?)?;
    let told = Rc::clone(shared);
    let expect = move |_: &Lua, (name, found, low, high): (String, f64, f64, Option<f64>)| {
        told.results.borrow_mut().push(judge(name, found, low, high.unwrap_or(low)));
        Ok(())
    };
    globals.raw_set("expect", lua.create_function(expect)?)
}

/// Lets the script look into the files of the set at `root`.
fn look_into(lua: &Lua, root: Option<&Path>, budget: &Budget) -> mlua::Result<()> {
    let files = Rc::new(DataFiles::new(root));
    let (looked, own) = (Rc::clone(&files), budget.clone());
    let read = move |lua: &Lua, path: String| {
        let found = looked.read(lua, &path);
        own.renew();
        found
    };
    lua.globals().raw_set("read_file", lua.create_function(read)?)?;
    let own = budget.clone();
    let list = move |lua: &Lua, folder: String| {
        let found = files.list(lua, &folder);
        own.renew();
        found
    };
    lua.globals().raw_set("list_files", lua.create_function(list)?)
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
    let mut conn = shared.conn.borrow_mut();
    let conn =
        conn.as_mut().ok_or_else(|| Error::runtime("there is no database that this check could ask"))?;
    let row: Result<Option<mysql::Row>, mysql::Error> = conn.query_first(sql);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(count: u64, told: &[(&str, Option<&str>)], unknown: &[&str]) -> CheckInputs {
        let told = told.iter().map(|(thing, state)| ((*thing).to_string(), state.map(str::to_string)));
        CheckInputs {
            completed: BTreeMap::from([("Purchase".to_string(), count)]),
            unanswered: BTreeMap::from([(format!("Op{count}"), 1)]),
            counters: BTreeMap::from([("changes".to_string(), 10 * count)]),
            told: told.collect(),
            unknown: unknown.iter().map(|thing| (*thing).to_string()).collect(),
        }
    }

    #[test]
    fn what_several_runs_on_the_same_servers_told_their_users_adds_up() {
        let mut sum = CheckInputs::default();
        sum.go_on(inputs(3, &[("changed", Some("3")), ("kept", Some("3")), ("asked", Some("3"))], &["late"]));
        sum.go_on(inputs(4, &[("changed", Some("4")), ("late", None)], &["asked", "never"]));
        assert_eq!(sum.completed, BTreeMap::from([("Purchase".to_string(), 7)]));
        assert_eq!((sum.unanswered.len(), sum.counters["changes"]), (2, 70));
        let told: Vec<(&str, Option<&str>)> =
            sum.told.iter().map(|(thing, state)| (thing.as_str(), state.as_deref())).collect();
        assert_eq!(
            told,
            [("changed", Some("4")), ("kept", Some("3")), ("late", None)],
            "the last word counts, and of what was asked for and not answered nobody knows"
        );
    }
}
