//! What a terminal shows of a study. `UPDATE_GOLDEN=1 cargo test -p report study` writes the golden files anew.

use std::path::Path;

use model::StudyRecord;
use report::study_terminal as terminal;
use testkit::studies::{CompareEnding, FindEnding, compare, find};

use crate::{assert_golden, studies, with_few_samples};

fn text(record: &StudyRecord, width: usize, colour: bool) -> String {
    terminal(record, Path::new("/srv/plimsoll/studies/one"), width, colour)
}

#[test]
fn every_kind_of_study_reads_as_its_golden_file_and_fits_into_80_columns() {
    for (name, record) in studies() {
        let text = text(&record, 80, false);
        assert_golden(&format!("study/{name}.txt"), &text);
        for line in text.lines() {
            let columns = line.chars().count();
            assert!(
                columns <= 80 || line.split(' ').any(|word| word.len() > 60),
                "{name}, {columns} columns: {line}"
            );
        }
    }
}

#[test]
fn colour_adds_nothing_but_colour_to_a_study() {
    for (name, record) in studies() {
        let mut stripped = text(&record, 100, true);
        for sequence in report::PAINT {
            stripped = stripped.replace(sequence, "");
        }
        assert_eq!(stripped, text(&record, 100, false), "{name}");
    }
}

#[test]
fn the_answer_is_the_first_line() {
    let found = text(&find(FindEnding::LoadLine), 80, false);
    assert!(
        found.starts_with("LOAD LINE  410 users [407, 414] (90 % interval), held by p95 of Browse"),
        "{found}"
    );
    let compared = text(&compare(CompareEnding::GateFailed), 80, false);
    assert!(compared.starts_with("GATE FAILED  B is slower by "), "{compared}");
}

#[test]
fn a_trial_that_missed_nothing_with_too_few_samples_is_not_called_invalid() {
    let record = with_few_samples();
    let text = text(&record, 80, false);
    let row = text.lines().find(|line| line.starts_with("  4  ")).expect("a row of the fourth trial");
    assert!(row.ends_with("passed, few"), "{row}");
    assert!(text.contains("  △ passed, few samples  × not valid"), "{text}");
    assert_eq!(text.matches('△').count(), 2, "the legend and the trial's point: {text}");
    let row = text.lines().find(|line| line.starts_with("  1  ")).expect("a row of the warm-up");
    assert!(row.ends_with("not used"), "{row}");
    let row = text.lines().find(|line| line.starts_with("  8  ")).expect("a row of the eighth trial");
    assert!(row.ends_with("missed"), "its target had its samples, another was short of them: {row}");
    assert!(text.contains("Not valid: 1 of 16 trials"), "that of number 10: {text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn names_from_a_hostile_study_do_not_steer_the_terminal() {
    let mut record = find(FindEnding::LoadLine);
    record.sentence = "\u{1b}[2J owned".into();
    record.setup.kit_title = "kit\u{9b}\u{202e}".into();
    for clause in record
        .trials
        .iter_mut()
        .filter_map(|trial| trial.measured.as_mut())
        .flat_map(|seen| &mut seen.targets)
    {
        clause.target.operation = Some("\u{1b}]0;Browse".to_string());
    }
    let text = text(&record, 80, false);
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
}
