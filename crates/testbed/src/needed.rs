//! What a server needs where it is used: its program, the parts of it (`[[module]]`) and the ports that its knobs or the
//! workload ask for.

use std::net::Ipv4Addr;

use model::catalogue::build::Build;
use model::catalogue::service::{Module, Packages};
use model::catalogue::setting::{self, Values};
use model::record::plan::PlanTier;
use model::{Catalogue, KitManifest, Plan, Problem, Problems, Result, ServiceManifest, Setting, document};

use minijinja::Value;

use crate::render::{Renderer, setting_value};

/// A service with those of its modules that are needed.
#[derive(Debug, Clone)]
pub struct Needed<'a> {
    /// The service.
    pub service: &'a ServiceManifest,
    modules: Vec<&'a Module>,
}

impl<'a> Needed<'a> {
    /// What a tier needs for a workload.
    ///
    /// # Errors
    /// A module's `when` that does not parse or uses a name that is no knob.
    pub fn by_tier(tier: &'a PlanTier, kit: &KitManifest) -> Result<Needed<'a>> {
        Needed::new(&tier.service, &tier.folder, &tier.values, &kit.needs)
    }

    /// What all tiers of a plan need.
    ///
    /// # Errors
    /// As [`Needed::by_tier`].
    pub fn by_plan(plan: &'a model::Plan) -> Result<Vec<Needed<'a>>> {
        plan.tiers.iter().map(|tier| Needed::by_tier(tier, &plan.kit)).collect()
    }

    /// What a service needs with the knobs `given` (the others have their defaults) for workloads that need `needs`.
    ///
    /// # Errors
    /// A module's `when` as above; knobs that the service doesn't have.
    pub fn with(service: &'a ServiceManifest, given: &Values, needs: &[String]) -> Result<Needed<'a>> {
        let mut problems = Vec::new();
        let values = setting::resolve(&service.knobs, given, "set.", &mut problems);
        Problems::check(problems)?;
        Needed::new(service, &format!("services/{}", service.name), &values, needs)
    }

    /// A service with every module that it has.
    pub fn whole(service: &'a ServiceManifest) -> Needed<'a> {
        Needed { service, modules: service.modules.iter().collect() }
    }

    fn new(
        service: &'a ServiceManifest,
        folder: &str,
        values: &Values,
        needs: &[String],
    ) -> Result<Needed<'a>> {
        let mut modules = Vec::new();
        if !service.modules.is_empty() {
            let renderer = Renderer::new(&Catalogue::default())?;
            let context = context(values, needs);
            let file = format!("{folder}/service.toml");
            for module in &service.modules {
                if renderer.worked_out(&file, "module.when", &module.when, &context)?.is_true() {
                    modules.push(module);
                }
            }
        }
        Ok(Needed { service, modules })
    }

    /// What its modules have the server load, in their order, each once.
    pub(crate) fn loads(&self) -> Vec<&'a str> {
        let mut loads: Vec<&str> = Vec::new();
        for name in self.modules.iter().flat_map(|module| &module.load) {
            if !loads.contains(&name.as_str()) {
                loads.push(name);
            }
        }
        loads
    }

    /// The parts: the program first, what builds it last, each with its packages and the files that must exist.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part<'a>> + '_ {
        let service = self.service;
        let program = Part {
            binary: Some(&service.program.binary),
            programs: Vec::new(),
            packages: &service.packages,
            files: &service.program.files,
        };
        let part = |module: &&'a Module| Part {
            binary: None,
            programs: Vec::new(),
            packages: &module.packages,
            files: &module.files,
        };
        let build = service.build.iter().map(Part::of_build);
        [program].into_iter().chain(self.modules.iter().map(part)).chain(build)
    }
}

/// A part of a service, or what builds it or an application.
pub(crate) struct Part<'a> {
    /// The program, of the part that has it.
    pub(crate) binary: Option<&'a str>,
    /// Programs that are called and must be there.
    pub(crate) programs: Vec<&'a str>,
    pub(crate) packages: &'a Packages,
    pub(crate) files: &'a [String],
}

