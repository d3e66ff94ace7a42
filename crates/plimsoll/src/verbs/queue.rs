//! `plimsoll queue`: measurements one after the other, each a process of its own.

use clap::{Args, Parser, Subcommand};
use model::record::{AskedBy, UsersWish};
use model::{Checked, Problem, Problems, Result};
use store::{Job, JobState, Queue};

use crate::cli::{Cli, Verb};
use crate::context::Context;
use runner::jobs::{self, Done, Worker};
use runner::progress::Progress;
use runner::{catalogue_folder, cpus};

/// Keep a list of measurements and do one after the other.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll queue add run dvdstore --users 50
  plimsoll queue add find dvdstore --qos 'p95 < 300ms' --json
  plimsoll queue check --json run dvdstore --users 50     what is wrong with it, or how long it takes
  plimsoll queue list
  plimsoll queue work                      does them until none waits; Ctrl-C leaves the one that runs going on
  plimsoll queue move 3 1                  job 3 is the next
  plimsoll queue pause                     no further one is begun
  plimsoll queue show 3                    what job 3 has printed
  plimsoll queue users 3 20                job 3, an `explore`, goes on with 20 users
  plimsoll queue remove 3

Every job waits for other measurements of this machine, also of terminals.")]
pub(crate) struct QueueArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Add a measurement: the words behind `plimsoll`
    Add {
        /// run, explore, find, sweep, compare, faults or hit, with its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "VERB")]
        command: Vec<String>,
    },
    /// Tell what is wrong with a measurement, or what it will do, and queue nothing
    Check {
        /// Print it as JSON: `ok`, `takes_s`, and `problems`, each with its place
        #[arg(long)]
        json: bool,
        /// run, explore, find, sweep, compare, faults or hit, with its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "VERB")]
        command: Vec<String>,
    },
    /// Show the jobs, those that wait in their order
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Put a job that waits at a place among those that wait
    Move {
        /// Its number
        job: i64,
        /// From 1
        #[arg(value_parser = clap::value_parser!(u32).range(1..))]
        place: u32,
    },
    /// Take jobs that do not run out of the queue, with what they have printed
    Remove {
        /// Their numbers
        #[arg(required = true)]
        jobs: Vec<i64>,
    },
    /// Begin no further job
    Pause,
    /// Begin jobs again
    Resume,
    /// Show what a job has printed
    Show {
        /// Its number
        job: i64,
    },
    /// Ask for another number of users of a job that explores
    Users {
        /// Its number
        job: i64,
        /// Users that are asked for from now on
        users: u32,
        /// Print what is asked for now, and the most that can be, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Do the jobs, one after the other
    Work {
        /// Wait for further ones when none is left
        #[arg(long)]
        stay: bool,
    },
}

pub(crate) fn main(args: &QueueArgs, context: &mut Context) -> Result<u8> {
    let mut queue = Queue::open(&context.home)?;
    match &args.what {
        What::Add { command } => {
            check(command, context)?;
            let here = std::env::current_dir().map_err(|error| {
                Problem::environment(format!("the working directory can't be told: {error}"))
            })?;
            let id = queue.add(command, &here, &jobs::now())?;
            context.console.result(&format!("job {id}: plimsoll {}", command.join(" ")));
        }
        What::Check { json, command } => return tell_check(command, *json, context),
        What::List { json: true } => {
            context.console.json(&queue.jobs()?)?;
        }
        What::List { json: false } => context.console.result(&list(&queue)?),
        What::Move { job, place } => {
            queue.move_to(*job, *place as usize)?;
            context.console.result(&list(&queue)?);
        }
        What::Remove { jobs } => {
            for id in jobs {
                queue.remove(*id)?;
                // What can't be removed takes room and harms nobody.
                _ = std::fs::remove_dir_all(jobs::directory(&context.home, *id));
                context.console.result(&format!("removed job {id}"));
            }
        }
        What::Pause => {
            queue.set_paused(true, &jobs::now())?;
            context.console.result("paused: no further job is begun until `plimsoll queue resume`");
        }
        What::Resume => {
            queue.set_paused(false, &jobs::now())?;
            context.console.result("jobs are begun again");
        }
        What::Show { job } => show(queue.job(*job)?, context)?,
        What::Users { job, users, json } => {
            let wish = UsersWish { users: *users, by: AskedBy::Queue };
            let asked = jobs::ask_users(&context.home, &queue.job(*job)?, wish)?;
            match json {
                true => context.console.json(&asked)?,
                false => context.console.result(&format!("job {job}: {} users asked for", asked.asked_users)),
            }
        }
        What::Work { stay } => return work(*stay, context),
    }
    Ok(0)
}

