//! A run's course over time, in steps that are wide enough to say something.

use std::collections::BTreeMap;

use analysis::signals::names::{CPU, FOREIGN};
use model::record::Series;
use model::record::interval::{OperationInterval, OperationName, Sums};
use model::{ErrorKind, Interval, OperationKind, Result, RunRecord};
use serde::Serialize;
use store::{Run, Seconds};

/// Widths of a step, in seconds.
pub(crate) const STEPS_S: [u32; 11] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800];

/// A step holds at least this many operations where the run allows it: p99 needs 100.
const SAMPLES_PER_STEP: f64 = 100.0;

/// No chart shows more steps than this, and none shows fewer than the second number for the sake of samples.
const STEPS: (f64, f64) = (900.0, 30.0);

/// Other processes of the machine that never used as many cores are not drawn.
const NOTICED_CORES: f64 = 0.05;

/// A run's course. All vectors are as long as `at_s`; `None` where there is no figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// Width of a step, in seconds.
    pub step_s: u32,
    /// Where each step begins, in seconds of the run.
    pub at_s: Vec<u32>,
    /// All operations together, then each.
    pub scopes: Vec<Scope>,
    /// Users inside a session or thinking.
    pub users: Vec<Option<f64>>,
    /// Failed operations a second, by kind of error; kinds without any are absent.
    pub errors: Vec<Column>,
    /// Cores kept busy, by tier; the generator is the last. Other processes are among them where they used any to speak
    /// of.
    pub cpu: Vec<Column>,
    /// 99th percentile of the send lag, in seconds.
    pub lag_p99_s: Vec<Option<f64>>,
}

/// A named column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// The tier, or the kind of error.
    pub name: String,
    /// One value a step.
    pub values: Vec<Option<f64>>,
}

/// An operation's course, or that of all together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scope {
    /// The operation; absent for all together.
    pub operation: Option<String>,
    /// Completed per second.
    pub per_s: Vec<Option<f64>>,
    /// Median response time, in seconds.
    pub p50_s: Vec<Option<f64>>,
    /// 95th percentile, in seconds; the largest where there are too few samples.
    pub p95_s: Vec<Option<f64>>,
    /// 99th percentile, in seconds; the largest where there are too few samples.
    pub p99_s: Vec<Option<f64>>,
}

/// The course of `run`, whose record and series are given.
pub(crate) fn of(run: &Run, record: &RunRecord, series: &[Series]) -> Result<Timeline> {
    let seconds = run.seconds()?;
    let step_s = step_s(seconds.len(), record, STEPS.0);
    built(seconds, step_s, series)
}

/// The course of `run` in at most `most` steps, for a small chart beside those of other runs.
pub(crate) fn coarse(run: &Run, most: f64) -> Result<Timeline> {
    let seconds = run.seconds()?;
    let step_s = step_s(seconds.len(), run.record(), most);
    let mut series = Vec::new();
    run.each_series(|one| {
        if one.name == CPU || one.name == FOREIGN {
            series.push(thinned(one, step_s));
        }
    })?;
    built(seconds, step_s, &series)
}

fn built(seconds: Seconds, step_s: u32, series: &[Series]) -> Result<Timeline> {
    let names = seconds.names().to_vec();
    let mut building = Building::new(step_s, names);
    seconds.add_to(&mut [&mut building])?;
    Ok(building.end(series))
}

/// The series of `run` as its charts need them: of a long run the mean of each step instead of all points, which would not
/// fit into memory.
pub(crate) fn series(run: &Run, record: &RunRecord) -> Result<Vec<Series>> {
    let step_s = step_s(run.seconds()?.len(), record, STEPS.0);
    let mut all = Vec::new();
    run.each_series(|one| all.push(thinned(one, step_s)))?;
    Ok(all)
}

/// One point for each step, at its end, as [`spread`] places points.
fn thinned(series: Series, step_s: u32) -> Series {
    if step_s <= 1 {
        return series;
    }
    let step = |(second, _): &(f64, f64)| (second.round() as u32).saturating_sub(1) / step_s;
    let points = series.points.chunk_by(|one, next| step(one) == step(next)).map(|points| {
        let mean = points.iter().map(|(_, value)| value).sum::<f64>() / points.len() as f64;
        (f64::from((step(&points[0]) + 1) * step_s), mean)
    });
    Series { points: points.collect(), ..series }
}

/// The narrowest step that leaves at most `most` of them, each with samples enough.
fn step_s(seconds: usize, record: &RunRecord, most: f64) -> u32 {
    let operations = record.operations.iter().filter(|result| result.kind == OperationKind::Operation);
    let per_s: f64 = operations.map(|result| result.per_s).sum();
    let length_s = seconds as f64;
    let fits = |step: &u32| {
        let step = f64::from(*step);
        let enough = per_s * step >= SAMPLES_PER_STEP || per_s == 0.0 || length_s / step < 2.0 * STEPS.1;
        length_s / step <= most && enough
    };
    STEPS_S.into_iter().find(fits).unwrap_or(STEPS_S[STEPS_S.len() - 1])
}

