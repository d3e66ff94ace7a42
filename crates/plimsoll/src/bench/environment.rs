//! What a run needs beside its plan: where things are kept, the catalogue, what is settled for the whole process, and who
//! listens.

use std::path::{Path, PathBuf};

use model::Catalogue;
use testbed::{Helper, KeeperCommand};

use crate::bench::interrupt::Interrupt;
use crate::bench::measuring::MachineLock;
use crate::bench::progress::Progress;

/// What a run needs beside its plan.
pub(crate) struct Environment<'a> {
    /// The directory below which everything is kept.
    pub(crate) home: &'a Path,
    /// What the plan was resolved with.
    pub(crate) catalogue: &'a Catalogue,
    /// What doesn't change while the process lives.
    pub(crate) settings: &'a Settings,
    /// The right to measure on this machine.
    pub(crate) machine: &'a MachineLock,
    /// The user's wish to stop.
    pub(crate) interrupt: &'a Interrupt,
    /// Who listens.
    pub(crate) progress: &'a mut dyn Progress,
}

impl Environment<'_> {
    /// The same with another catalogue.
    pub(crate) fn with<'b>(&'b mut self, catalogue: &'b Catalogue) -> Environment<'b> {
        Environment {
            home: self.home,
            catalogue,
            settings: self.settings,
            machine: self.machine,
            interrupt: self.interrupt,
            progress: &mut *self.progress,
        }
    }

    /// Where the logs and the configuration of the lab `id` are left when its stack doesn't start.
    pub(crate) fn failed(&self, id: &str) -> PathBuf {
        self.home.join("failed").join(id)
    }
}

/// What doesn't change while the process lives.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Whether the machine and the tiers are watched while users run.
    pub(crate) observes: bool,
    /// What every record says of its origin.
    pub(crate) origin: Origin,
    /// The programs that the tool starts beside itself.
    pub(crate) helpers: Helpers,
}

/// What a record says of its origin.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// The version of Plimsoll, with the kind of its build.
    pub(crate) version: String,
    /// The command line as given.
    pub(crate) command: Vec<String>,
}

/// The helper processes: one program, which is told by its first argument what it is to be.
#[derive(Debug, Clone)]
pub(crate) struct Helpers {
    /// That program.
    pub(crate) program: PathBuf,
}

impl Helpers {
    /// The first argument of each of them.
    pub(crate) const KEEPER: &str = "keeper";
    pub(crate) const OBSERVER: &str = "observer";
    pub(crate) const READER: &str = "reader";
    pub(crate) const HOG: &str = "hog";

    /// Ends a lab whose tool has died.
    pub(crate) fn keeper(&self) -> KeeperCommand {
        KeeperCommand { program: self.program.clone(), args: vec![Helpers::KEEPER.into()] }
    }

    /// Watches the machine and the tiers from these CPUs; `name` is the observers' own tier.
    pub(crate) fn observer(&self, name: &str, cpus: &[usize]) -> Helper {
        Helper {
            name: name.to_string(),
            program: self.program.clone(),
            args: vec![Helpers::OBSERVER.into()],
            cpus: cpus.to_vec(),
        }
    }
}
