//! A Lua state that can compute and nothing else: no files, no processes, no loading of code but the kit's own.

use std::collections::BTreeMap;
use std::rc::Rc;

use mlua::{Error, Function, Lua, LuaOptions, StdLib, Value};

/// A kit's Lua files by name without `.lua`: what `require` finds.
pub type Modules = BTreeMap<String, String>;

/// A fresh state with string, table, math and utf8, `require` limited to `modules`, and a memory limit. There is no way
/// to catch an error, nor to yield: what ends a script can't be held up, and a session waits for the engine alone.
pub fn new_lua(modules: Modules, memory_limit_bytes: usize) -> mlua::Result<Lua> {
    let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH | StdLib::UTF8;
    let lua = Lua::new_with(libraries, LuaOptions::default())?;
    lua.set_memory_limit(memory_limit_bytes)?;
    let globals = lua.globals();
    for name in ["dofile", "loadfile", "load", "print", "collectgarbage", "pcall", "xpcall"] {
        globals.raw_set(name, Value::Nil)?;
    }
    globals.raw_set("setmetatable", without_finalizers(&lua)?)?;
    let loaded = lua.create_table()?;
    let modules = Rc::new(modules);
    let require = lua.create_function(move |lua, name: String| {
        let known: Value = loaded.raw_get(name.as_str())?;
        if !known.is_nil() {
            return Ok(known);
        }
        let Some(text) = modules.get(&name) else {
            let list: Vec<&str> = modules.keys().map(String::as_str).collect();
            return Err(Error::runtime(format!(
                "there is no file {name}.lua in the kit; it has {}",
                list.join(", ")
            )));
        };
        let value: Value = lua.load(text.as_str()).set_name(format!("@{name}.lua")).eval()?;
        let value = if value.is_nil() { Value::Boolean(true) } else { value };
        loaded.raw_set(name, value.clone())?;
        Ok(value)
    })?;
    globals.raw_set("require", require)?;
    Ok(lua)
}

/// A finalizer would run in the middle of the engine's own calls, at a moment that no one can tell. Lua heeds `__gc` only
/// when it is there as the metatable is set, so that is where it is refused.
fn without_finalizers(lua: &Lua) -> mlua::Result<Function> {
    let set: Function = lua.globals().raw_get("setmetatable")?;
    lua.create_function(move |_, (table, meta): (Value, Value)| {
        if let Value::Table(meta) = &meta
            && !meta.raw_get::<Value>("__gc")?.is_nil()
        {
            return Err(Error::runtime("a session's tables can't have __gc"));
        }
        set.call::<Value>((table, meta))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reaches_no_file_and_no_process() {
        let lua = new_lua(Modules::new(), 1 << 20).expect("a state");
        for script in
            ["io.open('/etc/passwd')", "os.execute('true')", "dofile('x')", "require 'os'", "print(1)"]
        {
            assert!(lua.load(script).exec().is_err(), "{script} must fail");
        }
    }

    #[test]
    fn a_script_catches_no_error_and_has_no_coroutine() {
        let lua = new_lua(Modules::new(), 1 << 20).expect("a state");
        let none = lua.load("return pcall == nil and xpcall == nil and coroutine == nil");
        assert_eq!(none.eval::<bool>().ok(), Some(true));
    }

    #[test]
    fn a_table_has_a_metatable_but_no_finalizer() {
        let lua = new_lua(Modules::new(), 1 << 20).expect("a state");
        let script = "return setmetatable({}, { __index = function() return 7 end }).x == 7";
        assert_eq!(lua.load(script).eval::<bool>().ok(), Some(true));
        let error =
            lua.load("setmetatable({}, { __gc = function() end })").exec().expect_err("it is refused");
        assert!(error.to_string().contains("__gc"), "{error}");
    }

    #[test]
    fn a_kit_requires_its_own_files_once() {
        let modules =
            Modules::from([("words".to_string(), "n = (n or 0) + 1; return { 'a', 'b' }".to_string())]);
        let lua = new_lua(modules, 1 << 20).expect("a state");
        let script = "return #require('words') == 2 and require('words') == require('words') and n == 1";
        assert_eq!(lua.load(script).eval::<bool>().ok(), Some(true));
    }

    #[test]
    fn a_script_that_eats_memory_is_stopped() {
        let lua = new_lua(Modules::new(), 1 << 20).expect("a state");
        let script = "local t = {}; for i = 1, 1e7 do t[i] = i end";
        assert!(matches!(lua.load(script).exec(), Err(Error::MemoryError(_))));
    }
}
