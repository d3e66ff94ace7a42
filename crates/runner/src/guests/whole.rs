//! What guests did together, as one run: sums on top, each guest below, and a verdict that holds for all of them.

use std::collections::BTreeMap;

use analysis::{Batches, LogAlarm, Steady, TierEvent};
use engine::Totals;
use model::record::diagnosis::Limited;
use model::record::instrument::INSTRUMENT;
use model::record::interval::OperationName;
use model::record::plan::{Guest, Load};
use model::record::study::Measured;
use model::record::{
    Cloned, ConsistencyResult, GuestResult, Outcome, Series, TargetOutcome, TierResult, ValidityCheck,
};
use model::{Plan, Result, RunRecord};
use observe::{GENERATOR, OBSERVERS, TierJob, VIEWER};
use store::{Run, RunWriter};
use wording::Asking;

use super::merged;
use super::stacks::{GuestStack, Stacks};
use crate::judge::{Case, fill_in_users, series_seen, tell};
use crate::measure::{Recording, SideBySide};
use crate::pace::early;
use crate::together::Together;
use crate::trial::of_run;
use crate::watching;
use crate::window::window;

/// The series that the whole has for each guest: of all its tiers together.
const CPU: &str = "cpu.cores";

/// The rule that names a quota of CPU time.
const CPU_QUOTA: &str = "tier-cpu-quota";

/// Offending answers and errors that are kept of all guests together.
const MAX_EVIDENCE: usize = 20;

/// A guest's part, once its run is kept.
pub(crate) struct Part {
    pub(crate) guest: Guest,
    pub(crate) cloned: Cloned,
    pub(crate) recording: Recording,
    pub(crate) run: Run,
}

impl Part {
    /// That of a guest that stands.
    pub(crate) fn of(one: &GuestStack, recording: Recording, run: Run) -> Part {
        let alone = Guest { number: 1, cpu_limit_cores: None, memory_limit_bytes: None };
        let guest = one.guest.clone().unwrap_or(alone);
        Part { guest, cloned: one.cloned.clone(), recording, run }
    }
}

/// What guests were to do together.
pub(crate) struct Whole<'a> {
    pub(crate) plan: &'a Plan,
    /// The load of all; its steady state is the one that was wanted.
    pub(crate) load: &'a Load,
    /// Seconds over which users began.
    pub(crate) ramp_up_s: f64,
    /// The seconds of the run that count, from and to.
    pub(crate) window: (u32, u32),
    /// As of [`Case`].
    pub(crate) unsettled_after_s: Option<f64>,
    pub(crate) asking: Asking,
}

/// The whole as far as it is kept.
pub(crate) struct WholeKept {
    /// Its record, which still is to be written.
    pub(crate) kept: (RunRecord, RunWriter),
    pub(crate) steady: Steady,
    pub(crate) batches: Batches,
    /// What the rows of both are about.
    pub(crate) names: Vec<OperationName>,
}

/// How each guest is driven among the others.
pub(crate) fn sides(stacks: &Stacks) -> Vec<SideBySide> {
    let tiers: Vec<Vec<TierJob>> = stacks.all().map(|one| watching::tiers(&one.stack)).collect();
    let all = Together::all(tiers.len()).into_iter().enumerate();
    all.map(|(own, together)| {
        let others = tiers.iter().enumerate().filter(|(place, _)| *place != own);
        let beside = others.flat_map(|(_, tiers)| tiers.clone()).collect();
        SideBySide { turns: None, together: Some(together), beside }
    })
    .collect()
}

/// Lets go whoever waits for the others to begin.
pub(crate) fn end_all(sides: &[SideBySide]) {
    sides.iter().filter_map(|side| side.together.as_ref()).for_each(Together::end_all);
}

/// Keeps the sums of the guests' runs and fills in the record of the whole.
pub(crate) fn keep_whole(
    whole: &Whole<'_>,
    parts: &[Part],
    mut record: RunRecord,
    mut writer: RunWriter,
) -> Result<WholeKept> {
    let runs: Vec<&Run> = parts.iter().map(|part| &part.run).collect();
    let names = merged::write_seconds(&runs, &mut writer)?;
    writer.samples(&series(parts)?)?;
    keep_events(parts, &mut writer)?;
    let run = Run::open(writer.directory())?;
    let mut early = early(whole.ramp_up_s);
    let (steady, batches) = window(&run, whole.window, &mut early)?;
    let series = series_seen(&run, &steady, &early)?;
    record.consistency = consistency(parts);
    let recording = recording(parts, names);
    fill_in_users(
        &Case {
            plan: whole.plan,
            load: whole.load,
            recording: &recording,
            run: &run,
            series: &series,
            steady: &steady,
            early: &early,
            rules: &[],
            unsettled_after_s: whole.unsettled_after_s,
            asking: whole.asking,
        },
        &mut record,
    )?;
    record.tiers = tiers(parts, steady.length_s(), &record);
    overlay_checks(parts, &mut record);
    record.targets = worst_targets(parts.iter().map(|part| part.run.record().targets.as_slice()));
    record.guests = parts.iter().map(|part| guest(part, whole.load)).collect();
    tell(whole.load, &mut record);
    if let Some(words) = wording::guests_verdict(&record.guests) {
        record.verdict.sentence.push_str(&words);
    }
    Ok(WholeKept { kept: (record, writer), steady, batches, names: recording.totals.names })
}

