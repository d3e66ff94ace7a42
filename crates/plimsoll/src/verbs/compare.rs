//! `plimsoll compare`: which of two is faster, measured in pairs.

mod question;
mod side;
mod stored;

use std::path::PathBuf;

use clap::Args;
use experiment::compare::{self, Asked, Judgement};
use experiment::pursue;
use model::record::Outcome;
use model::record::study::{Arm, By, Compare, Question, Trial};
use model::{Checked, Kind, Plan, Problem, Problems, Result};
use store::Runs;

use crate::context::Context;
use crate::verbs::finish::{self, Ended, Export, Sentences, refuse_beside_resume};
use crate::verbs::recipe_args::StackArgs;
use crate::verbs::server_args::ServerArgs;
use question::QuestionArgs;
use runner::awake::Awake;
use runner::cpus;
use runner::fleet::choice::FleetChoice;
use runner::progress::Progress;
use runner::server::ServerAccess;
use runner::study_so_far;
use runner::trial::TrialBench;
use runner::trial::study_in_progress::StudyInProgress;

/// Compare two stacks, settings, catalogues or stored runs: which is faster, and by how much.
#[derive(Debug, Args)]
#[command(after_help = "\
A and B are each one of
  default                       the kit's default stack, or that of --stack
  lighttpd-fpm-mariadb          a stack
  web.MaxRequestWorkers=64      knobs (param.NAME=VALUE: parameters of the kit), several joined with commas
  catalogue:DIR                 the kits, services and stacks of a folder laid over the catalogue
  a combination of these, joined with commas: lighttpd-fpm-mariadb,web.server.max-worker=4
  20261121-0345                 a stored run, by the beginning of its id; then both are

Examples:
  plimsoll compare apache-event-fpm-mariadb lighttpd-fpm-mariadb --kit dvdstore --users 50
  plimsoll compare default web.MaxRequestWorkers=64 --kit dvdstore
  plimsoll compare default catalogue:new/ --kit dvdstore --gate 3% --junit compare.xml     in CI
  plimsoll compare --resume last

It is decided by the mean response time, unless --by says otherwise: the mean has the least noise, and it moves also
where the throughput can't, because a fixed number of users waits for each answer before the next request.
How to read the result: docs/studies.md.
Exit codes: 0 compared, and a gate held; 99 the gate failed; 3 the gate could not be decided, or no block was valid;
105 interrupted.")]
pub(crate) struct CompareArgs {
    /// What is compared with
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    a: Option<String>,
    /// What is compared
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    b: Option<String>,
    /// The kit, or a recipe file (FILE.toml); stored runs have theirs
    #[arg(long, value_name = "KIT|RECIPE.toml")]
    kit: Option<String>,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    question: QuestionArgs,
    /// Let agents drive the users of both sides instead of this process: local:N starts N of them on this machine
    #[arg(long, value_name = "local:N")]
    fleet: Option<FleetChoice>,
    #[command(flatten)]
    server: ServerArgs,
    /// Write the result as JUnit XML to this file: a test case for each figure, and the gate's
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Go on with a comparison that was interrupted or killed: its id, the beginning of it, or `last`
    #[arg(long, value_name = "STUDY")]
    resume: Option<String>,
    /// Print the study's record as JSON (docs/reference/study-json.md) instead of the answer in words
    #[arg(long)]
    json: bool,
}

impl CompareArgs {
    /// What will be done.
    ///
    /// # Errors
    /// What is wrong with the sides.
    pub(crate) fn check(&self, context: &mut Context) -> Result<Checked> {
        let Some((a, b)) = self.a.as_deref().zip(self.b.as_deref()) else {
            let study = self.resume.as_deref().unwrap_or_default();
            return Ok(Checked { ok: vec![format!("goes on with {study}")], ..Checked::default() });
        };
        if side::is_run(a, context) && side::is_run(b, context) {
            let runs = Runs::open(&context.home)?;
            both([runs.find(a), runs.find(b)])?;
        } else {
            let base = side::base(self.kit.as_deref(), &self.stack, context)?;
            let arms = both([side::arm(a, &base, context), side::arm(b, &base, context)])?;
            both(arms.map(|arm| {
                let catalogue = side::catalogue(&arm, &context.catalogue)?;
                Plan::resolve(&arm.recipe, None, &catalogue, &cpus::allowed())
            }))?;
        }
        Ok(Checked { ok: vec![format!("compares {a} and {b} in pairs")], ..Checked::default() })
    }
}

