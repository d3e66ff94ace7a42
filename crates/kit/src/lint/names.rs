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
    /// Where a counter's name is worked out, so that the text does not show it: `kits/shop/session.lua:41`, the first place.
    pub(super) counted_by_any_name: Option<String>,
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
        let of_session = kit.manifest.session.strip_suffix(".lua").unwrap_or(&kit.manifest.session);
        let modules = kit.modules.keys().filter(|module| *module != of_session);
        let counted_by_any_name =
            [of_session].into_iter().chain(modules.map(String::as_str)).find_map(|module| {
                let (text, file) = (kit.modules.get(module)?, format!("{module}.lua"));
                Some(format!("{}:{}", kit.path_of(&file), worked_out(text, "count")?))
            });
        Ok(Names { functions, operations: named("operation"), counters: named("count"), counted_by_any_name })
    }
}

/// The quoted texts that `call` is given in `text`.
pub(super) fn literals(text: &str, call: &str) -> BTreeSet<String> {
    let found = text.match_indices(call).filter_map(|(at, _)| {
        let rest = text[at + call.len()..].trim_start().trim_start_matches('(').trim_start();
        let quote = rest.chars().next().filter(|c| is_whole(text, at) && matches!(c, '"' | '\''))?;
        rest[1..].split(quote).next().map(str::to_string)
    });
    found.collect()
}

/// The first line of `text` on which `call` is given a name that is no quoted text: a variable, or what is put together.
fn worked_out(text: &str, call: &str) -> Option<usize> {
    let found = text.match_indices(call).find(|(at, _)| {
        let line = text[..*at].rsplit('\n').next().unwrap_or_default();
        let Some(argument) = text[at + call.len()..].trim_start().strip_prefix('(') else { return false };
        is_whole(text, *at) && !line.contains("--") && !is_quoted(argument.trim_start())
    });
    found.map(|(at, _)| text[..at].lines().count().max(1))
}

/// The name that begins at `at` is not the end of a longer one, nor a method's.
fn is_whole(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|c: char| c.is_alphanumeric() || "_.:".contains(c))
}

/// A quoted text is the whole argument: nothing is appended to it.
fn is_quoted(argument: &str) -> bool {
    let Some(quote) = argument.chars().next().filter(|c| matches!(c, '"' | '\'')) else { return false };
    let after = argument[1..].split_once(quote).map_or("", |(_, after)| after);
    after.trim_start().starts_with([',', ')'])
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
