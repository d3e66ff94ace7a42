//! What the hypervisor takes of some CPUs, between two moments, from `/proc/stat`.

use std::fs;

use super::cpu::{self, FILE, Stat};
use crate::process::ticks_per_s;

/// Some CPUs, from a moment on.
#[derive(Debug)]
pub struct StealSince {
    cpus: Vec<usize>,
    then: Stat,
}

impl StealSince {
    /// From now on, of these CPUs; nothing where this kernel doesn't say.
    pub fn now(cpus: &[usize]) -> Option<StealSince> {
        Some(StealSince { cpus: cpus.to_vec(), then: read()? })
    }

    /// The share of their time until now in which they were ready to run and the hypervisor ran something else.
    pub fn ratio(&self) -> Option<f64> {
        ratio(&self.then, &read()?, &self.cpus)
    }
}

fn read() -> Option<Stat> {
    cpu::parse(&fs::read_to_string(FILE).ok()?, ticks_per_s())
}

/// The CPUs' own ticks are the measure of their time.
fn ratio(then: &Stat, now: &Stat, cpus: &[usize]) -> Option<f64> {
    let ours = cpu::spent(then, now).filter(|(number, _)| cpus.contains(number));
    let (steal_s, total_s) = ours.fold((0.0, 0.0), |(steal_s, total_s), (_, spent)| {
        (steal_s + spent.steal_s, total_s + spent.total_s())
    });
    (total_s > 0.0).then(|| steal_s / total_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_these_cpus_alone_steal_is_a_share_of_all_that_they_spent() {
        let stat = |lines: &str| cpu::parse(lines, 100.0).expect("a right file");
        let then = stat("cpu 0 0 0 0 0 0 0 0\ncpu0 10 0 10 80 0 0 0 5\ncpu1 0 0 0 0 0 0 0 0\n");
        let now = stat("cpu 0 0 0 0 0 0 0 0\ncpu0 30 0 20 140 0 0 0 15\ncpu1 0 0 0 100 0 0 0 100\n");
        let is_near = |cpus: &[usize], expected: f64| {
            let found = ratio(&then, &now, cpus).expect("time has passed");
            assert!((found - expected).abs() < 1e-9, "{cpus:?}: {found}");
        };
        is_near(&[0], 0.1);
        is_near(&[0, 1], 110.0 / 300.0);
        assert_eq!(ratio(&then, &now, &[7]), None, "there is no such CPU");
        assert_eq!(ratio(&now, &now, &[0]), None, "no time has passed");
    }
}