pub(crate) fn main(args: &CompareArgs, context: &mut Context) -> Result<u8> {
    let junit = Export::to("--junit", args.junit.as_deref())?;
    let server = args.server.access();
    context.settings.fleet.clone_from(&args.fleet);
    let ended = match (&args.resume, args.a.as_deref().zip(args.b.as_deref())) {
        (Some(name), _) => {
            let (bench, awake) = resume(args, name, &server, context)?;
            measure(bench, awake)?
        }
        (None, Some((a, b))) => pair(args, a, b, &server, context)?,
        (None, None) => return Err(Problem::recipe("a comparison needs A and B").into()),
    };
    let record = ended.study.record();
    let Question::Compare(compare) = &record.question else {
        return Err(Problem::bug("a comparison is no comparison").into());
    };
    let code = exit_code(compare);
    let text = report::study::junit(record);
    let code = ended.finish(args.json, code, context);
    match junit.zip(text) {
        Some((junit, text)) => junit.write(&text, code, context),
        None => code,
    }
}

/// Two things that are measured now, or two stored runs.
fn pair(args: &CompareArgs, a: &str, b: &str, server: &ServerAccess, context: &mut Context) -> Result<Ended> {
    match (side::is_run(a, context), side::is_run(b, context)) {
        (true, true) => {
            refuse_for_runs(args)?;
            let runs = Runs::open(&context.home)?;
            let [a, b] = both([runs.find(a), runs.find(b)])?;
            stored::compare(&args.question.stored()?, &a, &b, context)
        }
        (false, false) => {
            let base = side::base(args.kit.as_deref(), &args.stack, context)?;
            let arms = both([side::arm(a, &base, context), side::arm(b, &base, context)])?;
            let (bench, awake) = begin(args, arms.into(), server, context)?;
            measure(bench, awake)
        }
        _ => Err(side::mixed(a, b).into()),
    }
}

/// Stored runs have their kit, their stack, their load and their length: a flag about these would be without effect.
fn refuse_for_runs(args: &CompareArgs) -> Result<()> {
    let mut given = args.question.given_of_trials();
    given.extend(args.kit.as_ref().map(|_| "--kit"));
    given.extend(args.fleet.as_ref().map(|_| "--fleet"));
    given.extend(args.stack.given());
    given.extend(given_of_server(&args.server));
    let problem =
        |flag: &str| Problem::recipe(format!("{flag} says nothing about stored runs")).remedy("leave it out");
    Problems::check(given.into_iter().map(problem).collect())
}

/// The flags about a server that were given.
fn given_of_server(server: &ServerArgs) -> Vec<&'static str> {
    let given = [
        ("--allow-target", !server.allow_target.is_empty()),
        ("--unix", server.unix.is_some()),
        ("--source", !server.source.is_empty()),
        ("--insecure", server.insecure),
        ("--cacert", server.cacert.is_some()),
        ("--front-page", server.front_page.is_some()),
    ];
    given.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
}

/// The exit code that an answer stands for.
fn exit_code(compare: &Compare) -> u8 {
    let seen = compare.effects.first().is_some_and(|effect| effect.blocks > 0);
    match (compare.gate_ratio, compare.gate_held) {
        _ if !seen => Kind::Invalid.exit_code(),
        (None, _) | (Some(_), Some(true)) => 0,
        (Some(_), Some(false)) => Kind::Qos.exit_code(),
        (Some(_), None) => Kind::Invalid.exit_code(),
    }
}

