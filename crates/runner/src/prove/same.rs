//! Whether a plan is still the stack of a kept run: an arm of a comparison may have had a catalogue of its own.

use std::collections::BTreeSet;

use model::catalogue::setting::Values;
use model::catalogue::tier_setting::OwnHost;
use model::{Plan, Problem, Result, RunRecord, Value};

/// What tells a tier.
#[derive(Debug, Clone, Copy)]
struct TierIdentity<'a> {
    tier: &'a str,
    service: &'a str,
    values: &'a Values,
    instances: u32,
    /// On which hosts they are, and behind what.
    network: Option<(OwnHost, &'a [String])>,
}

/// Refuses a plan whose tiers are not those of the run.
///
/// # Errors
/// A tier, a service or a knob's value that differs, by name.
pub(super) fn check(plan: &Plan, record: &RunRecord) -> Result<()> {
    let then = record.setup.tiers.iter().map(|one| TierIdentity {
        tier: &one.tier,
        service: &one.service,
        values: &one.values,
        instances: one.instances,
        network: one.network.as_ref().map(|network| (network.host, network.hosts.as_slice())),
    });
    let now = plan.tiers.iter().map(|one| TierIdentity {
        tier: &one.name,
        service: &one.service.name,
        values: &one.values,
        instances: one.instances,
        network: one.own_host.map(|host| (host, one.hosts.as_slice())),
    });
    let (then, now): (Vec<TierIdentity<'_>>, Vec<TierIdentity<'_>>) = (then.collect(), now.collect());
    let Some(what) = difference(&then, &now) else { return Ok(()) };
    Err(Problem::recipe(format!("the run's stack can't stand up again as it was: {what}"))
        .key("--prove")
        .why("another stack than the run's would be proved")
        .remedy("give the catalogue that the run had: --catalogue DIR")
        .into())
}

/// The first difference, for people.
fn difference(then: &[TierIdentity<'_>], now: &[TierIdentity<'_>]) -> Option<String> {
    let new = now.iter().find(|one| !then.iter().any(|before| before.tier == one.tier));
    if let Some(new) = new {
        return Some(format!("the run had no tier {}", new.tier));
    }
    then.iter().find_map(|before| {
        let tier = before.tier;
        let Some(after) = now.iter().find(|one| one.tier == tier) else {
            return Some(format!("tier {tier} is missing"));
        };
        if before.service != after.service {
            return Some(format!("tier {tier} was {} and is {} now", before.service, after.service));
        }
        if before.instances != after.instances {
            return Some(format!(
                "tier {tier} had {} instances and has {} now",
                before.instances, after.instances
            ));
        }
        if before.network != after.network {
            return Some(format!("the hosts of tier {tier}, or what leads to them, are other ones now"));
        }
        let knobs: BTreeSet<&String> = before.values.keys().chain(after.values.keys()).collect();
        let knob = knobs.into_iter().find(|knob| before.values.get(*knob) != after.values.get(*knob))?;
        let (was, is) = (words(before.values.get(knob)), words(after.values.get(knob)));
        Some(format!("{tier}.{knob} was {was} and is {is} now"))
    })
}

fn words(value: Option<&Value>) -> String {
    value.map_or("unknown".to_string(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_that_is_not_the_runs_is_told_by_its_first_difference() {
        let values = |workers: i64| Values::from([("MaxRequestWorkers".to_string(), Value::Int(workers))]);
        let (few, many, none) = (values(4), values(8), Values::new());
        let web = TierIdentity { tier: "web", service: "apache", values: &few, instances: 1, network: None };
        let db = TierIdentity { tier: "db", service: "mariadb", values: &none, ..web };
        assert_eq!(difference(&[db, web], &[web, db]), None, "the order tells nothing");
        let seen = |now: &[TierIdentity<'_>]| difference(&[web, db], now).unwrap_or_default();
        assert_eq!(
            seen(&[TierIdentity { values: &many, ..web }, db]),
            "web.MaxRequestWorkers was 4 and is 8 now"
        );
        assert_eq!(
            seen(&[TierIdentity { values: &none, ..web }, db]),
            "web.MaxRequestWorkers was 4 and is unknown now"
        );
        assert_eq!(
            seen(&[TierIdentity { service: "lighttpd", ..web }, db]),
            "tier web was apache and is lighttpd now"
        );
        let two = TierIdentity { instances: 2, ..db };
        assert_eq!(seen(&[web, two]), "tier db had 1 instances and has 2 now");
        let far = TierIdentity { network: Some((OwnHost::default(), &[])), ..db };
        assert!(seen(&[web, far]).contains("hosts of tier db"));
        assert_eq!(seen(&[web]), "tier db is missing");
        assert_eq!(seen(&[web, db, TierIdentity { tier: "app", ..db }]), "the run had no tier app");
    }
}
