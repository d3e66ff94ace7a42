//! `plimsoll find`: the load line of a stack, from one command.

mod goal;
pub(crate) mod limit;

use analysis::ExpectedSamples;
use clap::Args;
use experiment::{find, pursue};
use model::catalogue::tier_setting;
use model::record::plan::{Placement, number_of_guests};
use model::record::study::{Arm, By, Find, FindAnswer, FindGoal, Question, SizeForUsers, Trial};
use model::record::{Outcome, ValidityCheck};
use model::{Catalogue, Checked, Kind, Plan, Problem, Recipe, Result, units};

use crate::context::Context;
use crate::verbs::enough_samples;
use crate::verbs::finish::{self, Ended, Sentences, refuse_beside_resume};
use crate::verbs::recipe_args::{Decided, StackArgs, named, with_fault, without_load};
use crate::verbs::server_args::ServerArgs;
use goal::GoalArgs;
use runner::fleet::choice::FleetChoice;
use runner::progress::Progress;
use runner::study_so_far::FindSoFar;
use runner::trial::TrialBench;
use runner::trial::study_in_progress::StudyInProgress;
use runner::{ceiling, cpus};
use wording::Asking;

/// CPUs that the web tier is held to, one after the other, where the generator or the machine ends before the stack does. A
/// tenth leaves the generator several times what most servers of files can do with it; less than a twentieth the kernel does
/// not give out evenly.
const WEB_CORES: [f64; 2] = [0.1, 0.05];

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
    /// Let agents drive the users instead of this process: local:N starts N of them on this machine, a name is that of a
    /// fleet (`plimsoll fleet`)
    #[arg(long, value_name = "local:N|NAME")]
    fleet: Option<FleetChoice>,
    #[command(flatten)]
    server: ServerArgs,
    /// Go on with a study that was interrupted or killed: its id, the beginning of it, or `last`
    #[arg(long, value_name = "STUDY")]
    resume: Option<String>,
    /// Print the study's record as JSON (docs/reference/study-json.md) instead of the answer in words
    #[arg(long)]
    json: bool,
}

impl FindArgs {
    /// What will be done.
    ///
    /// # Errors
    /// What is wrong with the recipe, and with the goal.
    pub(crate) fn check(&self, context: &Context) -> Result<Checked> {
        if let Some(study) = &self.resume {
            return Ok(Checked { ok: vec![format!("goes on with {study}")], ..Checked::default() });
        }
        let (mut recipe, file) = named(self.kit.as_deref().unwrap_or_default())?;
        self.stack.lay_over(&mut recipe)?;
        let recipe = with_fault(recipe, &context.catalogue)?;
        // Any load will do: which one it is, is what is looked for.
        let first = Recipe { users: Some(1), rate: None, stages: Vec::new(), ..recipe.clone() };
        let plan = Plan::resolve(&first, file.as_deref(), &context.catalogue, &cpus::allowed())?;
        let goal = self.goal.goal(first.seed.unwrap_or(1))?;
        kit::lint(&context.catalogue, &plan.kit.name)?;
        kit::check_targets(&plan, &context.catalogue)?;
        let (kit, stack, budget) = (&plan.kit.title, &plan.stack.name, units::show_seconds(goal.budget_s));
        let sentence =
            format!("looks within {budget} for the most that {kit} serves on {stack} within its targets");
        let mut goal = goal.clone();
        if !self.goal.starts() {
            goal = goal.starting_at(plan.kit.first_load());
        }
        let short = short_of_samples(&goal, &recipe, &context.catalogue)?;
        let lacking = match self.goal.is_quick() {
            true => quick_without(&short, &goal),
            false => wording::samples::expected(&short, Asking::Trial),
        };
        let ok = [sentence].into_iter().chain(lacking).collect();
        Ok(Checked { ok, takes_s: Some(goal.budget_s), ..Checked::default() })
    }
}

pub(crate) fn main(args: &FindArgs, context: &mut Context) -> Result<u8> {
    context.settings.fleet.clone_from(&args.fleet);
    let bench = match &args.resume {
        Some(name) => resume(args, name, context)?,
        None => begin(args, context)?,
    };
    let ended = search(bench)?;
    let line = ended.study.record().question.kind().load_line();
    let code = if line.is_some() { 0 } else { Kind::Invalid.exit_code() };
    ended.finish(args.json, code, context)
}

