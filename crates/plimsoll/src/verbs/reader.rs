//! `plimsoll reader`: reads files into the page cache as a part of a tier. Hidden: the tool starts it.

use std::process::ExitCode;

pub(crate) fn main() -> ExitCode {
    match testbed::page_cache::read(std::io::stdin().lock(), std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody listens any more.
        Err(_) => ExitCode::FAILURE,
    }
}
