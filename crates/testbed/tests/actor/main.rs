//! A tool for the integration tests to kill: it opens a lab, starts processes that try to escape, and waits.
//!
//! `testbed-actor keeper …` and `testbed-actor switch …` are its hidden verbs; `hold`, `panic`, `stack` and `far` HOME ID (group|ledger) hold a lab.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use model::{Problem, Problems};
use rustix::process::{Resource, Rlimit};
use testbed::{BuiltServers, Detached, KeeperCommand, Lab, LabOptions, Launch, Snapshots, StartOptions};

#[path = "../it/tiny.rs"]
mod tiny;

fn main() -> Result<(), Problems> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["keeper", ..] => testbed::keeper::run(&args[1..]),
        ["switch", ..] => {
            let words: Vec<std::ffi::OsString> = args[1..].iter().map(Into::into).collect();
            let ports = testbed::switch::SwitchPort::read_all(&words)?;
            testbed::switch::run(&ports, std::io::stdin(), std::io::stdout().lock())
        }
        ["hold", home, id, mode] => hold(&open(home, id, mode == "group")?),
        ["panic", home, id, mode] => {
            let lab = open(home, id, mode == "group")?;
            hold(&lab)?;
            panic!("as asked")
        }
        ["stack", home, id, mode] => stack(&open(home, id, mode == "group")?, false),
        ["far", home, id, mode] => stack(&open(home, id, mode == "group")?, true),
        ["read"] => testbed::page_cache::read(std::io::stdin().lock(), std::io::stdout().lock())
            .map_err(|error| wrong(error).into()),
        ["lasting", folder, script] => lasting(folder, script),
        ["copy", from, to, limit] => copy(Path::new(from), Path::new(to), limit),
        _ => Err(Problem::bug("keeper, switch, hold, panic, stack, far, read, lasting or copy").into()),
    }
}

fn wrong(error: impl ToString) -> Problem {
    Problem::bug(error.to_string())
}

/// Says where everything is, then waits to be killed, or until its standard input ends.
fn say_and_wait(lab: &Lab, pid: u32) -> Result<(), Problems> {
    let dir = lab.dir().display();
    let group = lab.cgroup().map(|path| path.display().to_string()).unwrap_or_default();
    let memory = lab.memory_dir().map(|path| path.display().to_string()).unwrap_or_default();
    let (keeper, uid) = (lab.keeper_pid().unwrap_or(0), lab.uid());
    let line = format!("{pid}\t{keeper}\t{dir}\t{group}\t{uid}\t{memory}\n");
    std::io::stdout().write_all(line.as_bytes()).map_err(wrong)?;
    std::io::stdin().read_to_end(&mut Vec::new()).map_err(wrong)?;
    Ok(())
}

fn open(home: &str, id: &str, cgroups: bool) -> Result<Lab, Problems> {
    let keeper =
        KeeperCommand { program: std::env::current_exe().map_err(wrong)?, args: vec!["keeper".into()] };
    let switch = KeeperCommand { args: vec!["switch".into()], ..keeper.clone() };
    Lab::open(&LabOptions { home: Path::new(home), id, keeper, switch, cgroups })
}

/// A real stack, its database on a host of its own or not.
fn stack(lab: &Lab, far: bool) -> Result<(), Problems> {
    let mut catalogue = tiny::catalogue();
    if far {
        tiny::lay_far(&mut catalogue);
    }
    let set: &[(&str, &str)] = if far { &tiny::FAR } else { &[] };
    let plan = tiny::plan(&catalogue, "apache-event-fpm-mariadb", set);
    let mut stack = lab.start(StartOptions {
        plan: &plan,
        catalogue: &catalogue,
        snapshots: &Snapshots::new(),
        file_set: None,
        built: None,
        built_servers: &BuiltServers::new(),
        loading: None,
        web_port: None,
        keep_failed: &lab.home().join("failed"),
        ask: &|_, _| None,
        cancel: &|| false,
        on_step: &mut |_| {},
    })?;
    // Where it can be done: what it makes must go too.
    _ = stack.set_cpu_quota("db", Some(0.5));
    say_and_wait(lab, stack.tiers()[0].pid)
}

/// Starts a process that outlives this one, and says which it is.
fn lasting(folder: &str, script: &str) -> Result<(), Problems> {
    let (program, args) = (PathBuf::from("/bin/sh"), vec!["-c".into(), script.into()]);
    let detached = Detached { program, args, env: Vec::new(), dir: folder.into(), outputs: folder.into() };
    serde_json::to_writer(std::io::stdout(), &detached.start_lasting()?).map_err(wrong)?;
    Ok(())
}

/// Copies with a limit on the size of files, the nearest thing to a full disk that needs no privilege.
fn copy(from: &Path, to: &Path, limit: &str) -> Result<(), Problems> {
    let limit = Some(limit.parse().map_err(wrong)?);
    rustix::process::setrlimit(Resource::Fsize, Rlimit { current: limit, maximum: limit }).map_err(wrong)?;
    // SAFETY: ignoring a signal installs no handler. Without it, the limit would end this process.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    match testbed::snapshot::copy(from, to, &[]) {
        Ok(_) => Ok(()),
        Err(problems) => {
            std::io::stdout().write_all(problems.to_string().as_bytes()).map_err(wrong).map_err(Into::into)
        }
    }
}

/// A process tree that tries to get away: a child in a session of its own whose parent has died (a double fork), a
/// plain child, and one that ignores TERM.
const ESCAPE: &str = "\
    setsid sh -c '(trap \"\" TERM; echo $$ > escaped; exec sleep 1000) & exit' ; \
    sh -c 'trap \"\" TERM HUP; sleep 1000 & wait' & \
    trap '' TERM; echo started > started; while :; do sleep 1000 & wait $!; done";

fn hold(lab: &Lab) -> Result<(), Problems> {
    let running = lab.launch(&Launch {
        tier: "web".to_string(),
        program: PathBuf::from("/bin/sh"),
        args: vec!["-c".into(), ESCAPE.into()],
        env: Vec::new(),
        dir: lab.dir().to_path_buf(),
        input: None,
        output: lab.dir().join("output"),
        cpus: Vec::new(),
    })?;
    say_and_wait(lab, running.identity.pid)
}
