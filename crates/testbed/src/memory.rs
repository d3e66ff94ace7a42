//! Limits of a tier's memory, the page cache that it filled included: a group of the controller `memory` that all
//! processes of the tier are in from their first instruction, because a page belongs to the group that first touched it.

use std::path::{Path, PathBuf};

use model::plan::PlanTier;
use model::{Plan, Problem, Problems, Result, units};

use crate::cgroup;
use crate::controller::Controller;
use crate::lab::{Lab, Site};
use crate::process::Identity;

impl Lab {
    /// Refuses a plan whose tiers' memory this machine can't limit, before anything is made for it.
    ///
    /// # Errors
    /// Why it can't, and how to run without.
    pub fn check_limits(&self, plan: &Plan) -> Result<()> {
        let limited: Vec<&PlanTier> =
            plan.tiers.iter().filter(|tier| tier.memory_limit_bytes.is_some()).collect();
        let Some(first) = limited.first() else { return Ok(()) };
        let found = Controller::Memory.find(self.site.cgroup.as_deref());
        found.map(|_| ()).map_err(|problems| not_limited(problems, first))
    }
}

fn not_limited(problems: Problems, tier: &PlanTier) -> Problems {
    let limit = units::show_bytes(tier.memory_limit_bytes.unwrap_or_default());
    let named = problems.into_vec().into_iter().map(|mut problem| {
        problem.what =
            format!("the memory of tier {} can't be limited to {limit}: {}", tier.name, problem.what);
        let off = format!("--set {}.cgroup.memory=0 to run without the limit", tier.name);
        let other = problem.remedy.take().map(|other| format!("{other}; or ")).unwrap_or_default();
        problem
            .why("with all of the machine's memory as page cache this would be another measurement")
            .remedy(format!("{other}{off}"))
    });
    match Problems::check(named.collect()) {
        Err(problems) => problems,
        Ok(()) => Problem::bug("an error without a problem").into(),
    }
}

impl Site {
    /// Makes the group that limits a tier's memory; its processes enter it as they start.
    pub(crate) fn limit_memory(&self, instance: &str, tier: &PlanTier) -> Result<()> {
        let Some(bytes) = tier.memory_limit_bytes else { return Ok(()) };
        let limited = || {
            let own = self.tier_group(instance, &tier.name);
            own.as_deref().map_or(Ok(()), cgroup::make)?;
            let hierarchy = Controller::Memory.find(self.instance_dir(instance).as_deref())?;
            if hierarchy.unified {
                let group = own.ok_or_else(|| Problem::bug("a unified hierarchy without a tier's group"))?;
                hierarchy.limit_memory(&group, bytes)?;
                // Its processes enter it anyway, as their tier's own; now it is also checked that they have.
                self.holds.enter_with(instance, &tier.name, group);
                return Ok(());
            }
            let group = self.hold(&hierarchy, instance, &tier.name)?;
            hierarchy.limit_memory(&group, bytes)?;
            self.holds.enter_with(instance, &tier.name, group);
            Ok(())
        };
        limited().map_err(|problems| not_limited(problems, tier))
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
        .why("its memory would not be limited")
        .remedy(format!("run as root, or --set {tier}.cgroup.memory=0"))
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
