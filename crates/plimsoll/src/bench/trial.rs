//! Trials of a study on the real stack.
//!
//! [`TrialBench`] serves any list of arms: for an order it makes the arm's stack stand, drives it until enough steady
//! seconds are in, keeps it as a run of its own below the study, and the study's record anew.

pub(crate) mod arm;
mod driven;
mod identity;
mod kept;
pub(crate) mod settle;
pub(crate) mod sitting;
mod verdict;

use std::collections::BTreeMap;
use std::time::Instant;

use engine::foresight;
use experiment::{Bench, Order};
use model::record::{Check, Outcome, Step, ValidityCheck};
use model::rules::Rule;
use model::study::{Arm, By, Fault, Purpose, Question, Trial};
use model::{Kind, Problem, Result};
use store::Study;

use crate::bench::measure::measure;
use crate::bench::server::ServerArgs;
use crate::bench::stage::{self, Stage};
use crate::bench::{ceiling, keep, measuring, outcome, setup};
use crate::context::Context;
use arm::{ReadyArm, Task};
use driven::Driven;
pub(crate) use kept::of_run;
use settle::Settling;
use sitting::Sitting;

/// When a trial's window is in, sessions under way may take this long to end.
const DRAIN_S: f64 = 2.0;
/// So many trials in a row in which a tier died end the study.
const MOST_DEATHS: u32 = 3;

/// What the line below the progress says while a trial is under way: from the order and the trials before it.
pub(crate) type Outlook<'a> = Box<dyn FnMut(&Order, &[Trial]) -> String + 'a>;

/// Where the trials of a study take place.
pub(crate) struct TrialBench<'a> {
    pub(crate) context: &'a mut Context,
    /// The study's record; the verb puts its answer there.
    pub(crate) sitting: Sitting,
    arms: Vec<Option<ReadyArm>>,
    /// What may hold a stack.
    rules: Vec<Rule>,
    by: By,
    server: ServerArgs,
    outlook: Outlook<'a>,
    standing: Option<Standing>,
    deaths: u32,
}

/// The stack that stands, and of which arm it is.
struct Standing {
    arm: usize,
    stage: Stage,
}

