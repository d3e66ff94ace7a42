//! Processes on a host that outlive the connection which started them.

use std::time::Duration;

use model::Result;
use serde::{Deserialize, Serialize};

use super::call::Call;
use super::files::value;
use super::host::SshHost;
use super::script::{check_name, script, words};
use super::text::clean;
use crate::detached::StopOutcome;
use crate::process::Identity;

/// Lines of a log that are told.
const LOG_LINES: usize = 20;
/// After KILL.
const KILL_S: u64 = 10;

/// `setsid` does not fork here: without job control a background command leads no group. So `$!` is the program's.
const START: &str = r#"
folder=$root/$name
boot_id=$(boot)
[ -n "$boot_id" ] || fail 'there is no boot_id in /proc: it has to be Linux'
command -v setsid >/dev/null || fail 'there is no setsid (package util-linux)'
command -v "$program" >/dev/null || fail "there is no program $program"
mkdir -p "$folder" && chmod 700 "$root" "$folder" && cd "$folder" || fail "failed to make $folder"
: >"$folder/log" || fail "failed to write $folder/log"
unset LC_ALL
ulimit -n "$(ulimit -H -n)" 2>/dev/null
setsid "$program" "$@" </dev/null >"$folder/log" 2>&1 &
pid=$!
tries=0
until read_stat "$pid" && [ "$session" = "$pid" ]; do
    [ -d "/proc/$pid" ] || break
    tries=$((tries + 1))
    [ "$tries" -lt 200 ] || fail "process $pid does not become the program"
    pause
done
if ! read_stat "$pid" || [ "$state" = Z ] || [ "$session" != "$pid" ]; then
    fail "it ended at once: $(tail -c 2000 "$folder/log")"
fi
say pid "$pid"
say start_ticks "$ticks"
say boot_id "$boot_id"
say folder "$folder"
"#;

const STATE: &str = r#"
if runs; then say state running; return; fi
say state ended
tail -c 8192 "$folder/log" 2>/dev/null
echo
"#;

/// `/proc/uptime` is a clock that nobody sets.
const STOP: &str = r#"
seconds() { read -r up rest </proc/uptime; echo "${up%%.*}"; }
if ! runs; then say stop absent; return; fi
kill -TERM "$pid" || ! runs || fail "process $pid can't be ended"
until=$(($(seconds) + grace_s + 1))
while runs && [ "$(seconds)" -lt "$until" ]; do pause; done
if ! runs; then say stop terminated; return; fi
kill -KILL "$pid"
until=$(($(seconds) + kill_s))
while runs; do
    [ "$(seconds)" -lt "$until" ] || fail "process $pid does not end although it was killed"
    pause
done
say stop killed
"#;

/// A process on a host, as a later start of the tool needs it: its number, when it began and in which boot, so that no
/// other process that has its number by then is taken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteProcess {
    /// Its number and start time there.
    #[serde(flatten)]
    pub identity: Identity,
    /// `/proc/sys/kernel/random/boot_id` there.
    pub boot_id: String,
    /// The folder there, as a path, in which it runs and has its `log`.
    pub folder: String,
}

/// Whether a process runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteState {
    /// It does.
    Running,
    /// It doesn't any more: it has ended, or its host has been started again.
    Ended {
        /// The last lines of its log, without control characters.
        last_lines: Vec<String>,
    },
}

impl SshHost {
    /// Starts `program` with `args`, in a session of its own that outlives this one, with an empty input and no terminal, in
    /// `CACHE/plimsoll/FOLDER`; all that it prints is in `log` there, which begins anew. Nothing else must run in that
    /// folder; homes that machines share need folders with a machine's name. It has as many descriptors as it may have.
    ///
    /// Where logind ends a user's processes at the last logout (`KillUserProcesses=yes`, not Debian's default), the user
    /// there needs `loginctl enable-linger`.
    ///
    /// # Errors
    /// A name that leads out of the folder, no connection, no such program there, or one that ends at once: with the end of
    /// its log.
    pub fn start(&self, folder: &str, program: &str, args: &[String]) -> Result<RemoteProcess> {
        check_name(folder)?;
        let operation = &format!("start {}", clean(program.as_bytes(), 1).join(" "));
        let body = format!("set -- {}\n{START}", words(args)?);
        let script = script(&[("name", folder), ("program", program)], &body)?;
        let answer = Call { operation, script, content: None, timeout: self.answer_timeout }.run(self)?;
        let process = || {
            let pid = value(&answer, "pid")?.parse().ok().filter(|pid| *pid > 1)?;
            let start_ticks = value(&answer, "start_ticks")?.parse().ok()?;
            let boot_id = value(&answer, "boot_id")?.to_string();
            let folder = value(&answer, "folder").filter(|path| path.starts_with('/'))?.to_string();
            Some(RemoteProcess { identity: Identity { pid, start_ticks }, boot_id, folder })
        };
        process().ok_or_else(|| self.unclear(&answer, operation).into())
    }

    /// Whether the process runs; if not, how its log ends.
    ///
    /// # Errors
    /// No connection.
    pub fn state(&self, process: &RemoteProcess) -> Result<RemoteState> {
        let operation = &format!("look for process {}", process.identity.pid);
        let script = about(process, &[], STATE)?;
        let answer = Call { operation, script, content: None, timeout: self.answer_timeout }.run(self)?;
        match answer.split_once('\n') {
            Some(("state running", _)) => Ok(RemoteState::Running),
            Some(("state ended", log)) => {
                Ok(RemoteState::Ended { last_lines: clean(log.as_bytes(), LOG_LINES) })
            }
            _ => Err(self.unclear(&answer, operation).into()),
        }
    }

    /// Ends the process: by TERM, and by KILL when it still runs after `grace` (whole seconds count). Nothing is signalled
    /// unless its number, start time and boot are those of `process`.
    ///
    /// # Errors
    /// No connection, no right to signal it, or a process that does not end although it was killed.
    pub fn stop(&self, process: &RemoteProcess, grace: Duration) -> Result<StopOutcome> {
        let operation = &format!("stop process {}", process.identity.pid);
        let grace_s = grace.as_secs().min(24 * 3600);
        let (grace_text, kill_text) = (grace_s.to_string(), KILL_S.to_string());
        let script = about(process, &[("grace_s", &grace_text), ("kill_s", &kill_text)], STOP)?;
        let timeout = self.answer_timeout + Duration::from_secs(grace_s + 1 + KILL_S);
        let answer = Call { operation, script, content: None, timeout }.run(self)?;
        match value(&answer, "stop") {
            Some("absent") => Ok(StopOutcome::WasNotRunning),
            Some("terminated") => Ok(StopOutcome::Terminated),
            Some("killed") => Ok(StopOutcome::Killed),
            _ => Err(self.unclear(&answer, operation).into()),
        }
    }
}

/// A script that knows a process.
fn about(process: &RemoteProcess, values: &[(&str, &str)], body: &str) -> Result<String> {
    let (pid, ticks) = (process.identity.pid.to_string(), process.identity.start_ticks.to_string());
    let own = [
        ("pid", pid.as_str()),
        ("own_ticks", ticks.as_str()),
        ("own_boot", process.boot_id.as_str()),
        ("folder", process.folder.as_str()),
    ];
    script(&[&own, values].concat(), body)
}
