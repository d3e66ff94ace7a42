//! The plans of a study's cells: each is resolved, and what is wrong with it is told where the study file says it.

use std::collections::BTreeMap;

use super::design::{Design, chosen};
use super::level::{Change, Level, path};
use super::source::Read;
use crate::problem::Problem;
use crate::record::plan::Plan;
use crate::record::study::Arm;
use crate::{Catalogue, StackManifest};

/// A mistake that the plans of some cells have.
struct Mistake {
    problem: Problem,
    first: usize,
    cells: usize,
}

/// What the plans of the cells say, in the cells' order.
#[derive(Default)]
pub(super) struct Checked {
    /// Users, or arrivals per second.
    pub(super) loads: Vec<f64>,
    /// The users that the data set is for.
    pub(super) most: Vec<Option<f64>>,
    /// The first cell's.
    pub(super) first: Option<Plan>,
    /// The guests of the cell that has most of them.
    pub(super) guests: usize,
}

/// Resolves each cell's plan; the same mistake in many cells is told once.
pub(super) fn check_cells(
    design: &Design,
    arms: &[Arm],
    read: &Read<'_>,
    catalogue: &Catalogue,
    cpus: &[usize],
    problems: &mut Vec<Problem>,
) -> Checked {
    let mut mistakes: Vec<Mistake> = Vec::new();
    let mut checked = Checked::default();
    for (at, arm) in arms.iter().enumerate() {
        let wrong = match Plan::resolve(&arm.recipe, None, catalogue, cpus) {
            Ok(plan) => {
                let (load, wrong) = soundness(arm, &plan);
                checked.loads.push(load);
                let stacks = plan.guests.len().max(1);
                checked.guests = checked.guests.max(stacks);
                checked.most.push(plan.kit.most_users(&plan.size.values).map(|most| most * stacks as f64));
                checked.first.get_or_insert(plan);
                wrong
            }
            Err(wrong) => wrong.into_vec(),
        };
        for problem in wrong {
            match mistakes.iter_mut().find(|known| known.problem == problem) {
                Some(known) => known.cells += 1,
                None => mistakes.push(Mistake { problem, first: at, cells: 1 }),
            }
        }
    }
    for Mistake { mut problem, first, cells } in mistakes {
        if cells < arms.len() {
            let others = if cells > 1 { format!(" and {} more", cells - 1) } else { String::new() };
            problem.what += &format!(" (in the cell {}{others})", arms[first].label);
        }
        let elsewhere = problem.place.file.is_some();
        problems.push(if elsewhere { problem } else { located(problem, design, first, read) });
    }
    checked
}

/// The load of a cell whose plan holds, and what is wrong with it all the same.
fn soundness(arm: &Arm, plan: &Plan) -> (f64, Vec<Problem>) {
    let mut wrong = Vec::new();
    if !plan.load.is_steady() {
        let problem = Problem::recipe("a cell of a study holds one rate").key("rate");
        wrong.push(problem.remedy("several rates are several levels: rate = [\"50/s\", \"400/s\"]"));
    }
    let mut seen: BTreeMap<String, &String> = BTreeMap::new();
    for key in arm.recipe.set.keys() {
        if let Some(other) = seen.insert(canonical(&plan.stack, key), key) {
            let problem = Problem::recipe(format!("`{key}` and `{other}` are the same knob"));
            wrong.push(problem.key(format!("set.{key}")).why("only one of the two would be in force"));
        }
    }
    let load = plan.load.arrivals.map_or(f64::from(plan.load.users), |open| open.from_per_s);
    (load, wrong)
}

/// `tier.knob` for a knob that was written as `service.knob`.
fn canonical(stack: &StackManifest, key: &str) -> String {
    let Some((owner, knob)) = key.split_once('.') else { return key.to_string() };
    let tier = stack.tiers.iter().find(|tier| tier.name == owner || tier.service == owner);
    format!("{}.{knob}", tier.map_or(owner, |tier| tier.name.as_str()))
}

/// Puts a problem of a plan where the study file says what it is about: a level, or what all cells have.
fn located(mut problem: Problem, design: &Design, cell: usize, read: &Read<'_>) -> Problem {
    let key = problem.place.key.clone().unwrap_or_default();
    let (table, name) = key.split_once('.').unwrap_or((key.as_str(), ""));
    let knob = |name: &str| name.split_once('.').map_or(name.to_string(), |(_, knob)| knob.to_string());
    let is_about = |change: &Change| match table {
        "set" => change.set.keys().any(|known| knob(known) == knob(name)),
        "param" => change.param.contains_key(name),
        "stack" => change.stack.is_some(),
        "topology" | "guest" => change.topology.is_some(),
        "size" => change.size.is_some(),
        "mix" => change.mix.is_some(),
        "users" => change.users.is_some(),
        "rate" => change.rate.is_some(),
        _ => false,
    };
    let level = chosen(design, &design.combinations[cell]).find(|(_, level)| is_about(&level.change));
    let path = match level {
        Some((_, level)) if table == "set" || table == "param" => {
            [level.path.clone(), inner(level, table, name)].concat()
        }
        Some((_, level)) => level.path.clone(),
        None if name.is_empty() => path(&[table]),
        None => path(&[table, name]),
    };
    problem.place.line = read.line(&path);
    let file = read.source.file;
    if key.is_empty() { problem.file(file) } else { problem.file(file).key(key) }
}

/// Within a level that sets several knobs, the one that is meant.
fn inner(level: &Level, table: &str, name: &str) -> Vec<String> {
    let several = level.path.get(2).is_some_and(|step| step == "set") && table == "set";
    let known = level.change.set.keys().find(|known| {
        known.split_once('.').map(|(_, knob)| knob) == name.split_once('.').map(|(_, knob)| knob)
    });
    match known {
        Some(known) if several && level.path.len() == 4 && level.path[0] == "factor" => path(&[known]),
        _ => Vec::new(),
    }
}
