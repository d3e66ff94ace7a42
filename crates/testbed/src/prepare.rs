//! Everything that is known before a stack starts: programs found, ports claimed, constraints checked, all files
//! rendered in memory. Nothing is written or started here, and all mistakes are found at once.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use minijinja::Value;
use model::catalogue::kit::Writable;
use model::catalogue::service::Interpreter;
use model::catalogue::setting::Values;
use model::record::plan::PlanTier;
use model::{Catalogue, Plan, Problem, Problems, Result, ServerJob, Setting, units};

use crate::app::{self, AppFiles};
use crate::host::Addresses;
use crate::lab::Site;
use crate::needed::{self, Needed};
use crate::port::Claim;
use crate::program::{self, BuiltServers, Program};
use crate::ready::{Question, Until};
use crate::render::{Common, Own, Reach, Renderer, setting_value};
use crate::{disk, status};

/// Of the memory that is available, what several instances may take: the rest is for what they read and for the others.
const MEMORY_RATIO: f64 = 0.8;

/// A command run before the first start.
#[derive(Debug)]
pub(crate) struct ReadyCommand {
    pub(crate) title: String,
    pub(crate) run: Vec<String>,
    pub(crate) input: Option<String>,
}

impl ReadyCommand {
    /// The same command, to be run at another time.
    pub(crate) fn again(&self) -> ReadyCommand {
        ReadyCommand { title: self.title.clone(), run: self.run.clone(), input: self.input.clone() }
    }
}

/// A program that runs scripts with the settings of a server.
#[derive(Debug, Clone)]
pub(crate) struct ReadyInterpreter {
    pub(crate) name: String,
    pub(crate) run: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
}

/// What is rendered of a plan: its tiers, the application's files, and the words of the kit's `[prepare]`.
pub(crate) struct Prepared {
    pub(crate) tiers: Vec<ReadyTier>,
    pub(crate) app: AppFiles,
    pub(crate) command: Vec<String>,
}

/// A tier, ready to be written and started.
#[derive(Debug)]
pub(crate) struct ReadyTier {
    /// Its instances.
    pub(crate) servers: Vec<ReadyServer>,
    /// What they tell together.
    pub(crate) job: ServerJob,
    /// A commit on one waits until all have it.
    pub(crate) commits_together: bool,
}

/// One instance of a tier's server.
#[derive(Debug)]
pub(crate) struct ReadyServer {
    pub(crate) dir: PathBuf,
    pub(crate) memory_dir: Option<PathBuf>,
    pub(crate) program: Program,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    /// (path relative to `dir`, text).
    pub(crate) files: Vec<(String, String)>,
    pub(crate) inits: Vec<ReadyCommand>,
    pub(crate) settles: Vec<ReadyCommand>,
    pub(crate) interpreters: Vec<ReadyInterpreter>,
    pub(crate) question: Question,
    pub(crate) untils: Vec<Until>,
    /// What its settings are warned of.
    pub(crate) warnings: Vec<String>,
}

/// What of a plan is started, and where.
pub(crate) struct Layout<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) loading: bool,
    /// The directory of the kit's kept file set.
    pub(crate) kept_files: Option<PathBuf>,
    /// The directory of what the kit's application was built into.
    pub(crate) built: Option<PathBuf>,
    /// Those of what its tiers' servers were built into.
    pub(crate) built_servers: &'a BuiltServers,
    /// The stack's directory.
    pub(crate) dir: PathBuf,
    pub(crate) sockets: PathBuf,
    /// Its directory in memory, where the machine has such a file system.
    pub(crate) memory: Option<PathBuf>,
    pub(crate) cpus: Vec<usize>,
    /// The addresses of the instances that have a host of their own.
    pub(crate) hosts: Addresses,
    /// A password for whatever can be reached by more than the lab's user.
    pub(crate) secret: String,
    /// The tiers that are started, in order.
    pub(crate) tiers: Vec<&'a PlanTier>,
    /// The claimed ports of each instance of each of them.
    pub(crate) claims: Vec<Vec<Claim>>,
}

