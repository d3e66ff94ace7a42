//! `plimsoll list`: what the catalogue has.

use clap::Args;
use model::Result;

use crate::context::Context;

/// List kits, stacks and services.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show one kit, stack or service with its parameters or knobs
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
    text += "\nServices\n";
    for name in catalogue.services() {
        let service = catalogue.service(name)?;
        text += &format!("  {name:<34} {} ({} knobs)\n", service.title, service.knobs.len());
    }
    Ok(text + "\n`plimsoll list NAME` shows parameters and knobs.")
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
    if catalogue.stacks().contains(&name) {
        let stack = catalogue.stack(name)?;
        let tiers: Vec<String> =
            stack.tiers.iter().map(|tier| format!("  {:<6} {}\n", tier.name, tier.service)).collect();
        return Ok(format!(
            "{}: {}\nTiers, in the order in which they start:\n{}",
            name,
            stack.title,
            tiers.concat()
        ));
    }
    if catalogue.services().contains(&name) {
        let service = catalogue.service(name)?;
        let knobs: Vec<String> = service.knobs.iter().map(setting).collect();
        return Ok(format!(
            "{}: {}\nKnobs (name, default, range), set by --set {name}.KNOB=VALUE:\n{}",
            name,
            service.title,
            knobs.concat()
        ));
    }
    let kit = catalogue.kit(name)?;
    let params: Vec<String> = kit.params.iter().map(setting).collect();
    Ok(format!(
        "{name}@{}: {}\nSource: {}\nDefault stack: {}\nParameters (name, default, range), set by --param NAME=VALUE:\n{}",
        kit.version,
        kit.title,
        kit.source,
        kit.default_stack,
        params.concat()
    ))
}
