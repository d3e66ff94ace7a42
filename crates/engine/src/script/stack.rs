//! Native functions of Lua without a binding between: arguments are read where they lie on Lua's stack, and answers are
//! pushed when nothing of Rust's is left to clean up. All `unsafe` of the scripts is here
//! and in [`coroutine`].
//!
//! Two rules make it sound. Lua raises errors by `longjmp`, which runs no destructors: so a native function gets a
//! [`Call`], which only reaches parts of Lua that neither raise, nor allocate, nor run Lua code, and whatever may
//! raise happens in [`enter`] after the native has returned, with values in hand that have no destructor. And since
//! nothing is allocated in Lua before then, nothing is collected: texts borrowed from arguments stay where they are.

mod coroutine;

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::{ptr, slice};

use csv::ByteRecord;
use mlua::{Function, IntoLua, LightUserData, Lua, Value, ffi};
use serde_json::Value as Json;
use smallvec::SmallVec;

pub(crate) use coroutine::{Resumed, Stage};

/// A native function; `R` is what it acts on.
pub(crate) type Native<R> = for<'a> fn(&'a R, Call<'a>) -> Result<Answer<'a>, Fault>;

/// What a native function gives back to the script.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer<'a> {
    Nothing,
    Nil,
    Truth(bool),
    Integer(i64),
    Number(f64),
    Text(&'a [u8]),
    /// A short text of its own and its length.
    Word([u8; MAX_WORD_BYTES], usize),
    /// What the function's own table holds under the argument of that number.
    Member(c_int),
    /// An element of a list.
    Element(List<'a>, i64),
    /// Tables, numbers and texts as JSON has them; null is nil.
    Json(&'a Json),
    /// A table of names and texts.
    Row(&'a ByteRecord, &'a ByteRecord),
    /// What the function that stands behind this one makes of the same arguments; see [`define_before`].
    Through,
    /// The script waits; what it is resumed with becomes the call's result.
    Wait,
}

/// The longest text that an [`Answer::Word`] holds, in bytes.
pub(crate) const MAX_WORD_BYTES: usize = 64;

/// An error to be raised in the script, with the line of the call put before it.
#[derive(Debug)]
pub(crate) struct Fault(String);

impl Fault {
    pub(crate) fn new(text: impl Into<String>) -> Fault {
        Fault(text.into())
    }
}

/// A value of Lua's. Texts live as long as the call (`'a`), lists as long as they stand on the stack (`'b`).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument<'a, 'b> {
    Nil,
    Truth(bool),
    Integer(i64),
    Number(f64),
    Text(&'a [u8]),
    List(List<'b>),
    /// A light userdata: 64 bits that only native code makes.
    Bits(u64),
    /// Anything else, by the name of its type.
    Other(&'static str),
}

impl Argument<'_, '_> {
    /// The name of its type, as Lua says it.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Argument::Nil => "nil",
            Argument::Truth(_) => "boolean",
            Argument::Integer(_) | Argument::Number(_) => "number",
            Argument::Text(_) => "string",
            Argument::List(_) => "table",
            Argument::Bits(_) => "page",
            Argument::Other(name) => name,
        }
    }
}

/// A table on the stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List<'b> {
    state: *mut ffi::lua_State,
    /// Counted from the bottom of the call's frame.
    index: c_int,
    stands: PhantomData<&'b ()>,
}

/// A call of a native function while it lasts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    state: *mut ffi::lua_State,
    lasts: PhantomData<&'a ()>,
}

impl<'a> Call<'a> {
    /// How many arguments there are.
    pub(crate) fn count(self) -> c_int {
        // SAFETY: the state is the running one; `lua_gettop` only reads.
        unsafe { ffi::lua_gettop(self.state) }
    }

