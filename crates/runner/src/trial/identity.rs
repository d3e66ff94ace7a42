//! What a study measures, in digests: a study that is gone on with must measure the same, or its trials can't be
//! compared with each other.

use std::collections::BTreeMap;

use model::{Problem, Problems, Result};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::fleet::choice::FleetChoice;
use crate::server::ServerAccess;
use crate::trial::arm::ReadyArm;

/// The file of the study's directory in which it stands.
pub(crate) const FILE: &str = "identity.json";

/// Digests by what they are of: `arm 1 (web.MaxRequestWorkers=64): files of the catalogue`.
pub(crate) type Identity = BTreeMap<String, String>;

/// What `arms` measure now, on this machine, with this version of Plimsoll and with users that `fleet` drives.
pub(crate) fn of(
    arms: &[Option<ReadyArm>],
    server: &ServerAccess,
    version: &str,
    fleet: Option<&FleetChoice>,
) -> Identity {
    // Studies that are under way on disk know it under the name that it had.
    let flags = format!("{server:?}").replace("ServerAccess", "ServerArgs");
    let mut identity = Identity::from([
        ("the version of Plimsoll".to_string(), version.to_string()),
        ("the flags about the server".to_string(), digest(flags.as_bytes())),
    ]);
    if let Some(fleet) = fleet {
        identity.insert("who drives the users (--fleet)".to_string(), fleet.to_string());
    }
    for (number, arm) in arms.iter().enumerate() {
        let Some(arm) = arm else { continue };
        let name = |what: &str| format!("arm {} ({}): {what}", number + 1, arm.arm.label);
        identity.insert(name("its plan"), digest(plan(arm).as_bytes()));
        identity.insert(name("files of the catalogue"), files(arm));
    }
    identity
}

/// The plan without its load, which is the trial's.
fn plan(arm: &ReadyArm) -> String {
    let mut plan = serde_json::to_value(&arm.plan).unwrap_or(Json::Null);
    if let Some(parts) = plan.as_object_mut() {
        parts.remove("load");
    }
    plan.to_string()
}

/// Everything below the folders of the arm's kit and services and of the sources of its servers, and the modules that the kit
/// borrows.
fn files(arm: &ReadyArm) -> String {
    let catalogue = &arm.catalogue;
    let tiers = &arm.plan.tiers;
    let services = tiers.iter().map(|tier| tier.folder.clone());
    let builds = tiers.iter().filter_map(|tier| tier.service.build.as_ref());
    let sources = builds.map(|build| build.source_folder().to_string());
    let folders: Vec<String> =
        services.chain([format!("kits/{}", arm.plan.kit.name)]).chain(sources).collect();
    let mut sum = Sha256::new();
    let mut add = |path: &str, bytes: &[u8]| {
        sum.update(path.as_bytes());
        sum.update((bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    };
    for folder in &folders {
        catalogue.below(folder).for_each(|(path, bytes)| add(path, bytes));
    }
    for path in arm.plan.kit.borrowed().map(|module| module.path()) {
        // The plan was made with it: it is there.
        add(&path, catalogue.bytes(&path).unwrap_or_default());
    }
    hex(&sum.finalize())
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Refuses to go on where anything is not as it was, and names all of it.
pub(crate) fn check(then: &Identity, now: &Identity) -> Result<()> {
    let differs = |what: &&String| then.get(*what) != now.get(*what);
    let all: std::collections::BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let problem = |what: &String| {
        Problem::recipe(format!("{what}: not as when the study began"))
            .why("trials before and after could not be compared")
            .remedy("give the same --catalogue, --fleet and server flags as then, or begin a new study")
    };
    Problems::check(all.into_iter().filter(differs).map(problem).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_not_as_it_was_is_named() {
        let identity = |plan: &str| {
            Identity::from([
                ("the version of Plimsoll".to_string(), "1".to_string()),
                ("arm 1 (A): its plan".to_string(), plan.to_string()),
            ])
        };
        assert!(check(&identity("aa"), &identity("aa")).is_ok());
        let problems = check(&identity("aa"), &identity("bb")).expect_err("the plan differs");
        assert!(problems.to_string().contains("arm 1 (A): its plan: not as when"), "{problems}");
        let server = ServerAccess::default();
        let alone = of(&[], &server, "1", None);
        let by_two = of(&[], &server, "1", Some(&FleetChoice::Local(2)));
        let problems = check(&by_two, &alone).expect_err("this process would drive its users");
        assert!(problems.to_string().contains("(--fleet): not as when"), "{problems}");
        let fewer = Identity::from([("the version of Plimsoll".to_string(), "1".to_string())]);
        assert!(check(&identity("aa"), &fewer).is_err(), "an arm is missing");
    }
}
