//! Waiting until instances that were started are ready.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use model::Result;

use super::Starting;
use crate::cgroup;
use crate::job::interrupted;
use crate::launch::Running;
use crate::listener::{self, Stranger};
use crate::prepare::ReadyServer;

/// Looks in a row that find another program where the server should listen: one may fall into the moment of a change.
const STRANGER_LOOKS: u32 = 3;

/// How a start ended.
pub(super) enum Outcome {
    Ready,
    Ended(ExitStatus),
    /// Not ready in time; what it lacks, where that is known.
    Late(Option<String>),
    /// Somebody else answers in its place.
    Taken(Stranger),
}

impl Starting<'_, '_> {
    /// Waits until all instances are ready; else what became of the first that is not, and which one that is.
    pub(super) fn wait_for_all(&self, index: usize, running: &mut [Running]) -> Result<(Outcome, usize)> {
        for instance in 0..running.len() {
            let outcome = self.wait(index, instance, running)?;
            if !matches!(outcome, Outcome::Ready) {
                return Ok((outcome, instance));
            }
        }
        Ok((Outcome::Ready, 0))
    }

    /// Waits for one of those that were started.
    pub(super) fn wait(&self, index: usize, instance: usize, all: &mut [Running]) -> Result<Outcome> {
        let (tier, ready) = (self.layout.tiers[index], &self.ready[index].servers[instance]);
        let started = all.len();
        let running = &mut all[instance];
        let start = Instant::now();
        let (mut pause, mut strangers, mut lacking) = (Duration::from_millis(1), 0, None);
        loop {
            if let Ok(Some(status)) = running.child.try_wait() {
                return Ok(Outcome::Ended(status));
            }
            // Ready only if it is our server that answers: one that has died meanwhile does not.
            if ready.question.answered() && matches!(running.child.try_wait(), Ok(None)) {
                match self.stranger(index, instance, running) {
                    None => match self.lacking(ready, started)? {
                        None => return Ok(Outcome::Ready),
                        some => lacking = some,
                    },
                    Some(stranger) if strangers + 1 == STRANGER_LOOKS => return Ok(Outcome::Taken(stranger)),
                    Some(_) => strangers += 1,
                }
            }
            if start.elapsed().as_secs_f64() > tier.service.ready.within_s {
                return Ok(Outcome::Late(lacking));
            }
            if (self.options.cancel)() {
                return Err(interrupted(&tier.name).into());
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// What a server that answers must tell, and doesn't yet.
    fn lacking(&self, server: &ReadyServer, started: usize) -> Result<Option<String>> {
        for until in &server.untils {
            if let Some(lacking) = until.lacking(self.options.ask, started)? {
                return Ok(Some(lacking));
            }
        }
        Ok(None)
    }

    /// Whoever answers in the place of a server that runs.
    fn stranger(&self, index: usize, instance: usize, running: &Running) -> Option<Stranger> {
        let port = self.ready[index].servers[instance].question.port()?;
        let tier = &self.layout.tiers[index].name;
        let pids = match &running.cgroup {
            Some(group) => cgroup::members(group),
            None => self.site.family_of(&self.instance, tier, running.identity.pid),
        };
        listener::stranger(port, &pids, self.site.owner.uid)
    }
}
