//! The run's course in a few lines.

use super::draw::sparkline;
use super::paint::plain;
use super::table::wrap;
use crate::{Page, figures};

/// Throughput and p95 of all operations and the number of users over time, with the phases beneath, and what happened
/// meanwhile.
pub(super) fn course(page: &Page, width: usize) -> String {
    let timeline = &page.timeline;
    let (Some(all), Some(last)) = (timeline.scopes.first(), timeline.at_s.last()) else {
        return String::new();
    };
    if timeline.at_s.len() < 3 {
        return String::new();
    }
    let cells = width.saturating_sub(34).min(timeline.at_s.len());
    let top = |values: &[Option<f64>]| values.iter().flatten().copied().reduce(f64::max);
    let end_s = last + timeline.step_s;
    let setup = &page.record.setup;
    let steady = setup.ramp_up_s..setup.ramp_up_s + setup.steady_s;
    let phase = |cell: usize| match (cell as f64 + 0.5) / cells as f64 * f64::from(end_s) {
        at_s if steady.contains(&at_s) => '─',
        at_s if at_s < steady.start => '╱',
        _ => '╲',
    };
    let happened = page.happenings().map(|event| {
        let what = format!("  at {} s: {}", figures::number(Some(event.second)), plain(&event.text));
        wrap(&what, width, "    ") + "\n"
    });
    format!(
        "Over time, 0 to {end_s} s\n  {:<14}{:<cells$}  up to {}/s\n  {:<14}{:<cells$}  up to {}\n  {:<14}{:<cells$}  up to {}\n  {:<14}{}  ─ steady state\n{}",
        "operations/s",
        sparkline(&all.per_s, cells),
        figures::number(top(&all.per_s)),
        "p95",
        sparkline(&all.p95_s, cells),
        figures::time(top(&all.p95_s)),
        "users",
        sparkline(&timeline.users, cells),
        figures::number(top(&timeline.users)),
        "phase",
        (0..cells).map(phase).collect::<String>(),
        happened.collect::<String>(),
    )
}
