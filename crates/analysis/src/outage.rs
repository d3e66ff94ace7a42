//! What users saw of an instance that was ended on purpose: how much failed, and when the rate was back.

use model::record::Outage;
use model::record::interval::{Interval, OperationKind, OperationName};

/// Of the rate of before, what counts as back.
const BACK_RATIO: f64 = 0.9;
/// The seconds over which that is looked at: one alone may be high by chance.
const BACK_OVER_S: usize = 3;

/// An instance that was ended, or cut off.
#[derive(Debug, Clone, PartialEq)]
pub struct Kill {
    /// The tier.
    pub tier: String,
    /// Which of its instances, from 1.
    pub instance: u32,
    /// How many there were.
    pub instances: u32,
    /// The other servers on its host, which were cut off with it.
    pub beside: Vec<String>,
    /// Second of the run.
    pub at_s: f64,
    /// For how long it was cut off; it was ended when absent.
    pub cut_s: Option<f64>,
}

/// What users' operations were in one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkOfSecond {
    /// Second of the run.
    pub second: u32,
    /// Operations that completed.
    pub completed: u64,
    /// Operations that failed.
    pub failed: u64,
}

impl WorkOfSecond {
    /// Of one second, whose rows have `names`.
    pub fn of(interval: &Interval, names: &[OperationName]) -> WorkOfSecond {
        let rows = interval.operations.iter().zip(names);
        let operations = rows.filter(|(_, name)| name.kind == OperationKind::Operation);
        let (mut completed, mut failed) = (0, 0);
        for (row, _) in operations {
            completed += row.completed;
            failed += row.errors.iter().sum::<u64>();
        }
        WorkOfSecond { second: interval.second, completed, failed }
    }
}

/// What users saw of `kill`, by the seconds of the steady state in order. Nothing where it has none before or none after.
pub fn outage(kill: &Kill, steady: &[WorkOfSecond]) -> Option<Outage> {
    let split = steady.iter().position(|second| f64::from(second.second) >= kill.at_s.floor())?;
    let (before, after) = steady.split_at(split);
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let before_per_s = rate(before);
    let is_back = |seconds: &[WorkOfSecond]| rate(seconds) >= BACK_RATIO * before_per_s;
    let back = after.windows(BACK_OVER_S).position(is_back);
    let lower = &after[..back.unwrap_or(after.len())];
    Some(Outage {
        tier: kill.tier.clone(),
        instance: kill.instance,
        instances: kill.instances,
        beside: kill.beside.clone(),
        at_s: kill.at_s,
        cut_s: kill.cut_s,
        before_per_s,
        least_per_s: lower.iter().map(|second| second.completed).min().unwrap_or(after[0].completed),
        // What failed in the second in which the rate was back failed because of it, too.
        failed: after[..back.map_or(after.len(), |back| back + 1)].iter().map(|second| second.failed).sum(),
        recovered_after_s: back.map(|back| back as f64),
        after_per_s: back.map(|back| rate(&after[back..])),
    })
}

fn rate(seconds: &[WorkOfSecond]) -> f64 {
    seconds.iter().map(|second| second.completed as f64).sum::<f64>() / seconds.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(work: &[(u64, u64)]) -> Vec<WorkOfSecond> {
        let second = |(number, (completed, failed)): (usize, &(u64, u64))| WorkOfSecond {
            second: 10 + number as u32,
            completed: *completed,
            failed: *failed,
        };
        work.iter().enumerate().map(second).collect()
    }

    fn outage_of(work: &[(u64, u64)], at_s: f64) -> Option<Outage> {
        let kill =
            Kill { tier: "db".into(), instance: 3, instances: 3, beside: Vec::new(), at_s, cut_s: None };
        outage(&kill, &seconds(work))
    }

    #[test]
    fn what_failed_until_the_rate_was_back_is_the_outages() {
        let work = [(100, 0), (100, 0), (40, 7), (0, 20), (0, 10), (95, 1), (96, 0), (94, 0), (93, 5)];
        let seen = outage_of(&work, 12.4).expect("there are seconds before and after");
        assert_eq!((seen.before_per_s, seen.least_per_s, seen.failed), (100.0, 0, 38));
        assert_eq!((seen.recovered_after_s, seen.after_per_s), (Some(3.0), Some(94.5)));
    }

    #[test]
    fn a_rate_that_never_comes_back_is_told_as_such() {
        let seen = outage_of(&[(100, 0), (60, 3), (60, 2), (60, 1), (60, 0)], 11.0).expect("seconds");
        assert_eq!((seen.recovered_after_s, seen.failed, seen.least_per_s), (None, 6, 60));
        assert_eq!(seen.after_per_s, None);
    }

    #[test]
    fn a_rate_that_never_was_lower_is_back_at_once() {
        let seen = outage_of(&[(100, 0), (98, 2), (99, 0), (100, 0)], 11.0).expect("seconds");
        assert_eq!((seen.recovered_after_s, seen.failed, seen.least_per_s), (Some(0.0), 2, 98));
    }

    #[test]
    fn a_kill_outside_of_the_steady_state_tells_nothing() {
        assert_eq!(outage_of(&[(100, 0), (100, 0)], 10.0), None, "nothing before");
        assert_eq!(outage_of(&[(100, 0), (100, 0)], 30.0), None, "nothing after");
    }
}
