//! What lints look up and how they complain.

use std::collections::BTreeSet;

use model::{Problem, Result, document};

use crate::folder::Kit;

/// What a session file defines, as far as its text shows it.
pub(super) struct Names {
    pub(super) functions: BTreeSet<String>,
    /// Those of its modules too.
    pub(super) operations: BTreeSet<String>,
    /// Those of its modules too.
    pub(super) counters: BTreeSet<String>,
}

impl Names {
    pub(super) fn of(kit: &Kit) -> Result<Names> {
        let session = kit.text(&kit.manifest.session)?;
        let functions = session
            .lines()
            .filter_map(|line| line.strip_prefix("function "))
            .filter_map(|rest| rest.split_once('(').map(|(name, _)| name.trim().to_string()))
            .collect();
        let texts: Vec<&str> = kit.modules.values().map(|text| &**text).chain([session]).collect();
        let named = |call| texts.iter().flat_map(|text| literals(text, call)).collect();
        Ok(Names { functions, operations: named("operation"), counters: named("count") })
    }
}

/// The quoted texts that `call` is given in `text`.
pub(super) fn literals(text: &str, call: &str) -> BTreeSet<String> {
    let found = text.match_indices(call).filter_map(|(at, _)| {
        let whole = !text[..at].ends_with(|c: char| c.is_alphanumeric() || "_.:".contains(c));
        let rest = text[at + call.len()..].trim_start().trim_start_matches('(').trim_start();
        let quote = rest.chars().next().filter(|c| whole && matches!(c, '"' | '\''))?;
        rest[1..].split(quote).next().map(str::to_string)
    });
    found.collect()
}

/// The same, with the name among those `known` that is nearest to `name` as its remedy.
pub(super) fn near<'a>(
    mut problem: Problem,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Problem {
    problem.remedy = document::nearest(name, known).map(|near| format!("`{near}`"));
    problem
}

/// A mistake in the kit's `kit.toml`, at a key.
pub(super) fn complaint(kit: &Kit, what: String, key: &str) -> Problem {
    Problem::recipe(what).file(kit.path_of("kit.toml")).key(key)
}
