//! The keeper: a small process beside the tool that holds the reading end of a pipe whose writing end only the tool
//! has. When the pipe ends without a goodbye, the tool is dead, and the keeper ends everything of its lab.
//!
//! It has a session of its own (Ctrl-C on the terminal does not reach it) and ignores TERM, INT and HUP: it ends with
//! its tool. It holds the ledger's lock, so that a lab that is being removed is not swept by another start.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use model::{Problem, Result};

use crate::launch::{close_on_exec_from, keep_over_exec};
use crate::ledger::Ledger;
use crate::owner::Owner;
use crate::{disk, undo};

const READY: &[u8] = b"ready\n";
const GOODBYE: &[u8] = b"goodbye\n";

/// How the tool starts itself again as a keeper: the program and arguments of a verb that calls [`run`] with the
/// arguments that follow.
#[derive(Debug, Clone)]
pub struct KeeperCommand {
    /// The program, usually `/proc/self/exe`'s target.
    pub program: PathBuf,
    /// Its first arguments, usually `["keeper"]`.
    pub args: Vec<OsString>,
}

/// The tool's end of a running keeper.
#[derive(Debug)]
pub(crate) struct Keeper {
    child: Child,
    pipe: Option<PipeWriter>,
    log: PathBuf,
}

impl Keeper {
    /// Starts a keeper for the lab whose ledger is locked, and waits until it says that it keeps.
    pub(crate) fn start(
        command: &KeeperCommand,
        ledger: &Ledger,
        path: &Path,
        owner: &Owner,
    ) -> Result<Keeper> {
        let failed = |error: io::Error| {
            let what = format!("failed to start the keeper {}: {error}", command.program.display());
            Problem::environment(what).why("without it, servers could outlive the tool")
        };
        let (reader, pipe) = io::pipe().map_err(failed)?;
        let log = path.with_extension("keeper.log");
        let errors = OpenOptions::new().create(true).append(true).open(&log).map_err(failed)?;
        let lock = ledger.file().as_raw_fd();
        let claim = owner.claim_fd().map(|fd| fd.as_raw_fd());
        let mut start = Command::new(&command.program);
        start
            .args(&command.args)
            .arg(path)
            .arg(lock.to_string())
            .current_dir("/")
            .stdin(Stdio::from(reader))
            .stdout(Stdio::piped())
            .stderr(Stdio::from(errors));
        // SAFETY: the closure runs between fork and exec and makes system calls only, on descriptors that stay open
        // until `spawn` has returned.
        unsafe { start.pre_exec(move || detach(lock, claim)) };
        let mut child = start.spawn().map_err(failed)?;
        let mut answer = Vec::new();
        let output = child.stdout.take();
        // The keeper closes its output right after the word, and a program that is no keeper ends: no wait forever.
        output.map(|output| output.take(64).read_to_end(&mut answer)).transpose().map_err(failed)?;
        if answer != READY {
            drop(pipe);
            _ = child.kill();
            _ = child.wait();
            let said = fs::read_to_string(&log).unwrap_or_default();
            _ = disk::remove_file(&log);
            let what = format!("{} is not a keeper; it says: {}", command.program.display(), said.trim());
            return Err(Problem::bug(what).into());
        }
        Ok(Keeper { child, pipe: Some(pipe), log })
    }

    /// The keeper's process number.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells it that everything is undone and waits for its end.
    pub(crate) fn dismiss(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            _ = pipe.write_all(GOODBYE);
        }
        _ = self.child.wait();
        _ = disk::remove_file(&self.log);
    }

    /// Leaves the rest to it, and waits for that.
    pub(crate) fn hand_over(&mut self) {
        self.pipe = None;
        _ = self.child.wait();
    }
}

fn detach(lock: RawFd, claim: Option<RawFd>) -> io::Result<()> {
    rustix::process::setsid()?;
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    close_on_exec_from(3);
    keep_over_exec(&lock)?;
    claim.map_or(Ok(()), |claim| keep_over_exec(&claim))
}

/// The keeper's whole life: the body of the tool's hidden verb. `args` are those that followed it: the ledger's path
/// and the number of the descriptor that holds its lock.
///
/// # Errors
/// What could not be undone; the ledger then stays for the next sweep.
pub fn run<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(args: I) -> Result<()> {
    let args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_os_string()).collect();
    let wrong = || Problem::bug("the keeper is started by the tool only: keeper LEDGER DESCRIPTOR");
    let [path, lock] = &args[..] else { return Err(wrong().into()) };
    let path = Path::new(path);
    let lock: RawFd =
        lock.to_str().and_then(|lock| lock.parse().ok()).filter(|fd| *fd > 2).ok_or_else(wrong)?;
    // The number must name the ledger, whatever somebody typed.
    if fs::read_link(format!("/proc/self/fd/{lock}")).ok().as_deref()
        != fs::canonicalize(path).ok().as_deref()
    {
        return Err(wrong().into());
    }
    // SAFETY: the descriptor was opened by the tool for us and inherited; it was just seen to be the ledger, and
    // nothing else in this process knows it.
    let ledger = Ledger::inherited(unsafe { File::from_raw_fd(lock) }, path);
    announce()?;
    let mut said = Vec::new();
    while let Err(error) = io::stdin().lock().read_to_end(&mut said) {
        if error.kind() != io::ErrorKind::Interrupted {
            break;
        }
    }
    if said.ends_with(GOODBYE) {
        return Ok(());
    }
    // A server's death signal is on its way too; being patient here only means a second look at a process table.
    let mut result = undo::undo(&ledger.entries()?);
    for _ in 0..5 {
        if result.is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(200));
        result = undo::undo(&ledger.entries()?);
    }
    result?;
    _ = disk::remove_file(&path.with_extension("keeper.log"));
    ledger.remove()
}

/// Says "ready" and lets go of the tool's pipe, so that nobody who reads the tool's output waits for the keeper.
fn announce() -> Result<()> {
    let failed = |error: io::Error| Problem::bug(format!("failed to answer the tool: {error}"));
    let mut output = io::stdout();
    output.write_all(READY).and_then(|()| output.flush()).map_err(failed)?;
    let nothing = OpenOptions::new().write(true).open("/dev/null").map_err(failed)?;
    rustix::stdio::dup2_stdout(&nothing).map_err(|error| failed(error.into()))?;
    Ok(())
}
