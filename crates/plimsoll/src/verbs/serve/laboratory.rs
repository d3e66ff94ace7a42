//! What the page may ask of the rest of the program.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use model::ProcessIdentity;
use model::progress::UsersAsked;
use model::record::{AskedBy, UsersWish};
use model::signal::SignalRegistry;
use model::{Catalogue, Checked, Problem, Problems, Result};
use serde_json::Value;
use serve::Laboratory;
use store::{Job, Queue};
use testbed::process::Identity;

use crate::context::Context;
use crate::verbs::doctor;
use runner::{jobs, signals};

/// What a measurement will do, by the words behind `plimsoll`.
pub(crate) type Check = fn(&[String], &mut Context) -> Result<Checked>;

/// This home, on this machine.
pub(super) struct Here {
    home: PathBuf,
    catalogue: Catalogue,
    check: Check,
    /// For checks, which are verbs' own.
    context: Mutex<Context>,
}

impl Here {
    pub(super) fn new(check: Check, context: &Context) -> Here {
        let (home, catalogue) = (context.home.clone(), context.catalogue.clone());
        Here { home, catalogue, check, context: Mutex::new(context.beside()) }
    }

    fn with_context<T>(&self, act: impl FnOnce(&mut Context) -> T) -> T {
        act(&mut self.context.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Laboratory for Here {
    fn home(&self) -> &Path {
        &self.home
    }

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn signals(&self) -> SignalRegistry {
        signals::built_in()
    }

    fn check(&self, command: &[String]) -> Checked {
        Checked::of(self.with_context(|context| (self.check)(command, context)))
    }

    fn add(&self, command: &[String]) -> Result<i64> {
        let checked = self.check(command);
        Problems::check(checked.problems)?;
        Queue::open(&self.home)?.add(command, &self.home, &jobs::now())
    }

    fn end(&self, process: ProcessIdentity, at_once: bool) -> Result<()> {
        let process = identity(process);
        let asked = process.interrupt() && (!at_once || process.interrupt());
        if asked {
            return Ok(());
        }
        Err(Problem::environment("its process is gone already").into())
    }

    fn ask_users(&self, job: &Job, users: u32) -> Result<UsersAsked> {
        jobs::ask_users(&self.home, job, UsersWish { users, by: AskedBy::Page })
    }

    fn is_alive(&self, process: ProcessIdentity) -> bool {
        identity(process).runs()
    }

    fn machine(&self) -> Result<Value> {
        self.with_context(doctor::known)
    }
}

fn identity(process: ProcessIdentity) -> Identity {
    Identity { pid: process.id, start_ticks: process.start }
}
