//! A lab: what one run of the tool owns on this machine.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::{Problem, Result};

use crate::build::BuildCommand;
use crate::helper::{Helper, Helping};
use crate::holds::Holds;
use crate::host::Hosts;
use crate::keeper::{Keeper, KeeperCommand};
use crate::launch::{Confinement, Launch, Running, Spawner};
use crate::ledger::{Entry, FORMAT, Ledger};
use crate::owner::Owner;
use crate::process::{Family, Identity, boot_id};
use crate::{cgroup, disk, sweep, undo};

/// The kernel's limit for a socket's path is 108 bytes with the final zero (unix(7)).
const SOCKET_PATH_MAX_BYTES: usize = 107;
/// `/NN/` of the instance and the longest `TIER-NAME-NN.sock`.
const SOCKET_NAME_BYTES: usize = 36;

/// How a lab is opened.
#[derive(Debug, Clone)]
pub struct LabOptions<'a> {
    /// `$PLIMSOLL_HOME`: the lab lives in `instances/ID` below it.
    pub home: &'a Path,
    /// The lab's name: letters, digits, `.`, `-` and `_`.
    pub id: &'a str,
    /// How the tool starts itself again as a keeper.
    pub keeper: KeeperCommand,
    /// How the tool starts itself again to carry packets between hosts ([`crate::switch::run`]).
    pub switch: KeeperCommand,
    /// Whether cgroups are used where they can be; without them, processes are ended by their identity.
    pub cgroups: bool,
}

/// What one run of the tool owns on this machine: a directory, a user, a cgroup, a keeper, and the servers in them.
/// Dropping it, or the tool's death, removes all of that.
#[derive(Debug)]
pub struct Lab {
    pub(crate) site: Arc<Site>,
}

impl Lab {
    /// Opens a lab. What a dead lab of the same id left is removed first.
    ///
    /// # Errors
    /// A living lab of that id, a home that can't be used, a keeper that does not start.
    pub fn open(options: &LabOptions<'_>) -> Result<Lab> {
        check_id(options.id)?;
        disk::make_open_dir(options.home)?;
        let home =
            fs::canonicalize(options.home).map_err(|error| disk::failed("find", options.home, &error))?;
        check_home(&home)?;
        let folder = sweep::instances(&home);
        disk::make_open_dir(&folder)?;
        let path = folder.join(format!("{}.ledger", options.id));
        sweep::finish(&path)?;
        let Some(ledger) = Ledger::lock(&path)? else {
            let what = format!("a lab `{}` runs already under {}", options.id, home.display());
            return Err(Problem::environment(what).remedy("wait for it to end").into());
        };
        let dir = folder.join(options.id);
        if let Err(problems) = sweep::make_room(&dir) {
            ledger.remove()?;
            return Err(problems);
        }
        Site::open(options, home, dir, ledger, &path).map(|site| Lab { site: Arc::new(site) })
    }

    /// The lab's directory; gone when the lab is closed.
    pub fn dir(&self) -> &Path {
        &self.site.dir
    }

    /// Where its sockets are: in its directory, or in the temporary directory when that path would be too long.
    pub fn socket_dir(&self) -> &Path {
        &self.site.sockets
    }

    /// The home that it lives in, without symbolic links.
    pub fn home(&self) -> &Path {
        &self.site.home
    }

    /// Its directory in memory, where the machine has such a file system; gone when the lab is closed.
    pub fn memory_dir(&self) -> Option<&Path> {
        self.site.memory.as_deref()
    }

    /// The number of the user that its servers run as.
    pub fn uid(&self) -> u32 {
        self.site.owner.uid
    }

    /// Its cgroup, where one can be made.
    pub fn cgroup(&self) -> Option<&Path> {
        self.site.cgroup.as_deref()
    }

    /// The process number of its keeper.
    pub fn keeper_pid(&self) -> Option<u32> {
        self.site.keeper.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Keeper::pid)
    }

    /// Starts a confined process of this lab, outside of any stack: it ends with the lab at the latest.
    ///
    /// # Errors
    /// A program that can't be executed; an output file that can't be written.
    pub fn launch(&self, launch: &Launch) -> Result<Running> {
        self.site.launch(launch, "0")
    }

    /// Starts a helper of the tool in a cgroup of its own: it ends with the lab at the latest.
    ///
    /// # Errors
    /// A program that can't be executed.
    pub fn help(&self, helper: &Helper) -> Result<Helping> {
        self.site.help(helper)
    }

    /// Ends everything, removes everything, dismisses the keeper.
    ///
    /// # Errors
    /// What could not be removed; the keeper has tried again by then, and the next [`crate::sweep`] will.
    pub fn close(self) -> Result<()> {
        self.site.close()
    }
}

