//! Programs that are unpacked and not installed: servers, by `plimsoll doctor --install` as `make test` calls it, and what
//! only tests need, by `scripts/packages.sh`.

use std::path::PathBuf;

/// The folder that they are in, whether or not it is there: `programs` of the usual home.
pub fn unpacked() -> PathBuf {
    let named = std::env::var_os("PLIMSOLL_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let root = rustix::process::geteuid().is_root().then(|| PathBuf::from("/srv/plimsoll"));
    let user = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share/plimsoll"));
    named.or(root).or(user).unwrap_or_default().join("programs")
}

/// The folder NAME of `tools` in the folder that cargo builds into, which `scripts/packages.sh` unpacks into; where the tests'
/// own program is below it.
pub fn tool(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    own.ancestors().map(|folder| folder.join("tools").join(name)).find(|tool| tool.is_dir())
}
