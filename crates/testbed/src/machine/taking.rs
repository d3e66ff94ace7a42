//! Who gets a setting of the machine. A claim whose lab is dead is worth nothing once that lab's changes are undone, which whoever
//! wants the setting sees to.

use std::fs;
use std::path::{Path, PathBuf};

use super::claim::{Claim, DIR, claim_file, lock, make, read};
use crate::sweep;

/// Whose a setting is.
#[derive(Debug)]
pub(super) enum Taken {
    /// The lab's that asked, from now on.
    New,
    /// The lab's that asked, from before.
    Ours,
    /// That of another lab of this very process.
    Beside,
    /// That of a living lab, whose ledger this is.
    Others(PathBuf),
    /// Nobody's: it can't be claimed, and why, for people.
    Failed(String),
}

/// Claims a setting for a lab.
pub(super) fn take(setting: &Path, claim: &Claim) -> Taken {
    take_in(Path::new(DIR), setting, claim)
}

fn take_in(dir: &Path, setting: &Path, claim: &Claim) -> Taken {
    let _one_at_a_time = match lock(dir) {
        Ok(lock) => lock,
        Err(why) => return Taken::Failed(why),
    };
    let path = claim_file(dir, setting);
    if let Some(known) = read(&path) {
        if known.owner == claim.owner {
            return Taken::Ours;
        }
        if is_alive(&known.ledger) {
            return if known.pid == claim.pid { Taken::Beside } else { Taken::Others(known.ledger) };
        }
    }
    // A dead lab's, whose changes are undone by now, or a torn one: whoever wrote that died before changing anything.
    _ = fs::remove_file(&path);
    match make(&path, claim) {
        Ok(()) => Taken::New,
        Err(error) => Taken::Failed(format!("{}: {error}", path.display())),
    }
}

/// Whether a lab lives; what a dead one left is undone on the way. One that can't be undone counts as alive: what it changed is still so.
fn is_alive(ledger: &Path) -> bool {
    if !ledger.exists() {
        return false;
    }
    !matches!(sweep::finish(ledger), Ok(Some(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Ledger;

    fn ledger(path: &Path) -> Ledger {
        Ledger::lock(path).expect("a ledger").expect("nobody else holds it")
    }

    #[test]
    fn a_setting_is_one_labs_until_that_lab_is_dead() {
        let dir = tempfile::tempdir().expect("a directory");
        let (setting, claims) = (Path::new("/proc/sys/vm/swappiness"), dir.path().join("claims"));
        let claim = |name: &str, pid| Claim { ledger: dir.path().join(name), owner: name.to_string(), pid };
        let (one, other, of_another) = (claim("one", 7), claim("other", 7), claim("another", 8));
        let first = ledger(&one.ledger);
        assert!(matches!(take_in(&claims, setting, &one), Taken::New));
        assert!(matches!(take_in(&claims, setting, &one), Taken::Ours), "again");
        assert!(matches!(take_in(&claims, setting, &other), Taken::Beside), "the same process has both");
        assert!(
            matches!(take_in(&claims, setting, &of_another), Taken::Others(ledger) if ledger == one.ledger)
        );
        first.remove().expect("its lab ends");
        assert!(matches!(take_in(&claims, setting, &other), Taken::New));
        fs::write(claim_file(&claims, setting), "{\"ledger\":\"/x").expect("a torn claim");
        assert!(matches!(take_in(&claims, setting, &one), Taken::New));
    }
}
