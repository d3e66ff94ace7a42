//! `plimsoll show`: a kept run or study in the terminal.

use clap::Args;
use model::Result;

use crate::context::Context;
use crate::verbs::kept::{self, Kept};

/// Show a kept run or study in the terminal.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll show                 the last run or study
  plimsoll show 20261121-0345   by the beginning of its id
  plimsoll show last/3          the run of the third trial of the last study
  plimsoll show last --json")]
pub(crate) struct ShowArgs {
    /// The run or study: its id, the beginning of it, or `last`; STUDY/N is the run of its trial N
    #[arg(default_value = "last", value_name = "RUN|STUDY")]
    run: String,
    /// Print the record as JSON (docs/reference/run-json.md, docs/reference/study-json.md)
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(args: &ShowArgs, context: &mut Context) -> Result<u8> {
    let (width, colour) = (context.console.width(), context.console.colour());
    let text = match kept::find(&args.run, context)? {
        Kept::Run(run) if args.json => report::json(run.record()),
        Kept::Run(run) => report::terminal(&report::Page::of(&run), width, colour),
        Kept::Study(study) if args.json => report::study::json(study.record()),
        Kept::Study(study) => report::study::terminal(study.record(), study.directory(), width, colour),
    };
    context.console.result(&text);
    Ok(0)
}
