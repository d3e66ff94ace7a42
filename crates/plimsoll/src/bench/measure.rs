//! Driving the stack and watching it: each second is kept as it ends, a tier that dies ends the run.

use std::collections::BTreeMap;
use std::time::Instant;

use analysis::{LogAlarm, Steady, TierEvent, TierFault};
use engine::{Audience, Control, RunOptions, Second, Stop, Totals};
use model::record::{Event, Outcome, Series};
use model::{Interval, OperationKind, Plan, Result, units};
use observe::{TierProbe, Watch};
use store::RunWriter;

use crate::bench::stage::Stage;
use crate::console::Console;
use crate::context::Context;

/// After the ramp-down, or when the user wants to stop, sessions under way may take this long to end.
const DRAIN_S: f64 = 10.0;

/// What a measurement gave.
pub(crate) struct Recording {
    /// The seconds that count.
    pub(crate) steady: Steady,
    /// Sums over all phases.
    pub(crate) totals: Totals,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// Tiers that died.
    pub(crate) tier_events: Vec<TierEvent>,
    /// Alarms in the tiers' logs.
    pub(crate) alarms: Vec<LogAlarm>,
    /// CPU and memory of tiers, generator and host.
    pub(crate) series: Vec<Series>,
    /// Where the tiers' figures come from.
    pub(crate) sources: Vec<(String, &'static str)>,
}

/// Drives `stage` with the plan's users; every second goes to `writer` as it ends.
pub(crate) fn measure(
    plan: &Plan,
    stage: &mut Stage,
    writer: &mut RunWriter,
    context: &mut Context,
) -> Result<Recording> {
    let options = RunOptions {
        scenario: kit::scenario(plan, &context.catalogue)?,
        load: plan.load.clone(),
        target: stage.target.clone(),
        cpus: plan.placement.generator.clone(),
        most_sessions: None,
        sessions_in_all: None,
        drain_s: DRAIN_S.min(plan.kit.users.timeout_s),
        tracing: false,
    };
    let probes = stage.tiers().iter();
    let probes = probes.map(|tier| TierProbe::new(&tier.name, tier.cgroup.clone(), tier.pid)).collect();
    let control = Control::default();
    context.interrupt.steer(&control);
    let load = &plan.load;
    writer.event(&phase(0.0, "ramp-up begins"))?;
    let mut witness = Witness {
        plan,
        stage,
        writer,
        console: &mut context.console,
        control: &control,
        watch: Watch::new(probes),
        steady: Steady::new(load.ramp_up_s, load.ramp_up_s + load.steady_s),
        tier_events: Vec::new(),
        alarms: BTreeMap::new(),
        clock: None,
    };
    witness.watch.sample(0.0);
    let totals = engine::run(&options, &control, &mut witness);
    context.interrupt.release();
    let totals = totals?;
    let now_s = witness.clock.map_or(0.0, |(first, named_s)| named_s + first.elapsed().as_secs_f64());
    witness.look_at_tiers(now_s)?;
    let (watch, steady, tier_events) = (witness.watch, witness.steady, witness.tier_events);
    let alarms = witness.alarms.into_values().collect();
    let outcome = match (tier_events.is_empty(), context.interrupt.count()) {
        (false, _) => Outcome::Aborted,
        (true, 0) => Outcome::Completed,
        (true, _) => Outcome::Interrupted,
    };
    Ok(Recording {
        steady,
        totals,
        outcome,
        tier_events,
        alarms,
        series: watch.series(),
        sources: watch.sources(),
    })
}

fn phase(second: f64, text: &str) -> Event {
    Event { second, kind: "phase".to_string(), text: text.to_string() }
}

/// Keeps what happens, second by second.
struct Witness<'a> {
    plan: &'a Plan,
    stage: &'a mut Stage,
    writer: &'a mut RunWriter,
    console: &'a mut Console,
    control: &'a Control,
    watch: Watch,
    steady: Steady,
    tier_events: Vec<TierEvent>,
    alarms: BTreeMap<(String, String), LogAlarm>,
    /// When the first second was told, and what it was called then.
    clock: Option<(Instant, f64)>,
}

