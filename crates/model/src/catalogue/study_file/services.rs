//! The tiers of a study's cells with their services; and knobs as `service.knob`, which hold in the cells whose stack has that service.

use std::collections::BTreeSet;

use crate::record::study::Arm;
use crate::{Catalogue, KitManifest};

/// A tier and its service.
pub(super) type TierService = (String, String);

/// The tiers of an arm: those of its stack, and the kit's own; absent where its stack can't be read.
pub(super) fn of_arm(arm: &Arm, kit: &KitManifest, catalogue: &Catalogue) -> Option<Vec<TierService>> {
    let stack = catalogue.stack(arm.recipe.stack.as_deref().unwrap_or(&kit.default_stack)).ok()?;
    let stubs = kit.stubs.iter().map(|stub| (stub.tier.clone(), stub.service.clone()));
    Some(stubs.chain(stack.tiers.into_iter().map(|tier| (tier.name, tier.service))).collect())
}

/// Takes away from each arm the knobs of services that only other arms have. A service that none has stays, to be refused.
pub(super) fn take_others_away(arms: &mut [Arm], kit: &KitManifest, catalogue: &Catalogue) {
    let tiers: Option<Vec<_>> = arms.iter().map(|arm| of_arm(arm, kit, catalogue)).collect();
    // What is wrong with a stack is told with its plan.
    let Some(tiers) = tiers else { return };
    let services: BTreeSet<&str> = tiers.iter().flatten().map(|(_, service)| service.as_str()).collect();
    for (arm, own) in arms.iter_mut().zip(&tiers) {
        arm.recipe.set.retain(|key, _| {
            let owner = key.split_once('.').map_or(key.as_str(), |(owner, _)| owner);
            let is_own = own.iter().any(|(tier, service)| tier == owner || service == owner);
            is_own || !services.contains(owner)
        });
    }
}
