//! Targets as margins: ln(observed/limit) over the window and over its batches.

use model::catalogue::qos::Measure;
use model::record::{Margin, TargetOutcome};
use model::{OperationInterval, QosTarget};

use crate::batch::{self, sum_se};
use crate::steady::Steady;
use crate::target;
use crate::trial::figure::{mean_log_se, mean_se, percentile_log_se, throughput_log_se};
use crate::trial::{Rows, Window};

/// Samples that a batch needs beyond a percentile for the batch's own percentile to be shown.
const BEYOND_IN_BATCH: f64 = 3.0;

/// What became of each of `targets`, in their order, with its margin.
pub(super) fn clauses(targets: &[QosTarget], window: &Window<'_>) -> Vec<TargetOutcome> {
    let judged = crate::targets(targets, &window.whole, window.names);
    targets.iter().zip(judged).map(|(target, result)| clause(target, result, window)).collect()
}

fn clause(target: &QosTarget, result: TargetOutcome, window: &Window<'_>) -> TargetOutcome {
    let seen = window.rows(|steady| target::merged(target, steady, window.names));
    let batches = batches(target, &seen, window);
    let log = margin(target, &result, &seen.whole, &window.whole, 1.0);
    let log_se = log.and_then(|_| margin_se(target, &seen, window, &batches));
    TargetOutcome { margin: Margin { log, log_se, batches }, ..result }
}

/// ln(observed/limit), turned round where at least so much is asked for: negative when met; absent without samples or
/// where the observed value is 0. `share` is the part of the whole window that was `seen`, `part` its seconds.
fn margin(
    target: &QosTarget,
    result: &TargetOutcome,
    seen: &OperationInterval,
    part: &Steady,
    share: f64,
) -> Option<f64> {
    let observed = match target.measure {
        Measure::Errors => result.observed.map(|_| error_share(seen, share)),
        Measure::Waiting(_) => result.observed.map(|_| waiting_share(part, share)),
        // A tenth of the window has a tenth of its samples.
        Measure::Samples => result.observed.map(|count| count / share),
        _ => result.observed,
    };
    let sign = if target.measure.at_least() { -1.0 } else { 1.0 };
    observed.map(|value| sign * (value / target.limit).ln()).filter(|margin| margin.is_finite())
}

/// Waiting users as a share of all, with `pseudo` of a user-second added of which half was waited, for the same reason
/// as in [`error_share`].
fn waiting_share(part: &Steady, pseudo: f64) -> f64 {
    (part.whole().waiting_users as f64 + 0.5 * pseudo) / (user_s(part) + pseudo)
}

fn user_s(part: &Steady) -> f64 {
    part.whole().busy_user_s + part.whole().thinking_user_s
}

/// Failed operations as a share of all, with `pseudo` of an operation added that failed by half: no failure at all is
/// then a small share and not minus infinity (Haldane 1956; Anscombe 1956).
fn error_share(seen: &OperationInterval, pseudo: f64) -> f64 {
    (seen.failed() as f64 + 0.5 * pseudo) / (attempts(seen) + pseudo)
}

fn attempts(seen: &OperationInterval) -> f64 {
    (seen.completed + seen.failed()) as f64
}

/// The margin in consecutive parts of the window: the batches, put together until a percentile has
/// [`BEYOND_IN_BATCH`] samples beyond it in each; none when that leaves fewer than [`batch::MIN_BATCHES`].
fn batches(target: &QosTarget, seen: &Rows, window: &Window<'_>) -> Vec<f64> {
    let (have, needed) = match target.measure {
        Measure::Percentile(percent) => {
            (seen.whole.response.len() as f64, BEYOND_IN_BATCH / (1.0 - percent / 100.0))
        }
        // Users may wait without anything ever ending.
        Measure::Waiting(_) => (user_s(&window.whole), 1.0),
        _ => (attempts(&seen.whole), 1.0),
    };
    let at_most = (have / needed).floor() as usize;
    if at_most < batch::MIN_BATCHES {
        return Vec::new();
    }
    let together = window.batches.parts().len().div_ceil(at_most);
    let parts = if together <= 1 { None } else { Some(window.batches.joined(together)) };
    let parts = parts.as_deref().unwrap_or(window.batches.parts());
    if parts.len() < batch::MIN_BATCHES {
        return Vec::new();
    }
    let one = |part: &Steady| {
        let seen = target::merged(target, part, window.names);
        margin(target, &target::judge(target, &seen, part), &seen, part, 1.0 / parts.len() as f64)
    };
    parts.iter().filter_map(one).collect()
}

fn margin_se(target: &QosTarget, seen: &Rows, window: &Window<'_>, batches: &[f64]) -> Option<f64> {
    match target.measure {
        Measure::Percentile(percent) => percentile_log_se(seen, percent),
        Measure::Mean => mean_log_se(seen),
        Measure::Errors => {
            share_log_se(seen.parts.iter().map(|part| (part.failed() as f64, attempts(part))).collect())
        }
        Measure::Waiting(_) => {
            let counts = |part: &Steady| (part.whole().waiting_users as f64, user_s(part));
            share_log_se(window.batches.parts().iter().map(counts).collect())
        }
        Measure::Throughput | Measure::Samples => throughput_log_se(seen),
        // Largest values of batches scatter as much as the largest of the window does, if it is of the extreme-value
        // family that logarithms of times tend to (Gumbel): taking the largest of several shifts it only.
        Measure::Max => mean_se(batches).map(|se| se * (batches.len() as f64).sqrt()),
    }
}

/// Standard error of ln(share), from (events, of how many) in each batch, and never less than that of a count of
/// independent events, 1/√(events + 0.5).
fn share_log_se(counts: Vec<(f64, f64)>) -> Option<f64> {
    let (failed, all) = counts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    if all == 0.0 {
        return None;
    }
    let residuals: Vec<f64> = counts.iter().map(|(part, n)| part - n * failed / all).collect();
    let events = failed + 0.5;
    sum_se(&residuals).map(|se| se.max(events.sqrt()) / events)
}
