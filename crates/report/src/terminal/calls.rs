//! What `explain --calls` prints: a table of calls for each tier, and who waited for whom.

use model::RunRecord;
use model::outside::one_line as plain;

use super::table::{Align, Table, wrap};
use super::width;
use crate::calls::{self, CallTable, HEADING};
use crate::stacks::{self, SLOW_HEADING};

/// The ledger of calls of a run; a sentence where the kernel counted nothing.
pub fn explain_calls(record: &RunRecord, width: usize) -> String {
    let width = width::of_lines(width);
    let about = format!("run {}: {} on {}", record.id, record.setup.load_words(), record.setup.stack_title);
    let about = wrap(&plain(&about), width, "  ") + "\n";
    let Some(ledger) = &record.calls else {
        let why = record.unseen.iter().find(|why| why.contains("calls"));
        let why = why
            .map_or("the run is older than this, or was made with --count-calls off".to_string(), |why| {
                plain(why)
            });
        return about + &wrap(&format!("The tiers' calls were not counted: {why}."), width, "  ") + "\n";
    };
    if let Some(why) = calls::withheld(ledger) {
        return about + &wrap(&format!("The tables are withheld: {}.", why), width, "  ") + "\n";
    }
    let mut parts = vec![about + &wrap(&calls::sentence(ledger), width, "  ") + "\n"];
    parts.extend(ledger.tiers.iter().map(|tier| table(&calls::table(tier, ledger.length_s), width)));
    let slow = stacks::slow_rows(ledger);
    parts.extend((!slow.is_empty()).then(|| format!("The longest waits\n{}", slow_table(&slow, width))));
    for lines in [stacks::wakes(ledger), calls::waits(ledger)] {
        let text: String = lines.iter().map(|line| wrap(&plain(line), width, "  ") + "\n").collect();
        parts.extend(Some(text).filter(|text| !text.is_empty()));
    }
    parts.join("\n")
}

fn slow_table(rows: &[[String; 6]], width: usize) -> String {
    let align = |column: usize| if matches!(column, 1 | 2) { Align::Right } else { Align::Left };
    let heading: Vec<(&str, Align)> =
        SLOW_HEADING.iter().enumerate().map(|(at, text)| (*text, align(at))).collect();
    let mut table = Table::new(&heading);
    rows.iter().for_each(|row| table.row(row.iter().map(|cell| plain(cell)).collect()));
    table.lines_cut_last(width)
}

fn table(shown: &CallTable, width: usize) -> String {
    let align =
        |column: usize| if column == 0 || column == HEADING.len() - 1 { Align::Left } else { Align::Right };
    let heading: Vec<(&str, Align)> =
        HEADING.iter().enumerate().map(|(at, text)| (*text, align(at))).collect();
    let mut table = Table::new(&heading);
    shown.rows.iter().for_each(|row| table.row(row.iter().map(|cell| plain(cell)).collect()));
    let title = wrap(&format!("{}, {}", shown.tier, shown.sentence), width, "  ");
    format!("{title}\n{}{}\n", table.lines_cut_last(width), wrap(&shown.closing, width, "  "))
}
