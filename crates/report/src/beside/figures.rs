//! The figures of runs beside each other, with their differences to those of the base as two kept runs are compared
//! (`analysis::unpaired`).

use analysis::paired::{Looks, Terms};
use analysis::unpaired;
use model::OperationKind;
use model::record::study::{Better, Conclusion, Failed, Figure};
use model::record::{MetricResult, TierResult};
use schemars::JsonSchema;
use serde::Serialize;

use super::kept::KeptRun;
use crate::study::words;

/// Of each interval.
pub(super) const CONFIDENCE_RATIO: f64 = 0.95;

/// Differences smaller than this don't matter, as in comparisons.
const BAND_RATIO: f64 = 0.01;

/// Of all operations together and of each.
const PERCENTILES: [&str; 3] = ["p50", "p95", "p99"];

/// Tiers that are no part of the stack.
const NO_PART: [&str; 2] = ["generator", "observers"];

/// A figure of all runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparedFigure {
    /// `throughput`, `p50`, `p95`, `p99`, `errors` (a share), `cpu` (time an operation), or the name of one of the kit's own.
    pub figure: String,
    /// The operation that it is about; absent for all together.
    pub operation: Option<String>,
    /// The tier whose CPU time it is.
    pub tier: Option<String>,
    /// For people: `p95 of Browse`.
    pub name: String,
    /// Its unit: `1/s`, `s`, `ratio`, or that of the kit's own.
    pub unit: String,
    /// The value in each run.
    pub values: Vec<Option<Measure>>,
    /// What each run has more or less than the base; absent for the base itself, for runs that are no result, and where
    /// one of the two has no value.
    pub changes: Vec<Option<Change>>,
}

/// What was measured, with its interval where its scatter is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Measure {
    /// The value.
    pub value: f64,
    /// The lower end of its interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// How a run differs from the base.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// In percent of the base's value.
    pub percent: f64,
    /// The lower end of its interval; absent where nothing is known of one of the figures' scatter.
    pub low_percent: Option<f64>,
    /// The upper end.
    pub high_percent: Option<f64>,
    /// What follows; absent without an interval.
    pub judged: Option<Judged>,
}

/// What a change means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judged {
    /// Better than the base.
    Better,
    /// Worse.
    Worse,
    /// No difference that matters.
    Same,
    /// It is not known.
    Open,
}

impl Judged {
    /// In a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Judged::Better => "better",
            Judged::Worse => "worse",
            Judged::Same => "same",
            Judged::Open => "open",
        }
    }

    fn of(conclusion: &Conclusion) -> Judged {
        match conclusion {
            Conclusion::Faster => Judged::Better,
            Conclusion::Slower => Judged::Worse,
            Conclusion::Same => Judged::Same,
            Conclusion::Open { .. } => Judged::Open,
        }
    }
}

/// The figures of `runs`, held against the one with the index `base`: all operations together, CPU time, the kit's own,
/// then each operation.
pub(super) fn of(runs: &[KeptRun], base: usize) -> Vec<ComparedFigure> {
    let failed = runs.iter().map(|run| runs.get(base)?.failed_more(run)).collect();
    let table = Table { runs, base, failed };
    let mut all = vec![table.timed("throughput", None)];
    all.extend(PERCENTILES.map(|name| table.timed(name, None)));
    all.push(table.errors());
    all.extend(tiers(runs).into_iter().map(|tier| table.cpu(tier)));
    all.extend(metrics(runs).into_iter().map(|metric| table.metric(metric)));
    let operations = operations(runs);
    // The only one is all of them.
    for operation in operations.iter().filter(|_| operations.len() > 1) {
        all.extend(PERCENTILES.map(|name| table.timed(name, Some(operation))));
    }
    all.retain(|figure| figure.values.iter().any(Option::is_some));
    all
}

struct Table<'a> {
    runs: &'a [KeptRun],
    base: usize,
    /// Whether the base or the run failed clearly more often.
    failed: Vec<Option<Failed>>,
}