impl<'a> TrialBench<'a> {
    /// Begins a study: resolves `arms`, refuses what is wrong with any of them, and measures the generator's ceiling.
    /// `load` is one that the arms will be measured with.
    pub(crate) fn begin(
        question: Question,
        arms: &[Arm],
        (by, load): (By, f64),
        server: &ServerArgs,
        context: &'a mut Context,
    ) -> Result<TrialBench<'a>> {
        let ready = ReadyArm::all(arms, by, load, &context.catalogue)?;
        refuse_early(&ready, server, context)?;
        measuring::hold(context)?;
        let none = || Problem::bug("a study without an arm that is measured");
        let first = ready.iter().flatten().next().ok_or_else(none)?.clone();
        let sitting = Sitting::begin(question, arms, &first, context)?;
        TrialBench::open(sitting, ready, by, server, context)
    }

    /// Goes on with a study that [`Sitting::resume`] took up: its arms as they were, with what this machine and this
    /// catalogue make of them now.
    ///
    /// # Errors
    /// What is wrong with an arm now, or is not as it was: trials before and after can't be compared.
    pub(crate) fn go_on(
        sitting: Sitting,
        (by, load): (By, f64),
        server: &ServerArgs,
        context: &'a mut Context,
    ) -> Result<TrialBench<'a>> {
        let ready = ReadyArm::all(&sitting.record.arms, by, load, &context.catalogue)?;
        refuse_early(&ready, server, context)?;
        measuring::hold(context)?;
        TrialBench::open(sitting, ready, by, server, context)
    }

    fn open(
        mut sitting: Sitting,
        arms: Vec<Option<ReadyArm>>,
        by: By,
        server: &ServerArgs,
        context: &'a mut Context,
    ) -> Result<TrialBench<'a>> {
        let rules = context.catalogue.rules()?;
        let now = identity::of(&arms, server, context);
        match sitting.kept(identity::FILE)? {
            Some(then) => identity::check(&then, &now)?,
            None => sitting.keep(identity::FILE, &now)?,
        }
        if sitting.record.ceiling.is_none()
            && let Some(first) = arms.iter().flatten().next()
        {
            let began = Instant::now();
            sitting.record.ceiling = Some(ceiling::measure(&first.plan.placement, context)?);
            let took_s = began.elapsed().as_secs_f64();
            sitting.record.steps.push(Step { name: "measure the generator".to_string(), took_s });
            sitting.save()?;
        }
        Ok(TrialBench {
            context,
            rules,
            sitting,
            arms,
            by,
            server: server.clone(),
            outlook: Box::new(|_, _| String::new()),
            standing: None,
            deaths: 0,
        })
    }

    /// Makes the data sets of all arms that nobody has made yet, so that no trial waits for one. Each is made once,
    /// whatever the number of arms that start from it. A single one is made by the first trial, which shows it.
    pub(crate) fn make_data(&mut self) -> Result<()> {
        let mut wanted = BTreeMap::new();
        for arm in self.arms.iter().flatten().filter(|arm| arm.plan.target.is_none()) {
            let catalogue = arm.catalogue.as_ref().unwrap_or(&self.context.catalogue);
            let load = &arm.plan.load;
            let load = load.arrivals.map_or(f64::from(load.users), |open| open.from_per_s);
            let plan = arm.task(self.by, load, 1.0, 1, catalogue)?.plan;
            let server = plan.database().map(|tier| tier.service.name.clone());
            wanted.entry((plan.size.label.clone(), server, plan.data_seed)).or_insert(plan);
        }
        for plan in wanted.values().filter(|_| wanted.len() > 1) {
            let (id, _) = outcome::new_id(&plan.kit.name);
            stage::make_data(plan, &id, &mut self.sitting.record.steps, self.context)?;
        }
        Ok(())
    }

    /// Says what the line below the progress shows from now on.
    pub(crate) fn show(&mut self, outlook: impl FnMut(&Order, &[Trial]) -> String + 'a) {
        self.outlook = Box::new(outlook);
    }

    /// Requests per second that the run of a trial completed; absent when it can't be read.
    pub(crate) fn requests_per_s(&self, trial: &Trial) -> Option<f64> {
        let run = self.sitting.runs().and_then(|runs| runs.find(&trial.run)).ok()?;
        let rows = run.record().operations.iter();
        let requests = rows.filter(|row| row.kind == model::OperationKind::Request);
        Some(requests.map(|row| row.per_s + row.errors.values().sum::<u64>() as f64 / trial.window_s).sum())
    }

    /// Takes the stack down and ends the sitting with the record as it is. What can't be removed is told, but takes
    /// no result away.
    pub(crate) fn end(mut self) -> Result<Study> {
        if let Some(standing) = self.standing.take() {
            self.context.console.step("stopping the stack");
            self.take_down(standing);
        }
        self.sitting.end()
    }

    fn take_down(&mut self, mut standing: Standing) {
        let stopped = standing.stage.stop();
        let closed = standing.stage.close();
        for problems in [stopped.err(), closed.err()].into_iter().flatten() {
            self.context.console.problem(&problems.to_string());
        }
    }

    /// Makes the arm's stack stand; `true` when it was set up anew.
    fn stand(&mut self, order: &Order, task: &Task, id: &str) -> Result<bool> {
        // Trials that are compared all begin alike; those of a find only where the kit's state drifts.
        let anew = order.fresh && (task.plan.kit.state.drifts || order.purpose == Purpose::Measure);
        let good = |standing: &Standing| standing.arm == order.arm && !anew;
        if let Some(standing) = self.standing.as_mut().filter(|standing| good(standing)) {
            let muted = self.context.console.mute(true);
            let cooled = standing.stage.cool(&task.plan, self.context);
            self.context.console.mute(muted);
            return cooled.map(|()| false);
        }
        let first = self.standing.is_none();
        if let Some(standing) = self.standing.take() {
            self.take_down(standing);
        }
        let keep_failed = self.context.home.join("failed").join(id);
        // Once is enough: each trial has the same steps.
        let muted = self.context.console.mute(!first || !self.sitting.record.trials.is_empty());
        let stage = Stage::set(&task.plan, &self.server, id, keep_failed, self.context);
        self.context.console.mute(muted);
        let mut stage = stage?;
        for warning in std::mem::take(&mut stage.warnings) {
            self.context.console.note(&format!("note: {warning}"));
        }
        for tier in stage.tiers() {
            let servers = &mut self.sitting.record.servers;
            servers.entry(tier.service.clone()).or_insert_with(|| tier.version.line.clone());
        }
        if self.sitting.record.setup.tiers.is_empty() {
            let mut tiers = setup::tiers(&task.plan, stage.tiers());
            tiers.iter_mut().for_each(|tier| tier.files.clear());
            self.sitting.record.setup.tiers = tiers;
            setup::elsewhere(&task.plan, stage.elsewhere.as_ref(), &mut self.sitting.record.setup);
        }
        self.standing = Some(Standing { arm: order.arm, stage });
        // A server that somebody else started is as the last trial left it.
        Ok(task.plan.target.is_none())
    }

    /// Drives the stack that stands, and keeps and judges the run.
    fn drive(&mut self, task: &Task, id: &str, started: &str) -> Result<Driven> {
        let Some(standing) = &mut self.standing else {
            return Err(Problem::bug("a trial without a stack").into());
        };
        let stage = &mut standing.stage;
        let runs = self.sitting.runs()?;
        let (mut record, mut writer) =
            keep::begin(&runs, &task.recipe, &task.plan, stage, (id, started), self.context)?;
        if let Some(check) = no_room(task, stage) {
            record.validity.push(check);
            record.steps = std::mem::take(&mut stage.steps);
            return Driven::refused(record, writer);
        }
        let driving = Instant::now();
        let mut pace = Settling::new(task.ramp_up_s, task.least_warm_up_s, task.window_s);
        let recording = measure(&task.plan, stage, &mut writer, &mut pace, DRAIN_S, self.context)
            .inspect_err(|_| keep::logs(stage, &writer))?;
        let took_s = driving.elapsed().as_secs_f64();
        stage.steps.push(Step { name: "drive the users".to_string(), took_s });
        record.consistency = keep::check(&task.plan, stage, &recording, self.context);
        keep::logs(stage, &writer);
        record.steps = std::mem::take(&mut stage.steps);
        Driven::judge(task, &recording, &pace, &self.rules, (record, writer))
    }
}

