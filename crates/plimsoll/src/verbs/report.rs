//! `plimsoll report`: the HTML report of a kept run or study, written anew.

use std::path::{Path, PathBuf};

use clap::Args;
use model::{Problem, Result};

use crate::context::Context;
use crate::verbs::kept::{self, Kept, REPORT};
use runner::signals;

/// Write the HTML report of a kept run or study.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The run or study: its id, the beginning of it, or `last`; STUDY/N is the run of its trial N
    #[arg(default_value = "last", value_name = "RUN|STUDY")]
    run: String,
    /// Where to; report.html in the run's or study's directory when absent
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn main(args: &ReportArgs, context: &mut Context) -> Result<u8> {
    let path = match (kept::find(&args.run, context)?, &args.output) {
        (Kept::Run(run), None) => {
            run.keep(REPORT, report::html(&report::Page::of(&run, &signals::built_in())).as_bytes())?
        }
        (Kept::Run(run), Some(path)) => {
            write(path, &report::html(&report::Page::of(&run, &signals::built_in())))?
        }
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
