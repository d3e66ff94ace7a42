//! A host, and the client that reaches it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use model::{Problem, Result};

use super::script::quoted;
use super::text::clean;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// No name of a host, user or alias has one of these; some would reach a shell by a `ProxyCommand` with `%h`.
const REFUSED: &str = "'\"`$\\;&|<>(){}*?!#~^";

/// A machine that `ssh` reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshHost {
    destination: String,
    config: Option<PathBuf>,
    connect_timeout: Duration,
    pub(super) answer_timeout: Duration,
}

impl SshHost {
    /// The machine that `ssh DESTINATION` reaches: a name, `user@name` or an alias of the user's configuration. `config`
    /// is a file to be read instead of that (`ssh -F`).
    ///
    /// # Errors
    /// A destination that `ssh` or a shell could take for something else: empty, beginning with `-`, with blanks, control
    /// characters or what a shell gives a meaning.
    pub fn new(destination: &str, config: Option<&Path>) -> Result<SshHost> {
        let refused = |c: char| c.is_whitespace() || c.is_control() || REFUSED.contains(c);
        let looks_like_option = destination.split('@').any(|part| part.is_empty() || part.starts_with('-'));
        if looks_like_option || destination.len() > 255 || destination.chars().any(refused) {
            let shown = clean(destination.as_bytes(), 1).join(" ");
            return Err(Problem::recipe(format!("`{shown}` is no destination of ssh"))
                .why("it goes onto ssh's command line, which must not take it for an option or a command")
                .remedy("a host's name, `user@host`, or an alias (`Host`) of ~/.ssh/config")
                .into());
        }
        Ok(SshHost {
            destination: destination.to_string(),
            config: config.map(Path::to_path_buf),
            connect_timeout: CONNECT_TIMEOUT,
            answer_timeout: ANSWER_TIMEOUT,
        })
    }

    /// The same host with other timeouts: for a connection (whole seconds, at least one; 10 s otherwise), and for an answer
    /// or the next piece of a copy (60 s otherwise).
    #[must_use]
    pub fn with_timeouts(self, connect: Duration, answer: Duration) -> SshHost {
        SshHost { connect_timeout: connect, answer_timeout: answer, ..self }
    }

    /// What `ssh` is given as its destination.
    pub fn destination(&self) -> &str {
        &self.destination
    }

    /// The client with its options and the destination, without a command.
    pub(super) fn client(&self) -> Command {
        let connect = self.connect_timeout.as_secs().max(1);
        let mut ssh = Command::new("ssh");
        if let Some(config) = &self.config {
            ssh.arg("-F").arg(config);
        }
        ssh.arg("-T");
        for option in [
            "BatchMode=yes".to_string(),
            format!("ConnectTimeout={connect}"),
            "ServerAliveInterval=5".to_string(),
            "ServerAliveCountMax=3".to_string(),
            // What the user's own sessions want and would get in the way: forwarded ports, a command of their own, and a
            // master that stays in the background with our pipes open. One that is there is used.
            "ClearAllForwardings=yes".to_string(),
            "ForwardAgent=no".to_string(),
            "ForwardX11=no".to_string(),
            "RemoteCommand=none".to_string(),
            "PermitLocalCommand=no".to_string(),
            "ControlMaster=no".to_string(),
            // `QUIET` would leave an error without its reason.
            "LogLevel=INFO".to_string(),
        ] {
            ssh.arg("-o").arg(option);
        }
        ssh.arg("--").arg(&self.destination);
        ssh
    }

    /// What somebody types to see for themselves.
    pub(super) fn by_hand(&self) -> String {
        let config = self.config.as_ref().map(|path| OsString::from(path).to_string_lossy().into_owned());
        let config = config.map(|path| format!("-F {} ", quoted(&path)));
        format!("ssh {}{} true", config.unwrap_or_default(), self.destination)
    }
}
