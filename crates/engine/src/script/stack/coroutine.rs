//! Coroutines: sessions are started, resumed and made ready to start anew.

use std::ffi::{c_int, c_void};
use std::panic::resume_unwind;
use std::ptr;

use mlua::{Lua, Table, Thread, Value, ffi};

use super::PANIC;

/// Where coroutines find the functions that they run and the tables that they are given.
#[derive(Debug)]
pub(crate) struct Stage {
    lua: Lua,
    main: *mut ffi::lua_State,
}

/// Their addresses are the names of two lists in Lua's registry.
static SESSIONS: u8 = 0;
static USERS: u8 = 1;

/// How a coroutine came back.
#[derive(Debug)]
pub(crate) enum Resumed {
    Waits,
    Ended,
    /// With this error.
    Raised(mlua::Result<Value>),
}

impl Stage {
    /// A stage whose coroutines run functions of the list `sessions` with tables of the list `users`.
    pub(crate) fn new(lua: &Lua, sessions: Table, users: Table) -> mlua::Result<Stage> {
        let mut main = ptr::null_mut();
        // SAFETY: two tables stand on the stack; `lua_rawsetp` may raise for want of memory, and nothing here has a
        // destructor. The main state lives as long as `lua`, which the stage holds.
        unsafe {
            lua.exec_raw::<()>((sessions, users), |state| {
                ffi::lua_rawsetp(state, ffi::LUA_REGISTRYINDEX, (&raw const USERS).cast());
                ffi::lua_rawsetp(state, ffi::LUA_REGISTRYINDEX, (&raw const SESSIONS).cast());
                ffi::lua_rawgeti(state, ffi::LUA_REGISTRYINDEX, ffi::LUA_RIDX_MAINTHREAD);
                main = ffi::lua_tothread(state, -1);
                ffi::lua_settop(state, 0);
            })?;
        }
        Ok(Stage { lua: lua.clone(), main })
    }

    /// Starts function `session` (0-based) with user table `user` (0-based) in a fresh or reset coroutine; both exist.
    pub(crate) fn start(&self, thread: &Thread, session: usize, user: u32) -> Resumed {
        let state = thread.state();
        // SAFETY: the coroutine is this Lua's, not running, and has nothing on its stack, as is checked; a new stack
        // has room for 20 values. Raw reads of the two lists raise nothing.
        unsafe {
            if ffi::lua_status(state) != ffi::LUA_OK || ffi::lua_gettop(state) != 0 {
                return Resumed::Raised(Err(mlua::Error::CoroutineUnresumable));
            }
            ffi::lua_rawgetp(state, ffi::LUA_REGISTRYINDEX, (&raw const SESSIONS).cast());
            ffi::lua_rawgeti(state, 1, session as i64 + 1);
            ffi::lua_rawgetp(state, ffi::LUA_REGISTRYINDEX, (&raw const USERS).cast());
            ffi::lua_rawgeti(state, 3, i64::from(user) + 1);
            ffi::lua_copy(state, 4, 3);
            ffi::lua_settop(state, 3);
            ffi::lua_rotate(state, 1, -1);
            ffi::lua_settop(state, 2);
            self.resume(state, 1)
        }
    }

    /// Goes on with a waiting coroutine; its call gives `bits` as a light userdata, or nothing.
    pub(crate) fn go_on(&self, thread: &Thread, bits: Option<u64>) -> Resumed {
        let state = thread.state();
        // SAFETY: the coroutine is this Lua's and waits, as is checked; a yielded function of C has room for a value.
        unsafe {
            if ffi::lua_status(state) != ffi::LUA_YIELD {
                return Resumed::Raised(Err(mlua::Error::CoroutineUnresumable));
            }
            if let Some(bits) = bits {
                ffi::lua_pushlightuserdata(state, bits as *mut c_void);
            }
            self.resume(state, c_int::from(bits.is_some()))
        }
    }

    /// Goes on with a waiting coroutine; its call gives `list`.
    pub(crate) fn go_on_with(&self, thread: &Thread, list: Table) -> Resumed {
        let state = thread.state();
        // SAFETY: as in `go_on`; the list moves from the top of the main state's stack.
        unsafe {
            if ffi::lua_status(state) != ffi::LUA_YIELD {
                return Resumed::Raised(Err(mlua::Error::CoroutineUnresumable));
            }
            match self.lua.exec_raw::<()>(list, |main| ffi::lua_xmove(main, state, 1)) {
                Ok(()) => self.resume(state, 1),
                Err(error) => Resumed::Raised(Err(error)),
            }
        }
    }

    /// Makes a coroutine that ended, failed or waits ready to start anew; false when it is lost.
    pub(crate) fn reset(&self, thread: &Thread) -> bool {
        let state = thread.state();
        // SAFETY: the coroutine is this Lua's and not running. `lua_closethread` protects itself.
        unsafe {
            if ffi::lua_status(state) != ffi::LUA_OK {
                // It tells the error that the coroutine ended with, if any; what counts is the status afterwards.
                ffi::lua_closethread(state, self.main);
            }
            ffi::lua_settop(state, 0);
            ffi::lua_status(state) == ffi::LUA_OK
        }
    }

    /// # Safety
    /// `state` is a coroutine of this Lua, not running, with that number of `arguments` on its stack, and before its first
    /// start the function below them.
    unsafe fn resume(&self, state: *mut ffi::lua_State, arguments: c_int) -> Resumed {
        let mut results = 0;
        // SAFETY: `lua_resume` protects itself: errors come back as a status, with the error on the stack.
        let status = unsafe { ffi::lua_resume(state, self.main, arguments, &mut results) };
        match status {
            ffi::LUA_YIELD | ffi::LUA_OK => {
                // SAFETY: that number of results stands on top.
                unsafe { ffi::lua_settop(state, -results - 1) };
                if status == ffi::LUA_OK { Resumed::Ended } else { Resumed::Waits }
            }
            _ => {
                if let Some(panic) = PANIC.take() {
                    resume_unwind(panic);
                }
                // SAFETY: the error is on top of the coroutine's stack, and moves to where there is room for three.
                Resumed::Raised(unsafe { self.lua.exec_raw((), |main| ffi::lua_xmove(state, main, 1)) })
            }
        }
    }
}
