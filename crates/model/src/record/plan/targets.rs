//! What the run must meet: the recipe's targets, or the kit's, without what is left out by name.

use crate::catalogue::qos::{Measure, QosTarget};
use crate::catalogue::recipe::Recipe;
use crate::document::nearest;
use crate::problem::Problem;
use crate::{Catalogue, KitManifest};

/// So begins what leaves the targets of an operation out: `without Save`.
const WITHOUT: &str = "without ";

pub(super) fn resolve(
    recipe: &Recipe,
    kit: &KitManifest,
    catalogue: &Catalogue,
    problems: &mut Vec<Problem>,
) -> Vec<QosTarget> {
    let (left_out, asked): (Vec<&String>, Vec<&String>) = recipe
        .qos
        .iter()
        .partition(|text| text.trim_start().starts_with(WITHOUT) && !text.contains(['<', '>']));
    let mut targets = if asked.is_empty() { of_kit(kit, problems) } else { Vec::new() };
    for text in asked {
        targets.extend(of_text(text, catalogue, problems));
    }
    for text in left_out {
        leave_out(text.trim().trim_start_matches(WITHOUT).trim(), &mut targets, problems);
    }
    let waits = targets.iter().filter_map(|target| match target.measure {
        Measure::Waiting(over_s) => Some(over_s),
        _ => None,
    });
    if waits.clone().zip(waits.skip(1)).any(|(one, next)| one != next) {
        let what = "two targets ask about users who wait, each over another time";
        problems.push(Problem::recipe(what).key("qos").remedy("keep one of them"));
    }
    targets.extend(QosTarget::implied(&targets));
    targets
}

fn of_kit(kit: &KitManifest, problems: &mut Vec<Problem>) -> Vec<QosTarget> {
    let file = format!("kits/{}/kit.toml", kit.name);
    let all = kit.qos.iter().flat_map(|(scope, texts)| {
        let operation = (scope != "all").then_some(scope.as_str());
        texts.iter().map(move |text| (operation, text))
    });
    all.filter_map(|(operation, text)| read(text, operation, Some(&file), problems)).collect()
}

/// What one `qos` of a recipe asks for: a target, or all of a preset.
fn of_text(text: &str, catalogue: &Catalogue, problems: &mut Vec<Problem>) -> Vec<QosTarget> {
    if text.contains(['<', '>']) {
        return read(text, None, None, problems).into_iter().collect();
    }
    // Without a sign it is a preset's name.
    match catalogue.preset(text.trim()) {
        Ok(preset) => {
            let file = format!("qos/{}.toml", preset.name);
            preset.targets.iter().filter_map(|text| read(text, None, Some(&file), problems)).collect()
        }
        Err(found) => {
            problems.extend(found.into_vec().into_iter().map(|problem| {
                let why =
                    "without a sign it can only name a preset; a target has one: write it as `p95 < 2s`";
                problem.key("qos").why(why)
            }));
            Vec::new()
        }
    }
}

fn read(
    text: &str,
    operation: Option<&str>,
    file: Option<&str>,
    problems: &mut Vec<Problem>,
) -> Option<QosTarget> {
    match text.parse::<QosTarget>() {
        Ok(target) => {
            let operation = operation.map(str::to_string).or(target.operation);
            Some(QosTarget { operation, ..target })
        }
        Err(what) => {
            let mut problem = Problem::recipe(what).key("qos");
            problem.place.file = file.map(str::to_string);
            problems.push(problem);
            None
        }
    }
}

/// Leaves out what is asked of an operation.
fn leave_out(operation: &str, targets: &mut Vec<QosTarget>, problems: &mut Vec<Problem>) {
    let of = |target: &QosTarget| target.operation.as_deref() == Some(operation);
    if targets.iter().any(of) {
        return targets.retain(|target| !of(target));
    }
    let what = format!("nothing is asked of `{operation}`: there is nothing to leave out");
    let mut problem = Problem::recipe(what).key("qos");
    let known = targets.iter().filter_map(|target| target.operation.as_deref());
    problem.remedy = nearest(operation, known).map(|near| format!("`{WITHOUT}{near}`"));
    problems.push(problem);
}
