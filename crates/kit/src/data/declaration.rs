//! What `data.lua` returns: its tables, and the parts in which their rows are made.

use mlua::{Function, Table};
use model::{Problem, Problems, Result};

use crate::folder::Kit;
use crate::script;

/// The tables and parts, without the functions: the same in every thread.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Declaration {
    pub(crate) tables: Vec<TableColumns>,
    pub(crate) parts: Vec<Part>,
}

/// A table and its columns in the order in which `emit` takes their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableColumns {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
}

/// A range of things (customers, orders), cut into chunks; each makes rows of one or more tables.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Things, numbered from 1.
    pub(crate) count: u64,
    /// Things in a chunk.
    pub(crate) chunk: u64,
    /// Rows that a thing makes on average, by index of table.
    pub(crate) rows: Vec<(usize, f64)>,
}

impl Declaration {
    /// Rows that all parts make, as expected before they are made.
    pub(crate) fn rows_expected(&self) -> u64 {
        let rows = |part: &Part| part.rows.iter().map(|(_, mean)| mean * part.count as f64).sum::<f64>();
        self.parts.iter().map(rows).sum::<f64>().round() as u64
    }
}

/// Reads what `data.lua` returned; the functions stand in the order of the parts.
pub(crate) fn read(kit: &Kit, file: &str, returned: &Table) -> Result<(Declaration, Vec<Function>)> {
    let mut problems = Vec::new();
    let mut wrong = |what: String| problems.push(Problem::recipe(what).file(kit.path_of(file)));
    let mut declaration = Declaration { tables: Vec::new(), parts: Vec::new() };
    let mut makers = Vec::new();
    match returned.get::<Table>("tables") {
        Ok(tables) => declaration.tables = read_tables(&tables, &mut wrong),
        Err(_) => {
            wrong("the returned table lacks `tables`: a table of column lists by table name".to_string())
        }
    }
    match returned.get::<Vec<Table>>("parts") {
        Ok(parts) => {
            for (index, part) in parts.iter().enumerate() {
                match read_part(part, &declaration.tables) {
                    Ok((part, maker)) => {
                        declaration.parts.push(part);
                        makers.push(maker);
                    }
                    Err(what) => wrong(format!("parts[{}]: {what}", index + 1)),
                }
            }
        }
        Err(_) => wrong("the returned table lacks `parts`: a list".to_string()),
    }
    Problems::check(problems)?;
    Ok((declaration, makers))
}

fn read_tables(tables: &Table, wrong: &mut impl FnMut(String)) -> Vec<TableColumns> {
    let mut list = Vec::new();
    for pair in tables.pairs::<String, Vec<String>>() {
        match pair {
            Ok((name, columns))
                if !columns.is_empty() && [&name].into_iter().chain(&columns).all(|n| is_name(n)) =>
            {
                list.push(TableColumns { name, columns });
            }
            Ok((name, _)) => {
                wrong(format!("tables.{name}: a table's and its columns' names are letters, digits and _"))
            }
            Err(error) => wrong(format!("tables: each is a list of column names by table name: {error}")),
        }
    }
    list.sort_by(|a, b| a.name.cmp(&b.name));
    list
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn read_part(part: &Table, tables: &[TableColumns]) -> Result<(Part, Function), String> {
    let name: String = part.get("name").map_err(|_| "`name` is missing".to_string())?;
    let whole = |key: &str| match part.get::<f64>(key) {
        Ok(number) if (1.0..=1e12).contains(&number) => Ok(number as u64),
        _ => Err(format!("`{key}` must be a number of 1 or more")),
    };
    let (count, chunk) = (whole("count")?, whole("chunk")?);
    let mut rows = Vec::new();
    let means: Table =
        part.get("rows").map_err(|_| "`rows` is missing: mean rows a thing by table".to_string())?;
    for pair in means.pairs::<String, f64>() {
        let (table, mean) = pair.map_err(|_| "`rows` holds numbers by table name".to_string())?;
        match tables.iter().position(|known| known.name == table) {
            Some(index) => rows.push((index, mean)),
            None => return Err(format!("`rows` names `{table}`, which is not in `tables`")),
        }
    }
    rows.sort_by_key(|(table, _)| *table);
    let maker = part.get("make").map_err(|_| "`make` is missing: a function of (first, last)".to_string())?;
    Ok((Part { name, count, chunk, rows }, maker))
}

/// Runs `data.lua` in a prepared state.
pub(crate) fn run(kit: &Kit, file: &str, lua: &mlua::Lua) -> Result<Table> {
    lua.load(kit.text(file)?)
        .set_name(format!("@{}", kit.path_of(file)))
        .eval()
        .map_err(|error| script::problem(kit, file, &error).into())
}
