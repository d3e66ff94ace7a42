//! Children on chosen CPUs, with what they cost; none outlives this program.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::Failure;

/// Every child that lives, by id.
static CHILDREN: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// What a child cost and said.
#[derive(Debug)]
pub(crate) struct Cost {
    /// User and system time in seconds.
    pub(crate) cpu_s: f64,
    pub(crate) status: ExitStatus,
    pub(crate) said: String,
}

/// On Ctrl-C and the like, ends every child by its id, then this program.
pub(crate) fn end_all_on_signals() -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(|error| format!("signals: {error}"))?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            let children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
            children.iter().for_each(|pid| _ = rustix::process::kill_process(*pid, Signal::KILL));
            std::process::exit(105);
        }
    });
    Ok(())
}

/// Starts `command` on one CPU; it inherits this thread's.
pub(crate) fn start(command: &mut Command, cpu: usize) -> Result<Child, Failure> {
    let before = rustix::thread::sched_getaffinity(None);
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).map_err(|error| format!("CPU {cpu}: {error}"))?;
    let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn().map_err(|error| format!("failed to start {command:?}: {error}"));
    if let Ok(before) = before {
        let _ = rustix::thread::sched_setaffinity(None, &before);
    }
    let child = child?;
    children.push(pid_of(&child));
    Ok(child)
}

/// Ends a child and waits for it.
pub(crate) fn end(mut child: Child) {
    forget(pid_of(&child));
    let _ = child.kill();
    let _ = child.wait();
}

/// Runs `command` on one CPU to its end.
pub(crate) fn cost(command: &mut Command, cpu: usize) -> Result<Cost, Failure> {
    let complaints = tempfile::NamedTempFile::new().map_err(|error| format!("a temporary file: {error}"))?;
    let stderr = complaints.reopen().map_err(|error| format!("a temporary file: {error}"))?;
    let mut child = start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr), cpu)?;
    let mut said = String::new();
    if let Some(out) = &mut child.stdout {
        let _ = out.read_to_string(&mut said);
    }
    let (cpu_s, status) = wait(&child)?;
    forget(pid_of(&child));
    if let Ok(mut file) = File::open(complaints.path()) {
        let _ = file.read_to_string(&mut said);
    }
    Ok(Cost { cpu_s, status, said })
}

/// Waits for the child and gives its CPU time, children that it waited for included (wait4(2)).
fn wait(child: &Child) -> Result<(f64, ExitStatus), Failure> {
    let mut status = 0;
    // SAFETY: rusage is a plain struct of numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let pid = child.id() as libc::pid_t;
    // SAFETY: both pointers are to live locals of the right types, and nothing else waits for this child of ours.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    if waited != pid {
        return Err(format!("failed to wait for {pid}: {}", std::io::Error::last_os_error()).into());
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok((seconds(usage.ru_utime) + seconds(usage.ru_stime), ExitStatus::from_raw(status)))
}

fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(child.id() as i32).expect("a process that was started has a number")
}

fn forget(pid: Pid) {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != pid);
}
