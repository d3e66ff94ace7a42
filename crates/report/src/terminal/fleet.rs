//! The agents that drove a run, a line each.

use model::outside::one_line as plain;
use model::record::FleetResult;

use super::paint::Paint;
use super::table::{Align, Table, wrap};
use crate::fleet::{COLUMNS, observers, rows};

/// The table of the agents; empty where there was no fleet.
pub(super) fn agents(fleet: Option<&FleetResult>, width: usize, paint: Paint) -> String {
    let Some(fleet) = fleet else { return String::new() };
    let align = |index| if index < 2 { Align::Left } else { Align::Right };
    let heading: Vec<(&str, Align)> =
        COLUMNS.iter().enumerate().map(|(index, column)| (*column, align(index))).collect();
    let mut table = Table::new(&heading);
    let rows = rows(fleet);
    for row in &rows {
        let cell = |(index, cell): (usize, &String)| {
            if index == 0 { format!("  {}", plain(cell)) } else { plain(cell) }
        };
        table.row(row.cells.iter().enumerate().map(cell).collect());
    }
    let mut text = table.lines(width);
    for row in &rows {
        let Some(why) = &row.lost else { continue };
        let said = format!("{} was lost: {why}", row.cells[0]);
        text.push_str(&format!("  {}\n", paint.bad(&wrap(&plain(&said), width.saturating_sub(2), "    "))));
    }
    for one in observers(fleet) {
        let width = width.saturating_sub(2);
        text.push_str(&format!("  {}\n", wrap(&plain(&one.words), width, "    ")));
        if let Some(why) = &one.lost {
            let said = wrap(&plain(&format!("and was lost: {why}")), width.saturating_sub(2), "    ");
            text.push_str(&format!("    {}\n", paint.bad(&said)));
        }
    }
    text
}
