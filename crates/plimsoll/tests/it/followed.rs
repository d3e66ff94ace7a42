//! A run that is under way, its seconds read on as they are kept: so a test knows when its middle is reached.

use std::collections::BTreeMap;

use model::OperationKind;
use store::{Run, Runs};

use crate::standing::Standing;
use crate::tool::{Home, Tool, wait_for};

/// What became of a second's operations, by name: completed and failed.
pub(crate) struct Second {
    pub(crate) number: u32,
    operations: BTreeMap<String, (u64, u64)>,
}

/// A run of a kit in the shared home.
pub(crate) struct Followed {
    pub(crate) run: Run,
    pub(crate) seconds: Vec<Second>,
}

impl Followed {
    /// Starts a run of that kit and follows it from when it has kept this number of seconds.
    #[track_caller]
    pub(crate) fn start(run: Tool, kit: &str, seconds: usize) -> (Standing, Followed) {
        let running = run.start().until_dropped();
        (running, Followed::begin(kit, seconds))
    }

    /// The one of that kit that is under way, once it has kept this number of seconds.
    #[track_caller]
    pub(crate) fn begin(kit: &str, seconds: usize) -> Followed {
        let run = wait_for("the run is under way", || under_way(kit));
        let mut followed = Followed { run, seconds: Vec::new() };
        followed.until("seconds are kept", |kept| kept.seconds.len() >= seconds);
        followed
    }

    /// Reads on until the kept seconds are as wanted.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, wanted: impl Fn(&Followed) -> bool) {
        wait_for(what, || {
            self.read_on();
            wanted(self).then_some(())
        });
    }

    pub(crate) fn read_on(&mut self) {
        let Ok(news) = self.run.seconds_after(self.seconds.last().map(|second| second.number)) else {
            return;
        };
        let names = news.names().to_vec();
        for interval in news.map_while(Result::ok) {
            let rows = names.iter().zip(&interval.operations);
            let operations = rows.filter(|(name, _)| name.kind == OperationKind::Operation);
            let operations =
                operations.map(|(name, row)| (name.name.clone(), (row.completed, row.failed()))).collect();
            self.seconds.push(Second { number: interval.second, operations });
        }
    }

    /// Completed and failed operations of these names in the seconds from `from` on.
    pub(crate) fn count(&self, names: &[&str], from: u32) -> (u64, u64) {
        let seconds = self.seconds.iter().filter(|second| second.number >= from);
        let rows = seconds.flat_map(|second| &second.operations);
        let rows = rows.filter(|(name, _)| names.contains(&name.as_str()));
        rows.fold((0, 0), |sum, (_, row)| (sum.0 + row.0, sum.1 + row.1))
    }

    /// The first second that lies wholly after now: the one behind the last that is kept is under way, or over and not
    /// kept yet.
    pub(crate) fn count_from(&mut self) -> u32 {
        self.read_on();
        self.seconds.last().map_or(0, |second| second.number + 3)
    }
}

/// Runs of other kits may be under way beside it.
fn under_way(kit: &str) -> Option<Run> {
    let runs = Runs::open(Home::shared().path()).ok()?;
    let ids = runs.ids().ok()?;
    let mut newest = ids.iter().rev().take(5).filter_map(|id| runs.find(id).ok());
    let of_kit = |run: &Run| run.record().setup.kit.split('@').next() == Some(kit);
    newest.find(|run| run.under_way() && of_kit(run))
}
