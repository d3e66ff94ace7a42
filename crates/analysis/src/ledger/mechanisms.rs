//! How threads wait: in which calls, on what, and for whom beyond what those did meanwhile. As the kernel counted.

use model::record::calls::{CallLedger, CallRow, EVENT_WAITS, WaitEdge};
use model::record::diagnosis::{Doing, Mechanism};
use model::record::threads::{ThreadState, ThreadsResult};

use super::{BLOCKED, Work};

/// The most mechanisms of a part, and the smallest share that is worth a word.
const MAX_SHOWN: usize = 3;
const MIN_SHARE_RATIO: f64 = 0.05;

/// For whom a tier waited beyond what these did meanwhile, in mean threads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Beyond<'a> {
    to: &'a str,
    pub(super) threads: f64,
}

/// What a tier's threads waited for each other tier or address, less what that did meanwhile; of several callers each has its
/// share of that. Absent where nobody counted.
pub(super) fn beyond<'a>(
    work: &Work,
    all: &[Work],
    calls: Option<&'a CallLedger>,
) -> Option<Vec<Beyond<'a>>> {
    let calls = calls.filter(|calls| calls.account(&work.tier).is_some())?;
    let waits = || calls.waits.iter().filter(|edge| edge.threads > 0.0);
    let of_edge = |edge: &'a WaitEdge| {
        let waited: f64 = waits().filter(|other| other.to == edge.to).map(|other| other.threads).sum();
        let did = all.iter().find(|other| other.tier == edge.to).map_or(0.0, Work::all);
        Beyond { to: &edge.to, threads: (edge.threads * (1.0 - did / waited)).max(0.0) }
    };
    Some(waits().filter(|edge| edge.from == work.tier).map(of_edge).collect())
}

/// In which calls the threads of `tier` waited so, and on what, the most first.
pub(super) fn mechanisms(
    tier: &str,
    doing: Doing,
    beyond: &[Beyond<'_>],
    calls: Option<&CallLedger>,
) -> Vec<Mechanism> {
    let Some(account) = calls.and_then(|calls| calls.account(tier)) else { return Vec::new() };
    let rows: Vec<(&CallRow, f64)> = account
        .rows
        .iter()
        .filter(|row| row.doing == Some(doing))
        .map(|row| (row, weight(row, &account.rows, beyond)))
        .filter(|(_, weight)| *weight > 0.0)
        .collect();
    shown(rows.into_iter().map(|(row, weight)| mechanism(row, weight)))
}

/// In which calls those threads of `tier` waited in one of the ways `waits` that also wait for events: its event loops.
pub(crate) fn waits_of_loops(tier: &str, waits: &[Doing], calls: Option<&CallLedger>) -> Vec<Mechanism> {
    let rows = calls.and_then(|calls| calls.account(tier)).map_or(&[][..], |account| &account.rows);
    let is_loop = |thread: &str| {
        rows.iter().any(|row| {
            row.thread == thread && row.doing == Some(Doing::Idle) && EVENT_WAITS.contains(&row.call.as_str())
        })
    };
    let waited =
        |row: &&CallRow| row.doing.is_some_and(|doing| waits.contains(&doing)) && is_loop(&row.thread);
    shown(rows.iter().filter(waited).map(|row| mechanism(row, row.blocked_s)))
}

fn mechanism(row: &CallRow, weight: f64) -> Mechanism {
    Mechanism {
        call: row.call.clone(),
        object: row.object.clone(),
        kernel_lock: row.kernel_lock,
        share_ratio: weight,
    }
}

/// The same by a virtual machine's word: in which of the program's methods its threads were, and for which lock.
pub(crate) fn waiting_methods(tier: &str, doing: Doing, threads: &[ThreadsResult]) -> Vec<Mechanism> {
    let states: &[ThreadState] = match doing {
        Doing::Sleeping => &[ThreadState::TimedWaiting],
        Doing::WaitingForLock => &[ThreadState::Blocked, ThreadState::Waiting],
        _ => return Vec::new(),
    };
    let there = threads.iter().filter(|one| one.tier == tier && states.contains(&one.place.state));
    shown(there.map(|one| Mechanism {
        call: one.place.call.clone(),
        object: one.place.lock.clone().unwrap_or_default(),
        kernel_lock: false,
        share_ratio: one.share_ratio,
    }))
}

/// The ways that are worth a word, the most first, as shares of all of them.
fn shown(ways: impl Iterator<Item = Mechanism>) -> Vec<Mechanism> {
    let mut found: Vec<Mechanism> = Vec::new();
    let mut all = 0.0;
    for way in ways {
        all += way.share_ratio;
        let is_same = |one: &&mut Mechanism| one.call == way.call && one.object == way.object;
        match found.iter_mut().find(is_same) {
            // Of threads with another name.
            Some(known) => known.share_ratio += way.share_ratio,
            None => found.push(way),
        }
    }
    found.iter_mut().for_each(|one| one.share_ratio /= all);
    found.sort_by(|one, other| other.share_ratio.total_cmp(&one.share_ratio));
    found.retain(|one| one.share_ratio >= MIN_SHARE_RATIO);
    found.truncate(MAX_SHOWN);
    found
}

/// How much of its part one of `rows` is. Of a wait for a callee only that counts which the callee doesn't account for.
fn weight(row: &CallRow, rows: &[CallRow], beyond: &[Beyond<'_>]) -> f64 {
    match row.doing {
        Some(Doing::WaitingForCallee) => {
            let to_it = |one: &&CallRow| one.doing == row.doing && one.object == row.object;
            let all_s: f64 = rows.iter().filter(to_it).map(|one| one.blocked_s).sum();
            let beyond = beyond.iter().find(|one| one.to == row.object);
            beyond.filter(|_| all_s > 0.0).map_or(0.0, |one| one.threads * row.blocked_s / all_s)
        }
        Some(doing) if BLOCKED.contains(&doing) => row.blocked_s,
        _ => 0.0,
    }
}
