//! Runs at the same time: the first one on the thread that asks for them, with its progress shown, each other one on a thread of its
//! own.

use std::thread;

use model::{Catalogue, Problem, Result};

use crate::environment::Environment;
use crate::measure::Recording;
use crate::progress::Nobody;

/// Drives one of them.
pub(crate) type Job<'a> = Box<dyn FnOnce(&mut Environment<'_>) -> Result<Recording> + Send + 'a>;

/// What each of `jobs`, with the catalogue that it needs, has recorded, in their order. Where a thread can't be started none begins:
/// `release` lets those go that wait for the others already.
pub(crate) fn measure(
    jobs: Vec<(&Catalogue, Job<'_>)>,
    release: &dyn Fn(),
    env: &mut Environment<'_>,
) -> Vec<Result<Recording>> {
    let (home, settings, machine, interrupt) = (env.home, env.settings, env.machine, env.interrupt);
    let mut jobs = jobs.into_iter();
    let Some((own_catalogue, own)) = jobs.next() else { return Vec::new() };
    thread::scope(|scope| {
        let other = |(catalogue, job): (_, Job<'_>)| {
            let progress = &mut Nobody;
            job(&mut Environment { home, catalogue, settings, machine, interrupt, progress })
        };
        let mut others = Vec::new();
        for one in jobs {
            match thread::Builder::new().spawn_scoped(scope, move || other(one)) {
                Ok(thread) => others.push(thread),
                Err(error) => {
                    release();
                    let what = format!("a thread for each run can't be started: {error}");
                    return vec![Err(Problem::environment(what).remedy("fewer guests").into())];
                }
            }
        }
        let mut recorded = vec![own(&mut env.with(own_catalogue))];
        let panicked = |_| Err(Problem::bug("the thread of a run panicked").into());
        recorded.extend(others.into_iter().map(|other| other.join().unwrap_or_else(panicked)));
        recorded
    })
}
