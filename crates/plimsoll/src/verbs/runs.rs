//! `plimsoll runs`: the runs that are kept.

use clap::Args;
use model::{Problem, Result};
use store::Runs;

use crate::context::Context;

/// List the runs that are kept.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Print JSON, a list of summaries
    #[arg(long)]
    json: bool,
    /// Show only the last N runs
    #[arg(long, short = 'n', value_name = "N")]
    last: Option<usize>,
}

pub(crate) fn main(args: &RunsArgs, context: &mut Context) -> Result<u8> {
    let mut runs = Runs::open(&context.home)?.list()?;
    if let Some(last) = args.last {
        runs.drain(..runs.len().saturating_sub(last));
    }
    let text = if args.json {
        serde_json::to_string_pretty(&runs).map_err(|error| Problem::bug(error.to_string()))?
    } else {
        report::list_table(&runs, context.console.width())
    };
    context.console.result(&text);
    Ok(0)
}
