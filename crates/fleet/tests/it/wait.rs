//! Waiting on conditions.

use std::thread;
use std::time::{Duration, Instant};

/// Whatever takes longer has failed.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < LONG, "{what}: not within {LONG:?}");
        thread::sleep(Duration::from_millis(5));
    }
}
