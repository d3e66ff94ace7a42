//! `plimsoll show`: a kept run or study in the terminal.

use std::path::PathBuf;

use clap::Args;
use model::{Problem, Result};

use crate::context::Context;
use crate::verbs::finish::Export;
use crate::verbs::kept::{self, Kept};
use runner::signals;

/// Show a kept run or study in the terminal.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll show                 the last run or study
  plimsoll show 20261121-0345   by the beginning of its id
  plimsoll show last/3          the run of the third trial of the last study, or of the last run's third guest
  plimsoll show last/3/2        the run of the second guest of that trial's run
  plimsoll show last --json
  plimsoll show last --csv series.csv         every series, point by point
  plimsoll show last --json --series          the same as JSON")]
pub(crate) struct ShowArgs {
    /// The run or study: its id, the beginning of it, or `last`; STUDY/N is the run of its trial N, RUN/G that of its guest
    /// G, and STUDY/N/G that of a guest of a trial's run
    #[arg(default_value = "last", value_name = "RUN|STUDY")]
    run: String,
    /// Print the record as JSON (docs/reference/run-json.md, docs/reference/study-json.md)
    #[arg(long)]
    json: bool,
    /// With --json: print every series of the run, point by point, instead of the record
    #[arg(long, requires = "json")]
    series: bool,
    /// Write every series of the run as CSV to this file too, or a study's trials
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

pub(crate) fn main(args: &ShowArgs, context: &mut Context) -> Result<u8> {
    let csv = Export::to("--csv", args.csv.as_deref())?;
    let (width, colour) = (context.console.width(), context.console.colour());
    let kept = kept::find(&args.run, context)?;
    let text = match &kept {
        Kept::Run(run) if args.series => report::series_json(&run.record().id, &run.series()?),
        Kept::Study(study) if args.series => return Err(no_series(&study.record().id).into()),
        Kept::Run(run) if args.json => report::json(run.record()),
        Kept::Run(run) => report::terminal(&report::Page::of(run, &signals::built_in()), width, colour),
        Kept::Study(study) if args.json => report::study::json(study.record()),
        Kept::Study(study) => report::study_terminal(study.record(), study.directory(), width, colour),
    };
    context.console.painted(&text);
    let Some(csv) = csv else { return Ok(0) };
    let rows = match &kept {
        Kept::Run(run) => report::series_csv(&run.series()?),
        Kept::Study(study) => report::study::csv(study.record()),
    };
    csv.write(&rows, Ok(0), context)
}

fn no_series(study: &str) -> Problem {
    Problem::recipe("a study has no series of its own")
        .key("--series")
        .remedy(format!("{study}/1 is the run of its first trial"))
}
