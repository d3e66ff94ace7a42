//! `plimsoll list`: what the catalogue has.

use clap::Args;
use model::catalogue::listing::{KitListing, Listing, ServiceListing};
use model::catalogue::machine_knob::MACHINE;
use model::catalogue::stack::StackTier;
use model::catalogue::topology_file::{GuestRequest, HostRequest};
use model::record::study::Form;
use model::{Catalogue, KitManifest, Problem, Problems, Result, Setting, Value, document};
use testbed::MachineKnobFound;

use crate::context::Context;
use runner::cpus;
use runner::signals;

/// List kits, stacks, studies, services, links, topologies and presets of targets.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll list
  plimsoll list --json                      all of it as JSON, with every parameter and knob
  plimsoll list tpcw                        a kit: its stacks, sizes, mixes and parameters
  plimsoll list mariadb                     a service: its knobs, and what can be set for any tier
  plimsoll list dolphin-2x2                 a topology: its hosts and guests
  plimsoll list host                        this machine's own settings: which there are here, and what they are
  plimsoll list cosmo-2006-local-remote     a study: its cells")]
pub(crate) struct ListArgs {
    /// Print it as JSON, without the machine's own settings
    #[arg(long)]
    json: bool,
    /// Show the kit, stack, study, service, link, topology or preset of that name with its parameters, knobs or cells
    name: Option<String>,
}

pub(crate) fn main(args: &ListArgs, context: &mut Context) -> Result<u8> {
    let text = match &args.name {
        None => overview(context)?,
        Some(name) => one(context, name)?,
    };
    if args.json {
        let listing = Listing::of(&context.catalogue, args.name.as_deref())?;
        context.console.json(&listing)?;
        return Ok(0);
    }
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
    let of_machine = catalogue.machine_knobs()?.len();
    text += &format!(
        "  {MACHINE:<34} this machine's own settings, put back after each run ({of_machine} knobs)\n"
    );
    text += "\nLinks, for --set TIER.net.link=NAME\n";
    for name in catalogue.links() {
        text += &format!("  {name:<34} {}\n", catalogue.link(name)?.title);
    }
    text += "\nTopologies, for --topology NAME\n";
    for name in catalogue.topologies() {
        text += &format!("  {name:<34} {}\n", catalogue.topology(name)?.title);
    }
    text += "\nTargets, for --qos NAME\n";
    for name in catalogue.presets() {
        let preset = catalogue.preset(name)?;
        text += &format!("  {name:<34} {}: {}\n", preset.title, preset.targets.join(", "));
    }
    Ok(text + "\n`plimsoll list NAME` shows parameters and knobs.")
}

/// Shows one thing of the catalogue.
type Show = fn(&Catalogue, &str) -> Result<String>;

/// Everything of that name: a stack may be called like its one server, and targets like their kit.
fn one(context: &Context, name: &str) -> Result<String> {
    let catalogue = &context.catalogue;
    if name == MACHINE {
        return machine(context);
    }
    let kinds: [(Vec<&str>, Show); 7] = [
        (catalogue.kits(), kit),
        (catalogue.stacks(), stack),
        (catalogue.services(), service),
        (catalogue.studies(), study),
        (catalogue.presets(), preset),
        (catalogue.links(), link),
        (catalogue.topologies(), topology),
    ];
    let mut shown = Vec::new();
    for (names, show) in &kinds {
        if names.contains(&name) {
            shown.push(show(catalogue, name)?);
        }
    }
    let known = kinds.iter().flat_map(|(names, _)| names.iter().copied()).chain([MACHINE]);
    if shown.is_empty() { Err(unknown(name, known.collect())) } else { Ok(shown.join("\n")) }
}

fn unknown(name: &str, known: Vec<&str>) -> Problems {
    let what =
        format!("`{name}` is no kit, stack, service, study, preset, link or topology of the catalogue");
    let remedy = match document::nearest(name, known) {
        Some(near) => format!("`{near}`"),
        None => "`plimsoll list` shows what there is".to_string(),
    };
    Problem::recipe(what).remedy(remedy).into()
}

fn kit(catalogue: &Catalogue, name: &str) -> Result<String> {
    let kit = catalogue.kit(name)?;
    let params: String = kit.params.iter().map(setting).collect();
    let params = if params.is_empty() { "  none\n".to_string() } else { params };
    Ok(format!(
        "{name}@{}: {}\nSource: {}\nDefault stack: {}\n{}{}\
         Parameters (name, default, range), set by --param NAME=VALUE:\n{params}",
        kit.version,
        kit.title,
        kit.source,
        kit.default_stack,
        other_stacks(&KitListing::of(catalogue, name)?),
        sizes_and_mixes(&kit)
    ))
}

