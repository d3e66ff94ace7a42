//! Building a kit's application or a server: one command, in a cgroup of its own, that ends with its lab at the latest.
//!
//! It is no server: it runs as the user who runs the tool and with that user's environment, since compilers and what
//! fetches libraries keep their settings and caches in that user's home.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use model::{Kind, Problem, Result};

use crate::lab::{Lab, Site};
use crate::launch::{Confinement, Running, Spawner, confine};
use crate::process::{Family, MARKER};
use crate::{cgroup, disk};

/// A command that builds something.
#[derive(Debug, Clone, Copy)]
pub struct BuildCommand<'a> {
    /// What it builds, for whoever interrupts it: `the application`.
    pub what: &'a str,
    /// A program of PATH and its arguments.
    pub run: &'a [String],
    /// Its working directory.
    pub dir: &'a Path,
    /// Where its standard output and error go.
    pub log: &'a Path,
    /// The CPUs that it may use; all when empty.
    pub cpus: &'a [usize],
}

impl Lab {
    /// Runs it to its end, and ends whatever it left running; the inner error says how it failed. `cancel` is asked often:
    /// `true` ends it as interrupted.
    ///
    /// # Errors
    /// A log that can't be written; an interruption; processes that can't be ended.
    pub fn build(&self, build: &BuildCommand<'_>, cancel: &dyn Fn() -> bool) -> Result<Result<(), String>> {
        let program = build.run.first().map_or("", String::as_str);
        let mut running = match self.site.build(build)? {
            Ok(running) => running,
            Err(error) => return Ok(Err(format!("{program} can't be started: {error}"))),
        };
        let ended = loop {
            match running.child.try_wait() {
                Ok(Some(status)) if status.success() => break Ok(Ok(())),
                Ok(Some(status)) => break Ok(Err(format!("{program} ended with {status}"))),
                Err(error) => break Ok(Err(format!("{program} was lost: {error}"))),
                Ok(None) if cancel() => {
                    let what = format!("interrupted while {} was built", build.what);
                    break Err(Problem::new(Kind::Interrupted, what).into());
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        self.site.end_build(&running)?;
        _ = running.child.wait();
        ended
    }
}

impl Site {
    /// Ends it and what it started: it runs as the tool's user, not as the lab's.
    fn end_build(&self, running: &Running) -> Result<()> {
        if let Some(group) = self.tier_group("0", cgroup::BUILD) {
            cgroup::end(&group)?;
        }
        let marker = self.tier_marker("0", cgroup::BUILD);
        let uid = rustix::process::geteuid().as_raw();
        Family { started: &[running.identity], marker: &marker, uid }.end().map(|_| ())
    }
}

impl BuildCommand<'_> {
    pub(crate) fn spawn(&self, spawner: &Spawner, confinement: Confinement) -> Result<io::Result<Child>> {
        let failed = |error: io::Error| disk::failed("write", self.log, &error);
        let output = File::create(self.log).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        let mut command = Command::new(self.run.first().map_or("", String::as_str));
        command
            .args(self.run.iter().skip(1))
            .current_dir(self.dir)
            .env(MARKER, &confinement.marker)
            .stdin(Stdio::null())
            .stdout(Stdio::from(output))
            .stderr(Stdio::from(errors));
        confine(&mut command, self.cpus, confinement);
        spawner.run(command)
    }
}