    /// The argument of that number, from 1; nil where there is none.
    pub(crate) fn argument(self, number: c_int) -> Argument<'a, 'a> {
        debug_assert!(number > 0);
        // SAFETY: any positive index is acceptable, arguments stay on the stack until the call returns, and so do the
        // texts that they hold.
        unsafe { value(self.state, number) }
    }

    /// The argument as a text; numbers are none.
    pub(crate) fn text(self, number: c_int) -> Option<&'a [u8]> {
        match self.argument(number) {
            Argument::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The argument as a whole number, as Lua's own libraries take one: also a number without a fraction, and a text that
    /// says one.
    pub(crate) fn whole(self, number: c_int) -> Option<i64> {
        let mut is_whole = 0;
        // SAFETY: any positive index is acceptable; `lua_tointegerx` only reads, and converts no text in place.
        let whole = unsafe { ffi::lua_tointegerx(self.state, number, &mut is_whole) };
        (is_whole != 0).then_some(whole)
    }

    /// The argument's truth: only nil and false are false.
    pub(crate) fn truth(self, number: c_int) -> bool {
        // SAFETY: reads a slot; any positive index is acceptable.
        unsafe { ffi::lua_toboolean(self.state, number) != 0 }
    }

    /// Whether the script can wait here: not inside of a comparison, a substitution or another function of C.
    pub(crate) fn can_wait(self) -> bool {
        // SAFETY: only reads a counter of the running state.
        unsafe { ffi::lua_isyieldable(self.state) != 0 }
    }
}

/// The names and values of a table, as [`List::spread`] lays them out.
pub(crate) type Pairs<'a, 'b> = SmallVec<[(Argument<'a, 'b>, Argument<'a, 'b>); PAIRS]>;

/// Tables of up to this number of names are laid out without allocation.
const PAIRS: usize = 24;
/// Names and values for which room on the stack is asked for at once.
const STACKED_AT_ONCE: c_int = 3 + 2 * PAIRS as c_int;
/// A table of more names is an error: they all stand on the stack at once.
const MAX_PAIRS: usize = 5_000;

impl<'b> List<'b> {
    /// The number of elements.
    pub(crate) fn len(self) -> usize {
        // SAFETY: the index holds a table while 'b lasts; `lua_rawlen` reads without metamethods.
        unsafe { ffi::lua_rawlen(self.state, self.index) }
    }

    /// Whether it is more than its elements: functions may say its length, and what it has under a number.
    pub(crate) fn has_metatable(self) -> Result<bool, Fault> {
        let room = Room::of(self.state, 1)?;
        // SAFETY: there is room for one value; only a metatable is pushed, and taken away with `room`.
        let has = unsafe { ffi::lua_getmetatable(self.state, self.index) != 0 };
        drop(room);
        Ok(has)
    }

    /// Reads the element of that number, from 1, without metamethods.
    pub(crate) fn at<T>(
        self,
        number: i64,
        read: impl for<'c> FnOnce(Argument<'b, 'c>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let room = Room::of(self.state, 1)?;
        // SAFETY: there is room for one value, which stands until `room` is given back; a raw read of a table raises
        // nothing. The text of the value is held by the table, which is not changed during the call.
        let element = unsafe {
            ffi::lua_rawgeti(self.state, self.index, number);
            value(self.state, ffi::lua_gettop(self.state))
        };
        let result = read(element);
        drop(room);
        result
    }

