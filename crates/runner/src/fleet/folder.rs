//! What a fleet is on its controller's machine: a folder of keys, of who may come onto its bus, and of what was started for it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fleet::Credentials;
use fleet::bus::{Listener, Name};
use fleet::signed::{Signer, Trusted};
use model::{Problem, Result, document};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A fleet by its name, below `$PLIMSOLL_HOME/fleets`.
#[derive(Debug, Clone)]
pub struct FleetFolder {
    fleets: PathBuf,
    name: Name,
}

/// `fleet.toml`: where its bus is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleetFile {
    /// Where the broker listens: ADDRESS:PORT.
    pub listen: String,
    /// Where everybody else finds it: tls://HOST:PORT.
    pub broker: String,
}

/// The right to be a fleet's controller, of this machine's processes: given back when it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    _lock: File,
    /// Higher than that of all who had it before.
    pub(super) epoch: u64,
}

impl FleetFolder {
    /// The fleet of that name, which need not be there.
    pub fn of(home: &Path, name: &Name) -> FleetFolder {
        FleetFolder { fleets: home.join("fleets"), name: name.clone() }
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// One of its files.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.fleets.join(self.name.as_str()).join(file)
    }

    /// Whether it was set up.
    pub(super) fn is_there(&self) -> bool {
        self.path(FLEET_FILE).is_file()
    }

    /// Refuses a fleet that was never set up.
    ///
    /// # Errors
    /// It wasn't; those that were are named.
    pub fn check_is_there(&self) -> Result<()> {
        if self.is_there() {
            return Ok(());
        }
        let others: Vec<String> = self.others();
        let known = match others.is_empty() {
            true => "none was set up on this machine".to_string(),
            false => format!("there is {}", others.join(", ")),
        };
        let name = &self.name;
        let problem = Problem::recipe(format!("there is no fleet `{name}`: {known}"));
        let try_this = format!(
            "plimsoll fleet init {name} --listen ADDRESS:PORT; or --fleet local:2, which needs nothing"
        );
        Err(problem.remedy(try_this).into())
    }

    fn others(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.fleets).into_iter().flatten().flatten();
        let is_fleet = |entry: &fs::DirEntry| entry.path().join(FLEET_FILE).is_file();
        let mut names: Vec<String> =
            entries.filter(is_fleet).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Where its bus is.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn file(&self) -> Result<FleetFile> {
        self.check_is_there()?;
        self.read(FLEET_FILE)
    }

    /// One of its TOML files.
    fn read<T: DeserializeOwned + JsonSchema>(&self, file: &str) -> Result<T> {
        let path = self.path(file);
        document::read(&path.display().to_string(), &self.text(file)?)
    }

    /// One of its files, as text without blanks around it.
    pub(super) fn text(&self, file: &str) -> Result<String> {
        let path = self.path(file);
        let read = fs::read_to_string(&path);
        read.map_err(|error| {
            let problem =
                Problem::environment(format!("failed to read: {error}")).file(path.display().to_string());
            problem.why(format!("it is a part of fleet {}", self.name)).into()
        })
    }

