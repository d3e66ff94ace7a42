//! Standing a plan up: leftovers swept, packages checked, data at hand, every tier ready, the front page answered. Of a
//! plan for a server that somebody else started only the last.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use model::catalogue::build::Build;
use model::record::plan::PlanTier;
use model::record::{Carrier, DatasetResult, LinkResult, MachineSettingResult, Step};
use model::{Catalogue, KitManifest, Plan, Problem, Problems, Result, units};
use observe::{NETWORK, TierJob};
use testbed::{Helper, Helping, Lab, Needed, Running, Stack, Tier};
use wording::find::MadeOnce;

use crate::artefact::file_set::{self, FileSet};
use crate::artefact::prepared::{self, Base};
use crate::artefact::{dataset, product, shards};
use crate::environment::Environment;
use crate::fleet::choice::FleetChoice;
use crate::fleet::{set_up as fleet, standing::StandingFleet};
use crate::front_page::FrontPage;
use crate::lab::open_lab;
use crate::server::{Server, ServerAccess};
use crate::servers::{self, Ground, Prepared};
use crate::{links, page_cache, preparing, stressor};

/// A stack that runs on its data set, or a server that somebody else started. Dropping it ends what was started.
pub struct StandingStack {
    /// What was started here.
    started: Option<Started>,
    /// Where users reach it.
    pub target: engine::Target,
    /// The server, when somebody else started it.
    pub(crate) elsewhere: Option<Server>,
    /// How its data came to be.
    pub(crate) dataset: Option<DatasetResult>,
    /// The files that it serves, and what of them was in memory when it was ready. In use as long as this lives, which is
    /// longer than what was started.
    pub(crate) file_set: Option<FileSet>,
    /// Settings of the machine that were changed for it.
    pub(crate) machine: Vec<MachineSettingResult>,
    /// What was done, and how long it took.
    pub(crate) steps: Vec<Step>,
    /// Things that the user should know.
    pub(crate) warnings: Vec<String>,
    /// What users were answered since it stands, for the check of the data.
    pub(crate) answers: kit::CheckInputs,
    /// The fleet that drives its users, where this process doesn't.
    pub(crate) fleet: Option<StandingFleet>,
}

struct Started {
    /// Declared before the lab: it ends first.
    stack: Stack,
    lab: Lab,
    /// What a fault runs beside the stack.
    stressors: Vec<Running>,
}

impl StandingStack {
    /// Stands `plan` up; `id` names the lab.
    /// `server` says how to reach the plan's target, if it has one.
    pub fn set_up(
        plan: &Plan,
        server: &ServerAccess,
        id: &str,
        env: &mut Environment<'_>,
    ) -> Result<StandingStack> {
        server.check_front_page(plan.target.is_some())?;
        let mut standing = match &plan.target {
            Some(url) => {
                // What a server that we don't know has at the kit's front page is its own business.
                let wanted = match &server.front_page {
                    Some(page) => FrontPage::Found(page),
                    None => FrontPage::Answered(&plan.kit.front_page),
                };
                StandingStack::elsewhere(plan, server.find_root(url)?, wanted, env)?
            }
            None => StandingStack::start(plan, id, env)?,
        };
        if let Some(choice) = &env.settings.fleet {
            standing.fleet = Some(fleet::set_up(choice, plan, (&standing.target, id), env)?);
        }
        Ok(standing)
    }

    fn elsewhere(
        plan: &Plan,
        server: Server,
        front_page: FrontPage<'_>,
        env: &mut Environment<'_>,
    ) -> Result<StandingStack> {
        let location = format!("{} ({})", server.url, server.location());
        let unchecked = plan.kit.check.is_none() || checks_a_database(&plan.kit);
        // What observers of a fleet watch is said when they are there.
        let by_others = matches!(env.settings.fleet, Some(FleetChoice::Named(_)));
        let unwatched = if by_others { "no tier is watched from here" } else { "no tier is watched" };
        let unchecked = if unchecked { ", no data checked" } else { "" };
        env.progress.note(&format!("{location} was not started by Plimsoll: {unwatched}{unchecked}"));
        if let Some(host) = &server.allowed {
            env.progress.note(&format!("{host} is not this machine: allowed by --allow-target"));
        }
        front_page.verify(&server.target, plan.kit.front_page_timeout_s())?;
        Ok(StandingStack::at(server.target.clone(), Some(server), None))
    }

    /// A server that somebody else started, whose users agents of `fleet` drive already.
    pub(crate) fn of_fleet(target: engine::Target, fleet: StandingFleet) -> StandingStack {
        StandingStack::at(target, None, Some(fleet))
    }

