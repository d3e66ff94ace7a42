//! A run's bundle on the broker: put there once, fetched by every agent, gone with the run.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::{Config, ObjectInfo, ObjectMetadata};
use async_nats::jetstream::stream::DirectGetErrorKind;
use tokio::time::timeout;

use super::address::{Name, run_of_stream, stream_of};
use super::connection::ANSWER_TIMEOUT;
use crate::bundle::MAX_BYTES;

/// A bundle of the largest size over a slow network takes this long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A bundle that nobody removes is no more than an empty bucket after this.
const MAX_AGE: Duration = Duration::from_secs(7 * 86_400);

/// What NATS puts before a bucket's name to name its stream.
const STREAM_OF_BUCKET: &str = "OBJ_";

/// What a signature adds to a bundle, and more.
const SIGNATURE_ROOM: usize = 1 << 20;

/// Half of what the broker takes as one message: each chunk is asked for one after the other.
const CHUNK_BYTES: usize = 512 << 10;

const SILENT: &str = "the broker is silent";

/// Puts it there.
pub(super) async fn put(
    context: &Context,
    of: (&Name, &Name),
    name: &str,
    bytes: &[u8],
) -> Result<(), String> {
    let putting = async {
        let config = Config { bucket: stream_of(of.0, of.1), max_age: MAX_AGE, ..Config::default() };
        let bucket = context.create_object_store(config).await.map_err(|error| error.to_string())?;
        let mut left = bytes;
        let what = ObjectMetadata {
            name: name.to_string(),
            chunk_size: Some(CHUNK_BYTES),
            ..ObjectMetadata::default()
        };
        bucket.put(what, &mut left).await.map(drop).map_err(|error| error.to_string())
    };
    timeout(TIMEOUT, putting).await.map_err(|_| SILENT.to_string())?
}

/// Fetches it, chunk by chunk. The client's own way makes a consumer, and whoever may do that has the broker send any message of any
/// stream to whatever subject it likes: an agent is let do no more than read, from streams that let it ([`crate::broker_config`]).
pub(super) async fn get(context: &Context, of: (&Name, &Name), name: &str) -> Result<Vec<u8>, String> {
    timeout(TIMEOUT, read(context, of, name)).await.map_err(|_| SILENT.to_string())?
}

async fn read(context: &Context, of: (&Name, &Name), name: &str) -> Result<Vec<u8>, String> {
    let bucket = stream_of(of.0, of.1);
    let stream = context.get_stream_no_info(format!("{STREAM_OF_BUCKET}{bucket}")).await;
    let stream = stream.map_err(|error| error.to_string())?;
    let next = async |subject: &str, from: u64| {
        let got = stream.direct_get_next_for_subject(subject, Some(from)).await;
        got.map_err(|error| match error.kind() {
            DirectGetErrorKind::NotFound => {
                "the broker doesn't have the bundle that the controller named".to_string()
            }
            _ => format!("the bundle can't be read from the broker: {error}"),
        })
    };
    let heads = format!("$O.{bucket}.M.*");
    let mut from = 1;
    // A run that was begun more than once has more than one.
    let info = loop {
        let head = next(&heads, from).await?;
        let info: ObjectInfo = serde_json::from_slice(&head.payload)
            .map_err(|error| format!("what the broker says of the bundle is damaged: {error}"))?;
        if info.name == name && !info.deleted {
            break info;
        }
        from = head.sequence + 1;
    };
    let subject = format!("$O.{bucket}.C.{}", info.nuid);
    let (mut bytes, mut from) = (Vec::new(), 1);
    for _ in 0..info.chunks {
        let chunk = next(&subject, from).await?;
        from = chunk.sequence + 1;
        bytes.extend_from_slice(&chunk.payload);
        // A broker that isn't trusted may say that there is no end of it.
        if bytes.len() > MAX_BYTES + SIGNATURE_ROOM {
            return Err("the bundle on the broker is larger than any".to_string());
        }
    }
    Ok(bytes)
}

/// The run whose bundle is in the stream of that name.
pub(super) fn run_of_bucket(fleet: &Name, stream: &str) -> Option<Name> {
    run_of_stream(fleet, stream.strip_prefix(STREAM_OF_BUCKET)?)
}

/// Removes it, where it is there.
pub(super) async fn remove(context: &Context, of: (&Name, &Name)) {
    // What stays is removed by the next controller.
    _ = timeout(ANSWER_TIMEOUT, context.delete_object_store(stream_of(of.0, of.1))).await;
}
