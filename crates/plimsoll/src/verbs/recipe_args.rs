//! The flags that describe a run: shared by run, try, up and check.

use std::path::Path;

use clap::Args;
use model::catalogue::load::{Arriving, Pattern};
use model::catalogue::setting::{Value, Values};
use model::catalogue::topology_file::MAX_GUESTS;
use model::{Catalogue, Plan, Problem, Problems, Recipe, Result, document};

use crate::context::Context;
use runner::cpus;
use runner::progress::Progress;

/// What to run, and how.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RecipeArgs {
    /// A kit's name, or a recipe file (FILE.toml)
    #[arg(value_name = "KIT|RECIPE.toml")]
    pub(crate) kit: String,
    #[command(flatten)]
    pub(crate) stack: StackArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

/// What serves, what it serves, and what is asked of it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StackArgs {
    /// The stack, by name (`plimsoll list` shows them)
    #[arg(long)]
    pub(crate) stack: Option<String>,
    /// The hosts that its tiers are on, or the guests that have a stack each, by the topology's name (`plimsoll list`
    /// shows them)
    #[arg(long, value_name = "NAME")]
    pub(crate) topology: Option<String>,
    /// How many guests share the load, each with a whole copy of the stack and of its data: as large as the topology's
    /// one, or without a limit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_GUESTS)))]
    pub(crate) guests: Option<u32>,
    /// The data set's size: a name such as small, bytes such as 30mb, or its numbers: items=1000,browsers=20
    /// (`plimsoll list KIT` shows them)
    #[arg(long)]
    pub(crate) size: Option<String>,
    /// One of the kit's mixes instead of its own, which is called default
    #[arg(long, value_name = "NAME")]
    pub(crate) mix: Option<String>,
    /// Seed of all random draws: two runs with the same seed send the same requests
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// A QoS target instead of the kit's, or a preset such as tpcw; may be given several times: 'p95 < 2s',
    /// 'Browse p99 < 300ms', 'errors < 0.1%', 'throughput > 200/s', 'waiting over 4s < 1%'
    #[arg(long, value_name = "TARGET")]
    pub(crate) qos: Vec<String>,
    /// A knob of a tier or service, or a setting of any tier; may be given several times:
    /// apache.MaxRequestWorkers=64, db.cgroup.cpu=0.5, db.net.host=own
    #[arg(long, value_name = "TIER.KNOB=VALUE")]
    pub(crate) set: Vec<String>,
    /// A parameter of the kit; may be given several times: n_searches=5
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) param: Vec<String>,
    /// Drive a server that somebody else started, such as http://127.0.0.1:8080, instead of a stack; no tier is
    /// watched, and no database is checked
    #[arg(long, value_name = "URL", conflicts_with_all = ["stack", "topology", "guests", "set", "port"])]
    pub(crate) target: Option<String>,
    /// The web tier's TCP port instead of a free one
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// How arrivals follow each other: at random (poisson, the default) or evenly (constant)
    #[arg(long, value_name = "PATTERN", value_parser = ["poisson", "constant"])]
    pub(crate) arrivals: Option<String>,
    /// What arrives: new users with their sessions (the default), or operations for users who stay
    #[arg(long, value_name = "WHAT", value_parser = ["sessions", "operations"])]
    pub(crate) arriving: Option<String>,
    /// How long a user lives before a new one takes its place: 15min, '20 operations', '3 sessions'
    #[arg(long, value_name = "LIFETIME")]
    pub(crate) lifetime: Option<String>,
    /// Whether users' caches take what doesn't say for how long it is fresh to be so for a while, as browsers do, instead of as
    /// the kit says: on or off
    #[arg(long, value_name = "on|off", value_parser = ["on", "off"])]
    pub(crate) heuristic_freshness: Option<String>,
    /// Inject a fault of the catalogue on purpose; what it needs of stack, load and settings is the default
    #[arg(long, value_name = "NAME", conflicts_with = "target")]
    pub(crate) fault: Option<String>,
    /// Kill a server in the middle of the run; may be given several times: db-3@10s is the third instance of the tier db,
    /// 10 s after the steady state began
    #[arg(long, value_name = "SERVER@TIME", conflicts_with = "target")]
    pub(crate) kill: Vec<String>,
    /// Cut the host of a server off from all others for a while; may be given several times: db-3@10s..15s (it takes
    /// --set db.net.host=own)
    #[arg(long, value_name = "SERVER@FROM..TO", conflicts_with = "target")]
    pub(crate) cut: Vec<String>,
}