impl Bench for TrialBench<'_> {
    fn trial(&mut self, order: &Order, trials: &[Trial]) -> Result<Trial> {
        let own = self.arms.get(order.arm).and_then(|arm| arm.as_ref()?.catalogue.clone());
        let usual = own.map(|own| std::mem::replace(&mut self.context.catalogue, own));
        let trial = self.in_catalogue(order, trials);
        if let Some(usual) = usual {
            self.context.catalogue = usual;
        }
        trial
    }
}

impl TrialBench<'_> {
    /// A trial, the catalogue being that of its arm.
    fn in_catalogue(&mut self, order: &Order, trials: &[Trial]) -> Result<Trial> {
        self.context.interrupt.check()?;
        let (began_s, began) = (self.sitting.spent_s(), Instant::now());
        let number = trials.len() as u32 + 1;
        let arm = self.arms.get(order.arm).and_then(Option::as_ref);
        let arm = arm.ok_or_else(|| Problem::bug(format!("arm {} is none to measure", order.arm)))?;
        let catalogue = &self.context.catalogue;
        let task = arm.task(self.by, order.load, order.window_s, order.seed, catalogue)?;
        let task = Task { percentiles: percentiles(&self.sitting.record.question), ..task };
        let label = (self.arms.len() > 1).then(|| arm.arm.label.clone());
        let below = (self.outlook)(order, trials);
        self.context.console.below(&below);
        let (id, started) = outcome::new_id(&task.plan.kit.name);
        let fresh = self.stand(order, &task, &id)?;
        let muted = self.context.console.mute(true);
        let driven = self.drive(&task, &id, &started);
        self.context.console.mute(muted);
        let driven = driven?;
        if driven.outcome == Outcome::Interrupted {
            let what = format!("interrupted in trial {number}");
            return Err(Problem::new(Kind::Interrupted, what).into());
        }
        let deaths = self.count_deaths(&driven, number);
        let given = given(&self.sitting.record.question, order.purpose);
        let (faults, overloaded) = verdict::marks(driven.faults, &task.plan.kit.metrics, given);
        let trial = Trial {
            number,
            arm: order.arm,
            block: order.block,
            purpose: order.purpose,
            load: order.load,
            run: id,
            began_s,
            took_s: began.elapsed().as_secs_f64(),
            fresh,
            warm_up_s: driven.warm_up_s,
            window_s: driven.window_s,
            measured: driven.measured,
            faults: about_figures(order.purpose, faults),
            overloaded,
        };
        let study = (&self.sitting.record.question, trials);
        self.context.console.done(&wording::trial::line(&trial, label.as_deref(), self.by, study));
        // The one that ends the study is kept too: it is the one to look at.
        self.sitting.keep_trial(trials, trial.clone())?;
        deaths.map(|()| trial)
    }

    /// What a trial has spoilt is set up anew for the next one. Tiers that die again and again end the study.
    fn count_deaths(&mut self, driven: &Driven, number: u32) -> Result<()> {
        if driven.spoilt
            && let Some(standing) = self.standing.take()
        {
            self.take_down(standing);
        }
        let Some(death) = driven.faults.iter().find(|fault| fault.check == Check::Tiers) else {
            self.deaths = 0;
            return Ok(());
        };
        self.deaths += 1;
        if self.deaths < MOST_DEATHS {
            return Ok(());
        }
        let what = format!("a tier died in each of the trials {} to {number}", number + 1 - MOST_DEATHS);
        Err(Problem::environment(what)
            .why(death.sentence.clone())
            .remedy("look at its logs in the study's runs; a lower load, or another stack")
            .into())
    }
}

