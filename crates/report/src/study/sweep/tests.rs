//! What a sweep says of guests, and of verdicts by averages.

use std::path::Path;

use model::StudyRecord;
use model::record::study::{Question, Sweep, Trial};
use testkit::studies::{SweepShape, sweep};

use super::charts;
use crate::study::chart::Chart;
use crate::study::page::{Content, Part};
use crate::study::sweep::cells;

/// One stack, one guest and two by two numbers of users, three times each; in every trial p95 has a limit of 300 ms.
fn of_guests() -> StudyRecord {
    let mut record = sweep(SweepShape::Published);
    let Question::Sweep(asked) = &mut record.question else { panic!("it is a sweep") };
    let levels = [["bare", "guests-1x1", "guests-2-halves"].as_slice(), &["16", "50"]];
    let names = [("topology", "Guests"), ("users", "Users")];
    for ((factor, (name, title)), levels) in asked.factors.iter_mut().zip(names).zip(levels) {
        (factor.name, factor.title) = (name.into(), title.into());
        factor.levels = levels.iter().map(|level| level.to_string()).collect();
    }
    (asked.published, asked.differs) = (Vec::new(), Vec::new());
    for (arm, cell) in record.arms.iter_mut().zip(&asked.cells) {
        arm.label =
            format!("topology = {}, users = {}", levels[0][cell.levels[0]], levels[1][cell.levels[1]]);
    }
    for (trial, apart_ratio) in of_arm(&mut record, 4).zip([0.02, 0.3, 0.06]) {
        trial.measured.as_mut().expect("it was measured").guest_spread_ratio = Some(apart_ratio);
    }
    record
}

fn of_arm(record: &mut StudyRecord, arm: usize) -> impl Iterator<Item = &mut Trial> {
    record.trials.iter_mut().filter(move |trial| trial.arm == arm)
}

/// The first target, of a percentile, was not met in the trial; the average of the same times was so long.
fn miss(trial: &mut Trial, average_s: f64) {
    let outcome = &mut trial.measured.as_mut().expect("it was measured").targets[0];
    (outcome.observed, outcome.pass, outcome.average_s) = (Some(0.5), false, Some(average_s));
}

