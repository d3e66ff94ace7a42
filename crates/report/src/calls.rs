//! The ledger of calls, in the words and figures that every rendering of it shares.

use model::record::calls::{CallLedger, CallRow, TierCalls};
use model::record::diagnosis::Doing;

use crate::figures;

/// Threads that do something are named from this many on average.
const MIN_THREADS: f64 = 0.005;

/// The heading of a tier's table.
pub(crate) const HEADING: [&str; 8] =
    ["call", "calls/s", "CPU/call", "blocks/s", "blocked", "a block", "longest", "on"];

/// A tier's table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallTable {
    /// web, app, db, cache.
    pub(crate) tier: String,
    /// What its threads did, in a sentence.
    pub(crate) sentence: String,
    /// As wide as [`HEADING`].
    pub(crate) rows: Vec<[String; 8]>,
    /// How well it closes.
    pub(crate) closing: String,
}

/// Why no table is shown; absent where they can be.
pub(crate) fn withheld(ledger: &CallLedger) -> Option<String> {
    ledger.is_withheld().then(|| {
        format!(
            "{} of what the tiers' threads did had no room in the kernel's tables ({}): what is left would mislead",
            figures::percent(Some(ledger.lost_ratio())),
            lost_words(ledger),
        )
    })
}

/// What the tables are about.
pub(crate) fn sentence(ledger: &CallLedger) -> String {
    let calls = if ledger.counted_ratio > 0.0 {
        format!("calls in {} of it, scaled", figures::percent(Some(ledger.counted_ratio)))
    } else {
        "calls that don't block not at all".to_string()
    };
    let cost = ledger
        .cost_ratio
        .map(|ratio| format!("; counting took {} of the machine's CPU time", figures::percent(Some(ratio))));
    format!(
        "Counted by the kernel over {}: what blocks all the time, {calls}; {}{}.",
        figures::duration(Some(ledger.length_s)),
        lost_words(ledger),
        cost.unwrap_or_default()
    )
}