    fn at(target: engine::Target, elsewhere: Option<Server>, fleet: Option<StandingFleet>) -> StandingStack {
        StandingStack {
            started: None,
            target,
            elsewhere,
            dataset: None,
            file_set: None,
            machine: Vec::new(),
            steps: Vec::new(),
            warnings: Vec::new(),
            answers: kit::CheckInputs::default(),
            fleet,
        }
    }

    fn start(plan: &Plan, id: &str, env: &mut Environment<'_>) -> Result<StandingStack> {
        env.progress.step("looking for what earlier runs left");
        let swept = testbed::sweep(env.home)?;
        if !swept.labs.is_empty() {
            let count = swept.labs.len();
            env.progress.note(&format!("removed what {count} killed run(s) had left behind"));
        }
        refuse(plan, env.catalogue, env.home)?;
        let mut steps = Vec::new();
        let lab = open_lab(id, env)?;
        lab.check_limits(plan)?;
        // Before the data: how long it takes to make is a figure of its own.
        let mut machine = lab.set_machine(&plan.machine)?;
        if !machine.is_empty() {
            env.progress.done(&wording::plan::machine_changed(&machine));
        }
        let built = product::ensure(plan, &lab, &mut steps, env)?;
        let ground = Ground { plan, lab: &lab, built: &built.servers };
        let whole = dataset::ensure(ground, &mut steps, env)?;
        let (snapshots, data) = shards::snapshots(ground, whole, &mut steps, env)?;
        // Before the stack, so that it is given back after the stack has ended, however this goes.
        let mut file_set = file_set::ensure(
            ground,
            (id, page_cache::use_of_set(plan)),
            page_cache::has_cold_names(plan),
            &mut steps,
            env,
        )?;
        let base = Base { snapshots, files: file_set.as_mut(), built: built.application.as_deref() };
        let snapshots = prepared::ensure(ground, base, &mut steps, env)?;
        env.interrupt.check()?;
        let started = Instant::now();
        let (mut stack, copied) = {
            let prepared = Prepared {
                snapshots: &snapshots,
                files: file_set.as_ref().map(|files| files.root.as_path()),
                built: built.application.as_deref(),
            };
            servers::start(ground, prepared, None, &env.failed(id), &mut steps, env)?
        };
        machine.extend(lab.set_cables(&plan.machine)?);
        if plan.kit.prepare.as_ref().is_some_and(|prepare| !prepare.keep) {
            let prepared = preparing::carry_out(plan, &stack, &mut steps, env);
            prepared.map_err(|problems| with_logs(problems, &stack))?;
        }
        if let Some(files) = &mut file_set {
            files.result.page_cache = page_cache::prepare(plan, &mut stack, files, &mut steps, env)?;
        }
        let dataset =
            data.map(|data| DatasetResult { copy_s: copied.took_s, disk_bytes: copied.disk_bytes, ..data });
        let address = stack.web_address().ok_or_else(|| {
            Problem::recipe(format!("stack {} has no tier `web` with a port", plan.stack.name))
                .why("the users have nowhere to go")
        })?;
        env.progress.step("asking for the front page");
        let (target, timeout_s) = (engine::Target::from(address), plan.kit.front_page_timeout_s());
        let answered = FrontPage::Found(&plan.kit.front_page).verify(&target, timeout_s);
        answered.map_err(|problems| with_logs(problems, &stack))?;
        let took = units::show_seconds(started.elapsed().as_secs_f64());
        env.progress
            .done(&format!("{} is ready ({took}): http://{address}{}", plan.stack.name, plan.kit.front_page));
        let unknown = stack.tiers().iter().filter_map(|tier| tier.version.warning.clone());
        let of_settings = stack.tiers().iter().flat_map(|tier| tier.warnings.clone());
        let warnings = unknown.chain(of_settings).chain(wording::plan::too_much_cpu(plan)).collect();
        let stressors = stressor::start(plan, &lab, &env.settings.helpers)?;
        let started = Some(Started { stack, lab, stressors });
        let answers = kit::CheckInputs::default();
        Ok(StandingStack {
            started,
            target,
            elsewhere: None,
            dataset,
            file_set,
            machine,
            steps,
            warnings,
            answers,
            fleet: None,
        })
    }

    /// The ways to tiers' own hosts that are to hold packets, as they are before the users.
    pub(crate) fn links(&self, plan: &Plan) -> Result<Vec<LinkResult>> {
        self.started.as_ref().map_or(Ok(Vec::new()), |started| links::before(plan, &started.stack))
    }

    /// The same after them.
    pub(crate) fn links_again(&self, found: &mut [LinkResult]) {
        if let Some(started) = &self.started {
            links::after(found, &started.stack);
        }
    }

