//! What the catalogue's files declare, read: manifests of kits, services and stacks, studies, targets, rules and faults.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::Catalogue;
use crate::catalogue::build::Build;
use crate::catalogue::kit::borrowed;
use crate::catalogue::machine_knob::{MachineKnob, MachineKnobFile};
use crate::catalogue::qos::QosPreset;
use crate::catalogue::rules::Rule;
use crate::document;
use crate::problem::{Problem, Problems, Result};
use crate::{
    FaultFile, KitManifest, LinkFile, RuleFile, ServiceManifest, StackManifest, StudyFile, TopologyFile,
};

impl Catalogue {
    /// The manifest of a kit, each file that it names present.
    pub fn kit(&self, name: &str) -> Result<KitManifest> {
        let path = self.find("kit", name, &self.kits(), format!("kits/{name}/kit.toml"))?;
        let kit: KitManifest = document::read(&path, self.text(&path)?)?;
        let text = self.text(&path)?;
        let mut problems = Vec::new();
        let optional =
            [("data", &kit.data), ("schema", &kit.schema), ("finish", &kit.finish), ("check", &kit.check)];
        let named = optional.into_iter().filter_map(|(key, file)| file.as_deref().map(|file| (key, file)));
        let made = kit.file_set.iter().map(|set| ("script", set.script.as_str()));
        let fed = kit.feeders.iter().map(|feeder| ("file", feeder.file.as_str()));
        let sent = kit.files.iter().map(|file| ("files", file.as_str()));
        for (key, file) in named.chain([("session", kit.session.as_str())]).chain(made).chain(fed).chain(sent)
        {
            if !self.files.contains_key(&format!("kits/{name}/{file}")) {
                problems.push(missing_file(&path, text, key, file, &format!("kits/{name}")));
            }
        }
        for app in kit.app.iter().filter(|app| self.below(&format!("kits/{name}/{app}")).next().is_none()) {
            problems.push(missing_file(&path, text, "app", app, &format!("kits/{name}")));
        }
        if kit.app.is_none() && kit.file_set.is_none() && kit.build.is_none() {
            let what = "there is neither `app`, `build` nor `file_set`: the web tier has nothing to serve";
            problems.push(Problem::recipe(what).file(&path).key("app"));
        }
        problems.extend(
            kit.build
                .iter()
                .flat_map(|build| self.build_problems(build, &format!("kits/{name}"), &path, text)),
        );
        problems.extend(borrowed::problems(&kit, name, text, self));
        if kit.name != name {
            problems.push(misnamed(&path, text, &kit.name, name));
        }
        Problems::check(problems)?;
        Ok(kit)
    }

    /// Everything wrong with the `[build]` of the manifest `text`, whose sources lie in the folder `within`: the catalogue where
    /// that is empty.
    fn build_problems(&self, build: &Build, within: &str, manifest: &str, text: &str) -> Vec<Problem> {
        let problem = |(key, what): (&str, String)| {
            let mut problem = Problem::recipe(what).file(manifest).key(format!("build.{key}"));
            problem.place.line = document::line(text, &["build", key]);
            problem
        };
        let mut problems: Vec<Problem> = build.faults().into_iter().map(problem).collect();
        let folder = build.source_folder();
        let told = problems.iter().any(|problem| problem.place.key.as_deref() == Some("build.folder"));
        let (path, place) = match within {
            "" => (folder.to_string(), "the catalogue"),
            within => (format!("{within}/{folder}"), within),
        };
        if !told && self.below(&path).next().is_none() {
            let mut problem = missing_file(manifest, text, "folder", folder, place).key("build.folder");
            problem.place.line = document::line(text, &["build", "folder"]);
            if within.is_empty() {
                let remedy =
                    "correct the name, or lay a folder that has it over the catalogue: --catalogue DIR";
                problem = problem.remedy(remedy);
            }
            problems.push(problem);
        }
        problems
    }

    /// The manifest of a service, each template that it names present.
    pub fn service(&self, name: &str) -> Result<ServiceManifest> {
        self.service_of("services", &self.services(), name)
    }

    /// The manifest of a service of the kit's own, in its folder `services/`.
    pub fn kit_service(&self, kit: &str, name: &str) -> Result<ServiceManifest> {
        let folder = format!("kits/{kit}/services");
        self.service_of(&folder, &self.names(&format!("{folder}/"), "/service.toml"), name)
    }

    fn service_of(&self, folder: &str, known: &[&str], name: &str) -> Result<ServiceManifest> {
        let own = format!("{folder}/{name}");
        let path = self.find("service", name, known, format!("{own}/service.toml"))?;
        let text = self.text(&path)?;
        let service: ServiceManifest = document::read(&path, text)?;
        let mut problems = Vec::new();
        for file in service.templates.iter().map(|template| &template.from) {
            if !self.files.contains_key(&format!("{own}/{file}")) {
                problems.push(missing_file(&path, text, "from", file, &own));
            }
        }
        problems.extend(service.build.iter().flat_map(|build| self.build_problems(build, "", &path, text)));
        if service.name != name {
            problems.push(misnamed(&path, text, &service.name, name));
        }
        Problems::check(problems)?;
        Ok(service)
    }

