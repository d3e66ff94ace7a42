//! The checks of a run or study, those of the instrument before those of the data.

use model::record::{ConsistencyResult, ValidityCheck};
use serde::Serialize;

/// A check as every output shows it.
#[derive(Serialize)]
pub(crate) struct Check<'a> {
    pub(crate) ok: bool,
    pub(crate) name: String,
    pub(crate) sentence: &'a str,
}

/// All checks.
pub(crate) fn of<'a>(
    validity: &'a [ValidityCheck],
    consistency: &'a [ConsistencyResult],
) -> impl Iterator<Item = Check<'a>> {
    let instrument = validity.iter().map(|check| Check {
        ok: check.ok,
        name: check.check.title().into_owned(),
        sentence: &check.sentence,
    });
    let data = consistency.iter().map(|check| Check {
        ok: check.ok,
        name: check.name.clone(),
        sentence: &check.sentence,
    });
    instrument.chain(data)
}
