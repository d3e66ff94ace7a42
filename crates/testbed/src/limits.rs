//! Limits of what a tier takes: of memory, the page cache that it filled included, and of CPU time. Each is a group of
//! the kernel's controller that all processes of the tier are in from their first instruction, because a page belongs to
//! the group that first touched it.

use std::path::{Path, PathBuf};

use model::plan::PlanTier;
use model::{Plan, Problem, Problems, Result, units};

use crate::cgroup;
use crate::controller::{Controller, Hierarchy};
use crate::lab::{Lab, Site};
use crate::process::Identity;

/// What is limited, and to how much.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    Memory(u64),
    Cpu(f64),
}

impl Limit {
    fn all(tier: &PlanTier) -> impl Iterator<Item = Limit> {
        let memory = tier.memory_limit_bytes.map(Limit::Memory);
        memory.into_iter().chain(tier.cpu_limit_cores.map(Limit::Cpu))
    }

    fn controller(self) -> Controller {
        match self {
            Limit::Memory(_) => Controller::Memory,
            Limit::Cpu(_) => Controller::Cpu,
        }
    }

    fn set(self, hierarchy: &Hierarchy, group: &Path) -> Result<()> {
        match self {
            Limit::Memory(bytes) => hierarchy.limit_memory(group, bytes),
            Limit::Cpu(cores) => hierarchy.limit_cpu(group, Some(cores)),
        }
    }

    /// That this machine can't do it, in words for people.
    fn refused(self, tier: &str, problems: Problems) -> Problems {
        let (limited, setting, why) = match self {
            Limit::Memory(bytes) => {
                let what =
                    format!("the memory of tier {tier} can't be limited to {}", units::show_bytes(bytes));
                (
                    what,
                    "memory",
                    "with all of the machine's memory as page cache this would be another measurement",
                )
            }
            Limit::Cpu(cores) => {
                let what = format!("the CPU time of tier {tier} can't be limited to {cores} cores");
                (what, "cpu", "with all CPUs of the stack this would be another measurement")
            }
        };
        let named = problems.into_vec().into_iter().map(|mut problem| {
            problem.what = format!("{limited}: {}", problem.what);
            let off = format!("--set {tier}.cgroup.{setting}=0 to run without the limit");
            let other = problem.remedy.take().map(|other| format!("{other}; or ")).unwrap_or_default();
            problem.why(why).remedy(format!("{other}{off}"))
        });
        match Problems::check(named.collect()) {
            Err(problems) => problems,
            Ok(()) => Problem::bug("an error without a problem").into(),
        }
    }
}

impl Lab {
    /// Refuses a plan whose tiers this machine can't limit as asked, before anything is made for it.
    ///
    /// # Errors
    /// Why it can't, and how to run without; of all limits.
    pub fn check_limits(&self, plan: &Plan) -> Result<()> {
        let mut problems = Vec::new();
        for tier in &plan.tiers {
            for limit in Limit::all(tier) {
                let found = limit.controller().find(self.site.cgroup.as_deref());
                let refused = found.err().map(|found| limit.refused(&tier.name, found));
                problems.extend(refused.into_iter().flat_map(Problems::into_vec));
            }
        }
        Problems::check(problems)
    }
}

impl Site {
    /// Makes the groups that limit a tier; its processes enter them as they start.
    pub(crate) fn limit(&self, instance: &str, tier: &PlanTier) -> Result<()> {
        for limit in Limit::all(tier) {
            self.set_limit(instance, tier, limit).map_err(|found| limit.refused(&tier.name, found))?;
        }
        Ok(())
    }

    fn set_limit(&self, instance: &str, tier: &PlanTier, limit: Limit) -> Result<()> {
        let own = self.tier_group(instance, &tier.name);
        own.as_deref().map_or(Ok(()), cgroup::make)?;
        let hierarchy = limit.controller().find(self.instance_dir(instance).as_deref())?;
        // In a unified hierarchy processes enter their tier's own group anyway; now it is also checked that they have.
        let group = match own {
            Some(own) if hierarchy.unified => own,
            None if hierarchy.unified => {
                return Err(Problem::bug("a unified hierarchy without a tier's group").into());
            }
            _ => self.hold(&hierarchy, instance, &tier.name)?,
        };
        limit.set(&hierarchy, &group)?;
        self.holds.enter_with(instance, &tier.name, group);
        Ok(())
    }

    /// A process that is outside of its tier's limit has all memory of the machine.
    pub(crate) fn check_inside(&self, instance: &str, tier: &str, pid: u32) -> Result<()> {
        match not_entered(self.holds.entered(instance, tier), pid) {
            Some(group) => Err(cannot_enter(tier, &group)),
            None => Ok(()),
        }
    }
}

/// The first group that a process should be in and is not.
fn not_entered(groups: Vec<PathBuf>, pid: u32) -> Option<PathBuf> {
    // One that has ended already is in no group any more, and takes nothing.
    let runs = || Identity::of(pid).is_some_and(Identity::runs);
    groups.into_iter().find(|group| !cgroup::holds(group, pid) && runs())
}

fn cannot_enter(tier: &str, group: &Path) -> Problems {
    Problem::environment(format!("a process of tier {tier} could not enter {}", group.display()))
        .why("what it takes would not be limited")
        .remedy(format!("run as root, or --set {tier}.cgroup.memory=0 --set {tier}.cgroup.cpu=0"))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_outside_of_a_group_that_limits_it_is_found_while_it_runs() {
        let dir = tempfile::tempdir().expect("a directory");
        let groups = ["own", "other"].map(|name| dir.path().join(name));
        let own = std::process::id();
        for (group, member) in groups.iter().zip([own, own + 1]) {
            std::fs::create_dir(group).expect("a directory");
            std::fs::write(group.join("cgroup.procs"), format!("{member}\n")).expect("a file");
        }
        assert_eq!(not_entered(groups[..1].to_vec(), own), None);
        assert_eq!(not_entered(groups.to_vec(), own), Some(groups[1].clone()));
        assert_eq!(not_entered(groups.to_vec(), u32::MAX), None, "there is no such process");
        let said = cannot_enter("web", &groups[1]).to_string();
        assert!(said.contains("--set web.cgroup.memory=0"), "{said}");
    }
}
