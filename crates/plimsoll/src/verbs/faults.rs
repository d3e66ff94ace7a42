//! `plimsoll faults`: bottlenecks that are made on purpose, and whether the diagnosis finds them.

mod busy;
mod table;

use std::collections::BTreeSet;
use std::time::Instant;

use analysis::score::{Judged, Score};
use clap::Args;
use model::{Catalogue, Checked, FaultFile, Kind, Plan, Problem, Problems, Recipe, Result, RunRecord, units};

use crate::context::Context;
use crate::verbs::kept;
use runner::cpus;
use runner::outcome;
use runner::progress::Progress;
use runner::server::ServerAccess;
use table::Row;

/// Inject each fault of the catalogue and hold the diagnosis against what is known.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll faults                      all of them, and the table
  plimsoll faults --list               what there is
  plimsoll faults --quick              the few that the gate runs
  plimsoll faults fpm-children db-hot-row --repeat 3
  plimsoll run dvdstore --fault db-hot-row      one of them, with its whole report

Every run is kept. Exit codes: 0 the marks are met, 99 they are not, 105 interrupted.")]
pub(crate) struct FaultsArgs {
    /// Names of faults; all when there is none
    #[arg(value_name = "NAME", conflicts_with = "quick")]
    names: Vec<String>,
    /// Only those that the gate runs
    #[arg(long)]
    quick: bool,
    /// How often each is run, with users who draw anew
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
    /// Show what there is and run nothing
    #[arg(long)]
    list: bool,
    /// Print the table as JSON
    #[arg(long)]
    json: bool,
}

impl FaultsArgs {
    /// What will be done.
    ///
    /// # Errors
    /// Faults that there are not.
    pub(crate) fn check(&self, context: &Context) -> Result<Checked> {
        let faults = chosen(self, context)?;
        let sentence = format!("injects {} faults and scores the diagnosis of each", faults.len());
        Ok(Checked { ok: vec![sentence], ..Checked::default() })
    }
}

pub(crate) fn main(args: &FaultsArgs, context: &mut Context) -> Result<u8> {
    let faults = chosen(args, context)?;
    if args.list {
        context.console.result(&table::list(&faults));
        return Ok(0);
    }
    let began = Instant::now();
    let (mut rows, mut broken) = (Vec::new(), None);
    let orders: Vec<(u32, &FaultFile)> =
        (1..=args.repeat).flat_map(|number| faults.iter().map(move |fault| (number, fault))).collect();
    for (index, (number, fault)) in orders.iter().enumerate() {
        let row = match one(fault, *number, context) {
            Ok(row) => row,
            // The runs until then are worth their table.
            Err(problems) => {
                broken = Some(problems);
                break;
            }
        };
        let place = format!("{} of {}", index + 1, orders.len());
        context.console.done(&format!("{place}  {}", table::line(&row)));
        rows.push(row);
        if context.interrupt.count() > 0 {
            break;
        }
    }
    let judged: Vec<Judged> = rows.iter().filter_map(Row::judged).collect();
    let score = Score::of(&judged);
    let took_s = began.elapsed().as_secs_f64();
    context.console.clear();
    let text = if args.json {
        table::json(&rows, &score, took_s)?
    } else {
        table::text(&rows, &judged, &score, took_s)
    };
    context.console.result(&text);
    if let Some(problems) = broken {
        return Err(problems);
    }
    refuse_skips(&rows, context.in_ci)?;
    if judged.is_empty() && context.interrupt.count() == 0 {
        return Err(Problem::environment("no fault could be injected on this machine")
            .why("nothing was held against what is known")
            .remedy("the reasons stand in the table")
            .into());
    }
    let code = match (context.interrupt.count(), score.meets(args.quick)) {
        (0, true) => 0,
        (0, false) => Kind::Qos.exit_code(),
        (_, _) => Kind::Interrupted.exit_code(),
    };
    Ok(code)
}

