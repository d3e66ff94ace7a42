//! `plimsoll runs`: the runs and studies that are kept.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use model::Result;
use store::{Filter, Fold, Look, Order, Runs, Selection, Studies, StudySummary};

use crate::context::Context;

/// List the runs and studies that are kept.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll runs                    runs, and then studies
  plimsoll runs --studies -n 5     the last five studies
  plimsoll runs --where 'kit:dvdstore verdict:passed users>50 since:7d'
  plimsoll runs --where 'tag:night set:web.MaxRequestWorkers=64 p95<300ms'
  plimsoll runs --fold setup       repeats of one setup in a row: how many, the median and the spread of their figures
  plimsoll runs --fold study       with the trials of studies, a row for each study
  plimsoll runs --where study:20261121-10    the trials of one
  plimsoll runs --json             runs as JSON; with --studies studies")]
pub(crate) struct RunsArgs {
    /// Only studies: find, compare, sweep
    #[arg(long)]
    studies: bool,
    /// Only runs of which all of this holds: kit: stack: size: study: tag: verdict: set:KNOB=VALUE since: until: is:pinned
    /// like:RUN users> ops> p95<, and words of their names, notes and verdicts
    #[arg(long = "where", value_name = "FILTER", conflicts_with = "studies")]
    filter: Option<String>,
    /// What belongs together in a row: `study`, its trials; `setup`, runs of the same kit, stack, data, settings, load and versions
    #[arg(long, value_name = "FOLD", conflicts_with = "studies")]
    fold: Option<String>,
    /// Print JSON, a list of summaries; with --fold groups
    #[arg(long)]
    json: bool,
    /// Show only the last N
    #[arg(long, short = 'n', value_name = "N")]
    last: Option<usize>,
}

pub(crate) fn main(args: &RunsArgs, context: &mut Context) -> Result<u8> {
    let width = context.console.width();
    if args.studies {
        let studies = studies(args, context)?;
        match args.json {
            true => context.console.json(&studies)?,
            false => context.console.result(&report::study::list(&studies, width)),
        }
        return Ok(0);
    }
    let filter = Filter::read(args.filter.as_deref().unwrap_or_default(), now_s())?;
    // The last ones, and of these the oldest first.
    let selection = Selection { order: Order::NEWEST, rows: args.last, ..Selection::of(filter) };
    let runs = Runs::open(&context.home)?;
    let none = |context: &mut Context, all: usize| {
        context.console.result(&format!("none of the {all} runs is meant by --where"));
    };
    if let Some(fold) = &args.fold {
        let mut folded = runs.folded(Fold::read(fold)?, &selection, Look::All, Duration::MAX)?;
        folded.groups.reverse();
        match args.json {
            true => context.console.json(&folded)?,
            false if folded.runs == 0 && args.filter.is_some() => none(context, folded.all),
            false => context.console.result(&report::folded_table(&folded, width)),
        }
        return Ok(0);
    }
    let mut found = runs.select(&selection, Look::All, Duration::MAX)?;
    found.runs.reverse();
    if args.json {
        context.console.json(&found.runs)?;
        return Ok(0);
    }
    if found.runs.is_empty() && args.filter.is_some() {
        none(context, found.all);
        return Ok(0);
    }
    // A filter is of runs alone.
    let studies = if args.filter.is_some() { Vec::new() } else { studies(args, context)? };
    let mut tables = vec![report::list_table(&found.runs, width)];
    tables.extend((!studies.is_empty()).then(|| report::study::list(&studies, width)));
    context.console.result(&tables.join("\n"));
    Ok(0)
}

/// The last studies, of these the oldest first.
fn studies(args: &RunsArgs, context: &Context) -> Result<Vec<StudySummary>> {
    let mut studies = Studies::open(&context.home)?.list()?;
    let before = args.last.map_or(0, |last| studies.len().saturating_sub(last));
    studies.drain(..before);
    Ok(studies)
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
