//! `plimsoll keeper`: the process that ends a lab whose tool has died. Hidden: the testbed starts it.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use crate::console::Console;
use runner::progress::Progress;

/// What the testbed passes on.
#[derive(Debug, Args)]
pub(crate) struct KeeperArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

pub(crate) fn main(args: &KeeperArgs) -> ExitCode {
    match testbed::keeper::run(&args.args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            Console::silent().problem(&problems);
            ExitCode::from(problems.exit_code())
        }
    }
}
