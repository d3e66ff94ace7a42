//! Settings of the machine itself, files below /proc/sys and /sys: changed for a lab, put back with it.
//!
//! A change is in the lab's ledger, with what stood there, before it is made; whoever ends the lab (it, its keeper, a later sweep)
//! writes that back. One lab at a time has a setting, whatever its home ([`taking`]).

mod claim;
pub(crate) mod file;
mod taking;

use std::path::{Path, PathBuf};

use model::catalogue::machine_knob::{CABLE, DISK, MachineKnob};
use model::record::MachineSettingResult;
use model::record::plan::MachineSetting;
use model::{Plan, Problem, Problems, Result};

use crate::controller;
use crate::lab::{Lab, Site};
use crate::ledger::Entry;

use claim::Claim;
use taking::Taken;

/// A setting as this machine has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineKnobFound {
    /// The value in force, and that it can be changed.
    Changeable(String),
    /// It can't be changed, and why, for people; with the value in force, where it can be read.
    Fixed {
        /// What is in force.
        value: Option<String>,
        /// For people.
        why: String,
    },
    /// Each cable to a tier's own host has one of its own, once there is one.
    OfCables,
}

/// What this machine has of a setting, by trying to open it: nothing is changed. `home` is on the disk that is meant.
pub fn look_at_machine(knob: &MachineKnob, home: &Path) -> MachineKnobFound {
    if knob.is_of_cables() {
        return MachineKnobFound::OfCables;
    }
    let path = match path_of(&knob.file, home) {
        Ok(path) => path,
        Err(why) => return MachineKnobFound::Fixed { value: None, why },
    };
    let value = file::value(&path, knob.form);
    match (file::check_writable(&path), value) {
        (Ok(()), Ok(value)) => MachineKnobFound::Changeable(value),
        (Err(why), value) => MachineKnobFound::Fixed { value: value.ok(), why },
        (Ok(()), Err(why)) => MachineKnobFound::Fixed { value: None, why },
    }
}

/// Refuses a plan that asks for settings that this machine can't change, all of them at once; nothing is changed.
///
/// # Errors
/// Each of them, with the reason.
pub fn check_machine(plan: &Plan, home: &Path) -> Result<()> {
    let refused = |setting: &MachineSetting| can_be_changed(setting, plan, home).err();
    let problem = |(setting, why): (&MachineSetting, String)| {
        Problem::environment(format!("{} of this machine can't be changed: {why}", setting.name))
            .key(setting.key())
            .why("the run would be one of a machine as it is, under another name")
            .remedy(format!(
                "leave {} out; `plimsoll list host` shows what can be changed here",
                setting.key().trim_start_matches("set.")
            ))
    };
    let wrong = plan.machine.iter().filter_map(|setting| Some((setting, refused(setting)?)));
    Problems::check(wrong.map(problem).collect())
}

/// The error says why not, for people.
fn can_be_changed(setting: &MachineSetting, plan: &Plan, home: &Path) -> std::result::Result<(), String> {
    if setting.file.contains(CABLE) {
        if !plan.tiers.iter().any(|tier| tier.own_host.is_some()) {
            return Err("there is no cable: no tier has a host of its own (TIER.net.host=own)".to_string());
        }
        return if file::is_root() { Ok(()) } else { Err(file::ONLY_ROOT.to_string()) };
    }
    let path = path_of(&setting.file, home)?;
    file::check_writable(&path)?;
    file::check_offered(&path, setting.form, &setting.value)
}

/// The file that is meant; the error says why there is none, for people.
fn path_of(file: &str, home: &Path) -> std::result::Result<PathBuf, String> {
    if !file.contains(DISK) {
        return Ok(PathBuf::from(file));
    }
    let name = controller::disk_name(home).map_err(|problems| {
        let what: Vec<&str> = problems.iter().map(|problem| problem.what.as_str()).collect();
        what.join("; ")
    })?;
    Ok(PathBuf::from(file.replace(DISK, &name)))
}

impl Lab {
    /// Changes the settings of the machine that a plan asks for, but those of cables; what stood there is put back when the lab ends. In
    /// the order of the plan.
    ///
    /// # Errors
    /// A setting that another lab has; a value that the kernel doesn't take.
    pub fn set_machine(&self, settings: &[MachineSetting]) -> Result<Vec<MachineSettingResult>> {
        let of_machine = settings.iter().filter(|setting| !setting.file.contains(CABLE));
        let set = |setting: &MachineSetting| {
            let path = path_of(&setting.file, self.home()).map_err(|why| refused(setting, &why))?;
            self.site.change(setting, &path)
        };
        of_machine.map(set).collect()
    }

    /// The same for those of cables, once the stack with its hosts stands.
    ///
    /// # Errors
    /// As of [`Lab::set_machine`]; a network that has no cable.
    pub fn set_cables(&self, settings: &[MachineSetting]) -> Result<Vec<MachineSettingResult>> {
        let mut done = Vec::new();
        for setting in settings.iter().filter(|setting| setting.file.contains(CABLE)) {
            let cables = self.site.hosts.cables();
            if cables.is_empty() {
                return Err(refused(setting, "there is no cable").into());
            }
            for cable in cables {
                let path = PathBuf::from(setting.file.replace(CABLE, &cable));
                done.push(self.site.change(setting, &path)?);
            }
        }
        Ok(done)
    }
}

impl Site {
    fn change(&self, setting: &MachineSetting, path: &Path) -> Result<MachineSettingResult> {
        let done = |found: String| MachineSettingResult {
            name: setting.name.clone(),
            file: path.display().to_string(),
            found,
            set: setting.value.clone(),
        };
        let failed = |why: String| Problems::from(refused(setting, &why));
        let found = || file::value(path, setting.form).map_err(failed);
        let claim =
            Claim { ledger: self.ledger_path()?, owner: self.marker.clone(), pid: std::process::id() };
        let new = match taking::take(path, &claim) {
            Taken::New => true,
            Taken::Ours => false,
            // This very tool has another lab beside this one, whose run is to have the same machine.
            Taken::Beside if found()? == setting.value => return Ok(done(found()?)),
            Taken::Beside => {
                let why = "another stack stands beside this one and has set it to something else";
                return Err(refused(setting, why).remedy("measure one after the other").into());
            }
            Taken::Others(ledger) => {
                let why = format!("another lab has changed it ({})", ledger.display());
                return Err(refused(setting, &why).remedy("wait for it to end").into());
            }
            Taken::Failed(why) => return Err(failed(why)),
        };
        let found = found().and_then(|found| match setting.unless_found.as_ref() {
            Some(other) if new && *other == found => Err(failed(format!(
                "it is {found} here, which says that another setting is in force instead of it"
            ))),
            _ => Ok(found),
        });
        // Nothing of it is in the ledger yet.
        let found = found.inspect_err(|_| claim::release(path, &self.marker))?;
        // What is put back in the end is what stood there first.
        if new {
            self.note(&Entry::Machine { path: path.to_path_buf(), found: found.clone() })?;
        }
        file::write(path, &setting.value).map_err(failed)?;
        let now = file::value(path, setting.form).map_err(failed)?;
        if now != setting.value {
            let why = format!("{} was written to {}, and it says {now}", setting.value, path.display());
            return Err(failed(why));
        }
        Ok(done(found))
    }
}

fn refused(setting: &MachineSetting, why: &str) -> Problem {
    Problem::environment(format!("{} of this machine can't be changed: {why}", setting.name))
        .key(setting.key())
}
