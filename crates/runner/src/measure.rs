//! Driving the stack and watching it: each second is kept as it ends, a tier that dies ends the run.

mod second;

use std::collections::BTreeMap;
use std::thread;
use std::time::Instant;

use analysis::signals::Limit;
use analysis::{Kill, LogAlarm, OneOf, TierEvent, TierFault};
use engine::time_slices::Share;
use engine::{Audience, Control, RunOptions, Second, Stop, Totals};
use fleet::bus::Name;
use fleet::controller::{Follower, Handover, News};
use model::catalogue::fault_file::Injection;
use model::progress::SecondProgress;
use model::record::calls::Aborted;
use model::record::{Event, Outcome, Series};
use model::{Plan, Result, units};
use observe::{Answer, TierJob};
use store::RunWriter;

use crate::environment::Environment;
use crate::fleet::choice::FleetChoice;
use crate::fleet::handed_over::{self, HandedOver};
use crate::fleet::standing::{FleetRecording, StandingFleet, sentence, unseen_from};
use crate::pace::{Pace, phase};
use crate::progress::Progress;
use crate::run_options::options;
use crate::so_far::{Happened, SoFar};
use crate::standing_stack::StandingStack;
use crate::together::{EndsAll, Together};
use crate::watching::{Beside, Seen, Watching};
use second::{now, second_progress};

/// After the ramp-down, or when the user wants to stop, sessions under way may take this long to end.
pub(crate) const DRAIN_S: f64 = 10.0;

/// The kind of the event that another controller took the run over; its text says what was not seen meanwhile.
pub(crate) const TAKEN_OVER: &str = "taken over";

/// What a measurement gave.
pub(crate) struct Recording {
    /// Sums over all phases.
    pub(crate) totals: Totals,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// Tiers that died.
    pub(crate) tier_events: Vec<TierEvent>,
    /// Instances that were ended on purpose.
    pub(crate) kills: Vec<Kill>,
    /// Alarms in the tiers' logs.
    pub(crate) alarms: Vec<LogAlarm>,
    /// The most that the servers' own figures can be.
    pub(crate) limits: Vec<Limit>,
    /// Where the tiers' figures come from.
    pub(crate) sources: Vec<(String, String)>,
    /// What could not be watched, and why.
    pub(crate) unseen: Vec<String>,
    /// The fleet that drove the users, where one did.
    pub(crate) fleet: Option<FleetRecording>,
}

/// A run's part among runs at the same time; alone by default.
#[derive(Debug, Clone, Default)]
pub(crate) struct SideBySide {
    /// Its turns, where they take turns.
    pub(crate) turns: Option<Share>,
    /// Where they begin at the same moment, and end when one of them can't go on.
    pub(crate) together: Option<Together>,
    /// The tiers of the others.
    pub(crate) beside: Vec<TierJob>,
}

