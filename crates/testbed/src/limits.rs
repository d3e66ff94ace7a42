//! Limits of what a tier, or all tiers of a guest, may take: of memory, the page cache that it filled included, of CPU time, of reads from the disk. Each is a group of
//! the kernel's controller that all processes of the tier are in from their first instruction, because a page belongs to
//! the group that first touched it.

use std::fmt;
use std::path::{Path, PathBuf};

use model::record::plan::{Guest, PlanTier};
use model::{Plan, Problem, Problems, Result, units};

use crate::cgroup;
use crate::controller::{self, Controller, Hierarchy, MIN_CORES};
use crate::lab::{Lab, Site};
use crate::process::Identity;

/// What is limited, and to how much.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    Memory(u64),
    Cpu(f64),
    /// In a second.
    Reads(u64),
}

impl Limit {
    fn all(tier: &PlanTier) -> impl Iterator<Item = Limit> {
        let memory = tier.memory_limit_bytes.map(Limit::Memory);
        let reads = tier.read_limit_per_s.map(Limit::Reads);
        memory.into_iter().chain(tier.cpu_limit_cores.map(Limit::Cpu)).chain(reads)
    }

    /// Of all tiers of a guest together.
    fn of_guest(guest: &Guest) -> impl Iterator<Item = Limit> {
        guest.memory_limit_bytes.map(Limit::Memory).into_iter().chain(guest.cpu_limit_cores.map(Limit::Cpu))
    }

    fn controller(self) -> Controller {
        match self {
            Limit::Memory(_) => Controller::Memory,
            Limit::Cpu(_) => Controller::Cpu,
            Limit::Reads(_) => Controller::Disk,
        }
    }

    /// Where groups with the limit can be made on this machine, for what is kept in `home`.
    fn possible(self, home: &Path, unified: Option<&Path>) -> Result<()> {
        self.controller().find(unified)?;
        if matches!(self, Limit::Reads(_)) { controller::disk_of(home).map(|_| ()) } else { Ok(()) }
    }

    fn set(self, hierarchy: &Hierarchy, group: &Path, home: &Path) -> Result<()> {
        match self {
            Limit::Memory(bytes) => hierarchy.limit_memory(group, bytes),
            Limit::Cpu(cores) => hierarchy.limit_cpu(group, Some(cores)),
            Limit::Reads(per_s) => hierarchy.limit_reads(group, home, Some(per_s)),
        }
    }

    /// That no kernel gives so little.
    fn too_little(self, whose: &Whose<'_>) -> Option<Problem> {
        let Limit::Cpu(cores) = self else { return None };
        let problem = || {
            Problem::recipe(format!("the CPU time of {whose} can't be limited to {cores} cores"))
                .key(whose.key())
                .why(format!("the kernel gives no less than {MIN_CORES}, and it would have that"))
                .remedy(format!("{MIN_CORES} or more, or {}", whose.without("cpu")))
        };
        (cores < MIN_CORES).then(problem)
    }

    /// That this machine can't do it, in words for people.
    fn refused(self, whose: &Whose<'_>, problems: Problems) -> Problems {
        let (limited, setting, why) = match self {
            Limit::Memory(bytes) => {
                let what = format!("the memory of {whose} can't be limited to {}", units::show_bytes(bytes));
                (
                    what,
                    "memory",
                    "with all of the machine's memory as page cache this would be another measurement",
                )
            }
            Limit::Cpu(cores) => {
                let what = format!("the CPU time of {whose} can't be limited to {cores} cores");
                (what, "cpu", "with all CPUs of the stack this would be another measurement")
            }
            Limit::Reads(per_s) => {
                let what = format!("the reads of {whose} can't be limited to {per_s} a second");
                (what, "read_iops", "with a disk as fast as it is this would be another measurement")
            }
        };
        let named = problems.into_vec().into_iter().map(|mut problem| {
            problem.what = format!("{limited}: {}", problem.what);
            let off = whose.without(setting);
            let other = problem.remedy.take().map(|other| format!("{other}; or ")).unwrap_or_default();
            problem.why(why).remedy(format!("{other}{off}"))
        });
        match Problems::check(named.collect()) {
            Err(problems) => problems,
            Ok(()) => Problem::bug("an error without a problem").into(),
        }
    }
}

/// Whose limit it is.
enum Whose<'a> {
    Tier(&'a str),
    Guest(u32),
}

impl fmt::Display for Whose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Whose::Tier(name) => write!(f, "tier {name}"),
            Whose::Guest(number) => write!(f, "guest {number}"),
        }
    }
}

impl Whose<'_> {
    /// Where the limit of its CPU time is said.
    fn key(&self) -> String {
        match self {
            Whose::Tier(name) => format!("set.{name}.cgroup.cpu"),
            Whose::Guest(_) => "guest.cpu".to_string(),
        }
    }

    /// How to run without a limit.
    fn without(&self, setting: &str) -> String {
        match self {
            Whose::Tier(name) => format!("--set {name}.cgroup.{setting}=0 to run without the limit"),
            Whose::Guest(_) => {
                format!("a topology whose [[guest]] says no {setting}, to run without the limit")
            }
        }
    }
}

