//! What agents need of a run, and what they drive for it: the plan, and the files that its users' sessions are made of.

use std::collections::BTreeMap;

use engine::RunOptions;
use fleet::bundle::Bundle;
use model::{Catalogue, Plan, Result};

use super::build::build;
use crate::run_options::options as options_of;

/// The bundle of a run of `plan`.
pub(super) fn of(
    plan: &Plan,
    target: &engine::Target,
    drain_s: f64,
    catalogue: &Catalogue,
) -> Result<Bundle> {
    let files = files(plan, catalogue);
    let (plan, target, watches) = (plan.clone(), target.clone(), BTreeMap::new());
    Ok(Bundle { build: build()?, plan, target, drain_s, files, watches })
}

/// The kit's folder, and of other kits what it may borrow: their Lua files, and who they are. Its application is in it, which no agent
/// needs: a kit is read as a whole or not at all, and the largest has two MB.
fn files(plan: &Plan, catalogue: &Catalogue) -> BTreeMap<String, Vec<u8>> {
    let kit = format!("{}/", plan.kit.name);
    let is_lent = |path: &str| path.ends_with(".lua") || path.ends_with("/kit.toml");
    let files = catalogue.below("kits").filter(|(path, _)| path.starts_with(&kit) || is_lent(path));
    files.map(|(path, bytes)| (format!("kits/{path}"), bytes.to_vec())).collect()
}

/// What an agent's generator drives for a bundle, but for its slice of it.
pub(super) fn options(bundle: &Bundle) -> std::result::Result<RunOptions, String> {
    let catalogue = bundle.catalogue();
    let options = options_of(&bundle.plan, &bundle.target, bundle.drain_s, &catalogue);
    options.map_err(|problems| problems.to_string())
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use model::Recipe;
    use testkit::catalogue::catalogue;

    use super::*;

    #[test]
    fn every_kit_of_the_catalogue_is_driven_from_its_bundle() {
        let catalogue = catalogue();
        let target = engine::Target::from(SocketAddr::from(([127, 0, 0, 1], 80)));
        for kit in catalogue.kits() {
            let recipe = Recipe { kit: kit.to_string(), ..Recipe::default() };
            let plan = Plan::resolve(&recipe, None, &catalogue, &[0, 1]);
            let plan = plan.unwrap_or_else(|problems| panic!("{kit}: {problems}"));
            let bundle = of(&plan, &target, 10.0, &catalogue).unwrap_or_else(|problems| panic!("{problems}"));
            let bytes = bundle.encode().unwrap_or_else(|why| panic!("{kit}: {why}"));
            let read = Bundle::read(&bytes).unwrap_or_else(|why| panic!("{kit}: {why}"));
            let driven = options(&read).unwrap_or_else(|why| panic!("{kit}: {why}"));
            let here = options_of(&plan, &target, 10.0, &catalogue).expect("it is driven here");
            assert_eq!(format!("{driven:?}"), format!("{here:?}"), "{kit}");
        }
    }
}
