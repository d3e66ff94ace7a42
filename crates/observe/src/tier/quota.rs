//! A tier's CPU quota, and for how long it held the tier back: from its cgroup of v2, or its one of v1.

use std::path::{Path, PathBuf};

use model::{Signal, signals};

use super::share::share;
use crate::cgroup;
use crate::points::Points;
use crate::reread::Reread;

signals! {
    QUOTA = Signal::of_tier("cpu.quota_cores", "cores", "its CPU quota, or its guest's, where there is one");
    THROTTLED = Signal::of_tier(
        "cpu.throttled_ratio", "ratio", "share of the time in which its CPU quota held it back"
    )
    .shown_first();
}

/// A quota may be set while the tier runs: it is looked for at each sample of this many.
const SAMPLES_EACH_SEARCH: u64 = 5;

/// Reads a tier's quota.
#[derive(Debug)]
pub(super) struct Quota {
    group: PathBuf,
    main: u32,
    source: Option<Source>,
    last: Option<(f64, f64)>,
    samples: u64,
}

/// Where a quota stands: a cgroup of v2 with a controller, or one of v1.
#[derive(Debug)]
struct Source {
    group: PathBuf,
    stat: Reread,
}

impl Quota {
    /// That of the tier whose processes are in `group`, `main` among them.
    pub(super) fn of(group: &Path, main: u32) -> Quota {
        Quota { group: group.to_path_buf(), main, source: None, last: None, samples: 0 }
    }

    pub(super) fn sample(&mut self, tier: &str, points: &mut Points) {
        if self.source.is_none() && self.samples.is_multiple_of(SAMPLES_EACH_SEARCH) {
            self.source = Source::find(&self.group, self.main);
        }
        self.samples += 1;
        let Some(source) = &mut self.source else { return };
        points.add_known(&QUOTA, Some(tier), source.cores());
        let now = source.throttled_s().map(|throttled_s| (points.at_s(), throttled_s));
        let last = std::mem::replace(&mut self.last, now);
        points.add_known(&THROTTLED, Some(tier), last.zip(now).map(|(last, now)| share(last, now)));
    }
}

impl Source {
    fn find(group: &Path, main: u32) -> Option<Source> {
        // What is above a tier's own group is its guest's, whose quota is for all its tiers.
        let groups = [Some(group.to_path_buf()), cgroup::v1_of(main, "cpu")].into_iter().flatten();
        let above = |group: PathBuf| [Some(group.clone()), group.parent().map(Path::to_path_buf)];
        groups.flat_map(above).flatten().find_map(|group| {
            let source = Source { stat: Reread::open(group.join("cpu.stat"))?, group };
            source.cores().map(|_| source)
        })
    }

    /// `None` where there is no limit.
    fn cores(&self) -> Option<f64> {
        let text = |file: &str| std::fs::read_to_string(self.group.join(file)).ok();
        if let Some(both) = text("cpu.max") {
            return cores_of(&both);
        }
        cores_of(&format!("{} {}", text("cpu.cfs_quota_us")?.trim(), text("cpu.cfs_period_us")?.trim()))
    }

    /// v2 counts microseconds, v1 nanoseconds.
    fn throttled_s(&mut self) -> Option<f64> {
        let text = self.stat.text()?;
        let micro = cgroup::field(text, "throttled_usec").map(|micro| micro as f64 / 1e6);
        micro.or_else(|| Some(cgroup::field(text, "throttled_time")? as f64 / 1e9))
    }
}

/// `QUOTA PERIOD` in microseconds; `max` and -1 are no limit.
fn cores_of(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_cores_and_no_limit_is_none() {
        assert_eq!(cores_of("50000 100000\n"), Some(0.5));
        assert_eq!(cores_of("max 100000"), None);
        assert_eq!(cores_of("-1 100000"), None);
    }
}
