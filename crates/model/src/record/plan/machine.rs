//! Settings of the machine that a recipe asks for: `host.vm.swappiness`.

use serde::{Deserialize, Serialize};

use crate::Catalogue;
use crate::catalogue::machine_knob::{FileForm, MACHINE, MachineKnob};
use crate::catalogue::recipe::Recipe;
use crate::catalogue::setting::Value;
use crate::document::nearest;
use crate::problem::{Problem, Result};

/// A setting of the machine, as it is to be for the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineSetting {
    /// The name after `host.`.
    pub name: String,
    /// What is written.
    pub value: String,
    /// The kernel's file, with [`crate::catalogue::machine_knob::DISK`] or [`crate::catalogue::machine_knob::CABLE`] in it.
    pub file: String,
    /// How the file shows its value.
    #[serde(default)]
    pub form: FileForm,
    /// Where this is found another setting is in force instead, which could not be put back: then it is not changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unless_found: Option<String>,
}

impl MachineSetting {
    /// The key that it was asked for with.
    pub fn key(&self) -> String {
        format!("set.{MACHINE}.{}", self.name)
    }
}

/// The name of the setting of the machine that a key of `set` means.
pub(super) fn name_of(key: &str) -> Option<&str> {
    key.strip_prefix(MACHINE)?.strip_prefix('.')
}

/// What the recipe asks for; mistakes are added to `problems`.
pub(super) fn resolve(
    recipe: &Recipe,
    catalogue: &Catalogue,
    problems: &mut Vec<Problem>,
) -> Result<Vec<MachineSetting>> {
    let given: Vec<(&str, &Value)> =
        recipe.set.iter().filter_map(|(key, value)| Some((name_of(key)?, value))).collect();
    if given.is_empty() || recipe.target.is_some() {
        return Ok(Vec::new());
    }
    let known = catalogue.machine_knobs()?;
    let mut settings = Vec::new();
    for (name, value) in given {
        let key = || format!("set.{MACHINE}.{name}");
        match known.iter().find(|knob| knob.name == name) {
            None => problems.push(unknown(name, &known).key(key())),
            Some(knob) => match knob.accept(value) {
                Ok(value) => settings.push(MachineSetting {
                    name: name.to_string(),
                    value,
                    file: knob.file.clone(),
                    form: knob.form,
                    unless_found: knob.unless_found.clone(),
                }),
                Err(what) => problems.push(Problem::recipe(what).key(key())),
            },
        }
    }
    Ok(settings)
}

fn unknown(name: &str, known: &[MachineKnob]) -> Problem {
    let names = || known.iter().map(|knob| knob.name.as_str());
    let problem = Problem::recipe(format!("the machine has no setting `{name}` that Plimsoll changes"));
    match nearest(name, names()) {
        Some(near) => problem.remedy(format!("`{near}`")),
        None => problem.remedy("`plimsoll list host` shows those that there are"),
    }
}