fn lost_words(ledger: &CallLedger) -> String {
    let lost = ledger.lost;
    if lost.all() == 0 {
        return "nothing lost".to_string();
    }
    let parts = [
        (lost.cells, "changes without call and object"),
        (lost.threads, "changes of threads that could not be followed"),
        (lost.calls, "calls"),
        (lost.names, "names"),
        (lost.samples, "samples of stacks"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> =
        parts.map(|(count, what)| format!("{} {what}", figures::count(*count))).collect();
    format!("lost: {}", words.join(", "))
}

/// The table of a tier.
pub(crate) fn table(tier: &TierCalls, length_s: f64) -> CallTable {
    CallTable {
        tier: tier.tier.clone(),
        sentence: doings(tier),
        rows: tier.rows.iter().map(|one| cells(one, length_s)).collect(),
        closing: closing(tier),
    }
}

/// `5.0 threads: 3.1 waiting for work, 1.2 computing`.
fn doings(tier: &TierCalls) -> String {
    let shown = tier.doing.iter().filter(|one| one.threads >= MIN_THREADS);
    let parts: Vec<String> =
        shown.map(|one| format!("{} {}", figures::number(Some(one.threads)), one.doing.title())).collect();
    let kernel = tier.kernel_ratio.map(|ratio| {
        format!("; of their CPU time {} was in calls of the kernel", figures::percent(Some(ratio)))
    });
    let threads = figures::number(Some(tier.threads));
    format!("{threads} threads: {}{}", parts.join(", "), kernel.unwrap_or_default())
}

fn closing(tier: &TierCalls) -> String {
    let mut text = format!("closes to {}", figures::percent(Some(tier.closes_ratio)));
    if !tier.closes() {
        text.push_str(" and not within 3 %: some of its time is missing or counted twice");
    }
    if let Some(ratio) = tier.cpu_agrees_ratio {
        text.push_str(&format!(
            "; its CPU time is {} of what its cgroup says",
            figures::percent(Some(ratio))
        ));
    }
    text
}

fn cells(row: &CallRow, length_s: f64) -> [String; 8] {
    let nothing = || figures::NOTHING.to_string();
    let blocks = row.blocks > 0;
    let per_s = |count: f64| figures::number(Some(count));
    let of_blocks = |seconds: f64| if blocks { figures::time(Some(seconds)) } else { nothing() };
    [
        call(row),
        row.calls_per_s.map_or_else(nothing, per_s),
        row.cpu_s_per_call.map_or_else(nothing, |seconds| figures::time(Some(seconds))),
        if blocks { per_s(row.blocks as f64 / length_s) } else { nothing() },
        of_blocks(row.blocked_s),
        of_blocks(row.blocked_s / row.blocks.max(1) as f64),
        of_blocks(row.max_s),
        on(row),
    ]
}

/// The call; the last row of blocks is of all that have none of their own.
fn call(row: &CallRow) -> String {
    if row.call.is_empty() { "all others".to_string() } else { row.call.clone() }
}

/// What was waited for: `disk: images/cover.jpg and 41 more (nginx)`.
fn on(row: &CallRow) -> String {
    let more = match row.objects.saturating_sub(1) {
        0 => String::new(),
        more => format!(" and {} more", figures::count(more)),
    };
    let object = if row.object.is_empty() { String::new() } else { format!("{}{more}", row.object) };
    let thread = if row.thread.is_empty() { String::new() } else { format!(" ({})", row.thread) };
    let what = row.doing.map(|doing| waited_for(doing, row.kernel_lock, &object)).unwrap_or_default();
    format!("{what}{thread}").trim_start().to_string()
}

/// `disk: images/cover.jpg`; empty where there is nothing to be said of it.
pub(crate) fn waited_for(doing: Doing, kernel_lock: bool, object: &str) -> String {
    let what = match doing {
        Doing::WaitingForLock if kernel_lock => "kernel lock",
        Doing::WaitingForLock => "lock",
        Doing::WaitingForDisk => "disk",
        Doing::WaitingForCallee | Doing::WaitingForClient => "",
        Doing::Idle => "idle",
        Doing::Sleeping => "sleep",
        Doing::Running | Doing::WaitingForCpu | Doing::Queued | Doing::Other => "",
    };
    let parts: Vec<&str> = [what, object].into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(": ")
}

/// Who waited for whom: `app waited for db: 2.1 threads, 4.3 ms of a mean operation, 812 blocks/s`.
pub(crate) fn waits(ledger: &CallLedger) -> Vec<String> {
    let line = |edge: &model::record::calls::WaitEdge| {
        let time = edge.s_per_operation.map(|s| format!(", {} of a mean operation", figures::time(Some(s))));
        format!(
            "{} waited for {}: {} threads{}, {} blocks/s",
            edge.from,
            edge.to,
            figures::number(Some(edge.threads)),
            time.unwrap_or_default(),
            figures::number(Some(edge.blocks_per_s)),
        )
    };
    ledger.waits.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use model::record::calls::{DoingThreads, Lost, WaitEdge};

    use super::*;

    fn row() -> CallRow {
        CallRow {
            thread: "nginx".to_string(),
            call: "openat".to_string(),
            doing: Some(Doing::WaitingForDisk),
            object: "dir00031".to_string(),
            objects: 42,
            blocks: 100,
            blocked_s: 5.0,
            max_s: 0.3,
            ..CallRow::default()
        }
    }

    #[test]
    fn a_row_says_call_times_and_what_was_waited_for() {
        let cells = cells(&row(), 10.0);
        assert_eq!(cells[0], "openat");
        assert_eq!(cells[1..3], ["–", "–"], "no calls were counted");
        assert_eq!(cells[3], "10");
        assert_eq!(cells[7], "disk: dir00031 and 41 more (nginx)");
        let callee =
            CallRow { doing: Some(Doing::WaitingForCallee), object: "db".to_string(), objects: 1, ..row() };
        assert_eq!(on(&callee), "db (nginx)");
        assert_eq!(
            on(&CallRow { doing: None, object: String::new(), ..row() }),
            "(nginx)",
            "it never blocked"
        );
        assert_eq!(on(&CallRow { call: "all others".to_string(), ..CallRow::default() }), "");
    }

    #[test]
    fn tables_are_withheld_when_more_than_a_hundredth_is_lost_and_what_is_lost_is_always_said() {
        let mut ledger = CallLedger { length_s: 60.0, changes: 10_000, ..CallLedger::default() };
        assert!(sentence(&ledger).contains("nothing lost"), "{}", sentence(&ledger));
        ledger.lost = Lost { cells: 90, ..Lost::default() };
        assert_eq!(withheld(&ledger), None);
        assert!(
            sentence(&ledger).contains("lost: 90 changes without call and object"),
            "{}",
            sentence(&ledger)
        );
        ledger.lost.threads = 200;
        assert!(withheld(&ledger).is_some_and(|why| why.contains("2.9")), "{:?}", withheld(&ledger));
    }

    #[test]
    fn a_tier_that_does_not_close_says_so() {
        let doing = vec![DoingThreads { doing: Doing::Idle, threads: 3.0 }];
        let tier = TierCalls {
            tier: "web".to_string(),
            threads: 4.0,
            doing,
            closes_ratio: 0.75,
            ..TierCalls::default()
        };
        let table = table(&tier, 10.0);
        assert!(table.closing.contains("75 %") && table.closing.contains("missing"), "{table:?}");
        assert_eq!(table.sentence, "4 threads: 3 waiting for work");
    }

    #[test]
    fn who_waits_for_whom_is_a_line_each() {
        let edge = WaitEdge {
            from: "app".to_string(),
            to: "db".to_string(),
            threads: 2.0,
            s_per_operation: Some(0.004),
            blocks_per_s: 500.0,
        };
        let ledger = CallLedger { waits: vec![edge], ..CallLedger::default() };
        assert_eq!(
            waits(&ledger),
            ["app waited for db: 2 threads, 4.00 ms of a mean operation, 500 blocks/s"]
        );
    }
}
