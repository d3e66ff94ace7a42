//! `plimsoll doctor`: what this machine can and cannot do, by trying it; installs what is missing on request.

mod ceiling;
mod findings;
mod parts;

use clap::Args;
use model::{Problem, Result};
use testbed::Needed;

use crate::context::Context;
use findings::Finding;
use parts::Parts;

/// Tell what this machine can and cannot do; install what is missing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll doctor
  plimsoll doctor --install                           what the default stack needs
  plimsoll doctor --install --stack tomcat-mariadb    what that stack and every kit that fits it need
  plimsoll doctor --install --stack all")]
pub(crate) struct DoctorArgs {
    /// Install the missing Debian packages (with sudo where that is needed)
    #[arg(long)]
    install: bool,
    /// Only for this stack; `all` for every stack. May be given several times
    #[arg(long, value_name = "STACK")]
    stack: Vec<String>,
    /// Skip the measurement of the generator's own ceiling
    #[arg(long)]
    no_ceiling: bool,
}

pub(crate) fn main(args: &DoctorArgs, context: &mut Context) -> Result<u8> {
    if args.install {
        return install(args, context);
    }
    let mut findings = findings::machine(context);
    findings.extend(findings::sight());
    findings.extend(packages(&args.stack, context)?);
    if !args.no_ceiling {
        findings.extend(ceiling::measure(context)?);
    }
    let text: Vec<String> = findings.iter().map(Finding::to_string).collect();
    context.console.result(&text.join("\n"));
    let hopeless = findings.iter().any(|finding| finding.hopeless());
    Ok(if hopeless { 2 } else { 0 })
}

/// For each of these stacks, or for every one when none is asked for, what is missing for it.
fn packages(asked: &[String], context: &Context) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let stacks: Vec<&str> = match asked.is_empty() || every(asked) {
        true => context.catalogue.stacks(),
        false => asked.iter().map(String::as_str).collect(),
    };
    for name in stacks {
        let parts = Parts::of_stack(context, name)?;
        let needed = parts.needed()?;
        let missing = testbed::packages::missing(&needed, &parts.builds(), &context.home);
        let subject = format!("stack {name}");
        findings.push(if missing.is_empty() {
            Finding::good(subject, versions(context, &needed))
        } else {
            let list: Vec<&str> = missing.iter().map(|one| one.package.as_str()).collect();
            let remedy = format!("plimsoll doctor --install --stack {name}");
            Finding::limited(subject, format!("missing: {}", list.join(", ")), remedy)
        });
    }
    Ok(findings)
}

/// Whether `--stack all` was said.
fn every(asked: &[String]) -> bool {
    asked.iter().any(|name| name == "all")
}

fn versions(context: &Context, services: &[Needed<'_>]) -> String {
    let version = |needed: &Needed<'_>| {
        let service = needed.service;
        let program = testbed::program::of_service(needed, &context.home).ok()?;
        let version = testbed::program::version(&program, service);
        let unknown = if version.warning.is_some() { " (never tried here)" } else { "" };
        Some(format!("{} {}{unknown}", service.name, version.number))
    };
    services.iter().filter_map(version).collect::<Vec<_>>().join(", ")
}

fn install(args: &DoctorArgs, context: &mut Context) -> Result<u8> {
    let default = context.catalogue.kit("dvdstore").map(|kit| kit.default_stack);
    let stacks: Vec<String> = if every(&args.stack) {
        context.catalogue.stacks().into_iter().map(str::to_string).collect()
    } else if args.stack.is_empty() {
        vec![default?]
    } else {
        args.stack.clone()
    };
    let parts: Vec<Parts> =
        stacks.iter().map(|stack| Parts::of_stack(context, stack)).collect::<Result<_>>()?;
    let needed = parts.iter().map(Parts::needed).collect::<Result<Vec<_>>>()?.concat();
    let builds = parts.iter().flat_map(Parts::builds).collect::<Vec<_>>();
    let missing = testbed::packages::missing(&needed, &builds, &context.home);
    if missing.is_empty() {
        context.console.done(&format!("everything for {} is here", stacks.join(", ")));
        return Ok(0);
    }
    let console = &mut context.console;
    testbed::packages::install(&missing, &context.home, &mut |text| console.note(text))?;
    let still = testbed::packages::missing(&needed, &builds, &context.home);
    if let Some(one) = still.first() {
        let what = format!("{} is still missing after its installation", one.package);
        return Err(Problem::environment(what).remedy(testbed::packages::apt_line(&needed, &builds)).into());
    }
    context.console.done(&format!("installed what {} needs; no daemon was started", stacks.join(", ")));
    Ok(0)
}
