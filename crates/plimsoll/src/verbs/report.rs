//! `plimsoll report`: a kept run's HTML report, written anew.

use std::path::PathBuf;

use clap::Args;
use model::{Problem, Result};
use store::Runs;

use crate::context::Context;

/// Write a kept run's HTML report.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The run: its id, the beginning of it, or `last`
    #[arg(default_value = "last")]
    run: String,
    /// Where to; report.html in the run's directory when absent
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn main(args: &ReportArgs, context: &mut Context) -> Result<u8> {
    let run = Runs::open(&context.home)?.find(&args.run)?;
    let html = report::html(&report::Page::of(&run));
    let path = match &args.output {
        None => run.keep("report.html", html.as_bytes())?,
        Some(path) => {
            std::fs::write(path, html).map_err(|error| {
                Problem::environment(format!("failed to write the report: {error}"))
                    .file(path.display().to_string())
            })?;
            path.clone()
        }
    };
    context.console.result(&path.display().to_string());
    Ok(0)
}
