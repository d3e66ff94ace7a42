//! `plimsoll show`: a kept run or study in the terminal, or several runs side by side.

use std::path::PathBuf;

use clap::Args;
use model::{Problem, Result};
use report::{Beside, KeptRun};

use crate::context::Context;
use crate::verbs::finish::Export;
use crate::verbs::kept::{self, Kept};
use runner::progress::Progress;
use runner::{resume, signals};

/// Show a kept run or study in the terminal, or 2 to 8 runs side by side.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll show                 the last run or study
  plimsoll show 20261121-0345   by the beginning of its id
  plimsoll show last/3          the run of the third trial of the last study, or of the last run's third guest
  plimsoll show last/3/2        the run of the second guest of that trial's run
  plimsoll show last --json
  plimsoll show last/1 last/4   the runs of two trials side by side: what differs, then figures
  plimsoll show 20261121-0345 20261121-0410 20261122-0900      three, against the first
  plimsoll show last --csv series.csv         every series, point by point
  plimsoll show last --json --series          the same as JSON")]
pub(crate) struct ShowArgs {
    /// The run or study: its id, the beginning of it, or `last`; STUDY/N is the run of its trial N, RUN/G that of its guest
    /// G, and STUDY/N/G that of a guest of a trial's run. Several runs are shown side by side, against the first
    #[arg(default_value = "last", value_name = "RUN|STUDY")]
    runs: Vec<String>,
    /// Print the record as JSON (docs/reference/run-json.md, docs/reference/study-json.md); of several runs what stands side by
    /// side
    #[arg(long)]
    json: bool,
    /// With --json: print every series of the run, point by point, instead of the record
    #[arg(long, requires = "json")]
    series: bool,
    /// Write every series of the run as CSV to this file too, or a study's trials
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// Runs that can't be held against each other.
const NOT_COMPARABLE: u8 = 2;

pub(crate) fn main(args: &ShowArgs, context: &mut Context) -> Result<u8> {
    match args.runs.as_slice() {
        [one] => one_alone(one, args, context),
        several => side_by_side(several, args, context),
    }
}

/// The first is what the others are held against.
fn side_by_side(names: &[String], args: &ShowArgs, context: &mut Context) -> Result<u8> {
    let of_one = [("--series", args.series), ("--csv", args.csv.is_some())];
    if let Some((flag, _)) = of_one.iter().find(|(_, given)| *given) {
        return Err(Problem::recipe("series are those of one run").key(*flag).remedy("one run").into());
    }
    let mut runs = Vec::new();
    for name in names {
        match kept::find(name, context)? {
            Kept::Run(run) => runs.push(KeptRun::read(&run)),
            Kept::Study(study) => return Err(no_run(&study.record().id).into()),
        }
    }
    let beside = Beside::of(&runs, 0)?;
    if args.json {
        context.console.json(&beside)?;
    } else {
        let (width, colour) = (context.console.width(), context.console.colour());
        context.console.painted(&report::beside_terminal(&beside, width, colour));
    }
    Ok(if beside.not_comparable.is_some() { NOT_COMPARABLE } else { 0 })
}

fn one_alone(name: &str, args: &ShowArgs, context: &mut Context) -> Result<u8> {
    let csv = Export::to("--csv", args.csv.as_deref())?;
    let (width, colour) = (context.console.width(), context.console.colour());
    let kept = kept::find(name, context)?;
    let text = match &kept {
        Kept::Run(run) if args.series => report::series_json(&run.record().id, &run.series()?),
        Kept::Study(study) if args.series => return Err(no_series(&study.record().id).into()),
        Kept::Run(run) if args.json => report::json(run.record()),
        Kept::Run(run) => report::terminal(&report::Page::of(run, &signals::built_in()), width, colour),
        Kept::Study(study) if args.json => report::study::json(study.record()),
        Kept::Study(study) => report::study_terminal(study.record(), study.directory(), width, colour),
    };
    context.console.painted(&text);
    if let Kept::Run(run) = &kept
        && let Some(invitation) = resume::invitation(run)
    {
        context.console.note(&invitation);
    }
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

fn no_run(study: &str) -> Problem {
    Problem::recipe(format!("{study} is a study, and runs are shown side by side"))
        .remedy(format!("{study}/1, which is the run of its first trial"))
}
