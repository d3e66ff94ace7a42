//! The groups in hierarchies of their own that hold a lab's tiers back.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use model::Result;

use crate::cgroup;

/// The lab's groups in hierarchies of their own.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    groups: Mutex<Vec<PathBuf>>,
    /// Groups that every process of an instance's tier enters as it starts.
    entered: Mutex<Vec<(String, String, PathBuf)>>,
}

impl Holds {
    /// Remembers a group; whether it is new.
    pub(crate) fn note(&self, group: &Path) -> bool {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let new = !groups.iter().any(|one| one == group);
        if new {
            groups.push(group.to_path_buf());
        }
        new
    }

    /// From now on every process of the instance's tier enters the group as it starts.
    pub(crate) fn enter_with(&self, instance: &str, tier: &str, group: PathBuf) {
        let mut entered = self.entered.lock().unwrap_or_else(PoisonError::into_inner);
        entered.push((instance.to_string(), tier.to_string(), group));
    }

    /// The groups that the processes of the instance's tier enter.
    pub(crate) fn entered(&self, instance: &str, tier: &str) -> Vec<PathBuf> {
        let entered = self.entered.lock().unwrap_or_else(PoisonError::into_inner);
        let of_tier = entered.iter().filter(|(own, name, _)| own == instance && name == tier);
        of_tier.map(|(.., group)| group.clone()).collect()
    }

    /// Removes the groups of an instance; its processes have ended.
    pub(crate) fn remove(&self, instance: &str) -> Result<()> {
        self.entered.lock().unwrap_or_else(PoisonError::into_inner).retain(|(own, ..)| own != instance);
        let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let mut inner = groups.iter().map(|group| group.join(instance)).filter(|group| group.exists());
        inner.try_for_each(|group| cgroup::remove(&group))
    }
}