    /// Writes one of its files, whole or not at all, for nobody else's eyes.
    pub(super) fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.path(file);
        let failed = |error: std::io::Error| {
            Problem::environment(format!("failed to write: {error}")).file(path.display().to_string())
        };
        let folder = path.parent().unwrap_or(&self.fleets);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let half = path.with_extension("half");
        let mut options = OpenOptions::new();
        let mut written =
            options.write(true).create(true).truncate(true).mode(0o600).open(&half).map_err(failed)?;
        written.write_all(text.as_bytes()).and_then(|()| written.sync_all()).map_err(failed)?;
        fs::rename(&half, &path).map_err(failed)?;
        Ok(())
    }

    /// Its own key, with which what a controller says is signed.
    pub(super) fn signer(&self) -> Result<Signer> {
        let damaged =
            |why: String| Problem::environment(why).file(self.path(SIGNING_SEED).display().to_string());
        Ok(Signer::of(self.text(SIGNING_SEED)?.trim(), self.name.clone()).map_err(damaged)?)
    }

    /// Who believes what that key signs.
    pub(super) fn trusted(&self) -> Result<Trusted> {
        let key = self.signer()?.public_key();
        Trusted::of(&[key], self.name.clone()).map_err(|all| Problem::bug(all.join("; ")).into())
    }

    /// What lets the controller onto the bus.
    pub(super) fn credentials(&self) -> Result<Credentials> {
        self.read(CONTROLLER)
    }

    /// Who hears its bus without saying what is wanted.
    pub(super) fn listener(&self, connect_timeout: Duration) -> Result<Listener> {
        let broker = self.credentials()?.broker().map_err(Problem::environment)?;
        Ok(Listener { broker, fleet: self.name.clone(), connect_timeout })
    }

    /// Where an agent's credentials are.
    pub fn agent_file(&self, agent: &Name) -> PathBuf {
        self.path(&format!("{AGENTS}/{agent}.toml"))
    }

    /// Where it is written what runs for it.
    pub fn placed_file(&self) -> PathBuf {
        self.path(PLACED)
    }

    /// What lets an agent onto the bus.
    pub(super) fn agent(&self, agent: &Name) -> Result<Credentials> {
        self.read(&format!("{AGENTS}/{agent}.toml"))
    }

    /// The agents that have keys, by their names.
    pub(super) fn agents(&self) -> Vec<Name> {
        let entries = fs::read_dir(self.path(AGENTS)).into_iter().flatten().flatten();
        let name = |entry: fs::DirEntry| Name::of(entry.file_name().to_str()?.strip_suffix(".toml")?).ok();
        let mut names: Vec<Name> = entries.filter_map(name).collect();
        names.sort();
        names
    }

    /// Becomes its controller, which one process of this machine is at a time; `who` is this one, for people.
    ///
    /// # Errors
    /// Another one is.
    pub(super) fn hold(&self, who: &str) -> Result<Held> {
        let path = self.path("lock");
        let failed = |error: std::io::Error| Problem::environment(format!("{}: {error}", path.display()));
        let mut options = OpenOptions::new();
        let lock = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let lock = lock.open(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                // Whoever has it has just got it, and hasn't said so yet.
                let holder =
                    self.text(HOLDER).unwrap_or_else(|_| "another process of this machine".to_string());
                return Err(self.taken(holder.trim()));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error).into()),
        }
        let last = self.text(EPOCH).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0u64);
        // Another machine that has this fleet's folder counts by itself: agents obey whoever has the higher one.
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let epoch = now_s.max(last + 1);
        self.write(EPOCH, &epoch.to_string())?;
        self.write(HOLDER, who)?;
        Ok(Held { _lock: lock, epoch })
    }

    /// That somebody else is its controller.
    pub(super) fn taken(&self, who: &str) -> model::Problems {
        Problem::environment(format!("fleet {} has a controller already: {who}", self.name))
            .why("its agents drive one run at a time")
            .remedy(format!(
                "wait for it, or end it; `plimsoll fleet status {}` shows what its agents do",
                self.name
            ))
            .into()
    }
}

pub(super) const FLEET_FILE: &str = "fleet.toml";
pub(super) const CONTROLLER: &str = "controller.toml";
pub(super) const SIGNING_SEED: &str = "signing.seed";
pub(super) const AGENTS: &str = "agents";
pub(super) const PLACED: &str = "placed.json";
const EPOCH: &str = "epoch";
const HOLDER: &str = "held-by";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn name(text: &str) -> Name {
        Name::of(text).expect("a name")
    }

    #[test]
    fn a_fleet_that_was_never_set_up_is_refused_with_those_that_were() {
        let home = tempfile::tempdir().expect("a folder");
        let missing = FleetFolder::of(home.path(), &name("lab"));
        let said = missing.check_is_there().expect_err("there is none").to_string();
        assert!(said.contains("no fleet `lab`") && said.contains("none was set up"), "{said}");
        FleetFolder::of(home.path(), &name("other")).write(FLEET_FILE, "").expect("it is written");
        let said = missing.check_is_there().expect_err("there is none").to_string();
        assert!(said.contains("there is other"), "{said}");
    }

    #[test]
    fn its_files_are_for_its_owner_alone() {
        let home = tempfile::tempdir().expect("a folder");
        let fleet = FleetFolder::of(home.path(), &name("lab"));
        fleet.write("agents/a1.toml", "secret").expect("it is written");
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&fleet.path("agents/a1.toml")), 0o600);
        assert_eq!(mode(&fleet.path("agents")), 0o700);
        assert_eq!(fleet.agents(), [name("a1")]);
    }

    #[test]
    fn one_controller_at_a_time_and_each_has_a_higher_epoch() {
        let home = tempfile::tempdir().expect("a folder");
        let fleet = FleetFolder::of(home.path(), &name("lab"));
        fleet.write(FLEET_FILE, "").expect("it is written");
        let first = fleet.hold("the first").expect("nobody has it");
        let said = fleet.hold("the second").expect_err("it is taken").to_string();
        assert!(said.contains("fleet lab has a controller already: the first"), "{said}");
        let epoch = first.epoch;
        drop(first);
        assert!(fleet.hold("the second").expect("it is free again").epoch > epoch);
    }
}