impl Layout<'_> {
    /// What the web tier serves: the application, or without one the file set.
    pub(crate) fn web_root(&self) -> PathBuf {
        match self.file_set() {
            Some(files) if !self.has_root_of_its_own() => files,
            _ => self.dir.join("www"),
        }
    }

    /// Whether a directory is made for the web tier to serve: of an application's files, built or not.
    pub(crate) fn has_root_of_its_own(&self) -> bool {
        self.plan.kit.app.is_some() || self.plan.kit.build.is_some()
    }

    /// The directory of what a tier's server was built into.
    pub(crate) fn built_server(&self, tier: &PlanTier) -> Option<&Path> {
        self.built_servers.get(&tier.name).map(PathBuf::as_path)
    }

    /// The directory of the file set as the servers see it.
    pub(crate) fn file_set(&self) -> Option<PathBuf> {
        self.own_files().or_else(|| self.kept_files.clone())
    }

    /// The run's own directory of links or copies, where the kit's runs write into the file set.
    pub(crate) fn own_files(&self) -> Option<PathBuf> {
        let writes = self.writable() != Writable::No;
        (writes && self.kept_files.is_some()).then(|| self.dir.join("files"))
    }

    /// What servers may do to the files of the set.
    pub(crate) fn writable(&self) -> Writable {
        self.plan.kit.file_set.as_ref().map_or(Writable::No, |set| set.writable)
    }

    pub(crate) fn reach(&self) -> BTreeMap<String, Vec<Reach>> {
        let of_tier = |(tier, claims): (&&PlanTier, &Vec<Claim>)| {
            let reach = |(instance, claim): (usize, &Claim)| {
                let socket = |name: &String| {
                    // Two tiers may have the same service.
                    let file = format!("{}-{}.sock", tier.name, numbered(name, instance));
                    (name.clone(), self.sockets.join(file))
                };
                Reach {
                    own_host: self.hosts.get(&tier.name).and_then(|all| all.get(instance)).copied(),
                    loopback: claim.at.unwrap_or(Ipv4Addr::LOCALHOST),
                    ports: claim.ports.clone(),
                    sockets: tier.service.sockets.iter().map(socket).collect(),
                    user: tier.service.database.as_ref().map(|database| database.user.clone()),
                }
            };
            (tier.name.clone(), claims.iter().enumerate().map(reach).collect())
        };
        self.tiers.iter().zip(&self.claims).map(of_tier).collect()
    }

    /// Renders all tiers, and what is the application's unless a data set is being loaded.
    pub(crate) fn prepare(&self, site: &Site) -> Result<Prepared> {
        let renderer = Renderer::new(self.catalogue)?;
        let reach = self.reach();
        let (web_root, file_set) = (self.web_root(), self.file_set());
        let common = Common {
            plan: self.plan,
            reach: &reach,
            web_root: &web_root,
            file_set: file_set.as_deref(),
            uid: site.owner.uid,
            secret: &self.secret,
            cpus: self.cpus.len(),
            memory_bytes: available_memory_bytes(),
            loading: self.loading,
        };
        let mut problems = Vec::new();
        let mut tiers = Vec::new();
        for index in 0..self.tiers.len() {
            match self.tier(index, site, &renderer, &common) {
                Ok(tier) => tiers.push(tier),
                Err(found) => problems.extend(found.into_vec()),
            }
        }
        let (mut app, mut command) = (Vec::new(), Vec::new());
        if !self.loading {
            let context = common.for_app();
            match app::files(self.plan, self.catalogue, &renderer, &context) {
                Ok(files) => app = files,
                Err(found) => problems.extend(found.into_vec()),
            }
            match app::command(self.plan, &renderer, &context) {
                Ok(words) => command = words,
                Err(found) => problems.extend(found.into_vec()),
            }
        }
        Problems::check(problems)?;
        Ok(Prepared { tiers, app, command })
    }

    fn tier(&self, index: usize, site: &Site, renderer: &Renderer, common: &Common<'_>) -> Result<ReadyTier> {
        let (mut servers, mut jobs) = (Vec::new(), Vec::new());
        for instance in 0..self.claims[index].len() {
            let (server, job) = self.server((index, instance), site, renderer, common)?;
            servers.push(server);
            jobs.push(job);
        }
        self.check_memory(index, renderer, common)?;
        let several = servers.len() > 1;
        let commits_together = several && needed::commits_together(self.tiers[index], &self.plan.kit)?;
        Ok(ReadyTier { servers, job: status::merged(jobs), commits_together })
    }

    /// Refuses more instances than there is memory for.
    fn check_memory(&self, index: usize, renderer: &Renderer, common: &Common<'_>) -> Result<()> {
        let (tier, count) = (self.tiers[index], self.claims[index].len() as u64);
        let Some(expression) = tier.service.instances.memory.as_ref().filter(|_| count > 1) else {
            return Ok(());
        };
        let file = format!("{}/service.toml", tier.folder);
        let knobs = tier.values.iter().map(|(name, value)| (Setting::variable(name), setting_value(value)));
        let value = renderer.worked_out(&file, "instances.memory", expression, &Value::from_pairs(knobs))?;
        let each = f64::try_from(value).unwrap_or(0.0).max(1.0) as u64;
        let room = (common.memory_bytes as f64 * MEMORY_RATIO) as u64;
        if each.saturating_mul(count) <= room {
            return Ok(());
        }
        let (all, there) =
            (units::show_bytes(each.saturating_mul(count)), units::show_bytes(common.memory_bytes));
        let what = format!(
            "{count} instances of {} take about {all} of memory, and {there} are available",
            tier.service.title
        );
        let fits = (room / each).max(1);
        let remedy = format!("--set {}.instances={fits}, or settings with which each takes less", tier.name);
        let why = "a machine that is short of memory measures its disk";
        Err(Problem::environment(what).tier(&tier.name).why(why).remedy(remedy).into())
    }

    fn server(
        &self,
        (index, instance): (usize, usize),
        site: &Site,
        renderer: &Renderer,
        common: &Common<'_>,
    ) -> Result<(ReadyServer, ServerJob)> {
        let tier = self.tiers[index];
        let name = numbered(&tier.name, instance);
        let dir = self.dir.join(&name);
        let memory_dir = self.memory.as_ref().map(|memory| memory.join(&name));
        let mut rendering = Rendering::new(self.catalogue, tier, renderer);
        let needed = Needed::by_tier(tier, &self.plan.kit);
        let program = needed.and_then(|needed| {
            let roots = program::unpacked_roots(&needed, &site.home);
            Ok((program::of_service(&needed, self.built_server(tier), &site.home)?, roots, needed.loads()))
        });
        let (program, roots, loads) = program.unwrap_or_else(|found| {
            rendering.problems.extend(found.into_vec().into_iter().map(|problem| problem.tier(&tier.name)));
            (Program { path: PathBuf::new(), root: PathBuf::new() }, BTreeMap::new(), Vec::new())
        });
        let own = |values| Own {
            tier,
            values,
            instance,
            dir: &dir,
            memory_dir: memory_dir.as_deref(),
            program: &program.path,
            program_root: &program.root,
            built: self.built_server(tier),
            loads: &loads,
            roots: &roots,
        };
        let values = rendering.loading_values(self.loading, &common.for_tier(&own(&tier.values)));
        let context = common.for_tier(&own(&values));
        let warnings = rendering.check_constraints(&context);
        let service = &tier.service;
        let files = service
            .templates
            .iter()
            .map(|file| (file.to.clone(), rendering.file(&file.from, &context)))
            .collect();
        let args = service.program.args.iter().map(|text| rendering.line("program.args", text, &context));
        // One that is there under a condition only.
        let args = args.filter(|arg| !arg.is_empty()).collect();
        let env = service.program.env.iter();
        let env =
            env.map(|(name, text)| (name.clone(), rendering.line("program.env", text, &context))).collect();
        let inits = rendering.commands(&service.inits, &context);
        let interpreters = rendering.interpreters(&service.interpreters, &context);
        let settles = match &service.database {
            Some(database) if self.loading => database.settles.as_slice(),
            _ if self.loading => &[],
            _ => &service.files_settles,
        };
        let settles = rendering.commands(settles, &context);
        let empty = Reach::default();
        let reach = common.reach.get(&tier.name).and_then(|all| all.get(instance)).unwrap_or(&empty);
        let question = Question::new(&service.ready, service.ports.first(), reach).map_err(|what| {
            Problem::recipe(format!("{} can't be probed: {what}", service.name))
                .file(&rendering.manifest)
                .key("ready")
        })?;
        let job = rendering.keep(status::resolve(renderer, tier, reach, &context));
        let untils = rendering.keep(Until::all(tier, renderer, reach, &context));
        Problems::check(rendering.problems)?;
        let server = ReadyServer {
            dir,
            memory_dir,
            program,
            args,
            env,
            files,
            inits,
            settles,
            interpreters,
            question,
            untils,
            warnings,
        };
        Ok((server, job))
    }
}

