//! A tier's limit of memory: what counts against it, how much of that is page cache, how often it was reached, and whom the
//! kernel killed for it.

use std::path::{Path, PathBuf};

use model::{Signal, signals};

use crate::cgroup;
use crate::points::Points;
use crate::reread::Reread;

signals! {
    LIMIT = Signal::of_tier(
        "memory.limit_bytes", "bytes", "its limit of memory, where it has one (`TIER.cgroup.memory`)"
    );
    CHARGED = Signal::of_tier(
        "memory.charged_bytes", "bytes", "what counts against its limit of memory, page cache included"
    )
    .shown_first();
    PAGE_CACHE = Signal::of_tier(
        "memory.page_cache_bytes",
        "bytes",
        "page cache that counts against its limit of memory: of files that it read or wrote first"
    )
    .shown_first();
    HITS = Signal::of_tier(
        "memory.limit_hits",
        "times/s",
        "how often memory was taken back from it at its limit; kernels that no longer count it for cgroup v1 (6.18) say 0"
    );
    HELD_BACK = Signal::of_tier(
        "memory.high_hits", "times/s", "how often it was held back because it took more than `memory.high` of its cgroup (v2)"
    );
    KILLS = Signal::of_tier("memory.kills", "processes/s", "processes of it that the kernel killed at its limit of memory");
}

/// Without a limit v1 says the largest number of whole pages.
const NO_LIMIT_FROM: f64 = (1u64 << 60) as f64;

/// A tier's group with a limit of memory: one of v2 with the controller, or one of v1.
#[derive(Debug)]
pub(super) struct MemoryLimit {
    limit: PathBuf,
    charged: Reread,
    stat: Reread,
    /// The name of the page cache in `stat`.
    cache: &'static str,
    counts: Vec<Count>,
}

/// What the kernel has counted since the group was made.
#[derive(Debug)]
struct Count {
    signal: &'static Signal,
    counter: Counter,
    /// When it was read last, in seconds, and what it was.
    last: Option<(f64, f64)>,
}

/// Where a count stands.
#[derive(Debug)]
enum Counter {
    /// The line of a file that begins so.
    Line(Reread, &'static str),
    /// How often the limit was reached, in v1: a file with a number, and one for memory and swap together, which is asked first
    /// where both have the same limit.
    Whole(Reread, Option<Reread>),
}

impl MemoryLimit {
    /// The limit of the tier whose processes are in `group`, `main` among them; `None` where it has none.
    pub(super) fn of(group: &Path, main: u32) -> Option<MemoryLimit> {
        MemoryLimit::unified(group).or_else(|| {
            // The same tier of the same lab: another group's limit is not this tier's own.
            let own: Vec<_> = group.components().rev().take(3).collect();
            let held = cgroup::v1_of(main, "memory")?;
            let same = held.components().rev().take(3).eq(own);
            same.then(|| MemoryLimit::legacy(&held)).flatten()
        })
    }

    fn unified(group: &Path) -> Option<MemoryLimit> {
        let open = |name: &str| Reread::open(group.join(name));
        let count = |signal, line| Some(Count::of(signal, Counter::Line(open("memory.events")?, line)));
        MemoryLimit {
            limit: group.join("memory.max"),
            charged: open("memory.current")?,
            stat: open("memory.stat")?,
            cache: "file",
            counts: vec![count(&HITS, "max")?, count(&HELD_BACK, "high")?, count(&KILLS, "oom_kill")?],
        }
        .limited()
    }

    fn legacy(group: &Path) -> Option<MemoryLimit> {
        let open = |name: &str| Reread::open(group.join(name));
        let hits = Counter::Whole(open("memory.failcnt")?, open("memory.memsw.failcnt"));
        let kills = open("memory.oom_control").map(|file| Counter::Line(file, "oom_kill"));
        let counts = [Some((&HITS, hits)), kills.map(|kills| (&KILLS, kills))];
        MemoryLimit {
            limit: group.join("memory.limit_in_bytes"),
            charged: open("memory.usage_in_bytes")?,
            stat: open("memory.stat")?,
            cache: "cache",
            counts: counts.into_iter().flatten().map(|(signal, at)| Count::of(signal, at)).collect(),
        }
        .limited()
    }

    fn limited(self) -> Option<MemoryLimit> {
        self.bytes().is_some().then_some(self)
    }

    fn bytes(&self) -> Option<f64> {
        let bytes: f64 = std::fs::read_to_string(&self.limit).ok()?.trim().parse().ok()?;
        (bytes < NO_LIMIT_FROM).then_some(bytes)
    }

