//! The queue's jobs, one after the other, each as a process of its own that outlives whoever started it.
//!
//! What a job tells is in files below `queue/N` of the home: `stdout`, `stderr`, and `progress.jsonl`, whose last line has the exit
//! code. So a worker that comes later knows how a job ended that it did not see ending.

mod users;

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::progress::{ProgressLine, Told};
use model::{Problem, ProcessIdentity, Result};
use store::{Job, JobState, Queue};
use testbed::Detached;
use testbed::process::Identity;

use crate::interrupt::Interrupt;
use crate::progress::Progress;

pub use users::ask_users;

/// A job finds in it where it is told how many users are asked for by hand.
pub const USERS_FILE_VARIABLE: &str = "PLIMSOLL_USERS_FILE";

/// How often the queue, and the process of a job, are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The last line of a progress file is shorter.
const MAX_LAST_LINE_BYTES: u64 = 4_096;

/// Does the jobs of a queue.
pub struct Worker<'a> {
    /// The directory below which everything is kept.
    pub home: &'a Path,
    /// The program that a job's words are for.
    pub program: &'a Path,
    /// The CPUs that jobs may use: whoever works may be kept on others.
    pub cpus: &'a [usize],
    /// The user's wish to stop: no further job is begun, the one that runs goes on.
    pub interrupt: &'a Interrupt,
    /// Who listens.
    pub progress: &'a mut dyn Progress,
}

/// Why a worker is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// No job waits.
    Empty,
    /// The user wished it; this job goes on without it.
    Interrupted(Option<i64>),
}

/// Where what a job tells is kept.
pub fn directory(home: &Path, id: i64) -> PathBuf {
    home.join("queue").join(id.to_string())
}

