//! The program that a worker's users follow: Lua sessions, or one request repeated.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use mlua::Thread;
use model::Result;

use crate::http::request::Draft;
use crate::random::Stream;
use crate::scenario::{self, Repeat};
use crate::script::calls::SharedHost;
use crate::script::host::{Arguments, Host, Turn};
use crate::script::page::Pages;
use crate::script::session::{Input, Outcome, Script};

/// A program ready to run.
pub(crate) struct Program {
    host: SharedHost,
    steps: Steps,
}

enum Steps {
    Script(Script),
    Repeat(Repeat),
}

impl Program {
    /// Compiles what the scenario asks for. `users` is the number of users over all threads, `people` the number of
    /// those who may come, `pages` has the answers that sessions look at.
    pub(crate) fn compile(
        program: &scenario::Program,
        (users, people): (u32, u64),
        pages: &Rc<RefCell<Pages>>,
    ) -> Result<Program> {
        let host = Rc::new(RefCell::new(Host::new(users, people, Rc::clone(pages))));
        let steps = match program {
            scenario::Program::Script(source) => Steps::Script(Script::compile(source, &host)?),
            scenario::Program::Repeat(repeat) => Steps::Repeat(repeat.clone()),
        };
        Ok(Program { host, steps })
    }

    /// Whether the program may compute for a while before it comes back.
    pub(crate) fn computes(&self) -> bool {
        matches!(self.steps, Steps::Script(_))
    }

    /// Starts session number `session` of a user; `user` is its number on this thread, `number` its number over all.
    pub(crate) fn start(
        &mut self,
        turn: Turn,
        session: usize,
        (user, number): (u32, u32),
        stream: &mut Stream,
    ) -> (Turn, Option<Thread>, Outcome) {
        self.begin(turn);
        let (thread, outcome) = match &mut self.steps {
            Steps::Script(script) => script.start(session, user, number, stream),
            Steps::Repeat(repeat) => {
                ask(repeat, &mut self.host.borrow_mut());
                (None, Outcome::Waits)
            }
        };
        (self.end(), thread, outcome)
    }

    /// Goes on with a waiting session.
    pub(crate) fn resume(
        &mut self,
        turn: Turn,
        thread: Option<&Thread>,
        input: Input,
        stream: &mut Stream,
    ) -> (Turn, Outcome) {
        self.begin(turn);
        let outcome = match (&mut self.steps, thread) {
            (Steps::Script(script), Some(thread)) => script.resume(thread, input, stream),
            _ => Outcome::Ended,
        };
        (self.end(), outcome)
    }

    /// Exchanges `draft` for the request that the last turn asked for.
    pub(crate) fn swap_draft(&mut self, draft: &mut Draft) {
        std::mem::swap(draft, &mut self.host.borrow_mut().draft);
    }

    /// The requests that the last turn asked for, in the order in which their pages are given back.
    pub(crate) fn take_drafts(&mut self) -> Vec<Draft> {
        std::mem::take(&mut self.host.borrow_mut().drafts)
    }

    /// What users were promised, nothing for what is gone; and the things of which nobody knows.
    pub(crate) fn take_promises(&mut self) -> (BTreeMap<String, Option<String>>, BTreeSet<String>) {
        self.host.borrow_mut().promises.take()
    }

    /// A new user takes the place of `user`.
    pub(crate) fn forget(&mut self, user: u32) {
        if let Steps::Script(script) = &mut self.steps {
            script.forget(user);
        }
    }

    /// Takes a coroutine back, whatever state it is in.
    pub(crate) fn give_back(&mut self, thread: Thread) {
        if let Steps::Script(script) = &mut self.steps {
            script.give_back(thread);
        }
    }

    fn begin(&mut self, turn: Turn) {
        self.host.borrow_mut().turn = Some(turn);
    }

    fn end(&mut self) -> Turn {
        self.host.borrow_mut().turn.take().expect("nothing but the end of a turn takes it away")
    }
}

fn ask(repeat: &Repeat, host: &mut Host) {
    host.operation(repeat.name.as_bytes());
    let arguments = Arguments {
        method: repeat.method.as_bytes(),
        target: repeat.target.as_bytes(),
        name: Some(repeat.name.as_bytes()),
        headers: repeat.headers.as_bytes(),
        body: repeat.body.as_deref().map(|body| (&b""[..], body)),
        discard: true,
        ..Arguments::default()
    };
    host.request(&arguments);
}
