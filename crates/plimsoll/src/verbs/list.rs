//! `plimsoll list`: what the catalogue has.

use clap::Args;
use model::study::Form;
use model::{KitManifest, Result};

use crate::context::Context;
use crate::verbs::recipe_args::cpus;

/// List kits, stacks, studies and services.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show one kit, stack, study or service with its parameters, knobs or cells
    name: Option<String>,
}

pub(crate) fn main(args: &ListArgs, context: &mut Context) -> Result<u8> {
    let text = match &args.name {
        None => overview(context)?,
        Some(name) => one(context, name)?,
    };
    context.console.result(&text);
    Ok(0)
}

fn overview(context: &Context) -> Result<String> {
    let catalogue = &context.catalogue;
    let mut text = String::from("Kits\n");
    for name in catalogue.kits() {
        let kit = catalogue.kit(name)?;
        let sizes: Vec<&str> = kit.sizes.keys().map(String::as_str).collect();
        text += &format!("  {name:<34} {} (sizes: {})\n", kit.title, sizes.join(", "));
    }
    text += "\nStacks\n";
    for name in catalogue.stacks() {
        text += &format!("  {name:<34} {}\n", catalogue.stack(name)?.title);
    }
    text += "\nStudies\n";
    for name in catalogue.studies() {
        text += &format!("  {name:<34} {}\n", catalogue.study(name)?.0.title);
    }
    text += "\nServices\n";
    for name in catalogue.services() {
        let service = catalogue.service(name)?;
        text += &format!("  {name:<34} {} ({} knobs)\n", service.title, service.knobs.len());
    }
    text += "\nTargets, for --qos NAME\n";
    for name in catalogue.presets() {
        let preset = catalogue.preset(name)?;
        text += &format!("  {name:<34} {}: {}\n", preset.title, preset.targets.join(", "));
    }
    Ok(text + "\n`plimsoll list NAME` shows parameters and knobs.")
}

/// What `--size` and `--mix` can name; a size's numbers as they can be given themselves.
fn sizes_and_mixes(kit: &KitManifest) -> String {
    let mut text = "Sizes, chosen by --size with the name or with all numbers:\n".to_string();
    for (name, numbers) in &kit.sizes {
        let numbers: Vec<String> = numbers.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let line = format!("  {name:<32} {}", numbers.join(","));
        text += line.trim_end();
        text.push('\n');
    }
    if !kit.mixes.is_empty() {
        let names: Vec<&str> = kit.mixes.keys().map(String::as_str).collect();
        text += &format!("Mixes beside the default one, chosen by --mix:\n  {}\n", names.join(", "));
    }
    text
}

fn one(context: &Context, name: &str) -> Result<String> {
    let catalogue = &context.catalogue;
    let setting = |setting: &model::Setting| {
        let range = match (setting.min, setting.max, setting.values.is_empty()) {
            (Some(low), Some(high), _) => format!(" [{low}, {high}]"),
            (Some(low), None, _) => format!(" [{low}, …)"),
            (_, _, false) => format!(" {{{}}}", setting.values.join(", ")),
            _ => String::new(),
        };
        format!("  {:<32} {}{range}\n      {}\n", setting.name, setting.default, setting.help)
    };
    // A stack may be called like the one server that it has.
    let mut text = String::new();
    if catalogue.stacks().contains(&name) {
        let stack = catalogue.stack(name)?;
        let tiers: Vec<String> =
            stack.tiers.iter().map(|tier| format!("  {:<6} {}\n", tier.name, tier.service)).collect();
        text +=
            &format!("{name}: {}\nTiers, in the order in which they start:\n{}", stack.title, tiers.concat());
    }
    if catalogue.services().contains(&name) {
        let service = catalogue.service(name)?;
        let knobs: Vec<String> = service.knobs.iter().map(setting).collect();
        let gap = if text.is_empty() { "" } else { "\n" };
        text += &format!(
            "{gap}{name}: {}\nKnobs (name, default, range), set by --set {name}.KNOB=VALUE:\n{}",
            service.title,
            knobs.concat()
        );
    }
    if !text.is_empty() {
        return Ok(text);
    }
    if catalogue.studies().contains(&name) {
        return study(context, name);
    }
    if catalogue.presets().contains(&name) {
        let preset = catalogue.preset(name)?;
        let targets: Vec<String> = preset.targets.iter().map(|target| format!("  {target}\n")).collect();
        return Ok(format!(
            "{name}: {}\nSource: {}\nTargets, asked for with --qos {name}:\n{}",
            preset.title,
            preset.source,
            targets.concat()
        ));
    }
    let kit = catalogue.kit(name)?;
    let params: Vec<String> = kit.params.iter().map(setting).collect();
    Ok(format!(
        "{name}@{}: {}\nSource: {}\nDefault stack: {}\n{}Parameters (name, default, range), set by --param NAME=VALUE:\n{}",
        kit.version,
        kit.title,
        kit.source,
        kit.default_stack,
        sizes_and_mixes(&kit),
        params.concat()
    ))
}

fn study(context: &Context, name: &str) -> Result<String> {
    let (study, file, text) = context.catalogue.study(name)?;
    let plan = study.resolve(Form::Short, &file, text, &context.catalogue, &cpus())?;
    let cells: Vec<String> = plan.arms.iter().map(|arm| format!("  {}\n", arm.label)).collect();
    Ok(format!(
        "{name}: {}\nSource: {}\nKit: {} on {}\nCells, each measured {} by `plimsoll sweep {name}`:\n{}{}",
        study.title,
        study.source,
        plan.first.kit.title,
        plan.first.stack.name,
        times(plan.sweep.repeats),
        cells.concat(),
        if study.full.is_some() { "As it was published, with --full.\n" } else { "" }
    ))
}

/// `once`, `3 times`.
fn times(count: u32) -> String {
    if count == 1 { "once".to_string() } else { format!("{count} times") }
}
