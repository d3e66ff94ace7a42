//! A tool for the integration tests to kill: it opens a lab, starts processes that try to escape, and waits.
//!
//! `testbed-actor keeper …` is its hidden verb; `testbed-actor hold HOME ID (group|ledger)` holds a lab.

use std::io::Write;
use std::path::{Path, PathBuf};

use testbed::{KeeperCommand, Lab, LabOptions, Launch};

fn main() -> Result<(), model::Problems> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("keeper") => testbed::keeper::run(&args[1..]),
        Some("hold") => hold(Path::new(&args[1]), &args[2], args[3] == "group"),
        _ => Err(model::Problem::bug("keeper or hold").into()),
    }
}

/// A process tree that tries to get away: a child in a session of its own whose parent has died (a double fork), a
/// plain child, and one that ignores TERM.
const ESCAPE: &str = "\
    setsid sh -c '(trap \"\" TERM; echo $$ > escaped; exec sleep 1000) & exit' ; \
    sh -c 'trap \"\" TERM HUP; sleep 1000 & wait' & \
    trap '' TERM; echo started > started; while :; do sleep 1000 & wait $!; done";

fn hold(home: &Path, id: &str, cgroups: bool) -> Result<(), model::Problems> {
    let program = std::env::current_exe().map_err(|error| model::Problem::bug(error.to_string()))?;
    let keeper = KeeperCommand { program, args: vec!["keeper".into()] };
    let lab = Lab::open(&LabOptions { home, id, keeper, cgroups })?;
    let launch = Launch {
        tier: "web".to_string(),
        program: PathBuf::from("/bin/sh"),
        args: vec!["-c".into(), ESCAPE.into()],
        env: Vec::new(),
        dir: lab.dir().to_path_buf(),
        input: None,
        output: lab.dir().join("output"),
        cpus: Vec::new(),
    };
    let running = lab.launch(&launch)?;
    let dir = lab.dir().display();
    let group = lab.cgroup().map(|path| path.display().to_string()).unwrap_or_default();
    let line = format!(
        "{}\t{}\t{dir}\t{group}\t{}\n",
        running.identity.pid,
        lab.keeper_pid().unwrap_or(0),
        lab.uid()
    );
    std::io::stdout().write_all(line.as_bytes()).map_err(|error| model::Problem::bug(error.to_string()))?;
    std::thread::park();
    lab.close()
}
