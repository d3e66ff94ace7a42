//! What a sweep says, as people read it.

use analysis::sweep::{Difference, Range, SweepFindings};
use model::QosTarget;
use model::record::study::{Arm, FindAnswer, Measurement, Sweep, Trial};
use model::units::{number, percent};

use crate::evidence;

/// Fills in the evidence of cells without a load line, from their facts and the study's `trials`.
pub fn fill_in(sweep: &mut Sweep, trials: &[Trial]) {
    let Measurement::LoadLine(goal) = &sweep.measurement else { return };
    for answer in sweep.cells.iter_mut().flat_map(|cell| &mut cell.answers) {
        if let FindAnswer::NoAnswer(no_answer) = answer {
            evidence::fill_in(goal.by, no_answer, trials);
        }
    }
}

/// How many cells were measured, where the figure is highest and lowest, and how far repeats of a cell differ. Cells that
/// differ by no more than chance may do are not told apart.
pub fn sweep(sweep: &Sweep, arms: &[Arm], findings: &SweepFindings) -> String {
    let times = if sweep.repeats == 1 { "once".to_string() } else { format!("{} times", sweep.repeats) };
    let mut sentence =
        format!("{} of {} cells have a result, measured {times} each", findings.measured, sweep.cells.len());
    if let Some(range) = &findings.range {
        sentence += &format!("; {}", differences(sweep, arms, range));
    }
    if let Some(spread) = &findings.repeats {
        let deviation = percent(spread.deviation_ratio);
        sentence += &format!("; repeats of a cell differ by {deviation} (standard deviation)");
    }
    if let Some(always) = &findings.never_met {
        sentence += &format!("; {}", missed_by_all(always));
    }
    match findings.invalid_cells {
        0 => sentence,
        1 => sentence + "; trials of 1 cell were not valid",
        cells => sentence + &format!("; trials of {cells} cells were not valid"),
    }
}

/// Cells that are named at most; the others are only counted.
const MAX_NAMED: usize = 6;

/// Which cells pass, or fail, only where averages take the place of the percentiles that their targets ask for; nothing without such a
/// cell.
pub fn by_average(passes: bool, cells: &[&str]) -> Option<String> {
    let these = match cells.len() {
        0 => return None,
        1 => "this cell",
        _ => "these cells",
    };
    let way = if passes { "pass" } else { "fail" };
    let named = cells.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join("; ");
    let more = cells.len().saturating_sub(MAX_NAMED);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    Some(format!("By the average, as some papers judge, {these} would {way}: {named}{more}."))
}

/// Above pictures and a table of how response times are distributed: of what they are.
pub const RESPONSE_TIMES: &str =
    "The response times of all operations in the steady states of a cell's valid repeats, taken together.";

/// That a group of cells is not drawn, in a sentence; `levels` is what its cells have in common.
pub fn too_many_lines(levels: &str, cells: usize) -> String {
    let which = if levels.is_empty() { String::new() } else { format!(" with {levels}") };
    format!("The {cells} cells{which} are too many for one picture; the table has them.")
}

/// How many further groups of cells are not drawn; nothing of none.
pub fn pictures_left_out(groups: usize) -> Option<String> {
    match groups {
        0 => None,
        1 => Some("One more group of cells is in the table alone.".to_string()),
        more => Some(format!("{more} more groups of cells are in the table alone.")),
    }
}

/// That no trial met its targets, with those that all of them missed.
fn missed_by_all(always: &[QosTarget]) -> String {
    if always.is_empty() {
        return "every trial missed a target".to_string();
    }
    let always: Vec<String> = always.iter().map(|target| format!("`{target}`")).collect();
    format!("every trial missed {}", always.join(" and "))
}

/// From where to where the figure goes, and in which cells where repeats tell these apart.
fn differences(sweep: &Sweep, arms: &[Arm], range: &Range) -> String {
    let of_lines = matches!(sweep.measurement, Measurement::LoadLine(_));
    let (name, unit) = if of_lines { ("the load line", "") } else { ("throughput", "/s") };
    let value = |value: f64| format!("{}{unit}", number(value));
    let (high, low) = (value(range.highest.mean), value(range.lowest.mean));
    if high == low {
        return format!("{name} is {high} in each");
    }
    let between = format!("{name} lies between {low} and {high}");
    match range.difference {
        Difference::Unknown if of_lines => {
            format!("{between}: each has an interval of its own, and no cell a second repeat")
        }
        Difference::Unknown => {
            format!("{between}: without a second repeat nobody knows what of that is chance")
        }
        Difference::Chance => format!("{between}: cells that are alike may differ by as much"),
        Difference::Real => {
            let (at_high, at_low) = labels(sweep, arms, range.highest.cell, range.lowest.cell);
            format!("{name} is highest, {high}, with {at_high}, and lowest, {low}, with {at_low}")
        }
    }
}

