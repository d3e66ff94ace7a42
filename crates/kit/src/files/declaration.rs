//! What `files.lua` returns: parts, each a range of things whose files `make(first, last)` names.

use mlua::{Function, Lua, Table};
use model::{Problem, Problems, Result};

use crate::folder::Kit;
use crate::script;

/// A range of things, cut into chunks; each chunk has a random stream of its own.
pub(super) struct Part {
    pub(super) count: u64,
    pub(super) chunk: u64,
    pub(super) make: Function,
}

/// Runs the script in a prepared state and reads its parts.
pub(super) fn parts(kit: &Kit, script: &str, lua: &Lua) -> Result<Vec<Part>> {
    let returned: Table = lua
        .load(kit.text(script)?)
        .set_name(format!("@{}", kit.path_of(script)))
        .eval()
        .map_err(|error| script::problem(kit, script, &error))?;
    let wrong = |what: String| Problem::recipe(what).file(kit.path_of(script));
    let tables = returned
        .get::<Vec<Table>>("parts")
        .map_err(|_| wrong("the returned table lacks `parts`: a list".to_string()))?;
    let (mut parts, mut problems) = (Vec::new(), Vec::new());
    for (index, table) in tables.iter().enumerate() {
        match read(table) {
            Ok(part) => parts.push(part),
            Err(what) => problems.push(wrong(format!("parts[{}]: {what}", index + 1))),
        }
    }
    Problems::check(problems)?;
    Ok(parts)
}

fn read(table: &Table) -> Result<Part, String> {
    let whole = |key: &str| match table.get::<f64>(key) {
        Ok(number) if (1.0..=1e9).contains(&number) => Ok(number as u64),
        _ => Err(format!("`{key}` must be a number of 1 or more")),
    };
    table.get::<String>("name").map_err(|_| "`name` is missing".to_string())?;
    let make = table.get("make").map_err(|_| "`make` is missing: a function of (first, last)".to_string())?;
    Ok(Part { count: whole("count")?, chunk: whole("chunk")?, make })
}