/// Both sides, or what is wrong with either.
fn both<T>([a, b]: [Result<T>; 2]) -> Result<[T; 2]> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok([a, b]),
        (a, b) => {
            let mut problems = Vec::new();
            for wrong in [a.err(), b.err()].into_iter().flatten() {
                problems.extend(wrong.into_vec());
            }
            problems.dedup();
            Err(Problems::check(problems)
                .err()
                .unwrap_or_else(|| Problem::bug("an error without a problem").into()))
        }
    }
}

fn begin<'a>(
    args: &CompareArgs,
    arms: Vec<Arm>,
    server: &ServerAccess,
    context: &'a mut Context,
) -> Result<(TrialBench<'a>, Option<Awake>)> {
    let seed = arms[0].recipe.seed.unwrap_or(1);
    let (arms, mut compare, load) = args.question.question(arms, seed, context)?;
    let awake = args.question.keep_awake(&mut compare, context);
    for line in wording::plan::compare(&compare, &arms).lines() {
        context.console.note(line);
    }
    let bench = TrialBench::begin(Question::Compare(compare), &arms, load, server, context.environment())?;
    Ok((bench, awake))
}

fn resume<'a>(
    args: &CompareArgs,
    name: &str,
    server: &ServerAccess,
    context: &'a mut Context,
) -> Result<(TrialBench<'a>, Option<Awake>)> {
    let mut given = args.question.given();
    given.extend(args.stack.given());
    given.extend(args.kit.as_ref().map(|_| "--kit"));
    refuse_beside_resume(given, "the study says what is compared, and how")?;
    let mut study = StudyInProgress::resume(name, "compare", &context.home)?;
    let record = &mut study.record;
    let Question::Compare(compare) = &record.question else {
        return Err(Problem::bug("a comparison is no comparison").into());
    };
    // Trials before and after can't be compared unless CPUs slept in both, or in none.
    let awake = if compare.cpus_awake { Awake::keep()? } else { None };
    let load = question::load_of(compare, &record.arms);
    record.outcome = Outcome::Unfinished;
    let (id, kept) = (record.id.clone(), record.trials.len());
    context.console.done(&format!("going on with {id}: {kept} trials are kept"));
    Ok((TrialBench::go_on(study, load, server, context.environment())?, awake))
}

/// Measures until the answer is known, the user has enough, or going on is senseless; whatever it is, it is kept. CPUs are
/// `_awake` until then.
fn measure(mut bench: TrialBench<'_>, _awake: Option<Awake>) -> Result<Ended> {
    let record = &bench.study.record;
    let Question::Compare(mut compare) = record.question.clone() else {
        return Err(Problem::bug("a comparison is no comparison").into());
    };
    let asked = measured_quantity(&compare, question::load_of(&compare, &record.arms));
    let mut trials = record.trials.clone();
    let (shown, shown_asked, arms) = (compare.clone(), asked.clone(), record.arms.clone());
    let block_s = question::block_s(&compare);
    bench.show(move |trials| study_so_far::compare(&shown, (&shown_asked, &arms), trials, block_s));
    let ended: Result<Judgement> =
        pursue(|trials: &[Trial]| compare::next(&compare, &asked, trials), &mut bench, &mut trials);
    let (judgement, ended) = match ended {
        Ok(judgement) => (judgement, Ok(())),
        Err(problems) => (compare::so_far(&compare, &asked, &trials), Err(problems)),
    };
    compare.effects = judgement.effects;
    compare.conclusion = ended.is_ok().then_some(judgement.conclusion);
    compare.gate_held = judgement.gate_held;
    compare.failed = judgement.failed;
    compare.lopsided = judgement.lopsided;
    wording::compare::fill_in(&mut compare, &trials);
    let mut sentence = wording::compare::compare(&compare, judgement.spoiled);
    if judgement.time_over {
        sentence += &wording::compare::time_over(&compare, judgement.valid + judgement.spoiled);
    }
    bench.study.record.question = Question::Compare(compare);
    finish::close(bench, ended, Sentences::of(sentence))
}

fn measured_quantity(compare: &Compare, (_, load): (By, f64)) -> Asked {
    match &compare.goal {
        Some(goal) => Asked::LoadLine(goal.clone()),
        None => Asked::Window { load },
    }
}
