//! Readings become points: gauges as they are, counts as their growth per second.

use std::time::Instant;

use model::catalogue::server_job::CounterJob;
use model::catalogue::service::{CounterKind, Merge};
use model::record::Series;

use super::figures::Figures;

/// The counters of one status.
#[derive(Debug)]
pub(super) struct Counters(Vec<Counter>);

#[derive(Debug)]
struct Counter {
    job: CounterJob,
    /// Of each instance, the last reading that had it: when, and what it was.
    last: Vec<Option<(Instant, f64)>>,
    points: Vec<(f64, f64)>,
    /// The points of each instance, where it has a series of its own.
    of_each: Vec<Vec<(f64, f64)>>,
}

impl Counters {
    pub(super) fn new(jobs: Vec<CounterJob>) -> Counters {
        Counters(
            jobs.into_iter()
                .map(|job| Counter { job, last: Vec::new(), points: Vec::new(), of_each: Vec::new() })
                .collect(),
        )
    }

    /// Takes a reading of all instances made at `at`, which is second `read_s` of the run.
    pub(super) fn take(&mut self, at: Instant, read_s: f64, figures: &[Option<Figures>]) {
        for counter in &mut self.0 {
            let values = counter.values(at, figures);
            counter.keep_each(read_s, &values);
            let value = counter.of_all(&values);
            counter.points.extend(value.map(|value| (read_s, value)));
        }
    }

    /// The points since the last call.
    pub(super) fn take_series(&mut self, tier: &str) -> Vec<Series> {
        let mut found = Vec::new();
        for counter in &mut self.0 {
            let (name, unit) = (&counter.job.name, &counter.job.unit);
            let of_all = (name.clone(), &mut counter.points);
            let of_each = counter.of_each.iter_mut().enumerate();
            let of_each = of_each.map(|(at, points)| (format!("instance{}.{name}", at + 1), points));
            for (name, points) in [of_all].into_iter().chain(of_each).filter(|(_, points)| !points.is_empty())
            {
                let (tier, unit, points) = (Some(tier.to_string()), unit.clone(), std::mem::take(points));
                found.push(Series { name, tier, unit, points });
            }
        }
        found
    }
}

impl Counter {
    /// Of each instance that lives, by its number from 0. Each one's growth is its own: one that began anew must not hide in a sum that
    /// grew all the same.
    fn values(&mut self, at: Instant, figures: &[Option<Figures>]) -> Vec<(usize, Option<f64>)> {
        self.last.resize(figures.len(), None);
        let living =
            figures.iter().enumerate().filter_map(|(instance, figures)| Some((instance, figures.as_ref()?)));
        living.map(|(instance, figures)| (instance, self.of_one(instance, at, figures))).collect()
    }

    fn of_all(&self, values: &[(usize, Option<f64>)]) -> Option<f64> {
        merged(self.job.merge, &values.iter().map(|(_, value)| *value).collect::<Option<Vec<f64>>>()?)
    }

    /// One alone is all.
    fn keep_each(&mut self, read_s: f64, values: &[(usize, Option<f64>)]) {
        if !self.job.each || self.last.len() < 2 {
            return;
        }
        self.of_each.resize(self.last.len(), Vec::new());
        for (instance, value) in values {
            self.of_each[*instance].extend(value.map(|value| (read_s, value)));
        }
    }

    fn of_one(&mut self, instance: usize, at: Instant, figures: &Figures) -> Option<f64> {
        // A sum that lacks a part would be another figure.
        let parts = self.job.of.iter().map(|name| figures.get(name).copied());
        let value = parts.sum::<Option<f64>>()? * self.job.times;
        if self.job.kind == CounterKind::Gauge {
            return Some(value);
        }
        let (then, before) = self.last[instance].replace((at, value))?;
        let elapsed_s = at.saturating_duration_since(then).as_secs_f64();
        // A count that fell began anew in between: nobody knows how far it came before.
        (value >= before && elapsed_s > 0.0).then(|| (value - before) / elapsed_s)
    }
}

