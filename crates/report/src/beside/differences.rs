//! What differs of how runs were made: settings, load, versions, data, machine, targets.

use std::collections::BTreeSet;

use analysis::comparable;
use model::RunRecord;
use model::record::TierSetup;
use schemars::JsonSchema;
use serde::Serialize;

use crate::figures;

/// Something that is not the same in all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// Of what kind it is.
    pub kind: DifferenceKind,
    /// What it is: `web.MaxRequestWorkers`, `version of db (mariadb)`.
    pub name: String,
    /// The value in each run; absent where a run has none.
    pub values: Vec<Option<String>>,
    /// Somebody set it, in one of the runs at least.
    pub given: bool,
}

/// What a difference is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// The stack, its servers, knobs, the kit's parameters, a fault that was injected.
    Setting,
    /// Users or arrivals, phases, mix.
    Load,
    /// Versions of servers and of Plimsoll.
    Version,
    /// The kit and its data.
    Data,
    /// The machine and who has which of its CPUs.
    Machine,
    /// The QoS targets, or the server that somebody else started.
    Target,
}

/// What differs, the most telling first, and what differs as it is meant to.
pub(super) struct Differences {
    pub(super) counted: Vec<Difference>,
    pub(super) uncounted: Vec<Difference>,
}

/// What differs between `records`.
pub(super) fn of(records: &[&RunRecord]) -> Differences {
    let mut rows = Rows { records, rows: Vec::new() };
    settings(&mut rows);
    knobs(&mut rows);
    load(&mut rows);
    versions(&mut rows);
    data(&mut rows);
    machine(&mut rows);
    targets(&mut rows);
    let mut counted = rows.rows;
    // What somebody set comes first; the rest stays in its order.
    counted.sort_by_key(|row| (!row.given, row.kind));
    let mut aside = Rows { records, rows: Vec::new() };
    aside.add(DifferenceKind::Load, "seed", |record| Some(record.setup.seed.to_string()));
    Differences { counted, uncounted: aside.rows }
}

struct Rows<'a> {
    records: &'a [&'a RunRecord],
    rows: Vec<Difference>,
}

impl Rows<'_> {
    /// Adds a row unless all runs have the same.
    fn add(&mut self, kind: DifferenceKind, name: &str, value: impl Fn(&RunRecord) -> Option<String>) {
        let values: Vec<Option<String>> = self.records.iter().map(|record| value(record)).collect();
        let differs = values.windows(2).any(|two| two[0] != two[1]);
        if differs && !self.rows.iter().any(|row| row.name == name) {
            let given = kind == DifferenceKind::Setting && self.is_given(name);
            self.rows.push(Difference { kind, name: name.to_string(), values, given });
        }
    }

    /// Adds a row unless all runs that say something about it say the same: older records may not know it.
    fn add_known(&mut self, kind: DifferenceKind, name: &str, value: impl Fn(&RunRecord) -> Option<String>) {
        let known: BTreeSet<String> = self.records.iter().filter_map(|record| value(record)).collect();
        if known.len() > 1 {
            self.add(kind, name, value);
        }
    }

    fn is_given(&self, name: &str) -> bool {
        let given = self.records.iter().filter_map(|record| record.setup.given.as_ref());
        let mut names = given.flat_map(|given| given.param.keys().chain(given.set.keys()));
        matches!(name, "stack" | "topology" | "guests" | "fault") || names.any(|given| given == name)
    }

    /// The names that `of` finds in any of the runs.
    fn names(&self, of: impl Fn(&RunRecord) -> Vec<String>) -> BTreeSet<String> {
        self.records.iter().flat_map(|record| of(record)).collect()
    }
}

fn settings(rows: &mut Rows<'_>) {
    use DifferenceKind::Setting;
    rows.add(Setting, "stack", |record| Some(record.setup.stack.clone()));
    rows.add(Setting, "topology", |record| record.setup.topology.clone());
    rows.add(Setting, "guests", |record| record.setup.guests.map(|count| count.to_string()));
    rows.add(Setting, "fault", |record| record.injected.as_ref().map(|fault| fault.title.clone()));
    rows.add(Setting, "ended at a wait", |record| record.setup.abort_on.clone());
    for name in rows.names(|record| record.setup.params.keys().cloned().collect()) {
        rows.add_known(Setting, &name, |record| record.setup.params.get(&name).map(ToString::to_string));
    }
    let set =
        |record: &RunRecord| record.setup.given.iter().flat_map(|given| given.set.keys().cloned()).collect();
    for name in rows.names(set) {
        rows.add(Setting, &name, |record| value_set(record, &name));
    }
}

/// The value in force of a setting by its whole name, `web.MaxRequestWorkers`, or else what was asked for.
fn value_set(record: &RunRecord, name: &str) -> Option<String> {
    let in_force = name.split_once('.').and_then(|(tier, knob)| self::tier(record, tier)?.values.get(knob));
    let asked = || record.setup.given.as_ref()?.set.get(name);
    in_force.or_else(asked).map(ToString::to_string)
}

fn tier<'a>(record: &'a RunRecord, name: &str) -> Option<&'a TierSetup> {
    record.setup.tiers.iter().find(|tier| tier.tier == name)
}

