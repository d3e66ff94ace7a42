//! Each signal is declared once, and what runs hold, rules weigh and the documentation lists is declared.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use model::{Catalogue, Problem, RuleFile, ServiceManifest, Signal, SignalRegistry, Subject, document};
use store::Run;
use testkit::catalogue::catalogue;

use super::registry;

/// Runs of real stacks, as `plimsoll run` kept them.
const RECORDED: [&str; 3] = ["events", "tpcw", "slow_page"];

fn services(catalogue: &Catalogue) -> BTreeMap<String, ServiceManifest> {
    let read = |name| catalogue.service(name).unwrap_or_else(|problems| panic!("{problems}"));
    catalogue.services().into_iter().map(|name| (name.to_string(), read(name))).collect()
}

fn all() -> SignalRegistry {
    registry(services(&catalogue()).values())
}

#[test]
fn a_signal_is_declared_once_of_its_subject() {
    let all = all();
    let built_in = all.built_in();
    for (index, signal) in built_in.iter().enumerate() {
        let again =
            built_in[..index].iter().find(|one| (one.subject, &one.name) == (signal.subject, &signal.name));
        assert_eq!(again, None, "`{}` is declared twice", signal.name);
        assert_eq!(signal.subject == Subject::Run, signal.name.starts_with("run."), "{signal:?}");
        assert!(!signal.help.is_empty() && !signal.unit.is_empty(), "{signal:?}");
    }
    let mut units: BTreeMap<&str, &str> = BTreeMap::new();
    for (service, signals) in all.of_services() {
        for signal in signals {
            // What has the same name in several services is the same thing.
            let unit = *units.entry(&signal.name).or_insert(&signal.unit);
            assert_eq!(signal.unit, unit, "`{}` of {service} is something else elsewhere", signal.name);
            let own = built_in.iter().any(|one| one.subject == Subject::Tier && one.name == signal.name);
            assert!(!own, "`{}` of {service} is declared by a room too", signal.name);
            assert!(!signal.help.is_empty() && !signal.unit.is_empty(), "{signal:?}");
        }
    }
}

#[test]
fn every_signal_and_series_of_a_recorded_run_is_declared_with_its_unit() {
    let all = all();
    for name in RECORDED {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
        let run = Run::open(&folder).unwrap_or_else(|problems| panic!("{}: {problems}", folder.display()));
        let series = run.series().expect("it has series");
        let signals = run.record().signals.iter().map(|one| (&one.tier, &one.name, &one.unit));
        let held: Vec<_> =
            signals.chain(series.iter().map(|one| (&one.tier, &one.name, &one.unit))).collect();
        assert!(held.len() > 300, "{name} has only {}", held.len());
        for (tier, signal, unit) in held {
            let subject = Subject::of(tier.as_deref(), signal);
            let declared =
                all.find(subject, signal).unwrap_or_else(|| panic!("{name} holds {subject:?} `{signal}`"));
            assert_eq!(&declared.unit, unit, "{name}: `{signal}`");
        }
    }
}

#[test]
fn every_signal_that_the_mathematics_looks_for_is_declared() {
    let all = all();
    for (subject, name) in analysis::declared::wanted() {
        assert!(all.find(subject, &name).is_some(), "nobody declares {subject:?} `{name}`");
    }
}

/// What `plimsoll check` says of the rules in `text`.
fn wrong(file: &str, text: &str) -> Vec<String> {
    let rules: RuleFile = document::read(file, text).unwrap_or_else(|problems| panic!("{problems}"));
    let services = services(&catalogue());
    let found = analysis::diagnosis::check(&rules, text, &registry(services.values()), &services);
    found.into_iter().map(|problem: Problem| problem.file(file).to_string()).collect()
}

#[test]
fn the_rules_of_the_catalogue_weigh_what_is_declared() {
    let catalogue = catalogue();
    for name in catalogue.rule_files() {
        let file = format!("rules/{name}.toml");
        let text = catalogue.text(&file).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(wrong(&file, text), Vec::<String>::new());
    }
}

#[test]
fn a_rule_names_waits_and_none_that_is_no_wait() {
    let rule = |waits: &str| {
        format!(
            "format = 1\nname = \"mine\"\ntitle = \"Mine\"\n[[rule]]\nname = \"waits\"\nresource = \"disk\"\n\
             title = \"it waits{{wait}}\"\n{waits}evidence = [\n    \
             {{ signal = \"cpu.cores\", from = 0.7, full = 0.9, role = \"needed\", say = \"{{value}}\" }},\n]\n"
        )
    };
    assert_eq!(wrong("rules/mine.toml", &rule("waits = [\"sleeping\"]\n")), Vec::<String>::new());
    let found = wrong("rules/mine.toml", &rule("waits = [\"running\"]\n"));
    assert!(found[0].contains("mine.toml:8: rule waits: waits: `running` is no wait"), "{found:?}");
    let found = wrong("rules/mine.toml", &rule(""));
    assert!(found[0].contains("mine.toml:7: rule waits: title: it names no wait"), "{found:?}");
}