    /// Reads all names and values at once, in no particular order, without metamethods.
    pub(crate) fn spread<T>(
        self,
        read: impl for<'c> FnOnce(&mut Pairs<'b, 'c>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let room = Room::of(self.state, STACKED_AT_ONCE)?;
        let (mut top, mut full) = (room.top, room.top + STACKED_AT_ONCE);
        let mut pairs = Pairs::new();
        // SAFETY: there is always room for a name, its value and the name once more, which the next step takes away.
        // `lua_next` raises an error only for a name that is not in the table, and each one was given by itself; nothing
        // changes the table meanwhile.
        unsafe {
            ffi::lua_pushnil(self.state);
            while ffi::lua_next(self.state, self.index) != 0 {
                pairs.push((value(self.state, top + 1), value(self.state, top + 2)));
                top += 2;
                let mut fits = pairs.len() <= MAX_PAIRS;
                if top + 3 > full {
                    full += STACKED_AT_ONCE;
                    fits &= ffi::lua_checkstack(self.state, STACKED_AT_ONCE + 3) != 0;
                }
                if !fits {
                    return Err(Fault::new(format!("a table of more than {MAX_PAIRS} names can't be sent")));
                }
                ffi::lua_pushvalue(self.state, -2);
            }
        }
        let result = read(&mut pairs);
        drop(room);
        result
    }
}

/// Room on the stack, given back with all that stands in it when it is dropped.
struct Room {
    state: *mut ffi::lua_State,
    top: c_int,
}

impl Room {
    fn of(state: *mut ffi::lua_State, slots: c_int) -> Result<Room, Fault> {
        // SAFETY: `lua_checkstack` raises nothing and says whether there is room.
        let (top, fits) = unsafe { (ffi::lua_gettop(state), ffi::lua_checkstack(state, slots) != 0) };
        if fits { Ok(Room { state, top }) } else { Err(Fault::new("tables lie too deep within each other")) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: the stack is at least as high as it was; none of the slots is marked to be closed.
        unsafe { ffi::lua_settop(self.state, self.top) }
    }
}

/// Reads the value at an index.
///
/// # Safety
/// The index is positive and acceptable; the value stays on the stack for 'b and its text alive for 'a.
unsafe fn value<'a, 'b>(state: *mut ffi::lua_State, index: c_int) -> Argument<'a, 'b> {
    // SAFETY: all of these only read; `lua_tolstring` converts in place only what is a number, and this is a text.
    unsafe {
        match ffi::lua_type(state, index) {
            ffi::LUA_TNONE | ffi::LUA_TNIL => Argument::Nil,
            ffi::LUA_TBOOLEAN => Argument::Truth(ffi::lua_toboolean(state, index) != 0),
            ffi::LUA_TNUMBER if ffi::lua_isinteger(state, index) != 0 => {
                Argument::Integer(ffi::lua_tointegerx(state, index, ptr::null_mut()))
            }
            ffi::LUA_TNUMBER => Argument::Number(ffi::lua_tonumberx(state, index, ptr::null_mut())),
            ffi::LUA_TSTRING => {
                let mut length = 0;
                let bytes = ffi::lua_tolstring(state, index, &mut length);
                Argument::Text(slice::from_raw_parts(bytes.cast(), length))
            }
            ffi::LUA_TTABLE => Argument::List(List { state, index, stands: PhantomData }),
            ffi::LUA_TLIGHTUSERDATA => Argument::Bits(ffi::lua_touserdata(state, index) as u64),
            ffi::LUA_TFUNCTION => Argument::Other("function"),
            _ => Argument::Other("userdata"),
        }
    }
}

/// A native function and what it acts on.
struct Bound<R> {
    native: Native<R>,
    room: Rc<R>,
}

/// The function's own table or function among its upvalues.
const OWN: c_int = ffi::lua_upvalueindex(3);

/// Makes a function for Lua that calls `native` with `room`, which it keeps alive.
pub(crate) fn define<R: 'static>(lua: &Lua, room: &Rc<R>, native: Native<R>) -> mlua::Result<Function> {
    define_over(lua, room, native, Value::Nil)
}

/// [`define`] with a table of the function's own, for [`Answer::Member`].
pub(crate) fn define_over<R: 'static>(
    lua: &Lua,
    room: &Rc<R>,
    native: Native<R>,
    own: impl IntoLua,
) -> mlua::Result<Function> {
    let bound = Rc::new(Bound { native, room: Rc::clone(room) });
    let pointer = LightUserData(Rc::as_ptr(&bound) as *mut c_void);
    let keeper = lua.create_any_userdata(bound)?;
    // SAFETY: the three values become the function's upvalues; nothing in the closure has a destructor.
    unsafe { lua.exec_raw((pointer, keeper, own), |state| ffi::lua_pushcclosure(state, enter::<R>, 3)) }
}

