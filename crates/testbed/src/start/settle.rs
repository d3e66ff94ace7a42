//! What servers work out when they first read files that runs write into: done once, and kept with the files.

use std::path::{Path, PathBuf};

use model::{Problem, Result};

use super::{Lab, Stack, StartOptions, Starting, Step};
use crate::job::{CONSOLE, Job};
use crate::{links, log};

/// Lines of a command's output that are shown when it fails.
const SHOWN_LINES: usize = 10;

/// Files as the servers' commands left them, which go when this is dropped.
#[derive(Debug)]
pub struct SettledFiles {
    _stack: Stack,
    root: PathBuf,
}

impl SettledFiles {
    /// Keeps them at `to`, which must not exist and lies on the same file system: servers can read them there, and not
    /// change them.
    pub fn keep(self, to: &Path) -> Result<()> {
        links::keep_tree(&self.root, to)
    }
}

impl Lab {
    /// Runs the `[[settle_files]]` of all tiers on links to the file set. Nothing is started.
    ///
    /// # Errors
    /// Those of a start before anything starts; a command that fails, with the end of what it said.
    pub fn settle_files(&self, mut options: StartOptions<'_>) -> Result<SettledFiles> {
        let (mut starting, stack) = self.begin(&mut options)?;
        let root = starting.layout.own_files();
        let root = root.ok_or_else(|| Problem::bug("files that no run writes into are to be settled"))?;
        for index in 0..starting.layout.tiers.len() {
            starting.settle_tier(index)?;
        }
        Ok(SettledFiles { _stack: stack, root })
    }
}

impl Starting<'_, '_> {
    /// All its instances would see the same files: the first one's commands are enough.
    fn settle_tier(&mut self, index: usize) -> Result<()> {
        let tier = self.layout.tiers[index];
        if tier.service.files_settles.is_empty() {
            return Ok(());
        }
        self.write_tier(index)?;
        let commands: Vec<_> = self.ready[index].servers[0].settles.iter().map(|one| one.again()).collect();
        let dir = self.ready[index].servers[0].dir.clone();
        for command in commands {
            let started = std::time::Instant::now();
            self.step(index, Step::Command(command.title.clone()), None);
            let job = Job::new(self.site, &self.instance, &tier.name, &dir, &self.layout.cpus);
            if let Err(what) = job.run(&command, self.options.cancel)? {
                let lines = log::tail(&dir.join(CONSOLE), SHOWN_LINES).join("\n    ");
                return Err(Problem::environment(format!("{what}; it said at last:\n    {lines}"))
                    .tier(&tier.name)
                    .into());
            }
            self.step(index, Step::Command(command.title), Some(started.elapsed()));
        }
        // Nobody may change the files while they change hands.
        self.site.end_tier(&self.instance, &tier.name, &[])
    }
}
