//! `plimsoll observer`: the process that watches the machine and the tiers of a run. Hidden: the tool starts it.

use std::process::ExitCode;

use crate::console::Console;
use runner::progress::Progress;

/// What watches must not push aside what is watched: where CPUs are short, it waits.
const NICE: i32 = 10;

pub(crate) fn main() -> ExitCode {
    // Without the right to, it runs as it is.
    _ = rustix::process::nice(NICE);
    match observe::observer::run(std::io::stdin(), std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            Console::silent().problem(&problems);
            ExitCode::from(problems.exit_code())
        }
    }
}
