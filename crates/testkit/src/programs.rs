//! Programs of servers that `plimsoll doctor --install`, as `make test` calls it, has unpacked and not installed.

use std::path::PathBuf;

/// The folder that they are in, whether or not it is there: `programs` of the usual home.
pub fn unpacked() -> PathBuf {
    let named = std::env::var_os("PLIMSOLL_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let root = rustix::process::geteuid().is_root().then(|| PathBuf::from("/srv/plimsoll"));
    let user = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share/plimsoll"));
    named.or(root).or(user).unwrap_or_default().join("programs")
}