/// Nothing of no values.
fn merged(merge: Merge, values: &[f64]) -> Option<f64> {
    let sum = values.iter().sum::<f64>();
    let min = values.iter().copied().reduce(f64::min)?;
    let max = values.iter().copied().reduce(f64::max)?;
    Some(match merge {
        Merge::Sum => sum,
        Merge::Mean => sum / values.len() as f64,
        Merge::Min => min,
        Merge::Max => max,
        Merge::Spread => max - min,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn counter(kind: CounterKind, of: &[&str]) -> Counters {
        Counters::new(vec![CounterJob {
            name: "sql.queries".into(),
            status: "status".into(),
            of: of.iter().map(ToString::to_string).collect(),
            kind,
            unit: "queries/s".into(),
            times: 0.5,
            limit: None,
            merge: Merge::Sum,
            each: false,
        }])
    }

    fn figures(pairs: &[(&str, f64)]) -> [Option<Figures>; 1] {
        [Some(pairs.iter().map(|(name, value)| (name.to_string(), *value)).collect())]
    }

    fn points(counters: &mut Counters) -> Vec<(f64, f64)> {
        counters.take_series("db").into_iter().flat_map(|series| series.points).collect()
    }

    #[test]
    fn a_rate_is_over_the_time_between_the_two_readings() {
        let mut counters = counter(CounterKind::Rate, &["a", "b"]);
        let start = Instant::now();
        counters.take(start, 1.0, &figures(&[("a", 10.0), ("b", 1.0)]));
        assert_eq!(points(&mut counters), [], "one reading is no rate");
        counters.take(start + Duration::from_secs(2), 3.0, &figures(&[("a", 14.0), ("b", 5.0)]));
        assert_eq!(points(&mut counters), [(3.0, 2.0)], "8 in 2 s, times 0.5");
        assert_eq!(points(&mut counters), [], "a point is told once");
    }

    #[test]
    fn a_count_that_began_anew_gives_no_rate_and_is_the_base_of_the_next() {
        let mut counters = counter(CounterKind::Rate, &["a"]);
        let start = Instant::now();
        for (second, value) in [(0, 100.0), (1, 4.0), (2, 6.0)] {
            counters.take(start + Duration::from_secs(second), second as f64, &figures(&[("a", value)]));
        }
        assert_eq!(points(&mut counters), [(2.0, 1.0)]);
    }

    #[test]
    fn a_sum_that_lacks_a_part_is_absent_and_a_gauge_is_as_it_is() {
        let mut counters = counter(CounterKind::Gauge, &["a", "b"]);
        counters.take(Instant::now(), 1.0, &figures(&[("a", 10.0)]));
        counters.take(Instant::now(), 2.0, &figures(&[("a", 10.0), ("b", 4.0)]));
        assert_eq!(points(&mut counters), [(2.0, 7.0)]);
    }

    #[test]
    fn instances_add_up_each_with_its_own_growth_unless_it_is_said_otherwise() {
        let both =
            |one: f64, other: f64| [one, other].map(|value| Some(Figures::from([("a".to_string(), value)])));
        let start = Instant::now();
        let second = |second| start + Duration::from_secs(second);
        let mut rate = counter(CounterKind::Rate, &["a"]);
        rate.take(second(0), 0.0, &both(100.0, 10.0));
        rate.take(second(1), 1.0, &both(104.0, 20.0));
        // The first began anew; the sum of both counts grew all the same.
        rate.take(second(2), 2.0, &both(1.0, 220.0));
        rate.take(second(3), 3.0, &both(3.0, 222.0));
        assert_eq!(points(&mut rate), [(1.0, 7.0), (3.0, 2.0)], "times 0.5");
        let merged = [(Merge::Mean, 0.375), (Merge::Min, 0.25), (Merge::Max, 0.5), (Merge::Spread, 0.25)];
        for (merge, expected) in merged {
            let mut gauge = counter(CounterKind::Gauge, &["a"]);
            gauge.0[0].job.merge = merge;
            gauge.take(second(0), 0.0, &both(1.0, 0.5));
            assert_eq!(points(&mut gauge), [(0.0, expected)], "{merge:?}, times 0.5");
        }
        let [one, _] = both(4.0, 0.0);
        let mut rate = counter(CounterKind::Rate, &["a"]);
        rate.take(second(0), 0.0, &both(0.0, 100.0));
        rate.take(second(1), 1.0, &[one, None]);
        assert_eq!(points(&mut rate), [(1.0, 2.0)], "of one that has ended there is nothing");
    }
    #[test]
    fn an_instance_of_several_has_a_series_of_its_own_where_that_is_asked_for() {
        let start = Instant::now();
        let both =
            |one: f64, other: f64| [one, other].map(|value| Some(Figures::from([("a".to_string(), value)])));
        let mut gauge = counter(CounterKind::Gauge, &["a"]);
        gauge.0[0].job.each = true;
        gauge.take(start, 1.0, &both(4.0, 8.0));
        let [one, _] = both(6.0, 0.0);
        gauge.take(start, 2.0, &[one, None]);
        let found: Vec<_> = gauge.take_series("db").into_iter().map(|one| (one.name, one.points)).collect();
        let series = |name: &str, points: &[(f64, f64)]| (name.to_string(), points.to_vec());
        let expected = [
            series("sql.queries", &[(1.0, 6.0), (2.0, 3.0)]),
            series("instance1.sql.queries", &[(1.0, 2.0), (2.0, 3.0)]),
            series("instance2.sql.queries", &[(1.0, 4.0)]),
        ];
        assert_eq!(found, expected, "times 0.5; of one that has ended there is nothing");
        let mut alone = counter(CounterKind::Gauge, &["a"]);
        alone.0[0].job.each = true;
        alone.take(start, 1.0, &figures(&[("a", 4.0)]));
        assert_eq!(alone.take_series("db").len(), 1, "one alone is all");
    }
}