impl Table<'_> {
    fn timed(&self, name: &str, operation: Option<&str>) -> ComparedFigure {
        let figure = |run: &KeptRun| run.measured.as_ref()?.figure(name, operation).cloned();
        let (unit, better) = match name {
            "throughput" => ("1/s", Better::Higher),
            _ => ("s", Better::Lower),
        };
        let row = self.row(name, words::figure(name, operation), unit, figure, Some(better));
        ComparedFigure { operation: operation.map(str::to_string), ..row }
    }

    /// Shares near nothing have no ratio that says something.
    fn errors(&self) -> ComparedFigure {
        let share = |run: &KeptRun| Some(exact("errors", run.measured.as_ref()?.failed_ratio));
        let row = self.row("errors", "errors".to_string(), "ratio", share, None);
        ComparedFigure { changes: vec![None; self.runs.len()], ..row }
    }

    fn cpu(&self, tier: &str) -> ComparedFigure {
        let time = |run: &KeptRun| {
            let row = run.record.tiers.iter().find(|row| row.tier == tier)?;
            Some(exact("cpu", row.cpu_s_per_operation?))
        };
        let row = self.row("cpu", format!("CPU of {tier}"), "s", time, Some(Better::Lower));
        ComparedFigure { tier: Some(tier.to_string()), ..row }
    }

    /// Which way one of the kit's own figures is better is not known.
    fn metric(&self, metric: &MetricResult) -> ComparedFigure {
        let value = |run: &KeptRun| {
            let own = run.record.metrics.iter().find(|own| own.name == metric.name);
            own.map(|own| exact(&metric.name, own.value))
        };
        self.row(&metric.name, metric.title.clone(), &metric.unit, value, None)
    }

    fn row(
        &self,
        figure: &str,
        name: String,
        unit: &str,
        of: impl Fn(&KeptRun) -> Option<Figure>,
        better: Option<Better>,
    ) -> ComparedFigure {
        let finite = |figure: &Figure| figure.value.is_finite();
        let all: Vec<Option<Figure>> = self.runs.iter().map(|run| of(run).filter(finite)).collect();
        let change = |index: usize| {
            let counts = |index: usize| self.runs.get(index).is_some_and(|run| run.record.verdict.valid);
            let both = index != self.base && counts(index) && counts(self.base);
            let base = all.get(self.base)?.as_ref().filter(|_| both)?;
            let change = change(base, all.get(index)?.as_ref()?, better)?;
            Some(Change { judged: change.judged.filter(|judged| self.stands(*judged, index)), ..change })
        };
        ComparedFigure {
            figure: figure.to_string(),
            operation: None,
            tier: None,
            name,
            unit: unit.to_string(),
            values: all.iter().map(|figure| figure.as_ref().map(measure)).collect(),
            changes: (0..all.len()).map(change).collect(),
        }
    }
}

impl Table<'_> {
    /// Who fails at once completes the rest sooner: the one that failed more is not the better one for it.
    fn stands(&self, judged: Judged, index: usize) -> bool {
        match (judged, self.failed.get(index).and_then(Option::as_ref)) {
            (Judged::Better, Some(failed)) => failed.arm == 0,
            (Judged::Worse, Some(failed)) => failed.arm == 1,
            _ => true,
        }
    }
}

/// A figure of whose scatter nothing is known.
fn exact(name: &str, value: f64) -> Figure {
    Figure { name: name.to_string(), operation: None, value, log_se: None, degrees: None }
}

fn measure(figure: &Figure) -> Measure {
    let ends = unpaired::interval(figure, CONFIDENCE_RATIO);
    Measure { value: figure.value, low: ends.map(|(low, _)| low), high: ends.map(|(_, high)| high) }
}

fn change(base: &Figure, other: &Figure, better: Option<Better>) -> Option<Change> {
    let looks = Looks { confidence_ratio: CONFIDENCE_RATIO, max_values: 1 };
    let direction = better.unwrap_or(Better::Higher);
    let terms = Terms { better: direction, band_ratio: BAND_RATIO, looks, seed: 1 };
    let effect = unpaired::effect(base, other, &terms)?;
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    Some(Change {
        percent: percent(effect.ratio),
        low_percent: effect.interval.map(|(low, _)| percent(low)),
        high_percent: effect.interval.map(|(_, high)| percent(high)),
        judged: effect.interval.and(better).map(|_| Judged::of(&effect.conclusion)),
    })
}

fn tiers(runs: &[KeptRun]) -> Vec<&str> {
    let rows = runs.iter().flat_map(|run| &run.record.tiers);
    let own = rows.map(|row: &TierResult| row.tier.as_str()).filter(|tier| !NO_PART.contains(tier));
    each_once(own)
}

fn operations(runs: &[KeptRun]) -> Vec<&str> {
    let rows = runs.iter().flat_map(|run| &run.record.operations);
    each_once(rows.filter(|row| row.kind == OperationKind::Operation).map(|row| row.name.as_str()))
}

fn metrics(runs: &[KeptRun]) -> Vec<&MetricResult> {
    let mut all: Vec<&MetricResult> = Vec::new();
    for metric in runs.iter().flat_map(|run| &run.record.metrics) {
        if !all.iter().any(|other| other.name == metric.name) {
            all.push(metric);
        }
    }
    all
}

fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    names.fold(Vec::new(), |mut all, name| {
        if !all.contains(&name) {
            all.push(name);
        }
        all
    })
}
