//! A kit's folder, read.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::scenario::Files;
use engine::script::feeder::{Feeder, Rows};
use engine::script::sandbox::Modules;
use model::catalogue::setting::Values;
use model::{Catalogue, KitManifest, Plan, Problem, Problems, Result};

/// A kit's folder: the manifest and the texts that it names. Owned, so that threads can share it.
#[derive(Debug, Clone)]
pub struct Kit {
    /// `kit.toml`.
    pub manifest: KitManifest,
    /// Every Lua file in the folder and those that it borrows, by its name without `.lua`: what `require` finds.
    pub modules: Modules,
    /// The rows that sessions are fed with.
    pub feeders: Vec<Feeder>,
    /// Files that requests may send as they are.
    pub files: Files,
    texts: BTreeMap<String, String>,
    /// Where each of the modules lies in the catalogue.
    pub(crate) places: BTreeMap<String, String>,
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
        Setup {
            size: plan.size.values.clone(),
            params: plan.params.clone(),
            seed: plan.data_seed.unwrap_or(plan.load.seed),
        }
    }
}

impl Kit {
    /// Reads the kit `name` from the catalogue.
    pub fn open(catalogue: &Catalogue, name: &str) -> Result<Kit> {
        let manifest = catalogue.kit(name)?;
        let folder = format!("kits/{name}");
        let places = module_places(catalogue, &manifest);
        let mut modules = Modules::new();
        for (module, path) in &places {
            modules.insert(module.clone(), catalogue.text(path)?.to_string());
        }
        let mut texts = BTreeMap::new();
        let optional = [&manifest.data, &manifest.schema, &manifest.finish, &manifest.check];
        let scripts = manifest.file_set.iter().map(|set| &set.script);
        for file in optional.into_iter().flatten().chain(scripts).chain([&manifest.session]) {
            texts.insert(file.clone(), catalogue.text(&format!("{folder}/{file}"))?.to_string());
        }
        let (feeders, files) = (feeders(catalogue, &manifest)?, files(catalogue, &manifest)?);
        Ok(Kit { manifest, modules, feeders, files, texts, places })
    }

    /// The text of a file that the manifest names.
    pub fn text(&self, file: &str) -> Result<&str> {
        self.texts.get(file).map(String::as_str).ok_or_else(|| {
            Problem::bug("the manifest does not name this file").file(self.path_of(file)).into()
        })
    }

    /// A file as messages name it: `kits/dvdstore/data.lua`. A borrowed module is in the folder of its own kit.
    pub fn path_of(&self, file: &str) -> String {
        let module = file.strip_suffix(".lua").and_then(|module| self.places.get(module));
        module.cloned().unwrap_or_else(|| format!("kits/{}/{file}", self.manifest.name))
    }

    /// Puts another text in place of a file's.
    #[cfg(test)]
    pub(crate) fn replace_text(&mut self, file: &str, text: &str) {
        self.texts.insert(file.to_string(), text.to_string());
    }
}

/// Where each module lies that a kit's Lua files can `require`, by its name: its own and those that it borrows.
pub(crate) fn module_places(catalogue: &Catalogue, manifest: &KitManifest) -> BTreeMap<String, String> {
    let kit = &manifest.name;
    let place = |name: &str| (name.to_string(), format!("kits/{kit}/{name}.lua"));
    let own = catalogue.modules(kit).into_iter().map(place);
    let borrowed = manifest.borrowed().map(|one| (one.module.to_string(), one.path()));
    own.chain(borrowed).collect()
}

/// Reads every feeder's rows; what is wrong with all of them at once.
fn feeders(catalogue: &Catalogue, manifest: &KitManifest) -> Result<Vec<Feeder>> {
    let (mut feeders, mut problems) = (Vec::new(), Vec::new());
    for declared in &manifest.feeders {
        let place = format!("kits/{}/{}", manifest.name, declared.file);
        match catalogue.bytes(&place).and_then(|text| Rows::read(&place, text)) {
            Ok(rows) => feeders.push(Feeder {
                name: declared.name.clone(),
                rows: Arc::new(rows),
                mode: declared.mode,
                on_end: declared.on_end,
            }),
            Err(found) => problems.extend(found.into_vec()),
        }
    }
    Problems::check(problems)?;
    Ok(feeders)
}

fn files(catalogue: &Catalogue, manifest: &KitManifest) -> Result<Files> {
    let read = |file: &String| {
        let bytes = catalogue.bytes(&format!("kits/{}/{file}", manifest.name))?;
        Ok((file.clone(), Arc::from(bytes)))
    };
    manifest.files.iter().map(read).collect()
}
