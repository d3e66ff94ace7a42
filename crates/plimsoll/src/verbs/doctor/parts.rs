//! What a stack is made of, for every workload that it is there for.

use model::kit::Build;
use model::setting::Values;
use model::{Result, ServiceManifest};
use testbed::Needed;

use crate::context::Context;

/// The services of a stack with the knobs that it sets, and the stand-ins and builds of the kits that can run on it.
pub(super) struct Parts {
    services: Vec<(ServiceManifest, Values)>,
    builds: Vec<Build>,
    /// What the stack promises: a kit that asks for less needs less.
    provides: Vec<String>,
}

impl Parts {
    pub(super) fn of_stack(context: &Context, name: &str) -> Result<Parts> {
        let catalogue = &context.catalogue;
        let stack = catalogue.stack(name)?;
        let (mut services, mut builds) = (Vec::new(), Vec::new());
        for tier in &stack.tiers {
            let service = catalogue.service(&tier.service)?;
            let own = |knob: &str| service.knobs.iter().any(|known| known.name == knob);
            let set = tier.set.iter().filter(|(knob, _)| own(knob));
            let set = set.map(|(knob, value)| (knob.clone(), value.clone())).collect();
            services.push((service, set));
        }
        for kit in catalogue.kits() {
            let kit = catalogue.kit(kit)?;
            if kit.needs.iter().all(|need| stack.provides.contains(need)) {
                for stub in &kit.stubs {
                    services.push((catalogue.kit_service(&kit.name, &stub.service)?, Values::new()));
                }
                builds.extend(kit.build);
            }
        }
        Ok(Parts { services, builds, provides: stack.provides })
    }

    pub(super) fn needed(&self) -> Result<Vec<Needed<'_>>> {
        self.services.iter().map(|(service, set)| Needed::with(service, set, &self.provides)).collect()
    }

    pub(super) fn builds(&self) -> Vec<&Build> {
        self.builds.iter().collect()
    }
}
