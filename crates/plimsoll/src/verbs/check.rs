//! `plimsoll check`: everything wrong with a recipe, a study, a kit, a service, a stack, a fault, rules or targets, without
//! starting anything.

mod beside;
mod fault;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use model::catalogue::machine_knob::MACHINE;
use model::catalogue::qos::{QosPreset, QosTarget};
use model::{
    Catalogue, Checked, Plan, Problem, Problems, Recipe, Result, RuleFile, StudyFile, SweepPlan, document,
    units,
};

use crate::context::Context;
use crate::verbs::enough_samples;
use crate::verbs::list::size_of_guest;
use runner::catalogue_folder;
use runner::cpus;
use runner::signals;

/// Check a recipe, a study, a kit, a service, a stack or a fault without starting anything.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll check shop.toml                  a recipe, a study, a stack, a fault, a link, rules or targets: by what is in it
  plimsoll check my-kits/shop               a kit's folder (or its kit.toml)
  plimsoll check catalogue/services/apache  a service's folder
  plimsoll check shop.toml --json           what is wrong as JSON, each with file, line and key
  plimsoll check dvdstore                   a kit, stack, service, study, fault, link or topology of the catalogue")]
pub(crate) struct CheckArgs {
    /// A file, a folder, or a name of the catalogue
    what: String,
    /// Print what was found as JSON: `ok` says what was checked, `problems` what is wrong, each with its place
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(args: &CheckArgs, context: &mut Context) -> Result<u8> {
    let path = Path::new(&args.what);
    let found = if path.exists() { check_path(path, context) } else { check_name(&args.what, context) };
    if !args.json {
        for sentence in found? {
            context.console.result(&format!("ok: {sentence}"));
        }
        return Ok(0);
    }
    let code = found.as_ref().map_or_else(Problems::exit_code, |_| 0);
    context.console.json(&Checked::of(found.map(|ok| Checked { ok, ..Checked::default() })))?;
    Ok(code)
}

fn check_path(path: &Path, context: &mut Context) -> Result<Vec<String>> {
    for (manifest, kind) in [("kit.toml", "kits"), ("service.toml", "services")] {
        let folder = if path.file_name().is_some_and(|name| name == manifest) {
            path.parent().map(Path::to_path_buf)
        } else {
            path.join(manifest).is_file().then(|| path.to_path_buf())
        };
        if let Some(folder) = folder {
            return check_folder(&folder, kind, context);
        }
    }
    if path.is_dir() {
        let what = "there is neither a kit.toml nor a service.toml in this folder";
        let remedy = "check the folder of one kit or service; a folder of many goes with --catalogue DIR";
        return Err(Problem::recipe(what).file(path.display().to_string()).remedy(remedy).into());
    }
    let text = std::fs::read_to_string(path).map_err(|error| {
        Problem::recipe(format!("failed to read: {error}")).file(path.display().to_string())
    })?;
    let sentence = match file_of_catalogue(&text) {
        Some((folder, check)) => check_file(path, text, (folder, check), context)?,
        None if is_study(&text) => check_study(path, &text, context)?,
        None => return check_recipe(path, &text, context),
    };
    Ok(vec![sentence])
}

/// The folder of the catalogue in which a file with such a text would stand, and how it is checked there; absent for
/// recipes and studies, which have none of these tables and keys.
fn file_of_catalogue(text: &str) -> Option<(&'static str, Check)> {
    let has = |start: &str| text.lines().any(|line| line.trim_start().starts_with(start));
    let key = |name: &str| {
        let rest = |line: &str| line.strip_prefix(name).map(|rest| rest.trim_start().starts_with('='));
        // Keys of the file itself stand before its first table.
        text.lines().take_while(|line| !line.starts_with('[')).any(|line| rest(line) == Some(true))
    };
    if has("[[inject]]") || has("[expect") || key("expect") {
        Some(("faults", fault::check))
    } else if has("[[host]]") || has("[[guest]]") {
        Some(("topologies", check_topology))
    } else if has("[[tier]]") {
        Some(("stacks", check_stack))
    } else if has("[[knob]]") && !has("[program]") && !key("kit") {
        Some(("host", check_machine))
    } else if has("[[rule]]") {
        Some(("rules", check_rules))
    } else if key("targets") && !key("kit") {
        Some(("qos", check_targets))
    } else if key("source") && !key("kit") {
        Some(("links", check_link))
    } else if key("title") && !key("kit") {
        // Without hosts and guests it is the machine as it is.
        Some(("topologies", check_topology))
    } else {
        None
    }
}

/// A kit's or service's folder, laid over the catalogue; messages name its files as the user does.
fn check_folder(folder: &Path, kind: &str, context: &mut Context) -> Result<Vec<String>> {
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_path_buf() };
    let absolute = folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let inside = format!("{kind}/{name}/");
    let files: BTreeMap<String, Cow<'static, [u8]>> = catalogue_folder::read(&folder)?
        .into_iter()
        .map(|(path, bytes)| (format!("{inside}{path}"), bytes))
        .collect();
    context.catalogue.overlay(files);
    let beside = beside::lay(&absolute, kind, &mut context.catalogue)?;
    let said = check_name(&name, context).map_err(|problems| as_the_user_says(problems, &inside, &folder))?;
    Ok(said.into_iter().chain(beside.map(|dir| beside::sentence(&dir))).collect())
}

