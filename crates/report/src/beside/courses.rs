//! The runs' courses over time, laid over each other at the beginning of their steady states.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::KeptRun;
use crate::timeline::Scope;

/// How something went in each of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Course {
    /// What went so.
    #[serde(flatten)]
    pub measure: CourseMeasure,
    /// The points of each run: when, in seconds since its steady state began (before it: negative), and what it was in the
    /// step that begins there.
    pub runs: Vec<Vec<(f64, f64)>>,
}

/// What has a course.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "measure", rename_all = "snake_case")]
pub enum CourseMeasure {
    /// Operations completed per second.
    OperationsPerS,
    /// 95th percentile of the response times of all operations, in seconds; the largest where there are too few samples.
    ResponseP95S,
    /// Cores that a tier kept busy.
    CpuCores {
        /// web, app, db, cache, generator.
        tier: String,
    },
}

/// The courses that any of `runs` has.
pub(super) fn of(runs: &[KeptRun]) -> Vec<Course> {
    let tiers = runs.iter().flat_map(|run| run.course.cpu.iter().map(|column| column.name.as_str()));
    // As each run has them: from the front of the stack to its back.
    let mut seen = BTreeSet::new();
    let tiers: Vec<&str> = tiers.filter(|tier| seen.insert(*tier)).collect();
    let cpu = tiers.into_iter().map(|tier| CourseMeasure::CpuCores { tier: tier.to_string() });
    [CourseMeasure::OperationsPerS, CourseMeasure::ResponseP95S]
        .into_iter()
        .chain(cpu)
        .map(|measure| Course { runs: runs.iter().map(|run| points(run, &measure)).collect(), measure })
        .filter(|course| course.runs.iter().any(|points| points.len() > 1))
        .collect()
}

fn points(run: &KeptRun, measure: &CourseMeasure) -> Vec<(f64, f64)> {
    let all = run.course.scopes.first();
    let scope = |of: fn(&Scope) -> &Vec<Option<f64>>| all.map(of);
    let values = match measure {
        CourseMeasure::OperationsPerS => scope(|all| &all.per_s),
        CourseMeasure::ResponseP95S => scope(|all| &all.p95_s),
        CourseMeasure::CpuCores { tier } => {
            run.course.cpu.iter().find(|column| column.name == *tier).map(|column| &column.values)
        }
    };
    let setup = &run.record.setup;
    // What is left of the run after its last phase is the end of a second, and no more than a spike.
    let end_s = setup.steady_s + setup.ramp_down_s;
    let at = run.course.at_s.iter().map(|at| f64::from(*at) - setup.ramp_up_s);
    let points = at.zip(values.into_iter().flatten()).filter(|(at, _)| *at < end_s);
    points.filter_map(|(at, value)| Some((at, (*value)?))).collect()
}
