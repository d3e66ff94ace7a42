//! Finds on simulated stacks that nobody has seen: their shapes, noise and seeds are drawn from the hash of the commit
//! whose find is judged, so that nothing in it can have been chosen by them.

mod kinds;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use model::random::Random as Seeds;
use model::record::study::FindGoal;
use testkit::finds::{HEADING, Tally, pursued};
use testkit::stack::Random;

use crate::Failure;
use kinds::{Drawn, KINDS, Kind};

/// Finds on simulated stacks that are drawn from a commit's hash.
#[derive(Debug, clap::Args)]
pub(crate) struct HeldOut {
    /// How many finds of each kind
    #[arg(long, default_value_t = 200)]
    finds: u64,
    /// Draw from this hash instead of that of the commit that is checked out, whose tree has to be clean
    #[arg(long)]
    commit: Option<String>,
    /// Only kinds whose name contains this
    #[arg(long, default_value = "")]
    kind: String,
}

/// Prints a row for each kind of stack, in their order, as soon as it is known.
pub(crate) fn run(asked: &HeldOut) -> Result<(), Failure> {
    let commit = asked.commit.clone().map_or_else(checked_out, Ok)?;
    let digits = commit.get(..16).ok_or("a hash has 16 digits at least")?;
    let seed = u64::from_str_radix(digits, 16)?;
    println!("drawn from {commit}, {} finds of each kind\n\n| stack | {HEADING} |", asked.finds);
    println!("|{}", "---|".repeat(HEADING.matches('|').count() + 2));
    let wanted: Vec<(usize, &Kind)> =
        KINDS.iter().enumerate().filter(|(_, kind)| kind.name.contains(&asked.kind)).collect();
    let next = AtomicUsize::new(0);
    let (rows, found) = channel();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let (rows, next, wanted) = (rows.clone(), &next, &wanted);
            scope.spawn(move || tally(asked.finds, seed, wanted, next, &rows));
        }
        drop(rows);
        let mut waiting: Vec<Option<Tally>> = vec![None; wanted.len()];
        let mut printed = 0;
        for (number, tally) in found {
            waiting[number] = Some(tally);
            while let Some(tally) = waiting.get(printed).and_then(Option::as_ref) {
                println!("| {} | {tally} |", wanted[printed].1.name);
                printed += 1;
            }
        }
    });
    Ok(())
}

/// One kind after the other, until all are taken.
fn tally(
    finds: u64,
    seed: u64,
    wanted: &[(usize, &Kind)],
    next: &AtomicUsize,
    rows: &Sender<(usize, Tally)>,
) {
    loop {
        let taken = next.fetch_add(1, Ordering::Relaxed);
        let Some((number, kind)) = wanted.get(taken) else { return };
        let of_kind = Seeds::nth(seed, *number as u64);
        let mut tally = Tally::default();
        for find in 0..finds.min(kind.max_finds) {
            let seed = Seeds::nth(of_kind, find);
            let Drawn { line, mut bench } = (kind.draw)(&mut Random::new(seed), Seeds::nth(seed, 1));
            let goal = FindGoal { seed, ..(kind.goal)() };
            let (answer, trials) = pursued(&goal, bench.as_mut());
            tally.add(line, &answer, &trials);
        }
        // Who reads them ends after all who write.
        _ = rows.send((taken, tally));
    }
}

/// The hash of the commit that is checked out; refused where the tree has something that is not in it.
pub(crate) fn checked_out() -> Result<String, Failure> {
    let git = |arguments: &[&str]| -> Result<String, Failure> {
        let ended = Command::new("git").args(arguments).output()?;
        if !ended.status.success() {
            return Err(
                format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&ended.stderr)).into()
            );
        }
        Ok(String::from_utf8(ended.stdout)?.trim().to_string())
    };
    let changed = git(&["status", "--porcelain"])?;
    if !changed.is_empty() {
        return Err(format!("the tree has changes that are not in its commit:\n{changed}").into());
    }
    git(&["rev-parse", "HEAD"])
}