fn as_the_user_says(problems: Problems, inside: &str, folder: &Path) -> Problems {
    let renamed = problems.into_vec().into_iter().map(|mut problem| {
        if let Some(rest) = problem.place.file.as_ref().and_then(|file| file.strip_prefix(inside)) {
            problem.place.file = Some(folder.join(rest).display().to_string());
        }
        problem
    });
    match Problems::check(renamed.collect()) {
        Err(problems) => problems,
        Ok(()) => Problem::bug("an error without a problem").into(),
    }
}

/// A single file of the catalogue, laid over it; messages name it as the user does.
fn check_file(
    path: &Path,
    text: String,
    (folder, check): (&str, Check),
    context: &mut Context,
) -> Result<String> {
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let inside = format!("{folder}/");
    let bytes: Cow<'static, [u8]> = Cow::Owned(text.into_bytes());
    context.catalogue.overlay(BTreeMap::from([(format!("{inside}{name}.toml"), bytes)]));
    check(&name, &context.catalogue).map_err(|problems| {
        let folder = path.parent().unwrap_or(Path::new(""));
        as_the_user_says(problems, &inside, folder)
    })
}

/// What only a study has.
fn is_study(text: &str) -> bool {
    let has = |start: &str| text.lines().any(|line| line.trim_start().starts_with(start));
    let lists = ["users", "rate", "stacks", "sizes", "mixes"].into_iter().any(|key| {
        text.lines().any(|line| {
            let rest = line.trim_start().strip_prefix(key).map(str::trim_start);
            rest.and_then(|rest| rest.strip_prefix('='))
                .is_some_and(|rest| rest.trim_start().starts_with('['))
        })
    });
    lists
        || ["[[factor]]", "[[cell]]", "[find]", "[full]", "[[published]]", "repeats", "window"]
            .into_iter()
            .any(has)
}

fn check_study(path: &Path, text: &str, context: &Context) -> Result<String> {
    let file = path.display().to_string();
    let study = StudyFile::read(&file, text)?;
    kit::lint(&context.catalogue, &study.kit)?;
    check_forms(&study, &file, text, &context.catalogue)
}

/// Every form of a study, with what its kit knows of targets and published figures.
fn check_forms(study: &StudyFile, file: &str, text: &str, catalogue: &Catalogue) -> Result<String> {
    let signals = signals::of(catalogue);
    let plans = study.resolve_all(file, text, (catalogue, &signals), &cpus::allowed())?;
    for plan in &plans {
        kit::check_targets(&plan.first, catalogue)?;
        kit::check_published(&study.kit, &plan.sweep.published, catalogue)?;
    }
    Ok(study_words(study, &plans))
}

pub(crate) fn study_words(study: &StudyFile, plans: &[SweepPlan]) -> String {
    let form = |plan: &SweepPlan| {
        let (cells, trials) = (plan.arms.len(), plan.arms.len() as u32 * plan.sweep.repeats);
        let cells = if cells == 1 { "1 cell".to_string() } else { format!("{cells} cells") };
        format!("{cells}, {trials} trials")
    };
    let forms: Vec<String> = plans.iter().map(form).collect();
    format!("study {}: {} ({})", study.name, study.title, forms.join("; --full: "))
}

