//! A stack that runs: what its tiers are, which of them died, what their logs warn of, and its end.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::catalogue::tier_setting::OwnHost;
use model::{MemoryKill, Problem, Problems, Result, ServerJob, ServiceManifest};
use rustix::process::Signal;

use crate::job::Job;
use crate::lab::Site;
use crate::launch::Running;
use crate::log::{self, Follower};
use crate::prepare::ReadyCommand;
use crate::process::Identity;
use crate::program::Version;
use crate::{disk, guarded, killed, links};

mod files;
mod instance;
mod preparation;

pub use instance::Instance;
pub(crate) use preparation::Preparation;

/// Lines of a dead server's log that are shown.
const SHOWN_LINES: usize = 10;

/// A running tier.
#[derive(Debug)]
pub struct Tier {
    /// web, app, db, cache.
    pub name: String,
    /// The service's name.
    pub service: String,
    /// What the program says about itself.
    pub version: Version,
    /// What its settings are warned of, a sentence each.
    pub warnings: Vec<String>,
    /// Its main process; of several instances that of the first.
    pub pid: u32,
    /// The main processes of all its instances.
    pub pids: Vec<u32>,
    /// Its cgroup, with all its processes, where one could be made.
    pub cgroup: Option<PathBuf>,
    /// Where users or other tiers reach each of its instances, if they listen on a port; else none.
    pub addresses: Vec<SocketAddr>,
    /// All its ports by name; those of the second instance are called `NAME-2`.
    pub ports: BTreeMap<String, u16>,
    /// Its sockets by name, likewise.
    pub sockets: BTreeMap<String, PathBuf>,
    /// Its directory, gone when the stack is dropped. The second instance has one called `TIER-2` beside it.
    pub dir: PathBuf,
    /// The kept directory of what its server was built into, where it is built.
    pub built: Option<PathBuf>,
    /// Its program is built from sources in this repository.
    pub is_built: bool,
    /// A database's data directory: what a snapshot copies once the stack has stopped.
    pub data_dir: Option<PathBuf>,
    /// Its rendered files, of all instances.
    pub files: Vec<PathBuf>,
    /// Its logs, instance by instance: the error log first, the console last. Some may not exist.
    pub logs: Vec<PathBuf>,
    /// What it tells about itself, and where.
    pub job: ServerJob,
    /// A commit on one of its instances waits until all have it.
    pub commits_together: bool,
    /// Beginnings of the names of its threads that serve nobody.
    pub background_threads: Vec<String>,
    /// Its threads are event loops.
    pub event_loop: bool,
    /// Beginnings of the names of its threads that are; all may be when empty.
    pub loop_threads: Vec<String>,
    /// The host of its own that it is on, if any.
    pub own_host: Option<OwnHost>,
    pub(crate) settles: Vec<ReadyCommand>,
    pub(crate) cpus: Vec<usize>,
    pub(crate) loading: bool,
    pub(crate) secret: String,
}

/// An instance of a tier whose main process ended without being asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    /// The tier.
    pub tier: String,
    /// Which of its instances, from 1.
    pub instance: usize,
    /// How many there were, dead ones included.
    pub instances: usize,
    /// How many of them live.
    pub living: usize,
    /// How it ended: `exit status: 1`, `signal: 9 (SIGKILL)`.
    pub status: String,
    /// The last lines of its log.
    pub log_tail: Vec<String>,
    /// That the kernel ended it at the limit that was set for its memory: then its log says nothing of that.
    pub memory: Option<MemoryKill>,
}

impl Death {
    /// Which server it was: the tier, and of several instances which one: `db-2 of 3`.
    pub fn server(&self) -> String {
        match self.instances {
            1 => self.tier.clone(),
            all => format!("{}-{} of {all}", self.tier, self.instance),
        }
    }

    /// How it ended, with its log's last words where they may tell why.
    pub fn sentence(&self) -> String {
        match &self.memory {
            Some(kill) => format!("the server ended ({}): {kill}", self.status),
            None => {
                let tail = self.log_tail.join("\n    ");
                format!("the server ended ({}); its log says:\n    {tail}", self.status)
            }
        }
    }

    /// As a problem of the tier.
    pub fn problem(&self) -> Problem {
        let problem = Problem::environment(self.sentence()).tier(&self.tier);
        match &self.memory {
            Some(kill) => problem.remedy(kill.remedy(&self.tier)),
            None => problem,
        }
    }
}

/// A line of a log that the service's manifest calls an alarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlarmSeen {
    /// The tier.
    pub tier: String,
    /// The line.
    pub line: String,
    /// What it means for the result.
    pub means: String,
    /// Whether a run in which it appears is invalid.
    pub invalid: bool,
    /// The signal's name by which rules know it.
    pub signal: Option<String>,
}

