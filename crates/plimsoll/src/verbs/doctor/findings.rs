//! What the doctor finds about the machine, each by trying it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use model::catalogue::tier_setting::{DELAY, HOST, OwnHost, RATE};
use model::{Result, units};
use serde::Serialize;
use testbed::MachineKnobFound;

use crate::context::Context;
use runner::cpus;

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Grade {
    Good,
    Limited,
    Hopeless,
}

/// One finding.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Finding {
    grade: Grade,
    subject: String,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    pub(super) fn good(subject: impl Into<String>, what: impl Into<String>) -> Finding {
        Finding { grade: Grade::Good, subject: subject.into(), what: what.into(), remedy: None }
    }

    pub(super) fn limited(
        subject: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding { grade: Grade::Limited, remedy: Some(remedy.into()), ..Finding::good(subject, what) }
    }

    fn hopeless_because(
        subject: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding { grade: Grade::Hopeless, ..Finding::limited(subject, what, remedy) }
    }

    /// No run is possible with this.
    pub(super) fn hopeless(&self) -> bool {
        self.grade == Grade::Hopeless
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.grade {
            Grade::Good => "ok     ",
            Grade::Limited => "limited",
            Grade::Hopeless => "MISSING",
        };
        write!(f, "{mark}  {}: {}", self.subject, self.what)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n           try: {remedy}"),
            None => Ok(()),
        }
    }
}

/// CPUs, home, user, cgroups, hosts, descriptors.
pub(super) fn machine(context: &Context) -> Result<Vec<Finding>> {
    Ok(vec![
        cpu_finding(),
        home_finding(&context.home),
        user_finding(),
        cgroup_finding(),
        host_finding(),
        descriptor_finding(),
        settings_finding(context)?,
    ])
}

/// Which of the machine's own settings can be changed for a run.
fn settings_finding(context: &Context) -> Result<Finding> {
    let knobs = context.catalogue.machine_knobs()?;
    let mut fixed: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for knob in &knobs {
        if let MachineKnobFound::Fixed { why, .. } = testbed::look_at_machine(knob, &context.home) {
            fixed.entry(why).or_default().push(knob.name.as_str());
        }
    }
    let count: usize = fixed.values().map(Vec::len).sum();
    let (subject, what) =
        ("settings of the machine", format!("{} of {} can be changed", knobs.len() - count, knobs.len()));
    if fixed.is_empty() {
        return Ok(Finding::good(subject, what));
    }
    let why: Vec<String> = fixed.iter().map(|(why, names)| format!("{}: {why}", names.join(", "))).collect();
    let what = format!("{what}; {}", why.join("; "));
    Ok(Finding::limited(subject, what, "plimsoll list host shows each of them"))
}

/// What can be seen of a run, and what is lost where it can't. None of it is needed to measure.
pub(super) fn sight() -> Vec<Finding> {
    let of = |one: observe::Facility| match one.found {
        Some(found) => Finding::good(format!("sees {}", one.name), found),
        None => Finding {
            grade: Grade::Limited,
            ..Finding::good(format!("sees {}", one.name), format!("not here; lost: {}", one.lost))
        },
    };
    observe::facilities(testbed::cgroup_root().as_deref()).into_iter().map(of).collect()
}

fn cpu_finding() -> Finding {
    let cpus = cpus::allowed();
    let placement = model::record::plan::Placement::of_machine(&cpus);
    if cpus.len() < 2 {
        let what = "one CPU: generator and stack share it, and disturb each other";
        return Finding::limited("CPUs", what, "a machine with two or more");
    }
    Finding::good(
        "CPUs",
        format!(
            "{}: {:?} for the stack, {:?} for the generator",
            cpus.len(),
            placement.stack,
            placement.generator
        ),
    )
}

fn home_finding(home: &Path) -> Finding {
    let subject = format!("home {}", home.display());
    let probe = home.join(format!(".doctor-{}", std::process::id()));
    let tried = std::fs::create_dir_all(home).and_then(|()| std::fs::write(&probe, b"x"));
    let _ = std::fs::remove_file(&probe);
    if let Err(error) = tried {
        return Finding::hopeless_because(
            subject,
            format!("can't be written: {error}"),
            "PLIMSOLL_HOME=/some/directory",
        );
    }
    let free = rustix::fs::statvfs(home).map(|stat| stat.f_bavail * stat.f_frsize).unwrap_or(0);
    let what = format!("writable, {} free", units::show_bytes(free));
    if free < 2 << 30 {
        return Finding::limited(subject, what, "plimsoll clean --datasets --runs, or another PLIMSOLL_HOME");
    }
    Finding::good(subject, what)
}

fn user_finding() -> Finding {
    if rustix::process::geteuid().is_root() {
        return Finding::good("user", "root: servers run under a user number of their own");
    }
    Finding::good("user", "not root: servers run as you")
}

fn cgroup_finding() -> Finding {
    match testbed::cgroup_root() {
        Some(path) => Finding::good(
            "cgroups",
            format!("version 2 at {}: tiers are confined, accounted and ended there", path.display()),
        ),
        None => Finding::limited(
            "cgroups",
            "no writable version 2 directory: CPU comes from /proc, and servers are ended by their process numbers",
            "run as root, or in a delegated scope: systemd-run --user --scope -p Delegate=yes plimsoll …",
        ),
    }
}

/// Whether a tier can be on a host of its own, and what the cable to it can be slowed down by.
fn host_finding() -> Finding {
    const SUBJECT: &str = "hosts of their own";
    /// What a process of the tool's makes where the kernel can't.
    const HELD: &str = "net.delay_us from 1000 on";
    let held = OwnHost { delay_us: Some(1_000), ..OwnHost::default() };
    let able = format!("a tier can have a network of its own (TIER.{HOST}=own)");
    if let Err(refusal) = testbed::try_host(&OwnHost::default()) {
        return Finding::limited(SUBJECT, refusal.to_string(), refusal.remedy());
    }
    let kinds = [
        (RATE, "sch_tbf", OwnHost { rate_mbit: Some(1000), ..OwnHost::default() }),
        (DELAY, "sch_netem", OwnHost { delay_us: Some(100), ..OwnHost::default() }),
    ];
    let charged = OwnHost { cpu_us: Some(1), ..OwnHost::default() };
    let (mut has, mut lacks, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
    for (setting, module, own) in kinds {
        match testbed::try_host(&own) {
            Ok(()) => has.push(setting),
            Err(refusal) => {
                if setting == DELAY && testbed::try_host(&held).is_ok() {
                    has.push(HELD);
                }
                lacks.push(refusal.to_string());
                wanted.push(module);
            }
        }
    }
    match testbed::try_host(&charged) {
        Ok(()) => has.push("CPU time for each packet"),
        Err(refusal) => {
            lacks.push(refusal.to_string());
            wanted.push("cls_bpf");
        }
    }
    let with = if has.is_empty() { String::new() } else { format!(", with {}", has.join(" and ")) };
    if lacks.is_empty() {
        return Finding::good(SUBJECT, format!("{able}{with}"));
    }
    let remedy = format!("a kernel with {}", wanted.join(" and "));
    Finding::limited(SUBJECT, format!("{able}{with}; {}", lacks.join("; ")), remedy)
}

fn descriptor_finding() -> Finding {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let allowed = limit.current.unwrap_or(u64::MAX);
    let what = format!(
        "{allowed} a process: up to about {} users with a connection each",
        allowed.saturating_sub(100)
    );
    if allowed < 4096 {
        return Finding::limited("descriptors", what, "ulimit -Hn 65536");
    }
    Finding::good("descriptors", what)
}
