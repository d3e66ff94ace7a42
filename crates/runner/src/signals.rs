//! Every signal that a run may hold: those that the rooms read and work out, and those that services tell.

use model::{ServiceManifest, SignalRegistry};

/// The signals of the rooms and of `services`.
pub fn registry<'a>(services: impl IntoIterator<Item = &'a ServiceManifest>) -> SignalRegistry {
    SignalRegistry::new(observe::signals().chain(analysis::declared::signals()), services)
}

/// Those of the rooms alone: a kept run has itself what its servers' mean.
pub fn built_in() -> SignalRegistry {
    registry([])
}

#[cfg(test)]
mod tests;
