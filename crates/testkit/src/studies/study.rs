//! What every study has, whatever it asks.

use analysis::ceiling_check;
use model::catalogue::recipe::Recipe;
use model::record::study::{Arm, Ceiling, Question, STUDY_FORMAT, StudyRecord, Trial};
use model::record::{Outcome, Step};
use wording::Asking;

use super::lab::spent_s;
use crate::recorded::Specimen;

/// The parts of a study that its kind decides.
pub(super) struct Parts {
    /// A word for the study's id.
    pub(super) name: &'static str,
    pub(super) question: Question,
    pub(super) arms: Vec<Arm>,
    pub(super) trials: Vec<Trial>,
    pub(super) outcome: Outcome,
    pub(super) sentence: String,
    pub(super) command: Vec<&'static str>,
}

/// A study of these parts with everything else that a study has; the machine and the stack are those of a recorded run.
pub(super) fn record(parts: Parts) -> StudyRecord {
    let Parts { name, question, arms, trials, outcome, sentence, command } = parts;
    let requests_per_s = 41_230.0;
    let mut setup = Specimen::Passed.open().record.setup;
    // They are kept with each trial's run.
    setup.tiers.iter_mut().for_each(|tier| tier.files.clear());
    StudyRecord {
        format: STUDY_FORMAT,
        id: format!("20261121-101500-{}-{name}", question.verb()),
        started: "2026-11-21T10:15:00Z".into(),
        plimsoll: "0.1.0".into(),
        command: command.into_iter().map(str::to_string).collect(),
        outcome,
        sentence,
        question,
        arms,
        setup,
        ceiling: Some(Ceiling { requests_per_s, cpu_s_per_request: 2.31e-5, lag_p99_s: 1.18e-4, cpus: 1 }),
        checks: vec![wording::check(&ceiling_check(requests_per_s, 1_300.0), Asking::Trial)],
        spent_s: spent_s(&trials) + 14.2,
        trials,
        steps: [("check the generator", 9.61), ("copy data", 0.18), ("start db", 1.31), ("start web", 0.24)]
            .map(|(name, took_s)| Step { name: name.into(), took_s })
            .to_vec(),
        servers: [("apache", "Apache/2.4.62"), ("mariadb", "10.11.14-MariaDB")]
            .map(|(name, version)| (name.to_string(), version.to_string()))
            .into(),
        diagnosis: None,
    }
}

/// An arm on the default stack.
pub(super) fn arm(label: &str, users: Option<u32>) -> Arm {
    let recipe = Recipe { format: 1, kit: "dvdstore".into(), users, ..Recipe::default() };
    Arm { label: label.into(), recipe, levels: Default::default(), stored_run: None, catalogue: None }
}
