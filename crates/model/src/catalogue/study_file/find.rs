//! `[find]` of a study file: what is looked for in each cell, and what that may cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::record::study::{By, FindGoal};
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
    /// Time that one search may take: `15min`, 30 s or more. Less than usual shortens its trials' windows too.
    pub budget: Option<String>,
    /// Half the interval's length, as a share of the load line, at which a search may end: 0.05 is 5 %.
    #[schemars(range(min = 0.005, max = 0.5))]
    pub within: Option<f64>,
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
        let budget_s = self.budget_s(base.budget_s, problems);
        let mut goal = FindGoal { by: self.by, seed, ..base }.within_budget(budget_s);
        goal.half_width_ratio = self.within.unwrap_or(goal.half_width_ratio);
        goal.confidence_ratio = self.confidence.unwrap_or(goal.confidence_ratio);
        goal.most = self.most.unwrap_or(goal.most);
        goal.start = self.start.unwrap_or(goal.start.min(goal.most));
        check_loads(&goal, problems);
        goal
    }

    fn budget_s(&self, usual_s: f64, problems: &mut Vec<Problem>) -> f64 {
        match self.budget.as_deref().map(units::duration) {
            None => usual_s,
            Some(Ok(budget)) if budget.as_secs_f64() >= FindGoal::MIN_BUDGET_S => budget.as_secs_f64(),
            Some(Ok(_)) => {
                let least = units::show_seconds(FindGoal::MIN_BUDGET_S);
                let what = format!("it must be {least} or more: less says nothing");
                problems.push(Problem::recipe(what).key("find.budget"));
                usual_s
            }
            Some(Err(what)) => {
                problems.push(Problem::recipe(what).key("find.budget"));
                usual_s
            }
        }
    }
}

/// Loads that can be driven, the first of them not above the last.
fn check_loads(goal: &FindGoal, problems: &mut Vec<Problem>) {
    for (key, load) in [("find.start", goal.start), ("find.most", goal.most)] {
        if !load.is_finite() || (goal.by == By::Users && load.fract() != 0.0) {
            let unit = if goal.by == By::Users { "users" } else { "arrivals per second" };
            problems.push(Problem::recipe(format!("`{load}` is no number of {unit}")).key(key));
        }
    }
    if goal.start > goal.most {
        let what = format!("the first load, {}, is above the last one, {}", goal.start, goal.most);
        problems.push(Problem::recipe(what).key("find.start"));
    }
}
