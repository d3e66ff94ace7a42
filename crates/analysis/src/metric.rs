//! The kit's own figures.

use model::OperationKind;
use model::catalogue::kit::{Metric, Per};
use model::record::MetricResult;
use model::record::interval::{OperationName, Times, add_times, new_times};

use crate::steady::Steady;
use crate::times;

/// A kit's figure that must lie within bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The metric's identifier.
    pub metric: String,
    /// For people.
    pub title: String,
    /// Its unit.
    pub unit: String,
    /// What it was; absent when there was nothing that it could be made of.
    pub value: Option<f64>,
    /// Below this the run is not valid.
    pub at_least: Option<f64>,
    /// Above this the run is not valid.
    pub at_most: Option<f64>,
    /// What it takes to judge it, where there was less.
    pub lacks: Option<Lack>,
    /// Why.
    pub why: Option<String>,
}

/// Why a figure is not held against its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lack {
    /// Its bounds hold from this length of the steady state on; seconds.
    Seconds(f64),
    /// It is of fewer samples than that.
    Samples {
        /// What it is made of.
        there: u64,
        /// What it takes.
        needed: u64,
    },
}

/// A figure for each of `metrics` over the steady state; one of something that never happened is left out.
pub fn metrics(metrics: &[Metric], steady: &Steady, names: &[OperationName]) -> Vec<MetricResult> {
    let result = |metric: &Metric| {
        Some(MetricResult {
            name: metric.name.clone(),
            title: metric.title.clone(),
            value: value(metric, steady, names)?,
            unit: metric.unit.clone(),
            at_least: metric.at_least,
            at_most: metric.at_most,
        })
    };
    metrics.iter().filter_map(result).collect()
}

/// Those of `metrics` that have bounds, also when there is no figure.
pub fn bounds(metrics: &[Metric], steady: &Steady, names: &[OperationName]) -> Vec<Bound> {
    let bounded = metrics.iter().filter(|metric| metric.at_least.is_some() || metric.at_most.is_some());
    let bound = |metric: &Metric| Bound {
        metric: metric.name.clone(),
        title: metric.title.clone(),
        unit: metric.unit.clone(),
        value: value(metric, steady, names),
        at_least: metric.at_least,
        at_most: metric.at_most,
        lacks: lack(metric, steady, names),
        why: metric.why.clone(),
    };
    bounded.map(bound).collect()
}

fn lack(metric: &Metric, steady: &Steady, names: &[OperationName]) -> Option<Lack> {
    if steady.length_s() < metric.judged_from_s {
        return Some(Lack::Seconds(metric.judged_from_s));
    }
    let (there, needed) = (samples(metric, steady, names), metric.at_least_samples);
    there.filter(|there| *there < needed).map(|there| Lack::Samples { there, needed })
}

/// How many samples the figure is made of; absent of one that is a count itself.
fn samples(metric: &Metric, steady: &Steady, names: &[OperationName]) -> Option<u64> {
    match &metric.per {
        Per::Total | Per::Second | Per::Minute => None,
        Per::Of(other) => Some(count(other, steady, names) as u64),
        Per::Mean | Per::Percentile(_) => Some(response(&metric.of, steady, names).len()),
    }
}

fn value(metric: &Metric, steady: &Steady, names: &[OperationName]) -> Option<f64> {
    let counted = || count(&metric.of, steady, names);
    let value = match &metric.per {
        Per::Total => counted(),
        Per::Second => steady.per_second(counted()),
        Per::Minute => 60.0 * steady.per_second(counted()),
        Per::Of(other) => {
            let base = count(other, steady, names);
            (base > 0.0).then(|| counted() / base)?
        }
        Per::Mean => times::mean_s(&response(&metric.of, steady, names))?,
        Per::Percentile(percent) => times::percentile_s(&response(&metric.of, steady, names), *percent)?,
    };
    Some(value * metric.times)
}

/// The rows of an operation or session of that name, or of all operations.
fn rows<'a>(of: &'a str, names: &'a [OperationName]) -> impl Iterator<Item = usize> + 'a {
    let named = |kind: OperationKind| names.iter().position(move |name| name.kind == kind && name.name == of);
    let kinds = [OperationKind::Operation, OperationKind::Session];
    let one = kinds.into_iter().find_map(named).filter(|_| of != Metric::ALL);
    let every = names
        .iter()
        .enumerate()
        .filter(move |(_, name)| of == Metric::ALL && name.kind == OperationKind::Operation);
    every.map(|(index, _)| index).chain(one)
}

/// The response times of what `of` names.
fn response(of: &str, steady: &Steady, names: &[OperationName]) -> Times {
    let mut times = new_times();
    let seen = rows(of, names).filter_map(|index| steady.whole().operations.get(index));
    seen.for_each(|seen| add_times(&mut times, &seen.response));
    times
}

/// `users` stands for the time that users were there: by the second their number, by operation what one of them takes.
const USERS: &str = "users";

/// Whether the figure is of the users' time: its bounds are about the load that was asked for, which an overloaded stack
/// does not let them make.
pub fn of_users(metric: &Metric) -> bool {
    metric.of == USERS
}

