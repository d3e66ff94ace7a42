//! What functions of Lua's `table` library cost.

use super::CpuBudget;
use crate::script::stack::{Answer, Argument, Call, Fault, List};

/// Steps for an element that is moved: it is read and written by the rules of the language.
const MOVED: u64 = 4;

/// A list's length can be told without asking it. Functions behind a table may say any length and never be done, and
/// nobody counts what the library does between two calls of them.
fn plain<'a>(call: Call<'a>, name: &str) -> Result<Option<List<'a>>, Fault> {
    match call.argument(1) {
        Argument::List(list) if list.has_metatable()? => Err(Fault::new(format!(
            "table.{name} takes a list without a metatable: what its functions would cost can't be told before"
        ))),
        Argument::List(list) => Ok(Some(list)),
        // Lua will say what it is.
        _ => Ok(None),
    }
}

/// How many there are from `first` to `last`.
pub(super) fn span(first: i64, last: i64) -> u64 {
    if last < first { 0 } else { last.abs_diff(first).saturating_add(1) }
}

/// The lengths of the texts from `first` to `last`, in words, up to the first element that is none: there Lua stops too.
fn words(list: List<'_>, first: i64, last: i64) -> Result<u64, Fault> {
    let mut sum = 0;
    for number in first..=last {
        match list.at(number, length)? {
            Some(bytes) => sum += 1 + bytes / 8,
            None => break,
        }
    }
    Ok(sum)
}

fn length(element: Argument<'_, '_>) -> Result<Option<u64>, Fault> {
    Ok(match element {
        Argument::Text(text) => Some(text.len() as u64),
        Argument::Integer(_) | Argument::Number(_) => Some(20),
        _ => None,
    })
}

/// `table.concat(list, separator, first, last)`.
pub(super) fn concat<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let Some(list) = plain(call, "concat")? else { return Ok(Answer::Through) };
    let (first, last) = (call.whole(3).unwrap_or(1), call.whole(4).unwrap_or(list.len() as i64));
    // What is beyond the list ends it with an error.
    let elements = span(first, last.min(list.len() as i64));
    budget.spend(elements.checked_mul(2))?;
    let separator = call.text(2).map_or(0, |text| text.len() as u64 / 8);
    budget.spend(elements.checked_mul(separator))?;
    budget.spend(Some(words(list, first, last)?))
}

/// Sorting goes through a list as often as it can be halved; texts are compared to their ends.
pub(super) fn sort<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let Some(list) = plain(call, "sort")? else { return Ok(Answer::Through) };
    let length = list.len() as u64;
    let rounds = u64::from(length.max(1).ilog2()) + 1;
    budget.spend(length.checked_mul(rounds.saturating_mul(2)))?;
    budget.spend(words(list, 1, length as i64)?.checked_mul(rounds))
}

/// `table.move(from, first, last, place, to)`: by its numbers, whatever the tables are.
pub(super) fn moved<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let (Some(first), Some(last)) = (call.whole(2), call.whole(3)) else { return Ok(Answer::Through) };
    budget.spend(span(first, last).checked_mul(MOVED))
}

/// `table.insert(list, place, value)` moves all from the place on; without a place nothing is moved.
pub(super) fn insert<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let Some(list) = plain(call, "insert")? else { return Ok(Answer::Through) };
    match call.whole(2).filter(|_| call.count() == 3) {
        Some(place) => budget.spend(span(place, list.len() as i64).checked_mul(MOVED)),
        None => Ok(Answer::Through),
    }
}

/// `table.remove(list, place)` moves all behind the place.
pub(super) fn remove<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let Some(list) = plain(call, "remove")? else { return Ok(Answer::Through) };
    match call.whole(2) {
        Some(place) => budget.spend(span(place, list.len() as i64).checked_mul(MOVED)),
        None => Ok(Answer::Through),
    }
}

/// `table.unpack(list, first, last)`, of whatever can be indexed.
pub(super) fn unpack<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let first = call.whole(2).unwrap_or(1);
    let last = match call.whole(3) {
        Some(last) => last,
        None => plain(call, "unpack")?.map_or(0, |list| list.len() as i64),
    };
    budget.spend(span(first, last).checked_mul(2))
}
