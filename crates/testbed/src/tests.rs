//! What several tests of this room need.

use model::ServiceManifest;
use model::record::plan::PlanTier;

/// A service without anything, to which a test adds lines.
pub(crate) const SERVICE: &str = r#"format = 1
name = "x"
title = "X"
sockets = ["mysql"]
logs = []
packages = { why = "a test" }
program = { binary = "x", args = [], version_args = [], known_versions = [] }
stop = { signal = "TERM", within_s = 1 }

[ready]
probe = "accept"
at = "mysql"
within_s = 1
"#;

/// A tier of that service.
pub(crate) fn tier(name: &str) -> PlanTier {
    tier_of(name, SERVICE)
}

/// A tier of the service that `text` declares.
pub(crate) fn tier_of(name: &str, text: &str) -> PlanTier {
    let service: ServiceManifest = model::document::read("service.toml", text).expect("a manifest");
    PlanTier {
        name: name.to_string(),
        service,
        folder: "services/x".to_string(),
        values: Default::default(),
        instances: 1,
        memory_limit_bytes: None,
        cpu_limit_cores: None,
        read_limit_per_s: None,
        own_host: None,
        link: None,
        hosts: Vec::new(),
    }
}
