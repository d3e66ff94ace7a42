//! What held stacks back, by kit and stack, in the runs that were measured last.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde_json::{Value, json};
use store::Runs;

use crate::answer::{Answer, Refusal};
use crate::app::App;
use crate::endpoint::Asked;

/// Records that are read: each takes a millisecond.
const MAX_RUNS: usize = 100;
/// Rows of each kit and stack.
const ROWS: usize = 5;

pub(super) fn page(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let runs = Runs::open(app.laboratory.home())?;
    let mut groups: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    for id in runs.ids()?.into_iter().rev().take(MAX_RUNS) {
        let Ok(run) = runs.find(&id) else { continue };
        let (setup, record) = (&run.record().setup, run.record());
        let Some(diagnosis) = &record.diagnosis else { continue };
        let rows = groups.entry((setup.kit.clone(), setup.stack.clone())).or_default();
        if rows.len() < ROWS {
            rows.push(json!({
                "run": id,
                "users": setup.users,
                "valid": record.verdict.valid,
                "sentence": diagnosis.sentence,
                "started": record.started,
            }));
        }
    }
    let groups: Vec<Value> = groups
        .into_iter()
        .map(|((kit, stack), rows)| json!({ "kit": kit, "stack": stack, "rows": rows }))
        .collect();
    let context = json!({ "title": "Limits", "groups": groups, "max_runs": MAX_RUNS });
    Ok(app.templates.page("limits.html", StatusCode::OK, app.frame("/limits", asked.role), context))
}
