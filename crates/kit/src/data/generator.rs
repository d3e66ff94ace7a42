//! One thread's `data.lua`: a Lua state, and the native buffers that `emit` writes rows into.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use engine::random::Stream;
use engine::script::budget::Budget;
use engine::script::natives::{self, CurrentStream};
use mlua::{Error, Function, Lua, MultiValue, Value};
use model::Result;

use super::declaration::{self, Declaration};
use super::schedule::Chunk;
use crate::folder::{Kit, Setup};
use crate::script;

/// Rows of one table as LOAD DATA reads them: values separated by tabs, rows by line ends, `\N` for NULL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: u64,
}

/// A state in which `data.lua` has been run.
pub(crate) struct Generator<'a> {
    kit: &'a Kit,
    file: &'a str,
    seed: u64,
    declaration: Declaration,
    makers: Vec<Function>,
    stream: CurrentStream,
    buffers: Rc<RefCell<Buffers>>,
    budget: Budget,
    /// Last, so that it outlives what refers to it.
    _lua: Lua,
}

#[derive(Default)]
struct Buffers {
    tables: Vec<(String, usize)>,
    rows: Vec<Rows>,
}

/// The stream of the file's own top level; no chunk has it.
const TOP_LEVEL: u64 = u64::MAX;

impl<'a> Generator<'a> {
    /// Runs `file` in a state of its own.
    pub(crate) fn new(kit: &'a Kit, file: &'a str, setup: &Setup) -> Result<Generator<'a>> {
        let stream = CurrentStream::new(Stream::new(setup.seed, TOP_LEVEL));
        let buffers = Rc::new(RefCell::new(Buffers::default()));
        let prepare = || {
            let (lua, budget) = script::new_state(kit, setup)?;
            natives::install(&lua, &stream)?;
            install(&lua, &buffers)?;
            Ok((lua, budget))
        };
        let (lua, budget) = prepare().map_err(|error| script::problem(kit, file, &error))?;
        let returned = declaration::run(kit, file, &lua)?;
        let (declaration, makers) = declaration::read(kit, file, &returned)?;
        let mut tables = buffers.borrow_mut();
        tables.tables =
            declaration.tables.iter().map(|table| (table.name.clone(), table.columns.len())).collect();
        drop(tables);
        Ok(Generator { kit, file, seed: setup.seed, declaration, makers, stream, buffers, budget, _lua: lua })
    }

    pub(crate) fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// Makes the rows of a chunk, by index of table. They depend on the seed and the chunk alone.
    pub(crate) fn make(&self, chunk: &Chunk) -> Result<Vec<Rows>> {
        let tables = self.declaration.tables.len();
        self.buffers.borrow_mut().rows = vec![Rows::default(); tables];
        self.stream.set(Stream::new(self.seed, chunk.stream()));
        self.budget.renew();
        self.makers[chunk.part]
            .call::<()>((chunk.first, chunk.last))
            .map_err(|error| script::problem(self.kit, self.file, &error))?;
        Ok(std::mem::take(&mut self.buffers.borrow_mut().rows))
    }
}

fn install(lua: &Lua, buffers: &Rc<RefCell<Buffers>>) -> mlua::Result<()> {
    let buffers = buffers.clone();
    let emit = lua.create_function(move |_, values: MultiValue| {
        let mut buffers = buffers.try_borrow_mut().map_err(Error::external)?;
        emit(&mut buffers, &values)
    })?;
    lua.globals().raw_set("emit", emit)?;
    lua.globals().raw_set("date", lua.create_function(|lua, day: (i64, i64, i64)| date(lua, day))?)?;
    let days = |_: &Lua, (year, month): (i64, i64)| {
        if (1..=12).contains(&month) { Ok(days_in_month(year, month)) } else { Err(no_month(month)) }
    };
    lua.globals().raw_set("days_in_month", lua.create_function(days)?)
}

/// `emit("TABLE", value, …)`: one row.
fn emit(buffers: &mut Buffers, values: &MultiValue) -> mlua::Result<()> {
    let mut values = values.iter();
    let Some(Value::String(table)) = values.next() else {
        return Err(Error::runtime("emit takes a table's name and a value for each of its columns"));
    };
    let name = table.as_bytes();
    let Some(index) = buffers.tables.iter().position(|(known, _)| known.as_bytes() == &*name) else {
        return Err(Error::runtime(format!(
            "`{}` is not among the tables returned",
            table.to_string_lossy()
        )));
    };
    let columns = buffers.tables[index].1;
    if values.len() != columns {
        let what = format!("{} has {columns} columns, not {}", table.to_string_lossy(), values.len());
        return Err(Error::runtime(what));
    }
    let Some(rows) = buffers.rows.get_mut(index) else {
        return Err(Error::runtime("emit works only inside of `make`"));
    };
    for (position, value) in values.enumerate() {
        if position > 0 {
            rows.bytes.push(b'\t');
        }
        write_value(&mut rows.bytes, value)?;
    }
    rows.bytes.push(b'\n');
    rows.count += 1;
    Ok(())
}

fn write_value(bytes: &mut Vec<u8>, value: &Value) -> mlua::Result<()> {
    match value {
        Value::Nil => bytes.extend_from_slice(b"\\N"),
        Value::Boolean(value) => bytes.push(b'0' + u8::from(*value)),
        Value::Integer(value) => write!(bytes, "{value}").map_err(Error::external)?,
        Value::Number(value) if value.is_finite() => write!(bytes, "{value}").map_err(Error::external)?,
        Value::String(text) => write_text(bytes, &text.as_bytes()),
        other => return Err(Error::runtime(format!("a row can't hold a {}", other.type_name()))),
    }
    Ok(())
}

fn write_text(bytes: &mut Vec<u8>, text: &[u8]) {
    let plain = |byte: &u8| !matches!(byte, b'\\' | b'\t' | b'\n' | b'\r' | 0);
    if text.iter().all(plain) {
        return bytes.extend_from_slice(text);
    }
    for byte in text {
        match byte {
            b'\t' => bytes.extend_from_slice(b"\\t"),
            b'\n' => bytes.extend_from_slice(b"\\n"),
            b'\r' => bytes.extend_from_slice(b"\\r"),
            b'\\' => bytes.extend_from_slice(b"\\\\"),
            0 => bytes.extend_from_slice(b"\\0"),
            other => bytes.push(*other),
        }
    }
}

/// `date(year, month, day)`: `2009-01-31`.
fn date(lua: &Lua, (year, month, day): (i64, i64, i64)) -> mlua::Result<mlua::LuaString> {
    if !(1..=12).contains(&month) {
        return Err(no_month(month));
    }
    if !(0..=9999).contains(&year) || !(1..=days_in_month(year, month)).contains(&day) {
        return Err(Error::runtime(format!("{year}-{month}-{day} is not a date")));
    }
    let mut text = *b"0000-00-00";
    let digit = |number: i64| b'0' + (number % 10) as u8;
    for (at, number) in [(0, year / 1000), (1, year / 100), (2, year / 10), (3, year)] {
        text[at] = digit(number);
    }
    for (at, number) in [(5, month / 10), (6, month), (8, day / 10), (9, day)] {
        text[at] = digit(number);
    }
    lua.create_string(text)
}

fn no_month(month: i64) -> Error {
    Error::runtime(format!("there is no month {month}"))
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
