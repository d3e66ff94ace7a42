//! Kept runs side by side: first what differs of how they were made, then their figures against those of one of them.
//! The principal type is [`Beside`]; [`KeptRun`] is what it needs of each run.
//!
//! Not here: a comparison that is measured in pairs (`plimsoll compare`), how it is laid out (`terminal/beside.rs`,
//! `html/beside.rs`).

mod configuration;
mod courses;
mod differences;
mod figures;
mod kept;
mod own;
mod shown;
mod spent;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use analysis::comparable;
use model::record::study::Failed;
use model::{Problem, Result, RunRecord};
use schemars::JsonSchema;
use serde::Serialize;

use crate::headline::Headline;
pub use configuration::{FileChange, FileDifference};
pub use courses::{Course, CourseMeasure};
pub use differences::{Difference, DifferenceKind};
pub use figures::{Change, ComparedFigure, Judged, Measure};
pub use kept::KeptRun;
pub use spent::{SpentPart, SpentTime};

/// The version of [`Beside`]; counts up when a reader of the old one would misread the new one.
pub const BESIDE_FORMAT: u32 = 1;

/// The maximum number of runs: more don't fit beside each other, and there are letters for these.
const MAX_RUNS: usize = 8;

/// Runs side by side.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Beside {
    /// [`BESIDE_FORMAT`].
    pub format: u32,
    /// Which of the runs the others are held against, counted from 0.
    pub base: usize,
    /// The runs in the order in which they were asked for; all lists of values below have one for each.
    pub runs: Vec<RunBeside>,
    /// Why their figures don't belong beside each other; then there are no figures and no files.
    pub not_comparable: Option<String>,
    /// What differs of how they were made, the most telling first.
    pub differences: Vec<Difference>,
    /// What differs and is meant to: the seed.
    pub uncounted: Vec<Difference>,
    /// The configuration files that differ from those of the base.
    pub configuration: Vec<FileDifference>,
    /// The figures, with their differences to the base.
    pub figures: Vec<ComparedFigure>,
    /// Their courses over time, with 0 where the steady state of each begins.
    pub courses: Vec<Course>,
    /// Where the time of a mean operation went, by the ledger of each; empty where none has one.
    pub spent: Vec<SpentPart>,
    /// Probability with which each interval holds, for who looks once.
    pub confidence_ratio: f64,
    /// Nothing was measured in pairs, which is always so of kept runs.
    pub unpaired: bool,
    /// What their intervals leave out.
    pub caveat: String,
    /// What of the conditions differs beside the stacks, because of which a change is not the stacks' alone: `load`.
    pub other_conditions: Vec<String>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunBeside {
    /// Its id.
    pub id: String,
    /// A letter, by its place.
    pub label: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// Kit, with its version.
    pub kit: String,
    /// The stack.
    pub stack: String,
    /// Emulated users.
    pub users: u32,
    /// What loaded the stack, briefly: `20 users`.
    pub load: String,
    /// Length of the steady state, in seconds.
    pub steady_s: f64,
    /// `Passed`, `Failed`, `Valid`, `Not valid`, `Interrupted`, `Aborted`, `Unfinished`, `Under way`.
    pub verdict: String,
    /// How that is to be taken: `good`, `bad`, `doubtful`, `open`.
    pub tone: String,
    /// The verdict's sentence.
    pub sentence: String,
    /// Its figures are a result; those of others are shown, but have no differences.
    pub valid: bool,
    /// It or the base failed clearly more often, which counts before any figure of what completed: `arm` 0 is the base.
    pub failed: Option<Failed>,
    /// What people say of it; empty where nobody did.
    pub note: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// It is not removed before that is taken back.
    pub pinned: bool,
    /// Why its figures could not be worked out; those that its record has are shown.
    pub fault: Option<String>,
}