/// What will be done. What is no measurement, or can't be measured as it is asked for, is told before it is queued.
///
/// # Errors
/// Everything that is wrong with it.
pub(crate) fn check(command: &[String], context: &mut Context) -> Result<Checked> {
    let wrong = |what: String| Problem::recipe(what).remedy("plimsoll queue add run dvdstore");
    let words = std::iter::once("plimsoll".to_string()).chain(command.iter().cloned());
    let cli = Cli::try_parse_from(words).map_err(|error| wrong(clap_words(&error)))?;
    if let Some(folder) = &cli.global.catalogue {
        catalogue_folder::lay(folder, &mut context.catalogue)?;
    }
    match cli.verb {
        Verb::Run(args) => args.check(context),
        Verb::Explore(args) => args.check(context),
        Verb::Find(args) => args.check(context),
        Verb::Sweep(args) => args.check(context),
        Verb::Compare(args) => args.check(context),
        Verb::Faults(args) => args.check(context),
        Verb::Hit(_) => Ok(Checked { ok: vec!["repeats one request".to_string()], ..Checked::default() }),
        _ => Err(wrong(format!("`{}` is no measurement, and needs no queue", command.join(" "))).into()),
    }
}

/// What clap says of words that it can't read, without its usage.
fn clap_words(error: &clap::Error) -> String {
    let text = error.to_string();
    let said =
        text.split("\n\nUsage:").next().unwrap_or_default().split("\n\nFor more").next().unwrap_or_default();
    said.trim().trim_start_matches("error: ").to_string()
}

fn tell_check(command: &[String], json: bool, context: &mut Context) -> Result<u8> {
    let checked = check(command, context);
    if json {
        let code = checked.as_ref().map_or_else(Problems::exit_code, |_| 0);
        context.console.json(&Checked::of(checked))?;
        return Ok(code);
    }
    for sentence in checked?.ok {
        context.console.result(&format!("ok: {sentence}"));
    }
    Ok(0)
}

fn list(queue: &Queue) -> Result<String> {
    let jobs = queue.jobs()?;
    if jobs.is_empty() {
        return Ok("no jobs; `plimsoll queue add run dvdstore` adds one".to_string());
    }
    let mut lines: Vec<String> = jobs.iter().map(line).collect();
    if queue.is_paused()? {
        lines.push("paused: `plimsoll queue resume` lets jobs be begun again".to_string());
    }
    Ok(lines.join("\n"))
}

/// `  3  waiting      plimsoll run dvdstore`.
fn line(job: &Job) -> String {
    let state = match (job.state, job.exit_code) {
        (JobState::Ended, Some(code)) => format!("exit code {code}"),
        (state, _) => state.word().to_string(),
    };
    format!("{:>4}  {state:<13}  plimsoll {}", job.id, job.command.join(" "))
}

fn show(job: Job, context: &mut Context) -> Result<()> {
    let folder = jobs::directory(&context.home, job.id);
    let text = |name: &str| {
        std::fs::read(folder.join(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    context.console.result(&line(&job));
    for name in ["stderr", "stdout"] {
        let said = text(name).unwrap_or_default();
        if !said.trim().is_empty() {
            context.console.result(&said);
        }
    }
    Ok(())
}

fn work(stays: bool, context: &mut Context) -> Result<u8> {
    let program = context.settings.helpers.program.clone();
    let mut worker = Worker {
        home: &context.home,
        program: &program,
        cpus: &cpus::allowed(),
        interrupt: &context.interrupt,
        progress: &mut context.console,
    };
    match worker.work(stays)? {
        Done::Empty => Ok(0),
        Done::Interrupted(job) => {
            let what = match job {
                Some(id) => {
                    format!("job {id} goes on without this process; `plimsoll queue work` follows it again")
                }
                None => "no further job is begun".to_string(),
            };
            context.console.note(&what);
            Ok(model::Kind::Interrupted.exit_code())
        }
    }
}
