//! Starting a stack: tier by tier, each ready before the next begins.

mod failure;
mod handing_over;
mod settle;
mod waiting;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::catalogue::fault_file::Injection;
use model::catalogue::kit::Writable;
use model::catalogue::service::InstanceStart;
use model::record::plan::PlanTier;
use model::{Catalogue, KitManifest, Plan, Problem, Problems, Result};

use crate::app::AppFiles;
use crate::host::Addresses;
use crate::job::{CONSOLE, Job};
use crate::lab::{Lab, Site};
use crate::launch::{Launch, Running};
use crate::port::Claim;
use crate::prepare::{Layout, Prepared, ReadyCommand, ReadyServer, ReadyTier, draw_secret, numbered};
use crate::program::BuiltServers;
use crate::ready::Ask;
use crate::render::Reach;
use crate::stack::{Stack, Tier};
use crate::{delays, disk, links, needed, program, snapshot};

pub use settle::SettledFiles;
use waiting::Outcome;

/// Data directories to start a tier's instances from (from copies of them), by tier: one for each, or one for all. An instance of a
/// tier that has none is initialised.
pub type Snapshots = BTreeMap<String, Vec<PathBuf>>;

/// How often a tier whose free port was taken by somebody else in between is started with another.
const PORT_TRIES: u32 = 5;
/// What is started, and how.
pub struct StartOptions<'a> {
    /// The resolved plan: its tiers are started in order.
    pub plan: &'a Plan,
    /// Where templates and the kit's application come from.
    pub catalogue: &'a Catalogue,
    /// What databases start from, by tier.
    pub snapshots: &'a Snapshots,
    /// The directory of the kit's file set: what templates see as `file_set`, or what its links lead to where a run
    /// writes into it.
    pub file_set: Option<&'a Path>,
    /// What the kit's application was built into: its files are laid into the document root before those of its `app`.
    pub built: Option<&'a Path>,
    /// What the tiers' servers were built into.
    pub built_servers: &'a BuiltServers,
    /// Only one server of this database tier, with the knobs of its `[database.load]`, on all CPUs of the plan: a data set is to be
    /// loaded.
    pub loading: Option<&'a str>,
    /// The web tier's port, instead of the plan's or a free one.
    pub web_port: Option<u16>,
    /// Where the rendered files and logs of a tier that fails to start are kept.
    pub keep_failed: &'a Path,
    /// Asks a server that answers what it tells about itself, where its service says that this decides whether it is ready.
    pub ask: &'a Ask<'a>,
    /// Asked often; `true` ends the start as interrupted.
    pub cancel: &'a dyn Fn() -> bool,
    /// Told about each step when it ends, and about the long ones when they begin.
    pub on_step: &'a mut dyn FnMut(StepEvent),
}

/// A step of a start.
#[derive(Debug, Clone, PartialEq)]
pub struct StepEvent {
    /// The tier.
    pub tier: String,
    /// What is being done, or was.
    pub step: Step,
    /// How long it took; `None` while it has only begun.
    pub took: Option<Duration>,
}

/// What is being done.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The data directory is copied from a snapshot.
    Copy(Option<snapshot::CopyReport>),
    /// Links to the files that runs write into are made, or those of the last run made what they were; or copies of them.
    Files(Writable),
    /// A command of the service's `[[init]]`, `[[database.settle]]` or `[[settle_files]]`, by its title.
    Command(String),
    /// The server starts; it took until the probe was answered.
    Start,
}

impl Lab {
    /// Stands a stack up. It is ready when this returns: each tier's probe was answered.
    ///
    /// # Errors
    /// All mistakes of knobs, templates and missing programs at once, before anything starts; a taken port; then the
    /// first tier that fails, with the last lines of its log and the path of its rendered configuration.
    pub fn start(&self, mut options: StartOptions<'_>) -> Result<Stack> {
        let (mut starting, mut stack) = self.begin(&mut options)?;
        for index in 0..starting.layout.tiers.len() {
            starting.tier(index, &mut stack)?;
        }
        starting.give_to(&mut stack);
        // When all are ready: a start is not what is to be slow.
        if options.loading.is_none() {
            options.plan.injections().iter().try_for_each(|injection| stack.inject(injection))?;
        }
        Ok(stack)
    }

