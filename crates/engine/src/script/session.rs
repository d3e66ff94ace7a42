//! A compiled session script: the functions of the mix, and the coroutines that run them.

use std::cell::Cell;
use std::rc::Rc;

use mlua::{Error, Function, HookTriggers, Lua, Table, Thread, Value, VmState};
use model::{Problem, Result};

use super::calls::{self, SharedHost};
use super::constants;
use super::natives::{self, CurrentStream};
use super::page::Page;
use super::sandbox;
use crate::random::Stream;
use crate::scenario::Source;

/// Memory that one thread's scripts may use.
const MEMORY_LIMIT_BYTES: usize = 2 << 30;
const HOOK_INSTRUCTIONS: u32 = 1_000_000;
/// A script that runs this many million instructions without a request is taken to loop for ever (about a second).
const MOST_MILLION_INSTRUCTIONS: u32 = 100;

/// A compiled session script.
pub(crate) struct Script {
    lua: Lua,
    sessions: Vec<Function>,
    users: Table,
    threads: Vec<Thread>,
    stream: CurrentStream,
    instructions: Rc<Cell<u32>>,
}

/// How a resumed script came back.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It waits for what the host's action says.
    Waits,
    /// It reached its end.
    Ended,
    /// It raised an error: the message with the script's line.
    Raised(String),
}

impl Script {
    /// Compiles `source` for one thread.
    pub(crate) fn compile(source: &Source, host: &SharedHost) -> Result<Script> {
        let stream = CurrentStream::new(Stream::new(0, 0));
        let instructions = Rc::new(Cell::new(0));
        let prepared = prepare(source, host, &stream, &instructions);
        let lua = prepared.map_err(|error| script_problem(source, &error))?;
        let mut problems = Vec::new();
        let mut sessions = Vec::new();
        for (name, _) in &source.mix {
            match lua.globals().get::<Value>(name.as_str()) {
                Ok(Value::Function(function)) => sessions.push(function),
                _ => problems.push(
                    Problem::recipe(format!("the mix names `{name}`, but the script has no such function"))
                        .file(&source.session_name)
                        .remedy(format!("function {name}(user) … end")),
                ),
            }
        }
        model::Problems::check(problems)?;
        let users = lua.create_table().map_err(|error| script_problem(source, &error))?;
        Ok(Script { lua, sessions, users, threads: Vec::new(), stream, instructions })
    }

    /// Starts a session of a user; `user` is its number on this thread, `number` its number over all.
    pub(crate) fn start(
        &mut self,
        session: usize,
        user: u32,
        number: u32,
        stream: &mut Stream,
    ) -> (Option<Thread>, Outcome) {
        let started = self.user_table(user, number).and_then(|table| Ok((self.thread(session)?, table)));
        match started {
            Ok((thread, table)) => {
                let outcome = self.resume(&thread, table, stream);
                (Some(thread), outcome)
            }
            Err(error) => (None, Outcome::Raised(message(&error))),
        }
    }

    /// Gives a waiting script the answer that it waits for.
    pub(crate) fn answer(&mut self, thread: &Thread, page: Page, stream: &mut Stream) -> Outcome {
        match self.lua.create_userdata(page) {
            Ok(page) => self.resume(thread, page, stream),
            Err(error) => Outcome::Raised(message(&error)),
        }
    }

    /// Gives a waiting script the list of answers that it waits for.
    pub(crate) fn answers(&mut self, thread: &Thread, pages: Vec<Page>, stream: &mut Stream) -> Outcome {
        let list = pages.into_iter().map(|page| self.lua.create_userdata(page));
        match list.collect::<mlua::Result<Vec<_>>>().and_then(|list| self.lua.create_sequence_from(list)) {
            Ok(list) => self.resume(thread, list, stream),
            Err(error) => Outcome::Raised(message(&error)),
        }
    }

    /// Wakes a script from a pause.
    pub(crate) fn wake(&mut self, thread: &Thread, stream: &mut Stream) -> Outcome {
        self.resume(thread, (), stream)
    }

    /// Takes a coroutine back, whatever state it is in.
    pub(crate) fn give_back(&mut self, thread: Thread) {
        self.threads.push(thread);
    }

    fn resume(
        &mut self,
        thread: &Thread,
        arguments: impl mlua::IntoLuaMulti,
        stream: &mut Stream,
    ) -> Outcome {
        self.stream.set(*stream);
        self.instructions.set(0);
        let result = thread.resume::<()>(arguments);
        *stream = self.stream.get();
        match result {
            Ok(()) if thread.is_resumable() => Outcome::Waits,
            Ok(()) => Outcome::Ended,
            Err(error) => Outcome::Raised(message(&error)),
        }
    }

    fn user_table(&self, user: u32, number: u32) -> mlua::Result<Table> {
        if let Value::Table(table) = self.users.raw_get(user + 1)? {
            return Ok(table);
        }
        let table = self.lua.create_table()?;
        table.raw_set("number", number)?;
        self.users.raw_set(user + 1, &table)?;
        Ok(table)
    }

    fn thread(&mut self, session: usize) -> mlua::Result<Thread> {
        let function = self.sessions[session].clone();
        if let Some(thread) = self.threads.pop()
            && thread.reset(function.clone()).is_ok()
        {
            return Ok(thread);
        }
        self.lua.create_thread(function)
    }
}

fn prepare(
    source: &Source,
    host: &SharedHost,
    stream: &CurrentStream,
    instructions: &Rc<Cell<u32>>,
) -> mlua::Result<Lua> {
    let lua = sandbox::new_lua(source.modules.clone(), MEMORY_LIMIT_BYTES)?;
    let counter = Rc::clone(instructions);
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(HOOK_INSTRUCTIONS), move |_, _| {
        counter.set(counter.get() + 1);
        if counter.get() < MOST_MILLION_INSTRUCTIONS {
            return Ok(VmState::Continue);
        }
        let what = format!(
            "ran {MOST_MILLION_INSTRUCTIONS} million instructions without a request: a loop without end?"
        );
        Err(Error::runtime(what))
    })?;
    natives::install(&lua, stream)?;
    calls::install(&lua, host)?;
    constants::install(&lua, &source.size, &source.params)?;
    lua.load(source.session_text.as_str()).set_name(format!("@{}", source.session_name)).exec()?;
    Ok(lua)
}

/// An error in words: the script's line first, without Lua's stack.
fn message(error: &Error) -> String {
    let text = match error {
        Error::CallbackError { cause, .. } => message(cause),
        Error::RuntimeError(text) => text.clone(),
        other => other.to_string(),
    };
    let end = text.find("\nstack traceback:").unwrap_or(text.len());
    text[..end].trim().to_string()
}

fn script_problem(source: &Source, error: &Error) -> Problem {
    let text = match error {
        Error::SyntaxError { message, .. } => message.clone(),
        other => message(other),
    };
    let problem = Problem::recipe(text.clone()).why("no user can follow a script that can't be read");
    let after_name = text.find(&source.session_name).map(|at| &text[at + source.session_name.len()..]);
    let located = after_name.and_then(|rest| {
        let mut parts = rest.strip_prefix(':')?.splitn(2, ':');
        Some((parts.next()?.parse::<u32>().ok()?, parts.next()?.trim().to_string()))
    });
    match located {
        Some((line, what)) => Problem { what, ..problem }.file(&source.session_name).line(line),
        None => problem.file(&source.session_name),
    }
}