/// The lab itself, shared with its stacks.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) home: PathBuf,
    pub(crate) dir: PathBuf,
    pub(crate) sockets: PathBuf,
    /// A directory in memory, where the machine has such a file system.
    pub(crate) memory: Option<PathBuf>,
    pub(crate) owner: Owner,
    pub(crate) marker: String,
    pub(crate) cgroup: Option<PathBuf>,
    ledger: Mutex<Option<Ledger>>,
    keeper: Mutex<Option<Keeper>>,
    pub(crate) switch: KeeperCommand,
    spawner: Spawner,
    instances: AtomicU32,
    pub(crate) holds: Holds,
    pub(crate) hosts: Hosts,
}

impl Site {
    fn open(
        options: &LabOptions<'_>,
        home: PathBuf,
        dir: PathBuf,
        ledger: Ledger,
        path: &Path,
    ) -> Result<Site> {
        let owner = Owner::claim()?;
        if owner.of_files().is_some() {
            disk::check_enterable(&sweep::instances(&home))?;
        }
        let token = token(options.id);
        let marker = format!("{}.{token}", options.id);
        let sockets = socket_dir(&dir, &token)?;
        let memory = memory_dir(&token);
        let group =
            if options.cgroups { cgroup::writable_base() } else { None }.map(|base| base.join(&marker));
        let opened =
            Entry::Opened { format: FORMAT, marker: marker.clone(), boot: boot_id(), uid: owner.uid };
        // Written before it is made: a death in between leaves a line for nothing, not a thing without a line.
        ledger.append(&opened)?;
        for path in [&sockets, &dir].into_iter().chain(&memory) {
            ledger.append(&Entry::Directory { path: path.clone() })?;
        }
        if let Some(path) = &group {
            ledger.append(&Entry::Cgroup { path: path.clone() })?;
        }
        let keeper = Keeper::start(&options.keeper, &ledger, path, &owner)?;
        let site = Site {
            home,
            dir,
            sockets,
            memory,
            marker,
            cgroup: group,
            ledger: Mutex::new(Some(ledger)),
            keeper: Mutex::new(Some(keeper)),
            switch: options.switch.clone(),
            spawner: Spawner::start()?,
            instances: AtomicU32::new(1),
            holds: Holds::default(),
            hosts: Hosts::default(),
            owner,
        };
        disk::make_private_dir(&site.dir, site.owner.of_files())?;
        sweep::mark(&site.dir)?;
        disk::make_private_dir(&site.sockets, site.owner.of_files())?;
        site.memory.as_deref().map_or(Ok(()), |path| disk::make_private_dir(path, site.owner.of_files()))?;
        site.cgroup.as_deref().map_or(Ok(()), cgroup::make)?;
        Ok(site)
    }

    /// A number for the next stack of this lab.
    pub(crate) fn next_instance(&self) -> u32 {
        self.instances.fetch_add(1, Ordering::Relaxed)
    }

    /// The cgroup of an instance's tier.
    pub(crate) fn tier_group(&self, instance: &str, tier: &str) -> Option<PathBuf> {
        self.cgroup.as_ref().map(|group| group.join(instance).join(tier))
    }

    /// The cgroup of an instance.
    fn instance_group(&self, instance: &str) -> Option<PathBuf> {
        self.cgroup.as_ref().map(|group| group.join(instance)).filter(|group| group.exists())
    }

    /// Kills what is left of an instance and removes its cgroups and its tiers' own hosts.
    pub(crate) fn end_instance(&self, instance: &str, started: &[Identity]) -> Result<()> {
        let group = self.instance_group(instance);
        group.as_deref().map_or(Ok(0), cgroup::end)?;
        let marker = format!("{}/{instance}/", self.marker);
        Family { started, marker: &marker, uid: self.owner.uid }.end()?;
        group.as_deref().map_or(Ok(()), cgroup::remove)?;
        self.holds.remove(instance)?;
        self.hosts.remove(instance, &self.marker)
    }

    /// The group of an instance, whether it is there or not.
    pub(crate) fn instance_dir(&self, instance: &str) -> Option<PathBuf> {
        self.cgroup.as_ref().map(|group| group.join(instance))
    }

    /// Where the ledger is.
    pub(crate) fn ledger_path(&self) -> Result<PathBuf> {
        let ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let path = ledger.as_ref().map(|ledger| ledger.path().to_path_buf());
        path.ok_or_else(|| Problem::bug("a change of a lab that is closed").into())
    }

