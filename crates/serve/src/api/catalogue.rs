//! What can be measured, and on what.

use model::Problem;
use model::catalogue::listing::Listing;
use serde_json::Value;

use crate::answer::{Answer, Refusal, json};
use crate::app::App;
use crate::endpoint::Asked;

pub(super) fn all(app: &App, _: &Asked) -> Result<Answer, Refusal> {
    json(&Listing::of(app.laboratory.catalogue(), None)?)
}

pub(super) fn one(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let name = asked.part("name");
    let listing = Listing::of(app.laboratory.catalogue(), Some(name))?;
    if listing.is_empty() {
        let what = format!("the catalogue has nothing called `{}`", name.escape_debug());
        return Err(Refusal::missing(Problem::recipe(what).into()));
    }
    json(&listing)
}

pub(super) fn machine_json(app: &App, _: &Asked) -> Result<Answer, Refusal> {
    json(&machine(app)?)
}

/// What this machine can and cannot do.
pub(crate) fn machine(app: &App) -> Result<Value, Refusal> {
    Ok(app.laboratory.machine()?)
}
