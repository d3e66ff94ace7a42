//! The binary (layer 3): verbs, console, exit codes. It wires the rooms together and does nothing else; only here is
//! anything printed, and only here does the process end.

mod bench;
mod cli;
mod console;
mod context;
mod interrupt;
mod verbs;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Verb};
use context::Context;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Verb::Keeper(args) = cli.verb {
        return verbs::keeper::main(&args);
    }
    let mut context = match Context::new(&cli.global) {
        Ok(context) => context,
        Err(problems) => {
            console::Console::new(true).problem(&problems.to_string());
            return ExitCode::from(problems.exit_code());
        }
    };
    let outcome = match cli.verb {
        Verb::Run(args) => verbs::run::main(&args, &mut context),
        Verb::Try(args) => verbs::try_kit::main(&args, &mut context),
        Verb::Up(args) => verbs::up::main(&args, &mut context),
        Verb::Check(args) => verbs::check::main(&args, &mut context),
        Verb::List(args) => verbs::list::main(&args, &mut context),
        Verb::Runs(args) => verbs::runs::main(&args, &mut context),
        Verb::Show(args) => verbs::show::main(&args, &mut context),
        Verb::Report(args) => verbs::report::main(&args, &mut context),
        Verb::Doctor(args) => verbs::doctor::main(&args, &mut context),
        Verb::Clean(args) => verbs::clean::main(&args, &mut context),
        Verb::Keeper(_) => Ok(0),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(problems) => {
            context.console.problem(&problems.to_string());
            ExitCode::from(problems.exit_code())
        }
    }
}
