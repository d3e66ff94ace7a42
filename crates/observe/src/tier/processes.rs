//! How many processes a tier has, and how many files and sockets they hold open.

use model::{Signal, signals};

use crate::points::Points;

/// Of this many processes of a tier are asked at most what only each for itself can tell.
pub(super) const MAX_PROCESSES: usize = 16;

signals! {
    COUNT = Signal::of_tier("processes.count", "processes", "its processes");
    DESCRIPTORS = Signal::of_tier("descriptors.count", "descriptors", "open files and sockets");
    DESCRIPTORS_USED = Signal::of_tier(
        "descriptors.used_ratio", "ratio", "open files and sockets of the fullest process, of its limit"
    );
}

/// Descriptors are counted at each sample of this many: each is an entry of a directory.
const SAMPLES_EACH_COUNT: u64 = 5;

/// Counts processes and their descriptors.
#[derive(Debug, Default)]
pub(super) struct Processes {
    samples: u64,
}

impl Processes {
    pub(super) fn sample(&mut self, tier: &str, processes: &[u32], points: &mut Points) {
        points.add(&COUNT, Some(tier), processes.len() as f64);
        if self.samples.is_multiple_of(SAMPLES_EACH_COUNT) {
            descriptors(tier, processes, points);
        }
        self.samples += 1;
    }
}

fn descriptors(tier: &str, processes: &[u32], points: &mut Points) {
    let (mut sum, mut fullest, mut counted) = (0usize, 0.0f64, 0usize);
    for id in processes.iter().take(MAX_PROCESSES) {
        let Ok(entries) = std::fs::read_dir(format!("/proc/{id}/fd")) else { continue };
        let count = entries.count();
        (sum, counted) = (sum + count, counted + 1);
        let limits = std::fs::read_to_string(format!("/proc/{id}/limits")).unwrap_or_default();
        if let Some(limit) = descriptor_limit(&limits) {
            fullest = fullest.max(count as f64 / limit);
        }
    }
    if counted > 0 {
        let all = sum as f64 * processes.len() as f64 / counted as f64;
        points.add(&DESCRIPTORS, Some(tier), all);
        points.add(&DESCRIPTORS_USED, Some(tier), fullest);
    }
}

/// The soft limit of open files in `/proc/PID/limits`.
fn descriptor_limit(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_read_by_its_name() {
        let limits = "Limit      Soft Limit   Hard Limit   Units\nMax open files     64     1024     files\n";
        assert_eq!(descriptor_limit(limits), Some(64.0));
    }
}
