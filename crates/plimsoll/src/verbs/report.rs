//! `plimsoll report`: the HTML report of a kept run or study, written anew.

use std::path::{Path, PathBuf};

use clap::Args;
use model::{Problem, Result};

use crate::context::Context;
use crate::verbs::kept::{self, Kept};

/// Write the HTML report of a kept run or study; with those of the runs below it, its trials' and guests'.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The run or study: its id, the beginning of it, or `last`; STUDY/N is the run of its trial N, RUN/G that of its guest
    /// G, and STUDY/N/G that of a guest of a trial's run
    #[arg(default_value = "last", value_name = "RUN|STUDY")]
    run: String,
    /// Where to; report.html in the run's or study's directory when absent
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn main(args: &ReportArgs, context: &mut Context) -> Result<u8> {
    let path = match (kept::find(&args.run, context)?, &args.output) {
        (Kept::Run(run), None) => kept::write_run_report(&run)?,
        (Kept::Run(run), Some(path)) => write(path, &kept::run_html(&run))?,
        (Kept::Study(study), None) => kept::write_study_report(&study)?,
        (Kept::Study(study), Some(path)) => write(path, &kept::study_html(&study))?,
    };
    context.console.result(&path.display().to_string());
    Ok(0)
}

fn write(path: &Path, html: &str) -> Result<PathBuf> {
    std::fs::write(path, html).map_err(|error| {
        Problem::environment(format!("failed to write the report: {error}")).file(path.display().to_string())
    })?;
    Ok(path.to_path_buf())
}