    /// Writes a change down.
    pub(crate) fn note(&self, entry: &Entry) -> Result<()> {
        match self.ledger.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(ledger) => ledger.append(entry),
            None => Err(Problem::bug("a change of a lab that is closed").into()),
        }
    }

    /// What the environment of a tier's processes says; no other tier's begins like it.
    pub(crate) fn tier_marker(&self, instance: &str, tier: &str) -> String {
        format!("{}/{instance}/{tier}/", self.marker)
    }

    /// Kills what is left of a tier.
    pub(crate) fn end_tier(&self, instance: &str, tier: &str, started: &[Identity]) -> Result<()> {
        if let Some(group) = self.tier_group(instance, tier) {
            cgroup::end(&group)?;
        }
        let marker = self.tier_marker(instance, tier);
        Family { started, marker: &marker, uid: self.owner.uid }.end().map(|_| ())
    }

    /// Starts a process and writes it down.
    pub(crate) fn launch(&self, launch: &Launch, instance: &str) -> Result<Running> {
        self.launch_with(launch, (instance, 0), None)
    }

    /// The same, as number `number` of the tier's instances, and with a limit of descriptors instead of all that it may have.
    pub(crate) fn launch_with(
        &self,
        launch: &Launch,
        (instance, number): (&str, usize),
        descriptors: Option<u64>,
    ) -> Result<Running> {
        let group = self.tier_group(instance, &launch.tier);
        let made = group
            .as_deref()
            .map(|group| cgroup::make(group).map(|()| cgroup::entrance(group)))
            .transpose()?;
        let confinement = Confinement {
            uid: self.owner.of_files(),
            marker: self.tier_marker(instance, &launch.tier),
            entrances: self.entrances(made.flatten(), instance, &launch.tier),
            network: self.hosts.door(instance, (&launch.tier, number))?,
            descriptors,
        };
        let child = self.spawner.spawn(launch, confinement)?;
        let identity = self.write_down(&child, instance, &launch.tier)?;
        if let Err(problems) = self.check_inside(instance, &launch.tier, identity.pid) {
            self.end_tier(instance, &launch.tier, &[identity])?;
            return Err(problems);
        }
        let cgroup = group.filter(|group| cgroup::holds(group, identity.pid));
        Ok(Running { child, identity, cgroup })
    }

    /// The same for a process of the tool itself, which keeps the tool's user and talks with it.
    pub(crate) fn help(&self, helper: &Helper) -> Result<Helping> {
        let (group, confinement) = self.apart(&helper.name)?;
        let child = helper.spawn(&self.spawner, confinement)?;
        let identity = self.write_down(&child, "0", &helper.name)?;
        Ok(Helping::of(child, group.filter(|group| cgroup::holds(group, identity.pid)), None))
    }

    /// The same for what builds something; the inner error says why it can't be started.
    pub(crate) fn build(&self, build: &BuildCommand<'_>) -> Result<io::Result<Running>> {
        let (group, confinement) = self.apart(cgroup::BUILD)?;
        let child = match build.spawn(&self.spawner, confinement)? {
            Ok(child) => child,
            Err(error) => return Ok(Err(error)),
        };
        let identity = self.write_down(&child, "0", cgroup::BUILD)?;
        let cgroup = group.filter(|group| cgroup::holds(group, identity.pid));
        Ok(Ok(Running { child, identity, cgroup }))
    }

    /// A group outside of any stack, for a process of the tool's own user, and what confines it there.
    fn apart(&self, name: &str) -> Result<(Option<PathBuf>, Confinement)> {
        let group = self.tier_group("0", name);
        let entrance = match group.as_deref() {
            Some(group) => cgroup::make(group).map(|()| cgroup::entrance(group))?,
            None => None,
        };
        let (marker, entrances) = (self.tier_marker("0", name), entrance.into_iter().collect());
        Ok((group, Confinement { uid: None, marker, entrances, network: None, descriptors: None }))
    }

    /// The same in the groups of a tier: what the helper uses counts as the tier's.
    pub(crate) fn help_inside(&self, helper: &Helper, instance: &str, tier: &str) -> Result<Helping> {
        let entrance = self.tier_group(instance, tier).and_then(|group| cgroup::entrance(&group));
        let marker = self.tier_marker(instance, tier);
        let entrances = self.entrances(entrance, instance, tier);
        let confinement = Confinement { uid: None, marker, entrances, network: None, descriptors: None };
        let child = helper.spawn(&self.spawner, confinement)?;
        let identity = self.write_down(&child, instance, tier)?;
        let helping = Helping::of(child, None, None);
        self.check_inside(instance, tier, identity.pid)?;
        Ok(helping)
    }

    /// What a process of a tier writes its number to: its own group's file, and those of groups that hold it.
    fn entrances(&self, own: Option<OwnedFd>, instance: &str, tier: &str) -> Vec<OwnedFd> {
        let held = self.holds.entered(instance, tier);
        own.into_iter().chain(held.iter().filter_map(|group| cgroup::entrance(group))).collect()
    }

    fn write_down(&self, child: &Child, instance: &str, tier: &str) -> Result<Identity> {
        // A child that has not been waited for keeps its number and start time, even when it is dead.
        let identity = Identity::of(child.id())
            .ok_or_else(|| Problem::bug(format!("process {} has no entry in /proc", child.id())))?;
        let written = self.note(&Entry::Process { tier: tier.to_string(), process: identity });
        if let Err(problems) = written {
            self.end_tier(instance, tier, &[identity])?;
            return Err(problems);
        }
        Ok(identity)
    }

    pub(crate) fn close(&self) -> Result<()> {
        let Some(ledger) = self.ledger.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(());
        };
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        let result = ledger.entries().and_then(|entries| undo::undo(&entries)).map(|_| ());
        match (&result, &mut keeper) {
            (Ok(()), keeper) => {
                ledger.remove()?;
                keeper.iter_mut().for_each(Keeper::dismiss);
            }
            (Err(_), Some(keeper)) => keeper.hand_over(),
            (Err(_), None) => {}
        }
        result
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // What fails here stays in the ledger, for the keeper and the next sweep.
        _ = self.close();
    }
}