/// The terminal's text and the page, each in one line.
fn shown(record: &StudyRecord) -> [String; 2] {
    let directory = Path::new("/srv/plimsoll/studies/one");
    let text = crate::study_terminal(record, directory, 80, false);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let page = crate::study_html(record, directory, |_| None);
    [text, page.replace('\u{202f}', " ")].map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn sweep_of(record: &StudyRecord) -> &Sweep {
    let Question::Sweep(sweep) = &record.question else { panic!("it is a sweep") };
    sweep
}

fn charts_of(record: &StudyRecord) -> Vec<Chart> {
    let sweep = sweep_of(record);
    let parts = charts::parts(record, sweep, &cells::of(record, sweep));
    let chart = |part: Part| match part.content {
        Content::Chart(chart) => Some(*chart),
        _ => None,
    };
    parts.into_iter().filter_map(chart).collect()
}

#[test]
fn cells_with_several_guests_say_how_far_these_were_apart_in_the_middle_one_of_the_repeats() {
    let [text, page] = shown(&of_guests());
    assert!(text.contains("apart valid bare 16 "), "beside the maps, which say nothing of it: {text}");
    let rows: Vec<&str> = text.split("guests-2-halves 16 ").skip(1).collect();
    assert!(rows.iter().any(|row| row.contains("0 % 6 % 3 of 3 guests-2-halves 50")), "{text}");
    assert!(page.contains("<th>Guests apart</th>") && page.contains("<td>6 %</td>"), "{page}");
    for shown in [text, page] {
        assert!(shown.contains("how much more a user of the fastest guest got done"), "{shown}");
    }
    let [text, page] = shown(&sweep(SweepShape::Users));
    assert!(!text.contains(" apart ") && !page.contains("Guests apart"), "there are no guests");
}

#[test]
fn cells_that_averages_would_pass_and_percentiles_do_not_are_named() {
    let mut record = of_guests();
    let agreed = shown(&record);
    assert!(agreed.iter().all(|shown| !shown.contains("By the average")), "both say the same of each cell");
    assert!(agreed[1].contains("<th>Targets</th><th>By averages</th>"), "{}", agreed[1]);
    of_arm(&mut record, 5).for_each(|trial| miss(trial, 0.1));
    of_arm(&mut record, 3).take(1).for_each(|trial| miss(trial, 0.1));
    of_arm(&mut record, 1).for_each(|trial| miss(trial, 0.4));
    let [text, page] = shown(&record);
    let sentence = "By the average, as some papers judge, these cells would pass: topology = guests-1x1, users = 50; \
                    topology = guests-2-halves, users = 50.";
    assert!(text.contains(sentence), "{text}");
    assert!(page.contains(sentence), "{page}");
    let verdict = |of: &str, by_average: &str| {
        format!("<td><span class=\"missed\">{of}</span></td><td><span class=\"{by_average}")
    };
    assert!(page.contains(&verdict("missed", "met\">met")), "the two halves: {page}");
    assert!(page.contains(&verdict("2 of 3 met", "met\">met")), "the one guest: {page}");
    assert!(page.contains(&verdict("missed", "missed\">missed")), "bare, where both agree: {page}");
}

#[test]
fn a_cell_that_only_averages_would_fail_is_named_too() {
    let mut record = of_guests();
    for trial in of_arm(&mut record, 0) {
        trial.measured.as_mut().expect("it was measured").targets[0].average_s = Some(0.31);
    }
    let [text, _] = shown(&record);
    let sentence = "By the average, as some papers judge, this cell would fail: topology = bare, users = 16.";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn nothing_is_said_of_averages_where_no_target_is_a_percentile() {
    let mut record = of_guests();
    let seen = record.trials.iter_mut().filter_map(|trial| trial.measured.as_mut());
    seen.for_each(|seen| seen.targets.retain(|outcome| !outcome.target.measure.is_of_the_tail()));
    assert!(shown(&record).iter().all(|shown| !shown.contains("verages</th>")));
    let lines = shown(&sweep(SweepShape::LoadLines));
    assert!(lines.iter().all(|shown| !shown.contains("By the average") && !shown.contains("verages</th>")));
}

#[test]
fn topologies_are_drawn_with_the_interval_of_each_repeat_and_a_colour_for_each_number_of_users() {
    let charts = charts_of(&of_guests());
    let [chart] = charts.as_slice() else { panic!("throughput alone, beside the maps: {}", charts.len()) };
    let names: Vec<&str> = chart.legend.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((chart.title.as_str(), names.as_slice()), ("Throughput", ["Users 16", "Users 50"].as_slice()));
    assert_eq!((chart.marks.len(), chart.lines.len()), (18, 0), "names have no order");
    assert!(chart.marks.iter().all(|mark| mark.interval.is_some()));
    let mark = chart.marks.iter().find(|mark| mark.title.starts_with("guests-2-halves, Users 50: "));
    let mark = mark.expect("it is there");
    assert!(mark.x > 2.0 && mark.x < 2.2 && mark.ink == chart.legend[1].ink, "beside its level: {}", mark.x);
}

#[test]
fn cells_that_all_have_another_topology_are_charts_against_it_whatever_else_they_differ_in() {
    let mut record = of_guests();
    let Question::Sweep(asked) = &mut record.question else { panic!("it is a sweep") };
    asked.cells.retain(|cell| [[0, 0], [1, 1], [2, 1]].iter().any(|levels| cell.levels == levels));
    let arms = [0, 3, 5];
    record.arms = arms.iter().map(|arm| record.arms[*arm].clone()).collect();
    record.trials.retain(|trial| arms.contains(&trial.arm));
    for trial in &mut record.trials {
        trial.arm = arms.iter().position(|arm| *arm == trial.arm).expect("it was kept");
    }
    let charts = charts_of(&record);
    let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
    assert_eq!(
        titles,
        ["Throughput", "Response time, p95"],
        "as with one factor, and no maps with a cell each"
    );
    assert!(charts.iter().all(|chart| chart.marks.len() == 9 && chart.legend.is_empty()));
}
