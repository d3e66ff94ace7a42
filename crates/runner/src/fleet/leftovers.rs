//! What runs whose controllers were killed have left on a fleet's broker. It reserves room for each, which no other run has until the
//! run is taken over or forgotten.

use std::path::Path;

use fleet::bus::Leftover;
use fleet::controller::Controller;
use model::Result;
use model::record::Outcome;
use store::{Runs, Studies};

use super::handed_over::HandedOver;
use crate::environment::Environment;

/// Has the broker forget the runs that nobody can take over any more, and says which; called by whoever has become the fleet's
/// controller, so that none of them is under way.
pub(super) fn give_back(controller: &Controller, env: &mut Environment<'_>) {
    let forgotten = controller.leftovers().and_then(|all| {
        let mut forgotten = Vec::new();
        for one in all.into_iter().filter(|one| !can_be_taken_over(one, env.home)) {
            controller.forget(&one.run)?;
            forgotten.push(one.run.to_string());
        }
        Ok(forgotten)
    });
    match forgotten {
        Ok(runs) if runs.is_empty() => {}
        Ok(runs) => {
            let those = runs.join(", ");
            env.progress.note(&format!(
                "the fleet's broker has forgotten what nobody can take over any more: {those}"
            ));
        }
        // The run itself may find room; where it doesn't, it is refused with what to do.
        Err(problems) => env.progress.note(&problems.to_string()),
    }
}

/// Whether there may be somebody who goes on with it. What isn't of this home may be another machine's, and is left until what its
/// agents told is too old for the broker.
fn can_be_taken_over(left: &Leftover, home: &Path) -> bool {
    // An error of the disk is no reason to forget anything.
    left.messages > 0 && is_wanted(left.run.as_str(), home).unwrap_or(true)
}

fn is_wanted(id: &str, home: &Path) -> Result<bool> {
    // A trial is measured anew when its study goes on.
    if Studies::open(home)?.of_run(id)?.is_some() {
        return Ok(false);
    }
    let runs = Runs::open(home)?;
    if !runs.ids()?.iter().any(|known| known == id) {
        return Ok(true);
    }
    let run = runs.find(id)?;
    let is_left = run.record().outcome == Outcome::Unfinished;
    Ok(run.under_way() || is_left && HandedOver::read(&run).is_ok_and(|handed| handed.check_boot(id).is_ok()))
}
