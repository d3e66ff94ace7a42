//! Many runs, a line each.

use store::{FleetSummary, Folded, RunSummary, Spread, verdict_of};

use crate::figures;
use crate::terminal::{Align, Table, plain};

/// The narrowest terminal that has room for how much is kept.
const WITH_BYTES: usize = 112;

/// The runs as a table for a terminal of `width` columns, in the order given.
pub fn list_table(runs: &[RunSummary], width: usize) -> String {
    if runs.is_empty() {
        return "There are no runs yet.\n".to_string();
    }
    let with_bytes = width >= WITH_BYTES;
    let with_notes = runs.iter().any(|run| !run.notes.is_empty());
    let mut heading = vec![
        ("run", Align::Left),
        ("verdict", Align::Left),
        ("users", Align::Right),
        ("op/s", Align::Right),
        ("worst p95", Align::Right),
    ];
    heading.extend(with_bytes.then_some(("kept", Align::Right)));
    heading.push(("stack", Align::Left));
    heading.extend(with_notes.then_some(("notes", Align::Left)));
    let mut table = Table::new(&heading);
    for run in runs {
        let mut cells = vec![
            plain(&run.id),
            verdict_of(run).to_string(),
            figures::number(Some(run.users.into())),
            figures::number(run.operations_per_s),
            figures::time(run.worst_p95_s),
        ];
        cells.extend(with_bytes.then(|| figures::bytes(Some(run.bytes))));
        let guests = match run.guests {
            0 => String::new(),
            1 => "1 guest of ".to_string(),
            several => format!("{several} guests of "),
        };
        cells.push(plain(&(guests + &run.stack + &run.fleet.as_ref().map(driven_by).unwrap_or_default())));
        cells.extend(with_notes.then(|| plain(&notes(run))));
        table.row(cells);
    }
    table.lines_cut_last(width)
}

/// `, by 3 agents, 1 lost (lab)`.
fn driven_by(fleet: &FleetSummary) -> String {
    let agents = if fleet.agents == 1 { "agent" } else { "agents" };
    let lost = if fleet.lost > 0 { format!(", {} lost", fleet.lost) } else { String::new() };
    format!(", by {} {agents}{lost} ({})", fleet.agents, fleet.name)
}

/// Groups of runs as a table for a terminal of `width` columns, in the order given; below it, how many runs they are.
pub fn folded_table(folded: &Folded, width: usize) -> String {
    let mut table = Table::new(&[
        ("runs", Align::Right),
        ("the last", Align::Left),
        ("verdicts", Align::Left),
        ("users", Align::Right),
        ("op/s", Align::Right),
        ("worst p95", Align::Right),
        ("stack", Align::Left),
    ]);
    for group in &folded.groups {
        let verdicts = group.verdicts.iter().map(|(verdict, number)| format!("{number} {verdict}"));
        // Trials of a study have each a load of its own.
        let users = group.study.is_none().then(|| group.last.users.into());
        table.row(vec![
            group.number.to_string(),
            plain(group.study.as_ref().unwrap_or(&group.last.id)),
            verdicts.collect::<Vec<_>>().join(", "),
            figures::number(users),
            spread(group.operations_per_s.as_ref(), figures::number),
            spread(group.worst_p95_s.as_ref(), figures::time),
            plain(&group.last.stack),
        ]);
    }
    let hidden = folded.all - folded.runs;
    let hidden = if hidden > 0 { format!("; {hidden} more are not meant") } else { String::new() };
    let rows = folded.groups.len();
    let left_out =
        if rows < folded.number { format!(", the last {rows} of them shown") } else { String::new() };
    let number = folded.number;
    let table = table.lines_cut_last(width);
    format!(
        "{table}{} runs in {number} groups{left_out}{hidden}; figures: median (smallest to largest)\n",
        folded.runs
    )
}

/// `382 (371 to 390)`.
fn spread(spread: Option<&Spread>, show: fn(Option<f64>) -> String) -> String {
    match spread {
        Some(Spread { number: 2.., min, median, max }) => {
            format!("{} ({} to {})", show(Some(*median)), show(Some(*min)), show(Some(*max)))
        }
        one => show(one.map(|one| one.median)),
    }
}

/// `pinned #night before the upgrade`.
fn notes(run: &RunSummary) -> String {
    let pinned = run.notes.pinned.then(|| "pinned".to_string());
    let tags = run.notes.tags.iter().map(|tag| format!("#{tag}"));
    let note = Some(run.notes.note.clone()).filter(|note| !note.is_empty());
    let baseline = run.notes.baseline.then(|| "baseline".to_string());
    pinned.into_iter().chain(baseline).chain(tags).chain(note).collect::<Vec<_>>().join(" ")
}