fn tiers(rows: &Rows<'_>) -> BTreeSet<String> {
    rows.names(|record| record.setup.tiers.iter().map(|tier| tier.tier.clone()).collect())
}

/// Servers, their number, the way to them, and what is in force of their knobs where the same server stands everywhere.
fn knobs(rows: &mut Rows<'_>) {
    use DifferenceKind::Setting;
    for name in tiers(rows) {
        let of = |record: &RunRecord| tier(record, &name).cloned();
        rows.add(Setting, &name, |record| of(record).map(|tier| tier.service));
        rows.add_known(Setting, &format!("{name}.instances"), |record| {
            of(record).map(|tier| tier.instances.to_string())
        });
        rows.add(Setting, &format!("{name}.link"), |record| {
            let network = of(record)?.network?;
            Some(network.link.unwrap_or_else(|| format!("{:?}", network.host)))
        });
        let services: BTreeSet<String> =
            rows.records.iter().filter_map(|record| of(record)).map(|tier| tier.service).collect();
        if services.len() > 1 {
            continue;
        }
        let knobs =
            rows.names(|record| of(record).map(|tier| tier.values.into_keys().collect()).unwrap_or_default());
        for knob in knobs {
            rows.add_known(Setting, &format!("{name}.{knob}"), |record| {
                tier(record, &name)?.values.get(&knob).map(ToString::to_string)
            });
        }
    }
}

fn load(rows: &mut Rows<'_>) {
    use DifferenceKind::Load;
    rows.add(Load, "load", |record| Some(record.setup.load_words()));
    rows.add(Load, "mix", |record| Some(comparable::mix(&record.setup).to_string()));
    let by_parameter = rows.rows.iter().any(|row| row.name.contains("think"));
    if !by_parameter {
        rows.add(Load, "mean think time", |record| {
            record.setup.think_mean_s.map(|seconds| figures::duration(Some(seconds)))
        });
    }
    let length = |length_s: f64| Some(figures::duration(Some(length_s)));
    rows.add(Load, "ramp-up", |record| length(record.setup.ramp_up_s));
    rows.add(Load, "steady state", |record| length(record.setup.steady_s));
    rows.add(Load, "ramp-down", |record| length(record.setup.ramp_down_s));
}

fn versions(rows: &mut Rows<'_>) {
    use DifferenceKind::Version;
    for name in tiers(rows) {
        let services =
            rows.names(|record| tier(record, &name).map(|tier| tier.service.clone()).into_iter().collect());
        // Versions of different servers say nothing beside each other.
        let [service] = services.iter().collect::<Vec<_>>()[..] else { continue };
        rows.add_known(Version, &format!("version of {name} ({service})"), |record| {
            tier(record, &name).map(|tier| tier.version.clone())
        });
        rows.add_known(Version, &format!("sources of {name} ({service})"), |record| {
            tier(record, &name)?.built.clone()
        });
    }
    rows.add(Version, "Plimsoll", |record| Some(record.plimsoll.clone()));
}

fn data(rows: &mut Rows<'_>) {
    use DifferenceKind::Data;
    rows.add(Data, "kit", |record| Some(record.setup.kit.clone()));
    rows.add(Data, "size", |record| Some(record.setup.size.clone()));
    let first = rows.records.first().copied();
    let alike = rows.records.iter().all(|record| {
        first.is_some_and(|first| {
            !comparable::different_work(first, record).contains(&comparable::Aspect::Data)
        })
    });
    // The id has the server's version in it: the same rows are the same data.
    if !alike {
        rows.add(Data, "data set", |record| record.dataset.as_ref().map(|set| set.id.clone()));
    }
    rows.add(Data, "file set", |record| record.file_set.as_ref().map(|set| set.id.clone()));
    rows.add_known(Data, "page cache", |record| {
        record.file_set.as_ref()?.page_cache.as_ref().map(|cache| cache.asked.clone())
    });
}

fn machine(rows: &mut Rows<'_>) {
    use DifferenceKind::Machine;
    for name in rows.names(|record| record.setup.machine.keys().cloned().collect()) {
        rows.add(Machine, &name, |record| record.setup.machine.get(&name).cloned());
    }
    for name in
        rows.names(|record| record.setup.machine_settings.iter().map(|one| one.name.clone()).collect())
    {
        rows.add(Machine, &format!("host.{name}"), |record| {
            let mut settings = record.setup.machine_settings.iter();
            settings.find(|one| one.name == name).map(|one| one.set.clone())
        });
    }
    rows.add(Machine, "stack's CPUs", |record| Some(cpus(&record.setup.stack_cpus)));
    rows.add(Machine, "generator's CPUs", |record| Some(cpus(&record.setup.generator_cpus)));
}

fn cpus(cpus: &[usize]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn targets(rows: &mut Rows<'_>) {
    use DifferenceKind::Target;
    rows.add(Target, "QoS targets", |record| {
        let targets: Vec<String> = record.targets.iter().map(|one| one.target.to_string()).collect();
        (!targets.is_empty()).then(|| targets.join(", "))
    });
    rows.add(Target, "server of somebody else", |record| {
        record.setup.target.as_ref().map(|target| target.url.clone())
    });
}