/// How much load, and for how long.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LoadArgs {
    /// Emulated users; with --rate the most that may be there at once
    #[arg(long, short)]
    pub(crate) users: Option<u32>,
    /// Arrivals instead of a number of users: 200/s, or 50:400/s for a rate that rises over the steady state
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<String>,
    /// Length of the ramp-up, in which the users start evenly
    #[arg(long, value_name = "TIME")]
    pub(crate) ramp_up: Option<String>,
    /// Length of the steady state, the only phase that counts
    #[arg(long, visible_alias = "duration", value_name = "TIME")]
    pub(crate) steady: Option<String>,
    /// Length of the ramp-down
    #[arg(long, value_name = "TIME")]
    pub(crate) ramp_down: Option<String>,
}

impl RecipeArgs {
    /// The recipe, from a file or from the flags; flags win over the file.
    pub(crate) fn recipe(&self) -> Result<(Recipe, Option<String>)> {
        let (mut recipe, file) = named(&self.kit)?;
        self.load.lay_over(&mut recipe);
        self.stack.lay_over(&mut recipe)?;
        Ok((recipe, file))
    }

    /// The plan on this machine.
    pub(crate) fn plan(&self, context: &Context) -> Result<Resolved> {
        self.plan_of(context, |_| {})
    }

    /// The same with a change to the recipe that a verb's own flags make.
    pub(crate) fn plan_of(&self, context: &Context, change: impl FnOnce(&mut Recipe)) -> Result<Resolved> {
        let (mut recipe, file) = self.recipe()?;
        change(&mut recipe);
        let recipe = with_fault(recipe, &context.catalogue)?;
        let mut catalogue = context.catalogue.clone();
        if let Some(fault) = &recipe.fault {
            catalogue.fault(fault)?.patch(&mut catalogue)?;
        }
        let plan = Plan::resolve(&recipe, file.as_deref(), &catalogue, &cpus::allowed())?;
        Ok(Resolved { recipe, plan, catalogue })
    }
}

/// A recipe and what became of it.
pub(crate) struct Resolved {
    pub(crate) recipe: Recipe,
    pub(crate) plan: Plan,
    /// The context's, patched as the recipe's fault says.
    pub(crate) catalogue: Catalogue,
}

impl StackArgs {
    /// The flags that were given.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let given = [
            ("--stack", self.stack.is_some()),
            ("--topology", self.topology.is_some()),
            ("--guests", self.guests.is_some()),
            ("--size", self.size.is_some()),
            ("--mix", self.mix.is_some()),
            ("--seed", self.seed.is_some()),
            ("--qos", !self.qos.is_empty()),
            ("--set", !self.set.is_empty()),
            ("--param", !self.param.is_empty()),
            ("--target", self.target.is_some()),
            ("--port", self.port.is_some()),
            ("--arrivals", self.arrivals.is_some()),
            ("--arriving", self.arriving.is_some()),
            ("--lifetime", self.lifetime.is_some()),
            ("--heuristic-freshness", self.heuristic_freshness.is_some()),
            ("--fault", self.fault.is_some()),
            ("--kill", !self.kill.is_empty()),
            ("--cut", !self.cut.is_empty()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
    }

    /// Puts what was given in the place of what the recipe says.
    pub(crate) fn lay_over(&self, recipe: &mut Recipe) -> Result<()> {
        override_with(&mut recipe.stack, &self.stack);
        override_with(&mut recipe.target, &self.target);
        override_with(&mut recipe.topology, &self.topology);
        override_with(&mut recipe.size, &self.size);
        override_with(&mut recipe.mix, &self.mix);
        override_with(&mut recipe.lifetime, &self.lifetime);
        override_with(&mut recipe.fault, &self.fault);
        if !self.kill.is_empty() {
            recipe.kill.clone_from(&self.kill);
        }
        if !self.cut.is_empty() {
            recipe.cut.clone_from(&self.cut);
        }
        recipe.arrivals = self.arrivals.as_deref().map(pattern).or(recipe.arrivals);
        recipe.arriving = self.arriving.as_deref().map(arriving).or(recipe.arriving);
        let freshness = self.heuristic_freshness.as_deref().map(|word| word == "on");
        recipe.heuristic_freshness = freshness.or(recipe.heuristic_freshness);
        recipe.guests = self.guests.or(recipe.guests);
        recipe.seed = self.seed.or(recipe.seed);
        recipe.port = self.port.or(recipe.port);
        if !self.qos.is_empty() {
            recipe.qos.clone_from(&self.qos);
        }
        let mut problems = Vec::new();
        recipe.set.extend(pairs("--set", &self.set, &mut problems));
        recipe.param.extend(pairs("--param", &self.param, &mut problems));
        Problems::check(problems)
    }
}

