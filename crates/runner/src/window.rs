//! The seconds of a kept run that count.

use analysis::{Batches, Steady};
use model::Result;
use store::Run;

/// The seconds of a run from `from` to `to`, merged as a whole and in batches. They are read back, because where the steady
/// state began is only known at its end, and a second takes megabytes.
pub(crate) fn window(run: &Run, (from, to): (u32, u32), early: &mut Steady) -> Result<(Steady, Batches)> {
    let mut steady = Steady::new(f64::from(from), f64::from(to));
    let seconds = run.seconds()?;
    let mut batches = Batches::of(seconds.count_within(from, to));
    let names = seconds.names().to_vec();
    for second in seconds {
        let second = second?;
        steady.push(&second);
        early.push(&second);
        if (from..to).contains(&second.second) {
            batches.push(&second.for_figures(&names));
        }
    }
    Ok((steady, batches))
}
