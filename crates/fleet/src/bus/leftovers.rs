//! What a broker has of runs, and giving it up. A stream's age limit is its messages': the stream itself stays, with the room that was
//! reserved for it, until somebody removes it.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::jetstream::{Context, ErrorCode, context::DeleteStreamErrorKind};
use futures_util::TryStreamExt;
use tokio::time::timeout;

use super::address::{Name, run_of_stream, stream_of};
use super::connection::ANSWER_TIMEOUT;
use super::objects;

/// A broker with some hundred streams answers well within this.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

const SILENT: &str = "it is silent";

/// A run of which the broker has something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The run.
    pub run: Name,
    /// The number of messages of its agents that are there.
    pub messages: u64,
}

/// The fleet's runs of which the broker has something, by their names.
pub(super) async fn list(context: &Context, fleet: &Name) -> Result<Vec<Leftover>, String> {
    let listing = async {
        let mut streams = context.streams();
        let mut messages: BTreeMap<Name, u64> = BTreeMap::new();
        while let Some(stream) = streams.try_next().await.map_err(|error| error.to_string())? {
            let name = stream.config.name.as_str();
            if let Some(run) = objects::run_of_bucket(fleet, name) {
                // A bundle without its run's stream is of no use.
                messages.entry(run).or_default();
            } else if let Some(run) = run_of_stream(fleet, name) {
                *messages.entry(run).or_default() += stream.state.messages;
            }
        }
        Ok(messages.into_iter().map(|(run, messages)| Leftover { run, messages }).collect())
    };
    timeout(LIST_TIMEOUT, listing).await.map_err(|_| SILENT.to_string())?
}

/// Removes all of the run.
pub(super) async fn remove(context: &Context, of: (&Name, &Name)) -> Result<(), String> {
    objects::remove(context, of).await;
    let removing = timeout(ANSWER_TIMEOUT, context.delete_stream(stream_of(of.0, of.1))).await;
    match removing.map_err(|_| SILENT.to_string())? {
        Ok(_) => Ok(()),
        Err(error) => match error.kind() {
            DeleteStreamErrorKind::JetStream(said) if said.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                Ok(())
            }
            _ => Err(error.to_string()),
        },
    }
}