/// What published tables want beside the percentiles that every trial keeps.
fn percentiles(question: &Question) -> Vec<f64> {
    let Question::Sweep(sweep) = question else { return Vec::new() };
    let mut wanted: Vec<f64> = sweep.published.iter().filter_map(|table| table.figure.percentile()).collect();
    wanted.sort_by(f64::total_cmp);
    wanted.dedup();
    wanted
}

/// The load is a sweep's own, whether the stack carries it or not.
fn given(question: &Question, purpose: Purpose) -> bool {
    matches!(question, Question::Sweep(_)) && purpose == Purpose::Measure
}

/// Too few samples to judge a target are no fault where figures are compared and not targets: the clause says so itself.
fn about_figures(purpose: Purpose, mut faults: Vec<Fault>) -> Vec<Fault> {
    if purpose == Purpose::Measure {
        faults.retain(|fault| fault.check != Check::Samples);
    }
    faults
}

/// What would only come out in the middle of a study, when the arm's first trial is due: that its stack can't be made here,
/// or a server that is not allowed or not there.
fn refuse_early(arms: &[Option<ReadyArm>], server: &ServerArgs, context: &Context) -> Result<()> {
    let mut problems: Vec<Problem> = Vec::new();
    for arm in arms.iter().flatten() {
        let catalogue = arm.catalogue.as_ref().unwrap_or(&context.catalogue);
        let found = match &arm.plan.target {
            Some(url) => server.find_root(url).map(|_| ()),
            None => stage::refuse(&arm.plan, catalogue, context),
        };
        for problem in found.err().into_iter().flat_map(model::Problems::into_vec) {
            // Arms share their mistakes.
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    model::Problems::check(problems)
}

/// Whether this machine has too few ports or descriptors for a trial's users.
fn no_room(task: &Task, stage: &Stage) -> Option<ValidityCheck> {
    let demand = foresight::Demand::kept(task.plan.load.places().into());
    let problems = foresight::prepare(&demand, &stage.target).err()?;
    let said: Vec<&str> = problems.iter().map(|problem| problem.what.as_str()).collect();
    Some(ValidityCheck {
        check: Check::Room,
        ok: false,
        sentence: said.join("; "),
        observed: None,
        limit: None,
    })
}