/// Makes a function that asks `native` first and then, for [`Answer::Through`], is `original`: a function of Lua's own
/// libraries, which are functions of C without upvalues.
pub(crate) fn define_before<R: 'static>(
    lua: &Lua,
    room: &Rc<R>,
    native: Native<R>,
    original: Function,
) -> mlua::Result<Function> {
    define_over(lua, room, native, original)
}

/// What a native function came to, without a destructor.
#[derive(Clone, Copy)]
enum Step<'a> {
    Answer(Answer<'a>),
    Raise,
}

thread_local! {
    /// The text of the error that is about to be raised.
    static FAULT: Cell<([u8; MAX_FAULT_BYTES], usize)> = const { Cell::new(([0; MAX_FAULT_BYTES], 0)) };
    /// The panic that is on its way through Lua as an error.
    static PANIC: Cell<Option<Box<dyn Any + Send>>> = const { Cell::new(None) };
}

const MAX_FAULT_BYTES: usize = 500;

/// Lua calls this for every native function.
///
/// # Safety
/// Only [`define`] makes functions of it: its first upvalue points to a live `Bound<R>`.
unsafe extern "C-unwind" fn enter<R: 'static>(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: as above; see each part.
    unsafe {
        match decide::<R>(state) {
            Step::Answer(answer) => push(state, answer),
            Step::Raise => raise(state),
        }
    }
}

/// Runs the native function. Whatever has a destructor ends in here.
///
/// # Safety
/// As for [`enter`].
unsafe fn decide<'a, R: 'static>(state: *mut ffi::lua_State) -> Step<'a> {
    // SAFETY: `define` put this upvalue in; the second one keeps what it points to alive while the function lives, and
    // it lives while it is called.
    let Bound { native, room } =
        unsafe { &*(ffi::lua_touserdata(state, ffi::lua_upvalueindex(1)) as *const Bound<R>) };
    let call = Call { state, lasts: PhantomData };
    // A panic must not pass through Lua's frames: it goes on in [`Stage`].
    match catch_unwind(AssertUnwindSafe(|| native(room, call))) {
        Ok(Ok(answer)) => Step::Answer(answer),
        Ok(Err(Fault(text))) => keep_fault(&text),
        Err(panic) => {
            PANIC.set(Some(panic));
            keep_fault("the engine panicked")
        }
    }
}

