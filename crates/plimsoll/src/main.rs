//! The binary (layer 4): verbs, console, exit codes. It wires the rooms together and does nothing else; only here is
//! anything printed, and only here does the process end.

mod cli;
mod console;
mod context;
mod global_args;
mod progress_file;
mod signals;
mod verbs;
mod version;

use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use clap::Parser;
use model::{Problem, Result};

use cli::{Cli, Verb};
use context::Context;
use runner::progress::Progress;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match &cli.verb {
        Verb::Keeper(args) => return verbs::keeper::main(args),
        Verb::Observer => return verbs::observer::main(),
        Verb::Reader => return verbs::reader::main(),
        Verb::Switch(args) => return verbs::switch::main(args),
        Verb::Stressor => runner::stressor::compute(),
        _ => {}
    }
    let mut context = match Context::new(&cli.global) {
        Ok(context) => context,
        Err(problems) => {
            console::Console::silent().problem(&problems);
            return ExitCode::from(problems.exit_code());
        }
    };
    raise_descriptor_limit();
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| dispatch(cli.verb, &mut context)));
    let outcome = outcome.unwrap_or_else(|_| {
        let problem = Problem::bug("plimsoll has a fault of its own; its trace stands above");
        Err(problem.remedy("report it with the command line and that trace").into())
    });
    let code = match outcome.and_then(|code| context.console.check().map(|()| code)) {
        Ok(code) => code,
        Err(problems) => {
            context.console.problem(&problems);
            problems.exit_code()
        }
    };
    context.console.end(code);
    ExitCode::from(code)
}

fn dispatch(verb: Verb, context: &mut Context) -> Result<u8> {
    let measures = matches!(
        verb,
        Verb::Run(_)
            | Verb::Explore(_)
            | Verb::Find(_)
            | Verb::Sweep(_)
            | Verb::Compare(_)
            | Verb::Faults(_)
            | Verb::Hit(_)
    );
    let code = perform(verb, context)?;
    if let Some(caution) = version::caution().filter(|_| measures) {
        context.console.note(&format!("note: {caution}"));
    }
    Ok(code)
}

fn perform(verb: Verb, context: &mut Context) -> Result<u8> {
    match verb {
        Verb::Run(args) => verbs::run::main(&args, context),
        Verb::Explore(args) => verbs::explore::main(&args, context),
        Verb::Find(args) => verbs::find::main(&args, context),
        Verb::Sweep(args) => verbs::sweep::main(&args, context),
        Verb::Compare(args) => verbs::compare::main(&args, context),
        Verb::Faults(args) => verbs::faults::main(&args, context),
        Verb::Hit(args) => verbs::hit::main(&args, context),
        Verb::Try(args) => verbs::try_kit::main(&args, context),
        Verb::Up(args) => verbs::up::main(&args, context),
        Verb::Check(args) => verbs::check::main(&args, context),
        Verb::List(args) => verbs::list::main(&args, context),
        Verb::Queue(args) => verbs::queue::main(&args, context),
        Verb::Serve(args) => verbs::serve::main(&args, verbs::queue::check, context),
        Verb::Note(args) => verbs::note::main(&args, context),
        Verb::Runs(args) => verbs::runs::main(&args, context),
        Verb::Show(args) => verbs::show::main(&args, context),
        Verb::Explain(args) => verbs::explain::main(&args, context),
        Verb::Capacity(args) => verbs::capacity::main(&args, context),
        Verb::Report(args) => verbs::report::main(&args, context),
        Verb::Export(args) => verbs::export::main(&args, context),
        Verb::Link(args) => verbs::link::main(&args, context),
        Verb::Agent(args) => verbs::agent::main(&args, context),
        Verb::Fleet(args) => verbs::fleet::main(&args, context),
        Verb::Doctor(args) => verbs::doctor::main(&args, context),
        Verb::Clean(args) => verbs::clean::main(&args, context),
        Verb::Keeper(_) | Verb::Observer | Verb::Reader | Verb::Switch(_) | Verb::Stressor => Ok(0),
    }
}

/// A connection is a descriptor, and the usual soft limit is 1,024: users beyond it would look like refused connections.
fn raise_descriptor_limit() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Where it can't be raised, doctor tells what it is.
    let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, raised);
}
