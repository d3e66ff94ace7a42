//! Instructions a request, counted by callgrind: the same on any machine, so a regression shows where a stopwatch would
//! only show noise.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::Failure;

/// Sessions of the short and of the long run: what the start costs falls out of their difference.
const VISITS: [(&str, [u64; 2]); 3] =
    [("repeat", [4_000, 14_000]), ("new_heads", [4_000, 14_000]), ("session", [1_000, 3_000])];

/// `benches/instructions.toml`.
#[derive(Debug, Deserialize)]
struct Budgets {
    slack_ratio: f64,
    /// By profile and program.
    budget: BTreeMap<String, BTreeMap<String, f64>>,
}

/// Counts and compares with the budgets; an error says by how much one is exceeded and how to see why.
pub(crate) fn check(hotpath: &Path, budgets: &Path, profile: &str) -> Result<(), Failure> {
    let text = fs::read_to_string(budgets).map_err(|error| format!("{}: {error}", budgets.display()))?;
    let budgets: Budgets =
        toml::from_str(&text).map_err(|error| format!("{}: {error}", budgets.display()))?;
    let of_profile =
        budgets.budget.get(profile).ok_or_else(|| format!("there are no budgets for profile {profile}"))?;
    let mut exceeded = Vec::new();
    for (program, visits) in VISITS {
        let found = per_request(hotpath, program, visits)?;
        let budget = of_profile.get(program).copied().unwrap_or(0.0);
        let over = found / budget - 1.0;
        println!(
            "{program:<9} {found:>8.0} instructions a request, budget {budget:.0} ({:+.1} %)",
            over * 100.0
        );
        if over > budgets.slack_ratio {
            exceeded.push(explain(hotpath, program, visits[1], found, budget));
        } else if over < -3.0 * budgets.slack_ratio {
            println!("         the budget is loose: write {found:.0} into benches/instructions.toml");
        }
    }
    if exceeded.is_empty() { Ok(()) } else { Err(exceeded.join("\n").into()) }
}

fn explain(hotpath: &Path, program: &str, visits: u64, found: f64, budget: f64) -> String {
    let more = (found / budget - 1.0) * 100.0;
    format!(
        "a request of `{program}` takes {found:.0} instructions, {more:.1} % more than its budget of {budget:.0}\n  see \
         where: valgrind --tool=callgrind --callgrind-out-file=callgrind.out {} {program} {visits} && \
         callgrind_annotate callgrind.out | head -60\n  when the change is worth it: write {found:.0} into \
         benches/instructions.toml, with the reason in the commit",
        hotpath.display()
    )
}

fn per_request(hotpath: &Path, program: &str, visits: [u64; 2]) -> Result<f64, Failure> {
    let [short, long] = [count(hotpath, program, visits[0])?, count(hotpath, program, visits[1])?];
    let requests = long.requests.saturating_sub(short.requests);
    if requests == 0 {
        return Err(format!("{program}: the longer run made no more requests than the shorter one").into());
    }
    Ok(long.instructions.saturating_sub(short.instructions) as f64 / requests as f64)
}

struct Count {
    instructions: u64,
    requests: u64,
}

fn count(hotpath: &Path, program: &str, visits: u64) -> Result<Count, Failure> {
    let dir = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let file: PathBuf = dir.path().join("callgrind.out");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(hotpath)
        .args([program, &visits.to_string()])
        .output()
        .map_err(|error| format!("failed to start valgrind: {error}; apt-get install valgrind"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(format!("hotpath {program} {visits} failed: {said}{complaint}").into());
    }
    let requests = said.trim().parse().map_err(|_| format!("hotpath said `{said}`, not a number"))?;
    let counted = fs::read_to_string(&file).map_err(|error| format!("callgrind's file: {error}"))?;
    let instructions = counted
        .lines()
        .find_map(|line| line.strip_prefix("summary: ").or_else(|| line.strip_prefix("totals: ")))
        .and_then(|number| number.trim().parse().ok())
        .ok_or("callgrind's file has no summary")?;
    Ok(Count { instructions, requests })
}