impl<'a> Part<'a> {
    /// What building needs: the program that its command begins with and those that it calls, and their packages.
    pub(crate) fn of_build(build: &'a Build) -> Part<'a> {
        Part { binary: None, programs: build.all_programs().collect(), packages: &build.packages, files: &[] }
    }
}

/// The ports that a tier listens on with its knobs, in the service's order.
///
/// # Errors
/// A `port_when` that does not parse or uses a name that is no knob.
pub(crate) fn ports(tier: &PlanTier, kit: &KitManifest) -> Result<Vec<String>> {
    let service = &tier.service;
    if service.port_when.is_empty() {
        return Ok(service.ports.clone());
    }
    let renderer = Renderer::new(&Catalogue::default())?;
    let context = context(&tier.values, &kit.needs);
    let file = format!("{}/service.toml", tier.folder);
    let mut ports = Vec::new();
    for port in &service.ports {
        let there = match service.port_when.get(port) {
            Some(when) => renderer.worked_out(&file, "port_when", when, &context)?.is_true(),
            None => true,
        };
        ports.extend(there.then(|| port.clone()));
    }
    Ok(ports)
}

/// Where on this host's loopback instance `number` of a tier is, from 0.
///
/// # Errors
/// An `own_loopback` that does not parse or uses a name that is no knob.
pub(crate) fn loopback(tier: &PlanTier, number: usize, kit: &KitManifest) -> Result<Ipv4Addr> {
    let has_own = holds("instances.own_loopback", tier.service.instances.own_loopback.as_ref(), tier, kit)?;
    let last = if has_own { u8::try_from(number + 1).unwrap_or(u8::MAX) } else { 1 };
    Ok(Ipv4Addr::new(127, 0, 0, last))
}

/// Refuses a plan whose `[prepare]` calls an interpreter that no service of its stack has.
pub(crate) fn interpreted(plan: &Plan) -> Result<()> {
    let Some(wanted) = plan.kit.prepare.as_ref().and_then(|prepare| prepare.run.first()) else {
        return Ok(());
    };
    let renderer = Renderer::new(&Catalogue::default())?;
    let mut known: Vec<&str> = Vec::new();
    for tier in &plan.tiers {
        let (file, context) =
            (format!("{}/service.toml", tier.folder), context(&tier.values, &plan.kit.needs));
        for one in &tier.service.interpreters {
            let there: Result<bool> = one.when.as_ref().map_or(Ok(true), |when| {
                Ok(renderer.worked_out(&file, "interpreter.when", when, &context)?.is_true())
            });
            known.extend(there.map(|there| there.then_some(one.name.as_str()))?);
        }
    }
    if known.contains(&wanted.as_str()) {
        return Ok(());
    }
    let what = format!("`{wanted}` is no interpreter of stack {}", plan.stack.name);
    let why =
        "a kit's command runs as the tier's user with the tier's settings, and so in a language of the stack";
    known.dedup();
    let remedy = match known.as_slice() {
        [] => "a `request`, or a stack that has one: PHP's is `php`".to_string(),
        known => format!("one of: {}", known.join(", ")),
    };
    let file = format!("kits/{}/kit.toml", plan.kit.name);
    Err(Problem::recipe(what).file(file).key("prepare.run").why(why).remedy(remedy).into())
}

fn context(values: &Values, needs: &[String]) -> Value {
    let knobs = values.iter().map(|(name, value)| (Setting::variable(name), setting_value(value)));
    let kit = Value::from_pairs([("needs", Value::from(needs.to_vec()))]);
    Value::from_pairs(knobs.chain([("kit".to_string(), kit)]))
}

/// Everything wrong with a service's modules and conditional ports that shows without a workload: each with its line.
/// Whether a commit on one instance of a tier waits until all of several have it.
///
/// # Errors
/// A `commits_together` that does not parse or uses a name that is no knob.
pub(crate) fn commits_together(tier: &PlanTier, kit: &KitManifest) -> Result<bool> {
    holds("instances.commits_together", tier.service.instances.commits_together.as_ref(), tier, kit)
}

/// What an expression of a tier's service says with the tier's knobs; no, where there is none.
fn holds(key: &str, expression: Option<&String>, tier: &PlanTier, kit: &KitManifest) -> Result<bool> {
    let Some(expression) = expression else { return Ok(false) };
    let renderer = Renderer::new(&Catalogue::default())?;
    let (file, context) = (format!("{}/service.toml", tier.folder), context(&tier.values, &kit.needs));
    Ok(renderer.worked_out(&file, key, expression, &context)?.is_true())
}

pub(crate) fn check(text: &str, file: &str, service: &ServiceManifest) -> Result<()> {
    let renderer = Renderer::new(&Catalogue::default())?;
    let context = context(&setting::resolve(&service.knobs, &Values::new(), "", &mut Vec::new()), &[]);
    let mut problems = Vec::new();
    for (index, module) in service.modules.iter().enumerate() {
        let mut wrong = |key: &str, mut problem: Problem| {
            problem.place.line = document::line(text, &["module", &index.to_string(), key]);
            problems.push(problem.file(file).key(format!("module.{key}")));
        };
        let result = renderer.worked_out(file, "module.when", &module.when, &context);
        for problem in result.err().map(Problems::into_vec).unwrap_or_default() {
            wrong("when", problem);
        }
        if module.packages.install.is_empty() && module.packages.unpack.is_empty() {
            wrong("packages", Problem::recipe("a module without a package brings nothing"));
        }
    }
    for (port, when) in &service.port_when {
        let mut wrong = |mut problem: Problem| {
            problem.place.line = document::line(text, &["port_when", port]);
            problems.push(problem.file(file).key(format!("port_when.{port}")));
        };
        if !service.ports.contains(port) {
            wrong(Problem::recipe(format!("`{port}` is none of the ports")));
        }
        let result = renderer.worked_out(file, "port_when", when, &context);
        result.err().map(Problems::into_vec).unwrap_or_default().into_iter().for_each(wrong);
    }
    let instances = &service.instances;
    for (name, expression) in
        [("own_loopback", &instances.own_loopback), ("commits_together", &instances.commits_together)]
    {
        let key = format!("instances.{name}");
        let result = expression.as_ref().map(|one| renderer.worked_out(file, &key, one, &context));
        let found = result.and_then(std::result::Result::err).map(Problems::into_vec).unwrap_or_default();
        problems.extend(found.into_iter().map(|mut problem| {
            problem.place.line = document::line(text, &["instances", name]);
            problem.file(file).key(key.clone())
        }));
    }
    Problems::check(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: &str = r#"format = 1
name = "x"
title = "X"
ports = ["http"]
logs = ["logs/error.log"]
packages = { install = ["x"], why = "a test" }
program = { binary = "x", args = [], version_args = [], known_versions = [] }
ready = { probe = "http", within_s = 1 }
stop = { signal = "TERM", within_s = 1 }

[[module]]
when = 'php == "module"'
packages = { install = ["x-php"], why = "PHP" }

[[module]]
when = '"php+gd" in kit.needs and php != "none"'
packages = { install = ["x-gd"], why = "pictures" }

[[knob]]
name = "php"
type = "choice"
default = "none"
values = ["none", "module"]
help = "PHP"
"#;

    fn packages(php: &str, needs: &[&str]) -> Vec<String> {
        let service: ServiceManifest = document::read("service.toml", SERVICE).expect("a right manifest");
        let given = Values::from([("php".to_string(), model::Value::Text(php.to_string()))]);
        let needs: Vec<String> = needs.iter().map(ToString::to_string).collect();
        let needed = Needed::with(&service, &given, &needs).expect("right expressions");
        needed.parts().flat_map(|part| part.packages.install.clone()).collect()
    }

    #[test]
    fn a_module_is_needed_where_its_knob_or_the_workload_says_so() {
        assert_eq!(packages("none", &["php+gd"]), ["x"]);
        assert_eq!(packages("module", &["web+php"]), ["x", "x-php"]);
        assert_eq!(packages("module", &["web+php", "php+gd"]), ["x", "x-php", "x-gd"]);
    }

    #[test]
    fn what_modules_load_comes_once_and_in_their_order() {
        let text = SERVICE
            .replace("why = \"PHP\" }", "why = \"PHP\" }\nload = [\"xml\", \"dom\"]")
            .replace("why = \"pictures\" }", "why = \"pictures\" }\nload = [\"dom\", \"gd\"]");
        let service: ServiceManifest = document::read("service.toml", &text).expect("a right manifest");
        let given = Values::from([("php".to_string(), model::Value::Text("module".to_string()))]);
        let loads = |needs: &[String]| Needed::with(&service, &given, needs).map(|needed| needed.loads());
        assert_eq!(loads(&[]).expect("right expressions"), ["xml", "dom"]);
        assert_eq!(loads(&["php+gd".to_string()]).expect("right expressions"), ["xml", "dom", "gd"]);
    }

    #[test]
    fn a_conditional_port_of_no_knob_or_of_no_port_is_told_with_its_line() {
        let line = "port_when = { http = 'pph == \"none\"', ajp = 'php == \"none\"' }\nlogs";
        let text = SERVICE.replace("logs =", &format!("{line} ="));
        let service: ServiceManifest = document::read("service.toml", &text).expect("a manifest");
        let problems = check(&text, "service.toml", &service).expect_err("`pph` is no knob").into_vec();
        let told: Vec<_> = problems.iter().map(|problem| (problem.place.line, &problem.place.key)).collect();
        let keys = ["port_when.ajp", "port_when.http"].map(|key| Some(key.to_string()));
        assert_eq!(told, [(Some(5), &keys[0]), (Some(5), &keys[1])]);
    }

    #[test]
    fn a_module_that_asks_for_a_knob_that_is_none_is_told_with_its_line() {
        let text = SERVICE.replace("php == \"module\"", "pph == \"module\"");
        let service: ServiceManifest = document::read("service.toml", &text).expect("a manifest");
        let problems = check(&text, "service.toml", &service).expect_err("`pph` is no knob").into_vec();
        assert_eq!(problems.iter().map(|problem| problem.place.line).collect::<Vec<_>>(), [Some(12)]);
    }
}
