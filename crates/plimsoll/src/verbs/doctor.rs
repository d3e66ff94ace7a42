//! `plimsoll doctor`: what this machine can and cannot do, by trying it; installs what is missing on request.

mod ceiling;
mod findings;
mod parts;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use model::{KitManifest, Problem, Result};
use testbed::Needed;
use testbed::program::Version;

use crate::context::Context;
use findings::Finding;
use parts::Parts;
use runner::progress::Progress;

/// Tell what this machine can and cannot do; install what is missing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll doctor
  plimsoll doctor --json
  plimsoll doctor --ceiling                           also how fast this machine's load generator is
  plimsoll doctor --install                           what the DVD Store needs of its default stack
  plimsoll doctor --install --kit tpcw                what that kit needs of its default stack, and no more
  plimsoll doctor --install --stack tomcat-mariadb    what that stack and every kit that fits it need
  plimsoll doctor --install --stack all")]
pub(crate) struct DoctorArgs {
    /// Install the missing Debian packages (with sudo where that is needed)
    #[arg(long)]
    install: bool,
    /// Only for this stack; `all` for every stack. May be given several times
    #[arg(long, value_name = "STACK")]
    stack: Vec<String>,
    /// Only what this kit needs of the stack (its default stack, where none is named)
    #[arg(long, value_name = "KIT")]
    kit: Option<String>,
    /// Measure the generator's own ceiling too: drives a null server at full load for some seconds
    #[arg(long, conflicts_with = "install")]
    ceiling: bool,
    /// Print the findings as JSON: grade (good, limited, hopeless), subject, what, remedy
    #[arg(long, conflicts_with = "install")]
    json: bool,
}

pub(crate) fn main(args: &DoctorArgs, context: &mut Context) -> Result<u8> {
    if args.install {
        return install(args, context);
    }
    let mut findings = without_ceiling(args, context)?;
    if args.ceiling {
        findings.extend(ceiling::measure(context)?);
    }
    if args.json {
        context.console.json(&findings)?;
    } else {
        let text: Vec<String> = findings.iter().map(Finding::to_string).collect();
        context.console.result(&text.join("\n"));
        if !args.ceiling {
            context
                .console
                .note("nothing was measured: --ceiling measures how fast the load generator is here");
        }
    }
    let hopeless = findings.iter().any(|finding| finding.hopeless());
    Ok(if hopeless { 2 } else { 0 })
}

/// What there is to be known without a measurement, as JSON has it.
pub(crate) fn known(context: &mut Context) -> Result<serde_json::Value> {
    let args = DoctorArgs { install: false, stack: Vec::new(), kit: None, ceiling: false, json: true };
    let findings = without_ceiling(&args, context)?;
    serde_json::to_value(findings).map_err(|error| Problem::bug(error.to_string()).into())
}

fn without_ceiling(args: &DoctorArgs, context: &mut Context) -> Result<Vec<Finding>> {
    let mut findings = findings::machine(context)?;
    findings.extend(findings::sight());
    findings.extend(packages(args, context)?);
    Ok(findings)
}

/// For each stack that is asked about, or for every one when none is, what is missing for it.
fn packages(args: &DoctorArgs, context: &Context) -> Result<Vec<Finding>> {
    let kit = kit(args, context)?;
    let (kits, mut known) = (kits(kit.as_ref(), context)?, Known::default());
    let mut findings = Vec::new();
    for name in stacks(args, kit.as_ref(), context) {
        let parts = parts(context, &name, (kit.as_ref(), &kits))?;
        let needed = parts.needed()?;
        let missing = testbed::packages::missing(&needed, &parts.builds(), &context.home);
        let (subject, only) = match &kit {
            Some(kit) => (format!("kit {} on stack {name}", kit.name), format!("--kit {} ", kit.name)),
            None => (format!("stack {name}"), String::new()),
        };
        findings.push(if missing.is_empty() {
            Finding::good(subject, versions(context, &needed, &mut known))
        } else {
            let list: Vec<&str> = missing.iter().map(|one| one.package.as_str()).collect();
            let remedy =
                format!("plimsoll doctor --install {only}--stack {name}{}", context.catalogue.option());
            Finding::limited(subject, format!("missing: {}", list.join(", ")), remedy)
        });
    }
    Ok(findings)
}

