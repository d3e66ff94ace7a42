//! What a run needs beside its plan: where things are kept, the catalogue, what is settled for the whole process, and who
//! listens.

use std::path::{Path, PathBuf};

use model::Catalogue;
use observe::{AbortOn, CallCounting};
use testbed::{Helper, KeeperCommand};

use crate::fleet::choice::FleetChoice;
use crate::interrupt::Interrupt;
use crate::machine_lock::MachineLock;
use crate::progress::Progress;

/// What a run needs beside its plan.
pub struct Environment<'a> {
    /// The directory below which everything is kept.
    pub home: &'a Path,
    /// What the plan was resolved with.
    pub catalogue: &'a Catalogue,
    /// What doesn't change while the process lives.
    pub settings: &'a Settings,
    /// The right to measure on this machine.
    pub machine: &'a MachineLock,
    /// The user's wish to stop.
    pub interrupt: &'a Interrupt,
    /// Who listens.
    pub progress: &'a mut dyn Progress,
}

impl Environment<'_> {
    /// The same with another catalogue.
    pub fn with<'b>(&'b mut self, catalogue: &'b Catalogue) -> Environment<'b> {
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
pub struct Settings {
    /// Whether the machine and the tiers are watched while users run.
    pub observes: bool,
    /// What the kernel is to count of the tiers' calls meanwhile.
    pub calls: CallCounting,
    /// The wait for which a server that is built from this repository is ended.
    pub abort_on: Option<AbortOn>,
    /// The fleet that drives the users, instead of this process.
    pub fleet: Option<FleetChoice>,
    /// The number of its agents that a run may lose and go on without.
    pub tolerated: u32,
    /// What every record says of its origin.
    pub origin: Origin,
    /// The programs that the tool starts beside itself.
    pub helpers: Helpers,
}

/// What a record says of its origin.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The version of Plimsoll, with the kind of its build.
    pub version: String,
    /// The command line as given.
    pub command: Vec<String>,
}

/// The helper processes: one program, which is told by its first argument what it is to be.
#[derive(Debug, Clone)]
pub struct Helpers {
    /// That program.
    pub program: PathBuf,
}

impl Helpers {
    /// The first argument of an agent of a fleet.
    pub const AGENT: &str = "agent";
    /// Of what ends a lab whose tool has died.
    pub const KEEPER: &str = "keeper";
    /// Of what watches the machine and the tiers.
    pub const OBSERVER: &str = "observer";
    /// Of what reads files from inside of a tier.
    pub const READER: &str = "reader";
    /// Of what carries packets between hosts of a stack.
    pub const SWITCH: &str = "switch";
    /// Of what takes CPU time on purpose.
    pub const STRESSOR: &str = "stressor";

    pub(crate) fn keeper(&self) -> KeeperCommand {
        KeeperCommand { program: self.program.clone(), args: vec![Helpers::KEEPER.into()] }
    }

    pub(crate) fn switch(&self) -> KeeperCommand {
        KeeperCommand { program: self.program.clone(), args: vec![Helpers::SWITCH.into()] }
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

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use model::Problems;

    use super::*;
    use crate::machine_lock::WhileOthersMeasure;

    /// Keeps the notes.
    #[derive(Default)]
    struct Notes(Vec<String>);

    impl Progress for Notes {
        fn step(&mut self, _text: &str) {}
        fn advance(&mut self, _text: &str, _done_ratio: f64) {}
        fn still(&mut self, _text: &str) {}
        fn done(&mut self, _text: &str) {}
        fn note(&mut self, text: &str) {
            self.0.push(text.to_string());
        }
        fn problem(&mut self, _problems: &Problems) {}
        fn below(&mut self, _text: &str) {}
        fn mute(&mut self, muted: bool) -> bool {
            muted
        }
    }

    /// What `act` gives in an environment of this home and an empty catalogue, and what was noted.
    pub(crate) fn with_environment<T>(
        home: &Path,
        act: impl FnOnce(&mut Environment<'_>) -> T,
    ) -> (T, Vec<String>) {
        let origin = Origin { version: "1".to_string(), command: Vec::new() };
        let helpers = Helpers { program: PathBuf::new() };
        let settings = Settings {
            observes: false,
            calls: CallCounting::Off,
            abort_on: None,
            fleet: None,
            tolerated: 0,
            origin,
            helpers,
        };
        let mut notes = Notes::default();
        let given = act(&mut Environment {
            home,
            catalogue: &Catalogue::new(BTreeMap::new()),
            settings: &settings,
            machine: &MachineLock::new(WhileOthersMeasure::MeasureBeside),
            interrupt: &Interrupt::default(),
            progress: &mut notes,
        });
        (given, notes.0)
    }
}