#[cold]
fn keep_fault<'a>(text: &str) -> Step<'a> {
    let mut bytes = [0; MAX_FAULT_BYTES];
    let length =
        (0..=text.len().min(MAX_FAULT_BYTES)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    FAULT.set((bytes, length));
    Step::Raise
}

/// Raises the error whose text has been kept.
///
/// # Safety
/// Called by [`enter`] only, with nothing that has a destructor in any frame up to Lua's.
#[cold]
unsafe fn raise(state: *mut ffi::lua_State) -> c_int {
    let (bytes, length) = FAULT.get();
    // SAFETY: a function of C has 20 free slots; what raises jumps over frames without destructors.
    unsafe {
        ffi::luaL_where(state, 1);
        ffi::lua_pushlstring(state, bytes.as_ptr().cast(), length);
        ffi::lua_concat(state, 2);
        ffi::lua_error(state)
    }
}

/// Gives an answer to the script.
///
/// # Safety
/// As for [`raise`]; what the answer borrows is alive.
unsafe fn push(state: *mut ffi::lua_State, answer: Answer<'_>) -> c_int {
    // SAFETY: a function of C has 20 free slots; texts are copied by Lua; a shortage of memory raises, and jumps over
    // frames without destructors. `lua_yieldk` without a continuation is the last thing that the function does.
    unsafe {
        match answer {
            Answer::Nothing => return 0,
            Answer::Through => return through(state),
            Answer::Wait => return ffi::lua_yieldk(state, 0, 0, None),
            Answer::Nil => ffi::lua_pushnil(state),
            Answer::Truth(truth) => ffi::lua_pushboolean(state, c_int::from(truth)),
            Answer::Integer(number) => ffi::lua_pushinteger(state, number),
            Answer::Number(number) => ffi::lua_pushnumber(state, number),
            Answer::Text(text) => _ = ffi::lua_pushlstring(state, text.as_ptr().cast(), text.len()),
            Answer::Word(bytes, length) => {
                _ = ffi::lua_pushlstring(state, bytes.as_ptr().cast(), length.min(MAX_WORD_BYTES));
            }
            Answer::Member(number) => {
                ffi::lua_pushvalue(state, number);
                if ffi::lua_type(state, OWN) == ffi::LUA_TTABLE {
                    ffi::lua_rawget(state, OWN);
                }
            }
            Answer::Json(json) => push_json(state, json),
            Answer::Row(names, texts) => push_row(state, names, texts),
            Answer::Element(list, number) => _ = ffi::lua_rawgeti(state, list.index, number),
        }
    }
    1
}

/// # Safety
/// As for [`push`].
unsafe fn through(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: the arguments stand where they stood, and no frame up to Lua's has a destructor; a function of C that
    // has no upvalues does not care in whose frame it runs. Whatever is no function of C gives nothing.
    unsafe { ffi::lua_tocfunction(state, OWN).map_or(0, |original| original(state)) }
}

/// # Safety
/// As for [`push`]. Iterators of lists and maps have no destructor; the depth is bounded by JSON's reader.
unsafe fn push_json(state: *mut ffi::lua_State, json: &Json) {
    // SAFETY: room for a table, a name and a value is asked for at every depth.
    unsafe {
        ffi::luaL_checkstack(state, 3, ptr::null());
        match json {
            Json::Null => ffi::lua_pushnil(state),
            Json::Bool(truth) => ffi::lua_pushboolean(state, c_int::from(*truth)),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => ffi::lua_pushinteger(state, whole),
                None => ffi::lua_pushnumber(state, number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => _ = ffi::lua_pushlstring(state, text.as_ptr().cast(), text.len()),
            Json::Array(list) => {
                ffi::lua_createtable(state, table_size(list.len()), 0);
                for (index, item) in list.iter().enumerate() {
                    push_json(state, item);
                    ffi::lua_rawseti(state, -2, index as i64 + 1);
                }
            }
            Json::Object(map) => {
                ffi::lua_createtable(state, 0, table_size(map.len()));
                for (name, item) in map {
                    _ = ffi::lua_pushlstring(state, name.as_ptr().cast(), name.len());
                    push_json(state, item);
                    ffi::lua_rawset(state, -3);
                }
            }
        }
    }
}

/// # Safety
/// As for [`push`].
unsafe fn push_row(state: *mut ffi::lua_State, names: &ByteRecord, texts: &ByteRecord) {
    // SAFETY: a function of C has 20 free slots, and this needs three.
    unsafe {
        ffi::lua_createtable(state, 0, table_size(names.len()));
        for (name, text) in names.iter().zip(texts) {
            _ = ffi::lua_pushlstring(state, name.as_ptr().cast(), name.len());
            _ = ffi::lua_pushlstring(state, text.as_ptr().cast(), text.len());
            ffi::lua_rawset(state, -3);
        }
    }
}

/// Only what Lua reserves at once: a table grows by itself.
fn table_size(length: usize) -> c_int {
    length.min(1 << 20) as c_int
}

#[cfg(test)]
mod tests;
