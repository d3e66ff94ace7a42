//! Databases of several servers: those that a kit's application can do with.

use super::tier::PlanTier;
use crate::KitManifest;
use crate::problem::Problem;

/// Of two databases the first, which has the rows of the second between its instances.
pub(super) fn shards(tiers: &[PlanTier]) -> Option<&PlanTier> {
    let mut databases = tiers.iter().filter(|tier| tier.service.database.is_some());
    let first = databases.next()?;
    databases.next().map(|_| first)
}

/// Rows can be shared out only by a kit that says how.
pub(super) fn never_shared_out(kit: &KitManifest, tiers: &[PlanTier]) -> Option<Problem> {
    let tier = shards(tiers).filter(|_| kit.shards.is_empty())?;
    let what = format!(
        "kit {} does not say how its tables are shared out, and this stack has their rows on the servers of {}",
        kit.name, tier.name
    );
    Some(
        Problem::recipe(what)
            .key("stack")
            .remedy("a kit whose manifest has [shards] (tpcw), or another stack"),
    )
}

/// An application that knows of one database leaves the others idle.
pub(super) fn only_one(kit: &KitManifest, tiers: &[PlanTier]) -> Option<Problem> {
    // Those that have a database's rows are asked by that one.
    let rows = shards(tiers).map(|tier| tier.name.as_str());
    let several = |tier: &&PlanTier| {
        tier.service.database.is_some() && tier.instances > 1 && Some(tier.name.as_str()) != rows
    };
    let tier = tiers.iter().filter(|_| !kit.database_spread).find(several)?;
    let what = format!("kit {} asks the first of {} databases only", kit.name, tier.instances);
    let why = "what was measured would be one of them, with the others in its way";
    let remedy =
        format!("--set {}.instances=1, or a kit whose application spreads its connections (tpcw)", tier.name);
    Some(Problem::recipe(what).key(format!("set.{}.instances", tier.name)).why(why).remedy(remedy))
}
