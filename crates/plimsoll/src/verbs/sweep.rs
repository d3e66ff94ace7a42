//! `plimsoll sweep`: every cell of a study, measured.

mod outlook;

use std::path::{Path, PathBuf};

use analysis::sweep::SweepFindings;
use clap::Args;
use experiment::{pursue, sweep};
use model::record::Outcome;
use model::record::study::{Arm, By, Cell, FindAnswer, Form, Measurement, Question, Sweep, Trial};
use model::{Checked, Kind, Problem, Problems, Result, StudyFile, SweepPlan, units};

use crate::context::Context;
use crate::verbs::finish::{self, Export};
use runner::cpus;
use runner::progress::Progress;
use runner::server::ServerAccess;
use runner::signals;
use runner::study_so_far;
use runner::trial::TrialBench;
use runner::trial::study_in_progress::StudyInProgress;
use store::Study;

/// Measure every cell of a study: stacks, knobs and loads against each other.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll sweep sun-2008-table3              a study of the catalogue (`plimsoll list` shows them)
  plimsoll sweep workers.toml --plan          what it would do, and how long that takes
  plimsoll sweep sun-2008-table2 --full       a study as it was published, where its usual form is a short one
  plimsoll sweep workers.toml --repeats 5 --csv workers.csv
  plimsoll sweep --resume last                go on with one that was interrupted or killed

How to write a study: docs/studies.md. Every trial is kept at once.
Exit codes: 0 every cell has a result, 3 a cell has none, 105 interrupted.")]
pub(crate) struct SweepArgs {
    /// A study file, or the name of a study of the catalogue
    #[arg(value_name = "STUDY.toml|NAME", required_unless_present = "resume", conflicts_with = "resume")]
    study: Option<String>,
    /// Show what would be measured and how long it would take, and nothing else
    #[arg(long, conflicts_with = "resume")]
    plan: bool,
    /// Measure the study as it was published, not in its short form: hours
    #[arg(long, conflicts_with = "resume")]
    full: bool,
    /// How often each cell is measured, instead of what the study says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "resume")]
    repeats: Option<u32>,
    /// Seed of the order, of the users' random draws and of the data set: another seed is another data set
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    seed: Option<u64>,
    /// Steady time of each trial
    #[arg(long, value_name = "TIME", conflicts_with = "resume")]
    window: Option<String>,
    /// Go on with a study that was interrupted or killed: its id, the beginning of it, or `last`
    #[arg(long, value_name = "STUDY")]
    resume: Option<String>,
    /// Write the results as CSV to this file too
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print the study's record as JSON (docs/reference/study-json.md) instead of the table
    #[arg(long)]
    json: bool,
}

impl SweepArgs {
    /// What will be done.
    ///
    /// # Errors
    /// Everything that is wrong with the study.
    pub(crate) fn check(&self, context: &Context) -> Result<Checked> {
        if let Some(study) = &self.resume {
            return Ok(Checked { ok: vec![format!("goes on with {study}")], ..Checked::default() });
        }
        let plan = read(self, context)?;
        check_cpus(&plan)?;
        let (sweep, cells) = (&plan.sweep, plan.arms.len());
        let sentence = format!(
            "{}: {}; {cells} cells, {} trials",
            sweep.name,
            sweep.title,
            cells * sweep.repeats as usize
        );
        let usual_s = outlook::usual_s(sweep, &plan.arms, &context.catalogue)?;
        let takes_s = usual_s * cells as f64 * f64::from(sweep.repeats);
        Ok(Checked { ok: vec![sentence], takes_s: Some(takes_s), ..Checked::default() })
    }
}

