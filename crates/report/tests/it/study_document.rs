//! What a page of docs/results has of a sweep. `UPDATE_GOLDEN=1 cargo test -p report document` writes the golden files anew.

use model::StudyRecord;
use report::study::{Made, document};
use testkit::studies::{CompareEnding, SweepShape, compare, sweep};

use crate::assert_golden;

const MADE: Made<'_> = Made { commit: Some("0123456789ab"), file: Some("../../catalogue/studies/one.toml") };

fn text(record: &StudyRecord, made: Made<'_>) -> String {
    document(record, made).expect("sweeps have a page").text
}

#[test]
fn every_shape_of_a_sweep_reads_as_its_golden_file() {
    for shape in SweepShape::ALL {
        let text = text(&sweep(shape), MADE);
        assert_golden(&format!("study/sweep-{}.md.txt", shape.word()), &text);
    }
}

#[test]
fn each_published_value_stands_beside_ours_with_both_ratios_and_what_follows() {
    let text = text(&sweep(SweepShape::Published), MADE);
    let row = text.lines().find(|line| line.starts_with("| 3.3 GB, New Flash |")).expect("a row");
    let cells: Vec<&str> = row.split(" | ").collect();
    assert_eq!((cells.len(), cells[1], cells[4]), (8, "199.1", "0.458"), "{row}");
    assert!(cells[3].contains(" to ") && cells[7].starts_with("as published"), "{row}");
    let alone = text.lines().find(|line| line.starts_with("| 500 MB, Haboob |")).expect("a row");
    assert!(alone.contains("| 324.9 | – | – |"), "a server that is no more has no figure of ours: {alone}");
    assert!(text.contains("- “all servers have similar throughput on the larger workload” – "), "{text}");
    assert!(text.contains("repeats of a cell differ by"), "{text}");
    assert!(!text.contains("Pentium"), "what differs is in the study's file: {text}");
    assert!(text.contains("[the study's file](../../catalogue/studies/one.toml)"), "{text}");
}

#[test]
fn trials_that_are_not_valid_are_counted_by_the_check_that_broke() {
    let text = text(&sweep(SweepShape::Users), Made::default());
    assert!(text.contains("Not valid: 1 of 19 trials, by the first check that broke: "), "{text}");
    assert!(text.contains("| 3 of 4 |"), "{text}");
    assert!(!text.contains("](") && text.contains("with Plimsoll 0.1.0, on 2026-11-21"), "{text}");
}

#[test]
fn a_study_that_has_not_come_to_its_end_says_so() {
    let text = text(&sweep(SweepShape::TwoFactors), MADE);
    assert!(text.contains("**Interrupted**: "), "{text}");
}

#[test]
fn only_sweeps_are_documents() {
    let compared = compare(CompareEnding::Faster);
    assert!(document(&compared, MADE).is_none());
    let title = document(&sweep(SweepShape::Users), MADE).map(|document| document.title);
    assert_eq!(title.as_deref(), Some("Sun 2008, table 3, with the DVD Store (Sun 2008)"));
}