    /// Makes a stack that has served already what it was for its first users, as far as the page cache goes: a cold one is
    /// emptied again.
    pub(crate) fn cool(&mut self, plan: &Plan, env: &mut Environment<'_>) -> Result<()> {
        let (Some(started), Some(files)) = (&mut self.started, &mut self.file_set) else { return Ok(()) };
        if page_cache::is_cold(plan) {
            files.result.page_cache =
                page_cache::prepare(plan, &mut started.stack, files, &mut self.steps, env)?;
        }
        Ok(())
    }

    /// Seconds that building, and making its data and its files, took, which is done once.
    pub(crate) fn made_s(&self) -> f64 {
        let data = self.dataset.iter().filter(|data| !data.reused).map(|data| data.load_s);
        let files =
            self.file_set.iter().filter(|files| !files.result.reused).map(|files| files.result.made_s);
        let built = self.steps.iter().filter(|step| product::is_building(step)).map(|step| step.took_s);
        data.chain(files).chain(built).sum()
    }

    /// What its data and files took, whenever they were made; `None` where there are none.
    pub(crate) fn made_once(&self) -> Option<MadeOnce> {
        let data = self.dataset.iter().map(|data| MadeOnce { bytes: data.bytes, took_s: data.load_s });
        let files = self.file_set.iter();
        let files = files.map(|files| MadeOnce { bytes: files.result.bytes, took_s: files.cost_s });
        data.chain(files).reduce(|one, other| MadeOnce {
            bytes: one.bytes + other.bytes,
            took_s: one.took_s + other.took_s,
        })
    }

    /// The servers of a database tier that live, for checks in SQL, each with its number among the tier's instances.
    pub(crate) fn databases(&self, tier: Option<&PlanTier>, plan: &Plan) -> Vec<(usize, kit::Server)> {
        let (Some(started), Some(tier)) = (&self.started, tier) else { return Vec::new() };
        servers::databases(tier, plan, &started.stack)
    }

    /// The directory of the file set as the servers see it, where it was started here and has one.
    pub(crate) fn data_files(&self) -> Option<PathBuf> {
        self.started.as_ref()?.stack.files().map(Path::to_path_buf)
    }

    /// Who carries packets between hosts of the stack.
    pub(crate) fn carried_by(&self) -> Carrier {
        let process = self.started.as_ref().and_then(|started| started.stack.carrier());
        if process.is_some() { Carrier::Process } else { Carrier::Kernel }
    }

    /// What carries packets between hosts of the stack, where that is not the kernel.
    pub(crate) fn carrier(&self) -> Option<TierJob> {
        let (pid, cgroup) = self.started.as_ref()?.stack.carrier()?;
        Some(TierJob { name: NETWORK.to_string(), cgroup, pids: vec![pid], ..TierJob::default() })
    }

    /// What of the tool's own drives its users, beside this process.
    pub(crate) fn fleet_jobs(&self) -> impl Iterator<Item = TierJob> {
        self.fleet.iter().flat_map(StandingFleet::jobs).collect::<Vec<_>>().into_iter()
    }

    /// The run that was driven last is kept.
    pub(crate) fn keep_run(&mut self) -> Result<()> {
        self.fleet.as_mut().map_or(Ok(()), StandingFleet::keep)
    }

    /// The tiers that were started here.
    pub fn tiers(&self) -> &[Tier] {
        self.started.as_ref().map_or(&[], |started| started.stack.tiers())
    }

    /// Starts a helper of the tool: in the lab where there is one.
    pub(crate) fn help(&self, helper: &Helper) -> Result<Helping> {
        self.started.as_ref().map_or_else(|| helper.start_alone(), |started| started.lab.help(helper))
    }

    /// The stack that was started here.
    pub(crate) fn stack(&mut self) -> Option<&mut Stack> {
        self.started.as_mut().map(|started| &mut started.stack)
    }

    /// Tiers that have died since the last call.
    pub fn deaths(&mut self) -> Vec<testbed::Death> {
        self.started.as_mut().map_or_else(Vec::new, |started| started.stack.deaths())
    }

    /// Alarms in the tiers' logs since the last call.
    pub(crate) fn alarms(&mut self) -> Vec<testbed::AlarmSeen> {
        self.started.as_mut().map_or_else(Vec::new, |started| started.stack.alarms())
    }

    /// Stops the servers in order; their files stay until [`Self::close`].
    pub fn stop(&mut self) -> Result<()> {
        let Some(started) = &mut self.started else { return Ok(()) };
        let begun = Instant::now();
        started.stack.stop()?;
        self.steps.push(Step { name: "stop the stack".to_string(), took_s: begun.elapsed().as_secs_f64() });
        Ok(())
    }

