//! What each further instance of a tier gives, where their number was varied.

use std::collections::BTreeSet;

use model::StudyRecord;
use model::record::study::Sweep;

use super::cells::{self, CellResult};
use crate::figures;
use crate::study::page::{Cell, Column, Content, Part, Row, Table};
use crate::study::words;

/// The ending of the settings that say how many instances a tier has.
const INSTANCES: &str = ".instances";

/// A factor that varies the number of a tier's instances.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Scaled {
    /// Which of the sweep's factors.
    factor: usize,
    /// The number of instances at each of its levels.
    counts: Vec<u32>,
}

/// A table for each figure that grows with the number of instances; nothing where it was not varied.
pub(super) fn parts(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult]) -> Vec<Part> {
    let Some(scaled) = scaled(record, sweep) else { return Vec::new() };
    let figure = cells::figures(sweep)[0];
    let rows = rows(record, sweep, cells, &scaled, figure);
    if rows.len() < 2 {
        return Vec::new();
    }
    let others = sweep.factors.iter().enumerate().filter(|(at, _)| *at != scaled.factor);
    let mut columns: Vec<Column> =
        others.map(|(_, factor)| Column::words(&factor.title, &factor.title)).collect();
    let unit = if figure == "load_line" { words::load_unit(record, 0) } else { "op/s" };
    columns.extend(
        [sweep.factors[scaled.factor].title.as_str(), unit, "repeats", "efficiency", "each added"]
            .map(|title| Column::numbers(title, title)),
    );
    let lead = "Efficiency is the figure of one instance by that of one where there are fewest; what each added one gives is \
                told in the same measure. Where users set the pace, or all instances share the same CPUs, neither can be more than that \
                lets it be.";
    vec![
        Content::Heading("What each instance gives".to_string()).terminal(),
        Content::Lead(lead.to_string()).page(),
        Content::Table(Table { columns, rows, folded: None, long_form: false }).both(),
    ]
}

/// The first factor with whose levels the number of a tier's instances goes.
fn scaled(record: &StudyRecord, sweep: &Sweep) -> Option<Scaled> {
    let settings: BTreeSet<&String> = record.arms.iter().flat_map(|arm| arm.recipe.set.keys()).collect();
    let settings = || settings.iter().filter(|name| name.ends_with(INSTANCES));
    let mut found = (0..sweep.factors.len()).flat_map(|factor| settings().map(move |name| (factor, *name)));
    found.find_map(|(factor, name)| {
        let counts = counts(record, sweep, factor, name)?;
        (counts.iter().collect::<BTreeSet<_>>().len() > 1).then_some(Scaled { factor, counts })
    })
}

/// The number of instances at each level of a factor; absent where another factor changes it, too, or an arm doesn't say it.
fn counts(record: &StudyRecord, sweep: &Sweep, factor: usize, name: &str) -> Option<Vec<u32>> {
    let mut counts: Vec<Option<u32>> = vec![None; sweep.factors[factor].levels.len()];
    for (arm, cell) in record.arms.iter().zip(&sweep.cells) {
        let count = arm.recipe.set.get(name)?.to_string().parse().ok()?;
        let known = counts.get_mut(*cell.levels.get(factor)?)?;
        if known.is_some_and(|known| known != count) {
            return None;
        }
        *known = Some(count);
    }
    counts.into_iter().collect()
}

/// A row for each cell with a value, by the levels of the other factors and then by the number of instances.
fn rows(
    record: &StudyRecord,
    sweep: &Sweep,
    cells: &[CellResult],
    scaled: &Scaled,
    figure: &str,
) -> Vec<Row> {
    let others = |cell: &CellResult| -> Vec<usize> {
        cell.levels
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != scaled.factor)
            .map(|(_, level)| *level)
            .collect()
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for cell in cells {
        if !groups.contains(&others(cell)) {
            groups.push(others(cell));
        }
    }
    let mut rows = Vec::new();
    for group in groups {
        let value = |cell: &&CellResult| cell.value(figure);
        let here = cells.iter().filter(|cell| others(cell) == group && value(cell).is_some());
        let mut points: Vec<(u32, &CellResult)> =
            here.filter_map(|cell| Some((*scaled.counts.get(cell.levels[scaled.factor])?, cell))).collect();
        points.sort_by_key(|(count, _)| *count);
        let levels = || {
            let names = sweep.factors.iter().enumerate().filter(|(at, _)| *at != scaled.factor);
            names
                .zip(&group)
                .map(|((_, factor), level)| factor.levels.get(*level).cloned().unwrap_or_default())
        };
        let values: Vec<(u32, f64)> =
            points.iter().filter_map(|(count, cell)| Some((*count, cell.value(figure)?))).collect();
        for (at, (count, cell)) in points.iter().enumerate() {
            let [efficiency, added] = gains(&values, at).map(|ratio| Cell::from(figures::percent(ratio)));
            let unit = words::load_unit(record, cell.arm);
            let mut row: Vec<Cell> = levels().map(Cell::from).collect();
            row.push(count.to_string().into());
            row.push(words::figure_value(figure, cell.value(figure), unit).into());
            row.push(range(cell, figure).into());
            row.extend([efficiency, added]);
            rows.push(Row { cells: row, muted: false });
        }
    }
    rows
}

/// What the `at`th of `values` (instances, figure) gives for each instance, and for each one more than those before it: as shares of
/// what an instance of the first gives. The first has neither.
fn gains(values: &[(u32, f64)], at: usize) -> [Option<f64>; 2] {
    let Some((base_count, base)) = values.first() else { return [None, None] };
    let of_one = base / f64::from(*base_count);
    if at == 0 || of_one <= 0.0 {
        return [None, None];
    }
    let ((before, lower), (count, value)) = (values[at - 1], values[at]);
    let added = (value - lower) / f64::from(count.saturating_sub(before).max(1));
    [Some(value / f64::from(count) / of_one), Some(added / of_one)]
}

/// From the lowest repeat to the highest.
fn range(cell: &CellResult, figure: &str) -> String {
    let values = cell.repeats(figure).into_iter().map(|repeat| (repeat.value, repeat.value));
    let ends = values.reduce(|(low, high), (lower, higher)| (low.min(lower), high.max(higher)));
    match ends {
        Some((low, high)) => format!("{} to {}", figures::number(Some(low)), figures::number(Some(high))),
        None => figures::NOTHING.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_instances_that_give_as_much_as_one_and_a_half_have_an_efficiency_of_three_quarters() {
        let values = [(1, 100.0), (2, 150.0), (4, 140.0)];
        assert_eq!(gains(&values, 0), [None, None]);
        assert_eq!(gains(&values, 1), [Some(0.75), Some(0.5)]);
        assert_eq!(gains(&values, 2), [Some(0.35), Some(-0.05)], "two more took away a tenth");
        assert_eq!(gains(&[(2, 100.0), (4, 200.0)], 1), [Some(1.0), Some(1.0)], "the fewest may be two");
        assert_eq!(gains(&[], 0), [None, None]);
    }
}