/// The faults that were asked for; all mistakes of their files at once.
fn chosen(args: &FaultsArgs, context: &Context) -> Result<Vec<FaultFile>> {
    let catalogue = &context.catalogue;
    let names: BTreeSet<&str> = args.names.iter().map(String::as_str).collect();
    let names: Vec<&str> = if names.is_empty() { catalogue.faults() } else { names.into_iter().collect() };
    let (mut faults, mut problems) = (Vec::new(), Vec::new());
    for name in names {
        match catalogue.fault(name).and_then(|fault| plan(&fault, 1, catalogue).map(|_| fault)) {
            Ok(fault) => faults.push(fault),
            Err(found) => problems.extend(found.into_vec()),
        }
    }
    Problems::check(problems)?;
    faults.retain(|fault| !args.quick || fault.quick);
    if faults.is_empty() {
        return Err(Problem::recipe("the catalogue has no fault to inject").into());
    }
    Ok(faults)
}

/// The plan of a fault's own recipe, and the catalogue with its patches. The users of each repeat draw anew, on the same
/// data.
pub(super) fn plan(
    fault: &FaultFile,
    number: u32,
    catalogue: &Catalogue,
) -> Result<(Recipe, Plan, Catalogue)> {
    let mut catalogue = catalogue.clone();
    fault.patch(&mut catalogue)?;
    let seed = fault.recipe.seed.unwrap_or(model::catalogue::load::Load::default().seed);
    let fault_name = Some(fault.name.clone());
    let recipe =
        Recipe { fault: fault_name, seed: Some(seed + u64::from(number) - 1), ..fault.recipe.clone() };
    let file = format!("faults/{}.toml", fault.name);
    let resolved = Plan::resolve(&recipe, Some(&file), &catalogue, &cpus::allowed())?;
    Ok((recipe, Plan { data_seed: Some(seed), ..resolved }, catalogue))
}

/// Runs a fault once and looks at what the diagnosis says.
fn one(fault: &FaultFile, number: u32, context: &mut Context) -> Result<Row> {
    let began = Instant::now();
    context.console.step(&format!("{}: {}", fault.name, fault.title));
    let measured = busy::with_users(fault, context, |fault, context| measured(fault, number, context));
    let took_s = began.elapsed().as_secs_f64();
    match measured {
        Ok(record) => Ok(Row::of(fault, &record, took_s)),
        // What this machine can't do, and nothing else.
        Err(problems) if problems.iter().all(|problem| problem.kind == Kind::Environment) => {
            let reasons: Vec<String> = problems.iter().map(|problem| problem.what.clone()).collect();
            Ok(Row::skipped(fault, &reasons.join("; "), took_s))
        }
        Err(problems) => Err(problems),
    }
}

/// A run of the fault's recipe, kept with its report.
fn measured(fault: &FaultFile, number: u32, context: &mut Context) -> Result<RunRecord> {
    let (recipe, plan, catalogue) = plan(fault, number, &context.catalogue)?;
    let server = ServerAccess::default();
    let measured = outcome::run(&recipe, &plan, &server, &mut context.environment().with(&catalogue))?;
    kept::keep_run_report(&measured, context);
    Ok(measured.run.record().clone())
}

/// In the gate nothing is skipped.
fn refuse_skips(rows: &[Row], in_ci: bool) -> Result<()> {
    let skipped: Vec<&str> = rows.iter().filter_map(|row| row.skipped.as_deref()).collect();
    if skipped.is_empty() || !in_ci {
        return Ok(());
    }
    let what = format!("{} were skipped: {}", units_of(skipped.len()), skipped.join("; "));
    Err(Problem::environment(what).why("CI=true: a gate that skips proves nothing").into())
}

fn units_of(count: usize) -> String {
    if count == 1 { "1 fault".to_string() } else { format!("{count} faults") }
}

/// For people.
fn seconds(took_s: f64) -> String {
    units::show_seconds(took_s.round())
}
