//! Trials of a study on the real stack.
//!
//! [`TrialBench`] serves any list of arms: for an order it makes the arm's stack stand, drives it until enough steady
//! seconds are in, keeps it as a run of its own below the study, and the study's record anew.

mod arm;
mod driven;
mod driving;
mod identity;
mod of_guests;
mod of_run;
mod pair;
mod partner;
mod settle;
pub mod study_in_progress;
mod verdict;

use std::collections::BTreeMap;
use std::time::Instant;

use experiment::{Bench, Order};
use model::catalogue::rules::Rule;
use model::progress::study::{StudyProgress, TrialUnderWay};
use model::record::study::{Arm, By, Conditions, Fault, Purpose, Question, Trial};
use model::record::{Check, Outcome, Step};
use model::{Kind, Problem, Result};
use store::Study;

use crate::environment::Environment;
use crate::fleet::set_up as fleet;
use crate::guests::{self, Stacks};
use crate::measure::SideBySide;
use crate::server::ServerAccess;
use crate::standing_stack;
use crate::study_so_far::StudySoFar;
use crate::{ceiling, outcome, setup};
use arm::{ReadyArm, Task};
pub use arm::{can_take_turns, longest_s, warm_up_s};
use driven::Driven;
pub use of_run::of_run;
use study_in_progress::StudyInProgress;

/// Number of trials in a row in which a tier died that end the study.
const MAX_DEATHS: u32 = 3;

/// What is known after the trials so far.
pub type Outlook<'a> = Box<dyn FnMut(&[Trial]) -> StudySoFar + 'a>;

/// Where the trials of a study take place.
pub struct TrialBench<'a> {
    /// What its runs need.
    pub env: Environment<'a>,
    /// The study's record; the verb puts its answer there.
    pub study: StudyInProgress,
    arms: Vec<Option<ReadyArm>>,
    /// What may hold a stack.
    rules: Vec<Rule>,
    by: By,
    server: ServerAccess,
    outlook: Option<Outlook<'a>>,
    standing: Option<Standing>,
    deaths: u32,
}

/// The stack that stands, of which arm it is, and what a find chose for it.
struct Standing {
    arm: usize,
    conditions: Conditions,
    stacks: Stacks,
}