impl LoadArgs {
    fn lay_over(&self, recipe: &mut Recipe) {
        override_with(&mut recipe.ramp_up, &self.ramp_up);
        override_with(&mut recipe.steady, &self.steady);
        override_with(&mut recipe.ramp_down, &self.ramp_down);
        override_with(&mut recipe.rate, &self.rate);
        recipe.users = self.users.or(recipe.users);
    }
}

fn override_with(place: &mut Option<String>, given: &Option<String>) {
    if given.is_some() {
        place.clone_from(given);
    }
}

/// The recipe, with what it leaves open as its fault needs it.
pub(crate) fn with_fault(recipe: Recipe, catalogue: &Catalogue) -> Result<Recipe> {
    match &recipe.fault {
        Some(name) => {
            let defaults = catalogue.fault(name)?.recipe;
            Ok(recipe.or(&defaults))
        }
        None => Ok(recipe),
    }
}

/// The recipe of a kit's name or of a file, and that file.
pub(crate) fn named(kit: &str) -> Result<(Recipe, Option<String>)> {
    if kit.ends_with(".toml") {
        return Ok((read_recipe(Path::new(kit))?, Some(kit.to_string())));
    }
    Ok((Recipe { format: 1, kit: kit.to_string(), ..Recipe::default() }, None))
}

/// What a study decides itself, whatever a recipe says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    /// The load, and how long it lasts.
    Load,
    /// How long it lasts.
    Phases,
}

/// The recipe without what is decided otherwise; what its file says of that is told to be left out.
pub(crate) fn without_load(
    recipe: Recipe,
    file: Option<&str>,
    decided: Decided,
    context: &mut Context,
) -> Recipe {
    let load = decided == Decided::Load;
    let given = [
        ("users", load && recipe.users.is_some()),
        ("rate", load && recipe.rate.is_some()),
        ("stage", !recipe.stages.is_empty()),
        ("ramp_up", recipe.ramp_up.is_some()),
        ("steady", recipe.steady.is_some()),
        ("ramp_down", recipe.ramp_down.is_some()),
        ("sessions", recipe.sessions.is_some()),
    ];
    let given: Vec<&str> = given.into_iter().filter(|(_, given)| *given).map(|(key, _)| key).collect();
    if let (Some(file), false) = (file, given.is_empty()) {
        let why = if load { "the load is found" } else { "every trial has a window of its own" };
        context.console.note(&format!("{file}: {} not used: {why}", given.join(", ")));
    }
    let (users, rate) = if load { (None, None) } else { (recipe.users, recipe.rate.clone()) };
    let stages = Vec::new();
    Recipe { users, rate, stages, ramp_up: None, steady: None, ramp_down: None, sessions: None, ..recipe }
}

/// What `--arrivals` says.
pub(crate) fn pattern(word: &str) -> Pattern {
    if word == "constant" { Pattern::Constant } else { Pattern::Poisson }
}

fn arriving(word: &str) -> Arriving {
    if word == "operations" { Arriving::Operations } else { Arriving::Sessions }
}

fn read_recipe(path: &Path) -> Result<Recipe> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Problem::recipe(format!("failed to read the recipe: {error}"))
            .file(&name)
            .remedy("a recipe is a file such as: format = 1, kit = \"dvdstore\", users = 20")
    })?;
    document::read(&name, &text)
}

fn pairs(flag: &str, texts: &[String], problems: &mut Vec<Problem>) -> Values {
    let mut values = Values::new();
    for text in texts {
        match text.split_once('=') {
            Some((name, value)) => {
                values.insert(name.trim().to_string(), Value::Text(value.trim().to_string()));
            }
            None => problems.push(
                Problem::recipe(format!("`{text}` is not of the form name=value"))
                    .key(flag)
                    .remedy(format!("{flag} name=value")),
            ),
        }
    }
    values
}