/// Completions of what `of` names, else the session's counter, which is 0 until it first counts.
fn count(of: &str, steady: &Steady, names: &[OperationName]) -> f64 {
    let whole = steady.whole();
    let completed = |index: usize| whole.operations.get(index).map_or(0, |seen| seen.completed);
    let mut rows = rows(of, names).peekable();
    if rows.peek().is_some() {
        return rows.map(completed).sum::<u64>() as f64;
    }
    match of {
        USERS => whole.busy_user_s + whole.thinking_user_s,
        counter => whole.counters.get(counter).copied().unwrap_or(0) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::record::interval::record_ns;
    use model::{Interval, OperationInterval};

    fn metric(of: &str, per: Per) -> Metric {
        Metric {
            name: "m".to_string(),
            title: "M".to_string(),
            unit: String::new(),
            mix: None,
            of: of.to_string(),
            per,
            times: 1.0,
            at_least: None,
            judged_from_s: 0.0,
            at_least_samples: 0,
            at_most: None,
            why: None,
        }
    }

    /// Two seconds in which 40 purchases took 1 to 40 ms and 20 searches 1 s each, with 2 rollbacks and 6 users.
    fn run() -> ([Interval; 2], [OperationName; 3]) {
        let mut purchase = OperationInterval { completed: 40, ..OperationInterval::empty() };
        (1..=40).for_each(|ms| record_ns(&mut purchase.response, ms * 1_000_000));
        let mut search = OperationInterval { completed: 20, ..OperationInterval::empty() };
        (0..20).for_each(|_| record_ns(&mut search.response, 1_000_000_000));
        let operations = vec![purchase, search, OperationInterval::empty()];
        let mut second = Interval { operations, busy_user_s: 2.0, ..Interval::empty(0) };
        second.counters.insert("rollbacks".to_string(), 2);
        let name = |name: &str| OperationName { kind: OperationKind::Operation, name: name.to_string() };
        let last = Interval { thinking_user_s: 10.0, ..Interval::empty(1) };
        ([second, last], [name("Purchase"), name("Search"), name("Never")])
    }

    fn measured_value(metric: Metric) -> Option<f64> {
        let (run, names) = run();
        let found = metrics(&[metric], &Steady::of(&run, 0.0, 2.0), &names);
        found.first().map(|result| result.value)
    }

    fn value(of: &str, per: Per) -> Option<f64> {
        measured_value(metric(of, per))
    }

    #[test]
    fn times_are_those_of_one_operation_or_of_all_and_absent_where_there_was_none() {
        let close = |value: Option<f64>, expected: f64| {
            assert!(
                value.is_some_and(|value| (value / expected - 1.0).abs() < 2e-3),
                "{value:?}: {expected}"
            );
        };
        close(value("Purchase", Per::Mean), 0.0205);
        close(value("all", Per::Mean), (40.0 * 0.0205 + 20.0) / 60.0);
        close(value("Purchase", Per::Percentile(90.0)), 0.036);
        close(value("all", Per::Percentile(90.0)), 1.0);
        assert_eq!(value("Never", Per::Mean), None);
        assert_eq!(value("Purchase", Per::Percentile(99.0)), None, "40 samples don't say what one of 100 is");
        close(measured_value(Metric { times: 1000.0, ..metric("Purchase", Per::Mean) }), 20.5);
    }

    #[test]
    fn users_are_counted_by_their_time() {
        assert_eq!(value("users", Per::Second), Some(6.0));
        assert_eq!(value("users", Per::Of("all".to_string())), Some(0.2), "6 users at 30 operations/s");
        assert_eq!(value("all", Per::Second), Some(30.0));
    }

    #[test]
    fn bounds_are_told_whether_there_is_a_figure_or_none() {
        let (run, names) = run();
        let steady = Steady::of(&run, 0.0, 2.0);
        let bounded = |of: &str| Metric { at_least: Some(5.0), ..metric(of, Per::Of(of.to_string())) };
        let later = Metric { judged_from_s: 2.5, ..bounded("Purchase") };
        let all = [metric("Purchase", Per::Total), bounded("Purchase"), bounded("Never"), later];
        let found = bounds(&all, &steady, &names);
        let values: Vec<Option<f64>> = found.iter().map(|bound| bound.value).collect();
        assert_eq!(values, [Some(1.0), None, Some(1.0)]);
        let lacks: Vec<Option<Lack>> = found.iter().map(|bound| bound.lacks).collect();
        assert_eq!(lacks, [None, None, Some(Lack::Seconds(2.5))], "two seconds are fewer than it takes");
        assert_eq!(metrics(&all, &steady, &names).len(), 3);
    }

    #[test]
    fn a_figure_of_too_few_samples_is_not_judged_and_a_count_has_none() {
        let (run, names) = run();
        let lacks = |of: &str, per: Per, at_least_samples: u64| {
            let bounded = Metric { at_most: Some(0.0), at_least_samples, ..metric(of, per) };
            bounds(&[bounded], &Steady::of(&run, 0.0, 2.0), &names)[0].lacks
        };
        let share = |of: &str| Per::Of(of.to_string());
        let lack = |there, needed| Some(Lack::Samples { there, needed });
        assert_eq!(lacks("rollbacks", share("Purchase"), 40), None);
        assert_eq!(lacks("rollbacks", share("Purchase"), 41), lack(40, 41), "of 40 purchases");
        assert_eq!(lacks("Search", Per::Mean, 20), None);
        assert_eq!(lacks("Search", Per::Percentile(50.0), 21), lack(20, 21));
        assert_eq!(lacks("all", Per::Mean, 61), lack(60, 61));
        assert_eq!(lacks("Purchase", Per::Total, 1_000), None);
    }

    #[test]
    fn a_count_becomes_a_total_a_rate_or_a_share() {
        let share = |of: &str| Per::Of(of.to_string());
        assert_eq!(value("Purchase", Per::Total), Some(40.0));
        assert_eq!(value("Purchase", Per::Second), Some(20.0));
        assert_eq!(value("Purchase", Per::Minute), Some(1200.0));
        assert_eq!(value("rollbacks", share("Purchase")), Some(0.05));
        assert_eq!(value("never", Per::Total), Some(0.0), "a counter that never counted is 0");
        assert_eq!(value("rollbacks", share("never")), None, "a share of nothing has no value");
    }
}
