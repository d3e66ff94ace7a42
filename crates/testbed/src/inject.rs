//! What is done to a standing stack on purpose: a tier is held back by a controller of the kernel. Every group is a line of
//! the lab's ledger, so that whoever ends the lab removes it.

use std::fs;
use std::path::{Path, PathBuf};

use model::catalogue::fault_file::Injection;
use model::{Plan, Problem, Result};

use crate::cgroup;
use crate::controller::{Controller, Hierarchy};
use crate::lab::Site;
use crate::ledger::Entry;
use crate::process::{Family, Identity};
use crate::stack::Stack;

/// How often the processes of a tier are looked through until all are in their group: one may fork in between.
const LOOKS: u32 = 100;

impl Stack {
    /// Does to the stack what a fault says; patches and processes beside the stack are the caller's.
    ///
    /// # Errors
    /// A controller that this machine does not have, or does not let us use.
    pub fn inject(&mut self, injection: &Injection) -> Result<()> {
        match injection {
            Injection::CpuQuota { tier, cores } => self.set_cpu_quota(tier, Some(*cores)),
            Injection::DiskWrites { tier, per_s } => self.limit_writes(tier, *per_s),
            Injection::Delay { tier, wait, ratio } => self.set_delay(tier, *wait, *ratio),
            // A server's own limit is there from its start.
            Injection::Descriptors { .. } | Injection::CpuHog { .. } | Injection::Patch { .. } => Ok(()),
            // In the middle of a run.
            Injection::Kill { .. } | Injection::Cut { .. } => Ok(()),
        }
    }

    /// Lets a tier use the time of `cores` CPUs from now on; `None` lifts that.
    ///
    /// # Errors
    /// A tier that is not there; a machine without the controller.
    pub fn set_cpu_quota(&mut self, tier: &str, cores: Option<f64>) -> Result<()> {
        let (hierarchy, group) = self.held(tier, Controller::Cpu)?;
        hierarchy.limit_cpu(&group, cores)
    }

    /// Lets the tiers of `plan` whose reads are limited read no more often from the disk that holds `on`, too.
    ///
    /// # Errors
    /// A machine without the controller, or a path that is on no disk.
    pub fn limit_reads_of(&mut self, plan: &Plan, on: &Path) -> Result<()> {
        self.set_read_limits(plan, on, Some)
    }

    /// Lets them read from it as often as it can, until [`Stack::limit_reads_of`] holds them back again.
    ///
    /// # Errors
    /// As of the limit.
    pub fn lift_read_limits_of(&mut self, plan: &Plan, on: &Path) -> Result<()> {
        self.set_read_limits(plan, on, |_| None)
    }

    fn set_read_limits(&mut self, plan: &Plan, on: &Path, limit: fn(u64) -> Option<u64>) -> Result<()> {
        let limited = plan.tiers.iter().filter_map(|tier| Some((&tier.name, tier.read_limit_per_s?)));
        for (tier, per_s) in limited {
            let (hierarchy, group) = self.held(tier, Controller::Disk)?;
            hierarchy.limit_reads(&group, on, limit(per_s))?;
        }
        Ok(())
    }

    fn limit_writes(&mut self, tier: &str, per_s: u64) -> Result<()> {
        let (hierarchy, group) = self.held(tier, Controller::Disk)?;
        let dir = self.tier(tier).map(|tier| tier.dir.clone()).unwrap_or_default();
        hierarchy.limit_writes(&group, &dir, per_s)
    }

    /// The group of a tier in a controller's hierarchy, with all its processes.
    fn held(&mut self, tier: &str, controller: Controller) -> Result<(Hierarchy, PathBuf)> {
        let found = self.tier(tier).ok_or_else(|| Problem::bug(format!("there is no tier `{tier}`")))?;
        let (group, pid) = (found.cgroup.clone(), found.pid);
        let (site, instance) = self.site_and_instance();
        let hierarchy = controller.find(site.instance_dir(instance).as_deref())?;
        if hierarchy.unified {
            let group = group.ok_or_else(|| Problem::bug("a unified hierarchy without a tier's group"))?;
            return Ok((hierarchy, group));
        }
        let held = site.hold(&hierarchy, instance, tier)?;
        let members = || match &group {
            Some(group) => cgroup::members(group),
            None => site.family_of(instance, tier, pid),
        };
        enter(&held, members)?;
        Ok((hierarchy, held))
    }
}

/// Moves processes into a group until none is outside.
fn enter(group: &Path, members: impl Fn() -> Vec<u32>) -> Result<()> {
    let procs = group.join("cgroup.procs");
    for _ in 0..LOOKS {
        let inside = cgroup::members(group);
        let outside: Vec<u32> = members().into_iter().filter(|pid| !inside.contains(pid)).collect();
        if outside.is_empty() {
            return Ok(());
        }
        // One that has ended meanwhile can't be moved, and need not be.
        outside.iter().for_each(|pid| _ = fs::write(&procs, pid.to_string()));
    }
    let what = format!("the tier's processes can't be moved into {}", group.display());
    Err(Problem::environment(what).remedy("run as root, or have the group delegated").into())
}

impl Site {
    /// A tier's group in a hierarchy of its own; made and written down when it is not there yet.
    pub(crate) fn hold(&self, hierarchy: &Hierarchy, instance: &str, tier: &str) -> Result<PathBuf> {
        let group = self.hold_all(hierarchy, instance)?.join(tier);
        cgroup::make(&group)?;
        Ok(group)
    }

    /// The group that those of all tiers of an instance are in, likewise.
    pub(crate) fn hold_all(&self, hierarchy: &Hierarchy, instance: &str) -> Result<PathBuf> {
        let lab = hierarchy.base.join(&self.marker);
        if self.holds.note(&lab) {
            self.note(&Entry::Cgroup { path: lab.clone() })?;
        }
        let group = lab.join(instance);
        cgroup::make(&group)?;
        [&hierarchy.base, &lab, &group].into_iter().for_each(|above| hierarchy.outweigh(above));
        Ok(group)
    }

    /// The processes of a tier, where no group holds them.
    pub(crate) fn family_of(&self, instance: &str, tier: &str, pid: u32) -> Vec<u32> {
        let started: Vec<Identity> = Identity::of(pid).into_iter().collect();
        let marker = self.tier_marker(instance, tier);
        let family = Family { started: &started, marker: &marker, uid: self.owner.uid };
        family.living().into_iter().map(|process| process.pid).collect()
    }
}
