//! Sizes that are named are there, all have the same numbers, and numbers that follow from others can.

use model::Problem;
use model::catalogue::kit::Derived;

use super::names::{complaint, near};
use crate::folder::Kit;

pub(super) fn check(kit: &Kit, problems: &mut Vec<Problem>) {
    named(kit, problems);
    alike(kit, problems);
    derived(kit, problems);
}

fn named(kit: &Kit, problems: &mut Vec<Problem>) {
    let manifest = &kit.manifest;
    let nominal = manifest.custom_size.iter().flat_map(|custom| custom.nominal.keys());
    let scaled = manifest.custom_size.iter().flat_map(|custom| custom.scale.iter().map(|scale| &scale.from));
    for name in [&manifest.default_size].into_iter().chain(nominal).chain(scaled) {
        if !manifest.sizes.contains_key(name) {
            problems.push(complaint(kit, format!("there is no size `{name}`"), "sizes"));
        }
    }
}

/// A script that reads a number finds it whatever the size.
fn alike(kit: &Kit, problems: &mut Vec<Problem>) {
    let known = kit.manifest.size_numbers();
    for (size, values) in &kit.manifest.sizes {
        for name in known.iter().filter(|name| !values.contains_key(**name)) {
            let what = format!("it has no number `{name}`, which others have");
            problems.push(complaint(kit, what, &format!("sizes.{size}")));
        }
    }
}

fn derived(kit: &Kit, problems: &mut Vec<Problem>) {
    let known = kit.manifest.size_numbers();
    for (name, Derived { of, times }) in &kit.manifest.derived {
        let key = format!("derived.{name}");
        if known.contains(name.as_str()) {
            problems.push(complaint(kit, format!("the sizes say `{name}` themselves"), &key));
        }
        if !known.contains(of.as_str()) {
            let problem = complaint(kit, format!("the sizes have no number `{of}`"), &key);
            problems.push(near(problem, of, known.iter().copied()));
        }
        if !(times.is_finite() && *times > 0.0) {
            problems.push(complaint(kit, format!("{times} for each of them is none"), &key));
        }
    }
}