fn kit(args: &DoctorArgs, context: &Context) -> Result<Option<KitManifest>> {
    args.kit.as_deref().map(|name| context.catalogue.kit(name)).transpose()
}

/// The stacks that are meant: those named, else the kit's default, else all of them.
fn stacks(args: &DoctorArgs, kit: Option<&KitManifest>, context: &Context) -> Vec<String> {
    if !args.stack.is_empty() && !every(&args.stack) {
        return args.stack.clone();
    }
    let stacks = context.catalogue.stacks().into_iter();
    match kit {
        None => stacks.map(str::to_string).collect(),
        Some(kit) if args.stack.is_empty() => vec![kit.default_stack.clone()],
        Some(kit) => {
            let runs_it = |name: &&str| {
                context.catalogue.stack(name).is_ok_and(|stack| stack.lacking(kit).next().is_none())
            };
            stacks.filter(runs_it).map(str::to_string).collect()
        }
    }
}

/// All kits, where none is meant in particular.
fn kits(kit: Option<&KitManifest>, context: &Context) -> Result<Vec<KitManifest>> {
    let catalogue = &context.catalogue;
    let all = || catalogue.kits().into_iter().map(|name| catalogue.kit(name)).collect();
    if kit.is_some() { Ok(Vec::new()) } else { all() }
}

fn parts(
    context: &Context,
    stack: &str,
    (kit, kits): (Option<&KitManifest>, &[KitManifest]),
) -> Result<Parts> {
    match kit {
        Some(kit) => Parts::for_kit(&context.catalogue, stack, kit),
        None => Parts::for_all_kits(&context.catalogue, stack, kits),
    }
}

/// Whether `--stack all` was said.
fn every(asked: &[String]) -> bool {
    asked.iter().any(|name| name == "all")
}

/// What programs have said of themselves already, by their service and where they are: several stacks have the same ones.
type Known = BTreeMap<(String, PathBuf), Version>;

fn versions(context: &Context, services: &[Needed<'_>], known: &mut Known) -> String {
    let mut version = |needed: &Needed<'_>| {
        let service = needed.service;
        let Ok(program) = testbed::program::of_service(needed, None, &context.home) else {
            return service.build.as_ref().map(|_| format!("{} (built from sources)", service.name));
        };
        let ask = || testbed::program::version(&program, service);
        let version = known.entry((service.name.clone(), program.path.clone())).or_insert_with(ask);
        let unknown = if version.warning.is_some() { " (never tried here)" } else { "" };
        Some(format!("{} {}{unknown}", service.name, version.number))
    };
    services.iter().filter_map(&mut version).collect::<Vec<_>>().join(", ")
}

fn install(args: &DoctorArgs, context: &mut Context) -> Result<u8> {
    let kit = match args.kit.is_none() && args.stack.is_empty() {
        true => Some(context.catalogue.kit("dvdstore")?),
        false => kit(args, context)?,
    };
    let stacks = stacks(args, kit.as_ref(), context);
    let kits = kits(kit.as_ref(), context)?;
    let parts: Vec<Parts> =
        stacks.iter().map(|stack| parts(context, stack, (kit.as_ref(), &kits))).collect::<Result<_>>()?;
    let needed = parts.iter().map(Parts::needed).collect::<Result<Vec<_>>>()?.concat();
    let builds = parts.iter().flat_map(Parts::builds).collect::<Vec<_>>();
    let missing = testbed::packages::missing(&needed, &builds, &context.home);
    let what_for = match &kit {
        Some(kit) => format!("kit {} on {}", kit.name, stacks.join(", ")),
        None => stacks.join(", "),
    };
    if missing.is_empty() {
        context.console.done(&format!("everything for {what_for} is here"));
        return Ok(0);
    }
    let console = &mut context.console;
    testbed::packages::install(&missing, &context.home, &mut |text| console.note(text))?;
    let still = testbed::packages::missing(&needed, &builds, &context.home);
    if let Some(one) = still.first() {
        let what = format!("{} is still missing after its installation", one.package);
        return Err(Problem::environment(what).remedy(testbed::packages::apt_line(&needed, &builds)).into());
    }
    context.console.done(&format!("installed what is needed for {what_for}; no daemon was started"));
    Ok(0)
}
