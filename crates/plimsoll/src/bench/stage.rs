//! Standing a plan up: leftovers swept, packages checked, data at hand, every tier ready, the front page answered.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use model::record::{DatasetResult, Step};
use model::{Plan, Problem, Result, ServiceManifest, units};
use testbed::{KeeperCommand, Lab, LabOptions, Stack, StartOptions, StepEvent};

use crate::bench::dataset;
use crate::context::Context;

/// A stack that runs on its data set. Dropping it ends everything.
pub(crate) struct Stage {
    /// The tiers. Declared before the lab: it ends first.
    pub(crate) stack: Stack,
    /// Where users reach it.
    pub(crate) address: SocketAddr,
    /// How its data came to be.
    pub(crate) dataset: Option<DatasetResult>,
    /// What was done, and how long it took.
    pub(crate) steps: Vec<Step>,
    /// Things that the user should know.
    pub(crate) warnings: Vec<String>,
    lab: Lab,
}

impl Stage {
    /// Stands `plan` up; `id` names the lab, `keep_failed` is where a failed start leaves logs and configuration.
    pub(crate) fn set(plan: &Plan, id: &str, keep_failed: PathBuf, context: &mut Context) -> Result<Stage> {
        context.console.step("looking for what earlier runs left");
        let swept = testbed::sweep(&context.home)?;
        if !swept.labs.is_empty() {
            let count = swept.labs.len();
            context.console.note(&format!("removed what {count} killed run(s) had left behind"));
        }
        check_packages(plan, context)?;
        let mut steps = Vec::new();
        let lab = open_lab(id, context)?;
        let data = dataset::ensure(plan, &lab, &mut steps, context)?;
        context.interrupt.check()?;
        let started = Instant::now();
        let (stack, copy_s) = {
            let snapshot = data.as_ref().map(|data| data.path.as_path());
            start(plan, &lab, snapshot, false, &keep_failed, &mut steps, context)?
        };
        let dataset = data.map(|data| DatasetResult { copy_s, ..data.result });
        let address = stack.web_address().ok_or_else(|| {
            Problem::recipe(format!("stack {} has no tier `web` with a port", plan.stack.name))
                .why("the users have nowhere to go")
        })?;
        context.console.step("asking for the front page");
        if let Some(problem) = front_page_problem(address, &plan.kit.front_page, plan.kit.users.timeout_s) {
            return Err(with_logs(problem, &stack).into());
        }
        let took = units::show_seconds(started.elapsed().as_secs_f64());
        context
            .console
            .done(&format!("{} is ready ({took}): http://{address}{}", plan.stack.name, plan.kit.front_page));
        let warnings = stack.tiers().iter().filter_map(|tier| tier.version.warning.clone()).collect();
        Ok(Stage { stack, address, dataset, steps, warnings, lab })
    }

    /// The database server, for checks in SQL.
    pub(crate) fn database(&self, plan: &Plan) -> Option<kit::Server> {
        dataset::server(plan, &self.stack)
    }

    /// Stops the servers in order; their files stay until [`Self::close`].
    pub(crate) fn stop(&mut self) -> Result<()> {
        let started = Instant::now();
        self.stack.stop()?;
        self.steps.push(Step { name: "stop the stack".to_string(), took_s: started.elapsed().as_secs_f64() });
        Ok(())
    }

    /// Removes everything.
    pub(crate) fn close(self) -> Result<()> {
        drop(self.stack);
        self.lab.close()
    }
}

fn open_lab(id: &str, context: &Context) -> Result<Lab> {
    let program = std::env::current_exe()
        .map_err(|error| Problem::environment(format!("failed to find this program: {error}")))?;
    let keeper = KeeperCommand { program, args: vec!["keeper".into()] };
    Lab::open(&LabOptions { home: &context.home, id, keeper, cgroups: true })
}

