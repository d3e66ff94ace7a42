//! What a host is: asked before anything is copied to it.

use model::{Problem, Result};
use serde::Serialize;

use super::call::Call;
use super::host::SshHost;
use super::script::script;

const SCRIPT: &str = r#"
unset OMP_NUM_THREADS OMP_THREAD_LIMIT
say machine "$(uname -m)"
say kernel "$(uname -sr)"
say cpus "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)"
say home "$HOME"
say cache "$cache"
folder=$cache
while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
# The field before the percentage: a device's name may have blanks in it.
for field in $(df -Pk "$folder" | tail -n 1); do
    case $field in *%) break ;; esac
    free=$field
done
say free_kib "${free:-}"
say max_open_files "$(ulimit -H -n)"
"#;

/// What a host says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// `uname -m`: `x86_64`. A program is copied only to a machine of the same.
    pub machine: String,
    /// Kernel's name and release: `Linux 6.1.0`.
    pub kernel: String,
    /// CPUs that our processes may use there (`nproc`).
    pub cpus: usize,
    /// The user's home directory.
    pub home: String,
    /// The user's cache directory; what is ours is in its folder `plimsoll`.
    pub cache: String,
    /// What is free there for this user.
    pub free_bytes: u64,
    /// Number of descriptors that a process may have (`ulimit -H -n`); `None` where it is not limited.
    pub max_open_files: Option<u64>,
}

impl SshHost {
    /// What the host is, by one call; so it also tells whether the host can be reached and writes nothing there.
    ///
    /// # Errors
    /// No connection, or an answer that is not what was asked for.
    pub fn facts(&self) -> Result<Facts> {
        let operation = "read what machine it is";
        let script = script(&[], SCRIPT)?;
        let answer = Call { operation, script, content: None, timeout: self.answer_timeout }.run(self)?;
        read(&answer).map_err(|key| {
            let shown = super::text::clean(answer.as_bytes(), 10).join("; ");
            let what = format!("{} says no right `{key}`: {shown}", self.destination());
            Problem::environment(what).why("what can be started there depends on it").into()
        })
    }
}

/// Each line once and in its order; else the key that is wrong.
pub(super) fn read(answer: &str) -> std::result::Result<Facts, &'static str> {
    let mut lines = answer.lines();
    let mut next = |key: &'static str| {
        let line = lines.next().ok_or(key)?;
        let value = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(' ')).ok_or(key)?;
        let right = !value.is_empty() && value.len() < 4096 && !value.chars().any(char::is_control);
        if right { Ok(value) } else { Err(key) }
    };
    let machine = next("machine")?.to_string();
    let kernel = next("kernel")?.to_string();
    let cpus = next("cpus")?.parse().ok().filter(|cpus| *cpus > 0).ok_or("cpus")?;
    let home = absolute(next("home")?).ok_or("home")?;
    let cache = absolute(next("cache")?).ok_or("cache")?;
    let free: u64 = next("free_kib")?.parse().map_err(|_| "free_kib")?;
    let max_open_files = match next("max_open_files")? {
        "unlimited" => None,
        number => Some(number.parse().map_err(|_| "max_open_files")?),
    };
    let free_bytes = free.checked_mul(1024).ok_or("free_kib")?;
    if lines.next().is_some() {
        return Err("end");
    }
    Ok(Facts { machine, kernel, cpus, home, cache, free_bytes, max_open_files })
}

fn absolute(path: &str) -> Option<String> {
    path.starts_with('/').then(|| path.to_string())
}
