//! The program that a worker's users follow: Lua sessions, or one request repeated.

use mlua::Thread;
use model::Result;

use crate::random::Stream;
use crate::scenario::{self, Repeat};
use crate::script::calls::SharedHost;
use crate::script::host::Asked;
use crate::script::page::Page;
use crate::script::session::{Outcome, Script};

/// A program ready to run.
pub(crate) enum Program {
    Script(Script),
    Repeat(Repeat, SharedHost),
}

impl Program {
    /// Compiles what the scenario asks for; the program acts on `host`.
    pub(crate) fn compile(program: &scenario::Program, host: &SharedHost) -> Result<Program> {
        match program {
            scenario::Program::Script(source) => Ok(Program::Script(Script::compile(source, host)?)),
            scenario::Program::Repeat(repeat) => Ok(Program::Repeat(repeat.clone(), SharedHost::clone(host))),
        }
    }

    /// Starts a session of a user; `user` is its number on this thread, `number` its number over all.
    pub(crate) fn start(
        &mut self,
        session: usize,
        user: u32,
        number: u32,
        stream: &mut Stream,
    ) -> (Option<Thread>, Outcome) {
        match self {
            Program::Script(script) => script.start(session, user, number, stream),
            Program::Repeat(repeat, host) => {
                ask(repeat, host);
                (None, Outcome::Waits)
            }
        }
    }

    /// Gives a waiting session the answer that it waits for.
    pub(crate) fn answer(&mut self, thread: Option<&Thread>, page: Page, stream: &mut Stream) -> Outcome {
        match (self, thread) {
            (Program::Script(script), Some(thread)) => script.answer(thread, page, stream),
            _ => Outcome::Ended,
        }
    }

    /// Gives a waiting session the answers that it waits for.
    pub(crate) fn answers(
        &mut self,
        thread: Option<&Thread>,
        pages: Vec<Page>,
        stream: &mut Stream,
    ) -> Outcome {
        match (self, thread) {
            (Program::Script(script), Some(thread)) => script.answers(thread, pages, stream),
            _ => Outcome::Ended,
        }
    }

    /// Wakes a session from a pause.
    pub(crate) fn wake(&mut self, thread: Option<&Thread>, stream: &mut Stream) -> Outcome {
        match (self, thread) {
            (Program::Script(script), Some(thread)) => script.wake(thread, stream),
            _ => Outcome::Ended,
        }
    }

    /// A new user takes the place of `user`.
    pub(crate) fn forget(&mut self, user: u32) {
        if let Program::Script(script) = self {
            script.forget(user);
        }
    }

    /// Takes a coroutine back, whatever state it is in.
    pub(crate) fn give_back(&mut self, thread: Thread) {
        if let Program::Script(script) = self {
            script.give_back(thread);
        }
    }
}

fn ask(repeat: &Repeat, host: &SharedHost) {
    let mut host = host.borrow_mut();
    host.operation(repeat.name.as_bytes());
    let asked = Asked {
        method: repeat.method.as_bytes(),
        target: repeat.target.as_bytes(),
        name: Some(repeat.name.as_bytes()),
        headers: repeat.headers.as_bytes(),
        body: repeat.body.as_deref().map(|body| (&b""[..], body)),
        discard: true,
        ..Asked::default()
    };
    host.request(&asked);
}