impl<'a> TrialBench<'a> {
    /// Begins a study: resolves `arms`, refuses what is wrong with any of them, and measures the generator's ceiling.
    /// `load` is one that the arms will be measured with.
    pub fn begin(
        question: Question,
        arms: &[Arm],
        (by, load): (By, f64),
        server: &ServerAccess,
        env: Environment<'a>,
    ) -> Result<TrialBench<'a>> {
        let ready = ReadyArm::all(arms, by, load, env.catalogue)?;
        refuse_early(&ready, server, &env)?;
        env.machine.hold(env.interrupt, env.progress)?;
        let none = || Problem::bug("a study without an arm that is measured");
        let first = ready.iter().flatten().next().ok_or_else(none)?.clone();
        let study = StudyInProgress::begin(question, arms, &first, &env)?;
        TrialBench::open(study, ready, by, server, env)
    }

    /// Goes on with a study that [`StudyInProgress::resume`] took up: its arms as they were, with what this machine and this
    /// catalogue make of them now.
    ///
    /// # Errors
    /// What is wrong with an arm now, or is not as it was: trials before and after can't be compared.
    pub fn go_on(
        study: StudyInProgress,
        (by, load): (By, f64),
        server: &ServerAccess,
        env: Environment<'a>,
    ) -> Result<TrialBench<'a>> {
        let ready = ReadyArm::all(&study.record.arms, by, load, env.catalogue)?;
        refuse_early(&ready, server, &env)?;
        env.machine.hold(env.interrupt, env.progress)?;
        TrialBench::open(study, ready, by, server, env)
    }

    fn open(
        mut study: StudyInProgress,
        arms: Vec<Option<ReadyArm>>,
        by: By,
        server: &ServerAccess,
        env: Environment<'a>,
    ) -> Result<TrialBench<'a>> {
        let rules = env.catalogue.rules()?;
        let now = identity::of(&arms, server, &env.settings.origin.version, env.settings.fleet.as_ref());
        match study.read(identity::FILE)? {
            Some(then) => identity::check(&then, &now)?,
            None => study.write(identity::FILE, &now)?,
        }
        if study.record.ceiling.is_none()
            && let Some(first) = arms.iter().flatten().next()
        {
            let began = Instant::now();
            study.record.ceiling =
                Some(ceiling::measure(&first.plan.placement, env.interrupt, env.progress)?);
            let took_s = began.elapsed().as_secs_f64();
            study.record.steps.push(Step { name: "measure the generator".to_string(), took_s });
            study.save()?;
        }
        let mut bench = TrialBench {
            env,
            rules,
            study,
            arms,
            by,
            server: server.clone(),
            outlook: None,
            standing: None,
            deaths: 0,
        };
        bench.build()?;
        Ok(bench)
    }

    /// Builds what the stacks of several arms are built from, so that one that can't be built ends the study before anything
    /// is measured. What a single arm needs is built by its first trial, which shows it.
    fn build(&mut self) -> Result<()> {
        let arms = self.arms.iter().flatten();
        for arm in arms.filter(|arm| self.arms.len() > 1 && arm.plan.target.is_none()) {
            let (id, _) = outcome::new_id(&arm.plan.kit.name);
            let mut steps = Vec::new();
            standing_stack::build(&arm.plan, &id, &mut steps, &mut self.env.with(&arm.catalogue))?;
            self.study.leave_out(steps.iter().map(|step| step.took_s).sum());
            self.study.record.steps.append(&mut steps);
        }
        Ok(())
    }

    /// Makes the data sets of all arms that nobody has made yet, so that no trial waits for one. Each is made once,
    /// whatever the number of arms that start from it. A single one is made by the first trial, which shows it.
    pub fn make_data(&mut self) -> Result<()> {
        let mut wanted = BTreeMap::new();
        for arm in self.arms.iter().flatten().filter(|arm| arm.plan.target.is_none()) {
            let load = &arm.plan.load;
            let load = load.arrivals.map_or(f64::from(load.users), |open| open.from_per_s);
            let Task { plan, catalogue, .. } = arm.task(self.by, (load, &Conditions::default()), 1.0, 1)?;
            let server = plan.database().map(|tier| tier.service.name.clone());
            let shards = plan.shards().map(|tier| tier.instances);
            wanted
                .entry((plan.size.label.clone(), server, shards, plan.data_seed))
                .or_insert((plan, catalogue));
        }
        for (plan, catalogue) in wanted.values().filter(|_| wanted.len() > 1) {
            let (id, _) = outcome::new_id(&plan.kit.name);
            let env = &mut self.env.with(catalogue);
            standing_stack::make_data(plan, &id, &mut self.study.record.steps, env)?;
        }
        Ok(())
    }

    /// Tells from now on what is known so far, whenever a trial begins.
    pub fn show(&mut self, outlook: impl FnMut(&[Trial]) -> StudySoFar + 'a) {
        self.outlook = Some(Box::new(outlook));
    }

    /// Tells what is known before the trials of `orders`.
    fn tell_so_far(&mut self, orders: &[&Order], trials: &[Trial]) {
        let Some(so_far) = self.outlook.as_mut().map(|outlook| outlook(trials)) else { return };
        self.env.progress.below(&so_far.below);
        let under_way = orders.iter().zip(trials.len() as u32 + 1..).map(|(order, number)| TrialUnderWay {
            number,
            arm: order.arm,
            block: order.block,
            purpose: order.purpose,
            load: order.load,
        });
        self.env.progress.study(&StudyProgress {
            study: self.study.record.id.clone(),
            text: so_far.text,
            over: false,
            under_way: under_way.collect(),
            left_s: so_far.left_s,
            known: so_far.known,
        });
    }

    /// Tells what is known at the end, with the sentence that the record has by now.
    pub fn tell_end(&mut self) {
        let record = &self.study.record;
        let Some(so_far) = self.outlook.as_mut().map(|outlook| outlook(&record.trials)) else { return };
        self.env.progress.study(&StudyProgress {
            study: record.id.clone(),
            text: record.sentence.clone(),
            over: true,
            under_way: Vec::new(),
            left_s: 0.0,
            known: so_far.known,
        });
    }

    /// Requests per second that the run of a trial completed; absent when it can't be read.
    pub fn requests_per_s(&self, trial: &Trial) -> Option<f64> {
        let run = self.study.runs().and_then(|runs| runs.find(&trial.run)).ok()?;
        let rows = run.record().operations.iter();
        let requests = rows.filter(|row| row.kind == model::OperationKind::Request);
        Some(requests.map(|row| row.per_s + row.errors.values().sum::<u64>() as f64 / trial.window_s).sum())
    }

    /// Takes the stack down and ends the study with the record as it is. What can't be removed is told, but takes
    /// no result away.
    pub fn end(mut self) -> Result<Study> {
        if let Some(standing) = self.standing.take() {
            self.env.progress.step("stopping the stack");
            self.take_down(standing.stacks);
        }
        self.study.end()
    }

    fn take_down(&mut self, mut stacks: Stacks) {
        let stopped = stacks.stop();
        let closed = stacks.close();
        for problems in [stopped.err(), closed.err()].into_iter().flatten() {
            self.env.progress.problem(&problems);
        }
    }

    /// Makes the arm's stack stand; `true` when it was set up anew.
    fn stand(&mut self, order: &Order, task: &Task, id: &str) -> Result<bool> {
        // Trials that are compared all begin alike; those of a find only where the kit's state drifts.
        let anew = order.fresh && (task.plan.kit.state.drifts || order.purpose == Purpose::Measure);
        let good = |standing: &Standing| {
            standing.arm == order.arm && standing.conditions == order.conditions && !anew
        };
        let changed = self.study.record.trials.last().is_some_and(|last| last.conditions != order.conditions);
        if let Some(standing) = self.standing.as_mut().filter(|standing| good(standing)) {
            let muted = self.env.progress.mute(true);
            let cooled = standing.stacks.cool(&task.plan, &mut self.env);
            self.env.progress.mute(muted);
            return cooled.map(|()| false);
        }
        let first = self.standing.is_none();
        if let Some(standing) = self.standing.take() {
            self.take_down(standing.stacks);
        }
        // Once is enough: each trial has the same steps, unless there is something new to be made.
        let again = !first || !self.study.record.trials.is_empty();
        let stacks = self.set_up(task, id, (again && !changed, changed))?;
        self.standing = Some(Standing { arm: order.arm, conditions: order.conditions.clone(), stacks });
        // A server that somebody else started is as the last trial left it.
        Ok(task.plan.target.is_none())
    }

    /// The stack for `task`, or those of its guests, and what is told of it: without a word where it is `muted`, for the record where it has `changed`.
    fn set_up(&mut self, task: &Task, id: &str, (muted, changed): (bool, bool)) -> Result<Stacks> {
        let muted = self.env.progress.mute(muted);
        let stacks = Stacks::set_up(&task.plan, &self.server, id, &mut self.env.with(&task.catalogue));
        self.env.progress.mute(muted);
        let mut stacks = stacks?;
        // What is made once is no part of what the search may take.
        self.study.leave_out(stacks.made_s());
        for warning in stacks.take_warnings() {
            self.env.progress.note(&format!("note: {warning}"));
        }
        let stack = stacks.first();
        for tier in stack.tiers() {
            let servers = &mut self.study.record.servers;
            servers.entry(tier.service.clone()).or_insert_with(|| tier.version.line.clone());
        }
        if self.study.record.setup.tiers.is_empty() || changed {
            self.study.record.setup.size = task.plan.size.label.clone();
            self.study.record.setup.size_values = task.plan.size.values.clone();
            self.study.record.setup.given = Some(task.plan.given.clone());
            let mut tiers = setup::tiers(&task.plan, stack.tiers(), stack.carried_by());
            tiers.iter_mut().for_each(|tier| tier.files.clear());
            self.study.record.setup.tiers = tiers;
            setup::elsewhere(&task.plan, stack.elsewhere.as_ref(), &mut self.study.record.setup);
        }
        Ok(stacks)
    }

    /// Drives the stack that stands, and keeps and judges the run.
    fn drive(&mut self, task: &Task, id: &str, started: &str) -> Result<Driven> {
        let Some(standing) = &mut self.standing else {
            return Err(Problem::bug("a trial without a stack").into());
        };
        let (stacks, runs) = (&mut standing.stacks, self.study.runs()?);
        if !task.plan.guests.is_empty() {
            let mut env = self.env.with(&task.catalogue);
            return of_guests::drive(task, stacks, (&runs, id, started), &self.rules, &mut env);
        }
        let stack = stacks.first_mut();
        let settings = self.env.settings;
        let mut begun = match driving::begin((task, 1), stack, &runs, (id, started), settings)? {
            Ok(begun) => begun,
            Err(refused) => return Ok(refused),
        };
        let mut env = self.env.with(&task.catalogue);
        let recording = begun.measure(&task.plan, stack, &SideBySide::default(), &mut env)?;
        begun.judge(task, stack, &recording, &self.rules, &mut env)
    }
}