/// Renders one service's texts and collects the mistakes.
struct Rendering<'a> {
    catalogue: &'a Catalogue,
    tier: &'a PlanTier,
    renderer: &'a Renderer,
    manifest: String,
    problems: Vec<Problem>,
}

impl<'a> Rendering<'a> {
    fn new(catalogue: &'a Catalogue, tier: &'a PlanTier, renderer: &'a Renderer) -> Rendering<'a> {
        let manifest = format!("{}/service.toml", tier.folder);
        Rendering { catalogue, tier, renderer, manifest, problems: Vec::new() }
    }

    fn keep<T: Default>(&mut self, result: Result<T>) -> T {
        result.unwrap_or_else(|found| {
            self.problems.extend(found.into_vec().into_iter().map(|problem| problem.tier(&self.tier.name)));
            T::default()
        })
    }

    /// The knobs in force; while loading, `[database.load]` wins. Its values may be templates.
    fn loading_values(&mut self, loading: bool, context: &Value) -> Values {
        let mut values = self.tier.values.clone();
        let Some(database) = self.tier.service.database.as_ref().filter(|_| loading) else { return values };
        for (name, value) in &database.load {
            match self.loading_value(name, value, context) {
                Ok(value) => _ = values.insert(name.clone(), value),
                Err(found) => self.problems.extend(found.into_vec()),
            }
        }
        values
    }

    fn loading_value(&self, name: &str, value: &model::Value, context: &Value) -> Result<model::Value> {
        let key = format!("database.load.{name}");
        let wrong = |what: String| Problem::recipe(what).file(&self.manifest).key(&key);
        let knob = self.tier.service.knobs.iter().find(|knob| knob.name == *name);
        let knob = knob.ok_or_else(|| wrong(format!("there is no knob `{name}`")))?;
        Ok(match value {
            model::Value::Text(text) => {
                knob.read(&self.renderer.text(&self.manifest, text, context)?).map_err(wrong)?
            }
            other => knob.accept(other).map_err(wrong)?,
        })
    }

    /// Also what is only warned of.
    fn check_constraints(&mut self, context: &Value) -> Vec<String> {
        let mut warnings = Vec::new();
        for constraint in &self.tier.service.constraints {
            let held = self.renderer.holds(&self.manifest, &constraint.must, context);
            if !matches!(held, Ok(true)) {
                let said =
                    held.and_then(|_| self.renderer.text(&self.manifest, &constraint.else_say, context));
                if let (true, Ok(what)) = (constraint.warns, &said) {
                    warnings.push(format!("tier {}: {what}", self.tier.name));
                    continue;
                }
                self.problems.extend(said.map_or_else(Problems::into_vec, |what| {
                    let remedy = format!("settings for which this holds: {}", constraint.must);
                    vec![Problem::recipe(what).key(format!("set.{}", self.tier.name)).remedy(remedy)]
                }));
            }
        }
        warnings
    }

    fn file(&mut self, from: &str, context: &Value) -> String {
        let name = format!("{}/{from}", self.tier.folder);
        let result = self.catalogue.text(&name).and_then(|text| self.renderer.text(&name, text, context));
        self.keep(result)
    }

    /// A string of the manifest itself; the line that a template's mistake names would be a line of that string.
    fn line(&mut self, key: &str, text: &str, context: &Value) -> String {
        let name = format!("{}: {key}", self.manifest);
        let result = self.renderer.text(&name, text, context);
        self.keep(result)
    }

    /// Those that there are with the knobs in force.
    fn interpreters(&mut self, all: &[Interpreter], context: &Value) -> Vec<ReadyInterpreter> {
        let mut ready = Vec::new();
        for one in all {
            let there = one.when.as_ref().map_or(Ok(true), |when| {
                let value = self.renderer.worked_out(&self.manifest, "interpreter.when", when, context);
                value.map(|value| value.is_true())
            });
            if !self.keep(there) {
                continue;
            }
            let run = one.run.iter().map(|text| self.line("interpreter.run", text, context)).collect();
            let env = one.env.iter();
            let env = env.map(|(name, text)| (name.clone(), self.line("interpreter.env", text, context)));
            let env = env.collect();
            ready.push(ReadyInterpreter { name: one.name.clone(), run, env });
        }
        ready
    }

    fn commands(
        &mut self,
        commands: &[model::catalogue::service::Command],
        context: &Value,
    ) -> Vec<ReadyCommand> {
        let mut ready = Vec::new();
        for command in commands {
            let run = command.run.iter().map(|text| self.line("run", text, context)).collect();
            let input = command.input.as_ref().map(|from| self.file(from, context));
            ready.push(ReadyCommand { title: command.title.clone(), run, input });
        }
        ready
    }
}

/// 128 random bits.
pub(crate) fn draw_secret() -> Result<String> {
    let (mut bytes, source) = ([0_u8; 16], Path::new("/dev/urandom"));
    let read = fs::File::open(source).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| disk::failed("read", source, &error))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What the kernel thinks can be used without swapping; 1 GiB where it does not say.
pub fn available_memory_bytes() -> u64 {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map_or(1 << 30, |kilobytes| kilobytes * 1024)
}

/// What something of an instance is called: that of the first has the plain name, that of the second `NAME-2`.
pub fn numbered(name: &str, instance: usize) -> String {
    if instance == 0 { name.to_string() } else { format!("{name}-{}", instance + 1) }
}

/// The path of a rendered file, for messages.
pub(crate) fn main_file(tier: &ReadyServer) -> Option<&Path> {
    tier.files.first().map(|(path, _)| Path::new(path))
}
