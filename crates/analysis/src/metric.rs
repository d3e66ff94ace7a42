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
    /// The steady seconds that it takes to judge it, where there were fewer.
    pub lacks_s: Option<f64>,
    /// Why.
    pub why: Option<String>,
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
        lacks_s: (steady.length_s() < metric.judged_from_s).then_some(metric.judged_from_s),
        why: metric.why.clone(),
    };
    bounded.map(bound).collect()
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

/// What `of` stands for all operations.
const ALL: &str = "all";

/// The rows of an operation or session of that name, or of all operations.
fn rows<'a>(of: &'a str, names: &'a [OperationName]) -> impl Iterator<Item = usize> + 'a {
    let named = |kind: OperationKind| names.iter().position(move |name| name.kind == kind && name.name == of);
    let kinds = [OperationKind::Operation, OperationKind::Session];
    let one = kinds.into_iter().find_map(named).filter(|_| of != ALL);
    let every =
        names.iter().enumerate().filter(move |(_, name)| of == ALL && name.kind == OperationKind::Operation);
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
        let lacks: Vec<Option<f64>> = found.iter().map(|bound| bound.lacks_s).collect();
        assert_eq!(lacks, [None, None, Some(2.5)], "two seconds are fewer than it takes");
        assert_eq!(metrics(&all, &steady, &names).len(), 3);
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
