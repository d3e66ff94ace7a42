//! The tables as Markdown, and the page that holds them.

use std::fmt::Write as _;
use std::path::Path;

use crate::cases::Case;
use crate::rounds::Measured;
use crate::{Failure, Table, marks};

/// The table of one case, with what became of its goals.
pub(crate) fn table(case: &Case, measured: &[Measured]) -> String {
    let wrk = measured.iter().find(|seen| seen.name == "wrk");
    let mut text =
        "| generator | CPU a request | least to most | beside wrk | least to most |\n|---|---|---|---|---|\n"
            .to_string();
    for seen in measured {
        // Writing to a String can't fail.
        let _ = match (&seen.missing, Spread::of(&seen.cpu_s)) {
            (None, Some(cost)) => {
                let ratio = wrk.and_then(|wrk| Spread::of(&ratios(seen, wrk)));
                let [middle, range] =
                    ratio.map_or(["–".to_string(), "–".to_string()], |ratio| ratio.show(1.0, 2));
                let [cost, costs] = cost.show(1e6, 1);
                writeln!(text, "| {} | {cost} µs | {costs} | {middle} | {range} |", seen.name)
            }
            (missing, _) => {
                let why = missing.as_deref().unwrap_or("no round was measured");
                writeln!(text, "| {} | missing: {why} | | | |", seen.name)
            }
        };
    }
    text.push('\n');
    case.goals.iter().for_each(|goal| {
        let beside = measured.iter().find(|seen| seen.name == goal.beside);
        let ratio = beside.and_then(|beside| Spread::of(&ratios(&measured[0], beside)));
        let what = format!("{} at most {} of {}", measured[0].name, goal.most, goal.beside);
        let _ = match ratio {
            None => writeln!(text, "Target {what}: not measured."),
            Some(ratio) if ratio.median <= goal.most => {
                writeln!(text, "Target {what}: **met**, {:.2}.", ratio.median)
            }
            Some(ratio) => {
                let over = (ratio.median / goal.most - 1.0) * 100.0;
                writeln!(text, "Target {what}: **not met**, {:.2}, {over:.0} % too much.", ratio.median)
            }
        };
    });
    text
}

/// Round by round, so that what slows both down falls out.
fn ratios(ours: &Measured, theirs: &Measured) -> Vec<f64> {
    ours.cpu_s.iter().zip(&theirs.cpu_s).map(|(ours, theirs)| ours / theirs).collect()
}

struct Spread {
    median: f64,
    least: f64,
    most: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Spread> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let half = sorted.len() / 2;
        let median =
            if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) };
        Some(Spread { median, least, most })
    }

    /// The median, and the range.
    fn show(&self, scale: f64, digits: usize) -> [String; 2] {
        let number = |value: f64| format!("{:.digits$}", value * scale);
        [number(self.median), format!("{} to {}", number(self.least), number(self.most))]
    }
}

/// Puts the tables into the page between its marks; what people wrote around them stays.
pub(crate) fn write(path: &Path, tables: &[(Case, Vec<Measured>)], options: &Table) -> Result<(), Failure> {
    marks::fill(path, &measured(tables, options))?;
    println!("written: {}", path.display());
    Ok(())
}

fn measured(tables: &[(Case, Vec<Measured>)], options: &Table) -> String {
    let machine = observe::machine();
    let mut text = String::from("\n## The machine\n\n");
    for (name, value) in &machine {
        let _ = writeln!(text, "- {name}: {value}");
    }
    let mut versions: Vec<&str> =
        tables.iter().flat_map(|(_, measured)| measured.iter().map(|seen| seen.version.as_str())).collect();
    versions.sort_unstable();
    versions.dedup();
    versions.retain(|version| !version.is_empty());
    let _ = writeln!(text, "- versions: {}", versions.join("; "));
    let _ = writeln!(text, "- {} rounds of {} s, alternating", options.rounds, options.seconds);
    for (case, measured) in tables {
        let _ = writeln!(text, "\n## {}\n\n{}\n\n{}", case.name, case.title, table(case, measured));
        text.push_str("```sh\n");
        case.generators.iter().for_each(|generator| _ = writeln!(text, "{}", generator.line()));
        text.push_str("```\n");
    }
    text
}
