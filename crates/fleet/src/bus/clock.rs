//! Asking an agent for its clock over the bus. What both ways take widens the bound; it makes the answer no less true. A question, and
//! an answer, may be made long, to see how fast the bus is.

use std::time::{Duration, Instant};

use async_nats::{Client, Message};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::clock::Exchange;

/// Longer ways say nothing that a shorter one doesn't say better.
const MAX_ROUND_TRIP: Duration = Duration::from_secs(1);

/// The longest filler of an answer; questions have no longer one.
pub(super) const MAX_FILLER_BYTES: usize = 512 << 10;

/// A question that wants more than the time; one about the time alone is empty.
#[derive(Debug, Serialize, Deserialize)]
struct Question {
    /// The number of letters that the answer is to be filled with.
    filler_bytes: usize,
}

/// What an agent answers: nanoseconds of its CLOCK_MONOTONIC.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    received_ns: i64,
    answered_ns: i64,
    /// Letters of no meaning, where they were asked for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    filler: String,
}

/// Nanoseconds of this machine's CLOCK_MONOTONIC.
pub fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}

/// Answers a question, which came at `received_ns`.
pub(super) async fn answer(client: &Client, question: Message, received_ns: i64) {
    let Some(to) = question.reply else { return };
    let filler_bytes =
        serde_json::from_slice::<Question>(&question.payload).map_or(0, |asked| asked.filler_bytes);
    let filler = ".".repeat(filler_bytes.min(MAX_FILLER_BYTES));
    let answer = Answer { received_ns, answered_ns: now_ns(), filler };
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
        let Ok(Answer { received_ns, answered_ns, .. }) = serde_json::from_slice(&message.payload) else {
            continue;
        };
        exchanges.push(Exchange { asked_ns, received_ns, answered_ns, back_ns });
    }
    exchanges
}

/// How long a question with that number of bytes takes until its answer is there; nothing where none comes in time.
pub(super) async fn time_there(
    client: &Client,
    subject: &str,
    bytes: usize,
    within: Duration,
) -> Option<Duration> {
    let (_, took) = answer_to(client, subject, vec![b'.'; bytes], within).await?;
    Some(took)
}

/// How long it takes until an answer with that number of bytes is there; nothing where none comes in time, or a shorter one.
pub(super) async fn time_back(
    client: &Client,
    subject: &str,
    bytes: usize,
    within: Duration,
) -> Option<Duration> {
    let question = serde_json::to_vec(&Question { filler_bytes: bytes }).ok()?;
    let (answer_bytes, took) = answer_to(client, subject, question, within).await?;
    (answer_bytes >= bytes).then_some(took)
}

/// How long the answer to a question is, in bytes, and how long it took.
async fn answer_to(
    client: &Client,
    subject: &str,
    question: Vec<u8>,
    within: Duration,
) -> Option<(usize, Duration)> {
    let began = Instant::now();
    let answer = timeout(within, client.request(subject.to_string(), question.into())).await.ok()?.ok()?;
    Some((answer.payload.len(), began.elapsed()))
}
