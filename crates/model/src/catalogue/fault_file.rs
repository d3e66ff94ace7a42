//! `catalogue/faults/NAME.toml`: a bottleneck that is made on purpose, so that a diagnosis can be held against what is
//! known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Catalogue, Problem, Recipe, Result, StackManifest};

/// A fault, the run that shows it, and the diagnosis that is right.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultFile {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The file's name without `.toml`.
    pub name: String,
    /// For people: `PHP-FPM with two children`.
    pub title: String,
    /// Why it is a bottleneck, and how it shows.
    pub why: String,
    /// One of the few that the gate runs.
    #[serde(default)]
    pub quick: bool,
    /// What a right diagnosis says.
    pub expect: Expected,
    /// The users are as many as keep the stack's CPUs this busy, which differs from machine to machine: shorter runs before find
    /// out, the first with the recipe's `users`, who should be few. As many as the recipe says when absent, and in `plimsoll run --fault`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.05, max = 0.95))]
    pub busy_ratio: Option<f64>,
    /// The run that shows it.
    pub recipe: Recipe,
    /// What is done to the stack or to the machine.
    #[serde(default, rename = "inject")]
    pub injections: Vec<Injection>,
}

/// What a right diagnosis says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Expected {
    /// This resource of this tier is the limit.
    Limit {
        /// web, app, db, cache, `host`, `generator`.
        tier: String,
        /// As rules name it.
        resource: String,
    },
    /// Nothing: a control.
    Healthy,
}

/// Something that is done on purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Injection {
    /// The tier may use only this number of cores of CPU time.
    CpuQuota {
        /// The tier.
        tier: String,
        /// Cores.
        cores: f64,
    },
    /// Processes that belong to nobody compute on the stack's CPUs.
    CpuHog {
        /// How many.
        processes: u32,
        /// On the generator's CPUs instead.
        #[serde(default)]
        on_generator: bool,
    },
    /// The tier's processes may have only this number of descriptors.
    Descriptors {
        /// The tier.
        tier: String,
        /// Descriptors of a process.
        limit: u64,
    },
    /// The tier may do only this number of writes a second on its disk.
    DiskWrites {
        /// The tier.
        tier: String,
        /// Writes per second.
        per_s: u64,
    },
    /// Waits of a kind take longer in the tier's servers.
    Delay {
        /// The tier.
        tier: String,
        /// Which waits.
        wait: DelayedWait,
        /// By how much of what each takes: 0.15 is 15 % longer.
        ratio: f64,
    },
    /// An instance of the tier is ended at once in the middle of the run, as by a power cut; the others go on.
    Kill {
        /// The tier.
        tier: String,
        /// Which of its instances, from 1.
        instance: u32,
        /// Seconds after the steady state began.
        at_s: f64,
    },
    /// The host of an instance of the tier is cut off from all others for a while, in the middle of the run.
    Cut {
        /// The tier, which has hosts of its own.
        tier: String,
        /// Which of its instances, from 1.
        instance: u32,
        /// Seconds after the steady state began.
        at_s: f64,
        /// For how long; seconds.
        for_s: f64,
    },
    /// A part of a catalogue's file is replaced, for this run only.
    Patch {
        /// Path in the catalogue: `kits/dvdstore/app/ds2/store.php`.
        file: String,
        /// What is replaced; it must occur exactly once.
        find: String,
        /// What stands there instead.
        replace: String,
    },
}

/// A wait of a server that can be made longer from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelayedWait {
    /// Sleeping until a time, or waiting for something until it is too late.
    Sleep,
    /// Holding the lock of a file (`flock`): whoever waits for it waits longer.
    Lock,
    /// Waiting until a file is on its disk (`fsync`, `fdatasync`).
    Sync,
}

impl FaultFile {
    /// What can't be injected into a stack; `elsewhere` when somebody else started it.
    pub fn mistakes(&self, stack: &StackManifest, elsewhere: bool) -> Vec<Problem> {
        let file = format!("faults/{}.toml", self.name);
        let wrong = |what: String| Problem::recipe(what).file(file.clone()).key("inject");
        let mut found = Vec::new();
        if elsewhere {
            let problem = wrong("a server that somebody else started can't be injected with a fault".into());
            found.push(problem.key("fault").remedy("leave `fault` or `target` out"));
            return found;
        }
        if self.busy_ratio.is_some_and(|ratio| !(0.05..=0.95).contains(&ratio)) {
            found.push(wrong("CPUs are kept between 5 and 95 % busy: 0.05 to 0.95".into()).key("busy_ratio"));
        }
        if self.busy_ratio.is_some() && self.recipe.users.is_none() {
            let problem = wrong("a search for the number of users begins with some".into());
            found.push(problem.key("recipe.users").remedy("a few, as `users = 5`"));
        }
        for injection in &self.injections {
            if let Some(tier) = injection.tier()
                && !stack.tiers.iter().any(|one| one.name == tier)
            {
                found.push(wrong(format!("stack {} has no tier `{tier}`", stack.name)));
            }
            found.extend(injection.mistake().map(wrong));
        }
        found
    }

    /// Replaces the parts of the catalogue that the fault patches.
    ///
    /// # Errors
    /// A file that is not there, and a part that is not in it exactly once.
    pub fn patch(&self, catalogue: &mut Catalogue) -> Result<()> {
        for injection in &self.injections {
            let Injection::Patch { file, find, replace } = injection else { continue };
            let text = catalogue.text(file)?;
            let count = text.matches(find.as_str()).count();
            if count != 1 {
                let what = format!("the part of {file} that is replaced occurs {count} times, not once");
                let own = format!("faults/{}.toml", self.name);
                return Err(Problem::recipe(what).file(own).key("inject.find").into());
            }
            let patched = text.replacen(find.as_str(), replace, 1).into_bytes();
            catalogue.overlay([(file.clone(), patched.into())].into());
        }
        Ok(())
    }
}

