//! Commands that run to their end, confined as the server is that they belong to.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{Kind, Problem, Result};

use crate::lab::Site;
use crate::launch::{Launch, Running};
use crate::prepare::ReadyCommand;
use crate::{disk, program};

/// Where a server's standard output and error go, relative to its tier's directory.
pub(crate) const CONSOLE: &str = "logs/console.log";

/// A command of a service that runs to its end, confined as the server itself is.
pub(crate) struct Job<'a> {
    site: &'a Site,
    instance: &'a str,
    tier: &'a str,
    dir: &'a Path,
    cpus: &'a [usize],
    folder: &'a Path,
    env: &'a [(String, String)],
    output: PathBuf,
}

impl<'a> Job<'a> {
    pub(crate) fn new(
        site: &'a Site,
        instance: &'a str,
        tier: &'a str,
        dir: &'a Path,
        cpus: &'a [usize],
    ) -> Job<'a> {
        Job { site, instance, tier, dir, cpus, folder: dir, env: &[], output: dir.join(CONSOLE) }
    }

    /// It runs in `folder` instead of its tier's directory.
    pub(crate) fn within_folder(self, folder: &'a Path) -> Job<'a> {
        Job { folder, ..self }
    }

    /// It sees these variables as well.
    pub(crate) fn with_env(self, env: &'a [(String, String)]) -> Job<'a> {
        Job { env, ..self }
    }

    /// What it says is appended to `output` instead of the server's console.
    pub(crate) fn writing_to(self, output: &Path) -> Job<'a> {
        Job { output: output.to_path_buf(), ..self }
    }

    /// Runs it; the inner error says how the command failed.
    pub(crate) fn run(
        &self,
        command: &ReadyCommand,
        cancel: &dyn Fn() -> bool,
    ) -> Result<Result<(), String>> {
        self.run_within(command, None, &mut |_| cancel())
    }

    /// As [`Job::run`], but it fails where it has not ended `within` this time. `cancel` is told how long it has been running.
    pub(crate) fn run_within(
        &self,
        command: &ReadyCommand,
        within: Option<Duration>,
        cancel: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<Result<(), String>> {
        let Some((first, args)) = command.run.split_first() else { return Ok(Ok(())) };
        let found = if first.contains('/') { Some(PathBuf::from(first)) } else { None };
        let found = found.or_else(|| program::find(first, &self.site.home).map(|program| program.path));
        let Some(program) = found else {
            return Ok(Err(format!("could not {}: there is no program {first}", command.title)));
        };
        let input = self.dir.join("tmp/input");
        if let Some(text) = &command.input {
            disk::write(&input, text.as_bytes(), self.site.owner.of_files())?;
        }
        let launch = Launch {
            tier: self.tier.to_string(),
            program,
            args: args.iter().map(Into::into).collect(),
            env: [("TMPDIR".to_string(), self.dir.join("tmp").display().to_string())]
                .into_iter()
                .chain(self.env.iter().cloned())
                .collect(),
            dir: self.folder.to_path_buf(),
            input: command.input.as_ref().map(|_| input),
            output: self.output.clone(),
            cpus: self.cpus.to_vec(),
        };
        let mut running = self.site.launch(&launch, self.instance)?;
        let started = Instant::now();
        loop {
            match running.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(Ok(())),
                Ok(Some(status)) => {
                    return Ok(Err(format!("could not {}: {first} ended with {status}", command.title)));
                }
                Err(error) => return Ok(Err(format!("could not {}: {error}", command.title))),
                Ok(None) if cancel(started.elapsed()) => {
                    self.end(&mut running)?;
                    return Err(interrupted(self.tier).into());
                }
                Ok(None) if within.is_some_and(|within| started.elapsed() > within) => {
                    self.end(&mut running)?;
                    let within_s = within.unwrap_or_default().as_secs_f64();
                    return Ok(Err(format!(
                        "could not {}: {first} had not ended after {within_s} s",
                        command.title
                    )));
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Ends all of its tier.
    fn end(&self, running: &mut Running) -> Result<()> {
        self.site.end_tier(self.instance, self.tier, &[running.identity])?;
        _ = running.child.wait();
        Ok(())
    }
}

/// What a start that the user gave up says.
pub(crate) fn interrupted(tier: &str) -> Problem {
    Problem::new(Kind::Interrupted, "interrupted while the stack was starting").tier(tier)
}
