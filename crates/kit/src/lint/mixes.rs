//! Every way of choosing sessions is sound, and what is asked under each is asked of something that there is.

use std::collections::BTreeMap;

use model::catalogue::kit::DEFAULT_MIX;
use model::catalogue::mix::Sessions;
use model::catalogue::population::Populations;
use model::{Problem, QosTarget};

use super::names::{Names, complaint, near};
use crate::folder::Kit;

pub(super) fn check(kit: &Kit, names: &Names, problems: &mut Vec<Problem>) {
    sessions(kit, names, problems);
    let manifest = &kit.manifest;
    targets(kit, names, ("qos", &manifest.qos), problems);
    for (name, mix) in &manifest.mixes {
        let key = format!("mixes.{name}.qos");
        targets(kit, names, (key.as_str(), &mix.qos), problems);
        let left_out = mix.qos.iter().filter(|(_, texts)| texts.is_empty());
        for (scope, _) in left_out.filter(|(scope, _)| !manifest.qos.contains_key(*scope)) {
            let what = format!("[qos] asks nothing of `{scope}`: there is nothing to leave out");
            problems.push(complaint(kit, what, &format!("{key}.{scope}")));
        }
    }
    if manifest.mixes.contains_key(DEFAULT_MIX) {
        let what = format!("`{DEFAULT_MIX}` is what the kit's own sessions are called");
        problems.push(complaint(kit, what, &format!("mixes.{DEFAULT_MIX}")).remedy("another name"));
    }
}

/// Sessions are functions of the session file, and follow each other without a mistake.
fn sessions(kit: &Kit, names: &Names, problems: &mut Vec<Problem>) {
    let manifest = &kit.manifest;
    for (prefix, sessions, populations) in manifest.all_sessions() {
        if let Err(found) = Populations::resolve(&sessions, populations, &manifest.users.usual_pauses()) {
            let placed = found.into_vec().into_iter().map(|mut problem| {
                problem.place.key = problem.place.key.map(|key| format!("{prefix}{key}"));
                problem.file(kit.path_of("kit.toml"))
            });
            problems.extend(placed);
        }
        functions(kit, names, (&prefix, &sessions), problems);
        for (name, population) in populations {
            let prefix = format!("{prefix}population.{name}.");
            functions(kit, names, (&prefix, &population.sessions()), problems);
            let first = population.begins_with.iter();
            let unknown = first.filter(|first| !names.functions.contains(*first));
            problems
                .extend(unknown.map(|first| no_function(kit, names, first, &format!("{prefix}begins_with"))));
        }
    }
}

/// The sessions that stand under keys with a prefix.
fn functions(kit: &Kit, names: &Names, (prefix, sessions): (&str, &Sessions), problems: &mut Vec<Problem>) {
    let part = match (&sessions.matrix, sessions.sequence.is_empty()) {
        (Some(_), _) => "matrix.rows.",
        (None, true) => "mix.",
        (None, false) => "sequence ",
    };
    let unknown = sessions.names().into_iter().filter(|name| !names.functions.contains(*name));
    problems.extend(unknown.map(|name| no_function(kit, names, name, &format!("{prefix}{part}{name}"))));
}

fn no_function(kit: &Kit, names: &Names, name: &str, key: &str) -> Problem {
    let problem = complaint(kit, format!("{} has no function `{name}`", kit.manifest.session), key);
    near(problem, name, names.functions.iter().map(String::as_str))
}

/// What stands under a key of targets.
type Asked<'a> = (&'a str, &'a BTreeMap<String, Vec<String>>);

/// Targets can be read, and are of operations.
fn targets(kit: &Kit, names: &Names, (key, asked): Asked<'_>, problems: &mut Vec<Problem>) {
    for (scope, texts) in asked {
        let key = format!("{key}.{scope}");
        if scope != "all" && !names.operations.contains(scope) {
            let problem = complaint(kit, format!("there is no operation `{scope}`"), &key);
            problems.push(near(problem, scope, names.operations.iter().map(String::as_str)));
        }
        for text in texts {
            if let Err(what) = text.parse::<QosTarget>() {
                problems.push(complaint(kit, what, &key));
            }
        }
    }
}
