//! What diagnoses of drawn bottlenecks came to: by family, and how often they were right for how sure they were.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::FaultFile;
use model::catalogue::fault_file::Expected;
use model::record::diagnosis::Limited;
use serde::Deserialize;

use crate::Failure;

/// A folder that `scripts/blind.sh` filled.
#[derive(Debug, clap::Args)]
pub(crate) struct Ran {
    folder: PathBuf,
}

/// What `plimsoll faults --json` says.
#[derive(Debug, Deserialize)]
pub(super) struct Told {
    pub(super) faults: Vec<Row>,
    score: Score,
}

#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) fault: String,
    pub(super) expect: Expected,
    /// Its id; empty where it could not be made.
    pub(super) run: String,
    state: Option<Limited>,
    suspects: Option<Vec<Suspect>>,
    right: Option<bool>,
    among_three: Option<bool>,
    skipped: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Suspect {
    tier: String,
    resource: String,
    sure_ratio: f64,
}

#[derive(Debug, Deserialize)]
struct Score {
    brier: f64,
}

/// From how sure on statements are counted together.
const STEPS: [f64; 5] = [0.0, 0.5, 0.8, 0.9, 0.97];

/// Of a family, or of statements that are alike: how many, and how many of them right.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Count {
    all: usize,
    first: usize,
    three: usize,
}

impl Count {
    fn add(&mut self, row: &Row) {
        self.all += 1;
        self.first += usize::from(row.right == Some(true));
        self.three += usize::from(row.among_three == Some(true));
    }
}

/// Prints a table by family, one by how sure, and the misses one by one.
pub(crate) fn print(ran: &Ran) -> Result<(), Failure> {
    let told: Told = serde_json::from_slice(&std::fs::read(ran.folder.join("table.json"))?)?;
    let (mut families, mut steps) = (BTreeMap::<String, Count>::new(), vec![Count::default(); STEPS.len()]);
    let (mut all, mut misses) = (Count::default(), Vec::new());
    for row in &told.faults {
        let text = std::fs::read_to_string(ran.folder.join(format!("faults/{}.toml", row.fault)))?;
        let fault: FaultFile = toml::from_str(&text)?;
        if let Some(why) = &row.skipped {
            misses.push(format!("{}: not run: {why}", fault.why));
            continue;
        }
        let family = fault.why.split(' ').next().unwrap_or_default().to_string();
        families.entry(family).or_default().add(row);
        steps[step(sure_ratio(row))].add(row);
        all.add(row);
        if row.right != Some(true) {
            misses.push(format!("{}: {}", fault.why, named(row)));
        }
    }
    println!("| family | plants | first | among three |\n|---|---|---|---|");
    for (family, count) in families.iter().map(|(name, count)| (name.as_str(), count)).chain([("all", &all)])
    {
        println!("| {family} | {} | {} | {} |", count.all, count.first, count.three);
    }
    println!("\n| sure from | statements | right |\n|---|---|---|");
    for (from, count) in STEPS.iter().zip(&steps) {
        println!("| {:.0} % | {} | {} |", from * 100.0, count.all, count.first);
    }
    let brier = told.score.brier;
    println!("\nBrier score {brier:.3}. Not named first:");
    misses.iter().for_each(|miss| println!("- {miss}"));
    Ok(())
}

/// How sure the statement was; 0 where none was made.
fn sure_ratio(row: &Row) -> f64 {
    let first = row.suspects.iter().flatten().next().filter(|_| row.state == Some(Limited::Yes));
    first.map_or(0.0, |first| first.sure_ratio)
}

fn step(sure_ratio: f64) -> usize {
    STEPS.iter().rposition(|from| sure_ratio >= *from).unwrap_or(0)
}

fn named(row: &Row) -> String {
    let state = match row.state {
        Some(Limited::Yes) => "",
        Some(Limited::Unclear) => "unclear; likeliest ",
        Some(Limited::No) | None => "nothing holds it; likeliest ",
    };
    let suspect = |one: &Suspect| format!("{} {} {:.0} %", one.tier, one.resource, one.sure_ratio * 100.0);
    let named: Vec<String> = row.suspects.iter().flatten().map(suspect).collect();
    format!("{state}{}", if named.is_empty() { "nobody".to_string() } else { named.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_counts_by_how_sure_it_was_and_an_unclear_one_is_none() {
        let row = |state, sure_ratio| Row {
            fault: "plant-001".into(),
            run: String::new(),
            expect: Expected::Healthy,
            state: Some(state),
            suspects: Some(vec![Suspect { tier: "app".into(), resource: "cpu".into(), sure_ratio }]),
            right: Some(false),
            among_three: Some(false),
            skipped: None,
        };
        let at = |state, sure| step(sure_ratio(&row(state, sure)));
        assert_eq!([0.5, 0.79, 0.8, 0.96, 1.0].map(|sure| at(Limited::Yes, sure)), [1, 1, 2, 3, 4]);
        assert_eq!(at(Limited::Unclear, 0.49), 0);
        assert_eq!(named(&row(Limited::Unclear, 0.4)), "unclear; likeliest app cpu 40 %");
    }
}
