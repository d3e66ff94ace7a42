//! The run's course in a few lines.

use analysis::signals::names::CPU;

use super::draw::sparkline;
use super::table::{shorten, wrap};
use crate::{Column, Page, figures};
use model::outside::one_line as plain;

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

/// How many figures of a tier are drawn; the report draws all.
const FIGURES_SHOWN: usize = 4;

/// A line: what it is, its values, the most that they reach.
type Row<'a> = (String, &'a [Option<f64>], String);

/// Each tier's CPU over time, and the figures of it that matter.
pub(super) fn inside(page: &Page, width: usize) -> String {
    let rows: Vec<Row<'_>> = page.timeline.cpu.iter().map(cores).chain(figures_of(page)).collect();
    if page.timeline.at_s.len() < 3 || rows.is_empty() {
        return String::new();
    }
    let widest = |text: &dyn Fn(&Row<'_>) -> usize| rows.iter().map(text).max().unwrap_or(0);
    let names = widest(&|(name, ..)| name.chars().count()).min(28);
    let most = widest(&|(.., most)| most.chars().count());
    let cells = width.saturating_sub(names + most + 6).clamp(12, 48).min(page.timeline.at_s.len());
    let line = |(name, values, most): &Row<'_>| {
        let line = sparkline(values, cells);
        shorten(&format!("  {:<names$}  {line:<cells$}  {most}", shorten(name, names)), width) + "\n"
    };
    "Tiers over time\n".to_string() + &rows.iter().map(line).collect::<String>()
}

fn top(values: &[Option<f64>]) -> Option<f64> {
    values.iter().flatten().copied().reduce(f64::max)
}

fn cores(column: &Column) -> Row<'_> {
    let most = figures::number(top(&column.values));
    (format!("{} cpu.cores", plain(&column.name)), &column.values, format!("up to {most} cores"))
}

fn figures_of(page: &Page) -> impl Iterator<Item = Row<'_>> {
    page.inside.tiers.iter().flat_map(|tier| {
        let name = tier.tier.as_deref().map_or("machine".to_string(), plain);
        let others = tier.first.iter().filter(|figure| figure.name != CPU);
        others.take(FIGURES_SHOWN).map(move |figure| {
            let most = top(&figure.values)
                .map_or_else(|| figures::NOTHING.to_string(), |most| figure.of_limit(most));
            (
                format!("{name} {}", plain(&figure.name)),
                figure.values.as_slice(),
                format!("up to {}", plain(&most)),
            )
        })
    })
}
