//! The queue's jobs are done while the page is there.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use model::{Problem, Result};
use serve::Stop;

use crate::context::Context;
use runner::jobs::{Done, Worker};
use runner::progress::Nobody;

/// Where somebody else does the jobs, it is looked again so often whether that is still so.
const AGAIN: Duration = Duration::from_secs(2);
/// In such steps, so that the wish to stop is not waited for.
const STEP: Duration = Duration::from_millis(100);

/// Does jobs until the user wishes to stop, and stops the page then.
pub(super) fn start(context: &Context, stop: Stop, cpus: Vec<usize>) -> Result<JoinHandle<()>> {
    let (home, interrupt) = (context.home.clone(), context.interrupt.clone());
    let program = context.settings.helpers.program.clone();
    let work = move || {
        while interrupt.count() == 0 {
            // What jobs tell is in their own files.
            let mut nobody = Nobody;
            let mut worker = Worker {
                home: &home,
                program: &program,
                cpus: &cpus,
                interrupt: &interrupt,
                progress: &mut nobody,
            };
            match worker.work(true) {
                Ok(Done::Interrupted(_)) => break,
                Ok(Done::Empty) | Err(_) => pause(&interrupt),
            }
        }
        stop.stop();
    };
    let thread = thread::Builder::new().name("jobs".to_string()).spawn(work);
    thread.map_err(|error| Problem::environment(format!("failed to start a thread: {error}")).into())
}

fn pause(interrupt: &runner::interrupt::Interrupt) {
    let mut left = AGAIN;
    while interrupt.count() == 0 && !left.is_zero() {
        thread::sleep(STEP);
        left = left.saturating_sub(STEP);
    }
}