/// What all recorded, as one: with each guest's deaths and alarms in its name.
fn recording(parts: &[Part], names: Vec<OperationName>) -> Recording {
    let all = || parts.iter().map(|part| &part.recording);
    let named = |part: &Part, tier: &str| format!("{tier} of guest {}", part.guest.number);
    let events = parts.iter().flat_map(|part| {
        let own = part.recording.tier_events.iter();
        own.map(move |event| TierEvent { tier: named(part, &event.tier), ..event.clone() })
    });
    let alarms = parts.iter().flat_map(|part| {
        let own = part.recording.alarms.iter();
        own.map(move |alarm| LogAlarm { tier: named(part, &alarm.tier), ..alarm.clone() })
    });
    let worst = |outcome: Outcome| all().any(|one| one.outcome == outcome);
    let totals = Totals {
        names,
        connects: all().map(|one| one.totals.connects).sum(),
        evidence: all().flat_map(|one| one.totals.evidence.clone()).take(MAX_EVIDENCE).collect(),
        ..Totals::default()
    };
    let mut unseen: Vec<String> = all().flat_map(|one| one.unseen.clone()).collect();
    unseen.sort();
    unseen.dedup();
    Recording {
        totals,
        outcome: match (worst(Outcome::Aborted), worst(Outcome::Interrupted)) {
            (true, _) => Outcome::Aborted,
            (false, true) => Outcome::Interrupted,
            (false, false) => Outcome::Completed,
        },
        tier_events: events.collect(),
        kills: Vec::new(),
        alarms: alarms.collect(),
        limits: Vec::new(),
        sources: Vec::new(),
        unseen,
        fleet: None,
    }
}

/// The machine's series and the tool's own, which all guests have alike, from the first; and of each guest the cores that it uses.
fn series(parts: &[Part]) -> Result<Vec<Series>> {
    let mut all = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let name = format!("guest {}", part.guest.number);
        let mut cores = Sums::new();
        part.run.each_series(|one| match one.tier.as_deref() {
            None | Some(GENERATOR | VIEWER) if place == 0 => all.push(one),
            Some(tier) if one.name == CPU && is_of_stack(tier) => add(&mut cores, &one.points),
            _ => {}
        })?;
        all.push(Series {
            name: CPU.to_string(),
            tier: Some(name),
            unit: "cores".to_string(),
            points: cores.into_iter().map(|(at_s, sum)| (f64::from_bits(at_s), sum)).collect(),
        });
    }
    Ok(all)
}

/// Sums by their times, as bits: those of times that are not negative are in the order of the times.
type Sums = BTreeMap<u64, f64>;

fn add(sums: &mut Sums, points: &[(f64, f64)]) {
    points.iter().for_each(|(at_s, value)| *sums.entry(at_s.to_bits()).or_default() += value);
}

fn is_of_stack(tier: &str) -> bool {
    !INSTRUMENT.contains(&tier)
}

/// The phases, which are the same for all, and what else happened to each.
fn keep_events(parts: &[Part], writer: &mut RunWriter) -> Result<()> {
    for (place, part) in parts.iter().enumerate() {
        for mut event in part.run.events()? {
            let is_phase = event.kind == "phase";
            if is_phase && place > 0 {
                continue;
            }
            if !is_phase {
                event.text = format!("guest {}: {}", part.guest.number, event.text);
            }
            writer.event(&event)?;
        }
    }
    Ok(())
}

fn consistency(parts: &[Part]) -> Vec<ConsistencyResult> {
    let named = |part: &Part, one: &ConsistencyResult| ConsistencyResult {
        name: format!("guest {}: {}", part.guest.number, one.name),
        ..one.clone()
    };
    parts
        .iter()
        .flat_map(|part| part.run.record().consistency.iter().map(move |one| named(part, one)))
        .collect()
}

