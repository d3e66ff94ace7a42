//! Which cells are drawn together, with which published percentiles.

use std::path::Path;

use model::StudyRecord;
use model::record::study::{Bound, PublishedFigure, Question, Sweep};
use testkit::studies::{SweepShape, sweep};

use super::parts;
use crate::study::chart::{Chart, Mark, Shape, Style};
use crate::study::page::{Content, Part};
use crate::study::sweep::cells;

fn sweep_of(record: &StudyRecord) -> &Sweep {
    let Question::Sweep(sweep) = &record.question else { panic!("it is a sweep") };
    sweep
}

fn sweep_mut(record: &mut StudyRecord) -> &mut Sweep {
    let Question::Sweep(sweep) = &mut record.question else { panic!("it is a sweep") };
    sweep
}

fn parts_of(record: &StudyRecord) -> Vec<Part> {
    parts(sweep_of(record), &cells::of(record, sweep_of(record)))
}

fn charts(record: &StudyRecord) -> Vec<Chart> {
    let chart = |part: Part| match part.content {
        Content::Chart(chart) => Some(*chart),
        _ => None,
    };
    parts_of(record).into_iter().filter_map(chart).collect()
}

/// The title of each picture with the names of its lines.
fn pictures(record: &StudyRecord) -> Vec<String> {
    let names = |chart: &Chart| chart.lines.iter().map(|line| line.name.clone()).collect::<Vec<_>>();
    charts(record).iter().map(|chart| format!("{}: {}", chart.title, names(chart).join(", "))).collect()
}

fn published_marks(record: &StudyRecord) -> Vec<Mark> {
    let marks = charts(record).into_iter().flat_map(|chart| chart.marks);
    marks.filter(|mark| mark.style == Style::Few).collect()
}

#[test]
fn cells_that_differ_only_in_their_stack_are_drawn_together() {
    let servers = "apache-prefork, lighttpd, nginx";
    assert_eq!(
        pictures(&sweep(SweepShape::Published)),
        [format!("Data set 500mb: {servers}"), format!("Data set 3.3gb: {servers}")]
    );
    let charts = charts(&sweep(SweepShape::Published));
    let inks = |chart: &Chart| chart.lines.iter().map(|line| line.ink.clone()).collect::<Vec<_>>();
    assert_eq!(inks(&charts[0]), ["series-1", "series-2", "series-3"]);
    assert_eq!(inks(&charts[0]), inks(&charts[1]), "a server has one colour");
}

#[test]
fn without_a_stack_cells_are_compared_by_what_tells_them_or_by_the_fastest_factor() {
    let title = &sweep_of(&sweep(SweepShape::Users)).title.clone();
    let users = ["50", "100", "200", "300", "400", "450"].map(|users| format!("Users {users}")).join(", ");
    assert_eq!(pictures(&sweep(SweepShape::Users)), [format!("{title}: {users}")]);
    let three = pictures(&sweep(SweepShape::ThreeFactors));
    assert_eq!(three.len(), 4, "two by two: {three:?}");
    assert_eq!(three[1], "Web processes 1, PHP processes 32: Users 100, Users 200, Users 300, Users 400");
}

