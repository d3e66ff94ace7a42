//! `plimsoll clean`: what killed runs left, and on request runs, studies, data sets and what was built.

use clap::Args;
use model::{Problem, Result, units};
use store::{Runs, Studies};

use crate::console::Console;
use crate::context::Context;
use runner::artefact;
use runner::progress::Progress;

/// Remove what killed runs left behind; remove runs, studies, data sets and what was built.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll clean                     end leftover servers, remove what is half-made and logs of failed starts
  plimsoll clean --run 20261121-03   remove one run
  plimsoll clean --run 20261121-03 --run 20261121-05    remove two, or none where one is pinned or under way
  plimsoll clean --datasets          remove all data sets and what was built; the next run makes its own again
  plimsoll clean --runs              remove all runs
  plimsoll clean --study 20261121-10 remove one study with its runs
  plimsoll clean --studies           remove all studies")]
pub(crate) struct CleanArgs {
    /// Remove this run
    #[arg(long, value_name = "RUN")]
    run: Vec<String>,
    /// Remove all runs but those that are pinned
    #[arg(long)]
    runs: bool,
    /// Remove this study and the runs of its trials
    #[arg(long, value_name = "STUDY")]
    study: Vec<String>,
    /// Remove all studies but those that are pinned
    #[arg(long)]
    studies: bool,
    /// Remove all data sets, file sets and what was built from sources
    #[arg(long)]
    datasets: bool,
}

pub(crate) fn main(args: &CleanArgs, context: &mut Context) -> Result<u8> {
    let swept = testbed::sweep(&context.home)?;
    context.console.result(&format!(
        "ended {} process(es) of {} killed run(s); {} lab(s) are alive and left alone",
        swept.processes,
        swept.labs.len(),
        swept.alive.len()
    ));
    for path in &swept.foreign {
        let text = format!("left alone, since no run of Plimsoll made it: {}", path.display());
        context.console.note(&text);
    }
    if swept.alive.is_empty() {
        artefact::remove_unfinished(&context.home)?;
    }
    let runs = Runs::open(&context.home)?;
    let mut names = args.run.clone();
    if args.runs {
        let all = runs.list()?.into_iter().map(|run| (run.id, run.notes.pinned));
        names.extend(unpinned(all, "run", &mut context.console));
    }
    // All that are named, or none.
    for (id, bytes) in runs.remove_all(&names)? {
        context.console.result(&format!("removed run {id} ({})", units::show_bytes(bytes)));
    }
    let studies = Studies::open(&context.home)?;
    let mut names = args.study.clone();
    if args.studies {
        let all = studies.list()?.into_iter().map(|study| (study.id, study.notes.pinned));
        names.extend(unpinned(all, "study", &mut context.console));
    }
    for name in names {
        let bytes = studies.remove(&name)?;
        context.console.result(&format!("removed study {name} ({})", units::show_bytes(bytes)));
    }
    if args.datasets {
        if !swept.alive.is_empty() && artefact::is_anything_kept(&context.home) {
            let what = "a lab is alive and may be copying a data set";
            return Err(Problem::environment(what).remedy("end the other plimsoll first").into());
        }
        artefact::remove_all(&context.home)?;
        context.console.result("removed all data sets and what was built");
    }
    Ok(0)
}

/// The ids of those that are not pinned; says which are left alone.
fn unpinned(all: impl Iterator<Item = (String, bool)>, noun: &str, console: &mut Console) -> Vec<String> {
    let (pinned, others): (Vec<_>, Vec<_>) = all.partition(|(_, pinned)| *pinned);
    for (id, _) in pinned {
        console.note(&format!("left alone, since it is pinned: {noun} {id} (plimsoll note {id} --unpin)"));
    }
    others.into_iter().map(|(id, _)| id).collect()
}