pub(crate) fn main(args: &SweepArgs, context: &mut Context) -> Result<u8> {
    let csv = Export::to("--csv", args.csv.as_deref())?;
    // A stack of its own is the only server that a cell has.
    let server = ServerAccess::default();
    let (bench, usual_s) = match &args.resume {
        Some(name) => resume(name, &server, context)?,
        None => {
            let plan = read(args, context)?;
            let usual_s = outlook::usual_s(&plan.sweep, &plan.arms, &context.catalogue)?;
            let told = wording::plan::sweep(&plan, usual_s);
            if args.plan {
                context.console.result(&told);
                return Ok(0);
            }
            told.lines().for_each(|line| context.console.note(line));
            check_cpus(&plan)?;
            if let Some(told) = up_to_the_data(&plan.sweep.cells) {
                context.console.note(&told);
            }
            let (by, load) = load_of(&plan.sweep, &plan.arms);
            let question = Question::Sweep(plan.sweep);
            let bench = TrialBench::begin(question, &plan.arms, (by, load), &server, context.environment())
                .map_err(of_study)?;
            (bench, usual_s)
        }
    };
    let ended = measure(bench, usual_s)?;
    let study = &ended.study;
    let code = match &study.record().question {
        Question::Sweep(sweep) if whole(sweep, &study.record().trials) => 0,
        _ => Kind::Invalid.exit_code(),
    };
    let text = report::study::csv(study.record());
    let code = ended.finish(args.json, code, context);
    match csv {
        Some(csv) => csv.write(&text, code, context),
        None => code,
    }
}

/// Refuses a study that needs more CPUs than there are.
fn check_cpus(plan: &SweepPlan) -> Result<()> {
    let (least, here) = (plan.min_cpus.unwrap_or(1) as usize, cpus::allowed().len());
    if here >= least {
        return Ok(());
    }
    let what = format!("{} needs {least} CPUs, and here are {here}", plan.sweep.name);
    let why = "what it is about shows on fewer only as something else; the study says why (`plimsoll list`)";
    Err(Problem::environment(what).key("min_cpus").why(why).remedy("a machine that has them").into())
}

/// Where the searches for load lines end because the data sets end there.
fn up_to_the_data(cells: &[Cell]) -> Option<String> {
    let most = || cells.iter().filter_map(|cell| cell.most);
    let (least, highest) = (most().reduce(f64::min)?, most().reduce(f64::max)?);
    Some(if cells.iter().all(|cell| cell.most == Some(least)) {
        format!("no load line is looked for above {least} users: the data set is for no more")
    } else if least == highest {
        format!("in some cells no load line is looked for above {least} users: their data set is for no more")
    } else {
        format!("no load line is looked for above what a cell's data set is for: {least} to {highest} users")
    })
}

/// The study, with the flags laid over it, every cell's plan checked.
fn read(args: &SweepArgs, context: &Context) -> Result<SweepPlan> {
    let name = args.study.as_deref().unwrap_or_default();
    let (mut study, file, text) = if name.ends_with(".toml") || Path::new(name).is_file() {
        let text = std::fs::read_to_string(name)
            .map_err(|error| Problem::recipe(format!("failed to read the study: {error}")).file(name))?;
        (StudyFile::read(name, &text)?, name.to_string(), text)
    } else {
        let (study, file, text) = context.catalogue.study(name)?;
        (study, file, text.to_string())
    };
    study.repeats = args.repeats.or(study.repeats);
    study.seed = args.seed.or(study.seed);
    study.window = args.window.clone().or(study.window);
    if let Some(full) = &mut study.full {
        full.repeats = args.repeats.or(full.repeats);
        full.window = args.window.clone().or(full.window.clone());
    }
    let form = if args.full { Form::Full } else { Form::Short };
    let (catalogue, signals) = (&context.catalogue, signals::of(&context.catalogue));
    let mut plan = study.resolve(form, &file, &text, (catalogue, &signals), &cpus::allowed())?;
    kit::check_published(&study.kit, &plan.sweep.published, &context.catalogue)?;
    if matches!(plan.sweep.measurement, Measurement::Window { .. }) {
        // What a kit's default says is written down: the study is gone on with by its arms alone.
        for (arm, load) in plan.arms.iter_mut().zip(&plan.loads) {
            if arm.recipe.rate.is_none() {
                arm.recipe.users = Some(*load as u32);
            }
        }
    }
    Ok(plan)
}