fn begin<'a>(args: &FindArgs, context: &'a mut Context) -> Result<TrialBench<'a>> {
    let (recipe, file) = named(args.kit.as_deref().unwrap_or_default())?;
    let mut recipe = without_load(recipe, file.as_deref(), Decided::Load, context);
    args.stack.lay_over(&mut recipe)?;
    let mut recipe = without_load(with_fault(recipe, &context.catalogue)?, None, Decided::Load, context);
    let mut goal = args.goal.goal(recipe.seed.unwrap_or(1))?;
    if !args.goal.starts() {
        goal = goal.starting_at(context.catalogue.kit(&recipe.kit)?.first_load());
    }
    let guests = number_of_guests(&recipe, &context.catalogue)?;
    let goal = within_reach(goal, guests.max(1), &mut recipe, context)?;
    with_enough_samples(args, &goal, &mut recipe, context)?;
    let label = recipe.target.clone().or(recipe.stack.clone());
    let label = match label {
        Some(label) => label,
        None => context.catalogue.kit(&recipe.kit)?.default_stack,
    };
    let arm = Arm { label, recipe, levels: Default::default(), stored_run: None, catalogue: None };
    let load = (goal.by, goal.start);
    let question = Question::Find(Find { goal, answer: None });
    TrialBench::begin(question, &[arm], load, &args.server.access(), context.environment())
}

/// What each target can have of samples in a search trial of the first load.
fn short_of_samples(goal: &FindGoal, recipe: &Recipe, catalogue: &Catalogue) -> Result<Vec<ExpectedSamples>> {
    let (users, rate) = match goal.by {
        By::Users => (Some(goal.start.round().max(1.0) as u32), None),
        By::Rate => (recipe.users, Some(format!("{}/s", goal.start))),
    };
    let first = Recipe { users, rate, ..recipe.clone() };
    let plan = Plan::resolve(&first, None, catalogue, &cpus::allowed())?;
    enough_samples::expected(&plan, &plan.load, goal.window_s, catalogue)
}

/// That a quick search leaves out what can't be judged; absent where all can.
fn quick_without(short: &[ExpectedSamples], goal: &FindGoal) -> Option<String> {
    let aside = wording::samples::aside(short);
    (!aside.is_empty()).then(|| wording::samples::left_out(&aside, goal.window_s))
}

/// Says which target will lack samples, and what to do about it; a quick search leaves it out by itself.
fn with_enough_samples(
    args: &FindArgs,
    goal: &FindGoal,
    recipe: &mut Recipe,
    context: &mut Context,
) -> Result<()> {
    let short = short_of_samples(goal, recipe, &context.catalogue)?;
    let told = match args.goal.is_quick() {
        true => {
            recipe.qos.extend(wording::samples::aside(&short).iter().map(|name| format!("without {name}")));
            quick_without(&short, goal)
        }
        false => wording::samples::expected(&short, Asking::Trial),
    };
    if let Some(told) = told {
        context.console.note(&told);
    }
    Ok(())
}

/// What the search may change so that there is an answer; where the size was said, it doesn't look for more users than its
/// data set is for, and says so.
fn within_reach(
    goal: FindGoal,
    guests: usize,
    recipe: &mut Recipe,
    context: &mut Context,
) -> Result<FindGoal> {
    let mut goal = goal.for_guests(guests);
    let kit = context.catalogue.kit(&recipe.kit)?;
    if recipe.target.is_none() {
        goal.stack_cores = Some(Placement::of_machine(&cpus::allowed()).stack.len() as f64);
    }
    if recipe.target.is_none() && !recipe.set.keys().any(|key| key.ends_with(tier_setting::CPU)) {
        goal.web_cores = WEB_CORES.to_vec();
    }
    if recipe.size.is_none() && recipe.target.is_none() && goal.by == By::Users {
        let each = |size: SizeForUsers| SizeForUsers { users: size.users * guests as f64, ..size };
        goal = goal.through_sizes(kit.sizes_for_users().into_iter().map(each).collect());
        if let Some(first) = goal.sizes.first() {
            recipe.size = Some(first.size.clone()).filter(|size| *size != kit.default_size);
            return Ok(goal);
        }
    }
    let size = recipe.size.as_ref().unwrap_or(&kit.default_size);
    let shown = format!("`plimsoll list {}` shows its sizes", kit.name);
    let values = kit.size(size).map_err(|what| Problem::recipe(what).key("size").remedy(shown))?;
    let Some(most) = kit.most_users(&values) else { return Ok(goal) };
    let Some(capped) = goal.up_to(most * guests as f64) else { return Ok(goal) };
    let each = if guests > 1 { " of each guest" } else { "" };
    let told =
        format!("a data set of size {size} is for {most} users{each}: it looks no further (--size for more)");
    context.console.note(&told);
    Ok(capped)
}

