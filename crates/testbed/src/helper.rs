//! A helper: a second process of the tool itself, with its user, that talks with it by standard input and output.
//!
//! It is no server: it may see what the tool may see. It ends when its input ends, at the tool's death by a signal,
//! and with its lab.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use model::{Problem, Result};

use crate::launch::{Confinement, Spawner, confine};

/// A helper to be started.
#[derive(Debug, Clone)]
pub struct Helper {
    /// The name of its cgroup, and of its row among the tiers.
    pub name: String,
    /// The program, usually the tool itself.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The CPUs that it may use; all when empty.
    pub cpus: Vec<usize>,
}

impl Helper {
    /// Starts it where there is no lab: without a cgroup, but it still ends with the tool.
    ///
    /// # Errors
    /// A program that can't be executed.
    pub fn start_alone(&self) -> Result<Helping> {
        let spawner = Spawner::start()?;
        let marker = self.name.clone();
        let confinement =
            Confinement { uid: None, marker, entrances: Vec::new(), network: None, descriptors: None };
        let child = self.spawn(&spawner, confinement)?;
        Ok(Helping::of(child, None, Some(spawner)))
    }

    pub(crate) fn spawn(&self, spawner: &Spawner, confinement: Confinement) -> Result<Child> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir("/")
            .env(crate::process::MARKER, &confinement.marker)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        confine(&mut command, &self.cpus, confinement);
        spawner.run(command)?.map_err(|error| {
            let what = format!("failed to start {} as {}: {error}", self.program.display(), self.name);
            Problem::environment(what).into()
        })
    }
}

/// A helper that runs. Dropping it kills it.
#[derive(Debug)]
pub struct Helping {
    child: Child,
    cgroup: Option<PathBuf>,
    /// Its standard input: it ends when this is dropped.
    pub input: Option<ChildStdin>,
    /// Its standard output.
    pub output: Option<ChildStdout>,
    /// Forked it: the death signal is bound to that thread.
    _spawner: Option<Spawner>,
}

impl Helping {
    pub(crate) fn of(mut child: Child, cgroup: Option<PathBuf>, spawner: Option<Spawner>) -> Helping {
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Helping { child, cgroup, input, output, _spawner: spawner }
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its cgroup, where one could be made and entered.
    pub fn cgroup(&self) -> Option<&Path> {
        self.cgroup.as_deref()
    }

    /// Ends its input and waits that long for its end before it is killed; whether it went by itself.
    pub fn end(mut self, patience: Duration) -> bool {
        self.input = None;
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.success(),
                Ok(None) if start.elapsed() < patience => std::thread::sleep(Duration::from_millis(1)),
                _ => return false,
            }
        }
    }
}

impl Drop for Helping {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            _ = self.child.kill();
            _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};

    fn helper(program: &str, args: &[&str]) -> Helper {
        Helper {
            name: "observers".to_string(),
            program: PathBuf::from(program),
            args: args.iter().map(Into::into).collect(),
            cpus: Vec::new(),
        }
    }

    #[test]
    fn a_helper_answers_and_ends_with_its_input() {
        let mut helping = helper("/bin/cat", &[]).start_alone().expect("cat exists");
        helping.input.as_mut().expect("it has an input").write_all(b"sample 1\n").expect("it reads");
        let mut line = String::new();
        let output = helping.output.take().expect("it has an output");
        BufReader::new(output).read_line(&mut line).expect("it answers");
        assert_eq!(line, "sample 1\n");
        assert!(helping.end(Duration::from_secs(20)), "cat ends well with its input");
    }

    #[test]
    fn a_helper_that_does_not_end_is_killed() {
        let helping = helper("/bin/sleep", &["1000"]).start_alone().expect("sleep exists");
        let process = crate::process::Identity::of(helping.pid()).expect("it runs");
        assert!(!helping.end(Duration::ZERO), "it does not look at its input");
        assert!(!process.runs());
    }

    #[test]
    fn a_program_that_is_not_there_is_said() {
        let said = helper("/no/such/program", &[]).start_alone().expect_err("it is not there").to_string();
        assert!(said.contains("/no/such/program") && said.contains("observers"), "{said}");
    }
}