    /// The manifest of a stack.
    pub fn stack(&self, name: &str) -> Result<StackManifest> {
        let (_, _, stack) = self.named("stack", "stacks", name, |stack: &StackManifest| &stack.name)?;
        Ok(stack)
    }

    /// A link.
    pub fn link(&self, name: &str) -> Result<LinkFile> {
        let (path, text, link) = self.named("link", "links", name, |link: &LinkFile| &link.name)?;
        Problems::check(placed(link.mistakes(), &path, text))?;
        Ok(link)
    }

    /// The settings of the machine; none in a catalogue that doesn't have them.
    pub fn machine_knobs(&self) -> Result<Vec<MachineKnob>> {
        const PATH: &str = "host/knobs.toml";
        if !self.files.contains_key(PATH) {
            return Ok(Vec::new());
        }
        let text = self.text(PATH)?;
        let file: MachineKnobFile = document::read(PATH, text)?;
        let mistakes = file.knobs.iter().flat_map(MachineKnob::mistakes).collect();
        Problems::check(placed(mistakes, PATH, text))?;
        Ok(file.knobs)
    }

    /// A topology.
    pub fn topology(&self, name: &str) -> Result<TopologyFile> {
        let (path, text, topology) =
            self.named("topology", "topologies", name, |file: &TopologyFile| &file.name)?;
        let mut problems = placed(topology.mistakes(), &path, text);
        for host in &topology.hosts {
            let link = self.link(&host.link).err().map(Problems::into_vec).unwrap_or_default();
            problems.extend(link.into_iter().map(|problem| problem.file(&path).key("host.link")));
        }
        Problems::check(problems)?;
        Ok(topology)
    }

    /// A study, with the path and the text that its mistakes are told by.
    pub fn study(&self, name: &str) -> Result<(StudyFile, String, &str)> {
        let path = self.find("study", name, &self.studies(), format!("studies/{name}.toml"))?;
        let text = self.text(&path)?;
        let study = StudyFile::read(&path, text)?;
        if study.name != name {
            return Err(misnamed(&path, text, &study.name, name).into());
        }
        Ok((study, path, text))
    }

    /// A preset of targets.
    pub fn preset(&self, name: &str) -> Result<QosPreset> {
        let (_, _, preset) = self.named("preset of targets", "qos", name, |file: &QosPreset| &file.name)?;
        Ok(preset)
    }

    /// Every rule of the catalogue, in the order of the files' names and of the rules in them.
    ///
    /// # Errors
    /// Every file that can't be read, and every name that two rules have.
    pub fn rules(&self) -> Result<Vec<Rule>> {
        let (mut rules, mut problems): (Vec<Rule>, Vec<Problem>) = (Vec::new(), Vec::new());
        for name in self.rule_files() {
            let path = format!("rules/{name}.toml");
            let file = self.text(&path).and_then(|text| document::read::<RuleFile>(&path, text));
            let file = match file {
                Ok(file) => file,
                Err(found) => {
                    problems.extend(found.into_vec());
                    continue;
                }
            };
            if file.name != name {
                problems.push(misnamed(&path, self.text(&path)?, &file.name, name));
            }
            for rule in file.rules {
                if rules.iter().any(|other| other.name == rule.name) {
                    let what = format!("two rules are called `{}`", rule.name);
                    problems.push(Problem::recipe(what).file(&path).key("name"));
                }
                rules.push(rule);
            }
        }
        Problems::check(problems)?;
        Ok(rules)
    }

    /// A fault.
    pub fn fault(&self, name: &str) -> Result<FaultFile> {
        let (_, _, fault) = self.named("fault", "faults", name, |fault: &FaultFile| &fault.name)?;
        Ok(fault)
    }

    /// What a folder of single files has under that name: the file's path, its text and what it says; `own` is the name that it gives
    /// itself.
    fn named<T: DeserializeOwned + JsonSchema>(
        &self,
        what: &str,
        folder: &str,
        name: &str,
        own: impl Fn(&T) -> &String,
    ) -> Result<(String, &str, T)> {
        let known = self.names(&format!("{folder}/"), ".toml");
        let path = self.find(what, name, &known, format!("{folder}/{name}.toml"))?;
        let text = self.text(&path)?;
        let read: T = document::read(&path, text)?;
        if own(&read) != name {
            return Err(misnamed(&path, text, own(&read), name).into());
        }
        Ok((path, text, read))
    }
}

