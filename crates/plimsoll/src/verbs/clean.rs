//! `plimsoll clean`: what killed runs left, and on request runs, studies, data sets and built applications.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use model::{Problem, Result, units};
use store::{Runs, Studies};

use crate::context::Context;
use runner::artefact::{application, dataset};
use runner::progress::Progress;

/// Remove what killed runs left behind; remove runs, studies, data sets and built applications.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll clean                     end leftover servers, remove what is half-made and logs of failed starts
  plimsoll clean --run 20261121-03   remove one run
  plimsoll clean --datasets          remove all data sets and built applications; the next run makes its own again
  plimsoll clean --runs              remove all runs
  plimsoll clean --study 20261121-10 remove one study with its runs
  plimsoll clean --studies           remove all studies")]
pub(crate) struct CleanArgs {
    /// Remove this run
    #[arg(long, value_name = "RUN")]
    run: Vec<String>,
    /// Remove all runs
    #[arg(long)]
    runs: bool,
    /// Remove this study and the runs of its trials
    #[arg(long, value_name = "STUDY")]
    study: Vec<String>,
    /// Remove all studies
    #[arg(long)]
    studies: bool,
    /// Remove all data sets, file sets and built applications
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
        kept_folders(&context.home).iter().try_for_each(|folder| remove_half_made(folder))?;
        remove(&context.home.join("failed"))?;
    }
    let runs = Runs::open(&context.home)?;
    let mut names = args.run.clone();
    if args.runs {
        names.extend(runs.list()?.into_iter().map(|run| run.id));
    }
    for name in names {
        let bytes = runs.remove(&name)?;
        context.console.result(&format!("removed run {name} ({})", units::show_bytes(bytes)));
    }
    let studies = Studies::open(&context.home)?;
    let mut names = args.study.clone();
    if args.studies {
        names.extend(studies.ids()?);
    }
    for name in names {
        let bytes = studies.remove(&name)?;
        context.console.result(&format!("removed study {name} ({})", units::show_bytes(bytes)));
    }
    if args.datasets {
        let folders = kept_folders(&context.home);
        if !swept.alive.is_empty() && folders.iter().any(|folder| folder.exists()) {
            let what = "a lab is alive and may be copying a data set";
            return Err(Problem::environment(what).remedy("end the other plimsoll first").into());
        }
        folders.iter().try_for_each(|folder| remove_kept(folder))?;
        context.console.result("removed all data sets and built applications");
    }
    Ok(0)
}

/// Where what is made once is kept: data sets with file sets, and built applications.
fn kept_folders(home: &Path) -> [PathBuf; 2] {
    [dataset::folder(home), application::folder(home)]
}

/// What is kept loses its name first: what is removed only in part is never used.
fn remove_kept(folder: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let nameless = folder.join(format!(".removed-{name}"));
        let path = if name.starts_with('.') { entry.path() } else { nameless };
        if path != entry.path() {
            fs::rename(entry.path(), &path).map_err(|error| {
                Problem::environment(format!("failed to remove: {error}"))
                    .file(entry.path().display().to_string())
            })?;
        }
        remove(&path)?;
    }
    Ok(())
}

/// What a killed plimsoll left half made. Its name begins with a dot, so that it was never used.
fn remove_half_made(folder: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with('.') {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Problem::environment(format!("failed to remove: {error}"))
                .file(path.display().to_string())
                .into())
        }
        _ => Ok(()),
    }
}