/// The study to go on with, and the seconds that a cell takes once.
fn resume<'a>(name: &str, server: &ServerAccess, context: &'a mut Context) -> Result<(TrialBench<'a>, f64)> {
    let mut study = StudyInProgress::resume(name, "sweep", &context.home)?;
    let Question::Sweep(sweep) = &study.record.question else {
        return Err(Problem::bug("a sweep is no sweep").into());
    };
    let load = load_of(sweep, &study.record.arms);
    let usual_s = outlook::usual_s(sweep, &study.record.arms, &context.catalogue)?;
    let (left, all) = sweep::remaining(sweep, &loads(&study.record.arms), &study.record.trials);
    let (id, kept) = (study.record.id.clone(), study.record.trials.len());
    let told = format!("going on with {id}: {kept} trials are kept, {left} of {all} measurements are left");
    context.console.done(&told);
    study.record.outcome = Outcome::Unfinished;
    let bench = TrialBench::go_on(study, load, server, context.environment()).map_err(of_study)?;
    Ok((bench, usual_s))
}

/// What is wrong, with remedies that a sweep has: its settings are the study's, and no flag sets them.
fn of_study(problems: Problems) -> Problems {
    let told = problems.into_vec().into_iter().map(|mut problem| {
        if let Some(remedy) = problem.remedy.as_mut().filter(|remedy| remedy.contains("--set ")) {
            *remedy = remedy.replace("--set ", "") + " (in the study: its [set], or a factor's or cell's)";
        }
        problem
    });
    Problems::check(told.collect()).expect_err("none of them was left out")
}

/// Users or arrivals per second of each arm, as its recipe says them; 0 where a load line is looked for.
fn loads(arms: &[Arm]) -> Vec<f64> {
    let load = |arm: &Arm| match &arm.recipe.rate {
        Some(rate) => units::rates(rate).map_or(0.0, |(from, _)| from),
        None => arm.recipe.users.map_or(0.0, f64::from),
    };
    arms.iter().map(load).collect()
}

/// What loads are counted in, and the least that is measured: every cell's data set is for that number of users.
fn load_of(sweep: &Sweep, arms: &[Arm]) -> (By, f64) {
    match &sweep.measurement {
        Measurement::LoadLine(goal) => {
            let starts = sweep.cells.iter().map(|cell| cell.goal(goal).start);
            (goal.by, starts.fold(goal.start, f64::min))
        }
        Measurement::Window { .. } => {
            let by = if arms.iter().any(|arm| arm.recipe.rate.is_some()) { By::Rate } else { By::Users };
            (by, loads(arms).into_iter().reduce(f64::min).unwrap_or(1.0))
        }
    }
}

/// Measures every cell of `sweep`, which is about stacks of our own, keeps it as a study and prints nothing.
///
/// # Errors
/// What is wrong with an arm, and what makes going on senseless; what was measured until then is kept.
pub(crate) fn study_of(sweep: Sweep, arms: &[Arm], context: &mut Context) -> Result<Study> {
    let (by, load) = load_of(&sweep, arms);
    let usual_s = outlook::usual_s(&sweep, arms, &context.catalogue)?;
    let server = ServerAccess::default();
    let question = Question::Sweep(sweep);
    let bench = TrialBench::begin(question, arms, (by, load), &server, context.environment())?;
    measure(bench, usual_s)?.quietly(context)
}

