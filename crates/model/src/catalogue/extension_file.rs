//! `catalogue/extensions/LANGUAGE.toml`: what `LANGUAGE+NAME` among a kit's needs is: packages, and what a server loads of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Catalogue;
use crate::catalogue::service::{Module, Packages};
use crate::document::{self, nearest};
use crate::problem::{Problem, Problems, Result};
use crate::{KitManifest, ServiceManifest};

/// The extensions of a language.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtensionFile {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The file's name without `.toml`: needs are `NAME+EXTENSION`.
    pub name: String,
    /// What a package is called that doesn't say so itself, with `{name}` for the extension: `php8.2-{name}`.
    pub package: String,
    /// Where what is loaded lies, as `NAME.so`.
    pub folder: String,
    /// By name.
    pub extension: BTreeMap<String, Extension>,
}

/// An extension.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// What it is for, in a few words.
    pub why: String,
    /// Its packages; the one that is called like it when absent.
    pub packages: Option<Vec<String>>,
    /// What is loaded, in this order; what is called like it when absent. Nothing where it is always loaded.
    pub load: Option<Vec<String>>,
    /// Files that must exist beside what is loaded.
    #[serde(default)]
    pub files: Vec<String>,
}

impl ExtensionFile {
    /// An extension as a part of a service that is needed where `when` holds; nothing where there is none.
    fn module(&self, name: &str, when: &str) -> Option<Module> {
        let extension = self.extension.get(name)?;
        let called = self.package.replace("{name}", name);
        let load = extension.load.clone().unwrap_or_else(|| vec![name.to_string()]);
        let shared = load.iter().map(|name| format!("{}/{name}.so", self.folder));
        Some(Module {
            when: when.to_string(),
            packages: Packages {
                install: extension.packages.clone().unwrap_or_else(|| vec![called]),
                unpack: Vec::new(),
                why: extension.why.clone(),
            },
            files: shared.chain(extension.files.iter().cloned()).collect(),
            load,
        })
    }

    fn unknown(&self, name: &str) -> Problem {
        let (language, package) = (&self.name, self.package.replace("{name}", name));
        let what = format!("there is no extension `{language}+{name}`: no package {package} is known");
        let why = "a server loads only what a package of the distribution brings";
        let problem = Problem::recipe(what).key("needs").why(why);
        let remedy = match nearest(name, self.extension.keys().map(String::as_str)) {
            Some(near) => format!("`{language}+{near}`"),
            None => {
                format!("one of extensions/{language}.toml, which a folder of --catalogue may have more of")
            }
        };
        problem.remedy(remedy)
    }
}

impl Catalogue {
    /// `service` with the extensions that `needs` ask of its language.
    ///
    /// # Errors
    /// Extensions that there are none of; a file of extensions that can't be read.
    pub fn with_extensions(&self, mut service: ServiceManifest, needs: &[String]) -> Result<ServiceManifest> {
        let Some(extended) = service.extended.clone() else { return Ok(service) };
        let names: Vec<&str> = names_of(&extended.with, needs).collect();
        if names.is_empty() {
            return Ok(service);
        }
        let known = self.extension_file(&extended.with)?;
        let when = extended.when.as_deref().unwrap_or("true");
        let mut problems = Vec::new();
        for name in names {
            match known.module(name, when) {
                Some(module) => service.modules.push(module),
                None => problems.push(known.unknown(name)),
            }
        }
        Problems::check(problems)?;
        Ok(service)
    }

    /// Every extension that the kit needs and that there isn't.
    pub fn unknown_extensions(&self, kit: &KitManifest) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        let optional = kit.optional.values().flat_map(|only| &only.needs);
        let needs: Vec<String> = kit.needs.iter().chain(optional).cloned().collect();
        for language in self.names("extensions/", ".toml") {
            let known = self.extension_file(language)?;
            let unknown = names_of(language, &needs).filter(|name| !known.extension.contains_key(*name));
            problems.extend(unknown.map(|name| known.unknown(name)));
        }
        Ok(problems)
    }

    fn extension_file(&self, name: &str) -> Result<ExtensionFile> {
        let path = format!("extensions/{name}.toml");
        document::read(&path, self.text(&path)?)
    }
}

/// The names of the extensions among `needs`.
fn names_of<'a>(language: &'a str, needs: &'a [String]) -> impl Iterator<Item = &'a str> {
    needs.iter().filter_map(move |need| need.strip_prefix(language)?.strip_prefix('+'))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    const PHP: &str = "format = 1\nname = \"php\"\npackage = \"php8.2-{name}\"\nfolder = \"/lib\"\n\
                       [extension.intl]\nwhy = \"words\"\n\
                       [extension.xml]\nwhy = \"XML\"\nload = [\"xml\", \"dom\"]\n\
                       [extension.ctype]\nwhy = \"kinds of characters\"\npackages = [\"php8.2-common\"]\nload = []\n";
    const SERVICE: &str = "format = 1\nname = \"fpm\"\ntitle = \"FPM\"\nlogs = []\n\
                           packages = { why = \"a test\" }\n\
                           program = { binary = \"x\", args = [], version_args = [], known_versions = [] }\n\
                           ready = { probe = \"http\", within_s = 1 }\nstop = { signal = \"TERM\", within_s = 1 }\n\
                           extended = { with = \"php\", when = 'php == \"module\"' }\n";

    fn extended(needs: &[&str]) -> Result<Vec<Module>> {
        let files = [("extensions/php.toml", PHP)];
        let bytes = |(path, text): (&str, &'static str)| (path.to_string(), Cow::Borrowed(text.as_bytes()));
        let catalogue = Catalogue::new(files.map(bytes).into());
        let service: ServiceManifest = document::read("service.toml", SERVICE)?;
        let needs: Vec<String> = needs.iter().map(|need| (*need).to_string()).collect();
        Ok(catalogue.with_extensions(service, &needs)?.modules)
    }

    #[test]
    fn an_extension_is_a_package_and_what_is_loaded_of_it() {
        let modules = extended(&["web+php", "php+intl", "php+xml", "php+ctype"]).expect("they are known");
        let packages: Vec<&str> =
            modules.iter().flat_map(|one| &one.packages.install).map(String::as_str).collect();
        assert_eq!(packages, ["php8.2-intl", "php8.2-xml", "php8.2-common"]);
        let loads: Vec<&str> = modules.iter().flat_map(|one| &one.load).map(String::as_str).collect();
        assert_eq!(loads, ["intl", "xml", "dom"]);
        assert_eq!(modules[1].files, ["/lib/xml.so", "/lib/dom.so"]);
        assert!(modules.iter().all(|one| one.when == "php == \"module\""));
        assert!(extended(&["web+php", "sql"]).expect("none is asked for").is_empty());
    }

    #[test]
    fn what_is_in_no_package_is_refused_with_the_package_and_the_nearest_name() {
        let said = extended(&["php+itl", "php+frobnicate"]).expect_err("there is none").to_string();
        for part in ["php8.2-itl", "`php+intl`", "php+frobnicate", "extensions/php.toml"] {
            assert!(said.contains(part), "`{part}` is not said: {said}");
        }
    }
}