impl Injection {
    /// The tier that it is done to.
    pub fn tier(&self) -> Option<&str> {
        match self {
            Injection::CpuQuota { tier, .. }
            | Injection::Descriptors { tier, .. }
            | Injection::DiskWrites { tier, .. }
            | Injection::Delay { tier, .. }
            | Injection::Kill { tier, .. }
            | Injection::Cut { tier, .. } => Some(tier),
            Injection::CpuHog { .. } | Injection::Patch { .. } => None,
        }
    }

    fn mistake(&self) -> Option<String> {
        match self {
            Injection::CpuQuota { cores, .. } if !(0.01..=4096.0).contains(cores) => {
                Some(format!("{cores} cores are no quota: at least 0.01"))
            }
            Injection::CpuHog { processes: 0, .. } => Some("no process is no hog".to_string()),
            Injection::Descriptors { limit, .. } if *limit < 16 => {
                Some(format!("no server starts with {limit} descriptors: at least 16"))
            }
            Injection::DiskWrites { per_s: 0, .. } => {
                Some("a tier without any write never starts".to_string())
            }
            Injection::Kill { instance: 0, .. } | Injection::Cut { instance: 0, .. } => {
                Some("instances are numbered from 1".to_string())
            }
            Injection::Kill { at_s, .. } | Injection::Cut { at_s, .. } if !(0.0..=1e6).contains(at_s) => {
                Some(format!("{at_s} s is no moment of a steady state"))
            }
            Injection::Cut { for_s, .. } if !(0.1..=1e6).contains(for_s) => {
                Some(format!("nothing is cut off for {for_s} s"))
            }
            Injection::Delay { ratio, .. } if !(0.0..=1000.0).contains(ratio) => {
                Some(format!("waits can't be longer by {ratio} of what they take: 0 to 1000"))
            }
            _ => None,
        }
    }

    /// What is done, in a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Injection::CpuQuota { tier, cores } => {
                format!("tier {tier} may use {cores} cores of CPU time")
            }
            Injection::CpuHog { processes, on_generator } => {
                let place = if *on_generator { "the generator's" } else { "the stack's" };
                format!("{processes} processes that belong to nobody compute on {place} CPUs")
            }
            Injection::Descriptors { tier, limit } => {
                format!("a process of tier {tier} may have {limit} descriptors")
            }
            Injection::DiskWrites { tier, per_s } => {
                format!("tier {tier} may do {per_s} writes per second on its disk")
            }
            Injection::Delay { tier, wait, ratio } => {
                let what = match wait {
                    DelayedWait::Sleep => "sleeps",
                    DelayedWait::Lock => "holds the locks of files",
                    DelayedWait::Sync => "waits for files to be on the disk",
                };
                format!("tier {tier} {what} for {:.0} % longer", ratio * 100.0)
            }
            Injection::Kill { tier, instance, at_s } => {
                format!("{tier}-{instance} is killed {at_s} s after the steady state began")
            }
            Injection::Cut { tier, instance, at_s, for_s } => {
                format!("{tier}-{instance} is cut off {at_s} s after the steady state began, for {for_s} s")
            }
            Injection::Patch { file, .. } => format!("a part of {file} is replaced"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(find: &str) -> FaultFile {
        FaultFile {
            format: 1,
            name: "slow".into(),
            title: "slow".into(),
            why: "it waits".into(),
            quick: false,
            expect: Expected::Healthy,
            busy_ratio: None,
            recipe: Recipe::default(),
            injections: vec![Injection::Patch {
                file: "kits/a/a.php".into(),
                find: find.into(),
                replace: "usleep(1); b();".into(),
            }],
        }
    }

    #[test]
    fn a_patch_replaces_a_part_that_occurs_exactly_once() {
        let files = [("kits/a/a.php".to_string(), b"a(); b(); a();".to_vec().into())];
        let mut catalogue = Catalogue::new(files.into());
        fault("b();").patch(&mut catalogue).expect("it occurs once");
        assert_eq!(catalogue.text("kits/a/a.php"), Ok("a(); usleep(1); b(); a();"));
        for (find, count) in [("a();", "2 times"), ("c();", "0 times")] {
            let refused = fault(find).patch(&mut catalogue).expect_err(find).to_string();
            assert!(refused.contains(count), "{refused}");
        }
    }

    #[test]
    fn an_injection_into_a_tier_that_is_not_there_is_refused() {
        let stack = StackManifest {
            format: 1,
            name: "bare".into(),
            title: "bare".into(),
            provides: Vec::new(),
            tiers: Vec::new(),
        };
        let quota = Injection::CpuQuota { tier: "app".into(), cores: 0.0 };
        let found = FaultFile { injections: vec![quota], ..fault("b();") }.mistakes(&stack, false);
        let said: Vec<&str> = found.iter().map(|problem| problem.what.as_str()).collect();
        assert_eq!(said, ["stack bare has no tier `app`", "0 cores are no quota: at least 0.01"]);
        let busy = FaultFile { injections: Vec::new(), busy_ratio: Some(1.0), ..fault("b();") };
        let keys: Vec<_> = busy.mistakes(&stack, false).into_iter().filter_map(|one| one.place.key).collect();
        assert_eq!(keys, ["busy_ratio", "recipe.users"]);
        assert!(fault("b();").mistakes(&stack, true)[0].what.contains("somebody else"));
    }
}