/// Drives `standing` with the plan's load until it is over or `pace` has enough; every second goes to `writer` as it
/// ends. At the end sessions under way may take `drain_s` seconds. Where there are runs at the same time, each is driven on a
/// thread of its own.
pub(crate) fn measure(
    plan: &Plan,
    standing: &mut StandingStack,
    (writer, pace): (&mut RunWriter, &mut dyn Pace),
    drain_s: f64,
    side: &SideBySide,
    env: &mut Environment<'_>,
) -> Result<Recording> {
    // What fails before the run begins must not keep the others waiting.
    let _leaving_out = side.turns.as_ref().map(Share::or_leave_out);
    let among = side.together.as_ref().map(Together::or_end_all);
    let share = side.turns.clone();
    let options = RunOptions { share, ..options(plan, &standing.target, drain_s, env.catalogue)? };
    let limits = limits(standing);
    let watching = Watching::begin(plan, standing, side.beside.clone(), env);
    let control = Control::default();
    env.interrupt.steer(&control);
    writer.event(&phase(0.0, "ramp-up begins"))?;
    let (mut fleet, target, run) = (standing.fleet.take(), standing.target.clone(), writer.id());
    let tolerated = env.settings.tolerated;
    let mut witness = Witness {
        plan,
        standing,
        writer,
        pace,
        progress: &mut *env.progress,
        control: &control,
        watching,
        far: Vec::new(),
        tier_events: Vec::new(),
        kills: Vec::new(),
        mended: Vec::new(),
        alarms: BTreeMap::new(),
        so_far: SoFar::of(fleet.as_ref().and_then(StandingFleet::cpus)),
        fleet: fleet.as_ref().map(|fleet| fleet.choice().clone()),
        is_past: false,
        gap: None,
        clock: None,
        in_turn: side.turns.is_some(),
        together: side.together.as_ref(),
    };
    side.together.iter().for_each(Together::begin);
    // What agents drive begins later: `Begun` says when.
    if fleet.is_none() {
        witness.watching.sample(0.0);
    }
    let driven = match &mut fleet {
        None => engine::run(&options, &control, &mut witness).map(|totals| (totals, None)),
        Some(fleet) => {
            let driven = fleet.drive(
                (plan, tolerated),
                (&target, options.drain_s),
                (&run, env.catalogue),
                &control,
                &mut witness,
            );
            driven.map(|driven| (driven.totals, Some(driven.record)))
        }
    };
    witness.standing.fleet = fleet;
    env.interrupt.release(&control);
    let (totals, fleet) = driven?;
    let now_s = witness.clock.map_or(0.0, |(first, named_s)| named_s + first.elapsed().as_secs_f64());
    witness.look_at_tiers(now_s)?;
    if let Err(problems) = witness.mend_all(now_s) {
        // What was measured is not lost for that; the check of the data will say what it can't reach.
        witness.progress.problem(&problems);
    }
    let Witness { watching, far, mut tier_events, kills, alarms, writer, gap, .. } = witness;
    let alarms = alarms.into_values().collect();
    let Seen { last, beside, sources, mut unseen } = watching.end();
    unseen.extend(gap);
    writer.samples(&far)?;
    writer.samples(&last)?;
    keep(writer, now_s, &beside)?;
    // It may have waited in the run's last moment.
    tier_events.extend(beside.aborted.map(ended_for));
    let is_over = side.together.as_ref().is_some_and(Together::is_over);
    let ended_by_itself = is_over || tier_events.iter().any(TierEvent::ends_the_tier);
    if plan.kit.check.is_some() && fleet.as_ref().is_some_and(FleetRecording::has_lost) {
        unseen.push("the data: nobody was told what the users of lost agents did last".to_string());
    }
    let interrupts = env.interrupt.count();
    let outcome = outcome(ended_by_itself, (fleet.as_ref(), &totals), plan, interrupts);
    among.into_iter().for_each(EndsAll::done);
    Ok(Recording { totals, outcome, tier_events, kills, alarms, limits, sources, unseen, fleet })
}

/// How a run ended that its user asked that number of times to end.
fn outcome(
    ended_by_itself: bool,
    (fleet, totals): (Option<&FleetRecording>, &Totals),
    plan: &Plan,
    interrupts: usize,
) -> Outcome {
    let is_short = fleet.is_some_and(FleetRecording::ended_the_run);
    let is_cut_short = fleet.is_some_and(|fleet| fleet.is_cut_short(&plan.load, totals));
    match (ended_by_itself || is_short, interrupts) {
        (true, _) => Outcome::Aborted,
        (false, 0) if is_cut_short => Outcome::Interrupted,
        (false, 0) => Outcome::Completed,
        // It has no other end.
        (false, 1) if plan.load.by_hand.is_some() => Outcome::Completed,
        (false, _) => Outcome::Interrupted,
    }
}

/// A server that was ended for a wait, as an event of its tier.
fn ended_for(aborted: Aborted) -> TierEvent {
    TierEvent {
        tier: aborted.tier.clone(),
        instance: None,
        second: aborted.at_s as u32,
        fault: TierFault::Aborted(aborted),
        log_line: None,
    }
}

fn keep(writer: &mut RunWriter, at_s: f64, beside: &Beside) -> Result<()> {
    writer.calls(&beside.calls)?;
    writer.statements(at_s, &beside.statements, &beside.statement_facts)?;
    writer.threads(at_s, &beside.threads)
}

