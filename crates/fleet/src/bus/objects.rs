//! A run's bundle on the broker: put there once, fetched by every agent, gone with the run.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::Config;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use super::address::{Name, stream_of};
use super::connection::ANSWER_TIMEOUT;
use crate::bundle::MAX_BYTES;

/// A bundle of the largest size over a slow network takes this long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A bundle that nobody removes is gone after this.
const MAX_AGE: Duration = Duration::from_secs(7 * 86_400);

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
        bucket.put(name, &mut left).await.map(drop).map_err(|error| error.to_string())
    };
    timeout(TIMEOUT, putting).await.map_err(|_| SILENT.to_string())?
}

/// Fetches it.
pub(super) async fn get(context: &Context, of: (&Name, &Name), name: &str) -> Result<Vec<u8>, String> {
    let getting = async {
        let bucket =
            context.get_object_store(stream_of(of.0, of.1)).await.map_err(|error| error.to_string())?;
        let object = bucket.get(name).await.map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        // A broker that isn't trusted may say that there is no end of it.
        let most = MAX_BYTES as u64 + (1 << 20);
        object.take(most).read_to_end(&mut bytes).await.map_err(|error| error.to_string())?;
        Ok(bytes)
    };
    timeout(TIMEOUT, getting).await.map_err(|_| SILENT.to_string())?
}

/// Removes it, where it is there.
pub(super) async fn remove(context: &Context, of: (&Name, &Name)) {
    // What stays is gone after a week.
    _ = timeout(ANSWER_TIMEOUT, context.delete_object_store(stream_of(of.0, of.1))).await;
}