/// How a tier stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The tier.
    pub tier: String,
    /// From the signal to the end of its last process.
    pub took: Duration,
    /// Whether it went by itself; `false` if it was dead already or had to be killed.
    pub clean: bool,
}

#[derive(Debug)]
struct Server {
    /// One for each instance.
    processes: Vec<Process>,
    service: ServiceManifest,
    followers: Vec<Follower>,
    /// Kills for memory that are known already.
    kills: u64,
}

#[derive(Debug)]
struct Process {
    running: Running,
    dead: bool,
}

impl Server {
    fn identities(&self) -> Vec<Identity> {
        self.processes.iter().map(|process| process.running.identity).collect()
    }
}

/// A stack that runs. Dropping it kills what still runs and removes its files.
#[derive(Debug)]
pub struct Stack {
    site: Arc<Site>,
    instance: String,
    directories: Vec<PathBuf>,
    /// Kept files, and the links to them that serve again once nobody writes there any more.
    links: Option<(PathBuf, PathBuf)>,
    files: Option<PathBuf>,
    preparation: Option<Preparation>,
    tiers: Vec<Tier>,
    servers: Vec<Server>,
    over: bool,
}

impl Stack {
    pub(crate) fn new(site: Arc<Site>, instance: String, dir: PathBuf) -> Stack {
        let (directories, tiers, servers) = (vec![dir], Vec::new(), Vec::new());
        let (links, files, preparation) = (None, None, None);
        Stack { site, instance, directories, links, files, preparation, tiers, servers, over: false }
    }

    /// Tells a tier to take over its changed files; whether it can.
    pub(crate) fn reload(&mut self, tier: &str) -> bool {
        let found = self.tiers.iter().zip(&self.servers).find(|(one, _)| one.name == tier);
        found.is_some_and(|(_, server)| {
            let signal = server.service.reload.as_ref().and_then(|reload| reload_signal(&reload.signal));
            let tell = |signal| server.identities().into_iter().all(|process| process.signal(signal));
            signal.is_some_and(tell)
        })
    }

    /// Whose it is, and which instance of it.
    pub(crate) fn site_and_instance(&self) -> (&Site, &str) {
        (&self.site, &self.instance)
    }

    pub(crate) fn add_directory(&mut self, dir: PathBuf) {
        self.directories.push(dir);
    }

    pub(crate) fn add(&mut self, tier: Tier, running: Vec<Running>, service: ServiceManifest) {
        let followers = tier.logs.iter().cloned().map(Follower::new).collect();
        let processes = running.into_iter().map(|running| Process { running, dead: false }).collect();
        let groups = self.site.holds.entered(&self.instance, &tier.name);
        let kills = killed::of(&groups).map_or(0, |kills| kills.count);
        self.tiers.push(tier);
        self.servers.push(Server { processes, service, followers, kills });
    }

    /// Ends and forgets the tier that was added last.
    pub(crate) fn remove_last(&mut self) -> Result<()> {
        if let (Some(tier), Some(mut server)) = (self.tiers.pop(), self.servers.pop()) {
            self.site.end_tier(&self.instance, &tier.name, &server.identities())?;
            server.processes.iter_mut().for_each(|process| _ = process.running.child.wait());
        }
        Ok(())
    }

    /// The tiers, in the order in which they started.
    pub fn tiers(&self) -> &[Tier] {
        &self.tiers
    }

    /// The tier of that name.
    pub fn tier(&self, name: &str) -> Option<&Tier> {
        self.tiers.iter().find(|tier| tier.name == name)
    }

    /// Where users reach the stack: the web tier's address.
    pub fn web_address(&self) -> Option<SocketAddr> {
        self.tier("web").and_then(|tier| tier.addresses.first().copied())
    }

    /// Ends an instance of a tier at once, as by a power cut: it is none of the deaths. How many live then. `instance` is from 0.
    ///
    /// # Errors
    /// An instance that there isn't; one that can't be ended.
    pub fn kill(&mut self, tier: &str, instance: usize) -> Result<usize> {
        let mut of_tier = self.tiers.iter().zip(&mut self.servers).filter(|(one, _)| one.name == tier);
        let process = of_tier.next().and_then(|(_, server)| server.processes.get_mut(instance));
        let none =
            || Problem::recipe(format!("there is no instance {} to be killed", instance + 1)).tier(tier);
        let process = process.ok_or_else(none)?;
        process.dead = true;
        let failed = |error| Problem::environment(format!("failed to kill it: {error}")).tier(tier);
        process.running.child.kill().map_err(failed)?;
        // Else the others would be told of a connection to a process that has not quite gone.
        process.running.child.wait().map_err(failed)?;
        Ok(self.living(tier).len())
    }