/// The most that the tiers' counters can be by their configuration.
fn limits(standing: &StandingStack) -> Vec<Limit> {
    let counters =
        standing.tiers().iter().flat_map(|tier| tier.job.counters.iter().map(move |one| (&tier.name, one)));
    let limit = |(tier, counter): (&String, &model::catalogue::server_job::CounterJob)| {
        Some(Limit { tier: Some(tier.clone()), name: counter.name.clone(), value: counter.limit? })
    };
    counters.filter_map(limit).collect()
}

/// Keeps what happens, second by second.
struct Witness<'a> {
    plan: &'a Plan,
    standing: &'a mut StandingStack,
    writer: &'a mut RunWriter,
    pace: &'a mut dyn Pace,
    progress: &'a mut dyn Progress,
    control: &'a Control,
    watching: Watching,
    /// What observers on other machines told since the last second.
    far: Vec<Series>,
    tier_events: Vec<TierEvent>,
    /// Those that were asked for and done.
    kills: Vec<Kill>,
    /// Of those that were cut off the ones that have been joined again.
    mended: Vec<(String, u32)>,
    alarms: BTreeMap<(String, String), LogAlarm>,
    /// What its targets and checks say so far.
    so_far: SoFar,
    /// The fleet that drives the users.
    fleet: Option<FleetChoice>,
    /// Its agents had stopped before this process came: what is seen now has no part in the run.
    is_past: bool,
    /// What nobody saw, since another process was to.
    gap: Option<String>,
    /// When the first second was told, and what it was called then.
    clock: Option<(Instant, f64)>,
    /// The run rests at times, and its seconds with it.
    in_turn: bool,
    /// The others that it ends with.
    together: Option<&'a Together>,
}

impl Audience for Witness<'_> {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        let interval = second.interval;
        if interval.second < self.writer.next_second() {
            // What came of it is kept as well; only those who sum up have to know it.
            self.pace.second(second);
            return Ok(());
        }
        self.writer.second(interval, second.names)?;
        self.writer.evidence(second.evidence)?;
        let ended_s = f64::from(interval.second) + 1.0;
        let (first, named_s) = *self.clock.get_or_insert_with(|| (Instant::now(), ended_s));
        let at_s = if self.in_turn { ended_s } else { named_s + first.elapsed().as_secs_f64() };
        let mut samples = if self.is_past { Vec::new() } else { self.watching.sample(at_s) };
        samples.append(&mut self.far);
        self.writer.samples(&samples)?;
        let beside = self.watching.beside();
        keep(self.writer, at_s, &beside)?;
        if let Some(aborted) = beside.aborted {
            self.end_for(aborted)?;
        }
        let pacing = self.pace.second(second);
        pacing.events.iter().try_for_each(|event| self.writer.event(event))?;
        pacing.users.iter().for_each(|users| self.control.ask_users(*users));
        pacing.notes.iter().for_each(|note| self.progress.note(note));
        if pacing.enough {
            self.control.ask(Stop::Gently);
        }
        if self.together.is_some_and(Together::is_over) {
            self.control.ask(Stop::Gently);
        }
        self.interfere(ended_s)?;
        self.look_at_tiers(ended_s)?;
        self.tell(second, &samples);
        Ok(())
    }
}

impl Follower for Witness<'_> {
    fn news(&mut self, news: &News) {
        let text = sentence(news);
        self.progress.note(&text);
        self.watching.leave_unseen(unseen_from(news));
        match news {
            News::Begun { ahead } => {
                // Rates of the first second are from its beginning.
                thread::sleep(*ahead);
                self.watching.sample(0.0);
                return;
            }
            News::Lost { is_tolerated, .. } => self.so_far.is_degraded |= is_tolerated,
            News::TakenOver { since, goes_on } => {
                self.is_taken_over(since.as_secs_f64(), *goes_on);
                return;
            }
            News::Silent { .. } | News::Back { .. } | News::ObserverLost { .. } => {}
        }
        let second = self.clock.map_or(0.0, |(first, named_s)| named_s + first.elapsed().as_secs_f64());
        // A disk that doesn't take it doesn't take the next second either, which is said.
        _ = self.writer.event(&Event { second, kind: "fleet".to_string(), text });
    }

    fn hands_over(&mut self, handover: &Handover) -> Result<()> {
        let Some(choice) = &self.fleet else { return Ok(()) };
        let kept = HandedOver::of(choice, &self.standing.target, handover)?.encode()?;
        self.writer.keep(handed_over::FILE, &kept).map(drop)
    }

    fn observed(&mut self, agent: &Name, answer: Answer) {
        self.far.extend(self.watching.take_far(agent.as_str(), answer));
    }
}

