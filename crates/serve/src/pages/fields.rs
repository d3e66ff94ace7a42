//! The fields of the form of a measurement: what the catalogue declares, with what was written and what is wrong with it.

use std::collections::BTreeSet;

use model::catalogue::listing::{KitListing, ServiceListing};
use model::catalogue::setting::{Setting, Type, Value as SettingValue};
use model::{Catalogue, Problem, Result, units};
use serde::Serialize;

use crate::form::{Form, field_of};

/// The kit that is offered first.
const FIRST_KIT: &str = "dvdstore";

/// The fields, in groups.
#[derive(Debug, Default, Serialize)]
pub(super) struct View {
    pub(super) groups: Vec<Group>,
    /// Parameters and knobs together.
    pub(super) number_of_settings: usize,
    #[serde(skip)]
    names: BTreeSet<String>,
}

/// Fields under a heading.
#[derive(Debug, Default, Serialize)]
pub(super) struct Group {
    title: String,
    /// Said under it.
    lead: String,
    /// It is open at once, and its fields are not looked through.
    main: bool,
    /// One of its fields was changed, or something is wrong with one.
    open: bool,
    fields: Vec<Field>,
}

/// A field.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Field {
    name: String,
    label: String,
    /// `text`, `number`, `choice`, `lines`, `switch`.
    kind: &'static str,
    value: String,
    /// What holds where nothing is written.
    default: String,
    choices: Vec<Choice>,
    help: String,
    /// What is wrong with it, and what to try.
    problem: Option<String>,
    remedy: Option<String>,
}

/// One of several.
#[derive(Debug, Clone, Serialize)]
struct Choice {
    value: String,
    title: String,
}

impl View {
    /// The fields of `form`, with `problems` at those that they are of.
    ///
    /// # Errors
    /// A file of the catalogue that is wrong.
    pub(super) fn of(catalogue: &Catalogue, form: &Form, problems: &[Problem]) -> Result<View> {
        let mut view = View::default();
        let mut groups = vec![main(catalogue, form)?];
        if form.verb != "sweep" {
            groups.push(load(form));
            groups.extend(settings(catalogue, form)?);
        }
        for group in &mut groups {
            for field in &mut group.fields {
                let wrong = problems.iter().find(|problem| field_of(problem).as_deref() == Some(&field.name));
                field.problem = wrong.map(|problem| problem.what.clone());
                field.remedy = wrong.and_then(|problem| problem.remedy.clone());
                view.names.insert(field.name.clone());
            }
            group.open = group.main
                || group.fields.iter().any(|field| !field.value.is_empty() || field.problem.is_some());
            // What was changed is on top.
            group
                .fields
                .sort_by_key(|field| !group.main && field.value.is_empty() && field.problem.is_none());
        }
        view.number_of_settings =
            groups.iter().filter(|group| !group.main).map(|group| group.fields.len()).sum();
        view.groups = groups;
        Ok(view)
    }

    /// Whether a problem stands at one of the fields.
    pub(super) fn has(&self, problem: &Problem) -> bool {
        field_of(problem).is_some_and(|name| self.names.contains(&name))
    }
}

/// The form with a kit and with what is compared, where it needs them and has none.
pub(super) fn with_defaults(catalogue: &Catalogue, form: &Form) -> Form {
    let mut form = form.clone();
    let (name, first) = match form.verb.as_str() {
        "sweep" => ("study", catalogue.studies().first().map_or("", |first| first).to_string()),
        _ => ("kit", FIRST_KIT.to_string()),
    };
    if form.value(name).is_empty() {
        form.fields.insert(0, (name.to_string(), first));
    }
    if form.verb == "compare" && form.value("a").is_empty() {
        form.fields.push(("a".to_string(), "default".to_string()));
    }
    form
}

