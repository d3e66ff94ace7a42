//! The kit's own figures: each is made of something that there is, and its bounds can be met.

use std::collections::BTreeSet;

use model::catalogue::kit::{DEFAULT_MIX, Metric, Per};
use model::{Problem, document};

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
    let unknown = Unknown::of(kit, names, metric);
    if !(unknown.may_be_counted && names.counted_by_any_name.is_some()) {
        for name in unknown.names {
            let what = format!("`{name}` is {} of {}", unknown.wanted, kit.manifest.session);
            problems.push(near(complaint(kit, what, key), name, unknown.known.iter().map(String::as_str)));
        }
    }
    if let Per::Percentile(percent) = metric.per
        && !(percent > 0.0 && percent < 100.0)
    {
        problems.push(complaint(kit, format!("a percentile lies between 0 and 100, not at {percent}"), key));
    }
}

/// What a figure is made of that the text of the session file does not name.
struct Unknown<'a> {
    names: Vec<&'a String>,
    /// What it could be made of.
    known: BTreeSet<String>,
    /// What none of the names is.
    wanted: &'static str,
    /// A counter is as good as an operation: its name may be worked out when the session runs.
    may_be_counted: bool,
}

impl<'a> Unknown<'a> {
    fn of(kit: &Kit, names: &Names, metric: &'a Metric) -> Unknown<'a> {
        let timed = names.operations.iter().cloned().chain(kit.manifest.session_names());
        let (known, wanted, of, may_be_counted) = match &metric.per {
            Per::Mean | Per::Percentile(_) => {
                let known: BTreeSet<String> = timed.chain(["all".to_string()]).collect();
                (known, "neither an operation nor a session", None, false)
            }
            per => {
                let counters = names.counters.iter().cloned();
                let known = timed.chain(counters).chain(EVERYBODY.map(str::to_string)).collect();
                let of = if let Per::Of(other) = per { Some(other) } else { None };
                (known, "neither a counter nor an operation nor a session", of, true)
            }
        };
        let made_of = [&metric.of].into_iter().chain(of);
        let names = made_of.filter(|name| !known.contains(*name)).collect();
        Unknown { names, known, wanted, may_be_counted }
    }
}

/// What is let pass because only a run can tell whether it is right: figures of counters whose names the session works out,
/// a sentence each with the place where it does.
pub(super) fn notes(kit: &Kit, names: &Names) -> Vec<String> {
    let Some(place) = &names.counted_by_any_name else { return Vec::new() };
    let mut notes = Vec::new();
    for metric in &kit.manifest.metrics {
        let unknown = Unknown::of(kit, names, metric);
        for name in unknown.names.into_iter().filter(|_| unknown.may_be_counted) {
            let near = document::nearest(name, unknown.known.iter().map(String::as_str));
            let near = near.map(|near| format!(" (or is it `{near}`?)")).unwrap_or_default();
            notes.push(format!(
                "{}: metric.{}: `{name}` is taken for a counter{near}, since {place} counts under a name that it works \
                 out: whether it is ever counted a run tells",
                kit.path_of("kit.toml"),
                metric.name
            ));
        }
    }
    notes
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
    if metric.at_least_samples > 0 {
        let what = match (metric.has_samples(), at_least.or(*at_most)) {
            (false, _) => Some("a count or a rate is made of no samples that there could be too few of"),
            (true, None) => Some("`at_least_samples` says when bounds are judged, and it has none"),
            (true, Some(_)) => None,
        };
        problems.extend(what.map(|what| complaint(kit, what.to_string(), key).remedy("no at_least_samples")));
    }
    if why.is_some() && at_least.is_none() && at_most.is_none() {
        let what = "`why` says why a figure outside of its bounds spoils a run, and it has none".to_string();
        problems.push(complaint(kit, what, key).remedy("at_least, at_most, or no why"));
    }
}
