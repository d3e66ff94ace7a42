//! Guests side by side, a row each; where that is too wide, in two tables.

use model::outside::one_line as plain;
use model::record::GuestResult;

use super::paint::Paint;
use super::table::{Align, Table, wrap};
use crate::guests::{self, GuestFigure, LOAD, USE, Verdict};

/// What a table shows beside the guests' numbers, in this order.
#[derive(Clone, Copy, Default)]
struct Shown {
    limits: bool,
    load: bool,
    used: bool,
}

/// The guests of a run with several: figures, which targets are missed, what holds them, how far apart they are and what it took to
/// make them.
pub(super) fn guests(all: &[GuestResult], width: usize, paint: Paint) -> String {
    if all.is_empty() {
        return String::new();
    }
    let limits = guests::some_limited(all);
    let whole = table(all, Shown { limits, load: true, used: true }, paint);
    let mut text = if whole.fits(width) {
        whole.lines(width)
    } else {
        let load = table(all, Shown { load: true, ..Shown::default() }, paint);
        let used = table(all, Shown { limits, used: true, ..Shown::default() }, paint);
        load.lines(width) + &used.lines(width)
    };
    for said in guests::remarks(all).into_iter().chain(guests::apart(all)).chain(guests::clones(all)) {
        text.push_str(&(wrap(&format!("  {}", plain(&said)), width, "    ") + "\n"));
    }
    text
}

fn table(all: &[GuestResult], shown: Shown, paint: Paint) -> Table {
    let figures: Vec<&GuestFigure> = [(shown.load, LOAD.as_slice()), (shown.used, USE.as_slice())]
        .into_iter()
        .filter(|(shown, _)| *shown)
        .flat_map(|(_, figures)| figures)
        .collect();
    let mut heading = vec![("Guests", Align::Left)];
    heading.extend(shown.limits.then_some(("limits", Align::Left)));
    heading.extend(figures.iter().map(|figure| (figure.short, Align::Right)));
    heading.extend(shown.load.then_some(("verdict", Align::Left)));
    let mut table = Table::new(&heading);
    let last = heading.len() - 1;
    for guest in all {
        let mut cells = vec![format!("  {}", guest.guest.number)];
        cells.extend(shown.limits.then(|| guests::limits(guest)));
        cells.extend(figures.iter().map(|figure| (figure.value)(guest)));
        let verdict = Verdict::of(guest);
        cells.extend(shown.load.then(|| verdict.word().to_string()));
        let bad = shown.load && !matches!(verdict, Verdict::Pass | Verdict::Valid);
        table.row_painted(
            cells,
            move |column, cell| {
                if column == last && bad { paint.bad(cell) } else { cell.to_string() }
            },
        );
    }
    table
}
