//! `plimsoll switch`: the process that carries packets between hosts of a stack and holds them. Hidden: the testbed starts it.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;
use model::Result;
use testbed::switch::{SwitchPort, run};

use crate::console::Console;
use runner::progress::Progress;

/// What the testbed passes on.
#[derive(Debug, Args)]
pub(crate) struct SwitchArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

pub(crate) fn main(args: &SwitchArgs) -> ExitCode {
    match carry(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            Console::silent().problem(&problems);
            ExitCode::from(problems.exit_code())
        }
    }
}

fn carry(args: &SwitchArgs) -> Result<()> {
    run(&SwitchPort::read_all(&args.args)?, std::io::stdin(), std::io::stdout().lock())
}