/// The stacks beside the default one that have what the kit needs.
fn other_stacks(kit: &KitListing) -> String {
    let others = kit.stacks.iter().filter(|stack| **stack != kit.default_stack);
    let others: Vec<&str> = others.map(String::as_str).collect();
    if others.is_empty() {
        String::new()
    } else {
        format!("Other stacks, chosen by --stack: {}\n", others.join(", "))
    }
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

fn stack(catalogue: &Catalogue, name: &str) -> Result<String> {
    let stack = catalogue.stack(name)?;
    let tier = |tier: &StackTier| format!("  {:<6} {}\n", tier.name, tier.service);
    let tiers: String = stack.tiers.iter().map(tier).collect();
    Ok(format!("{name}: {}\nTiers, in the order in which they start:\n{tiers}", stack.title))
}

fn service(catalogue: &Catalogue, name: &str) -> Result<String> {
    let service = ServiceListing::of(catalogue, name)?;
    let knobs: String = service.knobs.iter().map(setting).collect();
    let of_any_tier: String = service.of_tier.iter().map(setting).collect();
    Ok(format!(
        "{name}: {}\nKnobs (name, default, range), set by --set {name}.KNOB=VALUE:\n{knobs}\
         Of the tier that it runs in, set by --set TIER.NAME=VALUE:\n{of_any_tier}",
        service.title
    ))
}

/// The settings of the machine, as they are here.
fn machine(context: &Context) -> Result<String> {
    let mut text = format!(
        "{MACHINE}: this machine's own settings\n\
         Knobs (name, value in force, range), set by --set {MACHINE}.KNOB=VALUE as root, and put back after each run:\n"
    );
    for knob in context.catalogue.machine_knobs()? {
        let (value, why) = match testbed::look_at_machine(&knob, &context.home) {
            MachineKnobFound::Changeable(value) => (value, None),
            MachineKnobFound::Fixed { value, why } => (value.unwrap_or_else(|| "–".to_string()), Some(why)),
            MachineKnobFound::OfCables => ("of each cable".to_string(), None),
        };
        let mut own = knob.setting();
        own.default = Value::Text(value);
        text += &setting(&own);
        text += &why.map(|why| format!("      not here: {why}\n")).unwrap_or_default();
    }
    Ok(text)
}

fn link(catalogue: &Catalogue, name: &str) -> Result<String> {
    let link = catalogue.link(name)?;
    let figure = |value: Option<u32>, unit: &str| {
        value.map_or_else(|| "as this machine has it".to_string(), |value| format!("{value} {unit}"))
    };
    let rows = [
        ("rate, each way", figure(link.rate_mbit, "Mbit/s")),
        ("delay, one way", figure(link.delay_us, "µs")),
        ("jitter", figure(link.jitter_us, "µs")),
        ("loss", figure(link.loss_ppm, "packets of a million")),
        ("CPU, each packet", figure(link.cpu_us, "µs of the sender's")),
        ("from", link.source.clone()),
    ];
    let rows: String = rows.iter().map(|(what, figure)| format!("  {what:<16} {figure}\n")).collect();
    Ok(format!("{name}: {}\n{rows}`plimsoll link {name}` measures what it is here.\n", link.title))
}

fn topology(catalogue: &Catalogue, name: &str) -> Result<String> {
    let topology = catalogue.topology(name)?;
    let line = |host: &HostRequest| {
        let tiers: Vec<String> = host.tiers.iter().map(|(tier, count)| format!("{tier} × {count}")).collect();
        let several = if host.count > 1 { format!("{} hosts", host.count) } else { "1 host".to_string() };
        format!("  {:<16} {several}, {}, behind {}\n", host.name, tiers.join(", "), host.link)
    };
    let mut first = 1;
    let guest = |guest: &GuestRequest| {
        let last = first + guest.count - 1;
        let which =
            if guest.count > 1 { format!("guests {first} to {last}") } else { format!("guest {first}") };
        first = last + 1;
        let each = if guest.count > 1 { " each" } else { "" };
        format!("  {which:<16} a whole copy of the stack{each}, {}\n", size_of_guest(guest))
    };
    let hosts = topology.hosts.iter().map(line);
    let mut lines: String = hosts.collect();
    lines.extend(topology.guests.iter().map(guest));
    if lines.is_empty() {
        lines = "  the machine as it is: neither hosts nor guests\n".to_string();
    }
    Ok(format!("{name}: {}\n{lines}", topology.title))
}

/// `with 0.5 cores, 2.62 GB of memory`, `without a limit`: how large a guest is.
pub(crate) fn size_of_guest(guest: &GuestRequest) -> String {
    // What is no number of bytes was told as the topology was read.
    let limits = wording::guest_limits(guest.cpu, guest.memory_bytes().ok().flatten());
    limits.map_or_else(|| "without a limit".to_string(), |limits| format!("with {limits}"))
}

fn preset(catalogue: &Catalogue, name: &str) -> Result<String> {
    let preset = catalogue.preset(name)?;
    let targets: String = preset.targets.iter().map(|target| format!("  {target}\n")).collect();
    Ok(format!(
        "{name}: {}\nSource: {}\nTargets, asked for with --qos {name}:\n{targets}",
        preset.title, preset.source
    ))
}

/// A knob or a parameter: its name, default and range, and what it does.
fn setting(setting: &Setting) -> String {
    let range = match (setting.min, setting.max, setting.values.is_empty()) {
        (Some(low), Some(high), _) => format!(" [{low}, {high}]"),
        (Some(low), None, _) => format!(" [{low}, …)"),
        (_, _, false) => format!(" {{{}}}", setting.values.join(", ")),
        _ => String::new(),
    };
    format!("  {:<32} {}{range}\n      {}\n", setting.name, setting.default, setting.help)
}

fn study(catalogue: &Catalogue, name: &str) -> Result<String> {
    let (study, file, text) = catalogue.study(name)?;
    let signals = signals::of(catalogue);
    let plan = study.resolve(Form::Short, &file, text, (catalogue, &signals), &cpus::allowed())?;
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
