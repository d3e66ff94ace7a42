//! What an agent in the role `observe` watches: tiers on its own machine, each named by a systemd unit, a cgroup or a pid file. They
//! are looked up there, when a run is prepared.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use observe::TierJob;
use serde::{Deserialize, Serialize};

/// Where systemd keeps the units of the system, below the root of the cgroups.
const SYSTEM: &str = "system.slice";

/// Units are no deeper than this below it: slices in slices.
const MAX_DEPTH: usize = 6;

/// A pid file has a number and the end of a line.
const MAX_PID_FILE: u64 = 64;

/// A tier, and which processes on the machine are it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedTier {
    /// The tier's name in the run.
    pub tier: String,
    /// Its processes.
    pub by: WatchedBy,
}

/// By what a tier's processes are found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchedBy {
    /// A systemd unit: mariadb.service.
    Unit(String),
    /// A cgroup v2 by its path below their root, as systemd-cgls shows it: /system.slice/apache2.service.
    Cgroup(String),
    /// A file with the number of a process: that one and all below it.
    PidFile(PathBuf),
}

impl WatchedBy {
    /// Refuses what can be no unit, cgroup or file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        match self {
            WatchedBy::Unit(unit) => match unit.contains('/') || unit.starts_with('.') || !unit.contains('.')
            {
                true => Err(format!("`{unit}` is no systemd unit: mariadb.service")),
                false => Ok(()),
            },
            WatchedBy::Cgroup(path) => match inside(Path::new("/"), path) {
                None => Err(format!("`{path}` is no cgroup: /system.slice/apache2.service")),
                Some(_) => Ok(()),
            },
            WatchedBy::PidFile(path) => match path.is_absolute() {
                true => Ok(()),
                false => Err(format!("`{}` doesn't begin with `/`", path.display())),
            },
        }
    }

    /// The same for people.
    pub fn words(&self) -> String {
        match self {
            WatchedBy::Unit(unit) => format!("unit {unit}"),
            WatchedBy::Cgroup(path) => format!("cgroup {path}"),
            WatchedBy::PidFile(path) => format!("pid file {}", path.display()),
        }
    }
}

impl WatchedTier {
    /// Its processes on this machine, for an observer.
    ///
    /// # Errors
    /// It doesn't run, or can't be looked at.
    pub(crate) fn job(&self) -> Result<TierJob, String> {
        let root = observe::cgroup2_mount();
        let of_tier = |why: String| format!("tier {}: {}: {why}", self.tier, self.by.words());
        self.by.check().and_then(|()| self.find(root.as_deref())).map_err(of_tier)
    }

    fn find(&self, root: Option<&Path>) -> Result<TierJob, String> {
        let root = || root.ok_or("no cgroups of version 2 are mounted here, so name a pid file instead");
        let job = TierJob { name: self.tier.clone(), ..TierJob::default() };
        let of_group = |group: PathBuf| match observe::processes_of_cgroup(&group) {
            pids if pids.is_empty() => Err("no process is in it: it doesn't run".to_string()),
            pids => Ok(TierJob { cgroup: Some(group), pids, ..job.clone() }),
        };
        match &self.by {
            WatchedBy::Unit(unit) => of_group(group_of_unit(root()?, unit)?),
            WatchedBy::Cgroup(path) => {
                let group = inside(root()?, path).filter(|group| group.is_dir());
                of_group(group.ok_or("there is none: it doesn't run")?)
            }
            WatchedBy::PidFile(path) => Ok(TierJob { pids: vec![pid_in(path)?], ..job.clone() }),
        }
    }
}

/// A path below `root` that stays there.
fn inside(root: &Path, path: &str) -> Option<PathBuf> {
    let below = path.strip_prefix('/').filter(|below| !below.is_empty())?;
    let stays = Path::new(below).components().all(|part| matches!(part, Component::Normal(_)));
    stays.then(|| root.join(below))
}