    /// A stack of which nothing runs yet, with the application's files and links to the file set.
    fn begin<'a, 'o>(&'a self, options: &'a mut StartOptions<'o>) -> Result<(Starting<'a, 'o>, Stack)> {
        let instance = self.site.next_instance().to_string();
        let starting = Starting::new(&self.site, options, &instance);
        // What was made for a stack that is refused before there is one.
        let refused = |_: &Problems| _ = self.site.hosts.remove(&instance, &self.site.marker);
        let mut starting = starting.inspect_err(refused)?;
        let mut stack =
            Stack::new(Arc::clone(&self.site), starting.instance.clone(), starting.layout.dir.clone());
        stack.add_directory(starting.layout.sockets.clone());
        starting.layout.memory.iter().for_each(|memory| stack.add_directory(memory.clone()));
        starting.write_app()?;
        Ok((starting, stack))
    }
}

struct Starting<'a, 'o> {
    site: &'a Arc<Site>,
    options: &'a mut StartOptions<'o>,
    instance: String,
    layout: Layout<'o>,
    wanted: Option<u16>,
    ready: Vec<ReadyTier>,
    app: AppFiles,
    /// The words of the kit's `[prepare]`.
    command: Vec<String>,
}

impl<'a, 'o> Starting<'a, 'o> {
    fn new(
        site: &'a Arc<Site>,
        options: &'a mut StartOptions<'o>,
        instance: &str,
    ) -> Result<Starting<'a, 'o>> {
        let plan = options.plan;
        let loading = options.loading.is_some();
        let chosen = |tier: &&PlanTier| options.loading.is_none_or(|name| tier.name == name);
        let tiers: Vec<&PlanTier> = plan.tiers.iter().filter(chosen).collect();
        if tiers.is_empty() {
            let what = format!("stack {} has no database tier to load data into", plan.stack.name);
            return Err(Problem::recipe(what).key("stack").into());
        }
        let wanted = options.web_port.or(plan.port);
        let hosts = if loading { Addresses::new() } else { site.make_hosts(instance, &tiers)? };
        // What is loaded into one is copied for all.
        let instances = |tier: &PlanTier| if loading { 1 } else { tier.instances.max(1) as usize };
        let claims = tiers
            .iter()
            .enumerate()
            .map(|(number, tier)| claims((number, tier), instances(tier), &plan.kit, &hosts, wanted));
        let claims = claims.collect::<Result<Vec<Vec<Claim>>>>()?;
        let mut cpus = plan.placement.stack.clone();
        if loading {
            cpus.extend(plan.placement.generator.iter().filter(|cpu| !plan.placement.stack.contains(cpu)));
        }
        let kept = |path: Option<&Path>| path.filter(|_| !loading).map(Path::to_path_buf);
        let layout = Layout {
            plan,
            kept_files: kept(options.file_set),
            built: kept(options.built),
            built_servers: options.built_servers,
            catalogue: options.catalogue,
            loading,
            dir: site.dir.join(instance),
            sockets: site.sockets.join(instance),
            memory: site.memory.as_ref().map(|memory| memory.join(instance)),
            cpus,
            hosts,
            secret: draw_secret()?,
            tiers,
            claims,
        };
        let Prepared { tiers: ready, app, command } = layout.prepare(site)?;
        Ok(Starting { site, options, instance: instance.to_string(), layout, wanted, ready, app, command })
    }

    fn owner(&self) -> Option<u32> {
        self.site.owner.of_files()
    }