/// Now, as the queue keeps it.
pub fn now() -> String {
    store::utc(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

impl Worker<'_> {
    /// Does jobs until none waits, or for ever where it `stays`. Those that an earlier worker began are waited for first.
    ///
    /// # Errors
    /// Another worker is there; the queue can't be read or written.
    pub fn work(&mut self, stays: bool) -> Result<Done> {
        let _only = self.lock()?;
        let mut queue = Queue::open(self.home)?;
        loop {
            let running = queue.jobs()?.into_iter().find(|job| job.state == JobState::Running);
            if let Some(job) = running {
                if !self.follow(&mut queue, &job, None)? {
                    return Ok(Done::Interrupted(Some(job.id)));
                }
                continue;
            }
            if self.interrupt.count() > 0 {
                return Ok(Done::Interrupted(None));
            }
            match queue.next()? {
                Some(job) => {
                    if let Some(child) = self.start(&mut queue, &job)?
                        && !self.follow(&mut queue, &job, Some(child))?
                    {
                        return Ok(Done::Interrupted(Some(job.id)));
                    }
                }
                None if !stays && (!queue.is_paused()? || !is_waited_for(&queue)?) => return Ok(Done::Empty),
                None => {
                    let why = if queue.is_paused()? { "the queue is paused" } else { "no job waits" };
                    self.progress.still(why);
                    std::thread::sleep(LOOK_EVERY);
                }
            }
        }
    }

    /// Keeps other workers of the same home away as long as it is held.
    fn lock(&self) -> Result<File> {
        let folder = self.home.join("queue");
        let path = folder.join("worker.lock");
        let failed = |error: std::io::Error| {
            Problem::environment(format!("failed to lock the queue: {error}"))
                .file(path.display().to_string())
        };
        fs::create_dir_all(&folder).map_err(failed)?;
        let file = File::create(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::Error(error)) => Err(failed(error).into()),
            Err(TryLockError::WouldBlock) => {
                Err(Problem::environment("another process does the jobs of this queue already")
                    .remedy("`plimsoll queue list` shows what it is at")
                    .into())
            }
        }
    }

    /// Starts a job; nothing where somebody else has begun it meanwhile.
    fn start(&mut self, queue: &mut Queue, job: &Job) -> Result<Option<Child>> {
        if !queue.begin(job.id, &now())? {
            return Ok(None);
        }
        self.progress.note(&format!("job {}: plimsoll {}", job.id, job.command.join(" ")));
        match self.spawn(job) {
            Ok(child) => {
                let process = Identity::of(child.id());
                let process = process.map(|one| ProcessIdentity { id: one.pid, start: one.start_ticks });
                process.map_or(Ok(()), |process| queue.set_process(job.id, process))?;
                Ok(Some(child))
            }
            Err(error) => {
                queue.end(job.id, None, &now())?;
                let what = format!("job {} could not be started: {error}", job.id);
                self.progress.problem(&Problem::environment(what).into());
                Ok(None)
            }
        }
    }

    fn spawn(&self, job: &Job) -> std::io::Result<Child> {
        let outputs = directory(self.home, job.id);
        let progress = outputs.join("progress.jsonl");
        let own = [OsString::from("--progress-file"), progress.into()];
        let args = own.into_iter().chain(job.command.iter().map(OsString::from)).collect();
        let (program, dir) = (self.program.to_path_buf(), job.directory.clone());
        let users_file = users::file(self.home, job.id).into();
        let env = vec![("PLIMSOLL_HOME", self.home.into()), (USERS_FILE_VARIABLE, users_file)];
        let job = Detached { program, args, env, dir, outputs };
        // A process has the CPUs and the priority of the thread that starts it: one of its own, which is as usual.
        let start = || {
            testbed::be_usual(self.cpus);
            job.start()
        };
        std::thread::scope(|scope| scope.spawn(start).join())
            .unwrap_or_else(|_| Err(std::io::Error::other("the thread that starts it has failed")))
    }

    /// Waits until the job is over, and keeps how it ended; false where the user wishes to stop before.
    fn follow(&mut self, queue: &mut Queue, job: &Job, mut child: Option<Child>) -> Result<bool> {
        let job = queue.job(job.id)?;
        loop {
            // A child that has ended stays in the table of processes until it is asked.
            let ended = child.as_mut().and_then(|child| child.try_wait().ok().flatten());
            if ended.is_some() || !is_alive(&job) {
                let code = ended.and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
                let code = code.or_else(|| exit_code(&directory(self.home, job.id)));
                queue.end(job.id, code, &now())?;
                let how = code.map_or("interrupted".to_string(), |code| format!("exit code {code}"));
                self.progress.done(&format!("job {}: {how}", job.id));
                return Ok(true);
            }
            if self.interrupt.count() > 0 {
                return Ok(false);
            }
            self.progress.still(&format!("job {}: plimsoll {}", job.id, job.command.join(" ")));
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

fn is_waited_for(queue: &Queue) -> Result<bool> {
    Ok(queue.jobs()?.iter().any(|job| job.state == JobState::Waiting))
}

/// Whether the process of a job that runs is there; one that was never kept is not.
fn is_alive(job: &Job) -> bool {
    job.process.is_some_and(|process| Identity { pid: process.id, start_ticks: process.start }.runs())
}

/// The exit code in the last line of the progress file; nothing where the process did not come to that.
fn exit_code(folder: &Path) -> Option<u8> {
    let mut file = File::open(folder.join("progress.jsonl")).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_LAST_LINE_BYTES))).ok()?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let last: ProgressLine = serde_json::from_str(text.lines().last()?).ok()?;
    match last.told {
        Told::End { exit_code } => Some(exit_code),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::with_environment;

    /// A program that answers as plimsoll would: its second argument is the progress file, the last its exit code.
    const PROGRAM: &str = "#!/bin/sh\n\
        for code; do :; done\n\
        echo \"{\\\"at_s\\\":0,\\\"kind\\\":\\\"end\\\",\\\"exit_code\\\":$code}\" > \"$2\"\n\
        echo \"$@\"\nexit $code\n";

    fn with_worker<T>(act: impl FnOnce(&mut Queue, &mut dyn FnMut() -> Result<Done>) -> T) -> T {
        let home = tempfile::tempdir().expect("a directory");
        let program = home.path().join("program");
        fs::write(&program, PROGRAM).expect("a file");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&program, executable).expect("it can be run");
        let mut queue = Queue::open(home.path()).expect("a queue");
        let (given, _) = with_environment(home.path(), |env| {
            let mut work = || {
                let (interrupt, progress) = (env.interrupt, &mut *env.progress);
                let cpus = crate::cpus::allowed();
                Worker { home: home.path(), program: &program, cpus: &cpus, interrupt, progress }.work(false)
            };
            act(&mut queue, &mut work)
        });
        given
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_string).collect()
    }

    #[test]
    fn jobs_are_done_in_their_order_and_what_became_of_each_is_kept() {
        with_worker(|queue, work| {
            let one = queue.add(&words("run dvdstore 0"), Path::new("/"), &now()).expect("it is added");
            let two = queue.add(&words("run dvdstore 99"), Path::new("/"), &now()).expect("it is added");
            queue.move_to(two, 1).expect("it waits");
            assert_eq!(work(), Ok(Done::Empty));
            let codes: Vec<(i64, Option<u8>)> =
                queue.jobs().expect("it can be read").iter().map(|job| (job.id, job.exit_code)).collect();
            assert!(codes.contains(&(one, Some(0))) && codes.contains(&(two, Some(99))), "{codes:?}");
        });
    }

    #[test]
    fn a_job_whose_worker_has_died_is_ended_as_its_progress_says_or_as_interrupted() {
        with_worker(|queue, work| {
            let home = queue_home(queue);
            let gone = ProcessIdentity { id: 1, start: 1 };
            for (told, expected) in
                [("{\"at_s\":1,\"kind\":\"end\",\"exit_code\":3}\n", Some(3)), ("{\"at_s\":1,", None)]
            {
                let id = queue.add(&words("run dvdstore 0"), Path::new("/"), &now()).expect("it is added");
                queue.begin(id, &now()).expect("it waits");
                queue.set_process(id, gone).expect("it runs");
                fs::create_dir_all(directory(&home, id)).expect("a directory");
                fs::write(directory(&home, id).join("progress.jsonl"), told).expect("a file");
                assert_eq!(work(), Ok(Done::Empty));
                let job = queue.job(id).expect("it is there");
                let state = if expected.is_some() { JobState::Ended } else { JobState::Interrupted };
                assert_eq!((job.exit_code, job.state), (expected, state), "{told}");
            }
        });
    }

    fn queue_home(queue: &Queue) -> PathBuf {
        queue.home().to_path_buf()
    }
}
