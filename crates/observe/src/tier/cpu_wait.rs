//! How long a tier's threads waited for a CPU, from the account of each (`/proc/TID/schedstat`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use model::{Signal, signals};

use crate::cgroup;
use crate::instrument::parse_schedstat;
use crate::points::Points;

signals! {
    pub(crate) CPU_WAIT = Signal::of_tier(
        "cpu.wait_cores", "cores", "threads that were ready to run but had no CPU"
    )
    .shown_first();
}

/// This many threads are asked at each sample; where there are more, as many in turn.
const MAX_THREADS: usize = 64;

/// Reads the accounts of a tier's threads.
#[derive(Debug)]
pub(super) struct CpuWait {
    group: PathBuf,
    last: HashMap<u32, (f64, f64)>,
    turn: usize,
}

impl CpuWait {
    pub(super) fn of(group: &Path) -> CpuWait {
        CpuWait { group: group.to_path_buf(), last: HashMap::new(), turn: 0 }
    }

    pub(super) fn sample(&mut self, tier: &str, points: &mut Points) {
        let cores = self.cores(points.at_s());
        points.add_known(&CPU_WAIT, Some(tier), cores);
    }

    /// Seconds a second that threads were ready without a CPU: from the account of each that could be read twice,
    /// scaled to all.
    fn cores(&mut self, at_s: f64) -> Option<f64> {
        let ids = cgroup::threads(&self.group);
        let (count, from) = (ids.len(), self.turn);
        let in_turn = ids.iter().cycle().skip(from % count.max(1)).take(count.min(MAX_THREADS));
        let (mut sum, mut known) = (0.0, 0);
        for id in in_turn {
            let text = std::fs::read_to_string(format!("/proc/{id}/schedstat"));
            let Some((_, waited_s)) = text.ok().as_deref().and_then(parse_schedstat) else {
                continue;
            };
            if let Some((then_s, then_waited_s)) = self.last.insert(*id, (at_s, waited_s))
                && at_s - then_s > 1e-3
            {
                sum += (waited_s - then_waited_s).max(0.0) / (at_s - then_s);
                known += 1;
            }
        }
        self.turn = (from + MAX_THREADS) % count.max(1);
        if self.last.len() > 2 * count + MAX_THREADS {
            self.last.retain(|id, _| ids.contains(id));
        }
        (known > 0).then(|| sum * count as f64 / f64::from(known))
    }
}
