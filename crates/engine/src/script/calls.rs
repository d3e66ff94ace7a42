//! The calls that a session script makes. Each one acts on the [`Host`]; those that wait for something yield.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::{Error, Function, Lua, LuaString, Table, Value};
use model::interval::ErrorKind;
use smallvec::SmallVec;

use super::host::{Asked, Host};
use crate::http::encode::form_component;

/// The host as the calls share it with the worker.
pub(crate) type SharedHost = Rc<RefCell<Host>>;

/// Defined in Lua because only Lua can yield: the native part has set the host's action before.
const PRELUDE: &str = r#"
local request, pause, fail_with, yield = ...
function get(path, query, options) request("GET", path, query, nil, options) return yield() end
function head(path, query, options) request("HEAD", path, query, nil, options) return yield() end
function post(path, form, options) request("POST", path, nil, form or {}, options) return yield() end
function think(seconds) pause(seconds) yield() end
function fail(why) fail_with(why) error(why or "failed", 0) end
"#;

/// Defines the session API as globals of `lua`.
pub(crate) fn install(lua: &Lua, host: &SharedHost) -> mlua::Result<()> {
    let globals = lua.globals();
    let yielding: Function = globals.get::<Table>("coroutine")?.get("yield")?;
    let natives = (request(lua, host)?, pause(lua, host)?, fail(lua, host)?, yielding);
    lua.load(PRELUDE).set_name("=session API").call::<()>(natives)?;
    globals.raw_set("operation", operation(lua, host)?)?;
    globals.raw_set("check", check(lua, host)?)?;
    globals.raw_set("count", count(lua, host)?)?;
    let shared = Rc::clone(host);
    let abandon = lua.create_function(move |_, ()| {
        if let Some(visit) = &mut shared.borrow_mut().visit {
            visit.abandon();
        }
        Ok(())
    })?;
    globals.raw_set("abandon", abandon)?;
    let shared = Rc::clone(host);
    globals.raw_set("unique", lua.create_function(move |_, ()| Ok(shared.borrow_mut().unique()))?)?;
    // A session must not catch the errors that end it, nor yield past the engine.
    for name in ["pcall", "xpcall", "coroutine"] {
        globals.raw_set(name, Value::Nil)?;
    }
    Ok(())
}

fn operation(lua: &Lua, host: &SharedHost) -> mlua::Result<Function> {
    let shared = Rc::clone(host);
    lua.create_function(move |_, name: LuaString| {
        shared.borrow_mut().operation(&name.as_bytes());
        Ok(())
    })
}

fn check(lua: &Lua, host: &SharedHost) -> mlua::Result<Function> {
    let shared = Rc::clone(host);
    lua.create_function(move |_, (condition, name): (Value, Option<LuaString>)| {
        let holds = !matches!(condition, Value::Nil | Value::Boolean(false));
        if !holds {
            let name = name.map(|name| name.to_string_lossy()).unwrap_or_else(|| "unnamed".to_string());
            shared.borrow_mut().fail(ErrorKind::Check, &format!("check failed: {name}"));
        }
        Ok(holds)
    })
}

fn fail(lua: &Lua, host: &SharedHost) -> mlua::Result<Function> {
    let shared = Rc::clone(host);
    lua.create_function(move |_, why: Option<LuaString>| {
        let why = why.map(|why| why.to_string_lossy()).unwrap_or_else(|| "failed".to_string());
        let mut host = shared.borrow_mut();
        host.fail(ErrorKind::Check, &why);
        if let Some(visit) = &mut host.visit {
            visit.failed_on_purpose = true;
        }
        Ok(())
    })
}

fn count(lua: &Lua, host: &SharedHost) -> mlua::Result<Function> {
    let shared = Rc::clone(host);
    lua.create_function(move |_, (name, n): (LuaString, Option<u64>)| {
        shared.borrow_mut().count(&name.to_str()?, n.unwrap_or(1));
        Ok(())
    })
}

fn pause(lua: &Lua, host: &SharedHost) -> mlua::Result<Function> {
    let shared = Rc::clone(host);
    lua.create_function(move |_, seconds: f64| {
        if !(0.0..1e6).contains(&seconds) {
            return Err(Error::runtime(format!("think({seconds}): a pause lies between 0 and 1e6 seconds")));
        }
        shared.borrow_mut().pause((seconds * 1e9) as u64);
        Ok(())
    })
}

type RequestArguments = (LuaString, LuaString, Value, Option<Value>, Option<Table>);

fn request(lua: &Lua, host: &SharedHost) -> mlua::Result<Function> {
    let shared = Rc::clone(host);
    lua.create_function(move |_, (method, path, query, form, options): RequestArguments| {
        let (mut target, mut body) = {
            let mut host = shared.borrow_mut();
            (std::mem::take(&mut host.target), std::mem::take(&mut host.form))
        };
        target.clear();
        body.clear();
        let path = path.as_bytes();
        if path.first() != Some(&b'/') || path.iter().any(|byte| *byte <= b' ' || matches!(byte, b'#' | 0x7f))
        {
            let shown = String::from_utf8_lossy(&path).into_owned();
            return Err(Error::runtime(format!(
                "`{shown}` is not a path: it starts with / and has no blank and no #"
            )));
        }
        target.extend_from_slice(&path);
        let separator = if path.contains(&b'?') { b'&' } else { b'?' };
        write_pairs(&query, Some(separator), &mut target)?;
        let has_form = form.as_ref().is_some_and(|form| !form.is_nil());
        if let Some(form) = &form {
            write_pairs(form, None, &mut body)?;
        }
        let options = Options::read(options.as_ref())?;
        let name = options.name.as_ref().map(|name| name.as_bytes());
        let method = method.as_bytes();
        let asked = Asked {
            method: &method,
            target: &target,
            name: name.as_deref(),
            headers: &options.headers,
            body: has_form.then_some((&b"application/x-www-form-urlencoded"[..], &body[..])),
            expected_status: options.expected_status,
            ..Asked::default()
        };
        let mut host = shared.borrow_mut();
        host.request(&asked);
        host.target = target;
        host.form = body;
        Ok(())
    })
}