impl Lab {
    /// Refuses a plan whose tiers can't be limited as asked, by any kernel or by this machine, before anything is made
    /// for it.
    ///
    /// # Errors
    /// Why not, and what to ask for instead; of all limits.
    pub fn check_limits(&self, plan: &Plan) -> Result<()> {
        let mut problems = Vec::new();
        let of_tiers =
            plan.tiers.iter().flat_map(|tier| Limit::all(tier).map(|limit| (Whose::Tier(&tier.name), limit)));
        let of_guest = plan
            .guest
            .iter()
            .flat_map(|guest| Limit::of_guest(guest).map(|limit| (Whose::Guest(guest.number), limit)));
        for (whose, limit) in of_tiers.chain(of_guest) {
            if let Some(problem) = limit.too_little(&whose) {
                problems.push(problem);
                continue;
            }
            let found = limit.possible(&self.site.home, self.site.cgroup.as_deref());
            let refused = found.err().map(|found| limit.refused(&whose, found));
            problems.extend(refused.into_iter().flat_map(Problems::into_vec));
        }
        Problems::check(problems)
    }
}

impl Site {
    /// Makes the groups that limit a tier of `plan`; its processes enter them as they start. Where any tier's CPU time is
    /// limited this one has a group of its own for that too: in v1 a group and those above it weigh much more than the
    /// processes that are in none, so that the tier with the limit would come before all others.
    pub(crate) fn limit(&self, instance: &str, plan: &Plan, tier: &PlanTier) -> Result<()> {
        for limit in Limit::all(tier) {
            let refused = |found| limit.refused(&Whose::Tier(&tier.name), found);
            self.set_limit(instance, tier, limit).map_err(refused)?;
        }
        for (guest, limit) in
            plan.guest.iter().flat_map(|guest| Limit::of_guest(guest).map(move |limit| (guest, limit)))
        {
            let refused = |found| limit.refused(&Whose::Guest(guest.number), found);
            self.set_guests_limit(instance, tier, limit).map_err(refused)?;
        }
        let limited = plan.tiers.iter().find_map(|one| Some((&one.name, one.cpu_limit_cores?)));
        let Some((name, cores)) = limited.filter(|_| tier.cpu_limit_cores.is_none()) else { return Ok(()) };
        let refused = |found| Limit::Cpu(cores).refused(&Whose::Tier(name), found);
        self.hold_beside(instance, &tier.name).map_err(refused)
    }

    /// Puts a tier without a limit of its CPU time into a group beside those that have one. In a unified hierarchy each
    /// tier is in one already.
    fn hold_beside(&self, instance: &str, tier: &str) -> Result<()> {
        let hierarchy = Controller::Cpu.find(self.instance_dir(instance).as_deref())?;
        if !hierarchy.unified {
            let group = self.hold(&hierarchy, instance, tier)?;
            self.holds.enter_with(instance, tier, group);
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
        limit.set(&hierarchy, &group, &self.home)?;
        self.holds.enter_with(instance, &tier.name, group);
        Ok(())
    }

    /// Limits the group that the groups of all tiers of the instance are in. In a hierarchy of its own the processes of a tier that has no
    /// limit there itself are in that very group, side by side with the other tiers' as on a machine.
    fn set_guests_limit(&self, instance: &str, tier: &PlanTier, limit: Limit) -> Result<()> {
        let own = self.tier_group(instance, &tier.name);
        own.as_deref().map_or(Ok(()), cgroup::make)?;
        let hierarchy = limit.controller().find(self.instance_dir(instance).as_deref())?;
        let (group, entered) = match (hierarchy.unified, own, self.instance_dir(instance)) {
            (true, Some(own), Some(all)) => (all, own),
            (true, ..) => return Err(Problem::bug("a unified hierarchy without a tier's group").into()),
            (false, ..) => {
                let group = self.hold_all(&hierarchy, instance)?;
                let of_tier = Limit::all(tier).any(|own| own.controller() == limit.controller());
                let entered =
                    if of_tier { self.hold(&hierarchy, instance, &tier.name)? } else { group.clone() };
                (group, entered)
            }
        };
        limit.set(&hierarchy, &group, &self.home)?;
        self.holds.enter_with(instance, &tier.name, entered);
        Ok(())
    }

    /// A process that is outside of its tier's groups is held to no limit, and does not weigh
    /// as the tiers beside it do.
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
        .why("what it takes would not be limited, or count otherwise than what the tiers beside it take")
        .remedy(format!(
            "run as root, or --set {tier}.cgroup.memory=0 --set {tier}.cgroup.cpu=0 --set \
             {tier}.cgroup.read_iops=0, likewise other tiers, or guests without limits"
        ))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_cpu_time_than_the_kernel_gives_is_refused_and_not_rounded_up() {
        let said = |limit: Limit| limit.too_little(&Whose::Tier("web")).map(|problem| problem.to_string());
        let refused = said(Limit::Cpu(0.01)).expect("1 ms of 20 ms is the least");
        assert!(refused.contains("set.web.cgroup.cpu") && refused.contains("0.05 or more"), "{refused}");
        assert_eq!(said(Limit::Cpu(0.05)), None, "that is a whole millisecond");
        assert_eq!(said(Limit::Memory(1)), None, "of memory the kernel takes any limit");
    }

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
