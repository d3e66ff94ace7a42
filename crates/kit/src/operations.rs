//! Which operations a session has and how often, read from its script without running it: calls of `operation "Name"` in its
//! function and in those that it calls. What a condition decides counts as coming once at most; a loop counts where its length
//! stands there. The principal function is [`occurrences`].

mod read;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};

use model::catalogue::occurrence::{Occurrence, Occurrences, SessionOperations};
use model::{Catalogue, Plan, Result};

use crate::folder::Kit;
use read::{Function, Item};

/// The operations of each session of the plan's kit.
///
/// # Errors
/// A kit that can't be read.
pub fn occurrences(plan: &Plan, catalogue: &Catalogue) -> Result<Occurrences> {
    let kit = Kit::open(catalogue, &plan.kit.name)?;
    let session = &plan.kit.session;
    let own = session.trim_end_matches(".lua");
    let others = kit.modules.iter().filter(|(name, _)| *name != own).map(|(_, text)| text.as_str());
    Ok(of_texts(
        &[kit.text(session)?].into_iter().chain(others).collect::<Vec<_>>(),
        &plan.kit.session_names(),
    ))
}

fn of_texts<'a>(texts: &[&str], sessions: impl IntoIterator<Item = &'a String>) -> Occurrences {
    let sessions: Vec<&String> = sessions.into_iter().collect();
    let mut functions = read::functions(texts);
    keep_what_leads_to_operations(&mut functions, &sessions);
    let mut followed = Followed { functions: &functions, results: BTreeMap::new() };
    let mut of = |session: &String| {
        let mut found = followed.operations(session);
        if found.operations.is_empty() && !found.has_others {
            // Requests outside of any operation are one that is named after the session.
            found.operations.insert(session.clone(), Occurrence::Times(1.0));
        }
        (session.clone(), found)
    };
    sessions.into_iter().map(&mut of).collect()
}

/// Leaves out the calls that begin no operation, however far they are followed. Most of them are none: functions are known by name
/// alone, and many a field or variable is called as a function of another file is. A session is an operation where it has none.
fn keep_what_leads_to_operations(functions: &mut BTreeMap<String, Function>, sessions: &[&String]) {
    let mut leading: BTreeSet<String> = sessions.iter().map(|name| (*name).clone()).collect();
    loop {
        let leads = |(item, _): &(Item, Occurrence)| match item {
            Item::Operation(_) | Item::AnyOperation => true,
            Item::Call(callee) => leading.contains(callee),
        };
        let more = functions.iter().filter(|(name, function)| {
            !leading.contains(*name) && (function.is_ambiguous || function.items.iter().any(leads))
        });
        let more: Vec<String> = more.map(|(name, _)| name.clone()).collect();
        if more.is_empty() {
            break;
        }
        leading.extend(more);
    }
    for function in functions.values_mut() {
        function.items.retain(|(item, _)| !matches!(item, Item::Call(callee) if !leading.contains(callee)));
    }
}

/// The functions' operations, each function followed once however many ways lead to it.
struct Followed<'a> {
    functions: &'a BTreeMap<String, Function>,
    /// Absent where nobody asked yet, `None` while the function is being followed.
    results: BTreeMap<String, Option<SessionOperations>>,
}

impl Followed<'_> {
    /// What one call of that function comes to. A function that isn't there, or that comes back to itself, may do anything.
    fn operations(&mut self, name: &str) -> SessionOperations {
        let anything = SessionOperations { has_others: true, ..SessionOperations::default() };
        if let Some(result) = self.results.get(name) {
            return result.clone().unwrap_or(anything);
        }
        let Some(function) = self.functions.get(name) else { return anything };
        self.results.insert(name.to_string(), None);
        let operations = self.sum(function);
        self.results.insert(name.to_string(), Some(operations.clone()));
        operations
    }

    fn sum(&mut self, function: &Function) -> SessionOperations {
        let mut sum = SessionOperations { has_others: function.is_ambiguous, ..SessionOperations::default() };
        let mut add = |operation: &str, times: Occurrence| {
            let so_far = sum.operations.entry(operation.to_string()).or_insert(Occurrence::Times(0.0));
            *so_far = so_far.and(times);
        };
        for (item, times) in &function.items {
            match item {
                Item::Operation(operation) => add(operation, *times),
                Item::AnyOperation => sum.has_others = true,
                Item::Call(callee) => {
                    let called = self.operations(callee);
                    sum.has_others |= called.has_others;
                    called
                        .operations
                        .iter()
                        .for_each(|(operation, each)| add(operation, each.for_each(*times)));
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests;
