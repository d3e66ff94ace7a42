//! `plimsoll show`: a kept run in the terminal.

use clap::Args;
use model::Result;
use store::Runs;

use crate::context::Context;

/// Show a kept run in the terminal.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll show                 the last run
  plimsoll show 20261121-0345   by the beginning of its id
  plimsoll show last --json")]
pub(crate) struct ShowArgs {
    /// The run: its id, the beginning of it, or `last`
    #[arg(default_value = "last")]
    run: String,
    /// Print the run's record as JSON (docs/reference/run-json.md)
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(args: &ShowArgs, context: &mut Context) -> Result<u8> {
    let run = Runs::open(&context.home)?.find(&args.run)?;
    let text = if args.json {
        report::json(run.record())
    } else {
        let page = report::Page::of(&run);
        report::terminal(&page, context.console.width(), context.console.colour())
    };
    context.console.result(&text);
    Ok(0)
}