    fn write_app(&mut self) -> Result<()> {
        disk::make_private_dir(&self.layout.dir, self.owner())?;
        disk::make_private_dir(&self.layout.sockets, self.owner())?;
        // When a port was lost this comes a second time.
        let own = self.layout.own_files().filter(|own| !own.is_dir());
        if let (Some(kept), Some(own)) = (self.layout.kept_files.clone(), own) {
            let started = Instant::now();
            let writable = self.layout.writable();
            self.step(0, Step::Files(writable), None);
            match writable {
                Writable::Copy => links::copy_tree(&kept, &own, self.owner())?,
                Writable::Link | Writable::No => links::take_tree(&kept, &own, self.owner())?,
            }
            self.step(0, Step::Files(writable), Some(started.elapsed()));
        }
        let root = self.layout.web_root();
        if !self.layout.has_root_of_its_own() {
            return Ok(());
        }
        if let Some(built) = self.layout.built.as_ref().filter(|_| !root.is_dir()) {
            links::link_tree(built, &root, self.owner())?;
        }
        disk::make_private_dir(&root, self.owner())?;
        self.app.iter().try_for_each(|(path, bytes)| {
            // A link of the same name is to the kept product, which stays as it is.
            disk::write(&root.join(path), bytes, self.owner())
        })
    }

    fn write_tier(&self, index: usize) -> Result<()> {
        self.ready[index].servers.iter().try_for_each(|server| self.write_server(index, server))
    }

    fn write_server(&self, index: usize, server: &ReadyServer) -> Result<()> {
        for folder in ["", "logs", "tmp"] {
            disk::make_private_dir(&server.dir.join(folder), self.owner())?;
        }
        if let (Some(memory), Some(dir)) = (&self.layout.memory, &server.memory_dir) {
            disk::make_private_dir(memory, self.owner())?;
            disk::make_private_dir(dir, self.owner())?;
        }
        let logs = self.layout.tiers[index].service.logs.iter();
        logs.filter_map(|log| Path::new(log).parent())
            .try_for_each(|folder| disk::make_private_dir(&server.dir.join(folder), self.owner()))?;
        server
            .files
            .iter()
            .try_for_each(|(path, text)| disk::write(&server.dir.join(path), text.as_bytes(), self.owner()))
    }

    fn step(&mut self, index: usize, step: Step, took: Option<Duration>) {
        let tier = self.layout.tiers[index].name.clone();
        (self.options.on_step)(StepEvent { tier, step, took });
    }

    /// Starts all instances of one tier and adds it to the stack.
    fn tier(&mut self, index: usize, stack: &mut Stack) -> Result<()> {
        self.write_tier(index)?;
        if !self.layout.loading {
            self.site.limit(&self.instance, self.layout.plan, self.layout.tiers[index])?;
        }
        for instance in 0..self.ready[index].servers.len() {
            self.fill_data(index, instance)?;
        }
        for attempt in 1.. {
            let start = Instant::now();
            self.layout.claims[index].iter_mut().for_each(Claim::release);
            self.step(index, Step::Start, None);
            let mut running = Vec::new();
            let outcome = self.launch_all(index, &mut running);
            // The stack has them now, so that whatever comes next ends them.
            if !running.is_empty() {
                let tier = self.describe(index, &running);
                stack.add(tier, running, self.layout.tiers[index].service.clone());
            }
            match outcome? {
                (Outcome::Ready, _) => {
                    self.step(index, Step::Start, Some(start.elapsed()));
                    return Ok(());
                }
                (Outcome::Ended(_), instance)
                    if self.port_was_taken(index, instance) && attempt < PORT_TRIES =>
                {
                    stack.remove_last()?;
                    self.claim_again(index)?;
                }
                (Outcome::Taken(_), _) if !self.port_was_asked_for(index) && attempt < PORT_TRIES => {
                    stack.remove_last()?;
                    self.claim_again(index)?;
                }
                (Outcome::Ended(status), instance) => {
                    let what = format!("ended with {status} before it was ready");
                    return Err(self.failure(index, instance, &what).into());
                }
                (Outcome::Taken(stranger), instance) => {
                    let port = stranger.port;
                    let what = format!("is not who answers on port {port} of 127.0.0.1: {stranger} took it");
                    return Err(self.failure(index, instance, &what).key("port").into());
                }
                (Outcome::Late(lacking), instance) => {
                    let within_s = self.layout.tiers[index].service.ready.within_s;
                    let lacking = lacking.map(|lacking| format!(": {lacking}")).unwrap_or_default();
                    let what = format!("was not ready within {within_s} s{lacking}");
                    return Err(self.failure(index, instance, &what).into());
                }
            }
        }
        Ok(())
    }

