//! Samples of stacks: which waits were long, who ended waits, and the lines that flame graphs are drawn from.

use model::RunRecord;
use model::outside::one_line as plain;
use model::record::calls::{CallLedger, Cell};
use model::record::stacks::{SlowWait, StackTime, WakeEdge, Waker};
use serde_json::{Value, json};

use crate::calls::waited_for;
use crate::figures;

/// The heading of the longest waits.
pub(crate) const SLOW_HEADING: [&str; 6] = ["tier", "it took", "ended at", "ended by", "in", "on"];
/// Rows of the longest waits.
const MAX_SLOW_ROWS: usize = 12;
/// Of a stack the innermost functions are shown.
const SHOWN_FRAMES: usize = 2;
/// Those who ended waits are named from this many threads on.
const MIN_THREADS: f64 = 0.005;
/// And no more of them.
const MAX_WAKES: usize = 12;

/// Time by stack as text that speedscope and other viewers of flame graphs read: `app;php-fpm8.2;waiting for a
/// disk;fsync;vfs_fsync 1234`, a line each, in milliseconds of all threads together. Empty where nothing was sampled, or too much was lost.
pub fn folded(record: &RunRecord) -> String {
    record.calls.as_ref().filter(|ledger| !ledger.is_withheld()).map(lines).unwrap_or_default()
}

fn lines(ledger: &CallLedger) -> String {
    let line = |time: &StackTime| {
        let frames: Vec<String> = path(time).iter().map(|frame| plain(frame).replace(';', ":")).collect();
        format!("{} {}\n", frames.join(";"), (time.s * 1e3).round().max(1.0))
    };
    ledger.stacks.iter().map(line).collect()
}

/// From the tier to the innermost function.
fn path(time: &StackTime) -> Vec<String> {
    let Cell { tier, thread, doing, call, object, .. } = &time.stack.cell;
    let own = [tier.as_str(), thread, doing.title(), call, object];
    let frames = time.stack.frames.iter().map(String::as_str);
    own.into_iter().chain(frames).filter(|part| !part.is_empty()).map(str::to_string).collect()
}

/// What the page draws: each stack's path with its class and its seconds.
pub(crate) fn flames(ledger: &CallLedger) -> Value {
    let stack =
        |time: &StackTime| json!({"path": path(time), "doing": time.stack.cell.doing.word(), "s": time.s});
    ledger.stacks.iter().map(stack).collect()
}

/// The longest waits, as wide as [`SLOW_HEADING`].
pub(crate) fn slow_rows(ledger: &CallLedger) -> Vec<[String; 6]> {
    let row = |wait: &SlowWait| {
        let Cell { tier, thread, doing, call, object, kernel_lock } = &wait.stack.cell;
        let frames = &wait.stack.frames;
        let inner = &frames[frames.len().saturating_sub(SHOWN_FRAMES)..];
        let on = waited_for(*doing, *kernel_lock, object);
        [
            tier.clone(),
            figures::time(Some(wait.s)),
            figures::duration(Some(wait.at_s)),
            wait.stack.woken_by.as_ref().map_or_else(|| figures::NOTHING.to_string(), waker),
            std::iter::once(call).chain(inner).cloned().collect::<Vec<_>>().join(" › "),
            format!("{on} ({thread})").trim_start().to_string(),
        ]
    };
    ledger.slow.iter().take(MAX_SLOW_ROWS).map(row).collect()
}

/// `db, waiting for a lock: 1.2 threads, ended by db (mariadbd in futex)`.
pub(crate) fn wakes(ledger: &CallLedger) -> Vec<String> {
    let line = |edge: &WakeEdge| {
        let on = if edge.object.is_empty() { String::new() } else { format!(" ({})", edge.object) };
        format!(
            "{}, {}{on}: {} threads, ended by {}",
            edge.tier,
            edge.doing.title(),
            figures::number(Some(edge.threads)),
            waker(&edge.woken_by),
        )
    };
    let many = ledger.wakes.iter().filter(|edge| edge.threads >= MIN_THREADS);
    many.take(MAX_WAKES).map(line).collect()
}