impl Witness<'_> {
    /// The run had another controller before this process, which came `since_s` seconds after its beginning.
    fn is_taken_over(&mut self, since_s: f64, goes_on: bool) {
        let from = self.writer.next_second();
        let (second, text) = if goes_on {
            self.clock = Some((Instant::now(), since_s));
            self.watching.sample(since_s);
            let text = format!(
                "this machine from second {from} to second {since_s:.0}: the run's controller had died, and another one has taken it over"
            );
            (since_s, text)
        } else {
            self.is_past = true;
            let text = format!(
                "this machine from second {from} on: the run's controller had died, and another one has taken it over after the agents had stopped by themselves"
            );
            (f64::from(from), text)
        };
        self.gap = Some(text.clone());
        let event = Event { second, kind: TAKEN_OVER.to_string(), text };
        if let Err(problems) = self.writer.event(&event) {
            // The seconds that follow can't be kept either, and end the run.
            self.progress.problem(&problems);
        }
    }

    /// Ends the instances whose time has come, and cuts others off or joins them again.
    fn interfere(&mut self, now_s: f64) -> Result<()> {
        for injection in self.plan.injections() {
            let (tier, instance, at_s, cut_s) = match injection {
                Injection::Kill { tier, instance, at_s } => (tier, *instance, *at_s, None),
                Injection::Cut { tier, instance, at_s, for_s } => (tier, *instance, *at_s, Some(*for_s)),
                _ => continue,
            };
            let is_it = |kill: &Kill| kill.tier == *tier && kill.instance == instance && kill.cut_s == cut_s;
            let done = self.kills.iter().find(|kill| is_it(kill)).map(|kill| kill.at_s);
            let from_s = self.plan.load.ramp_up_s + at_s;
            match (done, cut_s) {
                (None, _) if now_s >= from_s => self.begin(tier, instance, cut_s, now_s)?,
                (Some(since_s), Some(cut_s)) if now_s >= since_s + cut_s => {
                    self.mend(tier, instance, now_s)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn begin(&mut self, tier: &str, instance: u32, cut_s: Option<f64>, now_s: f64) -> Result<()> {
        let Some(stack) = self.standing.stack() else { return Ok(()) };
        let instances = stack.tier(tier).map_or(0, |tier| tier.pids.len()) as u32;
        let place = instance.saturating_sub(1) as usize;
        let text = match cut_s {
            None => {
                let living = stack.kill(tier, place)?;
                format!("{tier}-{instance} of {instances} killed on purpose; {living} live")
            }
            Some(_) => {
                stack.cut(tier, place, true)?;
                format!("{tier}-{instance} of {instances} cut off on purpose")
            }
        };
        self.note(now_s, text)?;
        let beside = if cut_s.is_some() { self.plan.beside(tier, instance) } else { Vec::new() };
        self.kills.push(Kill { tier: tier.to_string(), instance, instances, beside, at_s: now_s, cut_s });
        Ok(())
    }

    /// Joins again what the run's end has left cut off: the check of the data asks all nodes.
    fn mend_all(&mut self, now_s: f64) -> Result<()> {
        let cut = self.kills.iter().filter(|kill| kill.cut_s.is_some());
        let cut: Vec<(String, u32)> = cut.map(|kill| (kill.tier.clone(), kill.instance)).collect();
        cut.iter().try_for_each(|(tier, instance)| self.mend(tier, *instance, now_s))
    }

    fn mend(&mut self, tier: &str, instance: u32, now_s: f64) -> Result<()> {
        let key = (tier.to_string(), instance);
        if self.mended.contains(&key) {
            return Ok(());
        }
        if let Some(stack) = self.standing.stack() {
            stack.cut(tier, instance.saturating_sub(1) as usize, false)?;
        }
        self.mended.push(key);
        self.note(now_s, format!("{tier}-{instance} joined again"))
    }

    /// A server was ended for a wait: what follows would say nothing about the stack, and what was asked for is there.
    fn end_for(&mut self, aborted: Aborted) -> Result<()> {
        self.note(aborted.at_s, wording::aborted(&aborted))?;
        self.control.ask(Stop::AtOnce);
        self.tier_events.push(ended_for(aborted));
        Ok(())
    }

    fn note(&mut self, now_s: f64, text: String) -> Result<()> {
        self.progress.note(&text);
        self.writer.event(&Event { second: now_s, kind: "tier".to_string(), text })
    }

    /// A tier that died ends the run: what follows would say nothing about the stack. Where others of its instances live it goes on,
    /// and is not valid.
    fn look_at_tiers(&mut self, now_s: f64) -> Result<()> {
        for death in self.standing.deaths() {
            let how = death.memory.map_or(death.status.clone(), |kill| kill.to_string());
            let text = format!("tier {} ended: {how}", death.server());
            self.writer.event(&Event { second: now_s, kind: "tier".to_string(), text: text.clone() })?;
            self.progress.note(&text);
            if death.living == 0 {
                self.control.ask(Stop::AtOnce);
                self.together.into_iter().for_each(Together::end_all);
            }
            let one_of = OneOf { number: death.instance, all: death.instances, living: death.living };
            self.tier_events.push(TierEvent {
                tier: death.tier,
                instance: (death.instances > 1).then_some(one_of),
                fault: death.memory.map_or(TierFault::Died(death.status), TierFault::OutOfMemory),
                second: now_s as u32,
                log_line: death.log_tail.last().filter(|_| death.memory.is_none()).cloned(),
            });
        }
        for seen in self.standing.alarms() {
            let key = (seen.tier.clone(), seen.means.clone());
            let fresh = || LogAlarm {
                tier: seen.tier.clone(),
                line: seen.line.clone(),
                means: seen.means.clone(),
                invalid: seen.invalid,
                signal: seen.signal.clone(),
                count: 0,
            };
            let alarm = self.alarms.entry(key).or_insert_with(fresh);
            alarm.count += 1;
            if alarm.count == 1 {
                let text = format!("log of {}: {} ({})", seen.tier, seen.line, seen.means);
                self.writer.event(&Event { second: now_s, kind: "note".to_string(), text })?;
            }
        }
        Ok(())
    }

    fn tell(&mut self, second: &Second<'_>, samples: &[Series]) {
        let happened = Happened {
            load_changes: self.pace.load_changes(),
            tier_events: &self.tier_events,
            alarms: &mut self.alarms.values(),
        };
        self.so_far.second(self.plan, self.pace.steady(), (second, samples), happened);
        let (phase, done_ratio) = self.pace.words();
        let facts = second_progress(second, samples);
        self.progress.second(&SecondProgress {
            run: self.writer.id(),
            phase: phase.clone(),
            done_ratio: done_ratio.min(1.0),
            counts: self.pace.counts(),
            by_hand: self.pace.by_hand(),
            targets: self.so_far.targets.clone(),
            checks: self.so_far.checks.clone(),
            ..facts
        });
        let (per_s, p95, errors) = now(second);
        let response = p95.map(|p95| format!(", p95 {}", units::show_seconds(p95))).unwrap_or_default();
        let failed = if errors > 0 { format!(", {errors} errors") } else { String::new() };
        let guest = self.plan.guest.as_ref().map(|guest| format!("guest {}: ", guest.number));
        // Where users are asked for by hand, the phase says how many.
        let load = self.pace.by_hand().map_or_else(|| self.plan.load.headline() + ", ", |_| String::new());
        let load = guest.unwrap_or_default() + &load;
        self.progress.advance(&format!("{load}{phase}: {per_s} operations/s{response}{failed}"), done_ratio);
    }
}
