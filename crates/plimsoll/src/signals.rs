//! Ctrl-C, SIGTERM and SIGHUP ask a run to stop. Where no run is under way, and when it was asked twice already, the next one
//! ends the process itself: the keeper removes what it leaves.

use model::{Kind, Problem, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use runner::interrupt::Interrupt;

/// Takes over SIGINT and SIGTERM for this process, and SIGHUP unless it is ignored already (`nohup`).
pub(crate) fn watch() -> Result<Interrupt> {
    let interrupt = Interrupt::default();
    let hangup = (!hangup_is_ignored()).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))
        .map_err(|error| Problem::environment(format!("failed to watch for signals: {error}")))?;
    let watcher = interrupt.clone();
    let body = move || signals.forever().for_each(|_| pass_on(&watcher));
    std::thread::Builder::new()
        .name("signals".to_string())
        .spawn(body)
        .map_err(|error| Problem::environment(format!("failed to start a thread: {error}")))?;
    Ok(interrupt)
}

fn pass_on(interrupt: &Interrupt) {
    if !interrupt.ask() {
        // Only this ends a wait for a server that hangs.
        #[allow(clippy::exit)]
        std::process::exit(Kind::Interrupted.exit_code().into());
    }
}

/// Bit 0 of the mask of ignored signals is SIGHUP (proc_pid_status(5)).
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