fn main(catalogue: &Catalogue, form: &Form) -> Result<Group> {
    let mut fields = Vec::new();
    if form.verb == "sweep" {
        let studies = catalogue.studies().into_iter();
        let studies =
            studies.map(|name| Ok(choice(name, &catalogue.study(name)?.0.title))).collect::<Result<_>>()?;
        fields.push(chosen(form, "study", "Study", studies, "What is measured"));
        fields.push(switch(form, "full", "As it was published", "Hours instead of its short form"));
        fields.push(text(
            form,
            "repeats",
            "Repeats",
            "",
            "How often each cell is measured, instead of what the study says",
        ));
        return Ok(Group { title: "What is measured".to_string(), main: true, fields, ..Group::default() });
    }
    let kits = catalogue.kits().into_iter();
    let kits = kits.map(|name| Ok(choice(name, &catalogue.kit(name)?.title))).collect::<Result<_>>()?;
    fields.push(chosen(
        form,
        "kit",
        "Kit",
        kits,
        "The workload: an application, its data, and what its users do",
    ));
    let Ok(kit) = KitListing::of(catalogue, form.value("kit")) else {
        return Ok(Group { title: "What is measured".to_string(), main: true, fields, ..Group::default() });
    };
    let mut stacks = vec![choice("", &format!("{} (the kit's own)", kit.default_stack))];
    for name in kit.stacks.iter().filter(|name| **name != kit.default_stack) {
        stacks.push(choice(name, name));
    }
    let help = "The servers: web, application, database, cache";
    fields.push(chosen(form, "stack", "Stack", stacks, help));
    if form.verb == "compare" {
        let help =
            "`default`, a stack, or knobs such as web.MaxRequestWorkers=64; several joined with commas";
        fields.push(text(form, "a", "A", "default", help));
        fields.push(text(form, "b", "B", "", help));
    }
    let sizes = kit.sizes.keys().filter(|size| **size != kit.default_size).map(|size| choice(size, size));
    let sizes =
        std::iter::once(choice("", &format!("{} (the kit's own)", kit.default_size))).chain(sizes).collect();
    fields.push(chosen(form, "size", "Data", sizes, "How much data there is before the first user comes"));
    if !kit.mixes.is_empty() {
        let mixes = kit.mixes.iter().map(|mix| choice(mix, mix));
        let mixes = std::iter::once(choice("", "default")).chain(mixes).collect();
        fields.push(chosen(form, "mix", "Mix", mixes, "How often users do what"));
    }
    Ok(Group { title: "What is measured".to_string(), main: true, fields, ..Group::default() })
}

fn load(form: &Form) -> Group {
    let mut fields = Vec::new();
    match form.verb.as_str() {
        "find" => {
            fields.push(switch(
                form,
                "quick",
                "Quick",
                "Six minutes and a wider interval instead of a quarter of an hour",
            ));
            fields.push(text(form, "budget", "Time", "15min", "What the whole search may take"));
            fields.push(text(
                form,
                "within",
                "Within",
                "5%",
                "Half the interval's length at which the search may end",
            ));
        }
        _ => {
            fields.push(text(
                form,
                "users",
                "Users",
                "the kit's own number",
                "Emulated users, each with a session of its own",
            ));
            if form.verb != "explore" {
                let help = "Instead of a number of users: 200/s, or 50:400/s for a rate that rises";
                fields.push(text(form, "rate", "Arrivals", "", help));
            }
        }
    }
    if form.verb == "explore" {
        let help = "No more than these can be asked for while it goes on";
        fields.push(text(form, "max_users", "Most users", "ten times those at first", help));
        let help = "Time over which the first users come, and those of each change";
        fields.push(text(form, "ramp_up", "Ramp-up", "2s", help));
        fields.push(text(
            form,
            "max_time",
            "Ends by itself",
            "1h",
            "After this time, if nobody ends it before",
        ));
    }
    if form.verb == "run" {
        fields.push(text(
            form,
            "ramp_up",
            "Ramp-up",
            "by the number of users",
            "In which the users start evenly; it doesn't count",
        ));
        fields.push(text(form, "steady", "Steady state", "60s", "The only phase that counts"));
    }
    if form.verb == "compare" {
        fields.push(text(form, "budget", "Time", "", "What the whole comparison may take"));
        fields.push(text(form, "gate", "Gate", "", "It fails where B is worse by more than this: 3%"));
    }
    let help = "One in a line, instead of the kit's: p95 < 2s, Browse p99 < 300ms, errors < 0.1%, throughput > 200/s";
    fields.push(Field { kind: "lines", ..text(form, "qos", "Targets", "", help) });
    fields.push(text(form, "seed", "Seed", "1", "Two runs with the same seed send the same requests"));
    Group { title: "Load and targets".to_string(), main: true, fields, ..Group::default() }
}