impl Bench for TrialBench<'_> {
    fn trial(&mut self, order: &Order, trials: &[Trial]) -> Result<Trial> {
        self.env.interrupt.check()?;
        let began_s = self.study.spent_s();
        let task = self.task(order)?;
        self.tell_so_far(&[order], trials);
        self.tell_change(order, trials);
        let (id, started) = outcome::new_id(&task.plan.kit.name);
        let fresh = self.stand(order, &task, &id)?;
        let muted = self.env.progress.mute(true);
        let driven = self.drive(&task, &id, &started);
        self.env.progress.mute(muted);
        let times = Times { began_s, took_s: self.study.spent_s() - began_s, fresh };
        let (trial, ended) = self.keep((order, &task), (driven?, id), times, trials)?;
        ended.map(|()| trial)
    }

    fn both(&mut self, orders: [&Order; 2], trials: &[Trial]) -> Result<[Trial; 2]> {
        pair::measure(self, orders, trials)
    }
}

/// When a trial was made, in the study's seconds, and whether its stack was set up for it.
struct Times {
    began_s: f64,
    took_s: f64,
    fresh: bool,
}

impl TrialBench<'_> {
    /// What an order asks for.
    fn task(&self, order: &Order) -> Result<Task> {
        let arm = self.arms.get(order.arm).and_then(Option::as_ref);
        let arm = arm.ok_or_else(|| Problem::bug(format!("arm {} is none to measure", order.arm)))?;
        let task = arm.task(self.by, (order.load, &order.conditions), order.window_s, order.seed)?;
        let kind = self.study.record.question.kind();
        Ok(Task {
            percentiles: kind.percentiles(),
            signals: kind.signals(),
            response_times: kind.keeps_response_times(),
            ..task
        })
    }

    /// Keeps what a trial gave, after `trials`, and tells it; with it, what makes going on senseless.
    fn keep(
        &mut self,
        (order, task): (&Order, &Task),
        (driven, run): (Driven, String),
        Times { began_s, took_s, fresh }: Times,
        trials: &[Trial],
    ) -> Result<(Trial, Result<()>)> {
        let number = trials.len() as u32 + 1;
        self.let_fleet_forget();
        if driven.outcome == Outcome::Interrupted {
            let what = format!("interrupted in trial {number}");
            return Err(Problem::new(Kind::Interrupted, what).into());
        }
        let deaths = self.count_deaths(&driven, number);
        let given = self.study.record.question.kind().gives_load(order.purpose);
        let (faults, overloaded) = verdict::marks(driven.faults, &task.plan.kit.metrics, given);
        let trial = Trial {
            number,
            arm: order.arm,
            block: order.block,
            purpose: order.purpose,
            load: order.load,
            conditions: order.conditions.clone(),
            run,
            began_s,
            took_s,
            fresh,
            warm_up_s: driven.warm_up_s,
            window_s: driven.window_s,
            interrupted_ratio: driven.interrupted_ratio,
            measured: driven.measured,
            faults: about_figures(order.purpose, faults),
            overloaded,
        };
        let label = self.arms.get(order.arm).and_then(Option::as_ref).map(|arm| arm.arm.label.as_str());
        let label = label.filter(|_| self.arms.len() > 1);
        let study = (&self.study.record.question, trials);
        self.env.progress.done(&wording::trial::line(&trial, label, self.by, study));
        // The one that ends the study is kept too: it is the one to look at.
        self.study.keep_trial(trials, trial.clone())?;
        Ok((trial, deaths))
    }
}

