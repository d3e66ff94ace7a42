//! `plimsoll find`: the load line of a stack, from one command.

mod goal;
pub(crate) mod limit;

use clap::Args;
use experiment::{find, pursue};
use model::record::{Outcome, ValidityCheck};
use model::study::{Arm, Find, FindAnswer, FindGoal, Question, Trial};
use model::{Kind, Problem, Problems, Recipe, Result};
use store::Study;

use crate::bench::ceiling;
use crate::bench::outcome;
use crate::bench::server::ServerArgs;
use crate::bench::trial::TrialBench;
use crate::bench::trial::sitting::Sitting;
use crate::context::Context;
use crate::verbs::closing;
use crate::verbs::recipe_args::{Decided, StackArgs, named, with_fault, without_load};
use goal::GoalArgs;

/// Find how many users a stack serves within its targets, with an interval.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll find dvdstore
  plimsoll find dvdstore --quick --qos 'p95 < 300ms'
  plimsoll find dvdstore --stack lighttpd-fpm-mariadb --within 3% --budget 30m
  plimsoll find dvdstore --by rate                       arrivals per second instead of users
  plimsoll find dvdstore --target http://127.0.0.1:8080  a server that somebody else started
  plimsoll find --resume last                            go on with one that was interrupted or killed

Every trial is kept at once: `plimsoll show STUDY/3` shows that of trial 3.
Exit codes: 0 a load line was found, 3 there is none that can be stood behind, 105 interrupted.")]
pub(crate) struct FindArgs {
    /// A kit's name, or a recipe file (FILE.toml), whose load is not used
    #[arg(value_name = "KIT|RECIPE.toml", required_unless_present = "resume")]
    kit: Option<String>,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    goal: GoalArgs,
    #[command(flatten)]
    server: ServerArgs,
    /// Go on with a study that was interrupted or killed: its id, the beginning of it, or `last`
    #[arg(long, value_name = "STUDY")]
    resume: Option<String>,
    /// Print the study's record as JSON (docs/reference/study-json.md) instead of the answer in words
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(args: &FindArgs, context: &mut Context) -> Result<u8> {
    let bench = match &args.resume {
        Some(name) => resume(args, name, context)?,
        None => begin(args, context)?,
    };
    let Ended { study, problems } = search(bench)?;
    closing::tell(&study, args.json, context);
    closing::keep_pages(&study, args.json, context);
    let record = study.record();
    match problems {
        Some(problems) => Err(problems),
        None => Ok(exit_code(record.outcome, &record.question)),
    }
}

/// The exit code that a study's answer stands for.
fn exit_code(outcome: Outcome, question: &Question) -> u8 {
    match (outcome, question) {
        (Outcome::Interrupted, _) => Kind::Interrupted.exit_code(),
        (_, Question::Find(Find { answer: Some(FindAnswer::LoadLine(_)), .. })) => 0,
        _ => Kind::Invalid.exit_code(),
    }
}

fn begin<'a>(args: &FindArgs, context: &'a mut Context) -> Result<TrialBench<'a>> {
    let (recipe, file) = named(args.kit.as_deref().unwrap_or_default())?;
    let mut recipe = without_load(recipe, file.as_deref(), Decided::Load, context);
    args.stack.lay_over(&mut recipe)?;
    let recipe = without_load(with_fault(recipe, &context.catalogue)?, None, Decided::Load, context);
    let mut goal = args.goal.goal(recipe.seed.unwrap_or(1))?;
    if !args.goal.starts() {
        goal = goal.starting_at(context.catalogue.kit(&recipe.kit)?.first_load());
    }
    let goal = up_to_the_data(goal, &recipe, context)?;
    let label = recipe.target.clone().or(recipe.stack.clone());
    let label = match label {
        Some(label) => label,
        None => context.catalogue.kit(&recipe.kit)?.default_stack,
    };
    let arm = Arm { label, recipe, levels: Default::default(), stored_run: None, catalogue: None };
    let load = (goal.by, goal.start);
    let question = Question::Find(Find { goal, answer: None });
    TrialBench::begin(question, &[arm], load, &args.server, context)
}

/// Doesn't look for more users than the data set is for, and says so.
fn up_to_the_data(goal: FindGoal, recipe: &Recipe, context: &mut Context) -> Result<FindGoal> {
    let kit = context.catalogue.kit(&recipe.kit)?;
    let size = recipe.size.as_ref().unwrap_or(&kit.default_size);
    let shown = format!("`plimsoll list {}` shows its sizes", kit.name);
    let values = kit.size(size).map_err(|what| Problem::recipe(what).key("size").remedy(shown))?;
    let Some(most) = kit.most_users(&values) else { return Ok(goal) };
    let Some(capped) = goal.up_to(most) else { return Ok(goal) };
    let told =
        format!("a data set of size {size} is for {most} users: it looks no further (--size for more)");
    context.console.note(&told);
    Ok(capped)
}

