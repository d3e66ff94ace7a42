//! `plimsoll runs`: the runs and studies that are kept.

use clap::Args;
use model::{Problem, Result};
use store::{Runs, Studies};

use crate::context::Context;

/// List the runs and studies that are kept.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll runs                    runs, and then studies
  plimsoll runs --studies -n 5     the last five studies
  plimsoll runs --json             runs as JSON; with --studies studies")]
pub(crate) struct RunsArgs {
    /// Only studies: find, compare, sweep
    #[arg(long)]
    studies: bool,
    /// Print JSON, a list of summaries
    #[arg(long)]
    json: bool,
    /// Show only the last N
    #[arg(long, short = 'n', value_name = "N")]
    last: Option<usize>,
}

pub(crate) fn main(args: &RunsArgs, context: &mut Context) -> Result<u8> {
    let width = context.console.width();
    let mut studies = Studies::open(&context.home)?.list()?;
    keep_last(&mut studies, args.last);
    let mut runs = if args.studies { Vec::new() } else { Runs::open(&context.home)?.list()? };
    keep_last(&mut runs, args.last);
    let text = match (args.json, args.studies) {
        (true, false) => json(serde_json::to_string_pretty(&runs))?,
        (true, true) => json(serde_json::to_string_pretty(&studies))?,
        (false, true) => report::study::list(&studies, width),
        (false, false) if studies.is_empty() => report::list_table(&runs, width),
        (false, false) => {
            format!("{}\n{}", report::list_table(&runs, width), report::study::list(&studies, width))
        }
    };
    context.console.result(&text);
    Ok(0)
}

fn keep_last<T>(list: &mut Vec<T>, last: Option<usize>) {
    if let Some(last) = last {
        list.drain(..list.len().saturating_sub(last));
    }
}

fn json(text: serde_json::Result<String>) -> Result<String> {
    Ok(text.map_err(|error| Problem::bug(error.to_string()))?)
}