    /// Adds what is seen now.
    pub(super) fn sample(&mut self, tier: &str, points: &mut Points) {
        let at_s = points.at_s();
        points.add_known(&LIMIT, Some(tier), self.bytes());
        let charged = self.charged.text().and_then(|text| text.trim().parse().ok());
        points.add_known(&CHARGED, Some(tier), charged);
        let cache = self.stat.text().and_then(|text| cgroup::field(text, self.cache));
        points.add_known(&PAGE_CACHE, Some(tier), cache.map(|bytes| bytes as f64));
        for count in &mut self.counts {
            points.add_known(count.signal, Some(tier), count.per_s(at_s));
        }
    }
}

impl Count {
    fn of(signal: &'static Signal, counter: Counter) -> Count {
        Count { signal, counter, last: None }
    }

    /// By how much it has grown a second since it was read last.
    fn per_s(&mut self, at_s: f64) -> Option<f64> {
        let now = self.counter.read()?;
        let (then_s, then) = self.last.replace((at_s, now)).filter(|(then_s, _)| at_s > *then_s)?;
        Some((now - then).max(0.0) / (at_s - then_s))
    }
}

impl Counter {
    fn read(&mut self) -> Option<f64> {
        match self {
            Counter::Line(file, line) => cgroup::field(file.text()?, line).map(|count| count as f64),
            Counter::Whole(memory, both) => {
                let number = |file: &mut Reread| file.text()?.trim().parse::<f64>().ok();
                Some(number(memory)? + both.as_mut().and_then(number).unwrap_or_default())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(points: &Points) -> Vec<(&str, f64)> {
        points.found.iter().map(|one| (one.name.as_str(), one.points[0].1)).collect()
    }

    fn sampled(
        files: &[(&str, &str)],
        later: &[(&str, &str)],
        of: fn(&Path) -> Option<MemoryLimit>,
    ) -> Vec<(String, f64)> {
        let group = tempfile::tempdir().expect("a temporary directory");
        let write = |file: &str, text: &str| std::fs::write(group.path().join(file), text).expect("writable");
        files.iter().for_each(|(file, text)| write(file, text));
        let mut limit = of(group.path()).expect("it has a limit");
        limit.sample("web", &mut Points::at(1.0));
        later.iter().for_each(|(file, text)| write(file, text));
        let mut points = Points::at(3.0);
        limit.sample("web", &mut points);
        values(&points).into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }

    fn with_swap(group: &Path) -> Option<MemoryLimit> {
        std::fs::write(group.join("memory.memsw.failcnt"), "0\n").expect("writable");
        MemoryLimit::legacy(group)
    }

    #[test]
    fn both_hierarchies_tell_the_same() {
        let expected = |names: &[&str]| {
            let all = [
                ("memory.limit_bytes", 1000.0),
                ("memory.charged_bytes", 900.0),
                ("memory.page_cache_bytes", 700.0),
                ("memory.limit_hits", 10.0),
                ("memory.high_hits", 2.0),
                ("memory.kills", 1.0),
            ];
            let told = all.into_iter().filter(|(name, _)| !names.contains(name));
            told.map(|(name, value)| (name.to_string(), value)).collect::<Vec<_>>()
        };
        let unified = [
            ("memory.max", "1000\n"),
            ("memory.current", "900\n"),
            ("memory.stat", "anon 100\nfile 700\n"),
            ("memory.events", "low 0\nhigh 0\nmax 5\noom 0\noom_kill 1\noom_group_kill 0\n"),
        ];
        let later = [("memory.events", "low 0\nhigh 4\nmax 25\noom 9\noom_kill 3\noom_group_kill 8\n")];
        assert_eq!(sampled(&unified, &later, MemoryLimit::unified), expected(&[]));
        let legacy = [
            ("memory.limit_in_bytes", "1000\n"),
            ("memory.usage_in_bytes", "900\n"),
            ("memory.stat", "cache 700\nrss 100\n"),
            ("memory.failcnt", "5\n"),
            ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n"),
        ];
        let killed = ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
        let of_v1 = expected(&["memory.high_hits"]);
        assert_eq!(sampled(&legacy, &[("memory.failcnt", "25\n"), killed], MemoryLimit::legacy), of_v1);
        // With one limit for both, it is the swap's count that grows: 20 times in two seconds.
        assert_eq!(sampled(&legacy, &[("memory.memsw.failcnt", "20\n"), killed], with_swap), of_v1);
        // Kernels before 4.13 don't count whom they killed.
        let old = expected(&["memory.high_hits", "memory.kills"]);
        assert_eq!(sampled(&legacy[..4], &[("memory.failcnt", "25\n")], MemoryLimit::legacy), old);
    }

    #[test]
    fn a_group_without_a_limit_has_none() {
        let group = tempfile::tempdir().expect("a temporary directory");
        for (file, text) in [
            ("memory.max", "max\n"),
            ("memory.current", "9\n"),
            ("memory.stat", "file 7\n"),
            ("memory.events", "max 5\n"),
        ] {
            std::fs::write(group.path().join(file), text).expect("writable");
        }
        assert!(MemoryLimit::unified(group.path()).is_none());
    }
}
