//! The kit's own figures: each is made of something that there is, and its bounds can be met.

use std::collections::BTreeSet;

use model::Problem;
use model::catalogue::kit::{DEFAULT_MIX, Metric, Per};

use super::names::{Names, complaint, near};
use crate::folder::Kit;

/// What a figure can be of without the session file naming it: all operations, and the users' time.
const EVERYBODY: [&str; 2] = ["all", "users"];

pub(super) fn check(kit: &Kit, names: &Names, problems: &mut Vec<Problem>) {
    let mut seen = BTreeSet::new();
    for metric in &kit.manifest.metrics {
        let key = format!("metric.{}", metric.name);
        if !seen.insert(&metric.name) {
            problems.push(complaint(kit, format!("`{}` is declared twice", metric.name), "metric"));
        }
        of_a_mix(kit, metric, &key, problems);
        made_of_something(kit, names, metric, &key, problems);
        bounds(kit, metric, &key, problems);
    }
}

fn of_a_mix(kit: &Kit, metric: &Metric, key: &str, problems: &mut Vec<Problem>) {
    let known = || kit.manifest.mixes.keys().map(String::as_str).chain([DEFAULT_MIX]);
    for mix in metric.mix.iter().filter(|mix| !known().any(|known| known == mix.as_str())) {
        problems.push(near(complaint(kit, format!("there is no mix `{mix}`"), key), mix, known()));
    }
}

fn made_of_something(kit: &Kit, names: &Names, metric: &Metric, key: &str, problems: &mut Vec<Problem>) {
    let sessions = kit.manifest.session_names();
    let timed = names.operations.iter().chain(&sessions).map(String::as_str);
    let (known, wanted, of) = match &metric.per {
        Per::Mean | Per::Percentile(_) => {
            let known: BTreeSet<&str> = timed.chain(["all"]).collect();
            (known, "neither an operation nor a session", None)
        }
        per => {
            let counters = names.counters.iter().map(String::as_str);
            let known: BTreeSet<&str> = timed.chain(counters).chain(EVERYBODY).collect();
            let of = if let Per::Of(other) = per { Some(other) } else { None };
            (known, "neither a counter nor an operation nor a session", of)
        }
    };
    for name in [&metric.of].into_iter().chain(of).filter(|name| !known.contains(name.as_str())) {
        let what = format!("`{name}` is {wanted} of {}", kit.manifest.session);
        problems.push(near(complaint(kit, what, key), name, known.iter().copied()));
    }
    if let Per::Percentile(percent) = metric.per
        && !(percent > 0.0 && percent < 100.0)
    {
        problems.push(complaint(kit, format!("a percentile lies between 0 and 100, not at {percent}"), key));
    }
}

fn bounds(kit: &Kit, metric: &Metric, key: &str, problems: &mut Vec<Problem>) {
    let Metric { times, at_least, at_most, why, .. } = metric;
    if !times.is_finite() || *times == 0.0 {
        problems.push(complaint(kit, format!("a figure times {times} says nothing"), key));
    }
    if [at_least, at_most].into_iter().flatten().any(|bound| !bound.is_finite()) {
        problems.push(complaint(kit, "a bound is a number".to_string(), key));
    }
    if let (Some(least), Some(most)) = (at_least, at_most)
        && least > most
    {
        let what = format!("at_least {least} is more than at_most {most}: no run would be valid");
        problems.push(complaint(kit, what, key));
    }
    if why.is_some() && at_least.is_none() && at_most.is_none() {
        let what = "`why` says why a figure outside of its bounds spoils a run, and it has none".to_string();
        problems.push(complaint(kit, what, key).remedy("at_least, at_most, or no why"));
    }
}