struct Building {
    step_s: u32,
    names: Vec<OperationName>,
    open: Option<(Interval, u32)>,
    /// A step that is over, for the memory of its histograms.
    spare: Option<Interval>,
    timeline: Timeline,
    errors: BTreeMap<usize, Vec<Option<f64>>>,
    generator: Vec<Option<f64>>,
}

impl Building {
    fn new(step_s: u32, names: Vec<OperationName>) -> Building {
        let operations: Vec<&str> = names
            .iter()
            .filter(|name| name.kind == OperationKind::Operation)
            .map(|name| name.name.as_str())
            .collect();
        let scope = |operation: Option<&str>| Scope {
            operation: operation.map(str::to_string),
            per_s: Vec::new(),
            p50_s: Vec::new(),
            p95_s: Vec::new(),
            p99_s: Vec::new(),
        };
        let mut scopes = vec![scope(None)];
        scopes.extend(operations.into_iter().map(|operation| scope(Some(operation))));
        let timeline = Timeline { step_s, scopes, ..Timeline::default() };
        Building {
            step_s,
            names,
            open: None,
            spare: None,
            timeline,
            errors: BTreeMap::new(),
            generator: Vec::new(),
        }
    }

    /// Turns the open step into points. Rates are per second that was recorded, so that a cut-off step is no dip.
    fn close(&mut self) {
        let Some((mut merged, seconds)) = self.open.take() else { return };
        let per_s = |count: f64| Some(short(count / f64::from(seconds)));
        let index = self.timeline.at_s.len();
        self.timeline.at_s.push(merged.second);
        self.timeline.users.push(per_s(merged.busy_user_s + merged.thinking_user_s));
        self.generator.push(per_s(merged.generator_cpu_s));
        let lag = &merged.lag;
        let late = (!lag.is_empty()).then(|| short(lag.value_at_quantile(0.99) as f64 / 1e6));
        self.timeline.lag_p99_s.push(late);
        let mut all = OperationInterval::empty();
        let operations = self
            .names
            .iter()
            .zip(&merged.operations)
            .filter(|(name, _)| name.kind == OperationKind::Operation);
        for ((_, part), scope) in operations.zip(&mut self.timeline.scopes[1..]) {
            all.merge(part);
            push_scope(scope, part, seconds);
        }
        // An operation that appeared later in the run has no part in its early seconds.
        for scope in self.timeline.scopes[1..].iter_mut().filter(|scope| scope.per_s.len() == index) {
            push_scope(scope, &OperationInterval::empty(), seconds);
        }
        push_scope(&mut self.timeline.scopes[0], &all, seconds);
        for (kind, count) in all.errors.iter().enumerate().filter(|(_, count)| **count > 0) {
            let column = self.errors.entry(kind).or_default();
            column.resize(index, Some(0.0));
            column.push(per_s(*count as f64));
        }
        merged.clear();
        self.spare = Some(merged);
    }

    fn end(mut self, series: &[Series]) -> Timeline {
        self.close();
        let Building { step_s, errors, generator, mut timeline, .. } = self;
        let steps = timeline.at_s.len();
        // A session may have operations that no user came to: there is nothing to draw of them.
        let came = |scope: &Scope| scope.per_s.iter().flatten().any(|rate| *rate > 0.0);
        timeline.scopes.retain(|scope| scope.operation.is_none() || came(scope));
        timeline.errors = errors
            .into_iter()
            .map(|(kind, mut values)| {
                values.resize(steps, Some(0.0));
                Column { name: ErrorKind::ALL[kind].word().to_string(), values }
            })
            .collect();
        let tiers = series.iter().filter(|one| one.name == CPU);
        timeline.cpu = tiers
            .filter_map(|one| Some((one.tier.clone()?, one)))
            .filter(|(tier, _)| tier != "generator")
            .map(|(name, one)| Column { name, values: spread(&one.points, &timeline.at_s, step_s) })
            .collect();
        let foreign = series.iter().find(|one| one.name == FOREIGN);
        let noticed = |one: &&Series| one.points.iter().any(|(_, cores)| *cores >= NOTICED_CORES);
        timeline.cpu.extend(foreign.filter(noticed).map(|one| Column {
            name: "other processes".to_string(),
            values: spread(&one.points, &timeline.at_s, step_s),
        }));
        // A second in which only the generator was seen, the last one mostly, is a gap and no fall of all others.
        let seen = |step: usize| {
            timeline.cpu.is_empty() || timeline.cpu.iter().any(|one| one.values[step].is_some())
        };
        let generator = generator.into_iter().enumerate().map(|(step, cores)| cores.filter(|_| seen(step)));
        let values = generator.collect();
        timeline.cpu.push(Column { name: "generator".to_string(), values });
        timeline
    }
}