fn check_id(id: &str) -> Result<()> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if id.starts_with(|c: char| c.is_ascii_alphanumeric()) && id.len() <= 64 && id.chars().all(fine) {
        return Ok(());
    }
    Err(Problem::bug(format!("`{id}` can't name a lab: letters, digits, `.`, `-`, `_`, at most 64")).into())
}

/// Paths go into the configuration files of many servers, each with its own idea of quoting.
fn check_home(home: &Path) -> Result<()> {
    let fine = |c: char| !c.is_control() && !"\"'\\$%{}#;`<>&|*?".contains(c);
    match home.to_str() {
        Some(text) if text.chars().all(fine) => Ok(()),
        _ => Err(Problem::environment(format!(
            "the path {} can't stand in configuration files",
            home.display()
        ))
        .key("PLIMSOLL_HOME")
        .remedy("a path without quotes, backslashes and $ % { } # ; ` < > & | * ?")
        .into()),
    }
}

/// Tells this lab from others of the same id, under another home or at another time.
fn token(id: &str) -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write(id.as_bytes());
    hasher.write_u32(std::process::id());
    format!("{:012x}", hasher.finish() & 0xffff_ffff_ffff)
}

/// In the file system that Linux keeps in memory, where it is mounted.
fn memory_dir(token: &str) -> Option<PathBuf> {
    let shared = Path::new("/dev/shm");
    shared.is_dir().then(|| unlinked(shared).join(format!("plimsoll-{token}")))
}

/// The same directory by a path without links, of which there must be none in a lab's paths.
fn unlinked(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// In the lab's directory where the path is short enough, else in the temporary directory.
fn socket_dir(dir: &Path, token: &str) -> Result<PathBuf> {
    let choices = [
        dir.join("sockets"),
        unlinked(&std::env::temp_dir()).join(format!("plimsoll-{token}")),
        unlinked(Path::new("/tmp")).join(format!("plimsoll-{token}")),
    ];
    let fits = |path: &PathBuf| path.as_os_str().len() + SOCKET_NAME_BYTES <= SOCKET_PATH_MAX_BYTES;
    choices.into_iter().find(fits).ok_or_else(|| Problem::bug("no directory has a short enough path").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_move_to_the_temporary_directory_when_the_home_is_deep() {
        let near = socket_dir(Path::new("/srv/plimsoll/instances/run-1"), "0a1b").expect("a directory");
        assert_eq!(near, Path::new("/srv/plimsoll/instances/run-1/sockets"));
        let deep = format!("/home/{}/instances/run-1", "d".repeat(80));
        let far = socket_dir(Path::new(&deep), "0a1b").expect("a directory");
        assert!(far.as_os_str().len() + SOCKET_NAME_BYTES <= SOCKET_PATH_MAX_BYTES, "{}", far.display());
    }

    #[test]
    fn a_name_that_leaves_the_directory_is_refused() {
        for id in ["", "..", "a/b", "-x", "ä", &"x".repeat(65)] {
            assert!(check_id(id).is_err(), "{id:?} must be refused");
        }
        assert!(check_id("2026-11-21.demo_1").is_ok());
    }

    #[test]
    fn a_home_that_a_configuration_file_would_misread_is_refused() {
        assert!(check_home(Path::new("/srv/plimsoll home")).is_ok());
        assert!(check_home(Path::new("/srv/$plimsoll")).is_err());
        assert!(check_home(Path::new("/srv/pl\"imsoll")).is_err());
    }
}