/// Each tier of the stack as a sum over all guests; the tool itself is one.
fn tiers(parts: &[Part], window_s: f64, record: &RunRecord) -> Vec<TierResult> {
    let completed: u64 = record
        .operations
        .iter()
        .filter(|row| row.kind == model::OperationKind::Operation)
        .map(|row| row.completed)
        .sum();
    let Some(first) = parts.first() else { return Vec::new() };
    let one = |tier: &TierResult| {
        // There is one generator and one viewer, which each guest's run has seen as a whole.
        let guests = if [GENERATOR, VIEWER].contains(&tier.tier.as_str()) { &parts[..1] } else { parts };
        let same = || {
            let rows = guests.iter().flat_map(|part| &part.run.record().tiers);
            rows.filter(|row| row.tier == tier.tier)
        };
        let cpu_cores = same().map(|row| row.cpu_cores).sum::<Option<f64>>();
        let spent_s = cpu_cores
            .map(|cores| cores * window_s)
            .filter(|_| ![OBSERVERS, VIEWER].contains(&tier.tier.as_str()));
        TierResult {
            tier: tier.tier.clone(),
            cpu_cores,
            cpu_system_cores: same().map(|row| row.cpu_system_cores).sum(),
            cpu_s_per_operation: spent_s.filter(|_| completed > 0).map(|spent_s| spent_s / completed as f64),
            memory_bytes: same().map(|row| row.memory_bytes).sum(),
            source: tier.source.clone(),
        }
    };
    first.run.record().tiers.iter().map(one).collect()
}

/// A check that doesn't hold for a guest doesn't hold for the whole, and says for which.
fn overlay_checks(parts: &[Part], record: &mut RunRecord) {
    for part in parts {
        for broken in part.run.record().validity.iter().filter(|check| !check.ok) {
            let sentence = format!("guest {}: {}", part.guest.number, broken.sentence);
            let named = ValidityCheck { sentence, ..broken.clone() };
            match record.validity.iter_mut().find(|check| check.check == broken.check) {
                Some(check) if check.ok => *check = named,
                Some(_) => {}
                None => record.validity.push(named),
            }
        }
    }
}

/// Of each target the guest's that is worst off: all are to meet it.
pub(crate) fn worst_targets<'a>(guests: impl Iterator<Item = &'a [TargetOutcome]>) -> Vec<TargetOutcome> {
    let mut worst: Vec<TargetOutcome> = Vec::new();
    for targets in guests {
        for (place, target) in targets.iter().enumerate() {
            match worst.get_mut(place) {
                None => worst.push(target.clone()),
                Some(so_far) if is_worse(target, so_far) => *so_far = target.clone(),
                Some(_) => {}
            }
        }
    }
    worst
}

/// What was not observed at all is worst.
fn is_worse(one: &TargetOutcome, other: &TargetOutcome) -> bool {
    let margin = |target: &TargetOutcome| target.margin_ratio().unwrap_or(f64::NEG_INFINITY);
    margin(one) < margin(other)
}

/// What one guest has of the load of all.
fn part_of(own: Option<&Load>, all: &Load) -> f64 {
    let amount =
        |load: &Load| load.arrivals.map_or(f64::from(load.users), |open| open.from_per_s + open.to_per_s);
    own.map_or(1.0, |own| amount(own) / amount(all))
}

fn guest(part: &Part, load: &Load) -> GuestResult {
    let record = part.run.record();
    let measured: Measured = of_run(&part.run, &[]).unwrap_or_default();
    let figure = |name: &str| measured.value(name, None);
    let stack = || record.tiers.iter().filter(|tier| is_of_stack(&tier.tier));
    GuestResult {
        guest: part.guest.clone(),
        run: record.id.clone(),
        cloned: part.cloned.clone(),
        users: record.setup.users,
        load_ratio: part_of(record.setup.load.as_ref(), load),
        outcome: record.outcome,
        valid: record.verdict.valid,
        pass: record.verdict.pass,
        missed: record.targets.iter().filter(|one| !one.pass).map(|one| one.target.to_string()).collect(),
        per_s: figure("throughput").unwrap_or_default(),
        mean_s: figure("mean"),
        p95_s: figure("p95"),
        p99_s: figure("p99"),
        failed_ratio: measured.failed_ratio,
        cpu_cores: stack().map(|tier| tier.cpu_cores).sum(),
        memory_bytes: stack().map(|tier| tier.memory_bytes).sum(),
        held_by: held_by(record),
    }
}

fn held_by(record: &RunRecord) -> Option<String> {
    let diagnosis = record.diagnosis.as_ref().filter(|diagnosis| diagnosis.state == Limited::Yes)?;
    let suspect = diagnosis.suspects.first()?;
    let limited = record.setup.guest.as_ref().is_some_and(|guest| guest.cpu_limit_cores.is_some());
    // All tiers of a guest are under one quota, which each of them shows as its own.
    Some(match suspect.rule == CPU_QUOTA && limited {
        true => "the guest's CPU quota".to_string(),
        false => format!("{}: {}", suspect.tier, suspect.title),
    })
}
