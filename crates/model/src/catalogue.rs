//! What can be asked for: kits, services, stacks, recipes and studies, as named texts and what they say. Where the bytes
//! come from is the business of whoever makes a [`Catalogue`].

pub mod agent_file;
pub mod build;
pub mod extension_file;
pub mod fault_file;
pub mod kit;
pub mod link_file;
pub mod listing;
pub mod load;
pub mod machine_knob;
mod manifests;
pub mod mix;
pub mod occurrence;
pub mod population;
pub mod qos;
pub mod recipe;
pub mod rules;
pub mod server_job;
pub mod service;
pub mod setting;
pub mod stack;
pub mod study_file;
pub mod think;
pub mod tier_setting;
pub mod topology_file;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::document::nearest;
use crate::problem::{Problem, Result};

/// The folders of a catalogue, sources of servers that are built among them; what else lies beside them is no part of it.
pub const FOLDERS: [&str; 12] = [
    "extensions",
    "faults",
    "host",
    "kits",
    "links",
    "qos",
    "rules",
    "servers",
    "services",
    "stacks",
    "studies",
    "topologies",
];

/// Every file of the catalogue by its path in it: `kits/dvdstore/kit.toml`.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    files: BTreeMap<String, Cow<'static, [u8]>>,
    folder: Option<PathBuf>,
}

impl Catalogue {
    /// A catalogue of the given files.
    pub fn new(files: BTreeMap<String, Cow<'static, [u8]>>) -> Catalogue {
        Catalogue { files, folder: None }
    }

    /// Adds files; those with a known path replace the old ones.
    pub fn overlay(&mut self, files: BTreeMap<String, Cow<'static, [u8]>>) {
        self.files.extend(files);
    }

    /// The same of a folder of the user's, which commands that are proposed name from then on.
    pub fn lay_over(&mut self, folder: &Path, files: BTreeMap<String, Cow<'static, [u8]>>) {
        self.overlay(files);
        self.folder = Some(folder.to_path_buf());
    }

    /// What a command needs to have the same catalogue: ` --catalogue DIR`, or nothing.
    pub fn option(&self) -> String {
        self.folder.as_ref().map(|folder| format!(" --catalogue {}", folder.display())).unwrap_or_default()
    }

    /// The bytes of a file.
    pub fn bytes(&self, path: &str) -> Result<&[u8]> {
        self.files.get(path).map(AsRef::as_ref).ok_or_else(|| {
            let mut problem = Problem::recipe("no such file in the catalogue").file(path);
            problem.remedy =
                nearest(path, self.files.keys().map(String::as_str)).map(|near| format!("`{near}`"));
            problem.into()
        })
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Result<&str> {
        std::str::from_utf8(self.bytes(path)?)
            .map_err(|_| Problem::recipe("the file is not UTF-8 text").file(path).into())
    }

    /// The files below a folder: (path relative to it, bytes), sorted.
    pub fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a [u8])> + 'a {
        let prefix = format!("{folder}/");
        self.files.iter().filter_map(move |(path, bytes)| {
            path.strip_prefix(prefix.as_str()).map(|rest| (rest, bytes.as_ref()))
        })
    }

    /// Names of the kits.
    pub fn kits(&self) -> Vec<&str> {
        self.names("kits/", "/kit.toml")
    }

    /// Names of the services.
    pub fn services(&self) -> Vec<&str> {
        self.names("services/", "/service.toml")
    }

    /// Names of the stacks.
    pub fn stacks(&self) -> Vec<&str> {
        self.names("stacks/", ".toml")
    }

    /// Names of the studies.
    pub fn studies(&self) -> Vec<&str> {
        self.names("studies/", ".toml")
    }

    /// Names of the modules that a kit's folder holds: what its Lua files can `require` by themselves.
    pub fn modules(&self, kit: &str) -> Vec<&str> {
        self.names(&format!("kits/{kit}/"), ".lua")
    }

    /// Names of the presets of targets.
    pub fn presets(&self) -> Vec<&str> {
        self.names("qos/", ".toml")
    }

    /// Names of the links.
    pub fn links(&self) -> Vec<&str> {
        self.names("links/", ".toml")
    }

    /// Names of the topologies.
    pub fn topologies(&self) -> Vec<&str> {
        self.names("topologies/", ".toml")
    }

    /// Names of the files of rules.
    pub fn rule_files(&self) -> Vec<&str> {
        self.names("rules/", ".toml")
    }

    /// Names of the faults.
    pub fn faults(&self) -> Vec<&str> {
        self.names("faults/", ".toml")
    }

    fn names<'a>(&'a self, prefix: &str, suffix: &str) -> Vec<&'a str> {
        let inner = |path: &'a String| path.strip_prefix(prefix)?.strip_suffix(suffix);
        self.files.keys().filter_map(inner).filter(|name| !name.contains('/')).collect()
    }

    fn find(&self, what: &str, name: &str, known: &[&str], path: String) -> Result<String> {
        if known.contains(&name) {
            return Ok(path);
        }
        let problem = Problem::recipe(format!("there is no {what} `{name}`"));
        Err(match nearest(name, known.iter().copied()) {
            Some(near) => problem.remedy(format!("`{near}`")),
            None => problem.remedy(format!("one of: {}", known.join(", "))),
        }
        .into())
    }
}
