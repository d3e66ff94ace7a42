//! A process that outlives whoever starts it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use model::{Problem, Result};
use rustix::process::{Signal, setsid};
use serde::{Deserialize, Serialize};

use crate::launch::close_on_exec_from;
use crate::process::{Identity, boot_id};
use crate::{disk, log};

/// After KILL.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A process that outlives whoever starts it, in a process group of its own: what ends the other by its terminal leaves it alone.
#[derive(Debug, Clone)]
pub struct Detached {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// What its environment has beside that of whoever starts it.
    pub env: Vec<(&'static str, OsString)>,
    /// Its working directory.
    pub dir: PathBuf,
    /// Where `stdout` and `stderr` are written, made where it is missing; its input is empty.
    pub outputs: PathBuf,
}

impl Detached {
    /// Starts it.
    ///
    /// # Errors
    /// There is no such program or directory, or no room for what it prints.
    pub fn start(&self) -> io::Result<Child> {
        fs::create_dir_all(&self.outputs)?;
        Command::new(&self.program)
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(File::create(self.outputs.join("stdout"))?)
            .stderr(File::create(self.outputs.join("stderr"))?)
            .process_group(0)
            .spawn()
    }

    /// Starts it in a session of its own, so that neither a terminal nor its end reaches it; all that it prints is in `log`
    /// in the folder `outputs`, which begins anew. It has the CPUs and the priority of the calling thread.
    ///
    /// It stays in the process table when it ends before the caller does; it counts as ended then.
    ///
    /// # Errors
    /// There is no such program or directory, or no room for what it prints.
    pub fn start_lasting(&self) -> Result<LastingProcess> {
        disk::make_dir(&self.outputs, 0o700)?;
        let log = self.outputs.join("log");
        let unwritten = |error| disk::failed("write", &log, &error);
        let output = File::create(&log).map_err(unwritten)?;
        let errors = output.try_clone().map_err(unwritten)?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors);
        // SAFETY: the closure runs between fork and exec and makes system calls only.
        unsafe {
            command.pre_exec(|| {
                setsid()?;
                close_on_exec_from(3);
                Ok(())
            });
        }
        let failed =
            |what: &str| Problem::environment(format!("failed to start {}: {what}", self.program.display()));
        let child = command.spawn().map_err(|error| failed(&error.to_string()))?;
        // It is our child and nobody has waited for it: its number is its own, ended or not.
        let identity = Identity::of(child.id()).ok_or_else(|| failed("it is not in /proc"))?;
        Ok(LastingProcess { identity, boot_id: boot_id(), log })
    }
}

/// A process of this machine that outlives whoever started it, as a later start of the tool needs it: its number, when it
/// began and in which boot, so that no other process that has its number by then is taken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastingProcess {
    /// Its number and start time.
    #[serde(flatten)]
    pub identity: Identity,
    /// The boot that the start time counts from.
    pub boot_id: String,
    /// All that it prints.
    pub log: PathBuf,
}

/// How a process that was to be stopped ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopOutcome {
    /// It was asked to (TERM), and ended in time.
    Terminated,
    /// It was killed, since it did not end in time.
    Killed,
    /// It did not run any more; nothing was signalled.
    WasNotRunning,
}

impl LastingProcess {
    /// Whether it still runs, in this boot.
    pub fn is_alive(&self) -> bool {
        self.boot_id == boot_id() && self.identity.runs()
    }

    /// The last lines of its log that are not empty.
    pub fn last_lines(&self, count: usize) -> Vec<String> {
        log::tail(&self.log, count)
    }

    /// Ends it: by TERM, and by KILL when it still runs after `grace`. Nothing else is ever signalled.
    ///
    /// # Errors
    /// No right to signal it, or a process that does not end although it was killed.
    pub fn stop(&self, grace: Duration) -> Result<StopOutcome> {
        if !self.is_alive() {
            return Ok(StopOutcome::WasNotRunning);
        }
        let pid = self.identity.pid;
        if !self.identity.signal(Signal::TERM) {
            if self.is_alive() {
                return Err(Problem::environment(format!("process {pid} can't be ended"))
                    .remedy("end it as the user who started it")
                    .into());
            }
            return Ok(StopOutcome::WasNotRunning);
        }
        if self.ends_within(grace) {
            return Ok(StopOutcome::Terminated);
        }
        self.identity.signal(Signal::KILL);
        if self.ends_within(KILL_TIMEOUT) {
            return Ok(StopOutcome::Killed);
        }
        Err(Problem::environment(format!("process {pid} does not end although it was killed"))
            .remedy("wait for its disk or network I/O to finish")
            .into())
    }

    fn ends_within(&self, time: Duration) -> bool {
        let start = Instant::now();
        while self.is_alive() {
            if start.elapsed() > time {
                return false;
            }
            thread::sleep(LOOK_EVERY);
        }
        true
    }
}