    /// Cuts the host of an instance off from all others, or joins it again. `instance` is from 0.
    ///
    /// # Errors
    /// An instance that has no host of its own; a command of iproute2 that fails.
    pub fn cut(&self, tier: &str, instance: usize, off: bool) -> Result<()> {
        self.site.hosts.cut(&self.instance, (tier, instance), off)
    }

    /// The process that carries packets between hosts of the stack, and its cgroup; nothing where the kernel does.
    pub fn carrier(&self) -> Option<(u32, Option<PathBuf>)> {
        self.site.hosts.carrier(&self.instance)
    }

    /// Which instances of a tier live, from 0; none of a tier that there isn't.
    pub fn living(&self, tier: &str) -> Vec<usize> {
        let of_tier = self.tiers.iter().zip(&self.servers).find(|(one, _)| one.name == tier);
        let processes = of_tier.iter().flat_map(|(_, server)| server.processes.iter().enumerate());
        processes.filter(|(_, process)| !process.dead).map(|(instance, _)| instance).collect()
    }

    /// Instances whose main process ended since the last call. Never blocks.
    pub fn deaths(&mut self) -> Vec<Death> {
        let mut deaths = Vec::new();
        for (tier, server) in self.tiers.iter().zip(&mut self.servers).filter(|_| !self.over) {
            let count = server.processes.len();
            let logs_of_one = tier.logs.len() / count.max(1);
            let mut found = Vec::new();
            for (instance, process) in server.processes.iter_mut().enumerate() {
                let Ok(Some(status)) = process.running.child.try_wait() else { continue };
                if std::mem::replace(&mut process.dead, true) {
                    continue;
                }
                let logs = tier.logs.iter().skip(instance * logs_of_one).take(logs_of_one).cloned();
                let log_tail = log::tails(&logs.collect::<Vec<_>>(), SHOWN_LINES);
                let by_kill = status.signal() == Some(Signal::KILL.as_raw());
                let (tier, status) = (tier.name.clone(), status.to_string());
                let (instance, instances) = (instance + 1, count);
                let death = Death { tier, instance, instances, living: 0, status, log_tail, memory: None };
                found.push((by_kill, death));
            }
            if found.is_empty() {
                // The kernel counts a kill before the process is gone: a count that is new stays so until then.
                continue;
            }
            let living = server.processes.iter().filter(|process| !process.dead).count();
            let kills = killed::of(&self.site.holds.entered(&self.instance, &tier.name));
            let new = kills.filter(|kills| kills.count > server.kills);
            server.kills = kills.map_or(0, |kills| kills.count);
            deaths.extend(found.into_iter().map(|(by_kill, death)| {
                let memory = new.filter(|_| by_kill).map(|kills| kills.kill);
                Death { memory, living, ..death }
            }));
        }
        deaths
    }

    /// New lines of the logs that a service's manifest calls alarms. Never blocks but for the reading of a file.
    pub fn alarms(&mut self) -> Vec<AlarmSeen> {
        let mut seen = Vec::new();
        for (tier, server) in self.tiers.iter().zip(&mut self.servers) {
            let service = &server.service;
            for line in server.followers.iter_mut().flat_map(Follower::news) {
                let alarm = service.alarms.iter().find(|alarm| line.contains(&alarm.contains));
                seen.extend(alarm.map(|alarm| AlarmSeen {
                    tier: tier.name.clone(),
                    line: line.clone(),
                    means: alarm.means.clone(),
                    invalid: alarm.invalid,
                    signal: alarm.signal.clone(),
                }));
            }
        }
        seen
    }

    /// Stops all tiers in the reverse order of their start, each by its own signal; what is left of a tier after its
    /// time is killed. A database that was started for loading then settles. Files stay until the stack is dropped.
    ///
    /// # Errors
    /// A process that can't even be killed; a settling command that fails.
    pub fn stop(&mut self) -> Result<Vec<Stopped>> {
        if std::mem::replace(&mut self.over, true) {
            return Ok(Vec::new());
        }
        let mut stopped = Vec::new();
        let mut problems = Vec::new();
        for (tier, server) in self.tiers.iter().zip(&mut self.servers).rev() {
            match stop_one(&self.site, &self.instance, tier, server) {
                Ok(one) => stopped.push(one),
                Err(found) => problems.extend(found.into_vec()),
            }
        }
        Problems::check(problems)?;
        for tier in self.tiers.iter().filter(|tier| tier.loading) {
            let clean = stopped.iter().all(|one| one.clean);
            if !clean {
                return Err(Problem::environment("the database did not shut down by itself after loading")
                    .tier(&tier.name)
                    .why("only a data directory that was shut down clean is kept")
                    .into());
            }
            settle(&self.site, &self.instance, tier)?;
        }
        Ok(stopped)
    }

