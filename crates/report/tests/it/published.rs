//! Published figures beside ours: only what can be said is said.

use std::path::Path;

use model::StudyRecord;
use model::record::study::{
    Agreement, ClaimOrder, Fault, Figure, PublishedFigure, Question, Sweep, TierSignal,
};
use report::study::csv;
use report::{study_html as html, study_terminal as terminal};
use testkit::studies::{SweepShape, sweep};

use crate::study_web::charts;

fn sample(change: impl FnOnce(&mut StudyRecord)) -> StudyRecord {
    let mut record = sweep(SweepShape::Published);
    change(&mut record);
    if let Question::Sweep(sweep) = &mut record.question {
        analysis::published::beside(sweep, &record.trials);
    }
    record
}

fn sweep_of(record: &StudyRecord) -> &Sweep {
    let Question::Sweep(sweep) = &record.question else { panic!("it is a sweep") };
    sweep
}

/// The terminal's text in one line.
fn text(record: &StudyRecord) -> String {
    let text = terminal(record, Path::new("/srv/plimsoll/studies/one"), 100, false);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn page(record: &StudyRecord) -> String {
    html(record, Path::new("/srv/plimsoll/studies/one"), |_| None)
}

#[test]
fn each_published_value_stands_beside_ours_also_where_we_have_none() {
    let record = sample(|_| {});
    let (text, page) = (text(&record), page(&record));
    for value in ["324.9", "434.3", "1284.7", "177.4", "199.1", "661.8", "3.68"] {
        let number: f64 = value.parse().expect("a number");
        let shown = sweep_of(&record).published.iter().flat_map(|table| &table.rows);
        assert_eq!(shown.filter(|row| row.value == number).count(), 1, "{value}");
    }
    assert!(text.contains("500 MB, Haboob 324.9 – – 0.748 – –"), "{text}");
    assert!(text.contains("Ratios are to 500 MB, Apache, on either side."), "{text}");
    assert!(
        page.contains("<th scope=\"row\">500 MB, Haboob</th><td>1</td><td>324.9</td><td>–</td>"),
        "{page}"
    );
    assert!(text.contains("Apache was 1.3.27.") && page.contains("Apache was 1.3.27."));
    assert!(text.contains("apache (Apache/2.4.62)") && text.contains("This machine: "), "{text}");
}

#[test]
fn pairs_that_lie_apart_are_said_to_agree_or_not_and_the_others_are_not_distinguishable() {
    let record = sample(|_| {});
    let table = &sweep_of(&record).published[0];
    let says = |first: usize, second: usize| {
        let pair = table.pairs.iter().find(|pair| (pair.first, pair.second) == (first, second));
        pair.expect("both were measured").says
    };
    assert_eq!(says(1, 2), Agreement::Agrees);
    assert_eq!(
        says(3, 4),
        Agreement::Contradicts,
        "print has New Flash above Apache at 3.3 GB, we have it below"
    );
    let text = text(&record);
    assert!(
        text.contains("Order: of 6 pairs 5 as published, 1 the other way round, 0 not distinguishable"),
        "{text}"
    );
    assert!(text.contains("The other way round: 3.3 GB, New Flash against 3.3 GB, Apache is"), "{text}");
    assert!(
        text.contains("\"all servers have similar throughput on the larger workload\" Contradicted by"),
        "{text}"
    );
}

#[test]
fn one_trial_of_each_cell_says_nothing_about_order() {
    let record = sample(|record| record.trials.retain(|trial| trial.block == 0));
    let text = text(&record);
    assert!(text.contains("Order: too few valid trials to know how far repeats differ"), "{text}");
    assert!(!text.contains("as published,"), "{text}");
    assert!(!text.contains("Contradicted"), "{text}");
}

/// The sample with that order of its claim's cells, the last of them without a trial.
fn without_the_last_cell(order: ClaimOrder, value: f64) -> String {
    let record = sample(|record| {
        record.trials.retain(|trial| trial.arm != 5);
        for trial in record.trials.iter_mut().filter(|trial| trial.arm == 3) {
            trial.measured.iter_mut().for_each(|seen| seen.metrics[0].value *= value);
        }
        let Question::Sweep(sweep) = &mut record.question else { panic!("it is a sweep") };
        sweep.published[0].claims[0].order = order;
    });
    text(&record)
}

#[test]
fn a_claim_of_which_a_cell_is_missing_is_not_confirmed_and_the_cell_is_named() {
    for (order, times) in [(ClaimOrder::Rises, 5.0), (ClaimOrder::Same, 1.026)] {
        let text = without_the_last_cell(order, times);
        assert!(!text.contains("Confirmed by") && text.contains("was measured: "), "{order:?}: {text}");
        assert!(text.contains("without Server nginx, of which nothing could be compared"), "{text}");
    }
}

#[test]
fn an_overloaded_cell_says_so_and_its_figures_stand_beside_the_paper() {
    let record = sample(|record| {
        let mark = Fault { check: model::Check::Cycle, sentence: "sessions outlasted their cycles".into() };
        record.trials.iter_mut().filter(|trial| trial.arm == 0).for_each(|trial| {
            trial.overloaded = vec![mark.clone()];
        });
    });
    assert!(sweep_of(&record).published[0].rows[1].ours.is_some_and(|ours| ours.repeats == 3));
    for shown in [text(&record), page(&record)] {
        assert!(shown.contains("Overloaded, so that the stack got less load"), "{shown}");
    }
}

#[test]
fn a_table_of_which_nothing_was_measured_is_shown_without_a_chart() {
    let record = sample(|record| record.trials.clear());
    let (text, page) = (text(&record), page(&record));
    assert!(text.contains("No cell of this table has a figure of ours."), "{text}");
    assert!(page.contains("id=\"published\"") && !page.contains("published and measured, as ratios"));
}

#[test]
fn the_chart_has_a_mark_for_each_value_of_either_side() {
    let charts = charts(&page(&sample(|_| {})));
    let chart = charts
        .iter()
        .find(|chart| chart["label"].as_str().is_some_and(|one| one.starts_with("Throughput on Linux")));
    let marks = chart.expect("a chart")["marks"].as_array().expect("a list");
    let of = |ink: &'static str| marks.iter().filter(move |mark| mark["ink"] == ink);
    assert_eq!((of("muted").count(), of("ink-1").count()), (5, 4));
    let intervals = of("ink-1").filter(|mark| mark["interval"].is_array()).count();
    assert_eq!(intervals, 3, "the base has no interval");
}

#[test]
fn the_csv_has_our_figure_and_the_published_one_of_the_cell() {
    let record = sample(|_| {});
    let text = csv(&record);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let heading = reader.headers().expect("a heading").clone();
    let column =
        |title: &str| heading.iter().position(|one| one == title).unwrap_or_else(|| panic!("no {title}"));
    let (ours, published, p95) = (column("mbit_per_s"), column("published_mbit_per_s"), column("p95"));
    for (row, trial) in reader.records().zip(&record.trials) {
        let row = row.expect("every row has the heading's length");
        let seen = trial.measured.as_ref().expect("it was measured");
        assert_eq!(row[ours].parse::<f64>().ok(), Some(seen.metrics[0].value));
        let expected = [Some(434.3), Some(177.4), None, None, Some(1284.7), Some(199.1)][trial.arm];
        assert_eq!(row[published].parse::<f64>().ok(), expected, "cell {}", trial.arm);
        let p95_s = seen.figure("p95", None).expect("there is one").value;
        assert_eq!(row[p95].parse::<f64>().ok(), Some(p95_s * 1e3), "in the table's unit");
    }
}

/// The first table beside a signal, which the trials of two of its four cells have.
fn with_a_signal() -> StudyRecord {
    sample(|record| {
        for trial in record.trials.iter_mut().filter(|trial| trial.arm < 2) {
            let signal = Figure {
                name: "web.calls.blocks".into(),
                operation: None,
                value: f64::from(trial.arm as u32) * 114.0,
                log_se: None,
                degrees: None,
            };
            trial.measured.iter_mut().for_each(|seen| seen.signals = vec![signal.clone()]);
        }
        let Question::Sweep(sweep) = &mut record.question else { panic!("it is a sweep") };
        let signal = |name: &str, unit: &str| TierSignal { name: name.into(), unit: unit.into() };
        sweep.signals = vec![signal("web.calls.blocks", "1/s"), signal("web.calls.stall_ratio", "ratio")];
        let table = &mut sweep.published[0];
        table.of = "signal:web.calls.blocks".into();
        table.figure = PublishedFigure::of_signal("web.calls.blocks");
        table.unit = "1/s".into();
    })
}

#[test]
fn a_signal_that_runs_do_not_have_is_missing_in_their_cells_and_named() {
    let record = with_a_signal();
    let rows = &sweep_of(&record).published[0].rows;
    let ours = rows.iter().map(|row| row.ours.map(|ours| ours.value.round())).collect::<Vec<_>>();
    assert_eq!(ours, [None, None, None, Some(114.0), None]);
    let (text, page) = (text(&record), page(&record).replace('\u{202f}', " "));
    for shown in [&text, &page] {
        let absent =
            "There is no signal:web.calls.blocks in the runs of 500 MB, New Flash; 3.3 GB, New Flash.";
        assert!(shown.contains(absent), "{shown}");
        let zero = "Our signal:web.calls.blocks is 0, of which there is no ratio, for 500 MB, Apache.";
        assert!(shown.contains(zero), "{shown}");
    }
    assert!(text.contains("3.3 GB, Apache 177.4 114"), "{text}");
}

#[test]
fn a_sweeps_own_signals_are_a_table_of_its_cells_and_columns_of_the_csv() {
    let record = with_a_signal();
    let (text, page) = (text(&record), page(&record).replace('\u{202f}', " "));
    let cell = "stack=apache-prefork size=3.3gb";
    assert!(text.contains("web.calls.blocks web.calls.stall_ratio"), "{text}");
    assert!(text.contains(&format!("{cell} 114/s –")), "{text}");
    assert!(page.contains("<th>web.calls.blocks</th>") && page.contains("<td>114&#x2f;s</td>"), "{page}");
    let csv = csv(&record);
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let heading = reader.headers().expect("a heading").clone();
    let at =
        |title: &str| heading.iter().position(|one| one == title).unwrap_or_else(|| panic!("no {title}"));
    let (own, beside) = (at("web.calls.blocks"), at("signal:web.calls.blocks"));
    for (row, trial) in reader.records().zip(&record.trials) {
        let row = row.expect("every row has the heading's length");
        let expected = ["0", "114", "", "", "", ""][trial.arm];
        assert_eq!((&row[own], &row[beside]), (expected, expected), "cell {}", trial.arm);
    }
}

#[test]
fn a_table_of_which_nothing_of_ours_is_stands_alone() {
    let record = sample(|record| {
        let Question::Sweep(sweep) = &mut record.question else { panic!("it is a sweep") };
        let table = &mut sweep.published[0];
        (table.of, table.figure, table.unit) = (String::new(), PublishedFigure::default(), "%".into());
        table.claims.clear();
        table.rows.iter_mut().for_each(|row| row.cell = None);
    });
    let (text, page) = (text(&record), page(&record));
    assert!(text.contains("500 MB, Haboob 324.9 – – – – –"), "{text}");
    for shown in [&text, &page] {
        assert!(shown.contains("Nothing of ours is of this kind."), "{shown}");
        assert!(!shown.contains("have a figure of ours"), "{shown}");
    }
    assert!(csv(&record).lines().next().is_some_and(|heading| !heading.contains(",,")), "no column for it");
}
