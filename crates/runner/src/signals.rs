//! Every signal that a run may hold: those that the rooms read and work out, and those that services tell.

use model::{Catalogue, ServiceManifest, SignalRegistry};

/// The signals of the rooms and of `services`.
pub fn registry<'a>(services: impl IntoIterator<Item = &'a ServiceManifest>) -> SignalRegistry {
    SignalRegistry::new(observe::signals().chain(analysis::declared::signals()), services)
}

/// The signals of the rooms and of every service of `catalogue` that can be read; whoever uses one that can't is told of it.
pub fn of(catalogue: &Catalogue) -> SignalRegistry {
    let services: Vec<ServiceManifest> =
        catalogue.services().into_iter().filter_map(|name| catalogue.service(name).ok()).collect();
    registry(&services)
}

/// Those of the rooms alone: a kept run has itself what its servers' mean.
pub fn built_in() -> SignalRegistry {
    registry([])
}

#[cfg(test)]
mod tests;
