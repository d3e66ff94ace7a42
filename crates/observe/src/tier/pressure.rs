//! How long tasks of a tier waited for want of something (PSI), from its cgroup.

use std::path::Path;

use model::{Signal, signals};

use super::share::share;
use crate::host::stalled_s;
use crate::points::Points;
use crate::reread::Reread;

signals! {
    CPU = Signal::of_tier(
        "pressure.cpu_ratio", "ratio", "share of the time in which some task waited for a CPU"
    );
    IO = Signal::of_tier(
        "pressure.io_ratio", "ratio", "share of the time in which some task waited for a disk"
    );
    MEMORY = Signal::of_tier(
        "pressure.memory_ratio", "ratio", "share of the time in which some task waited for memory"
    );
}

/// Reads a tier's pressure.
#[derive(Debug)]
pub(super) struct Pressure(Vec<Source>);

#[derive(Debug)]
struct Source {
    signal: &'static Signal,
    file: Reread,
    last: Option<(f64, f64)>,
}

impl Pressure {
    /// That of the tier in `group`, as far as this kernel has it.
    pub(super) fn open(group: &Path) -> Pressure {
        let files = [(&CPU, "cpu.pressure"), (&IO, "io.pressure"), (&MEMORY, "memory.pressure")];
        let open =
            |(signal, file)| Some(Source { signal, file: Reread::open(group.join(file))?, last: None });
        Pressure(files.into_iter().filter_map(open).collect())
    }

    pub(super) fn sample(&mut self, tier: &str, points: &mut Points) {
        for source in &mut self.0 {
            let stalled_s = source.file.text().and_then(|text| stalled_s(text, "some"));
            let now = stalled_s.map(|stalled_s| (points.at_s(), stalled_s));
            let last = std::mem::replace(&mut source.last, now);
            points.add_known(source.signal, Some(tier), last.zip(now).map(|(last, now)| share(last, now)));
        }
    }
}