/// The kit's parameters, and the knobs of each tier.
fn settings(catalogue: &Catalogue, form: &Form) -> Result<Vec<Group>> {
    let Ok(kit) = KitListing::of(catalogue, form.value("kit")) else { return Ok(Vec::new()) };
    let params = kit.params.iter().map(|param| setting(form, "param", param, None)).collect();
    let mut groups =
        vec![Group { title: format!("Parameters of {}", kit.title), fields: params, ..Group::default() }];
    let stack = if form.value("stack").is_empty() { &kit.default_stack } else { form.value("stack") };
    let Ok(stack) = catalogue.stack(stack) else { return Ok(groups) };
    for tier in stack.tiers.iter().rev() {
        let service = ServiceListing::of(catalogue, &tier.service)?;
        let prefix = format!("set.{}", tier.name);
        let all = service.knobs.iter().chain(&service.of_tier);
        groups.push(Group {
            title: format!("Tier {}: {}", tier.name, service.title),
            lead: String::new(),
            fields: all.map(|knob| setting(form, &prefix, knob, tier.set.get(&knob.name))).collect(),
            ..Group::default()
        });
    }
    groups.retain(|group| !group.fields.is_empty());
    Ok(groups)
}

/// A parameter or a knob; `of_stack` is what the stack makes of its default.
fn setting(form: &Form, prefix: &str, setting: &Setting, of_stack: Option<&SettingValue>) -> Field {
    let name = format!("{prefix}.{}", setting.name);
    let default = written(setting, of_stack.unwrap_or(&setting.default));
    let choices: Vec<String> = match setting.kind {
        Type::Bool => ["true", "false"].map(str::to_string).to_vec(),
        _ => setting.values.clone(),
    };
    let kind = if choices.is_empty() { "text" } else { "choice" };
    let others = choices.iter().map(|value| choice(value, value));
    let choices = if choices.is_empty() {
        Vec::new()
    } else {
        std::iter::once(choice("", &format!("{default} (default)"))).chain(others).collect()
    };
    Field {
        label: setting.name.clone(),
        kind,
        value: form.value(&name).to_string(),
        name,
        help: [setting.help.clone(), range(setting)]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("; "),
        default,
        choices,
        ..Field::default()
    }
}

fn written(setting: &Setting, value: &SettingValue) -> String {
    match value {
        SettingValue::Int(bytes) if setting.kind == Type::Size && *bytes > 0 => {
            units::write_size(*bytes as u64)
        }
        value => value.to_string(),
    }
}

/// `1 to 20000`.
fn range(setting: &Setting) -> String {
    let bound = |bound: f64| match setting.kind {
        Type::Size if bound >= 0.0 => units::write_size(bound as u64),
        _ => bound.to_string(),
    };
    match (setting.min, setting.max) {
        (Some(min), Some(max)) => format!("{} to {}", bound(min), bound(max)),
        (Some(min), None) => format!("{} or more", bound(min)),
        (None, Some(max)) => format!("{} or less", bound(max)),
        (None, None) => String::new(),
    }
}

fn text(form: &Form, name: &str, label: &str, default: &str, help: &str) -> Field {
    Field {
        name: name.to_string(),
        label: label.to_string(),
        kind: "text",
        value: form.value(name).to_string(),
        default: default.to_string(),
        help: help.to_string(),
        ..Field::default()
    }
}

fn switch(form: &Form, name: &str, label: &str, help: &str) -> Field {
    Field { kind: "switch", ..text(form, name, label, "", help) }
}

fn chosen(form: &Form, name: &str, label: &str, choices: Vec<Choice>, help: &str) -> Field {
    Field { kind: "choice", choices, ..text(form, name, label, "", help) }
}

fn choice(value: &str, title: &str) -> Choice {
    Choice { value: value.to_string(), title: title.to_string() }
}