fn waker(one: &Waker) -> String {
    let Waker { tier, thread, call } = one;
    match (tier.is_empty(), thread.is_empty(), call.is_empty()) {
        (_, true, _) => "an interrupt".to_string(),
        (false, _, true) => format!("{tier} ({thread})"),
        (false, _, false) => format!("{tier} ({thread} in {call})"),
        (true, _, true) => format!("the kernel's {thread}"),
        (true, _, false) => format!("{thread} in {call}"),
    }
}

#[cfg(test)]
mod tests {
    use model::record::diagnosis::Doing;
    use model::record::stacks::Stack;

    use super::*;

    fn stack(doing: Doing, call: &str, object: &str, frames: &[&str]) -> Stack {
        let text = |text: &str| text.to_string();
        let cell = Cell {
            tier: text("app"),
            thread: text("php-fpm8.2"),
            doing,
            call: text(call),
            object: text(object),
            kernel_lock: false,
        };
        Stack { cell, frames: frames.iter().map(|frame| text(frame)).collect(), woken_by: None }
    }

    fn ledger() -> CallLedger {
        let flock = stack(Doing::WaitingForLock, "flock", "orders;x", &["a", "b", "flock_lock_inode_wait"]);
        let computes = stack(Doing::Running, "", "", &["php-fpm8.2", "execute_ex"]);
        let woken_by = Waker { tier: "app".into(), thread: "php-fpm8.2".into(), call: "close".into() };
        CallLedger {
            stacks: vec![
                StackTime { stack: flock.clone(), s: 1.5, samples: 15 },
                StackTime { stack: computes, s: 0.0001, samples: 1 },
            ],
            slow: vec![SlowWait {
                stack: Stack { woken_by: Some(woken_by.clone()), ..flock },
                at_s: 12.5,
                s: 0.25,
            }],
            wakes: vec![WakeEdge {
                tier: "app".into(),
                doing: Doing::WaitingForLock,
                object: "orders".into(),
                woken_by,
                threads: 1.2,
            }],
            ..CallLedger::default()
        }
    }

    #[test]
    fn a_line_of_folded_text_goes_from_the_tier_to_the_innermost_function() {
        assert_eq!(
            lines(&ledger()),
            "app;php-fpm8.2;waiting for a lock;flock;orders:x;a;b;flock_lock_inode_wait 1500\n\
             app;php-fpm8.2;computing;php-fpm8.2;execute_ex 1\n"
        );
        assert_eq!(lines(&CallLedger::default()), "");
    }

    #[test]
    fn a_long_wait_says_when_it_ended_by_whom_and_where_it_was() {
        let rows = slow_rows(&ledger());
        assert_eq!(
            rows[0],
            [
                "app",
                "250 ms",
                "12.5 s",
                "app (php-fpm8.2 in close)",
                "flock › b › flock_lock_inode_wait",
                "lock: orders;x (php-fpm8.2)"
            ]
        );
        assert_eq!(
            wakes(&ledger()),
            ["app, waiting for a lock (orders): 1.2 threads, ended by app (php-fpm8.2 in close)"]
        );
    }

    #[test]
    fn whoever_ends_a_wait_has_a_name() {
        let named = |tier: &str, thread: &str, call: &str| {
            waker(&Waker { tier: tier.into(), thread: thread.into(), call: call.into() })
        };
        assert_eq!(named("", "", ""), "an interrupt");
        assert_eq!(named("", "kworker", ""), "the kernel's kworker");
        assert_eq!(named("", "plimsoll", "sendto"), "plimsoll in sendto");
        assert_eq!(named("db", "mariadbd", "futex"), "db (mariadbd in futex)");
    }
}
