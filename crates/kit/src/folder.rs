//! A kit's folder, read.

use std::collections::BTreeMap;

use engine::script::sandbox::Modules;
use model::setting::Values;
use model::{Catalogue, KitManifest, Plan, Problem, Result};

/// A kit's folder: the manifest and the texts that it names. Owned, so that threads can share it.
#[derive(Debug, Clone)]
pub struct Kit {
    /// `kit.toml`.
    pub manifest: KitManifest,
    /// Every Lua file in the folder, by its name without `.lua`: what `require` finds.
    pub modules: Modules,
    texts: BTreeMap<String, String>,
}

/// What a kit's scripts and SQL see: the size's numbers, the parameters, the seed.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// `size.NAME`.
    pub size: BTreeMap<String, f64>,
    /// `param.NAME`.
    pub params: Values,
    /// The seed of all random streams.
    pub seed: u64,
}

impl Setup {
    /// What a plan resolved to.
    pub fn of_plan(plan: &Plan) -> Setup {
        Setup { size: plan.size.values.clone(), params: plan.params.clone(), seed: plan.load.seed }
    }
}

impl Kit {
    /// Reads the kit `name` from the catalogue.
    pub fn open(catalogue: &Catalogue, name: &str) -> Result<Kit> {
        let manifest = catalogue.kit(name)?;
        let folder = format!("kits/{name}");
        let mut modules = Modules::new();
        for (path, _) in catalogue.below(&folder) {
            if let Some(module) = path.strip_suffix(".lua").filter(|module| !module.contains('/')) {
                modules.insert(module.to_string(), catalogue.text(&format!("{folder}/{path}"))?.to_string());
            }
        }
        let mut texts = BTreeMap::new();
        let optional = [&manifest.data, &manifest.schema, &manifest.finish, &manifest.check];
        for file in optional.into_iter().flatten().chain([&manifest.session]) {
            texts.insert(file.clone(), catalogue.text(&format!("{folder}/{file}"))?.to_string());
        }
        Ok(Kit { manifest, modules, texts })
    }

    /// The text of a file that the manifest names.
    pub fn text(&self, file: &str) -> Result<&str> {
        self.texts
            .get(file)
            .map(String::as_str)
            .ok_or_else(|| Problem::bug("the manifest does not name this file").file(self.place(file)).into())
    }

    /// A file as messages name it: `kits/dvdstore/data.lua`.
    pub fn place(&self, file: &str) -> String {
        format!("kits/{}/{file}", self.manifest.name)
    }

    /// Puts another text in place of a file's.
    #[cfg(test)]
    pub(crate) fn replace_text(&mut self, file: &str, text: &str) {
        self.texts.insert(file.to_string(), text.to_string());
    }
}