impl Sums for Building {
    fn take(&mut self, second: &Interval) -> Option<&mut Interval> {
        let start = second.second / self.step_s * self.step_s;
        if self.open.as_ref().is_none_or(|(merged, _)| merged.second != start) {
            self.close();
            let spare = self.spare.take().unwrap_or_else(|| Interval::empty(start));
            self.open = Some((Interval { second: start, ..spare }, 0));
        }
        let (merged, seconds) = self.open.as_mut()?;
        merged.merge(second);
        *seconds += 1;
        Some(merged)
    }
}

/// Unlike in results, a percentile is drawn whatever the number of samples: with few it is the largest, and a gap in
/// place of it would hide the very steps in which the stack stalled.
fn push_scope(scope: &mut Scope, part: &OperationInterval, seconds: u32) {
    let times = &part.response;
    let at =
        |quantile: f64| (!times.is_empty()).then(|| short(times.value_at_quantile(quantile) as f64 / 1e6));
    scope.per_s.push(Some(short(part.completed as f64 / f64::from(seconds))));
    scope.p50_s.push(at(0.50));
    scope.p95_s.push(at(0.95));
    scope.p99_s.push(at(0.99));
}

/// The mean of the points in each step. A point tells of the second that ended with it, and comes a little early or late.
pub(crate) fn spread(points: &[(f64, f64)], at_s: &[u32], step_s: u32) -> Vec<Option<f64>> {
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (second, value) in points.iter().filter(|(second, _)| *second >= 0.0) {
        let of = (second.round() as u32).saturating_sub(1);
        let sum = sums.entry(of / step_s * step_s).or_default();
        (sum.0, sum.1) = (sum.0 + value, sum.1 + 1.0);
    }
    at_s.iter().map(|at| sums.get(at).map(|(sum, count)| short(sum / count))).collect()
}

/// Four significant digits: a chart shows no more, and the file stays small.
fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::recorded::Specimen;

    #[test]
    fn values_are_cut_to_four_significant_digits() {
        assert_eq!(short(0.000123456), 0.0001235);
        assert_eq!(short(98765.0), 98770.0);
        assert_eq!(short(0.0), 0.0);
        assert_eq!(short(f64::NAN), 0.0);
    }

    #[test]
    fn a_step_is_as_narrow_as_its_samples_and_the_chart_allow() {
        let mut record = Specimen::Passed.open().record;
        let mut with = |per_s: f64, seconds: usize| {
            record.operations.iter_mut().for_each(|result| result.per_s = per_s / 4.0);
            step_s(seconds, &record, STEPS.0)
        };
        assert_eq!(with(400.0, 90), 1, "plenty of samples");
        assert_eq!(with(20.0, 600), 5, "100 samples a step");
        assert_eq!(with(0.1, 600), 15, "not fewer than 30 steps for their sake");
        assert_eq!(with(400.0, 3600), 5, "not more than 900 steps");
        assert_eq!(with(0.0, 60), 1, "nothing is known of the rate");
    }

    #[test]
    fn what_is_drawn_of_thinned_points_is_what_is_drawn_of_all() {
        let points: Vec<(f64, f64)> =
            (1..=100).map(|second| (f64::from(second) + 0.003, f64::from(second * 7 % 13))).collect();
        let one = |points: Vec<(f64, f64)>| Series {
            name: "cpu.cores".to_string(),
            tier: None,
            unit: "cores".to_string(),
            points,
        };
        let thin = thinned(one(points.clone()), 5);
        assert_eq!(thin.points.len(), 20);
        let at: Vec<u32> = (0..100).step_by(5).collect();
        assert_eq!(spread(&thin.points, &at, 5), spread(&points, &at, 5));
        assert_eq!(thinned(one(points.clone()), 1).points, points);
    }

    #[test]
    fn a_step_is_the_mean_of_its_points_and_a_gap_stays_a_gap() {
        let points = [(1.0, 1.0), (2.0, 3.0), (5.0, 5.0), (-1.0, 9.0)];
        assert_eq!(spread(&points, &[0, 2, 4], 2), [Some(2.0), None, Some(5.0)]);
    }

    #[test]
    fn a_point_that_comes_a_little_early_or_late_leaves_no_hole() {
        let points = [(9.003, 1.0), (9.996, 2.0), (11.0001, 3.0), (11.996, 4.0)];
        assert_eq!(spread(&points, &[8, 9, 10, 11], 1), [Some(1.0), Some(2.0), Some(3.0), Some(4.0)]);
    }
}
