//! What `[users]` and `[tolerance]` name is there.

use std::collections::BTreeSet;

use model::Problem;
use model::catalogue::kit::Acknowledge;
use model::catalogue::setting::{Setting, Type};

use super::names::{complaint, near};
use crate::folder::Kit;

pub(super) fn check(kit: &Kit, problems: &mut Vec<Problem>) {
    pauses(kit, problems);
    loaded_for(kit, problems);
    acknowledge(kit, problems);
    timeout(kit, problems);
    tolerance(kit, problems);
}

/// Pauses by session are of sessions that the kit has, and say what they are instead of.
fn pauses(kit: &Kit, problems: &mut Vec<Problem>) {
    let (users, sessions) = (&kit.manifest.users, kit.manifest.session_names());
    for (name, pause) in &users.by_session {
        let key = format!("users.by_session.{name}");
        if !sessions.contains(name) {
            let problem = complaint(kit, format!("there is no session `{name}`"), &key);
            problems.push(near(problem, name, sessions.iter().map(String::as_str)));
        }
        if let Some(fault) = pause.fault() {
            problems.push(complaint(kit, fault, &key));
        }
    }
    if !users.by_session.is_empty() && users.think.is_none() && users.cycle.is_none() {
        let what = "pauses by session need a `think` or a `cycle` that says which of the two they are";
        problems.push(complaint(kit, what.to_string(), "users.by_session"));
    }
}

/// Every size says for how many users it is.
fn loaded_for(kit: &Kit, problems: &mut Vec<Problem>) {
    let Some(number) = &kit.manifest.users.loaded_for else { return };
    for size in kit.manifest.sizes.keys() {
        // What is wrong with its numbers is told elsewhere.
        let Ok(values) = kit.manifest.size(size) else { continue };
        match values.get(number) {
            Some(users) if *users >= 1.0 => {}
            Some(users) => {
                let what = format!("size {size} is for {users} users: not for one");
                problems.push(complaint(kit, what, "users.loaded_for"));
            }
            None => {
                let problem =
                    complaint(kit, format!("size {size} has no number `{number}`"), "users.loaded_for");
                problems.push(near(problem, number, values.keys().map(String::as_str)));
            }
        }
    }
}

/// The parameter that says how to acknowledge can say nothing else.
fn acknowledge(kit: &Kit, problems: &mut Vec<Problem>) {
    let Some(name) = &kit.manifest.users.acknowledge else { return };
    let params = &kit.manifest.params;
    let right = |param: &Setting| {
        param.kind == Type::Choice && param.values.iter().all(|word| Acknowledge::of(word).is_some())
    };
    match params.iter().find(|param| param.name == *name) {
        Some(param) if right(param) => {}
        Some(_) => {
            let what = format!("`{name}` must be a choice of delayed and at_once");
            problems.push(complaint(kit, what, "users.acknowledge"));
        }
        None => {
            let known: BTreeSet<&str> = params.iter().map(|param| param.name.as_str()).collect();
            let problem = complaint(kit, format!("`{name}` is not a parameter"), "users.acknowledge");
            problems.push(near(problem, name, known));
        }
    }
}

/// An answer is waited for a while, and not for ever.
fn timeout(kit: &Kit, problems: &mut Vec<Problem>) {
    let timeout_s = kit.manifest.users.timeout_s;
    if !(timeout_s.is_finite() && timeout_s > 0.0) {
        let what = format!("{timeout_s} s is no time in which an answer can come");
        problems.push(complaint(kit, what, "users.timeout_s"));
    }
}

fn tolerance(kit: &Kit, problems: &mut Vec<Problem>) {
    let Some(tolerance) = kit.manifest.tolerance else { return };
    let given = [("mix_points", tolerance.mix_points), ("pause_ratio", tolerance.pause_ratio)];
    for (key, value) in given.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        if !(value.is_finite() && value > 0.0) {
            problems.push(complaint(kit, format!("{value} allows nothing"), &format!("tolerance.{key}")));
        }
    }
    let users = &kit.manifest.users;
    let own = || kit.manifest.all_sessions().into_iter().flat_map(|(_, _, populations)| populations.values());
    let pauses =
        users.think.is_some() || users.cycle.is_some() || own().any(|one| one.pauses().next().is_some());
    if tolerance.pause_ratio.is_some() && !pauses {
        let what = "there are no pauses: [users] has neither think nor cycle".to_string();
        problems.push(complaint(kit, what, "tolerance.pause_ratio"));
    }
}
