//! What went wrong with a call, as a problem: which host, which operation, what was said, what to try.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use model::problem::Kind;
use model::{Problem, Problems};

use super::host::SshHost;
use super::text::clean;

/// Lines of what was said that a message has.
const SAID_LINES: usize = 5;

/// Why a call gave no answer.
pub(super) enum Failure {
    /// `ssh` ended so; whether the script had begun.
    Ended(ExitStatus, bool),
    /// It ended well, but what it printed is not the script's.
    Garbled,
    /// Nothing happened for so long.
    TimedOut(Duration),
    /// Whoever watched the progress did not want it any more.
    Cancelled,
    /// What was to be sent could not be read.
    Unread(io::Error),
}

impl Failure {
    /// `operation` completes "failed to …"; `errors` is the end of what `ssh` and the script wrote to their error output.
    pub(super) fn problem(&self, host: &SshHost, operation: &str, errors: &[u8]) -> Problems {
        let name = host.destination();
        let lines = clean(errors, SAID_LINES);
        let all = lines.join("\n    ");
        let words = if all.is_empty() { "ssh gave no reason".to_string() } else { all };
        let by_hand = || format!("`{}` by hand, which must end well and print nothing", host.by_hand());
        match self {
            Failure::Ended(status, false) if status.code() == Some(255) => {
                Problem::environment(format!("no connection to {name} to {operation}: {words}"))
                    .remedy(remedy(host, &lines.join("\n")))
            }
            Failure::Ended(status, true) if status.code() == Some(255) => Problem::environment(format!(
                "the connection to {name} broke while trying to {operation}: {words}"
            ))
            .why("how far it came there is not known")
            .remedy(format!("again; if it happens again, {}", by_hand())),
            Failure::Ended(status, true) => {
                let code = status.code().map_or("a signal".to_string(), |code| format!("exit code {code}"));
                Problem::environment(format!("failed to {operation} on {name} ({code}): {words}"))
            }
            Failure::Ended(status, false) => Problem::environment(format!(
                "{name} did not run a script to {operation} ({status}): {words}"
            ))
            .remedy(format!("{}; a POSIX `sh` and `dd` are needed there", by_hand())),
            Failure::Garbled => Problem::environment(format!(
                "what {name} answered to {operation} is not whole"
            ))
            .why("something beside our script prints or reads there, such as a login shell's startup file")
            .remedy(by_hand()),
            Failure::TimedOut(time) => {
                let heard = if lines.is_empty() { String::new() } else { format!(": {words}") };
                let what =
                    format!("{name} did not answer within {} s to {operation}{heard}", time.as_secs_f64());
                Problem::environment(what).remedy(by_hand())
            }
            Failure::Cancelled => {
                Problem::new(Kind::Interrupted, format!("{name}: {operation}: ended by the user"))
            }
            Failure::Unread(error) => Problem::environment(format!(
                "failed to read what was to be sent to {name} to {operation}: {error}"
            )),
        }
        .into()
    }
}

/// What to try, by what the client says; its sentences have been the same for twenty years.
fn remedy(host: &SshHost, words: &str) -> String {
    let by_hand = host.by_hand();
    let has = |one: &str| words.contains(one);
    if has("IDENTIFICATION HAS CHANGED") || has("Host key verification failed") {
        format!(
            "compare the host's key with its administrator's; if it is right, `ssh-keygen -R` the old one and accept the new \
             one once by `{by_hand}`"
        )
    } else if has("Permission denied") || has("Too many authentication failures") {
        format!(
            "`{by_hand}` must work without a password: a key in ssh-agent or an IdentityFile in ~/.ssh/config"
        )
    } else if has("Could not resolve") {
        format!(
            "a name that this machine knows, or a `Host` of ~/.ssh/config with its HostName; `{by_hand}` by hand"
        )
    } else {
        format!("`{by_hand}` by hand: is it up, does its sshd listen, does a firewall let it through?")
    }
}
