//! Published figures beside ours, as text.

use model::StudyRecord;
use model::study::{Published, Sweep};

use crate::study::sweep::published::{self, Row};
use crate::terminal::plain;
use crate::terminal::table::{Align, Table, wrap};

/// A section for each table, and what differs; nothing where nothing was published.
pub(super) fn sections(record: &StudyRecord, sweep: &Sweep, width: usize) -> Vec<String> {
    let tables = sweep.published.iter().map(|table| section(record, sweep, table, width));
    let mut sections: Vec<String> = tables.collect();
    if !sections.is_empty() || !sweep.differs.is_empty() {
        let differs = published::differs(record, sweep);
        let lines = differs.iter().map(|sentence| lines(&format!("  {}", plain(sentence)), width));
        sections.push(format!("What differs\n{}", lines.collect::<String>()));
    }
    sections
}

fn section(record: &StudyRecord, sweep: &Sweep, table: &Published, width: usize) -> String {
    let title = format!("Beside what was published: {}, {}", plain(&table.title), plain(&table.unit));
    let mut text = lines(&title, width);
    text += &lines(&format!("  {}", plain(&table.source)), width);
    if !table.rows.is_empty() {
        text += &rows(&published::rows(table), width);
        text += &lines(&format!("  {}", plain(&published::base(table))), width);
    }
    for sentence in published::order(table) {
        text += &lines(&format!("  {}", plain(&sentence)), width);
    }
    for (says, found) in published::claims(record, sweep, table) {
        text += &lines(&format!("  \"{}\"", plain(&says)), width);
        text += &lines(&format!("    {}", plain(&found)), width);
    }
    text
}

fn rows(rows: &[Row], width: usize) -> String {
    let heading = [
        ("", Align::Left),
        ("print", Align::Right),
        ("ours", Align::Right),
        ("95 %", Align::Right),
        ("ratio", Align::Right),
        ("ours", Align::Right),
        ("95 %", Align::Right),
    ];
    let mut table = Table::new(&heading);
    for row in rows {
        table.row(vec![
            format!("  {}", plain(&row.label)),
            row.published.clone(),
            row.ours.clone(),
            row.interval.clone(),
            row.ratio.clone(),
            row.ours_ratio.clone(),
            row.ratio_interval.clone(),
        ]);
    }
    table.lines(width)
}

fn lines(text: &str, width: usize) -> String {
    let indent = text.len() - text.trim_start().len() + 2;
    wrap(text, width, &" ".repeat(indent)) + "\n"
}
