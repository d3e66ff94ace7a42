//! Starting one confined process: its own session, cgroup, network, CPUs, user, a clean environment, and a death signal.
//!
//! A death signal is bound to the *thread* that forked and is cleared when the user changes. So one thread that lives as
//! long as the lab forks them all, and the child asks for the signal last.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use model::{Problem, Result};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpid, getppid, getrlimit, set_parent_process_death_signal, setrlimit,
    setsid,
};
use rustix::thread::{
    CpuSet, sched_setaffinity, set_no_new_privs, set_thread_gid, set_thread_groups, set_thread_uid,
};

use crate::process::Identity;
use crate::{disk, guarded, network};

/// A process to be started as part of a lab.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The tier that it belongs to; also the name of its cgroup.
    pub tier: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its environment; nothing else is passed but PATH and LANG.
    pub env: Vec<(String, String)>,
    /// Its working directory.
    pub dir: PathBuf,
    /// A file for its standard input; empty when absent.
    pub input: Option<PathBuf>,
    /// Where standard output and error are appended.
    pub output: PathBuf,
    /// The CPUs that it may use; all when empty.
    pub cpus: Vec<usize>,
}

/// A process of a lab.
#[derive(Debug)]
pub struct Running {
    pub(crate) child: Child,
    /// The process.
    pub identity: Identity,
    /// Its cgroup, where one could be made and entered.
    pub cgroup: Option<PathBuf>,
}

impl Running {
    /// Takes note of its end, so that nothing of it is left in the table of processes: for one that its lab has ended.
    pub fn reap(mut self) {
        _ = self.child.try_wait();
    }
}

/// How a process is confined, besides what [`Launch`] says.
pub(crate) struct Confinement {
    pub(crate) uid: Option<u32>,
    pub(crate) marker: String,
    pub(crate) entrances: Vec<OwnedFd>,
    /// The way into a network that is not this host's.
    pub(crate) network: Option<OwnedFd>,
    /// The most descriptors that it may have, if fewer than the tool.
    pub(crate) descriptors: Option<u64>,
}

/// The thread that forks.
#[derive(Debug)]
pub(crate) struct Spawner {
    requests: mpsc::Sender<(Command, mpsc::Sender<io::Result<Child>>)>,
}

impl Spawner {
    pub(crate) fn start() -> Result<Spawner> {
        let (requests, inbox) = mpsc::channel::<(Command, mpsc::Sender<io::Result<Child>>)>();
        thread::Builder::new()
            .name("spawner".to_string())
            .spawn(move || {
                for (mut command, answer) in inbox {
                    // Nobody waits any more: then the child is ended with the lab.
                    _ = answer.send(command.spawn());
                }
            })
            .map_err(|error| Problem::environment(format!("failed to start a thread: {error}")))?;
        Ok(Spawner { requests })
    }

    /// Starts the process; it is in its cgroup when this returns.
    pub(crate) fn spawn(&self, launch: &Launch, confinement: Confinement) -> Result<Child> {
        self.run(command(launch, confinement)?)?.map_err(|error| {
            let problem = Problem::environment(format!("failed to start {}: {error}", launch.program.display()));
            let hidden = error.kind() == io::ErrorKind::PermissionDenied;
            let remedy = "every directory above PLIMSOLL_HOME must let other users enter (chmod o+x), since servers \
                          run as a user of their own";
            if hidden { problem.tier(&launch.tier).remedy(remedy) } else { problem.tier(&launch.tier) }.into()
        })
    }

    /// Forks from the thread that lives as long as this value.
    pub(crate) fn run(&self, command: Command) -> Result<io::Result<Child>> {
        let (answer, result) = mpsc::channel();
        let gone = || Problem::bug("the thread that starts servers has ended");
        self.requests.send((command, answer)).map_err(|_| gone())?;
        result.recv().map_err(|_| gone().into())
    }
}

fn command(launch: &Launch, confinement: Confinement) -> Result<Command> {
    let open = |error: io::Error| disk::failed("write", &launch.output, &error);
    let output = guarded::append(&launch.output, 0o644, confinement.uid).map_err(open)?;
    let errors = output.try_clone().map_err(open)?;
    let input = match &launch.input {
        Some(path) => Stdio::from(guarded::open(path).map_err(|error| disk::failed("read", path, &error))?),
        None => Stdio::null(),
    };
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.args)
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LANG", "C")
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .env(crate::process::MARKER, &confinement.marker)
        .current_dir(&launch.dir)
        .stdin(input)
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(errors));
    confine(&mut command, &launch.cpus, confinement);
    Ok(command)
}

/// Lets the child of `command` enter its confinement before it becomes the program.
pub(crate) fn confine(command: &mut Command, cpus: &[usize], confinement: Confinement) {
    let child = ChildSetup::new(cpus, confinement);
    // SAFETY: `enter` runs between fork and exec in a process with one thread; it makes system calls only, on values
    // that were prepared before the fork. It neither allocates nor locks.
    unsafe { command.pre_exec(move || child.enter()) };
}

/// All that the child needs, made before the fork.
struct ChildSetup {
    tool: Pid,
    entrances: Vec<OwnedFd>,
    network: Option<OwnedFd>,
    cpus: Option<CpuSet>,
    uid: Option<u32>,
    descriptors: Option<u64>,
}

impl ChildSetup {
    fn new(cpus: &[usize], confinement: Confinement) -> ChildSetup {
        let mut set = CpuSet::new();
        cpus.iter().filter(|cpu| **cpu < CpuSet::MAX_CPU).for_each(|cpu| set.set(*cpu));
        let cpus = (!cpus.is_empty()).then_some(set);
        let Confinement { uid, entrances, network, descriptors, .. } = confinement;
        ChildSetup { tool: getpid(), entrances, network, cpus, uid, descriptors }
    }

    fn enter(&self) -> io::Result<()> {
        setsid()?;
        for entrance in &self.entrances {
            // Without the right to, the process runs outside of the group and is ended by its identity.
            _ = rustix::io::write(entrance, b"0");
        }
        self.network.as_ref().map_or(Ok(()), network::enter)?;
        close_on_exec_from(3);
        let files = getrlimit(Resource::Nofile);
        let most = self.descriptors.or(files.maximum);
        setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most })?;
        if let Some(cpus) = &self.cpus {
            sched_setaffinity(None, cpus)?;
        }
        if let Some(uid) = self.uid {
            set_thread_groups(&[])?;
            set_thread_gid(rustix::process::Gid::from_raw(uid))?;
            set_thread_uid(rustix::process::Uid::from_raw(uid))?;
        }
        set_no_new_privs(true)?;
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // The tool may have died before the signal was asked for.
        if getppid() == Some(self.tool) { Ok(()) } else { Err(io::Error::from(io::ErrorKind::BrokenPipe)) }
    }
}

/// Descriptors that the tool itself inherited without the flag must not reach a server.
pub(crate) fn close_on_exec_from(first: u32) {
    // SAFETY: the call takes numbers only and sets a flag on descriptors of this process; where the kernel lacks it
    // (before Linux 5.11) nothing happens.
    unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Keeps a descriptor open over exec, in the child only.
pub(crate) fn keep_over_exec(fd: &impl AsRawFd) -> io::Result<()> {
    // SAFETY: F_SETFD changes a flag of a descriptor that the caller holds open.
    match unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