    /// Removes everything.
    pub fn close(self) -> Result<()> {
        let left = self.fleet.map_or(Ok(()), StandingFleet::close);
        let Some(Started { stack, lab, stressors }) = self.started else { return left };
        drop(stack);
        let closed = lab.close();
        stressors.into_iter().for_each(Running::reap);
        left.and(closed)
    }
}

/// Whether what the kit's check holds users' words against is in a database, and not to be had over HTTP alone.
pub(crate) fn checks_a_database(kit: &KitManifest) -> bool {
    kit.needs.iter().any(|need| need == "sql")
}

/// Builds what the plan builds and makes its data set if nobody has yet, in a lab of their own; nothing of it stands
/// afterwards.
pub(crate) fn make_data(
    plan: &Plan,
    id: &str,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<()> {
    check_packages(plan, env.catalogue, env.home)?;
    let lab = open_lab(id, env)?;
    let made = product::ensure(plan, &lab, steps, env).and_then(|built| {
        let ground = Ground { plan, lab: &lab, built: &built.servers };
        let whole = dataset::ensure(ground, steps, env)?;
        let (snapshots, _) = shards::snapshots(ground, whole, steps, env)?;
        let mut files = file_set::ensure(ground, (id, page_cache::use_of_set(plan)), false, steps, env)?;
        let base = Base { snapshots, files: files.as_mut(), built: built.application.as_deref() };
        prepared::ensure(ground, base, steps, env).map(drop)
    });
    lab.close()?;
    made
}

/// Builds what the plan builds if nobody has yet, in a lab of its own.
pub(crate) fn build(plan: &Plan, id: &str, steps: &mut Vec<Step>, env: &mut Environment<'_>) -> Result<()> {
    if product::are_there(plan, env) {
        return Ok(());
    }
    let lab = open_lab(id, env)?;
    let built = product::ensure(plan, &lab, steps, env);
    lab.close()?;
    built.map(drop)
}

/// Refuses what would only come out when hours of building and loading are over: packages that are missing, a network that
/// can't be made, an application that can't be rendered with these settings.
pub(crate) fn refuse(plan: &Plan, catalogue: &Catalogue, home: &Path) -> Result<()> {
    let images = if page_cache::has_cold_names(plan) { testbed::check_images() } else { Ok(()) };
    let checks = [
        check_packages(plan, catalogue, home),
        testbed::check_hosts(plan),
        testbed::check_app(plan, catalogue),
        testbed::check_machine(plan, home),
        images,
    ];
    let found = checks.into_iter().filter_map(|check| check.err());
    Problems::check(found.flat_map(Problems::into_vec).collect())
}

/// What packages the plan's servers, and building them and its application, need that this machine doesn't have.
fn check_packages(plan: &Plan, catalogue: &Catalogue, home: &Path) -> Result<()> {
    let services = Needed::by_plan(plan)?;
    let builds: Vec<&Build> = plan.kit.build.iter().collect();
    let missing = testbed::packages::missing(&services, &builds, home);
    if missing.is_empty() {
        return Ok(());
    }
    let mut list = String::new();
    for one in &missing {
        let _ = write!(list, "\n    {}: {}", one.package, one.why);
    }
    let install = format!(
        "plimsoll doctor --install --kit {} --stack {}{}",
        plan.kit.name,
        plan.stack.name,
        catalogue.option()
    );
    let line = testbed::packages::apt_line(&services, &builds);
    let builds_servers = services.iter().any(|needed| needed.service.build.is_some());
    let why = match (builds.is_empty(), builds_servers) {
        (true, false) => "the stack is made of the real servers",
        (false, false) => "the stack is made of the real servers, and the kit's application is built here",
        (_, true) => "the stack is made of the real servers, and what of it has no package is built here",
    };
    Err(Problem::environment(format!("packages are missing on this machine:{list}"))
        .why(why)
        .remedy(format!("{install}\n    or, as an administrator: {line}"))
        .into())
}

/// The servers' own last words; their files go with the stack.
pub(crate) fn with_logs(problems: Problems, stack: &Stack) -> Problems {
    const LINES: usize = 5;
    let mut words = String::new();
    for tier in stack.tiers() {
        for log in &tier.logs {
            let lines = tier.last_lines(log, LINES);
            if !lines.is_empty() {
                let tail = lines.join("\n    ");
                let _ = write!(words, "\n  {} {}:\n    {tail}", tier.name, tier.relative(log).display());
            }
        }
    }
    problems.with_first(|problem| problem.what.push_str(&words))
}