    fn port_was_asked_for(&self, index: usize) -> bool {
        let has = |claim: &Claim, port| claim.ports.values().any(|one| *one == port);
        let claims = &self.layout.claims[index];
        self.wanted.is_some_and(|port| claims.iter().any(|claim| has(claim, port)))
    }

    /// Whether somebody else has a port of the instance that ended; those of others that run are theirs.
    fn port_was_taken(&self, index: usize, instance: usize) -> bool {
        let claim = self.layout.claims[index].get(instance);
        !self.port_was_asked_for(index) && claim.is_some_and(Claim::lost)
    }

    /// Other ports for a tier; what names them is rendered again.
    fn claim_again(&mut self, index: usize) -> Result<()> {
        let (tier, kit) = (self.layout.tiers[index], &self.layout.plan.kit);
        let instances = self.layout.claims[index].len();
        self.layout.claims[index] = claims((index, tier), instances, kit, &self.layout.hosts, None)?;
        let Prepared { tiers, app, command } = self.layout.prepare(self.site)?;
        (self.ready, self.app, self.command) = (tiers, app, command);
        self.write_app()?;
        self.write_tier(index)
    }

    /// A database gets a copy of the snapshot; whatever has nothing runs its `[[init]]` commands.
    fn fill_data(&mut self, index: usize, instance: usize) -> Result<()> {
        let tier = self.layout.tiers[index];
        let dir = self.ready[index].servers[instance].dir.clone();
        if let Some(database) = &tier.service.database {
            let data = dir.join(&database.data_dir);
            let snapshots = self.options.snapshots.get(&tier.name);
            if let Some(from) = snapshots.and_then(|all| all.get(instance).or(all.first())) {
                self.step(index, Step::Copy(None), None);
                let report = snapshot::copy_for(from, &data, &database.leave_out, self.owner())?;
                let took = report.took;
                self.step(index, Step::Copy(Some(report)), Some(took));
                return Ok(());
            }
            disk::make_private_dir(&data, self.owner())?;
        }
        for number in 0..self.ready[index].servers[instance].inits.len() {
            let command = &self.ready[index].servers[instance].inits[number];
            let title = command.title.clone();
            let job = Job::new(self.site, &self.instance, &tier.name, &dir, &self.layout.cpus);
            let start = Instant::now();
            (self.options.on_step)(StepEvent {
                tier: tier.name.clone(),
                step: Step::Command(title.clone()),
                took: None,
            });
            if let Err(what) = job.run(command, self.options.cancel)? {
                return Err(self.failure(index, instance, &what).into());
            }
            self.step(index, Step::Command(title), Some(start.elapsed()));
        }
        Ok(())
    }

    /// Starts all instances of a tier and waits until they are ready; else what became of the first that is not, and which one
    /// that is.
    fn launch_all(&self, index: usize, running: &mut Vec<Running>) -> Result<(Outcome, usize)> {
        let one_by_one = self.layout.tiers[index].service.instances.start == InstanceStart::OneByOne;
        for instance in 0..self.ready[index].servers.len() {
            running.push(self.launch(index, instance)?);
            if one_by_one {
                let outcome = self.wait(index, instance, running)?;
                if !matches!(outcome, Outcome::Ready) {
                    return Ok((outcome, instance));
                }
            }
        }
        // Those that came before see the last one, too.
        self.wait_for_all(index, running)
    }

    fn launch(&self, index: usize, instance: usize) -> Result<Running> {
        let (tier, server) = (self.layout.tiers[index], &self.ready[index].servers[instance]);
        let limits = self.options.plan.injections().iter().filter_map(|injection| match injection {
            Injection::Descriptors { tier: name, limit } if *name == tier.name => Some(*limit),
            _ => None,
        });
        let descriptors = limits.min().filter(|_| !self.layout.loading);
        let delays = self.delays(&tier.name)?;
        let launch = Launch {
            tier: tier.name.clone(),
            program: server.program.path.clone(),
            args: server.args.iter().map(Into::into).collect(),
            env: server.env.iter().chain(&delays).cloned().collect(),
            dir: server.dir.clone(),
            input: None,
            output: server.dir.join(CONSOLE),
            cpus: self.layout.cpus.clone(),
        };
        self.site.launch_with(&launch, (&self.instance, instance), descriptors)
    }

