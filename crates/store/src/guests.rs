//! The runs of a run's guests: each is kept whole, below the run of all of them.

use std::collections::{BTreeMap, BTreeSet};

use model::{Problem, Result};

use crate::id;
use crate::run::Run;
use crate::runs::Runs;

impl Run {
    /// The run of the guest of that number.
    ///
    /// # Errors
    /// There is no such guest, or its run can't be read.
    pub fn guest_run(&self, number: u32) -> Result<Run> {
        if let Some(guest) = self.record.guests.iter().find(|guest| guest.guest.number == number) {
            return self.below(&guest.run);
        }
        let mut kept = self.guest_runs();
        if let Some(run) = kept.remove(&number) {
            return Ok(run);
        }
        let named = self.record.guests.iter().map(|guest| guest.guest.number);
        let numbers: BTreeSet<u32> = named.chain(kept.into_keys()).collect();
        let id = &self.record.id;
        let lacking = |what: &str| Problem::recipe(format!("run {id} has no {what}"));
        let problem = match (numbers.first(), numbers.last()) {
            (Some(only), Some(last)) if only == last => {
                lacking(&format!("guest {number}")).remedy(format!("its only guest is {only}"))
            }
            (Some(first), Some(last)) => {
                lacking(&format!("guest {number}")).remedy(format!("its guests are {first} to {last}"))
            }
            _ => lacking("guests").remedy(format!("{id}: it is the run of one stack")),
        };
        Err(problem.into())
    }

    /// The runs of its guests that can be read, by the guests' numbers; also of a run that was cut short before it said which they are.
    pub fn guest_runs(&self) -> BTreeMap<u32, Run> {
        let named = self.record.guests.iter();
        let named: BTreeMap<u32, Run> =
            named.filter_map(|guest| Some((guest.guest.number, self.below(&guest.run).ok()?))).collect();
        // To list what is below makes the directory, which most runs need not have.
        if !named.is_empty() || !self.directory.join("runs").is_dir() {
            return named;
        }
        let below = Runs::open(&self.directory).and_then(|runs| runs.ids()).unwrap_or_default();
        let runs = below.iter().filter_map(|id| self.below(id).ok());
        runs.filter_map(|run| Some((run.record.setup.guest.as_ref()?.number, run))).collect()
    }

    fn below(&self, id: &str) -> Result<Run> {
        id::check(id)?;
        Run::open(&self.directory.join("runs").join(id))
    }
}
