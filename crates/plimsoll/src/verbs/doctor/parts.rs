//! What a stack is made of, for one workload or for every one that it is there for.

use model::catalogue::build::Build;
use model::catalogue::setting::Values;
use model::{Catalogue, KitManifest, Problem, Result, ServiceManifest, StackManifest};
use testbed::Needed;

/// The services of a stack with the knobs that it sets, and the stand-ins and builds of the kits that are to run on it.
pub(super) struct Parts {
    services: Vec<(ServiceManifest, Values)>,
    builds: Vec<Build>,
    /// What kits ask of the stack: all that it promises and the extensions of every kit, or less for one kit that asks for less.
    asked: Vec<String>,
}

impl Parts {
    /// Of the stack `name`, for every one of `kits` that can run on it.
    pub(super) fn for_all_kits(catalogue: &Catalogue, name: &str, kits: &[KitManifest]) -> Result<Parts> {
        let stack = catalogue.stack(name)?;
        let mut parts = Parts::of_stack(catalogue, &stack)?;
        let mut asked = stack.provides.clone();
        for kit in kits.iter().filter(|kit| stack.lacking(kit).next().is_none()) {
            asked.extend(kit.needs.iter().cloned());
            parts.add(kit.clone(), catalogue)?;
        }
        asked.sort();
        asked.dedup();
        parts.asked_for(asked, catalogue)
    }

    /// Of the stack `name`, for this kit alone.
    pub(super) fn for_kit(catalogue: &Catalogue, name: &str, kit: &KitManifest) -> Result<Parts> {
        let stack = catalogue.stack(name)?;
        if let Some(need) = stack.lacking(kit).next() {
            let what = format!("kit {} can't run on stack {name}, which has no {need}", kit.name);
            let remedy = format!("plimsoll list {} names the stacks that it runs on", kit.name);
            return Err(Problem::recipe(what).remedy(remedy).into());
        }
        let mut parts = Parts::of_stack(catalogue, &stack)?;
        parts.add(kit.clone(), catalogue)?;
        parts.asked_for(kit.needs.clone(), catalogue)
    }

    fn of_stack(catalogue: &Catalogue, stack: &StackManifest) -> Result<Parts> {
        let mut services = Vec::new();
        for tier in &stack.tiers {
            let service = catalogue.service(&tier.service)?;
            let own = |knob: &str| service.knobs.iter().any(|known| known.name == knob);
            let set = tier.set.iter().filter(|(knob, _)| own(knob));
            let set = set.map(|(knob, value)| (knob.clone(), value.clone())).collect();
            services.push((service, set));
        }
        Ok(Parts { services, builds: Vec::new(), asked: Vec::new() })
    }

    /// With what kits ask of the stack, extensions of its languages among it.
    fn asked_for(mut self, asked: Vec<String>, catalogue: &Catalogue) -> Result<Parts> {
        for (service, _) in &mut self.services {
            *service = catalogue.with_extensions(service.clone(), &asked)?;
        }
        self.asked = asked;
        Ok(self)
    }

    /// Adds what the kit itself brings.
    fn add(&mut self, kit: KitManifest, catalogue: &Catalogue) -> Result<()> {
        for stub in &kit.stubs {
            self.services.push((catalogue.kit_service(&kit.name, &stub.service)?, Values::new()));
        }
        self.builds.extend(kit.build);
        Ok(())
    }

    pub(super) fn needed(&self) -> Result<Vec<Needed<'_>>> {
        self.services.iter().map(|(service, set)| Needed::with(service, set, &self.asked)).collect()
    }

    pub(super) fn builds(&self) -> Vec<&Build> {
        self.builds.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::built_in;

    /// The words of a line of `scripts/demo.sh`, between these.
    fn of_the_demo(from: &str, to: &str) -> Vec<String> {
        let script = include_str!("../../../../../scripts/demo.sh");
        let (_, rest) = script.split_once(from).expect("the demo has the line");
        let (words, _) = rest.split_once(to).expect("the line ends");
        words.split_whitespace().map(str::to_string).collect()
    }

    fn line(parts: &Parts) -> String {
        testbed::packages::apt_line(&parts.needed().expect("right modules"), &parts.builds())
    }

    #[test]
    fn a_shop_in_php_needs_nothing_of_the_calendar_and_the_demo_fetches_what_it_needs() {
        let catalogue = built_in();
        let [kit, stack] =
            [("\nkit=", " "), (" stack=", "\n")].map(|(from, to)| of_the_demo(from, to).remove(0));
        let kit = catalogue.kit(&kit).expect("the demo's kit");
        let alone = line(&Parts::for_kit(&catalogue, &stack, &kit).expect("it runs there"));
        let wanted = of_the_demo("\nahead=(", ")");
        assert_eq!(alone, format!("apt-get install --no-install-recommends {}", wanted.join(" ")));
        let kits: Vec<KitManifest> =
            catalogue.kits().into_iter().map(|kit| catalogue.kit(kit).expect("a kit")).collect();
        let all = line(&Parts::for_all_kits(&catalogue, &stack, &kits).expect("a stack"));
        assert!(all.contains("php-sabre-dav") && !alone.contains("sabre"), "{alone}\n{all}");
    }

    #[test]
    fn a_kit_that_does_not_run_on_a_stack_is_refused_with_what_it_lacks() {
        let catalogue = built_in();
        let kit = catalogue.kit("tpcw").expect("a kit");
        let refused = Parts::for_kit(&catalogue, "nginx", &kit).err().expect("it needs servlets");
        assert!(
            refused.to_string().contains("kit tpcw can't run on stack nginx, which has no web+servlet"),
            "{refused}"
        );
    }
}
