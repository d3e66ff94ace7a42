//! What each instance of a tier uses, where there are several.

use model::{Signal, signals};

use crate::job::TierJob;
use crate::points::Points;
use crate::process::ProcessTable;
use crate::tier::Usage;

signals! {
    CORES = Signal::of_tier("instanceN.cores", "cores", "CPU used by that instance, counted from 1, where there are several");
}

/// The instances of a tier.
#[derive(Debug)]
pub(crate) struct Instances {
    tier: String,
    each: Vec<Usage>,
    /// What was used up to now is no rate yet.
    began: bool,
}

impl Instances {
    /// Those of a tier; `None` where there is one.
    pub(crate) fn of(tier: &TierJob) -> Option<Instances> {
        let each = tier.pids.iter().map(|pid| Usage::of(&tier.name, None, &[*pid]));
        (tier.pids.len() > 1).then(|| Instances {
            tier: tier.name.clone(),
            each: each.collect(),
            began: false,
        })
    }

    /// Adds what each has used since the last sample; one that is gone uses nothing.
    pub(crate) fn sample(&mut self, table: &ProcessTable, points: &mut Points) {
        let began = std::mem::replace(&mut self.began, true);
        // What they use together is the tier's, and told there.
        let mut together = Points::at(points.at_s());
        for (usage, number) in self.each.iter_mut().zip(1..) {
            let cores = usage.sample(table, &mut together);
            if began {
                points.add_numbered(&CORES, Some(&self.tier), number, cores);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    use super::*;

    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            _ = self.0.kill();
            _ = self.0.wait();
        }
    }

    #[test]
    fn the_instance_that_is_busy_is_told_from_the_one_that_is_not() {
        let start = |words: &[&str]| {
            let child = Command::new(words[0]).args(&words[1..]).spawn();
            Ended(child.expect("coreutils and a shell are there"))
        };
        let (idle, busy) = (start(&["sleep", "60"]), start(&["sh", "-c", "while :; do :; done"]));
        let pids = vec![idle.0.id(), busy.0.id()];
        let job = TierJob { name: "db".to_string(), pids, ..TierJob::default() };
        let mut instances = Instances::of(&job).expect("there are two");
        let mut cores = |at_s: f64| -> Vec<(String, f64)> {
            let mut points = Points::at(at_s);
            instances.sample(&ProcessTable::scan(), &mut points);
            points.found.into_iter().map(|series| (series.name, series.points[0].1)).collect()
        };
        let began = Instant::now();
        assert!(cores(0.0).is_empty(), "one reading is no rate");
        // Beside other tests it may get little; how much doesn't matter.
        while began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(200));
            let found = cores(began.elapsed().as_secs_f64());
            let [(first, idle), (second, busy)] = found.as_slice() else { panic!("two: {found:?}") };
            assert_eq!((first.as_str(), second.as_str()), ("instance1.cores", "instance2.cores"));
            assert!(*idle < 0.05, "{found:?}");
            if *busy > 0.1 {
                return;
            }
        }
        panic!("a process that does nothing but compute used no CPU in twenty seconds");
    }

    #[test]
    fn a_tier_of_one_instance_has_no_others_to_be_told_from() {
        let job = TierJob { pids: vec![1], ..TierJob::default() };
        assert!(Instances::of(&job).is_none());
    }
}
