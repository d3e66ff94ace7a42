//! `size.NAME` and `param.NAME`: the constants that all of a kit's scripts see.

use std::collections::BTreeMap;

use mlua::{Lua, Table, Value};
use model::catalogue::setting;

/// Defines the tables `size` and `param` as globals of `lua`; a name that they don't have is an error.
pub fn install(lua: &Lua, size: &BTreeMap<String, f64>, params: &setting::Values) -> mlua::Result<()> {
    lua.globals().raw_set("size", strict_table(lua, "size", numbers(lua, size)?)?)?;
    lua.globals().raw_set("param", strict_table(lua, "param", values(lua, params)?)?)
}

/// A number as Lua sees it: whole ones are integers, so that they print without `.0` and index lists.
pub fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        Value::Integer(value as i64)
    } else {
        Value::Number(value)
    }
}

fn numbers(lua: &Lua, numbers: &BTreeMap<String, f64>) -> mlua::Result<Table> {
    lua.create_table_from(numbers.iter().map(|(name, value)| (name.as_str(), number(*value))))
}

fn values(lua: &Lua, values: &setting::Values) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for (name, value) in values {
        match value {
            setting::Value::Bool(value) => table.raw_set(name.as_str(), *value)?,
            setting::Value::Int(value) => table.raw_set(name.as_str(), *value)?,
            setting::Value::Float(value) => table.raw_set(name.as_str(), *value)?,
            setting::Value::Text(value) => table.raw_set(name.as_str(), value.as_str())?,
        }
    }
    Ok(table)
}

/// A mistyped name is an error where it is written, not a nil somewhere later.
fn strict_table(lua: &Lua, title: &'static str, table: Table) -> mlua::Result<Table> {
    let meta = lua.create_table()?;
    let absent = move |_: &Lua, (_, name): (Table, mlua::LuaString)| -> mlua::Result<()> {
        Err(mlua::Error::runtime(format!("there is no {title}.{}", name.to_string_lossy())))
    };
    meta.raw_set("__index", lua.create_function(absent)?)?;
    table.set_metatable(Some(meta))?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_read_by_name_and_a_mistyped_name_is_an_error() {
        let lua = Lua::new();
        let size = BTreeMap::from([("customers".to_string(), 20_000.0), ("share".to_string(), 0.5)]);
        let params = setting::Values::from([("mode".to_string(), setting::Value::Text("fast".to_string()))]);
        install(&lua, &size, &params).expect("they are installed");
        let script = "return size.customers == 20000 and tostring(size.customers) == '20000' and size.share == 0.5 \
                      and param.mode == 'fast'";
        assert_eq!(lua.load(script).eval::<bool>().ok(), Some(true));
        let error = lua.load("return param.mod").exec().expect_err("there is no such parameter");
        assert!(error.to_string().contains("there is no param.mod"), "{error}");
    }
}
