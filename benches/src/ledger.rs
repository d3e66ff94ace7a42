//! How well the ledger of a run closes, as a row of docs/results/ledger.md; and what counting costs, from runs that take turns.

use std::path::{Path, PathBuf};

use analysis::distribution::student_quantile;
use model::RunRecord;
use model::record::calls::{CallLedger, TierCalls};
use model::record::diagnosis::{Doing, SignalSummary};

use crate::Failure;
use crate::results::Place;

/// A run with its ledger.
#[derive(Debug, clap::Args)]
pub(crate) struct Closing {
    /// Its `run.json`
    run: PathBuf,
    /// What its load is: `1 user`, `at the line`
    #[arg(long)]
    load: String,
    #[command(flatten)]
    place: Place,
}

/// Prints the row: the stack, the load, how far each account closes, what was lost, what it cost.
pub(crate) fn closing(asked: &Closing) -> Result<(), Failure> {
    let record = record(&asked.run)?;
    let calls = record.calls.as_ref().ok_or("the kernel counted nothing in this run")?;
    let percent = |ratio: f64| format!("{:.1} %", ratio * 100.0);
    let range = |all: Vec<f64>| match (all.iter().copied().reduce(f64::min), all.into_iter().reduce(f64::max))
    {
        (Some(low), Some(high)) => format!("{} to {}", percent(low), percent(high)),
        _ => "–".to_string(),
    };
    let unaccounted = record.diagnosis.as_ref().and_then(|diagnosis| diagnosis.ledger.as_ref());
    let unaccounted = unaccounted.map(|ledger| percent(ledger.unaccounted_s / ledger.response_s));
    let row = [
        format!("{} on {}", record.setup.kit, record.setup.stack),
        asked.load.clone(),
        record.setup.load_headline(),
        range(calls.tiers.iter().map(|tier| tier.closes_ratio).collect()),
        range(calls.tiers.iter().filter_map(|tier| tier.cpu_agrees_ratio).collect()),
        range(calls.tiers.iter().filter_map(|tier| distance(&record, tier)).collect()),
        unaccounted.unwrap_or_else(|| "–".to_string()),
        calls.lost.all().to_string(),
        percent(calls.counted_ratio),
        calls.cost_ratio.map_or_else(|| "–".to_string(), |ratio| format!("{:.2} %", ratio * 100.0)),
        if record.verdict.valid { "valid" } else { "not valid" }.to_string(),
        record.started.get(..10).unwrap_or_default().to_string(),
    ];
    asked.place.put(&row)
}

/// How far looks at threads and the kernel's counts of a tier are apart: the total variation of the shares of what its threads
/// did. A look can't tell running from waiting for a CPU.
fn distance(record: &RunRecord, tier: &TierCalls) -> Option<f64> {
    let looked = |doing: Doing| {
        let name = format!("threads.{}", doing.word());
        let own = |signal: &&SignalSummary| signal.tier.as_deref() == Some(&tier.tier) && signal.name == name;
        record.signals.iter().find(own).map_or(0.0, |signal| signal.mean)
    };
    let counted = |doing: Doing| {
        let both = tier
            .doing
            .iter()
            .filter(|one| one.doing == doing || doing == Doing::Running && one.doing == Doing::WaitingForCpu);
        both.map(|one| one.threads).sum::<f64>()
    };
    let all: Vec<(f64, f64)> = Doing::ALL
        .into_iter()
        .filter(|doing| *doing != Doing::WaitingForCpu)
        .map(|doing| (looked(doing), counted(doing)))
        .collect();
    let (looks, counts) = all.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let apart = || all.iter().map(|(look, count)| (look / looks - count / counts).abs()).sum::<f64>() / 2.0;
    (looks > 0.0 && counts > 0.0).then(apart)
}

/// Runs that took turns: without counting, with it, without, …
#[derive(Debug, clap::Args)]
pub(crate) struct Cost {
    /// Their `run.json`, in the order in which they ran
    #[arg(required = true)]
    runs: Vec<PathBuf>,
}

/// Prints by how much a request's CPU time on the whole machine grew, with its 90 % interval, and what the ledger itself claims.
pub(crate) fn cost(asked: &Cost) -> Result<(), Failure> {
    let records: Vec<RunRecord> = asked.runs.iter().map(|path| record(path)).collect::<Result<_, _>>()?;
    let pairs: Vec<&[RunRecord]> = records.chunks_exact(2).collect();
    let logs: Vec<f64> = pairs
        .iter()
        .map(|pair| Ok((cpu_s_per_operation(&pair[1])? / cpu_s_per_operation(&pair[0])?).ln()))
        .collect::<Result<_, Failure>>()?;
    let (mean, half) = mean_and_half_width(&logs).ok_or("it needs two pairs at least")?;
    let change = |log: f64| format!("{:+.2} %", (log.exp() - 1.0) * 100.0);
    let claims: Vec<f64> =
        records.iter().filter_map(|one| one.calls.as_ref()).filter_map(own_claim).collect();
    let claim = claims.iter().sum::<f64>() / claims.len().max(1) as f64;
    println!(
        "{} pairs: CPU time of an operation {} [{}, {}] (90 % interval); the ledger itself claims {:.2} % of the machine's CPU time",
        logs.len(),
        change(mean),
        change(mean - half),
        change(mean + half),
        claim * 100.0
    );
    Ok(())
}

/// Student's 90 % interval.
fn mean_and_half_width(logs: &[f64]) -> Option<(f64, f64)> {
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (logs.len() >= 2).then(|| (mean, student_quantile(0.95, n - 1.0) * (variance / n).sqrt()))
}

fn own_claim(ledger: &CallLedger) -> Option<f64> {
    ledger.cost_ratio
}

/// CPU time of the whole machine for an operation, in seconds.
fn cpu_s_per_operation(record: &RunRecord) -> Result<f64, Failure> {
    let mean = |name: &str| {
        let found = record.signals.iter().find(|signal| signal.name == name && signal.tier.is_none());
        found.map(|signal| signal.mean).ok_or_else(|| format!("run {} has no {name}", record.id))
    };
    Ok(mean("cpu.busy_cores")? / mean("run.operations_per_s")?)
}

fn record(path: &Path) -> Result<RunRecord, Failure> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read(path).map_err(|error| named(&error))?;
    Ok(serde_json::from_slice(&text).map_err(|error| named(&error))?)
}