/// Starts the plan's tiers (or, to load, its database alone); also says how long the copy of the data took.
pub(crate) fn start(
    plan: &Plan,
    lab: &Lab,
    snapshot: Option<&std::path::Path>,
    loading: bool,
    keep_failed: &std::path::Path,
    steps: &mut Vec<Step>,
    context: &mut Context,
) -> Result<(Stack, f64)> {
    let mut copy_s = 0.0;
    let (console, interrupt) = (&mut context.console, &context.interrupt);
    let mut on_step = |event: StepEvent| {
        let name = describe(&event, loading);
        match event.took {
            None => console.step(&name),
            Some(took) => {
                if matches!(event.step, testbed::Step::Copy(_)) {
                    copy_s = took.as_secs_f64();
                }
                steps.push(Step { name, took_s: took.as_secs_f64() });
            }
        }
    };
    let stack = lab.start(StartOptions {
        plan,
        catalogue: &context.catalogue,
        data_snapshot: snapshot,
        loading,
        web_port: None,
        keep_failed,
        cancel: &|| interrupt.count() > 0,
        on_step: &mut on_step,
    })?;
    Ok((stack, copy_s))
}

fn describe(event: &StepEvent, loading: bool) -> String {
    let tier = &event.tier;
    match &event.step {
        testbed::Step::Copy(_) => format!("copy the data set for {tier}"),
        testbed::Step::Command(title) => format!("{tier}: {title}"),
        testbed::Step::Start if loading => format!("start {tier} to load"),
        testbed::Step::Start => format!("start {tier}"),
    }
}

fn check_packages(plan: &Plan, context: &Context) -> Result<()> {
    let services: Vec<&ServiceManifest> = plan.tiers.iter().map(|tier| &tier.service).collect();
    let missing = testbed::packages::missing(&services, &context.home);
    if missing.is_empty() {
        return Ok(());
    }
    let mut list = String::new();
    for one in &missing {
        let _ = write!(list, "\n    {}: {}", one.package, one.why);
    }
    let install = format!("plimsoll doctor --install --stack {}", plan.stack.name);
    let line = testbed::packages::apt_line(&services);
    Err(Problem::environment(format!("packages are missing on this machine:{list}"))
        .why("the stack is made of the real servers")
        .remedy(format!("{install}\n    or, as an administrator: {line}"))
        .into())
}

/// Verify before measuring: one plain request must be answered with status 200.
fn front_page_problem(address: SocketAddr, page: &str, timeout_s: f64) -> Option<Problem> {
    let patience = Duration::from_secs_f64(timeout_s.clamp(1.0, 60.0));
    let fetch = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, patience)?;
        stream.set_read_timeout(Some(patience))?;
        write!(stream, "GET {page} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.take(64 * 1024).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let problem = |what: String| {
        Problem::environment(what)
            .tier("web")
            .why("a stack that can't serve its front page can't be measured")
    };
    let answer = match fetch() {
        Ok(answer) => answer,
        Err(error) => return Some(problem(format!("failed to fetch http://{address}{page}: {error}"))),
    };
    let status = answer.lines().next().unwrap_or_default();
    if status.split_whitespace().nth(1) == Some("200") {
        return None;
    }
    let shown: String = answer.chars().take(400).collect();
    Some(problem(format!("http://{address}{page} was not answered with status 200 but with:\n{shown}")))
}

/// The servers' own last words; their files go with the stack.
fn with_logs(mut problem: Problem, stack: &Stack) -> Problem {
    const LINES: usize = 5;
    for tier in stack.tiers() {
        for log in &tier.logs {
            let text = std::fs::read(log).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let lines: Vec<&str> = text.lines().collect();
            if !lines.is_empty() {
                let tail = lines[lines.len().saturating_sub(LINES)..].join("\n    ");
                let _ =
                    write!(problem.what, "\n  {} {}:\n    {tail}", tier.name, tier.relative(log).display());
            }
        }
    }
    problem
}
