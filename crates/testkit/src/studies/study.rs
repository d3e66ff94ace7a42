//! What every made-up study has.

use model::catalogue::recipe::Recipe;
use model::record::study::{Arm, Ceiling, Question, STUDY_FORMAT, StudyRecord, Trial};
use model::record::{Check, Outcome, Step, ValidityCheck};

use crate::sample::{Shape, judgement};

/// The parts of a study that its kind decides.
pub(super) struct Parts {
    pub(super) question: Question,
    pub(super) arms: Vec<Arm>,
    pub(super) trials: Vec<Trial>,
    pub(super) outcome: Outcome,
    pub(super) sentence: String,
    pub(super) command: Vec<&'static str>,
}

/// A study of these parts with everything else that a study has.
pub(super) fn record(name: &str, parts: Parts) -> StudyRecord {
    let Parts { question, arms, trials, outcome, sentence, command } = parts;
    let measured_s: f64 = trials.iter().map(|trial| trial.took_s).sum();
    let check = |check: Check, sentence: &str, observed: f64, limit: f64| ValidityCheck {
        check,
        ok: observed <= limit,
        sentence: sentence.into(),
        observed: Some(observed),
        limit: Some(limit),
    };
    StudyRecord {
        format: STUDY_FORMAT,
        id: format!("20261121-101500-{}-{name}-7f3a", question.verb()),
        started: "2026-11-21T10:15:00Z".into(),
        plimsoll: "0.1.0".into(),
        command: command.into_iter().map(str::to_string).collect(),
        outcome,
        sentence,
        question,
        arms,
        setup: judgement::skeleton(&Shape::default(), name).setup,
        ceiling: Some(Ceiling {
            requests_per_s: 41_230.0,
            cpu_s_per_request: 2.31e-5,
            lag_p99_s: 1.18e-4,
            cpus: 1,
        }),
        checks: vec![
            check(Check::Ceiling, "the generator can send 31 times what the stack was asked for", 0.032, 0.2),
            check(Check::SendLag, "at a tenth of its ceiling it was 0.12 ms late (p99)", 1.18e-4, 1e-3),
        ],
        trials,
        spent_s: measured_s + 14.2,
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

/// A number between −1 and 1 that depends on `a` and `b` alone.
pub(super) fn wobble(a: u32, b: u32) -> f64 {
    let mixed = (u64::from(a) << 32 | u64::from(b)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 11) as f64 / (1u64 << 53) as f64) * 2.0 - 1.0
}