/// Measures what is left; `usual_s` is what a cell takes once before one is over.
fn measure(mut bench: TrialBench<'_>, usual_s: f64) -> Result<finish::Ended> {
    let record = &bench.study.record;
    let Question::Sweep(mut sweep) = record.question.clone() else {
        return Err(Problem::bug("a sweep is no sweep").into());
    };
    let loads = loads(&record.arms);
    let mut trials = record.trials.clone();
    let (question, shown, shown_loads) = (record.question.clone(), sweep.clone(), loads.clone());
    bench.show(move |trials| study_so_far::sweep((&question, &shown), &shown_loads, trials, usual_s));
    let ended: Result<Vec<_>, Problems> = bench.make_data().and_then(|()| {
        pursue(|trials: &[Trial]| sweep::next(&sweep, &loads, trials), &mut bench, &mut trials)
    });
    let (cells, ended) = match ended {
        Ok(cells) => (cells, Ok(())),
        Err(problems) => (sweep::so_far(&sweep, &loads, &trials), Err(of_study(problems))),
    };
    sweep.cells = cells;
    analysis::published::beside(&mut sweep, &trials);
    wording::sweep::fill_in(&mut sweep, &trials);
    let findings = SweepFindings::of(&sweep, &trials);
    let sentence = wording::sweep::sweep(&sweep, &bench.study.record.arms, &findings);
    bench.study.record.question = Question::Sweep(sweep);
    finish::close(bench, ended, finish::Sentences::of(sentence))
}

/// Every cell has a result.
fn whole(sweep: &Sweep, trials: &[Trial]) -> bool {
    (0..sweep.cells.len()).all(|arm| match sweep.measurement {
        Measurement::Window { .. } => trials.iter().any(|trial| trial.arm == arm && trial.valid()),
        Measurement::LoadLine(_) => {
            sweep.cells[arm].answers.iter().any(|answer| matches!(answer, FindAnswer::LoadLine(_)))
        }
    })
}

#[cfg(test)]
mod tests {
    use testkit::studies::{SweepShape, sweep};

    use super::*;

    #[test]
    fn a_cell_without_a_load_line_has_no_result_whatever_else_was_found_out() {
        let mut record = sweep(SweepShape::LoadLines);
        let Question::Sweep(sweep) = &mut record.question else { panic!("it is a sweep") };
        let lines = |cell: &Cell| {
            cell.answers.iter().filter(|answer| matches!(answer, FindAnswer::LoadLine(_))).count()
        };
        sweep.cells.retain(|cell| lines(cell) > 0);
        assert!(!sweep.cells.is_empty() && whole(sweep, &record.trials));
        sweep.cells[0].answers.retain(|answer| matches!(answer, FindAnswer::NoAnswer(_)));
        assert!(!whole(sweep, &record.trials));
    }

    #[test]
    fn a_remedy_that_is_a_flag_of_a_run_is_one_of_the_study_here() {
        let limit = "run as root, or --set web.cgroup.memory=0 --set web.cgroup.cpu=0";
        let found = vec![
            Problem::environment("it can't be limited").remedy(limit),
            Problem::recipe("it is wrong").remedy("another"),
        ];
        let told = of_study(Problems::check(found).expect_err("two problems")).to_string();
        let off = "or web.cgroup.memory=0 web.cgroup.cpu=0 (in the study: ";
        assert!(told.contains(off), "{told}");
        assert!(!told.contains("--set") && told.ends_with("try: another"), "{told}");
    }

    #[test]
    fn where_searches_end_is_said_once_for_all_cells() {
        let told = |most: &[Option<f64>]| {
            let cells: Vec<Cell> = most.iter().map(|most| Cell { most: *most, ..Cell::default() }).collect();
            up_to_the_data(&cells).unwrap_or_default()
        };
        assert_eq!(told(&[None, None]), "");
        assert!(told(&[Some(40.0), Some(40.0)]).contains("above 40 users: the data set"));
        assert!(
            told(&[Some(40.0), None]).starts_with("in some cells")
                && told(&[Some(40.0), None]).contains("40 users")
        );
        assert!(
            told(&[Some(900.0), Some(40.0), None]).ends_with("a cell's data set is for: 40 to 900 users")
        );
    }

    #[test]
    fn every_cell_can_be_resolved_at_the_load_that_stands_for_all() {
        let mut record = sweep(SweepShape::LoadLines);
        let Question::Sweep(sweep) = &mut record.question else { panic!("it is a sweep") };
        sweep.cells[1].most = Some(4.0);
        assert_eq!(load_of(sweep, &record.arms), (By::Users, 4.0));
    }
}
