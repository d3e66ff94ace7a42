//! The machine of tiers that are on another one than the run's controller: what is told of it is told of each of them.

use model::{Signal, signals};

use super::cpu::{Cpu, STACK_BUSY};
use crate::job::TierJob;
use crate::points::Points;

signals! {
    FAR_BUSY = Signal::of_tier(
        "host.busy_ratio", "ratio", "how busy the CPUs of its host were, whoever used them: of a tier on another machine"
    );
    FAR_CPUS = Signal::of_tier("host.cpus", "CPUs", "CPUs of its host: of a tier on another machine");
}

/// Reads the CPUs for tiers.
#[derive(Debug)]
pub(crate) struct FarHost {
    cpu: Option<Cpu>,
    tiers: Vec<String>,
}

impl FarHost {
    /// The machine of these tiers.
    pub(crate) fn of(tiers: &[TierJob]) -> FarHost {
        FarHost { cpu: Cpu::open(&[]), tiers: tiers.iter().map(|tier| tier.name.clone()).collect() }
    }

    /// Adds what is seen now.
    pub(crate) fn sample(&mut self, points: &mut Points) {
        let Some(cpu) = &mut self.cpu else { return };
        let mut all = Points::at(points.at_s());
        cpu.sample(0.0, &mut all);
        let busy = all.found.iter().find(|one| one.name == STACK_BUSY.name);
        let busy = busy.and_then(|one| one.points.first()).map(|(_, ratio)| *ratio);
        let cpus = cpu.number() as f64;
        for tier in &self.tiers {
            points.add_known(&FAR_BUSY, Some(tier), busy);
            points.add(&FAR_CPUS, Some(tier), cpus);
        }
    }
}
