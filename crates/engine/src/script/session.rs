//! A compiled session script: the functions of the mix, and the coroutines that run them.

use mlua::{Error, Function, LightUserData, Lua, Table, Thread, Value};
use model::{Problem, Result};

use super::budget::{Allowance, Budget};
use super::calls::{self, SharedHost};
use super::constants;
use super::feeder;
use super::natives::{self, CurrentStream};
use super::page::{self, Page};
use super::sandbox;
use super::stack::{Resumed, Stage};
use crate::random::Stream;
use crate::scenario::Source;

/// Memory that one thread's scripts may use.
const MEMORY_LIMIT_BYTES: usize = 2 << 30;
/// Between two requests: a script that needs more is taken to loop for ever.
const ALLOWANCE: Allowance =
    Allowance { million_instructions: 100, seconds: 1, without: "without a request" };

/// A compiled session script.
pub(crate) struct Script {
    lua: Lua,
    stage: Stage,
    /// Something for a coroutine to be made of; the stage says what it runs.
    idle: Function,
    users: Table,
    /// Which users have a table already.
    known_users: Vec<bool>,
    threads: Vec<Thread>,
    stream: CurrentStream,
    budget: Budget,
}

/// What a waiting script goes on with.
#[derive(Debug)]
pub(crate) enum Input {
    /// The answer that it waits for.
    Page(Page),
    /// The answers that it waits for.
    Pages(Vec<Page>),
    /// The end of its pause.
    Wake,
}

/// How a script's turn came to an end.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It waits for what the turn's action says.
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
        let prepared = prepare(source, host, &stream);
        let (lua, budget) = prepared.map_err(|error| script_problem(source, &error))?;
        let mut problems = Vec::new();
        let mut sessions = Vec::new();
        for name in source.sessions() {
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
        let script = || -> mlua::Result<Script> {
            let users = lua.create_table()?;
            let stage = Stage::new(&lua, lua.create_sequence_from(sessions)?, users.clone())?;
            let idle = lua.create_function(|_, ()| Ok(()))?;
            let (threads, known_users) = (Vec::new(), Vec::new());
            Ok(Script { lua, stage, idle, users, known_users, threads, stream, budget })
        };
        Ok(script().map_err(|error| script_problem(source, &error))?)
    }

    /// Starts a session of a user; `user` is its number on this thread, `number` its number over all.
    pub(crate) fn start(
        &mut self,
        session: usize,
        user: u32,
        number: u32,
        stream: &mut Stream,
    ) -> (Option<Thread>, Outcome) {
        let started = self.ensure_user(user, number).and_then(|()| self.thread());
        match started {
            Ok(thread) => {
                let outcome = self.run(stream, |stage| stage.start(&thread, session, user));
                (Some(thread), outcome)
            }
            Err(error) => (None, Outcome::Raised(message(&error))),
        }
    }

    /// Goes on with a waiting script.
    pub(crate) fn resume(&mut self, thread: &Thread, input: Input, stream: &mut Stream) -> Outcome {
        match input {
            Input::Page(page) => self.run(stream, |stage| stage.go_on(thread, Some(page.bits()))),
            Input::Wake => self.run(stream, |stage| stage.go_on(thread, None)),
            Input::Pages(pages) => {
                let bits = pages.iter().map(|page| LightUserData(page.bits() as *mut std::ffi::c_void));
                match self.lua.create_sequence_from(bits) {
                    Ok(list) => self.run(stream, |stage| stage.go_on_with(thread, list)),
                    Err(error) => Outcome::Raised(message(&error)),
                }
            }
        }
    }

    /// A new user takes the place of `user`: its first session gets a table of its own.
    pub(crate) fn forget(&mut self, user: u32) {
        if let Some(known) = self.known_users.get_mut(user as usize) {
            *known = false;
        }
    }

    /// Takes a coroutine back, whatever state it is in.
    pub(crate) fn give_back(&mut self, thread: Thread) {
        if self.stage.reset(&thread) {
            self.threads.push(thread);
        }
    }

    fn run(&mut self, stream: &mut Stream, go_on: impl FnOnce(&Stage) -> Resumed) -> Outcome {
        self.stream.set(*stream);
        self.budget.renew();
        let resumed = go_on(&self.stage);
        *stream = self.stream.get();
        match resumed {
            Resumed::Waits => Outcome::Waits,
            Resumed::Ended => Outcome::Ended,
            Resumed::Raised(Ok(Value::String(text))) => {
                Outcome::Raised(without_stack(&text.to_string_lossy()))
            }
            Resumed::Raised(Ok(Value::Error(error))) => Outcome::Raised(message(&error)),
            Resumed::Raised(Ok(other)) => {
                Outcome::Raised(format!("the script raised a {} as an error", other.type_name()))
            }
            Resumed::Raised(Err(error)) => Outcome::Raised(message(&error)),
        }
    }

    fn ensure_user(&mut self, user: u32, number: u32) -> mlua::Result<()> {
        let place = user as usize;
        if self.known_users.get(place) == Some(&true) {
            return Ok(());
        }
        let table = self.lua.create_table()?;
        table.raw_set("number", number)?;
        self.users.raw_set(user + 1, &table)?;
        self.known_users.resize(self.known_users.len().max(place + 1), false);
        self.known_users[place] = true;
        Ok(())
    }

    fn thread(&mut self) -> mlua::Result<Thread> {
        if let Some(thread) = self.threads.pop() {
            return Ok(thread);
        }
        let thread = self.lua.create_thread(self.idle.clone())?;
        self.stage.reset(&thread);
        Ok(thread)
    }
}

fn prepare(source: &Source, host: &SharedHost, stream: &CurrentStream) -> mlua::Result<(Lua, Budget)> {
    let lua = sandbox::new_lua(source.modules.clone(), MEMORY_LIMIT_BYTES)?;
    natives::install(&lua, stream)?;
    calls::install(&lua, host)?;
    page::install(&lua, &host.borrow().pages)?;
    constants::install(&lua, &source.size, &source.params)?;
    let budget = Budget::install(&lua, ALLOWANCE)?;
    feeder::install(&lua, host, &source.feeders)?;
    host.borrow_mut().files = source.files.clone();
    lua.load(source.session_text.as_str()).set_name(format!("@{}", source.session_name)).exec()?;
    Ok((lua, budget))
}

/// An error in words: the script's line first, without Lua's stack.
fn message(error: &Error) -> String {
    let text = match error {
        Error::CallbackError { cause, .. } => message(cause),
        Error::RuntimeError(text) => text.clone(),
        other => other.to_string(),
    };
    without_stack(&text)
}

fn without_stack(text: &str) -> String {
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
