//! Many studies, a line each.

use model::record::Outcome;
use model::units;
use store::StudySummary;

use crate::terminal::table::{Align, Table, shorten};
use model::outside::one_line as plain;

/// The studies as a table for a terminal of `width` columns, in the order given.
pub fn list(studies: &[StudySummary], width: usize) -> String {
    if studies.is_empty() {
        return "There are no studies yet.\n".to_string();
    }
    let heading =
        [("study", Align::Left), ("state", Align::Left), ("trials", Align::Right), ("took", Align::Right)];
    let cells = |study: &StudySummary| {
        vec![
            plain(&study.id),
            state(study).to_string(),
            study.trials.to_string(),
            units::show_seconds(study.spent_s.round()),
        ]
    };
    // An id that is cut off can't be copied, so the answer gives way.
    let widest = |column: usize, title: &str| {
        let words = studies.iter().map(|study| cells(study)[column].chars().count());
        words.chain([title.chars().count()]).max().unwrap_or(0)
    };
    let taken: usize = heading.iter().enumerate().map(|(at, (title, _))| widest(at, title) + 2).sum();
    let room = width.saturating_sub(taken).max("answer".len());
    let mut table = Table::new(&[&heading[..], &[("answer", Align::Left)]].concat());
    for study in studies {
        let answer = shorten(&plain(&study.sentence), room);
        table.row(cells(study).into_iter().chain([answer]).collect());
    }
    table.lines(width)
}

fn state(study: &StudySummary) -> &'static str {
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
