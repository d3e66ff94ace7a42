//! This process as series of the tier `generator`.

use std::collections::BTreeMap;

use model::Signal;
use model::record::Series;
use model::record::instrument::GENERATOR;

use super::process::{OwnProbe, OwnSample};
use crate::points::Points;
use crate::tier::{CPU, CPU_SYSTEM, CPU_WAIT, MEMORY};

/// Reads this process once a second; the machine and the tiers are read by the observer, a process of its own.
#[derive(Debug)]
pub struct OwnWatch {
    probe: OwnProbe,
    last: Option<(f64, OwnSample, BTreeMap<u32, f64>)>,
}

impl OwnWatch {
    /// A watch of this process.
    pub fn open() -> OwnWatch {
        OwnWatch { probe: OwnProbe::open(), last: None }
    }

    /// The new points at `at_s` seconds of the run. The first call gives memory only: a rate needs two.
    pub fn sample(&mut self, at_s: f64) -> Vec<Series> {
        if self.last.as_ref().is_some_and(|(last_s, ..)| at_s - last_s < 1e-3) {
            return Vec::new();
        }
        let now = self.probe.sample();
        let waits = self.probe.threads().into_iter().filter_map(|thread| Some((thread.id, thread.wait_s?)));
        let waits: BTreeMap<u32, f64> = waits.collect();
        let mut points = Points::at(at_s);
        points.add_known(&MEMORY, Some(GENERATOR), now.memory_bytes.map(|bytes| bytes as f64));
        if let Some((last_s, last, last_waits)) = &self.last {
            let elapsed_s = at_s - last_s;
            let mut cores = |signal: &Signal, spent_s: f64| {
                points.add(signal, Some(GENERATOR), spent_s.max(0.0) / elapsed_s);
            };
            cores(&CPU, now.cpu_s - last.cpu_s);
            cores(&CPU_SYSTEM, now.system_s - last.system_s);
            // A thread that began in between has waited only since then; one that ended takes its account with it.
            cores(&CPU_WAIT, waits.iter().map(|(id, s)| s - last_waits.get(id).unwrap_or(&0.0)).sum());
        }
        self.last = Some((at_s, now, waits));
        points.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reading_has_memory_only_and_the_second_has_rates() {
        let mut watch = OwnWatch::open();
        let names = |series: Vec<Series>| series.into_iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(names(watch.sample(0.0)), ["memory.bytes"]);
        assert!(watch.sample(0.0).is_empty(), "no time has passed");
        let second = watch.sample(1.0);
        assert!(second.iter().all(|one| one.tier.as_deref() == Some(GENERATOR)), "{second:?}");
        assert_eq!(names(second), ["memory.bytes", "cpu.cores", "cpu.system_cores", "cpu.wait_cores"]);
    }
}