#[test]
fn a_rule_over_an_undeclared_signal_is_refused_with_its_line_and_the_nearest_name() {
    let text = r#"format = 1
name = "mine"
title = "Mine"
[[rule]]
name = "web-full"
resource = "workers"
title = "it is full"
services = ["apache"]
evidence = [
    { signal = "workers.busy", from = 0.7, full = 0.9, role = "needed", say = "{value}" },
    { signal = "worker.busy", from = 0.7, full = 0.9, role = "needed", say = "{value}" },
    { signal = "host:cpu.cores", from = 0.7, full = 0.9, role = "needed", say = "{value}" },
    { signal = "run:respons_share", from = 0.7, full = 0.9, role = "needed", say = "{value}" },
    { signal = "sql.running", from = 0.7, full = 0.9, role = "needed", say = "{value}" },
    { signal = "host:cpu12.busy_ratio", from = 0.7, full = 0.7, role = "needed", say = "{value}" },
]
[[rule.try]]
knob = "MaxRequestWorker"
why = "more of them"
"#;
    let expected = [
        (
            11,
            "evidence.signal",
            "nobody declares a signal `worker.busy` of a tier of apache",
            Some("`workers.busy`"),
        ),
        (
            12,
            "evidence.signal",
            "nobody declares a signal `cpu.cores` of the machine",
            Some("`cpu.irq_cores`"),
        ),
        (
            13,
            "evidence.signal",
            "nobody declares a signal `run.respons_share` of the run",
            Some("`run.response_share`"),
        ),
        (14, "evidence.signal", "nobody declares a signal `sql.running` of a tier of apache", None),
        (15, "evidence.signal", "the evidence of `host:cpu12.busy_ratio` begins where it is full", None),
        (18, "try.knob", "no service has a knob `MaxRequestWorker`", Some("`MaxRequestWorkers`")),
    ];
    let found = wrong("rules/mine.toml", text);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, (line, key, what, near)) in found.iter().zip(expected) {
        assert!(found.contains(&format!("rules/mine.toml:{line}: rule web-full: {key}: {what}")), "{found}");
        assert!(near.is_none_or(|near| found.contains(near)), "{found}");
    }
}

#[test]
fn the_documentation_of_signals_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/signals.md");
    let text = page(&all());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("the documentation is writable");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let command = concat!("UPDATE_GOLDEN=1 cargo test -p ", env!("CARGO_PKG_NAME"), " signals");
    assert!(kept == text, "docs/reference/signals.md is old: {command}");
}

const HEAD: &str = "\
# Signals

Every signal that a run may hold, made from their declarations. Those that are read are series of a point a second, kept in the
run's `run.sqlite`; a rate's point holds for the time since the point before it. `run.json` has each over the steady state
(mean, largest, at a third of the users, limit, per operation). What a machine or server doesn't tell is absent, and
`unseen` in the record says so. Key figures, which reports show first, are **bold**.
[observing.md](../method/observing.md) says how they are read.
";

/// `docs/reference/signals.md`.
fn page(all: &SignalRegistry) -> String {
    let worked_out: Vec<Signal> = analysis::declared::signals().collect();
    let (derived, read): (Vec<&Signal>, Vec<&Signal>) =
        all.built_in().iter().partition(|signal| worked_out.contains(signal));
    let of = |signals: &[&Signal], subject: Subject| {
        table(signals.iter().copied().filter(|signal| signal.subject == subject))
    };
    let mut text = HEAD.to_string();
    let sections = [
        ("Of each tier, of `generator`, of `observers` and of `viewer`", of(&read, Subject::Tier)),
        ("Of the machine", of(&read, Subject::Machine)),
        ("Of a tier, worked out at the end", of(&derived, Subject::Tier)),
        ("Of the run, worked out at the end", of(&derived, Subject::Run)),
    ];
    for (title, table) in sections {
        _ = write!(text, "\n## {title}\n\n{table}");
    }
    for (service, signals) in all.of_services().filter(|(_, signals)| !signals.is_empty()) {
        _ = write!(text, "\n## Of `{service}`\n\n{}", table(signals));
    }
    text
}

fn table<'a>(signals: impl IntoIterator<Item = &'a Signal>) -> String {
    let mut text = "| signal | unit | what it is |\n|---|---|---|\n".to_string();
    for signal in signals {
        let bold = if signal.key { "**" } else { "" };
        let help = signal.help.replace('|', "\\|");
        _ = writeln!(text, "| {bold}`{}`{bold} | {} | {help} |", signal.name, signal.unit);
    }
    text
}
