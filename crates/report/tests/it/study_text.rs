//! What a terminal shows of a study. `UPDATE_GOLDEN=1 cargo test -p report study` writes the golden files anew.

use std::path::Path;

use report::study::terminal;
use testkit::sample::study::{FindEnding, find};

use crate::assert_golden;

fn text(record: &model::StudyRecord, colour: bool) -> String {
    terminal(record, Path::new("/srv/plimsoll/studies/one"), 80, colour)
}

#[test]
fn every_ending_of_a_find_reads_as_its_golden_file() {
    for ending in FindEnding::ALL {
        assert_golden(&format!("study/find-{}.txt", ending.word()), &text(&find(ending), false));
    }
}

#[test]
fn the_answer_is_the_first_line() {
    let text = text(&find(FindEnding::LoadLine), false);
    assert!(
        text.starts_with("LOAD LINE  412 users [398, 421] (90 % interval), held by Browse p95"),
        "{text}"
    );
}