fn resume<'a>(args: &FindArgs, name: &str, context: &'a mut Context) -> Result<TrialBench<'a>> {
    let mut given = args.goal.given();
    given.extend(args.stack.given());
    given.extend(args.kit.as_ref().map(|_| "KIT"));
    refuse_beside_resume(given, "the study says what is looked for, and on what")?;
    let mut study = StudyInProgress::resume(name, "find", &context.home)?;
    let goal = match &mut study.record.question {
        Question::Find(find) => {
            find.answer = None;
            find.goal.clone()
        }
        _ => return Err(Problem::bug("a find is no find").into()),
    };
    let (id, kept) = (study.record.id.clone(), study.record.trials.len());
    let spent = model::units::show_seconds(study.spent_s().round());
    context.console.done(&format!("going on with {id}: {kept} trials are kept, {spent} spent"));
    study.record.outcome = Outcome::Unfinished;
    TrialBench::go_on(study, (goal.by, goal.start), &args.server.access(), context.environment())
}

/// Measures until the answer is known, the user has enough, or going on is senseless; whatever it is, it is kept.
fn search(mut bench: TrialBench<'_>) -> Result<Ended> {
    let question = bench.study.record.question.clone();
    let Question::Find(Find { goal, .. }) = question.clone() else {
        return Err(Problem::bug("a find is no find").into());
    };
    let before_s = bench.study.spent_s();
    let mut so_far =
        FindSoFar::new(question, goal.clone(), move |trials: &[Trial]| spent_s(trials, before_s));
    bench.show(move |trials| so_far.after(trials));
    let mut trials = bench.study.record.trials.clone();
    let next = |trials: &[Trial]| find::next(&goal, trials, spent_s(trials, before_s));
    let (answer, ended) = match pursue(next, &mut bench, &mut trials) {
        Ok(answer) => (Some(answer), Ok(())),
        Err(problems) => {
            let interrupted = bench.env.interrupt.count() > 0;
            let answer = || find::interrupted(&goal, &trials, bench.study.spent_s());
            (interrupted.then(answer), Err(problems))
        }
    };
    let mut find = Find { goal, answer };
    wording::find::fill_in(&mut find, &trials);
    if let Some(FindAnswer::LoadLine(line)) = &find.answer {
        let check = room(&bench, &trials, line.load);
        bench.study.record.checks.extend(check);
    }
    let sentence = find.answer.as_ref().map(|answer| wording::find::answer(&find.goal, answer));
    let sentence = sentence.unwrap_or_default();
    bench.study.record.question = Question::Find(find);
    explained(&mut bench);
    // Its answer says itself that it was interrupted.
    finish::close(bench, ended, Sentences { interrupted: sentence.clone(), completed: sentence })
}

/// Fills in what holds the stack. That it can't be told takes nothing away from the answer.
fn explained(bench: &mut TrialBench<'_>) {
    let record = &bench.study.record;
    let run = |trial: &Trial| Ok(bench.study.runs()?.find(&trial.run)?.record().clone());
    match limit::of(record, run, bench.env.catalogue) {
        Ok(diagnosis) => bench.study.record.diagnosis = diagnosis,
        Err(problems) => bench.env.progress.problem(&problems),
    }
}

/// Seconds that the study had taken at the last trial's end. From the trials, so that the same trials give the same
/// step.
fn spent_s(trials: &[Trial], before_s: f64) -> f64 {
    trials.last().map_or(0.0, |last| last.began_s + last.took_s).max(before_s)
}

/// Whether the generator could have driven five times what the stack took at the line; by the trial nearest to it.
fn room(bench: &TrialBench<'_>, trials: &[Trial], load: f64) -> Option<ValidityCheck> {
    let ceiling = bench.study.record.ceiling.as_ref()?;
    let away = |trial: &&Trial| (trial.load / load).ln().abs();
    let valid = trials.iter().filter(|trial| trial.valid());
    let nearest = valid.min_by(|one, other| away(one).total_cmp(&away(other)))?;
    Some(ceiling::check(ceiling, bench.requests_per_s(nearest)?))
}
