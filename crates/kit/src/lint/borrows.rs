//! A borrowed module works here with the same files as at home.

use std::collections::{BTreeMap, BTreeSet};

use model::{Catalogue, Problem};

use super::names::{complaint, literals};
use crate::folder::{Kit, module_places};

/// Whatever a borrowed module requires is the same file here as in the kit in whose folder it lies.
pub(super) fn check(kit: &Kit, catalogue: &Catalogue, problems: &mut Vec<Problem>) {
    let lenders: BTreeSet<&str> = kit.manifest.borrowed().map(|one| one.kit).collect();
    for lender in lenders {
        match catalogue.kit(lender) {
            Ok(manifest) => differences(kit, lender, &module_places(catalogue, &manifest), problems),
            Err(found) => problems.extend(found.into_vec()),
        }
    }
}

/// What modules of `lender` would not be given here as at home; `there` are the places of what they are given there.
fn differences(kit: &Kit, lender: &str, there: &BTreeMap<String, String>, problems: &mut Vec<Problem>) {
    for borrowed in kit.manifest.borrowed().filter(|one| one.kit == lender) {
        for name in required(&kit.modules[borrowed.module]) {
            let here = kit.places.get(&name);
            let Some(path) = there.get(&name).filter(|path| here != Some(*path)) else { continue };
            let entry = path.strip_prefix("kits/").unwrap_or(path);
            let (instead, more) = match here {
                None => ("this kit doesn't have".to_string(), ""),
                Some(other) => (format!("would be {other} here"), ", and give the other file another name"),
            };
            let what = format!("`{borrowed}` requires `{entry}`, which {instead}");
            let problem = complaint(kit, what, "borrows")
                .why("a borrowed module does what it does at home only with the same files")
                .remedy(format!("borrow `{entry}` too{more}"));
            problems.push(problem);
        }
    }
}

/// The names that a Lua text requires; what a comment says is not meant.
fn required(text: &str) -> BTreeSet<String> {
    let code: Vec<&str> = text.lines().map(|line| line.split("--").next().unwrap_or(line)).collect();
    literals(&code.join("\n"), "require")
}
