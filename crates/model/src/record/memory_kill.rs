//! A tier that the kernel ended because it reached the limit of memory that was set for it.

use std::fmt;

use crate::catalogue::tier_setting::MEMORY;
use crate::units;

/// What its limit was, and what it used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryKill {
    /// What its processes may have together, page cache included.
    pub limit_bytes: u64,
    /// The most that they had at once.
    pub used_bytes: u64,
}

impl fmt::Display for MemoryKill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (limit, used) = (units::show_bytes(self.limit_bytes), units::show_bytes(self.used_bytes));
        write!(f, "killed by the kernel at its memory limit of {limit}, with up to {used} in use")
    }
}

impl MemoryKill {
    /// What to try: twice as much, or no limit.
    pub fn remedy(&self, tier: &str) -> String {
        let twice = (2 * self.limit_bytes).div_ceil(1 << 20);
        format!("--set {tier}.{MEMORY}={twice}M, or {tier}.{MEMORY}=0 for no limit")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_the_use_and_the_setting_are_said() {
        let kill = MemoryKill { limit_bytes: 256 << 20, used_bytes: 255 << 20 };
        assert_eq!(
            kill.to_string(),
            "killed by the kernel at its memory limit of 268 MB, with up to 267 MB in use"
        );
        assert_eq!(kill.remedy("db"), "--set db.cgroup.memory=512M, or db.cgroup.memory=0 for no limit");
    }
}