#[test]
fn a_line_rises_from_the_fastest_operations_to_the_slowest_and_its_marks_are_the_tables_percentiles() {
    let record = sweep(SweepShape::Stacks);
    let charts = charts(&record);
    let line = &charts[0].lines[0];
    assert!(line.points.len() > 95 && line.points.len() <= 103, "{}", line.points.len());
    assert!(line.points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
    let titles: Vec<&str> = charts[0].marks.iter().take(7).map(|mark| mark.title.as_str()).collect();
    assert!(titles[0].starts_with("apache-prefork-modphp-mariadb: 5 % within "), "{titles:?}");
    let text = crate::study_terminal(&record, Path::new("/srv/plimsoll/studies/one"), 80, false);
    for title in titles {
        let time = title.split("within ").nth(1).expect("it has a time");
        assert!(text.contains(time), "{title} is not in the table:\n{text}");
    }
}

#[test]
fn published_percentiles_of_all_operations_are_hollow_marks_in_their_lines_colour() {
    let mut record = sweep(SweepShape::Published);
    let marks = published_marks(&record);
    let seen: Vec<_> = marks.iter().map(|mark| (mark.title.as_str(), mark.y, mark.ink.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("Apache, published: 95 % within 662 ms", 0.95, "series-1"),
            ("New Flash, published: 95 % within 3.68 ms", 0.95, "series-3")
        ]
    );
    assert!((marks[1].x - 0.00368).abs() < 1e-12 && marks[1].shape == Shape::Diamond, "in seconds");
    let times = sweep_mut(&mut record).published.last_mut().expect("a table");
    let metric = |percent| PublishedFigure {
        name: "fast".into(),
        metric: true,
        percent,
        times: 1e3,
        ..Default::default()
    };
    times.figure = metric(Some(5.0));
    assert_eq!(published_marks(&record)[0].y, 0.05, "as the metric is declared");
    sweep_mut(&mut record).published[1].figure = metric(None);
    assert_eq!(published_marks(&record).len(), 0, "another metric is no percentile of all operations");
}

#[test]
fn what_is_no_point_of_a_distribution_is_not_drawn_as_one() {
    let without = |change: &dyn Fn(&mut Sweep)| {
        let mut record = sweep(SweepShape::Published);
        change(sweep_mut(&mut record));
        published_marks(&record).len()
    };
    assert_eq!(without(&|_| {}), 2);
    assert_eq!(without(&|sweep| sweep.published[1].relative = true), 0, "ratios");
    assert_eq!(
        without(&|sweep| sweep.published[1].rows[0].bound = Some(Bound::Most)),
        1,
        "the end of a range"
    );
    assert_eq!(without(&|sweep| sweep.published[1].rows[0].cell = None), 1, "a server that is not here");
    let figure = |sweep: &mut Sweep| sweep.published[1].figure.operation = Some("Browse".into());
    assert_eq!(without(&figure), 0, "one operation's");
}

#[test]
fn more_cells_than_can_be_told_apart_are_in_the_table_alone() {
    let mut record = sweep(SweepShape::Users);
    let cells = sweep_mut(&mut record).cells.len();
    for _ in 0..2 {
        let (arms, trials) = (record.arms.clone(), record.trials.clone());
        let before = arms.len();
        record.arms.extend(arms.into_iter().take(cells));
        record.trials.extend(
            trials
                .into_iter()
                .filter(|trial| trial.arm < cells)
                .map(|trial| model::record::study::Trial { arm: trial.arm + before, ..trial }),
        );
        let sweep = sweep_mut(&mut record);
        for at in 0..cells {
            let level = sweep.factors[0].levels.len();
            sweep.factors[0].levels.push((1000 + level).to_string());
            sweep.cells.push(model::record::study::Cell { levels: vec![level], ..sweep.cells[at].clone() });
        }
    }
    assert_eq!(charts(&record).len(), 0, "18 lines");
    let page = crate::study_html(&record, Path::new("/srv/plimsoll/studies/one"), |_| None);
    assert!(page.contains("The 18 cells are too many for one picture; the table has them."), "{page}");
    assert!(!page.contains("<i class=\"dot solid\""), "no mark is explained that isn't there");
}

#[test]
fn a_study_that_kept_no_response_times_has_its_page_without_them() {
    let mut record = sweep(SweepShape::Published);
    record
        .trials
        .iter_mut()
        .filter_map(|trial| trial.measured.as_mut())
        .for_each(|seen| seen.response = None);
    assert!(parts_of(&record).is_empty());
    let page = crate::study_html(&record, Path::new("/srv/plimsoll/studies/one"), |_| None);
    assert!(!page.contains("How response times are distributed") && page.contains("id=\"published\""));
    assert!(parts_of(&sweep(SweepShape::LoadLines)).is_empty(), "a search has trials at many loads");
}

#[test]
fn a_trial_that_does_not_count_is_in_no_line() {
    let mut record = sweep(SweepShape::Users);
    let before = charts(&record)[0].lines[0].points.clone();
    let invalid = record.trials.iter_mut().find(|trial| !trial.valid()).expect("there is one");
    let seen = invalid.measured.as_mut().and_then(|seen| seen.response.as_mut()).expect("it was measured");
    seen.times_s.iter_mut().for_each(|time| *time *= 100.0);
    assert_eq!(charts(&record)[0].lines[0].points, before);
}
