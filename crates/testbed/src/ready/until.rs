//! A server that answers and is not ready yet: what it must tell about itself before it is.

use std::collections::BTreeMap;

use minijinja::Value;
use model::catalogue::server_job::StatusJob;
use model::catalogue::service::ReadyUntil;
use model::record::plan::PlanTier;
use model::{Catalogue, Problem, Result};

use crate::render::{Reach, Renderer};
use crate::status;

/// The name that an expression has for the number of instances of the tier that have been started.
const STARTED: &str = "started";

/// Asks a server that stands for figures of these names, and says what it told; nothing where it didn't answer.
pub type Ask<'a> = dyn Fn(&StatusJob, &[String]) -> Option<BTreeMap<String, f64>> + 'a;

/// What an instance must tell.
#[derive(Debug)]
pub(crate) struct Until {
    job: StatusJob,
    /// The names in `must` that are figures.
    figures: Vec<String>,
    must: String,
    context: Value,
    /// The manifest.
    file: String,
}

impl Until {
    /// What an instance of `tier` must tell with these knobs.
    pub(crate) fn all(
        tier: &PlanTier,
        renderer: &Renderer,
        reach: &Reach,
        context: &Value,
    ) -> Result<Vec<Until>> {
        let file = format!("{}/service.toml", tier.folder);
        let mut untils = Vec::new();
        for until in &tier.service.ready.untils {
            let when = until.when.as_ref();
            let wanted = when.map(|when| renderer.worked_out(&file, "ready.until.when", when, context));
            if wanted.transpose()?.is_none_or(|wanted| wanted.is_true()) {
                untils.push(Until::new(until, tier, (renderer, &file), reach, context)?);
            }
        }
        Ok(untils)
    }

    fn new(
        until: &ReadyUntil,
        tier: &PlanTier,
        (renderer, file): (&Renderer, &str),
        reach: &Reach,
        context: &Value,
    ) -> Result<Until> {
        let mut statuses = tier.service.statuses.iter();
        let status = statuses.find(|status| status.name == until.status).ok_or_else(|| {
            let what = format!("there is no status `{}`", until.status);
            Problem::recipe(what).file(file).key("ready.until.status")
        })?;
        let job = status::status_job(status, (renderer, file), tier, reach, context)?;
        let figures = figures(renderer, file, &until.must, context)?;
        let (must, context) = (until.must.clone(), context.clone());
        Ok(Until { job, figures, must, context, file: file.to_string() })
    }

    /// What doesn't hold yet, with the figures that were told; nothing where it holds. `started` is the number of instances that
    /// have been started.
    pub(crate) fn lacking(&self, ask: &Ask<'_>, started: usize) -> Result<Option<String>> {
        let told = ask(&self.job, &self.figures).unwrap_or_default();
        let missing = |name: &&String| !told.contains_key(*name);
        if let Some(name) = self.figures.iter().find(missing) {
            return Ok(Some(format!("`{}` needs {name}, which it doesn't tell", self.must)));
        }
        let figures = self.figures.iter().map(|name| (name.as_str(), Value::from(told[name])));
        let known = Value::from_pairs(figures.chain([(STARTED, Value::from(started))]));
        let context = minijinja::context! { ..known, ..self.context.clone() };
        let renderer = Renderer::new(&Catalogue::default())?;
        if renderer.worked_out(&self.file, "ready.until.must", &self.must, &context)?.is_true() {
            return Ok(None);
        }
        let told: Vec<String> = self.figures.iter().map(|name| format!("{name} is {}", told[name])).collect();
        Ok(Some(format!("`{}` doesn't hold: {}", self.must, told.join(", "))))
    }
}

/// The names in an expression that the context doesn't have: figures.
fn figures(renderer: &Renderer, file: &str, must: &str, context: &Value) -> Result<Vec<String>> {
    let known = |name: &String| context.get_attr(name).is_ok_and(|value| !value.is_undefined());
    let mut names = renderer.names(file, "ready.until.must", must)?;
    names.retain(|name| name != STARTED && !known(name));
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{SERVICE, tier_of};

    const MUST: &str = "wsrep_local_state == 4 and wsrep_cluster_size >= started and instance < 3";

    fn until() -> Until {
        let more = format!(
            r#"
[[ready.until]]
status = "status"
must = "{MUST}"

[[status]]
name = "status"
reader = "mysql"
at = "mysql"
"#
        );
        let tier = tier_of("db", &format!("{SERVICE}{more}"));
        let reach = Reach { sockets: [("mysql".to_string(), "x.sock".into())].into(), ..Reach::default() };
        let renderer = Renderer::new(&Catalogue::default()).expect("a renderer");
        let context = Value::from_pairs([("instance", 1)]);
        Until::all(&tier, &renderer, &reach, &context).expect("it is right").remove(0)
    }

    #[test]
    fn a_server_is_asked_for_the_figures_that_the_expression_names_and_for_nothing_else() {
        assert_eq!(until().figures, ["wsrep_cluster_size", "wsrep_local_state"]);
    }

    #[test]
    fn what_does_not_hold_is_told_with_its_figures() {
        let lacking = |told: Option<[f64; 2]>, started| {
            let ask = |_: &StatusJob, names: &[String]| {
                told.map(|told| names.iter().cloned().zip(told).collect::<BTreeMap<String, f64>>())
            };
            until().lacking(&ask, started).expect("the expression is right")
        };
        assert_eq!(lacking(Some([2.0, 4.0]), 2), None);
        let said = lacking(Some([2.0, 4.0]), 3).expect("only two of three");
        assert!(said.contains("wsrep_cluster_size is 2"), "{said}");
        let said = lacking(None, 1).expect("nobody answered");
        assert!(said.contains("wsrep_cluster_size, which it doesn't tell"), "{said}");
    }
}
