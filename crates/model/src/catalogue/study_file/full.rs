//! `[full]`: what a study measures with `--full`, where its usual form is a short one.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CellRequest, FactorRequest, FindRequest, StudyFile};
use crate::catalogue::setting::Values;
use crate::problem::{Problem, Result};
use crate::record::study::Form;

/// The keys that `--full` puts in the place of the study's own; `set` and `param` are laid over them key by key.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FullRequest {
    /// The data set's size.
    pub size: Option<String>,
    /// Sizes of the data set; a factor when there are several.
    pub sizes: Option<Vec<String>>,
    /// Mixes of the kit; a factor when there are several.
    pub mixes: Option<Vec<String>>,
    /// Stacks by name.
    pub stacks: Option<Vec<String>>,
    /// Topologies of the catalogue.
    pub topologies: Option<Vec<String>>,
    /// Numbers of emulated users.
    pub users: Option<Vec<u32>>,
    /// Rates of arrivals.
    pub rate: Option<Vec<String>>,
    /// The search for load lines.
    pub find: Option<FindRequest>,
    /// What is varied beside stacks, sizes and load.
    #[serde(rename = "factor")]
    pub factors: Option<Vec<FactorRequest>>,
    /// The cells one by one.
    #[serde(rename = "cell")]
    pub cells: Option<Vec<CellRequest>>,
    /// Knobs that have another value than in the short form.
    #[serde(default)]
    pub set: Values,
    /// The kit's parameters that have another value than in the short form.
    #[serde(default)]
    pub param: Values,
    /// How often each cell is measured.
    #[schemars(range(min = 1, max = 1000))]
    pub repeats: Option<u32>,
    /// Steady seconds of a trial.
    pub window: Option<String>,
    /// How many CPUs a machine has at least for this form.
    #[schemars(range(min = 2))]
    pub min_cpus: Option<u32>,
}

impl StudyFile {
    /// What `form` measures, as a study of one form.
    ///
    /// # Errors
    /// The study has no full form.
    pub(super) fn in_form(&self, form: Form) -> Result<Cow<'_, StudyFile>> {
        if form == Form::Short {
            return Ok(Cow::Borrowed(self));
        }
        let Some(full) = self.full.clone() else {
            let what = format!("study {} has no [full]: its only form is the usual one", self.name);
            return Err(Problem::recipe(what).key("--full").remedy("leave --full out").into());
        };
        let mut study = self.clone();
        study.size = full.size.or(study.size);
        study.sizes = full.sizes.unwrap_or(study.sizes);
        study.mixes = full.mixes.unwrap_or(study.mixes);
        study.stacks = full.stacks.unwrap_or(study.stacks);
        study.topologies = full.topologies.unwrap_or(study.topologies);
        study.users = full.users.unwrap_or(study.users);
        study.rate = full.rate.unwrap_or(study.rate);
        study.find = full.find.or(study.find);
        study.factors = full.factors.unwrap_or(study.factors);
        study.cells = full.cells.unwrap_or(study.cells);
        study.set.extend(full.set);
        study.param.extend(full.param);
        study.repeats = full.repeats.or(study.repeats);
        study.window = full.window.or(study.window);
        study.min_cpus = full.min_cpus.or(study.min_cpus);
        Ok(Cow::Owned(study))
    }

    /// Where the file says what leads to `path` in a study of that form: below `[full]` where that replaces it.
    pub(super) fn place_in(&self, form: Form, path: &[String]) -> Vec<String> {
        let full = self.full.as_ref().filter(|_| form == Form::Full);
        let replaced = full.is_some_and(|full| full.has(path));
        let below = replaced.then(|| "full".to_string());
        below.into_iter().chain(path.iter().cloned()).collect()
    }
}

impl FullRequest {
    fn has(&self, path: &[String]) -> bool {
        let mut steps = path.iter().map(String::as_str);
        match (steps.next().unwrap_or_default(), steps.next()) {
            ("size", _) => self.size.is_some(),
            ("sizes", _) => self.sizes.is_some(),
            ("mixes", _) => self.mixes.is_some(),
            ("stacks", _) => self.stacks.is_some(),
            ("topologies", _) => self.topologies.is_some(),
            ("users", _) => self.users.is_some(),
            ("rate", _) => self.rate.is_some(),
            ("find", _) => self.find.is_some(),
            ("factor", _) => self.factors.is_some(),
            ("cell", _) => self.cells.is_some(),
            ("repeats", _) => self.repeats.is_some(),
            ("window", _) => self.window.is_some(),
            ("min_cpus", _) => self.min_cpus.is_some(),
            ("set", Some(name)) => self.set.contains_key(name),
            ("param", Some(name)) => self.param.contains_key(name),
            _ => false,
        }
    }
}
