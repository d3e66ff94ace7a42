//! The file that says who has a setting of the machine: one for each, in a directory that is gone with the machine's next start. It
//! names the ledger of the lab that changed the setting.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::disk;

/// Where claims are: all of a machine's homes see it, and it is empty after a start.
pub(super) const DIR: &str = "/run/plimsoll";

/// A lab that has changed a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    /// Its ledger, by whose lock it is known to live.
    pub(super) ledger: PathBuf,
    /// Its mark.
    pub(super) owner: String,
    /// The tool's process.
    pub(super) pid: u32,
}

/// Lets others have a setting that the lab with this mark had.
pub(super) fn release(setting: &Path, owner: &str) {
    let path = claim_file(Path::new(DIR), setting);
    if read(&path).is_some_and(|claim| claim.owner == owner) {
        _ = fs::remove_file(path);
    }
}

pub(super) fn make(path: &Path, claim: &Claim) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(&serde_json::to_vec(claim)?)
}

pub(super) fn read(path: &Path) -> Option<Claim> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

pub(super) fn claim_file(dir: &Path, setting: &Path) -> PathBuf {
    let name = setting.display().to_string();
    dir.join(name.trim_matches('/').replace('/', "."))
}

/// Held while claims are looked at: two that find the same dead one would both take it.
pub(super) fn lock(dir: &Path) -> Result<File, String> {
    disk::make_dir(dir, 0o755).map_err(|problems| problems.to_string())?;
    let path = dir.join("claims.lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
    flock(&file, FlockOperation::LockExclusive).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(file)
}