fn check_recipe(path: &Path, text: &str, context: &Context) -> Result<Vec<String>> {
    let file = path.display().to_string();
    let recipe: Recipe = document::read(&file, text)?;
    let plan = Plan::resolve(&recipe, Some(&file), &context.catalogue, &cpus::allowed())?;
    kit::lint(&context.catalogue, &plan.kit.name)?;
    kit::check_targets(&plan, &context.catalogue)?;
    testbed::check_app(&plan, &context.catalogue)?;
    let lacking = enough_samples::lacking(&plan, &context.catalogue)?;
    Ok([plan_words(&plan)].into_iter().chain(lacking).collect())
}

/// What a run will do, in a sentence.
pub(crate) fn plan_words(plan: &Plan) -> String {
    let load = &plan.load;
    let guests = match plan.guests.len() {
        0 => String::new(),
        1 => "1 guest with ".to_string(),
        several => format!("{several} guests, each with "),
    };
    format!(
        "{} of {} ({}) on {guests}{}: {} of ramp-up, {} of steady state, {} of ramp-down",
        load.words(),
        plan.kit.title,
        plan.size.label,
        plan.stack.name,
        units::show_seconds(load.ramp_up_s),
        units::show_seconds(load.steady_s),
        units::show_seconds(load.ramp_down_s)
    )
}

fn check_targets(name: &str, catalogue: &Catalogue) -> Result<String> {
    check_preset(&catalogue.preset(name)?)
}

fn check_preset(preset: &QosPreset) -> Result<String> {
    let wrong = preset.targets.iter().filter_map(|text| text.parse::<QosTarget>().err());
    let file = format!("qos/{}.toml", preset.name);
    Problems::check(wrong.map(|what| Problem::recipe(what).file(file.clone()).key("targets")).collect())?;
    Ok(format!("targets {}: {} ({})", preset.name, preset.title, preset.targets.join(", ")))
}

/// The rules of a file, against every signal and service: signals and knobs that there are, names that are unique among all.
fn check_rules(name: &str, catalogue: &Catalogue) -> Result<String> {
    let mut services = BTreeMap::new();
    for service in catalogue.services() {
        services.insert(service.to_string(), catalogue.service(service)?);
    }
    let file = format!("rules/{name}.toml");
    let text = catalogue.text(&file)?;
    let found: RuleFile = document::read(&file, text)?;
    catalogue.rules()?;
    let problems = analysis::diagnosis::check(&found, text, &signals::registry(services.values()), &services);
    Problems::check(problems.into_iter().map(|problem| problem.file(&file)).collect())?;
    Ok(format!("rules {name}: {} ({} rules)", found.title, found.rules.len()))
}

/// The services of the kit's own.
fn check_stubs(plan: &Plan, catalogue: &Catalogue) -> Result<()> {
    let stubs = plan.tiers.iter().filter(|tier| plan.kit.stubs.iter().any(|stub| stub.tier == tier.name));
    let checked = stubs.map(|stub| testbed::check_service(catalogue, &stub.folder, &stub.service));
    Problems::check(checked.filter_map(std::result::Result::err).flat_map(Problems::into_vec).collect())
}

/// Checks one thing of the catalogue; what it is, in a few words.
type Check = fn(&str, &Catalogue) -> Result<String>;

/// Everything of that name: a stack may be called like the one server that it has.
fn check_name(name: &str, context: &Context) -> Result<Vec<String>> {
    let catalogue = &context.catalogue;
    let kinds: [(Vec<&str>, Check); 9] = [
        (catalogue.kits(), check_kit),
        (catalogue.services(), check_service),
        (catalogue.stacks(), check_stack),
        (catalogue.presets(), check_targets),
        (catalogue.rule_files(), check_rules),
        (catalogue.faults(), fault::check),
        (catalogue.links(), check_link),
        (catalogue.topologies(), check_topology),
        (catalogue.studies(), |name, catalogue| {
            let (study, file, text) = catalogue.study(name)?;
            check_forms(&study, &file, text, catalogue)
        }),
    ];
    if name == MACHINE {
        return check_machine(name, catalogue).map(|sentence| vec![sentence]);
    }
    let mut said = Vec::new();
    for (names, check) in kinds {
        if names.contains(&name) {
            said.push(check(name, catalogue)?);
        }
    }
    if catalogue.kits().contains(&name) {
        said.extend(kit::notes(catalogue, name)?);
    }
    if said.is_empty() { Err(unknown(name, catalogue)) } else { Ok(said) }
}

