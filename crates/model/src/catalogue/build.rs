//! `[build]` of a kit or a service: how a part of the application, or the server, is made of sources, once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::service::Packages;

/// How a part of a kit's application, or a service's program, is built. It is done once for the same sources and kept. Of a kit
/// each run has the product laid into its document root; of a service the program is looked for there first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// The folder of the sources: of a kit in its own folder, of a service in the catalogue (`servers/flash`). Its files are laid
    /// out in a directory of their own.
    pub folder: String,
    /// The command: a program of PATH and its arguments. It runs in that directory, as the user who runs Plimsoll and with
    /// that user's environment, and ends when the product is there.
    pub run: Vec<String>,
    /// The directory below it that is the product: of a kit its files are laid into the document root beside those of `app`,
    /// which win; of a service it is what templates see as `built`. What its first folder holds before is no source: it is
    /// what building makes.
    pub product: String,
    /// Programs of PATH that the command calls, beside the one that it is: where one is not there, the packages are asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Debian packages that building needs; `install` only.
    pub packages: Packages,
}

impl Build {
    /// What is wrong with it whatever the catalogue holds: (key, what).
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        for (key, path) in [("folder", &self.folder), ("product", &self.product)] {
            faults.extend(not_below(path).map(|why| (key, format!("`{path}` {why}"))));
        }
        match self.run.first().map(String::as_str) {
            None | Some("") => faults.push(("run", "there is no command: nothing is built".to_string())),
            Some(program) if program.contains('/') => {
                let what = format!("`{program}` is a path: the first word names a program of PATH");
                faults.push(("run", what));
            }
            Some(_) => {}
        }
        for program in self.programs.iter().filter(|program| program.is_empty() || program.contains('/')) {
            faults.push(("programs", format!("`{program}` is no name of a program of PATH")));
        }
        if let Some(package) = self.packages.unpack.first() {
            let what = format!("{package} would be unpacked where no PATH leads: what builds is installed");
            faults.push(("packages", what));
        }
        faults
    }

    /// The folder of the sources as paths have it: without a slash at its end.
    pub fn source_folder(&self) -> &str {
        self.folder.trim_end_matches('/')
    }

    /// The programs of PATH that building needs.
    pub fn all_programs(&self) -> impl Iterator<Item = &str> {
        self.run.first().into_iter().chain(&self.programs).map(String::as_str)
    }

    /// The folder in which building leaves what it makes: the first of `product`.
    pub fn output_folder(&self) -> &str {
        self.product.split('/').next().unwrap_or(&self.product)
    }
}

/// Why a path is not one below where it is taken from.
fn not_below(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("names no directory");
    }
    if path.starts_with('/') {
        return Some("is absolute: it lies below another folder");
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    let leaves = path.split('/').any(|part| matches!(part, "" | "." | ".."));
    leaves.then_some("has a part that is empty, `.` or `..`: it names what lies below")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(folder: &str, run: &[&str], product: &str) -> Build {
        Build {
            folder: folder.to_string(),
            run: run.iter().map(ToString::to_string).collect(),
            product: product.to_string(),
            programs: Vec::new(),
            packages: Packages { install: Vec::new(), unpack: Vec::new(), why: "a test".to_string() },
        }
    }

    fn keys(build: &Build) -> Vec<&'static str> {
        build.faults().into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn a_right_build_has_no_fault() {
        let right = build("servlets/", &["mvn", "--quiet", "package"], "target/shop");
        assert_eq!(right.faults(), []);
        assert_eq!((right.source_folder(), right.output_folder()), ("servlets", "target"));
    }

    #[test]
    fn paths_that_leave_the_sources_and_commands_that_are_none_are_all_told() {
        for product in ["", "/srv/shop", "../shop", "target/../../shop", "target//shop", "./shop"] {
            assert_eq!(keys(&build("servlets", &["mvn"], product)), ["product"], "{product:?}");
        }
        let wrong = build("..", &[], "/target");
        assert_eq!(keys(&wrong), ["folder", "product", "run"]);
        assert_eq!(keys(&build("servlets", &["./build.sh"], "target")), ["run"]);
        assert_eq!(keys(&build("servlets", &[""], "target")), ["run"]);
        let mut unpacked = build("servlets", &["mvn"], "target");
        unpacked.packages.unpack.push("maven".to_string());
        assert_eq!(keys(&unpacked), ["packages"]);
        let mut calling = build("servlets", &["sh", "build.sh"], "target");
        calling.programs = vec!["javac".to_string(), "./javac".to_string(), String::new()];
        assert_eq!(keys(&calling), ["programs", "programs"]);
        assert_eq!(calling.all_programs().take(2).collect::<Vec<_>>(), ["sh", "javac"]);
    }
}