/// What two cells are called: by the titles of the factors in which they differ, `Database's host = own`.
fn labels(sweep: &Sweep, arms: &[Arm], one: usize, other: usize) -> (String, String) {
    let level = |arm: usize, factor: usize| sweep.cells.get(arm).and_then(|cell| cell.levels.get(factor));
    let label = |arm: usize| {
        let all = sweep.factors.iter().enumerate();
        let named = all.filter(|(index, _)| level(one, *index) != level(other, *index));
        let named = named.filter_map(|(index, factor)| {
            Some(format!("{} = {}", factor.title, factor.levels.get(*level(arm, index)?)?))
        });
        let named: Vec<String> = named.collect();
        let own = || arms.get(arm).map_or("?", |arm| arm.label.as_str()).to_string();
        if named.is_empty() { own() } else { named.join(", ") }
    };
    (label(one), label(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::sweep::{CellMean, Spread};
    use model::record::study::{Cell, Factor, FindGoal, SweepOrder};

    fn host_sweep(measurement: Measurement, repeats: u32) -> Sweep {
        let factor = |name: &str, title: &str, levels: [&str; 2]| Factor {
            name: name.to_string(),
            title: title.to_string(),
            levels: levels.map(str::to_string).to_vec(),
        };
        let cell = |levels: [usize; 2]| Cell { levels: levels.to_vec(), ..Cell::default() };
        Sweep {
            name: "near-and-far".to_string(),
            title: "A database near and far".to_string(),
            source: String::new(),
            factors: vec![
                factor("db.net.host", "Database's host", ["shared", "own"]),
                factor("param.database_over", "Database reached over", ["socket", "tcp"]),
            ],
            measurement,
            repeats,
            order: SweepOrder::Random,
            seed: 1,
            cells: vec![cell([0, 1]), cell([1, 1])],
            form: None,
            signals: Vec::new(),
            published: Vec::new(),
            differs: Vec::new(),
        }
    }

    fn windows(repeats: u32) -> Sweep {
        host_sweep(Measurement::Window { window_s: 30.0 }, repeats)
    }

    fn findings([low, high]: [f64; 2], difference: Difference) -> SweepFindings {
        let highest = CellMean { cell: 1, mean: high };
        let lowest = CellMean { cell: 0, mean: low };
        SweepFindings {
            measured: 2,
            range: Some(Range { highest, lowest, difference }),
            repeats: None,
            never_met: None,
            invalid_cells: 0,
        }
    }

    #[test]
    fn cells_are_called_by_the_titles_in_which_they_differ_and_not_told_apart_where_repeats_differ_too() {
        let repeats = Some(Spread { deviation_ratio: 0.00612, degrees: 2.0 });
        let of = |means, difference| {
            sweep(&windows(2), &[], &SweepFindings { repeats, ..findings(means, difference) })
        };
        assert_eq!(
            of([201.0, 281.0], Difference::Real),
            "2 of 2 cells have a result, measured 2 times each; throughput is highest, 281/s, with Database's host = \
             own, and lowest, 201/s, with Database's host = shared; repeats of a cell differ by 0.612 % (standard \
             deviation)"
        );
        let alike = of([280.0, 285.0], Difference::Chance);
        assert!(
            alike.contains(
                "; throughput lies between 280/s and 285/s: cells that are alike may differ by as much; "
            ),
            "{alike}"
        );
        assert!(!alike.contains("highest"), "{alike}");
    }

    #[test]
    fn cells_measured_once_and_cells_that_read_the_same_are_not_ranked() {
        let unknown = |means| findings(means, Difference::Unknown);
        assert_eq!(
            sweep(&windows(1), &[], &unknown([200.0, 280.0])),
            "2 of 2 cells have a result, measured once each; throughput lies between 200/s and 280/s: without a second \
             repeat nobody knows what of that is chance"
        );
        let lines = host_sweep(Measurement::LoadLine(FindGoal::default()), 1);
        let of_lines = sweep(&lines, &[], &unknown([200.0, 280.0]));
        let known = "; the load line lies between 200 and 280: each has an interval of its own, and no cell a second \
                     repeat";
        assert!(
            of_lines.ends_with(known),
            "what may be chance is known of a line without repeats: {of_lines}"
        );
        let alike = sweep(&windows(1), &[], &unknown([281.1, 281.2]));
        assert!(alike.ends_with("; throughput is 281/s in each"), "{alike}");
    }

    #[test]
    fn a_sweep_in_which_every_trial_missed_a_target_says_so_and_which_all_of_them_missed() {
        let missed = |targets: &[&str], invalid_cells| {
            let targets = targets.iter().map(|text| text.parse().expect("a target")).collect();
            let missed = SweepFindings {
                never_met: Some(targets),
                invalid_cells,
                ..findings([1.0, 2.0], Difference::Chance)
            };
            sweep(&windows(1), &[], &missed)
        };
        let both = missed(&["p95 < 2.00 s", "errors < 0.1%"], 0);
        assert!(both.ends_with("; every trial missed `p95 < 2.00 s` and `errors < 0.1%`"), "{both}");
        assert!(missed(&[], 0).ends_with("; every trial missed a target"), "{}", missed(&[], 0));
        let with_invalid = missed(&["p95 < 2.00 s"], 1);
        assert!(
            with_invalid.ends_with("; every trial missed `p95 < 2.00 s`; trials of 1 cell were not valid"),
            "{with_invalid}"
        );
        let one_met = sweep(&windows(1), &[], &findings([1.0, 2.0], Difference::Chance));
        assert!(!one_met.contains("missed"), "{one_met}");
    }

    #[test]
    fn cells_that_only_averages_would_pass_are_named_up_to_six_of_them() {
        assert_eq!(by_average(true, &[]), None);
        let one = by_average(false, &["users = 50"]);
        assert_eq!(
            one.as_deref(),
            Some("By the average, as some papers judge, this cell would fail: users = 50.")
        );
        let many = by_average(true, &["a", "b", "c", "d", "e", "f", "g", "h"]);
        assert_eq!(
            many.as_deref(),
            Some(
                "By the average, as some papers judge, these cells would pass: a; b; c; d; e; f; and 2 more."
            )
        );
    }
}