fn resume<'a>(args: &FindArgs, name: &str, context: &'a mut Context) -> Result<TrialBench<'a>> {
    refuse_beside_resume(args)?;
    let mut sitting = Sitting::resume(name, "find", context)?;
    let goal = match &mut sitting.record.question {
        Question::Find(find) => {
            find.answer = None;
            find.goal.clone()
        }
        _ => return Err(Problem::bug("a find is no find").into()),
    };
    let (id, kept) = (sitting.record.id.clone(), sitting.record.trials.len());
    let spent = model::units::show_seconds(sitting.spent_s().round());
    context.console.done(&format!("going on with {id}: {kept} trials are kept, {spent} spent"));
    sitting.record.outcome = Outcome::Unfinished;
    TrialBench::go_on(sitting, (goal.by, goal.start), &args.server, context)
}

/// What is measured and what for stands in the study: a flag that says it again could only contradict.
fn refuse_beside_resume(args: &FindArgs) -> Result<()> {
    let mut given = args.goal.given();
    given.extend(args.stack.given());
    given.extend(args.kit.as_ref().map(|_| "KIT"));
    let problem = |flag: &str| {
        Problem::recipe(format!("{flag} and --resume exclude each other"))
            .why("the study says what is looked for, and on what")
            .remedy("leave it out, or begin a new study")
    };
    Problems::check(given.into_iter().map(problem).collect())
}

/// How a sitting ended.
struct Ended {
    study: Study,
    /// What made going on senseless.
    problems: Option<Problems>,
}

/// Measures until the answer is known, the user has enough, or going on is senseless; whatever it is, it is kept.
fn search(mut bench: TrialBench<'_>) -> Result<Ended> {
    let Question::Find(Find { goal, .. }) = bench.sitting.record.question.clone() else {
        return Err(Problem::bug("a find is no find").into());
    };
    let before_s = bench.sitting.spent_s();
    let shown = goal.clone();
    bench.show(move |_, trials| {
        let outlook = find::outlook(&shown, trials, spent_s(trials, before_s));
        wording::progress::find(shown.by, &outlook, trials.len() + 1)
    });
    let mut trials = bench.sitting.record.trials.clone();
    let next = |trials: &[Trial]| find::next(&goal, trials, spent_s(trials, before_s));
    let outcome = pursue(next, &mut bench, &mut trials);
    let spent_s = bench.sitting.spent_s();
    let (outcome, answer, problems) = match outcome {
        Ok(answer) => (Outcome::Completed, Some(answer), None),
        Err(_) if bench.context.interrupt.count() > 0 => {
            (Outcome::Interrupted, Some(find::interrupted(&goal, &trials, spent_s)), None)
        }
        Err(problems) => (Outcome::Aborted, None, Some(problems)),
    };
    let mut find = Find { goal, answer };
    wording::find::fill_in(&mut find, &trials);
    if let Some(FindAnswer::LoadLine(line)) = &find.answer {
        let check = room(&bench, &trials, line.load);
        bench.sitting.record.checks.extend(check);
    }
    let record = &mut bench.sitting.record;
    record.outcome = outcome;
    record.sentence = match (&find.answer, &problems) {
        (Some(answer), _) => wording::find::answer(&find.goal, answer),
        (None, Some(problems)) => problems.iter().map(|one| one.what.as_str()).collect::<Vec<_>>().join("; "),
        (None, None) => record.sentence.clone(),
    };
    let how = format!("plimsoll find --resume {}", record.id);
    record.question = Question::Find(find);
    explained(&mut bench);
    if outcome == Outcome::Interrupted {
        bench.context.console.note(&format!("interrupted; to go on: {how}"));
    }
    let study = bench.end()?;
    Ok(Ended { study, problems: problems.map(|problems| outcome::with_remedy(problems, &how)) })
}

/// Fills in what holds the stack. That it can't be told takes nothing away from the answer.
fn explained(bench: &mut TrialBench<'_>) {
    let record = &bench.sitting.record;
    let run = |trial: &Trial| Ok(bench.sitting.runs()?.find(&trial.run)?.record().clone());
    match limit::of(record, run, &bench.context.catalogue) {
        Ok(diagnosis) => bench.sitting.record.diagnosis = diagnosis,
        Err(problems) => bench.context.console.problem(&problems.to_string()),
    }
}

/// Seconds that the study had taken at the last trial's end. From the trials, so that the same trials give the same
/// step.
fn spent_s(trials: &[Trial], before_s: f64) -> f64 {
    trials.last().map_or(0.0, |last| last.began_s + last.took_s).max(before_s)
}

/// Whether the generator could have driven five times what the stack took at the line; by the trial nearest to it.
fn room(bench: &TrialBench<'_>, trials: &[Trial], load: f64) -> Option<ValidityCheck> {
    let ceiling = bench.sitting.record.ceiling.as_ref()?;
    let away = |trial: &&Trial| (trial.load / load).ln().abs();
    let valid = trials.iter().filter(|trial| trial.valid());
    let nearest = valid.min_by(|one, other| away(one).total_cmp(&away(other)))?;
    Some(ceiling::check(ceiling, bench.requests_per_s(nearest)?))
}
