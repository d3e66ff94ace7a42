//! A study while somebody sits at it: its record, kept anew after each trial, and the time that it has taken.

use std::path::Path;
use std::time::{Duration, Instant};

use model::record::Outcome;
use model::record::study::{Arm, Question, STUDY_FORMAT, StudyRecord, Trial};
use model::{Problem, Result};
use store::{Runs, Studies, Study, StudyWriter};

use crate::environment::Environment;
use crate::outcome;
use crate::setup;
use crate::trial::arm::ReadyArm;

/// A study that is being measured.
pub struct StudyInProgress {
    /// What it says so far.
    pub record: StudyRecord,
    writer: StudyWriter,
    since: Instant,
    before_s: f64,
}

impl StudyInProgress {
    /// Begins a study; `first` is its first arm that is measured.
    pub(crate) fn begin(
        question: Question,
        arms: &[Arm],
        first: &ReadyArm,
        env: &Environment<'_>,
    ) -> Result<StudyInProgress> {
        let plan = &first.plan;
        let (id, started) = outcome::new_id(&format!("{}-{}", question.verb(), plan.kit.name));
        let setup = setup::unfinished(plan, &id, &started, &env.settings.origin).setup;
        let record = StudyRecord {
            format: STUDY_FORMAT,
            id,
            started,
            plimsoll: env.settings.origin.version.clone(),
            command: env.settings.origin.command.clone(),
            outcome: Outcome::Unfinished,
            sentence: "no answer yet".to_string(),
            question,
            arms: arms.to_vec(),
            setup,
            ceiling: None,
            checks: Vec::new(),
            trials: Vec::new(),
            spent_s: 0.0,
            steps: Vec::new(),
            servers: Default::default(),
            diagnosis: None,
        };
        let writer = Studies::open(env.home)?.create(&record)?;
        Ok(StudyInProgress { record, writer, since: Instant::now(), before_s: 0.0 })
    }

    /// Goes on with the study below `home` of that id, beginning of an id, or `last`.
    ///
    /// # Errors
    /// There is no such study, another process is at it, it is another verb's, or it has its answer.
    pub fn resume(name: &str, verb: &str, home: &Path) -> Result<StudyInProgress> {
        let (record, writer) = Studies::open(home)?.resume(name)?;
        let found = record.question.verb();
        if found != verb {
            let what = format!("study {} is a {found}", record.id);
            let remedy = format!("plimsoll {found} --resume {}", record.id);
            return Err(Problem::recipe(what).key("--resume").remedy(remedy).into());
        }
        if record.outcome == Outcome::Completed {
            let what = format!("study {} has its answer: {}", record.id, record.sentence);
            let remedy = format!("plimsoll show {}", record.id);
            return Err(Problem::recipe(what).key("--resume").remedy(remedy).into());
        }
        let before_s = record.spent_s;
        Ok(StudyInProgress { record, writer, since: Instant::now(), before_s })
    }

    /// The trials' runs.
    pub fn runs(&self) -> Result<Runs> {
        self.writer.runs()
    }

    /// What was kept as the file of that name in the study's directory; absent when there is none.
    pub(crate) fn read<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let Some(bytes) = self.writer.read(name)? else { return Ok(None) };
        let damaged = |error| {
            Problem::environment(format!("{name} of study {} is damaged: {error}", self.record.id))
                .why("whether the same would be measured can't be told")
                .remedy("begin a new study")
        };
        Ok(Some(serde_json::from_slice(&bytes).map_err(damaged)?))
    }

    /// Keeps `value` as the file of that name in the study's directory.
    pub(crate) fn write(&self, name: &str, value: &impl serde::Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Problem::bug(format!("{name} can't be written as JSON: {error}")))?;
        self.writer.keep(name, text.as_bytes())
    }

    /// Seconds spent so far, those before it was gone on with included.
    pub fn spent_s(&self) -> f64 {
        self.before_s + self.since.elapsed().as_secs_f64()
    }

    /// Seconds that are no part of what the study has taken.
    pub(crate) fn leave_out(&mut self, seconds: f64) {
        self.since += Duration::from_secs_f64(seconds.clamp(0.0, self.since.elapsed().as_secs_f64()));
    }

    /// Keeps a trial after `before`.
    pub(crate) fn keep_trial(&mut self, before: &[Trial], trial: Trial) -> Result<()> {
        self.record.trials = before.to_vec();
        self.record.trials.push(trial);
        self.record.sentence = match self.record.trials.len() {
            1 => "no answer yet: 1 trial".to_string(),
            trials => format!("no answer yet: {trials} trials"),
        };
        self.save()
    }

    /// Keeps the record as it is now.
    pub fn save(&mut self) -> Result<()> {
        self.record.spent_s = self.spent_s();
        self.writer.update(&self.record)
    }

    /// Ends the study: the record as it is now, synced. Gives the study as it is kept.
    pub fn end(mut self) -> Result<Study> {
        self.record.spent_s = self.spent_s();
        Study::open(&self.writer.finish(&self.record)?)
    }
}
