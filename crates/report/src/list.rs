//! Many runs, a line each.

use model::record::Outcome;
use store::RunSummary;

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
    let mut heading = vec![
        ("run", Align::Left),
        ("verdict", Align::Left),
        ("users", Align::Right),
        ("op/s", Align::Right),
        ("worst p95", Align::Right),
    ];
    heading.extend(with_bytes.then_some(("kept", Align::Right)));
    heading.push(("stack", Align::Left));
    let mut table = Table::new(&heading);
    for run in runs {
        let mut cells = vec![
            plain(&run.id),
            verdict(run).to_string(),
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
        cells.push(plain(&(guests + &run.stack)));
        table.row(cells);
    }
    table.lines_cut_last(width)
}

fn verdict(run: &RunSummary) -> &'static str {
    match (run.outcome, run.valid, run.pass) {
        (None, ..) => "unreadable",
        (Some(Outcome::Unfinished), ..) if run.under_way => "under way",
        (Some(Outcome::Unfinished), ..) => "unfinished",
        (Some(Outcome::Interrupted), ..) => "interrupted",
        (Some(Outcome::Aborted), ..) => "aborted",
        (Some(Outcome::Completed), false, _) => "not valid",
        (Some(Outcome::Completed), true, Some(true)) => "passed",
        (Some(Outcome::Completed), true, Some(false)) => "failed",
        (Some(Outcome::Completed), true, None) => "valid",
    }
}
