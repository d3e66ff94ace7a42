//! Many studies, a line each.

use model::record::Outcome;
use model::units;
use store::StudySummary;

use crate::terminal::table::{Align, Table};
use model::outside::one_line as plain;

/// The studies as a table for a terminal of `width` columns, in the order given.
pub fn list(studies: &[StudySummary], width: usize) -> String {
    if studies.is_empty() {
        return "There are no studies yet.\n".to_string();
    }
    let mut table = Table::new(&[
        ("study", Align::Left),
        ("state", Align::Left),
        ("trials", Align::Right),
        ("took", Align::Right),
        ("answer", Align::Left),
    ]);
    for study in studies {
        table.row(vec![
            plain(&study.id),
            state(study).to_string(),
            study.trials.to_string(),
            units::show_seconds(study.spent_s.round()),
            plain(&study.sentence),
        ]);
    }
    table.lines_cut_last(width)
}

/// How far it has come, in a word.
pub fn state(study: &StudySummary) -> &'static str {
    match study.outcome {
        None => "unreadable",
        Some(Outcome::Unfinished) if study.under_way => "under way",
        Some(Outcome::Unfinished) => "unfinished",
        Some(Outcome::Interrupted) => "interrupted",
        Some(Outcome::Aborted) => "aborted",
        Some(Outcome::Completed) => "done",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(outcome: Option<Outcome>, under_way: bool) -> StudySummary {
        StudySummary {
            id: "20261121-101500-find-dvdstore-7f3a".into(),
            started: "2026-11-21T10:15:00Z".into(),
            verb: "find".into(),
            kit: "dvdstore@1".into(),
            arms: vec!["apache-prefork-modphp-mariadb".into()],
            size: "small".into(),
            trials: 12,
            spent_s: 412.3,
            outcome,
            under_way,
            sentence: "load line 87 users [83, 90] (90 % interval), held by p95 of Browse".into(),
            bytes: 12_000_000,
            notes: store::Notes::default(),
        }
    }

    #[test]
    fn a_study_is_a_line_with_its_state_and_its_answer_and_the_id_is_never_cut() {
        let table = [
            (study(Some(Outcome::Completed), false), "done"),
            (study(Some(Outcome::Unfinished), true), "under way"),
            (study(Some(Outcome::Unfinished), false), "unfinished"),
            (study(Some(Outcome::Interrupted), false), "interrupted"),
            (study(None, false), "unreadable"),
        ];
        for (study, state) in table {
            let text = list(std::slice::from_ref(&study), 100);
            assert!(text.contains(&study.id) && text.contains(state), "{text}");
            assert!(text.contains("load line 87 users") && text.contains("12"), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        }
        assert_eq!(list(&[], 80), "There are no studies yet.\n");
    }
}