impl Audience for Witness<'_> {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        let interval = second.interval;
        self.writer.second(interval, second.names)?;
        self.writer.evidence(second.evidence)?;
        self.steady.push(interval);
        let ended_s = f64::from(interval.second) + 1.0;
        let (first, named_s) = *self.clock.get_or_insert_with(|| (Instant::now(), ended_s));
        let samples = self.watch.sample(named_s + first.elapsed().as_secs_f64());
        self.writer.samples(&samples)?;
        self.note_phases(ended_s)?;
        self.look_at_tiers(ended_s)?;
        self.tell(second, ended_s);
        Ok(())
    }
}

impl Witness<'_> {
    fn note_phases(&mut self, ended_s: f64) -> Result<()> {
        let load = &self.plan.load;
        let steady_end_s = load.ramp_up_s + load.steady_s;
        for (at_s, text) in [(load.ramp_up_s, "steady state begins"), (steady_end_s, "ramp-down begins")] {
            if (ended_s - 1.0..ended_s).contains(&at_s) {
                self.writer.event(&phase(at_s, text))?;
            }
        }
        Ok(())
    }

    /// A tier that died ends the run: what follows would say nothing about the stack.
    fn look_at_tiers(&mut self, now_s: f64) -> Result<()> {
        for death in self.stage.deaths() {
            let text = format!("tier {} ended: {}", death.tier, death.status);
            self.writer.event(&Event { second: now_s, kind: "tier".to_string(), text: text.clone() })?;
            self.console.note(&text);
            self.tier_events.push(TierEvent {
                tier: death.tier,
                fault: TierFault::Died(death.status),
                second: now_s as u32,
                log_line: death.log_tail.last().cloned(),
            });
            self.control.ask(Stop::AtOnce);
        }
        for seen in self.stage.alarms() {
            let key = (seen.tier.clone(), seen.means.clone());
            let fresh = || LogAlarm {
                tier: seen.tier.clone(),
                line: seen.line.clone(),
                means: seen.means.clone(),
                invalid: seen.invalid,
                count: 0,
            };
            let alarm = self.alarms.entry(key).or_insert_with(fresh);
            alarm.count += 1;
            if alarm.count == 1 {
                let text = format!("log of {}: {}", seen.tier, seen.line);
                self.writer.event(&Event { second: now_s, kind: "note".to_string(), text })?;
            }
        }
        Ok(())
    }

    fn tell(&mut self, second: &Second<'_>, ended_s: f64) {
        let load = &self.plan.load;
        let (name, from_s, length_s) = if ended_s <= load.ramp_up_s {
            ("ramp-up", 0.0, load.ramp_up_s)
        } else if ended_s <= load.ramp_up_s + load.steady_s {
            ("steady state", load.ramp_up_s, load.steady_s)
        } else {
            ("ramp-down", load.ramp_up_s + load.steady_s, load.ramp_down_s)
        };
        let at_s = (ended_s - from_s).min(length_s);
        let (per_s, p95, errors) = now(second);
        let response = p95.map(|p95| format!(", p95 {}", units::show_seconds(p95))).unwrap_or_default();
        let failed = if errors > 0 { format!(", {errors} errors") } else { String::new() };
        let text = format!(
            "{}, {name} {at_s:.0} of {length_s:.0} s: {per_s} operations/s{response}{failed}",
            load.headline()
        );
        self.console.progress(&text, ended_s / load.total_s());
    }
}

/// Operations completed, their p95 in seconds, and errors, in one second.
fn now(second: &Second<'_>) -> (u64, Option<f64>, u64) {
    let rows = second.names.iter().zip(&second.interval.operations);
    let mut all = Interval::empty(0);
    all.operations.push(model::OperationInterval::empty());
    rows.filter(|(name, _)| name.kind == OperationKind::Operation)
        .for_each(|(_, row)| all.operations[0].merge(row));
    let sum = &all.operations[0];
    (sum.completed, analysis::percentile_s(&sum.response, 95.0), sum.failed())
}