fn check_kit(name: &str, catalogue: &Catalogue) -> Result<String> {
    kit::lint(catalogue, name)?;
    let recipe = Recipe { format: 1, kit: name.to_string(), ..Recipe::default() };
    let plan = Plan::resolve(&recipe, None, catalogue, &cpus::allowed())?;
    check_stubs(&plan, catalogue)?;
    testbed::check_app(&plan, catalogue)?;
    let lacking = enough_samples::lacking(&plan, catalogue)?.map(|lacking| format!("; {lacking}"));
    let users = Some(&plan.load).filter(|load| !load.populations.is_empty());
    let users = users.map(|load| format!(", {}", load.words())).unwrap_or_default();
    Ok(format!("kit {name}@{}: {}{users}{}", plan.kit.version, plan.kit.title, lacking.unwrap_or_default()))
}

fn check_service(name: &str, catalogue: &Catalogue) -> Result<String> {
    let service = catalogue.service(name)?;
    testbed::check_service(catalogue, &format!("services/{name}"), &service)?;
    Ok(format!("service {name}: {} with {} knobs", service.title, service.knobs.len()))
}

fn check_machine(_: &str, catalogue: &Catalogue) -> Result<String> {
    let count = catalogue.machine_knobs()?.len();
    Ok(format!("{MACHINE}: this machine's own settings, {count} knobs"))
}

fn check_link(name: &str, catalogue: &Catalogue) -> Result<String> {
    Ok(format!("link {name}: {}", catalogue.link(name)?.title))
}

fn check_topology(name: &str, catalogue: &Catalogue) -> Result<String> {
    let topology = catalogue.topology(name)?;
    let hosts: u32 = topology.hosts.iter().map(|host| host.count).sum();
    let counted = |count: u32, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let hosts = (hosts > 0).then(|| counted(hosts, "host"));
    let guests = topology.guests.iter().map(|guest| {
        let each = if guest.count > 1 { " each" } else { "" };
        format!("{} {}{each}", counted(guest.count, "guest"), size_of_guest(guest))
    });
    let parts: Vec<String> = hosts.into_iter().chain(guests).collect();
    let parts = if parts.is_empty() { "the machine as it is".to_string() } else { parts.join("; ") };
    Ok(format!("topology {name}: {} ({parts})", topology.title))
}

fn check_stack(name: &str, catalogue: &Catalogue) -> Result<String> {
    let stack = catalogue.stack(name)?;
    let mut problems = Vec::new();
    for tier in &stack.tiers {
        match catalogue.service(&tier.service) {
            Ok(service) => {
                let prefix = format!("tier {}.set.", tier.name);
                let shared = model::catalogue::tier_setting::all(service.instances.max);
                let knobs = [shared, service.knobs].concat();
                model::catalogue::setting::resolve(&knobs, &tier.set, &prefix, &mut problems);
            }
            Err(found) => problems.extend(found.into_vec()),
        }
    }
    let file = format!("stacks/{name}.toml");
    problems.iter_mut().for_each(|problem| _ = problem.place.file.get_or_insert(file.clone()));
    Problems::check(problems)?;
    Ok(format!("stack {name}: {}", stack.title))
}

fn unknown(name: &str, catalogue: &Catalogue) -> Problems {
    let known = [
        catalogue.kits(),
        catalogue.services(),
        catalogue.stacks(),
        catalogue.studies(),
        catalogue.presets(),
        catalogue.rule_files(),
        catalogue.faults(),
        catalogue.links(),
        catalogue.topologies(),
    ]
    .concat();
    let problem = Problem::recipe(format!(
        "`{name}` is neither a file nor a kit, service, stack, study, fault or link of the catalogue"
    ));
    match document::nearest(name, known) {
        Some(near) => problem.remedy(format!("`{near}`")),
        None => problem.remedy("`plimsoll list` shows what there is"),
    }
    .into()
}
