//! What an agent does in a run: a generator, a watcher of its machine's tiers, or both, and one way to tell what comes of them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::RunOptions;

use super::generator::Generator;
use super::watcher::{Watched, Watcher};
use crate::bus::{Broker, Teller, Telling, Voice};
use crate::spool::Spool;

/// It is done, or is about to be.
pub(super) struct Work {
    generator: Option<Generator>,
    /// How that ended, once it has.
    generated: Option<Result<(), String>>,
    watcher: Option<Watcher>,
    teller: Arc<Teller>,
    spool: PathBuf,
}

impl Work {
    /// Makes what there is of both ready; the first second begins when [`Self::begin_at`] says so.
    pub(super) fn arm(
        (options, watched): (Option<RunOptions>, Option<Watched>),
        broker: Broker,
        voice: Voice,
        (spool, max_bytes): (PathBuf, u64),
    ) -> Result<Work, String> {
        let opened = Spool::open(&spool, max_bytes).map_err(|error| error.to_string())?;
        let teller = Arc::new(Teller::begin(broker, voice, opened).map_err(|error| error.to_string())?);
        let watcher = watched.map(|watched| Watcher::arm(watched, Arc::clone(&teller))).transpose()?;
        let generator = options.map(|options| Generator::arm(options, Arc::clone(&teller))).transpose()?;
        Ok(Work { generator, generated: None, watcher, teller, spool })
    }

    /// Whether it stands ready.
    pub(super) fn is_armed(&self) -> bool {
        self.generator.as_ref().is_none_or(Generator::is_armed)
    }

    /// The first second begins then, by this machine's CLOCK_MONOTONIC.
    pub(super) fn begin_at(&self, at_ns: i64) {
        self.generator.iter().for_each(|generator| generator.begin_at(at_ns));
        self.watcher.iter().for_each(|watcher| watcher.begin_at(at_ns));
    }

    /// No new sessions; who watches goes on.
    pub(super) fn stop_gently(&self) {
        self.generator.iter().for_each(Generator::stop_gently);
    }

    pub(super) fn stop_at_once(&self) {
        self.generator.iter().for_each(Generator::stop_at_once);
        self.watcher.iter().for_each(Watcher::stop);
    }

    /// How it ended, once all of it has. Without its users a run is over for this agent; without its watcher it isn't where it
    /// has users.
    pub(super) fn ended(&mut self) -> Option<Result<(), String>> {
        if let Some(generator) = &mut self.generator {
            self.generated = self.generated.take().or_else(|| generator.ended());
            match &self.generated {
                None => return None,
                Some(Err(why)) => {
                    self.watcher.iter().for_each(Watcher::stop);
                    return Some(Err(why.clone()));
                }
                Some(Ok(())) => {}
            }
        }
        match self.watcher.as_mut().map(Watcher::ended) {
            Some(None) => None,
            Some(Some(ended)) if self.generator.is_none() => Some(ended),
            _ => Some(Ok(())),
        }
    }

    /// How its telling goes.
    pub(super) fn telling(&self) -> Telling {
        self.teller.telling()
    }

    /// How long after the time that was set the last of its generator's threads began.
    pub(super) fn late_ns(&self) -> Option<u64> {
        self.generator.as_ref().and_then(Generator::late_ns)
    }

    /// Whether it has ended, and the controller has all of it.
    pub(super) fn is_kept(&self) -> bool {
        let has_ended = self.generator.as_ref().is_none_or(Generator::has_ended)
            && self.watcher.as_ref().is_none_or(Watcher::has_ended);
        has_ended && self.teller.is_kept_within(Duration::ZERO)
    }

    /// Waits at most `within` until the controller has all of it, and removes the spool then; else it stays on the disk.
    pub(super) fn close(self, within: Duration) {
        let Work { generator, watcher, teller, spool, .. } = self;
        generator.into_iter().for_each(Generator::close);
        watcher.into_iter().for_each(Watcher::close);
        if teller.is_kept_within(within) {
            drop(teller);
            // A directory that can't be removed costs room and nothing else.
            _ = fs::remove_dir_all(&spool);
            _ = spool.parent().map(fs::remove_dir);
        }
    }
}
