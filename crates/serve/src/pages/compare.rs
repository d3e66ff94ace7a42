//! Runs that are kept, side by side, and a way to measure them in pairs.

use axum::http::StatusCode;
use model::record::Setup;
use serde_json::json;
use store::Runs;

use crate::answer::{Answer, Refusal};
use crate::api::{beside_of, run_of};
use crate::app::App;
use crate::endpoint::Asked;

/// Whether there is something to compare.
pub(super) fn has_two(asked: &Asked) -> bool {
    asked.parameters("run").len() > 1
}

pub(super) fn page(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let mut names = asked.parameters("run");
    names.sort_unstable();
    names.dedup();
    // The base that was chosen, else the oldest: ids begin with the time.
    let base =
        asked.parameter("base").and_then(|base| names.iter().position(|name| *name == base)).unwrap_or(0);
    if !names.is_empty() {
        names[..=base].rotate_right(1);
    }
    if let [only] = names.as_slice() {
        let id = run_of(app, only)?.record().id.clone();
        let baseline = Runs::open(app.laboratory.home())?.baseline_of(&id)?.filter(|base| *base != id);
        if let Some(base) = baseline {
            return Ok(Answer::See(format!("/compare?run={base}&run={id}&base={base}")));
        }
    }
    if names.len() < 2 {
        let context = json!({ "title": "Compare", "beside": null, "in_pairs": null, "number": names.len() });
        return Ok(app.templates.page(
            "compare.html",
            StatusCode::OK,
            app.frame("/runs", asked.role),
            context,
        ));
    }
    let shown = report::beside_html(&beside_of(app, &names)?);
    let query: Vec<(&str, &str)> = names.iter().map(|name| ("run", *name)).collect();
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    let context = json!({
        "title": "Compare",
        "beside": shown.inside,
        "data": shown.data,
        "in_pairs": in_pairs(app, &names)?,
        "json": format!("/api/v1/beside?{query}"),
        "bases": names.iter().skip(1).map(|name| json!({ "name": name, "address": format!("/compare?{query}&base={name}") })).collect::<Vec<_>>(),
        "number": names.len(),
    });
    Ok(app.templates.page("compare.html", StatusCode::OK, app.frame("/runs", asked.role), context))
}

/// The form that measures two of them against each other now; nothing where they are of two kits, or not two.
fn in_pairs(app: &App, names: &[&str]) -> Result<Option<String>, Refusal> {
    let [a, b] = names else { return Ok(None) };
    let (a, b) = (run_of(app, a)?, run_of(app, b)?);
    let (a, b) = (&a.record().setup, &b.record().setup);
    let kit = a.kit.split('@').next().unwrap_or_default();
    if a.kit != b.kit || a.target.is_some() || b.target.is_some() {
        return Ok(None);
    }
    let users = a.users.to_string();
    let (a, b) = (side(a), side(b));
    let fields = [("kit", kit), ("a", &a), ("b", &b), ("users", &users)];
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    Ok(Some(format!("/new/compare?{query}")))
}

/// A side of a comparison as its command has it: `lighttpd-fpm-mariadb,web.server.max-worker=4`.
fn side(setup: &Setup) -> String {
    let given = setup.given.clone().unwrap_or_default();
    let params = given.param.iter().map(|(name, value)| format!("param.{name}={value}"));
    let set = given.set.iter().map(|(name, value)| format!("{name}={value}"));
    std::iter::once(setup.stack.clone()).chain(set).chain(params).collect::<Vec<_>>().join(",")
}