    /// What the environment of the servers of `tier` says where their waits are to be made longer.
    fn delays(&self, tier: &str) -> Result<Vec<(String, String)>> {
        let mut injections = self.options.plan.injections().iter();
        let wanted = injections.any(|one| matches!(one, Injection::Delay { tier: name, .. } if name == tier));
        if self.layout.loading || !wanted {
            return Ok(Vec::new());
        }
        delays::prepare(&self.layout.dir, tier)
    }

    /// What is known of a tier whose first instance was started, at least.
    fn describe(&self, index: usize, running: &[Running]) -> Tier {
        let (tier, ready) = (self.layout.tiers[index], &self.ready[index]);
        let first = &ready.servers[0];
        let reach = self.layout.reach().remove(&tier.name).unwrap_or_default();
        let address = |reach: &Reach| Some(reach.address(*reach.ports.get(tier.service.ports.first()?)?));
        let addresses = reach.iter().filter_map(address).collect();
        let (mut ports, mut sockets) = (BTreeMap::new(), BTreeMap::new());
        for (instance, reach) in reach.into_iter().enumerate() {
            ports.extend(reach.ports.into_iter().map(|(name, port)| (numbered(&name, instance), port)));
            sockets.extend(reach.sockets.into_iter().map(|(name, path)| (numbered(&name, instance), path)));
        }
        let servers = ready.servers.iter();
        let files = servers.flat_map(|one| one.files.iter().map(|(path, _)| one.dir.join(path)));
        Tier {
            name: tier.name.clone(),
            service: tier.service.name.clone(),
            version: program::version(&first.program, &tier.service),
            warnings: first.warnings.clone(),
            pid: running[0].identity.pid,
            pids: running.iter().map(|running| running.identity.pid).collect(),
            cgroup: running[0].cgroup.clone(),
            addresses,
            ports,
            sockets,
            dir: first.dir.clone(),
            built: self.layout.built_server(tier).map(Path::to_path_buf),
            is_built: tier.service.build.is_some(),
            data_dir: tier.service.database.as_ref().map(|database| first.dir.join(&database.data_dir)),
            files: files.collect(),
            logs: (0..ready.servers.len()).flat_map(|instance| self.logs(index, instance)).collect(),
            job: ready.job.clone(),
            commits_together: ready.commits_together,
            background_threads: tier.service.background_threads.clone(),
            event_loop: tier.service.event_loop,
            loop_threads: tier.service.loop_threads.clone(),
            own_host: tier.own_host,
            settles: first.settles.iter().map(ReadyCommand::again).collect(),
            cpus: self.layout.cpus.clone(),
            loading: self.layout.loading,
            secret: self.layout.secret.clone(),
        }
    }

    fn logs(&self, index: usize, instance: usize) -> Vec<PathBuf> {
        let dir = &self.ready[index].servers[instance].dir;
        let own = self.layout.tiers[index].service.logs.iter().map(|log| dir.join(log));
        own.chain([dir.join(CONSOLE)]).collect()
    }
}

/// Ports for each instance of a tier; the one that is asked for is the web tier's first.
fn claims(
    (number, tier): (usize, &PlanTier),
    instances: usize,
    kit: &KitManifest,
    hosts: &Addresses,
    wanted: Option<u16>,
) -> Result<Vec<Claim>> {
    let ports = needed::ports(tier, kit)?;
    let wanted = wanted.filter(|_| tier.name == "web");
    let claim = |instance| match hosts.contains_key(&tier.name) {
        true => Ok(Claim::alone(&ports, (number, instance))),
        false => Claim::new(&ports, wanted.filter(|_| instance == 0), needed::loopback(tier, instance, kit)?),
    };
    (0..instances).map(claim).collect()
}
