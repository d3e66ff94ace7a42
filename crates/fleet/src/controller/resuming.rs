//! Taking a run over whose controller has died: the same is wanted by another one, and all that the agents have told since the run's
//! first second is read again from its stream.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use engine::Control;
use model::{Problem, Result};

use super::driving::Driving;
use super::{
    CONNECT_TIMEOUT, Controller, Driven, Follower, Handover, News, OpenRun, STREAM_BYTES, of_the_bus,
};
use crate::bus::{Announcer, Broker, BusError, Reader, StreamOf, now_ns};
use crate::signed::Signer;
use crate::want::{Claim, Standing};

/// Agents say something once a second: who isn't heard for so long is not waited for to know whether the run goes on.
const HEARD_TIMEOUT: Duration = Duration::from_secs(3);

impl Controller {
    /// Takes over the run of `handover`: from its first word on this controller wants what the one before it did.
    ///
    /// # Errors
    /// The broker isn't there, or has nothing of the run any more. Then nothing was said to any agent.
    pub fn take_over(
        broker: Broker,
        signer: Signer,
        claim: Claim,
        handover: &Handover,
    ) -> Result<Controller> {
        let (fleet, run) = (signer.fleet().clone(), handover.run()?);
        let stream = StreamOf { fleet: fleet.clone(), run: run.clone(), max_bytes: STREAM_BYTES[0] };
        let reader = Reader::again(broker.clone(), stream, BTreeMap::new(), CONNECT_TIMEOUT);
        let reader = reader.map_err(|error| match error {
            BusError::Forgotten { .. } => Problem::environment(error.to_string())
                .why("what agents have told is kept there until a run's record is finished, for a week at most")
                .into(),
            error => of_the_bus(error),
        })?;
        let want = Some(handover.want().clone());
        let announcer = Announcer::wanting(want, broker.clone(), signer, claim, CONNECT_TIMEOUT);
        let announcer = announcer.map_err(of_the_bus)?;
        let open = Some(OpenRun { run, reader, had: BTreeMap::new() });
        Ok(Controller { announcer, broker, fleet, open })
    }

    /// Has the agents of the run that was taken over go on with it, where they still do; the follower is told of every second from
    /// the first one on. The rest as [`Self::run`].
    ///
    /// # Errors
    /// Nothing was taken over, or the follower's.
    pub fn resume(
        &mut self,
        handover: &Handover,
        control: &Control,
        follower: &mut dyn Follower,
    ) -> Result<Driven> {
        let goes_on = self.is_driven(handover)?;
        let since_ns = u64::try_from(now_ns() - handover.at_ns()?).unwrap_or(0);
        follower.news(&News::TakenOver { since: Duration::from_nanos(since_ns), goes_on });
        let open = self.open.as_mut().ok_or_else(|| Problem::bug("no run was taken over"))?;
        Driving::of(&self.announcer, open, handover.begun()?, &self.fleet).drive(control, follower)
    }

    /// Whether one of the run's agents still has users.
    fn is_driven(&self, handover: &Handover) -> Result<bool> {
        let run = handover.run()?;
        let mut missing: BTreeSet<(String, u64)> = handover
            .members()?
            .into_iter()
            .map(|member| (member.name.to_string(), member.incarnation))
            .collect();
        let deadline = Instant::now() + HEARD_TIMEOUT;
        loop {
            for heard in self.announcer.agents().into_values().map(|heard| heard.heartbeat) {
                let is_of_it = missing.remove(&(heard.agent, heard.incarnation));
                if is_of_it
                    && heard.run.as_deref() == Some(run.as_str())
                    && heard.standing == Standing::Running
                {
                    return Ok(true);
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if missing.is_empty() || left.is_zero() {
                return Ok(false);
            }
            self.announcer.wait(left.min(Duration::from_millis(200)));
        }
    }
}