impl TrialBench<'_> {
    /// The run that a fleet drove is kept, with its record: what its agents told of it need not stay on the broker, which has
    /// room for a few runs.
    fn let_fleet_forget(&mut self) {
        let Some(standing) = &mut self.standing else { return };
        if let Err(problems) = standing.stacks.first_mut().keep_run() {
            self.env.progress.note(&problems.to_string());
        }
    }

    /// Says what the search goes on with and why, and what it costs to make.
    fn tell_change(&mut self, order: &Order, trials: &[Trial]) {
        let Some(last) = trials.last().filter(|last| last.conditions != order.conditions) else { return };
        let goal = self.study.record.question.kind().goal();
        let made = self.standing.as_ref().and_then(|standing| standing.stacks.made_once());
        if let Some(goal) = goal {
            let told = wording::find::change(goal, (&last.conditions, &order.conditions), made);
            self.env.progress.note(&told);
        }
    }

    /// What a trial has spoilt is set up anew for the next one. Tiers that die again and again end the study.
    fn count_deaths(&mut self, driven: &Driven, number: u32) -> Result<()> {
        if driven.spoilt
            && let Some(standing) = self.standing.take()
        {
            self.take_down(standing.stacks);
        }
        let Some(death) = driven.faults.iter().find(|fault| fault.check == Check::Tiers) else {
            self.deaths = 0;
            return Ok(());
        };
        self.deaths += 1;
        if self.deaths < MAX_DEATHS {
            return Ok(());
        }
        let what = format!("a tier died in each of the trials {} to {number}", number + 1 - MAX_DEATHS);
        Err(Problem::environment(what)
            .why(death.sentence.clone())
            .remedy("look at its logs in the study's runs; a lower load, or another stack")
            .into())
    }
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
fn refuse_early(arms: &[Option<ReadyArm>], server: &ServerAccess, env: &Environment<'_>) -> Result<()> {
    let mut problems: Vec<Problem> = Vec::new();
    for arm in arms.iter().flatten() {
        let found = match &arm.plan.target {
            Some(url) => server.find_root(url).map(|_| ()),
            None => guests::refuse(&arm.plan)
                .and_then(|()| standing_stack::refuse(&arm.plan, &arm.catalogue, env.home)),
        };
        let found = found.and_then(|()| fleet::refuse(env.settings.fleet.as_ref(), &arm.plan, env));
        for problem in found.err().into_iter().flat_map(model::Problems::into_vec) {
            // Arms share their mistakes.
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    model::Problems::check(problems)
}