/// The cgroup that systemd made for a unit, which has its name: that of the system's where there are several.
fn group_of_unit(root: &Path, unit: &str) -> Result<PathBuf, String> {
    let mut found = Vec::new();
    let mut folders = VecDeque::from([(root.to_path_buf(), 0)]);
    while let Some((folder, depth)) = folders.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_str() == Some(unit) {
                found.push(entry.path());
            } else if depth < MAX_DEPTH {
                folders.push_back((entry.path(), depth + 1));
            }
        }
    }
    let is_of_system = |group: &&PathBuf| group.starts_with(root.join(SYSTEM));
    match (found.as_slice(), found.iter().find(is_of_system)) {
        ([], _) => Err("it doesn't run: systemd has no cgroup for it".to_string()),
        ([only], _) | (_, Some(only)) => Ok(only.clone()),
        (several, None) => {
            let paths: Vec<String> = several.iter().map(|group| group.display().to_string()).collect();
            Err(format!("there are several of that name, so name a cgroup: {}", paths.join(", ")))
        }
    }
}

/// The number of the living process that the file names. What else is in the file is nobody's business.
fn pid_in(path: &Path) -> Result<u32, String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_PID_FILE).read_to_string(&mut text));
    read.map_err(|error| error.to_string())?;
    let pid: u32 = text.trim().parse().map_err(|_| "what is in it is no number of a process".to_string())?;
    match observe::is_living(pid) {
        true => Ok(pid),
        false => Err(format!("process {pid}, which it names, doesn't run")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tier(by: WatchedBy) -> WatchedTier {
        WatchedTier { tier: "database".to_string(), by }
    }

    /// A tree of cgroups in which these have this process in them.
    fn groups(paths: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for path in paths {
            let group = root.path().join(path);
            fs::create_dir_all(&group).expect("a folder");
            fs::write(group.join("cgroup.procs"), format!("{}\n", std::process::id())).expect("a file");
        }
        root
    }

    #[test]
    fn a_unit_is_the_cgroup_of_its_name_and_the_system_s_before_a_user_s() {
        let user = "user.slice/user-1.slice/user@1.service/app.slice/db.service";
        let root =
            groups(&["system.slice/db.service", user, "user.slice/two/x.service", "user.slice/x.service"]);
        let of = |unit: &str| tier(WatchedBy::Unit(unit.to_string())).find(Some(root.path()));
        let job = of("db.service").expect("it runs");
        assert_eq!(job.cgroup, Some(root.path().join("system.slice/db.service")));
        assert_eq!((job.name.as_str(), job.pids), ("database", vec![std::process::id()]));
        assert!(of("web.service").expect_err("it is not there").contains("it doesn't run"));
        assert!(of("x.service").expect_err("there are two").contains("several of that name"));
        let elsewhere = tier(WatchedBy::Unit("db.service".to_string())).find(None);
        assert!(elsewhere.expect_err("there are none").contains("name a pid file"));
    }

    #[test]
    fn a_cgroup_is_looked_for_below_their_root_alone() {
        let root = groups(&["a/b"]);
        fs::create_dir(root.path().join("empty")).expect("a folder");
        let of = |path: &str| tier(WatchedBy::Cgroup(path.to_string())).find(Some(root.path()));
        assert_eq!(of("/a/b").expect("it is there").cgroup, Some(root.path().join("a/b")));
        assert!(of("/a/c").expect_err("it is not there").contains("there is none"));
        assert!(of("/empty").expect_err("nobody is in it").contains("no process"));
        for path in ["", "/", "a/b", "/../etc", "/a/../../etc"] {
            let refused = WatchedBy::Cgroup(path.to_string()).check().expect_err(path);
            assert!(refused.contains("is no cgroup"), "{refused}");
        }
        for unit in ["", "db", "../db.service", "a/db.service"] {
            assert!(WatchedBy::Unit(unit.to_string()).check().is_err(), "{unit}");
        }
        assert!(WatchedBy::PidFile("run/db.pid".into()).check().is_err());
    }

    #[test]
    fn a_pid_file_names_a_process_that_lives_and_nothing_of_another_file_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |text: &str| {
            let path = folder.path().join("db.pid");
            fs::write(&path, text).expect("a file");
            tier(WatchedBy::PidFile(path)).job()
        };
        assert_eq!(of(&format!("{}\n", std::process::id())).expect("it lives").pids, [std::process::id()]);
        let refused = of("secret\n").expect_err("it is no number");
        assert!(refused.contains("no number") && !refused.contains("secret"), "{refused}");
        assert!(of("4194999\n").expect_err("there is none").contains("doesn't run"));
        let missing =
            tier(WatchedBy::PidFile(folder.path().join("none"))).job().expect_err("it is not there");
        assert!(missing.contains("tier database: pid file"), "{missing}");
    }
}