/// `{ expect = 404, name = "home", headers = { Accept = "text/css" } }`.
struct Options {
    expected_status: u16,
    name: Option<LuaString>,
    headers: Vec<u8>,
}

impl Options {
    fn read(table: Option<&Table>) -> mlua::Result<Options> {
        let mut options = Options { expected_status: 0, name: None, headers: Vec::new() };
        let Some(table) = table else { return Ok(options) };
        for pair in table.pairs::<LuaString, Value>() {
            let (key, value) = pair?;
            match (key.as_bytes().as_ref(), value) {
                (b"expect", Value::Integer(status @ 100..=599)) => options.expected_status = status as u16,
                (b"name", Value::String(name)) => options.name = Some(name),
                (b"headers", Value::Table(headers)) => write_headers(&headers, &mut options.headers)?,
                _ => {
                    let key = key.to_string_lossy();
                    let what = format!(
                        "option `{key}` is none of expect (a status), name, headers, or has a wrong type"
                    );
                    return Err(Error::runtime(what));
                }
            }
        }
        Ok(options)
    }
}

/// Headers that a session can't set: two lengths or two hosts would make a request that servers read differently.
const OWN_HEADERS: [&[u8]; 5] = [b"host", b"content-length", b"transfer-encoding", b"connection", b"cookie"];

fn write_headers(headers: &Table, out: &mut Vec<u8>) -> mlua::Result<()> {
    let mut lines: Vec<(LuaString, LuaString)> = headers.pairs().collect::<mlua::Result<_>>()?;
    lines.sort_by(|a, b| a.0.as_bytes().as_ref().cmp(b.0.as_bytes().as_ref()));
    for (name, value) in &lines {
        let (name, value) = (name.as_bytes(), value.as_bytes());
        let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
        if name.is_empty() || !name.iter().all(is_token) {
            let shown = String::from_utf8_lossy(&name).into_owned();
            return Err(Error::runtime(format!("`{shown}` is not a header's name")));
        }
        if OWN_HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            let shown = String::from_utf8_lossy(&name).into_owned();
            return Err(Error::runtime(format!("the header {shown} is the generator's own")));
        }
        if value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err(Error::runtime("a line break stands in a header's value"));
        }
        out.extend_from_slice(&name);
        out.extend_from_slice(b": ");
        out.extend_from_slice(&value);
        out.extend_from_slice(b"\r\n");
    }
    Ok(())
}

/// Writes `{ key = value }` by sorted keys, or `{ { key, value }, … }` in its own order. A list as a value repeats
/// its key. `first` stands before the first pair, `&` before the others.
fn write_pairs(pairs: &Value, first: Option<u8>, out: &mut Vec<u8>) -> mlua::Result<()> {
    let table = match pairs {
        Value::Nil => return Ok(()),
        Value::Table(table) => table,
        other => return Err(Error::runtime(format!("query and form are tables, not {}", other.type_name()))),
    };
    let mut writer = PairWriter { separator: first, out };
    if table.raw_len() > 0 {
        for pair in table.sequence_values::<Table>() {
            let pair = pair?;
            let key: LuaString = pair.raw_get(1)?;
            writer.write(&key.as_bytes(), &pair.raw_get(2)?)?;
        }
        return Ok(());
    }
    let mut sorted: SmallVec<[(LuaString, Value); PAIRS]> = table.pairs().collect::<mlua::Result<_>>()?;
    sorted.sort_by(|a, b| a.0.as_bytes().as_ref().cmp(b.0.as_bytes().as_ref()));
    sorted.iter().try_for_each(|(key, value)| writer.write(&key.as_bytes(), value))
}

/// Queries and forms of up to so many names are sorted without allocation.
const PAIRS: usize = 24;

struct PairWriter<'a> {
    separator: Option<u8>,
    out: &'a mut Vec<u8>,
}

impl PairWriter<'_> {
    fn whole(&mut self, number: i64) {
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }

    fn write(&mut self, key: &[u8], value: &Value) -> mlua::Result<()> {
        if let Value::Table(list) = value {
            return list.sequence_values::<Value>().try_for_each(|item| self.write(key, &item?));
        }
        self.out.extend(self.separator);
        self.separator = Some(b'&');
        form_component(key, self.out);
        self.out.push(b'=');
        match value {
            Value::String(text) => form_component(&text.as_bytes(), self.out),
            Value::Integer(number) => self.whole(*number),
            Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                self.whole(*number as i64)
            }
            Value::Number(number) => self.out.extend_from_slice(number.to_string().as_bytes()),
            Value::Boolean(truth) => self.out.extend_from_slice(if *truth { b"true" } else { b"false" }),
            other => {
                let key = String::from_utf8_lossy(key).into_owned();
                return Err(Error::runtime(format!("{key}: a {} can't be sent", other.type_name())));
            }
        }
        Ok(())
    }
}