/// Mistakes with the file and the line of their key.
fn placed(mistakes: Vec<Problem>, path: &str, text: &str) -> Vec<Problem> {
    let placed = |mut problem: Problem| {
        problem.place.line = problem.place.key.as_deref().and_then(|key| document::line(text, &[key]));
        problem.file(path)
    };
    mistakes.into_iter().map(placed).collect()
}

fn missing_file(manifest: &str, text: &str, key: &str, file: &str, folder: &str) -> Problem {
    let line = text.lines().position(|line| line.trim_start().starts_with(key) && line.contains(file));
    let mut problem = Problem::recipe(format!("`{file}` does not exist in {folder}")).file(manifest).key(key);
    problem.place.line = line.map(|index| index as u32 + 1);
    problem.remedy("create the file or correct its name".to_string())
}

fn misnamed(manifest: &str, text: &str, name: &str, expected: &str) -> Problem {
    let line = text.lines().position(|line| line.starts_with("name"));
    let mut problem =
        Problem::recipe(format!("the name is `{name}`, but the catalogue calls it `{expected}`"))
            .file(manifest)
            .key("name");
    problem.place.line = line.map(|index| index as u32 + 1);
    problem.remedy(format!("name = \"{expected}\""))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    const KIT: &str = r#"format = 1
name = "shop"
version = 1
title = "Shop"
source = "ours"
needs = ["web+servlet"]
session = "session.lua"
front_page = "/"
default_size = "one"
default_stack = "tomcat-mariadb"
state = { drifts = false, why = "nothing is written", reset = "none" }
users = { default = 1, ramp_per_s = 1 }
qos = {}

[build]
folder = "servlets"
run = ["mvn", "package"]
product = "target/shop"
packages = { install = ["maven"], why = "a test" }
"#;

    const SERVICE: &str = r#"format = 1
name = "flash"
title = "Flash"
packages = { why = "it is built" }
program = { binary = "flash", args = [], version_args = [], known_versions = [] }
ready = { probe = "http", within_s = 1 }
stop = { signal = "TERM", within_s = 1 }
logs = ["logs/error.log"]

[build]
folder = "servers/flash"
run = ["sh", "build.sh"]
product = "out/bin"
programs = ["cargo"]
packages = { install = ["cargo"], why = "a test" }
"#;

    fn catalogue(kit: &str, files: &[&str]) -> Catalogue {
        let texts = files.iter().map(|path| (format!("kits/shop/{path}"), "x"));
        let texts = texts.chain([("kits/shop/kit.toml".to_string(), kit)]);
        Catalogue::new(texts.map(|(path, text)| (path, Cow::Owned(text.as_bytes().to_vec()))).collect())
    }

    #[test]
    fn a_kit_that_only_builds_has_something_to_serve() {
        let built = catalogue(KIT, &["session.lua", "servlets/pom.xml"]);
        let kit = built.kit("shop").unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(kit.build.expect("it builds").product, "target/shop");
        let nothing = KIT.split("\n[build]").next().expect("what stands before");
        let said =
            catalogue(nothing, &["session.lua"]).kit("shop").expect_err("nothing to serve").to_string();
        assert!(said.contains("nothing to serve"), "{said}");
    }

    #[test]
    fn everything_wrong_with_a_build_is_told_at_once_with_its_line() {
        let wrong = KIT.replace("target/shop", "../shop").replace(r#"["mvn", "package"]"#, "[]");
        let problems =
            catalogue(&wrong, &["session.lua"]).kit("shop").expect_err("three mistakes").into_vec();
        let told: Vec<(Option<u32>, Option<&str>)> =
            problems.iter().map(|problem| (problem.place.line, problem.place.key.as_deref())).collect();
        let wanted: [(Option<u32>, Option<&str>); 3] = [
            (Some(18), Some("build.product")),
            (Some(17), Some("build.run")),
            (Some(16), Some("build.folder")),
        ];
        assert_eq!(told, wanted, "{problems:#?}");
    }

    fn with_service(service: &str) -> Catalogue {
        let files = [("services/flash/service.toml", service), ("servers/flash/build.sh", "true")];
        let bytes = |(path, text): (&str, &str)| (path.to_string(), Cow::Owned(text.as_bytes().to_vec()));
        Catalogue::new(files.map(bytes).into())
    }

    #[test]
    fn a_services_sources_lie_in_the_catalogue_and_not_in_its_folder() {
        let built = with_service(SERVICE).service("flash").unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(built.build.expect("it builds").product, "out/bin");
        let wrong = SERVICE.replace("servers/flash", "src").replace("out/bin", "/bin");
        let problems = with_service(&wrong).service("flash").expect_err("two mistakes").into_vec();
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(told[0].contains("services/flash/service.toml:13: build.product"), "{told:#?}");
        assert!(
            told[1].contains("service.toml:11: build.folder: `src` does not exist in the catalogue"),
            "{told:#?}"
        );
    }
}