    fn end(&mut self) -> Result<()> {
        self.over = true;
        let started: Vec<Identity> = self.servers.iter().flat_map(Server::identities).collect();
        let ended = self.site.end_instance(&self.instance, &started);
        let mut problems = ended.err().map(Problems::into_vec).unwrap_or_default();
        // Only the dead are waited for: whoever could not be killed is left to the lab's undo.
        let processes = self.servers.iter_mut().flat_map(|server| &mut server.processes);
        processes.for_each(|process| _ = process.running.child.try_wait());
        if let Some((kept, links)) = self.links.take().filter(|_| problems.is_empty()) {
            links::give_back(&kept, &links);
        }
        for directory in &self.directories {
            problems.extend(disk::remove_dir(directory).err().into_iter().flat_map(Problems::into_vec));
        }
        Problems::check(problems)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // What fails here stays in the lab's ledger and is undone with the lab.
        _ = self.end();
    }
}

fn stop_one(site: &Site, instance: &str, tier: &Tier, server: &mut Server) -> Result<Stopped> {
    let start = Instant::now();
    let timeout = Duration::from_secs_f64(server.service.stop.within_s.clamp(0.0, 3600.0));
    let signal = signal_of(&server.service.stop.signal);
    // All are told before any is waited for.
    let sent = server.processes.iter_mut().map(|process| process.send(signal)).collect::<Vec<_>>();
    let mut clean = true;
    for (process, sent) in server.processes.iter_mut().zip(sent) {
        clean &= sent && ends_within(process, start, timeout);
        process.dead = true;
    }
    site.end_tier(instance, &tier.name, &server.identities())?;
    server.processes.iter_mut().for_each(|process| _ = process.running.child.wait());
    Ok(Stopped { tier: tier.name.clone(), took: start.elapsed(), clean })
}

impl Process {
    /// Sends a signal, if it still runs.
    fn send(&mut self, signal: Signal) -> bool {
        let runs = !self.dead && matches!(self.running.child.try_wait(), Ok(None));
        runs && self.running.identity.signal(signal)
    }
}

fn ends_within(process: &mut Process, start: Instant, timeout: Duration) -> bool {
    while start.elapsed() < timeout {
        match process.running.child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Ok(Some(_)) => return true,
            Err(_) => return false,
        }
    }
    false
}

fn reload_signal(name: &str) -> Option<Signal> {
    match name {
        "USR1" => Some(Signal::USR1),
        "USR2" => Some(Signal::USR2),
        "HUP" => Some(Signal::HUP),
        _ => None,
    }
}

fn signal_of(name: &str) -> Signal {
    match name {
        "QUIT" => Signal::QUIT,
        "INT" => Signal::INT,
        "WINCH" => Signal::WINCH,
        _ => Signal::TERM,
    }
}

fn settle(site: &Site, instance: &str, tier: &Tier) -> Result<()> {
    let job = Job::new(site, instance, &tier.name, &tier.dir, &tier.cpus);
    for command in &tier.settles {
        if let Err(what) = job.run(command, &|| false)? {
            let lines = log::tails(&tier.logs, SHOWN_LINES).join("\n    ");
            return Err(Problem::environment(format!("{what}; its log ends:\n    {lines}"))
                .tier(&tier.name)
                .into());
        }
    }
    Ok(())
}

/// What of a tier's directory is kept beyond the stack's life, and where.
impl Tier {
    /// The text of a rendered file without the password that was drawn for this start: whoever may read kept runs must not
    /// reach the server by it while it stands.
    pub fn kept_text(&self, path: &Path) -> String {
        let text = guarded::open(path).and_then(std::io::read_to_string);
        text.unwrap_or_default().replace(&self.secret, "drawn-at-the-start")
    }

    /// The end of one of its logs, at most `limit` bytes; nothing of what a server has put in a log's place.
    pub fn log_end(&self, path: &Path, limit: u64) -> Vec<u8> {
        log::end(path, limit)
    }

    /// The last `count` lines of one of its logs that are not empty.
    pub fn last_lines(&self, path: &Path, count: usize) -> Vec<String> {
        log::tail(path, count)
    }

    /// A file of this tier relative to its directory: `logs/error.log`; one of its second instance: `TIER-2/logs/error.log`.
    pub fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        let above = self.dir.parent().unwrap_or(&self.dir);
        path.strip_prefix(&self.dir).or_else(|_| path.strip_prefix(above)).unwrap_or(path)
    }
}
