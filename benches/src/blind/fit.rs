//! How evidence becomes a probability, by runs whose limit is known: the weights, and what they are worth.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use analysis::diagnosis::SuspectFacts;
use analysis::diagnosis::weights::{IN_FORCE, Sample, Weights};
use model::catalogue::fault_file::Expected;
use model::catalogue::rules::Rule;
use model::{Catalogue, RunRecord, ServiceManifest};
use runner::{catalogue_folder, diagnose};

use super::table::Told;
use crate::Failure;

/// Tables of faults whose runs are still kept.
#[derive(Debug, clap::Args)]
pub(crate) struct Kept {
    /// Tables, as `plimsoll faults --json` prints them
    #[arg(required = true)]
    tables: Vec<PathBuf>,
    /// Where the runs are kept: $PLIMSOLL_HOME of `plimsoll faults`
    #[arg(long, default_value = "/srv/plimsoll")]
    home: PathBuf,
    /// The catalogue whose rules they are diagnosed by
    #[arg(long, default_value = "catalogue")]
    catalogue: PathBuf,
}

/// Parts of which each is predicted by the others.
const PARTS: usize = 10;
/// Which suspects are silent, and whom a tier behind clears, depends on the weights: after this many fits nothing changes.
const ROUNDS: usize = 8;
/// A statement that is at least this sure should be right.
const SURE_RATIO: f64 = 0.8;

/// A run whose limit is known.
pub(super) struct Known {
    pub(super) fault: String,
    pub(super) expect: Expected,
    pub(super) record: RunRecord,
    services: BTreeMap<String, ServiceManifest>,
}

/// What the answers to some runs came to.
#[derive(Debug, Default)]
struct Came {
    runs: usize,
    right: usize,
    sure: usize,
    sure_and_right: usize,
    squares: f64,
    misses: Vec<String>,
}

impl Kept {
    /// The catalogue's rules and the runs.
    pub(super) fn open(&self) -> Result<(Vec<Rule>, Vec<Known>), Failure> {
        let catalogue = Catalogue::new(catalogue_folder::read(&self.catalogue).map_err(problems)?);
        let rules = catalogue.rules().map_err(problems)?;
        let mut known = Vec::new();
        for path in &self.tables {
            let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
            let told: Told = serde_json::from_slice(&text)?;
            for row in told.faults.iter().filter(|row| !row.run.is_empty()) {
                let record = record_of(&self.home, &row.run)?;
                let services = diagnose::services(&record, &catalogue);
                known.push(Known { fault: row.fault.clone(), expect: row.expect.clone(), record, services });
            }
        }
        Ok((rules, known))
    }
}

/// Prints the weights, and what they are worth on runs that they were fitted to and on runs that they weren't.
pub(crate) fn fit(asked: &Kept) -> Result<(), Failure> {
    let (rules, known) = asked.open()?;
    if known.len() < PARTS {
        return Err(format!("{} runs are too few to fit anything to", known.len()).into());
    }
    let all: Vec<&Known> = known.iter().collect();
    let fitted = weights(&all, &rules);
    println!("{fitted:#?}\nby {} runs", known.len());
    print("with the weights in force", &came(&all, &rules, |_| IN_FORCE));
    let without = |part: usize| {
        let others = all.iter().enumerate().filter(|(index, _)| index % PARTS != part);
        weights(&others.map(|(_, one)| *one).collect::<Vec<_>>(), &rules)
    };
    let by_others: Vec<Weights> = (0..PARTS).map(without).collect();
    print("of each tenth by the fit to the others", &came(&all, &rules, |index| by_others[index % PARTS]));
    print("by the fit to all", &came(&all, &rules, |_| fitted));
    Ok(())
}

fn problems(problems: model::Problems) -> Failure {
    problems.to_string().into()
}

fn record_of(home: &Path, run: &str) -> Result<RunRecord, Failure> {
    let path = home.join("runs").join(run).join("run.json");
    let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn weights(known: &[&Known], rules: &[Rule]) -> Weights {
    let mut weights = IN_FORCE;
    for _ in 0..ROUNDS {
        let samples = |one: &&Known| {
            let suspects = suspects(one, rules, &weights).into_iter();
            suspects
                .map(|suspect| Sample { strengths: suspect.strengths, right: is_right(&suspect, one) })
                .collect::<Vec<_>>()
        };
        let samples: Vec<Sample> = known.iter().flat_map(samples).collect();
        weights = Weights::fitted(&samples);
    }
    weights
}

fn suspects(known: &Known, rules: &[Rule], weights: &Weights) -> Vec<SuspectFacts> {
    diagnose::suspects(&known.record, rules, &known.services, weights)
}

fn is_right(suspect: &SuspectFacts, known: &Known) -> bool {
    match &known.expect {
        Expected::Healthy => false,
        Expected::Limit { tier, resource } => suspect.tier == *tier && suspect.resource == *resource,
    }
}

/// Each run by the weights for its index.
fn came(known: &[&Known], rules: &[Rule], by: impl Fn(usize) -> Weights) -> Came {
    let mut came = Came { runs: known.len(), ..Came::default() };
    for (index, one) in known.iter().enumerate() {
        let suspects = suspects(one, rules, &by(index));
        let sure_ratio = suspects.first().map_or(0.0, |first| first.sure_ratio);
        let named = suspects.first().is_some_and(|first| is_right(first, one));
        let right = if one.expect == Expected::Healthy { sure_ratio < 0.5 } else { named };
        came.right += usize::from(right);
        came.squares += (sure_ratio - f64::from(u8::from(named))).powi(2);
        if sure_ratio >= SURE_RATIO {
            came.sure += 1;
            came.sure_and_right += usize::from(named);
        }
        if !right {
            came.misses.push(format!("{} ({:?}): {}", one.fault, one.expect, likeliest(&suspects)));
        }
    }
    came
}

fn likeliest(suspects: &[SuspectFacts]) -> String {
    let one = |suspect: &SuspectFacts| {
        let SuspectFacts { rule, tier, sure_ratio, strengths, .. } = suspect;
        let strengths = [
            strengths.needed_ratio,
            strengths.supports_ratio,
            strengths.against_ratio,
            strengths.callee_ratio,
        ];
        let strengths: Vec<String> = strengths.iter().map(|one| format!("{one:.2}")).collect();
        format!("\n    {rule} of {tier} {:.0} % [{}]", sure_ratio * 100.0, strengths.join(", "))
    };
    suspects.iter().take(3).map(one).collect()
}

fn print(how: &str, came: &Came) {
    let Came { runs, right, sure, sure_and_right, squares, misses } = came;
    println!(
        "\n{how}: {right} of {runs} right; {sure} sure, {sure_and_right} of them right; Brier score {:.3}",
        squares / *runs as f64
    );
    misses.iter().for_each(|miss| println!("- {miss}"));
}
