//! What the users of these tests' runs do.

use std::collections::BTreeMap;

use engine::Target;
use fleet::bundle::Bundle;
use model::record::plan::Load;
use model::{Plan, Recipe};

/// The build that controllers and agents of these tests are of.
pub(crate) const BUILD: &str = "of the tests";

const TEXT: &str = "function visit(user) operation 'Look' get('/look', { n = unique() }) end";

/// Users who look at a page again and again, as fast as it goes.
pub(crate) fn bundle(target: Target, load: Load, build: &str) -> Bundle {
    let recipe = Recipe { kit: "static".to_string(), ..Recipe::default() };
    let plan = Plan::resolve(&recipe, None, &testkit::catalogue::catalogue(), &[0, 1]);
    let mut plan = plan.unwrap_or_else(|problems| panic!("{problems}"));
    plan.load = load;
    let files = BTreeMap::from([("session.lua".to_string(), TEXT.as_bytes().to_vec())]);
    Bundle { build: build.to_string(), plan, target, drain_s: 2.0, files, watches: BTreeMap::new() }
}
