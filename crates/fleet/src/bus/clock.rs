//! Asking an agent for its clock over the bus. What both ways take widens the bound; it makes the answer no less true.

use std::time::Duration;

use async_nats::{Client, Message};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::clock::Exchange;

/// Longer ways say nothing that a shorter one doesn't say better.
const MAX_ROUND_TRIP: Duration = Duration::from_secs(1);

/// What an agent answers: nanoseconds of its CLOCK_MONOTONIC.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    received_ns: i64,
    answered_ns: i64,
}

/// Nanoseconds of this machine's CLOCK_MONOTONIC.
pub fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}

/// Answers a question, which came at `received_ns`.
pub(super) async fn answer(client: &Client, question: Message, received_ns: i64) {
    let Some(to) = question.reply else { return };
    let answer = Answer { received_ns, answered_ns: now_ns() };
    // Who isn't answered asks again.
    let Ok(payload) = serde_json::to_vec(&answer) else { return };
    _ = client.publish(to, payload.into()).await;
}

/// Asks so often, one after the other; those that were answered.
pub(super) async fn exchanges(client: Client, subject: String, questions: usize) -> Vec<Exchange> {
    let mut exchanges = Vec::new();
    for _ in 0..questions {
        let asked_ns = now_ns();
        let answered = timeout(MAX_ROUND_TRIP, client.request(subject.clone(), "".into())).await;
        let back_ns = now_ns();
        let Ok(Ok(message)) = answered else { continue };
        let Ok(Answer { received_ns, answered_ns }) = serde_json::from_slice(&message.payload) else {
            continue;
        };
        exchanges.push(Exchange { asked_ns, received_ns, answered_ns, back_ns });
    }
    exchanges
}