impl Beside {
    /// `runs` side by side, held against the one with the index `base`.
    ///
    /// # Errors
    /// Fewer than two runs or more than eight, one of them twice, or no run of that index.
    pub fn of(runs: &[KeptRun], base: usize) -> Result<Beside> {
        refuse(runs, base)?;
        let records: Vec<_> = runs.iter().map(|run| &run.record).collect();
        let differences = differences::of(&records);
        let not_comparable = not_comparable(runs, base);
        let (configuration, figures, courses, spent) = match not_comparable {
            Some(_) => Default::default(),
            None => (
                configuration::of(&records, base),
                figures::of(runs, base),
                courses::of(runs),
                spent::of(&records, base),
            ),
        };
        Ok(Beside {
            format: BESIDE_FORMAT,
            base,
            runs: (0..runs.len()).map(|index| run(runs, index, base)).collect(),
            not_comparable,
            differences: differences.counted,
            uncounted: differences.uncounted,
            configuration,
            figures,
            courses,
            spent,
            confidence_ratio: figures::CONFIDENCE_RATIO,
            unpaired: true,
            caveat: wording::compare::LEFT_OUT.to_string(),
            other_conditions: other_conditions(&records, base),
        })
    }

    /// That a change is not the stacks' alone, in a sentence; nothing where it is.
    pub(crate) fn condition_words(&self) -> Option<String> {
        let all = self.other_conditions.join(", ");
        (!all.is_empty()).then(|| format!("Not only the stack differs, so a change is not its alone: {all}."))
    }

    /// The runs' labels.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(|run| run.label.as_str())
    }

    /// The label of the base.
    pub(crate) fn base_label(&self) -> &str {
        self.runs.get(self.base).map_or("", |run| run.label.as_str())
    }
}

fn refuse(runs: &[KeptRun], base: usize) -> Result<()> {
    let problem = if !(2..=MAX_RUNS).contains(&runs.len()) {
        Problem::recipe(format!("{} runs can't be shown side by side", runs.len()))
            .remedy(format!("2 to {MAX_RUNS} of them"))
    } else if base >= runs.len() {
        Problem::recipe(format!("there is no run {base} of {}: the first is 0", runs.len()))
    } else {
        let id = |index: usize| runs.get(index).map(|run| &run.record.id);
        let twice = (1..runs.len()).find(|&index| (0..index).any(|earlier| id(earlier) == id(index)));
        let Some(id) = twice.and_then(id) else { return Ok(()) };
        Problem::recipe(format!("run {id} is there twice")).why("it does not differ from itself")
    };
    Err(problem.into())
}

/// Why the figures of some runs don't belong beside those of the base.
fn not_comparable(runs: &[KeptRun], base: usize) -> Option<String> {
    let base_record = &runs.get(base)?.record;
    let aspects = |run: &KeptRun| comparable::different_work(base_record, &run.record);
    let others = runs.iter().enumerate().map(|(index, run)| (label(index), &run.record, aspects(run)));
    let others: Vec<_> = others.filter(|(.., aspects)| !aspects.is_empty()).collect();
    (!others.is_empty()).then(|| wording::not_comparable((&label(base), base_record), &others))
}

fn other_conditions(records: &[&RunRecord], base: usize) -> Vec<String> {
    let differ = |record: &&RunRecord| comparable::different_conditions(records[base], record);
    let mut all: Vec<String> =
        records.iter().flat_map(differ).map(|aspect| wording::aspect(aspect).to_string()).collect();
    let mut known = BTreeSet::new();
    all.retain(|aspect| known.insert(aspect.clone()));
    all
}

fn run(runs: &[KeptRun], index: usize, base: usize) -> RunBeside {
    let KeptRun { record, notes, under_way, fault, .. } = &runs[index];
    let headline = Headline::of(record, *under_way);
    let setup = &record.setup;
    RunBeside {
        id: record.id.clone(),
        label: label(index),
        started: record.started.clone(),
        kit: setup.kit.clone(),
        stack: setup.stack.clone(),
        users: setup.users,
        load: setup.load_headline(),
        steady_s: setup.steady_s,
        verdict: headline.word.to_string(),
        tone: headline.tone.word().to_string(),
        sentence: headline.sentence,
        valid: headline.valid,
        failed: (index != base).then(|| runs[base].failed_more(&runs[index])).flatten(),
        note: notes.note.clone(),
        tags: notes.tags.iter().cloned().collect(),
        pinned: notes.pinned,
        fault: fault.clone(),
    }
}

/// `A` for the first.
fn label(index: usize) -> String {
    ('A'..='Z').nth(index).map(String::from).unwrap_or_default()
}
