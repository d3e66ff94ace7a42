//! `[find]` of a study file: what is looked for in each cell, and what that may cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::study::{By, FindGoal};
use crate::units;

/// The load line is found in each cell.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindRequest {
    /// Sooner and wider, as `plimsoll find --quick`.
    #[serde(default)]
    pub quick: bool,
    /// Users (the default) or arrivals per second (`rate`).
    #[serde(default)]
    pub by: By,
    /// Time that one search may take: `15min`.
    pub within: Option<String>,
    /// Half the interval's length, as a share of the load line, at which a search may end: 0.05 is 5 %.
    #[schemars(range(min = 0.005, max = 1.0))]
    pub half_width: Option<f64>,
    /// Probability with which the interval holds the load line: 0.9.
    #[schemars(range(min = 0.5, max = 0.999))]
    pub confidence: Option<f64>,
    /// The first load that is tried.
    #[schemars(range(min = 1.0))]
    pub start: Option<f64>,
    /// The load above which it doesn't look.
    #[schemars(range(min = 1.0))]
    pub most: Option<f64>,
}

impl FindRequest {
    /// The goal, its seed being `seed`; mistakes are added to `problems`.
    pub(super) fn goal(&self, seed: u64, problems: &mut Vec<Problem>) -> FindGoal {
        let base = if self.quick { FindGoal::default().quick() } else { FindGoal::default() };
        let mut goal = FindGoal { by: self.by, seed, ..base };
        match self.within.as_deref().map(units::duration) {
            None => {}
            Some(Ok(within)) => goal.budget_s = within.as_secs_f64(),
            Some(Err(what)) => problems.push(Problem::recipe(what).key("find.within")),
        }
        goal.half_width_ratio = self.half_width.unwrap_or(goal.half_width_ratio);
        goal.confidence_ratio = self.confidence.unwrap_or(goal.confidence_ratio);
        goal.start = self.start.unwrap_or(goal.start);
        goal.most = self.most.unwrap_or(goal.most);
        if goal.start > goal.most {
            let what = format!("the first load, {}, is above the last one, {}", goal.start, goal.most);
            problems.push(Problem::recipe(what).key("find.start"));
        }
        goal
    }
}
