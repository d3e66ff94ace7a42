//! How fast the bus is between a controller and one of its agents, both ways. It is measured with long questions for the agent's clock
//! and long answers, which need no right that either side doesn't have.

use std::time::Duration;

use async_nats::Client;

use super::address::{Name, clock_subject};
use super::clock::{MAX_FILLER_BYTES, time_back, time_there};
use super::connection::BusError;
use super::listener::Listener;

/// What is sent first: on a slow way it says enough, and takes little of it.
const FIRST_BYTES: usize = 32 << 10;

/// Then the longer ones are left out.
const SLOW: Duration = Duration::from_millis(500);

/// Longer ones, of which the fastest counts: others may use the way, too.
const TIMES: usize = 3;

/// Such a time without an answer, and the way counts as one that takes nothing.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How many bytes a second the bus takes, at least: the time of the short message in the other direction is in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BusSpeed {
    /// To the agent; nothing where no answer came.
    pub to_agent_bytes_per_s: Option<f64>,
    /// From the agent, the way that its seconds go.
    pub from_agent_bytes_per_s: Option<f64>,
}

impl Listener {
    /// How fast the bus is to an agent and from it. Some MB go each way where it is fast.
    ///
    /// # Errors
    /// The broker isn't there.
    pub fn speed(&self, agent: &Name) -> Result<BusSpeed, BusError> {
        let subject = clock_subject(&self.fleet, agent);
        self.with_client(async |client: Client| BusSpeed {
            to_agent_bytes_per_s: fastest(async |bytes| time_there(&client, &subject, bytes, TIMEOUT).await)
                .await,
            from_agent_bytes_per_s: fastest(async |bytes| time_back(&client, &subject, bytes, TIMEOUT).await)
                .await,
        })
    }
}

/// The bytes a second of the fastest of several messages.
async fn fastest(time: impl AsyncFn(usize) -> Option<Duration>) -> Option<f64> {
    let rate = |bytes: usize, took: Duration| bytes as f64 / took.as_secs_f64().max(1e-9);
    let first = time(FIRST_BYTES).await?;
    let mut best = rate(FIRST_BYTES, first);
    if first > SLOW {
        return Some(best);
    }
    for _ in 0..TIMES {
        let Some(took) = time(MAX_FILLER_BYTES).await else { break };
        best = best.max(rate(MAX_FILLER_BYTES, took));
    }
    Some(best)
}
