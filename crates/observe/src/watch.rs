//! All observers of a run, read together once a second.

use std::time::Duration;

use model::record::Series;
use model::record::calls::{Aborted, CallStep};
use model::record::instrument::OBSERVERS;
use model::record::statements::{StatementFacts, StatementSeen};
use model::record::threads::ThreadsSeen;

use crate::calls::{Calls, Room};
use crate::host::{FarHost, Host};
use crate::instrument::Viewer;
use crate::job::{Job, TierJob};
use crate::points::Points;
use crate::process::{self, ProcessTable};
use crate::server::Servers;
use crate::tier::{Instances, Threads, Tier, Usage};

/// What is not seen where calls are not counted.
const CALLS: &str = "what calls the tiers' threads wait in, as the kernel counts it";

/// Reads every tier, the host and the observers themselves. A point of a rate holds for the time since the point
/// before it. The series are in `docs/reference/signals.md`.
#[derive(Debug)]
pub struct Watch {
    /// The observers last, where they are told of.
    usages: Vec<Usage>,
    /// Of tiers that nothing else is said of.
    beside: Vec<Usage>,
    /// Those of tiers that have several.
    instances: Vec<Instances>,
    generator: u32,
    generator_last: Option<(f64, f64)>,
    viewer: Option<Viewer>,
    host: Option<Host>,
    /// How busy the machine was, as it is told of tiers that are on another one than the controller.
    far: Option<FarHost>,
    tiers: Vec<Tier>,
    threads: Option<Threads>,
    calls: Option<Calls>,
    /// Why calls are not counted, or not any more; said once.
    uncounted: Option<String>,
    servers: Servers,
    last_s: Option<f64>,
}

impl Watch {
    /// A watch over the tiers of `job`, the host and this process, which is the observer.
    pub fn new(job: &Job) -> Watch {
        let usage = |tier: &TierJob| Usage::of(&tier.name, tier.cgroup.clone(), &tier.pids);
        // What is read once a second would be read of a time in which the run rests.
        let counted = if job.beside.is_empty() { Calls::open(job, Room::OF_RUNS) } else { Ok(None) };
        let uncounted = counted.as_ref().err().map(|why| format!("{CALLS}: {why}"));
        Watch {
            usages: job
                .tiers
                .iter()
                .chain(&job.carriers)
                .map(usage)
                .chain((!job.tiers_only).then(|| Usage::of_self(OBSERVERS)))
                .collect(),
            beside: job.beside.iter().map(usage).collect(),
            instances: job.tiers.iter().filter_map(Instances::of).collect(),
            generator: job.generator,
            generator_last: None,
            viewer: job.viewer_file.clone().map(Viewer::of),
            host: (!job.tiers_only).then(|| Host::open(&job.stack_cpus)),
            far: job.tiers_only.then(|| FarHost::of(&job.tiers)),
            tiers: job.tiers.iter().filter_map(Tier::of).collect(),
            threads: if job.tiers_only { None } else { Threads::open(job) },
            calls: counted.ok().flatten(),
            uncounted,
            servers: Servers::start(&job.servers),
            last_s: None,
        }
    }

    /// Reads everything at `at_s` seconds of the run and gives the new points, a series each. The first call gives
    /// only what is no rate. Calls that are less than a millisecond apart give nothing new.
    pub fn sample(&mut self, at_s: f64) -> Vec<Series> {
        if self.last_s.is_some_and(|last_s| at_s - last_s < 1e-3) {
            return Vec::new();
        }
        self.last_s = Some(at_s);
        let mut points = Points::at(at_s);
        // One after the other at once: what is foreign is what is left of the machine's.
        let viewer_cores = self.viewer.as_mut().map_or(0.0, |viewer| viewer.sample(&mut points));
        let known_cores = self.usages(&mut points) + self.generator_cores(at_s) + viewer_cores;
        if let Some(host) = &mut self.host {
            host.sample(known_cores, &mut points);
        }
        if let Some(far) = &mut self.far {
            far.sample(&mut points);
        }
        self.tiers.iter_mut().for_each(|tier| tier.sample(&mut points));
        if let Some(threads) = &mut self.threads {
            threads.sample(&mut points);
            threads.queues(&mut points);
        }
        points.found.extend(self.servers.sample(at_s));
        points.found
    }

    /// What the kernel has counted of the tiers' calls up to `at_s` seconds of the run, since it was read last,
    /// and its figures.
    pub(crate) fn calls(&mut self, at_s: f64) -> Option<(CallStep, Vec<Series>)> {
        let step = self.calls.as_mut()?.sample(at_s);
        let step = self.unless_broken(step)??;
        let figures = self.calls.as_ref()?.figures(&step);
        Some((step, figures))
    }

    /// The process that was ended because it waited where it may not, once; `at_s` is now.
    pub(crate) fn aborted(&mut self, at_s: f64) -> Option<Aborted> {
        let aborted = self.calls.as_mut()?.aborted(at_s);
        self.unless_broken(aborted)?
    }

    /// The statements that clients of databases were seen in since the last call, and what came to be known of some.
    pub(crate) fn statements(&self) -> (Vec<StatementSeen>, Vec<StatementFacts>) {
        self.servers.statements()
    }

    /// What threads with a request were at since the last call.
    pub(crate) fn threads(&self) -> Vec<ThreadsSeen> {
        self.servers.threads()
    }

    /// Why calls are not counted, once.
    pub(crate) fn uncounted(&mut self) -> Option<String> {
        self.uncounted.take()
    }

    /// Counting that failed once is given up.
    fn unless_broken<T>(&mut self, outcome: Result<T, String>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(why) => {
                self.calls = None;
                self.uncounted = Some(format!("{CALLS} from then on: {why}"));
                None
            }
        }
    }

    /// Each tier with where its CPU time comes from.
    pub fn sources(&self) -> Vec<(String, String)> {
        self.usages.iter().map(|tier| (tier.name().to_string(), tier.source().to_string())).collect()
    }

    /// What is not among [`Self::sources`] and was seen first since the last call.
    pub(crate) fn appeared(&mut self) -> Vec<(String, String)> {
        self.viewer.as_mut().and_then(Viewer::appeared).into_iter().collect()
    }

    /// What can't be seen on this machine, and why.
    pub fn unseen(&self) -> Vec<String> {
        let Some(host) = &self.host else { return Vec::new() };
        let threads = match &self.threads {
            Some(threads) => threads.unseen(),
            None => vec!["what threads do: this kernel has no /proc/PID/syscall".to_string()],
        };
        threads.into_iter().chain(host.unseen()).collect()
    }

    /// How long until the next look between two samples; for ever when there is nothing to look at.
    pub(crate) fn next_look(&self) -> Option<Duration> {
        let look = self.threads.as_ref().and_then(Threads::next_look);
        let turn = self.calls.as_ref().and_then(Calls::next_turn);
        look.into_iter().chain(turn).min()
    }

    /// A look between two samples, and what else is due.
    pub(crate) fn look(&mut self) {
        if let Some(threads) = &mut self.threads {
            threads.look();
        }
        if let Some(turned) = self.calls.as_mut().map(Calls::turn) {
            self.unless_broken(turned);
        }
    }

    /// Adds what tiers and observers use, and gives the CPU time a second of all together, also of those beside.
    fn usages(&mut self, points: &mut Points) -> f64 {
        let needs_table =
            !self.instances.is_empty() || self.usages.iter().chain(&self.beside).any(Usage::needs_table);
        let table = if needs_table { ProcessTable::scan() } else { ProcessTable::default() };
        self.instances.iter_mut().for_each(|tier| tier.sample(&table, points));
        let mut untold = Points::at(points.at_s());
        let beside: f64 = self.beside.iter_mut().map(|usage| usage.sample(&table, &mut untold)).sum();
        beside + self.usages.iter_mut().map(|usage| usage.sample(&table, points)).sum::<f64>()
    }

    /// The CPU time a second of the generator since the last sample; it gives its own series itself.
    fn generator_cores(&mut self, at_s: f64) -> f64 {
        let now = process::own_cpu_s(self.generator).map(|cpu_s| (at_s, cpu_s));
        let last = std::mem::replace(&mut self.generator_last, now);
        let both = last.zip(now);
        both.map_or(0.0, |((then_s, before_s), (_, cpu_s))| (cpu_s - before_s).max(0.0) / (at_s - then_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reading_has_no_rates_and_a_tier_that_is_gone_has_none_at_all() {
        let gone = TierJob { name: "web".to_string(), pids: vec![u32::MAX], ..TierJob::default() };
        let job = Job { tiers: vec![gone], generator: std::process::id(), ..Job::default() };
        let mut watch = Watch::new(&job);
        let first = watch.sample(0.0);
        assert!(first.iter().all(|series| !series.name.starts_with("cpu.")), "{first:?}");
        assert!(watch.sample(0.0).is_empty(), "no time has passed");
        let second = watch.sample(1.0);
        let has = |tier: &str| {
            second.iter().any(|one| one.name == "cpu.cores" && one.tier.as_deref() == Some(tier))
        };
        assert!(has(OBSERVERS) && !has("web"), "{second:?}");
        assert_eq!(watch.sources()[0], ("web".to_string(), "/proc".to_string()));
        assert_eq!(watch.sources()[1].0, OBSERVERS);
    }

    #[test]
    fn of_tiers_on_another_machine_nothing_is_told_of_that_machine_but_its_cpus() {
        let own = TierJob { name: "db".to_string(), pids: vec![std::process::id()], ..TierJob::default() };
        let job = Job { tiers: vec![own], tiers_only: true, ..Job::default() };
        let mut watch = Watch::new(&job);
        assert_eq!(watch.sources(), [("db".to_string(), "/proc".to_string())]);
        assert_eq!(watch.unseen(), [] as [String; 0]);
        let mut found = watch.sample(0.0);
        // The kernel's own clock ticks: a busy ratio needs one.
        let began = std::time::Instant::now();
        while !found.iter().any(|one| one.name == "host.busy_ratio") && began.elapsed().as_secs() < 60 {
            std::thread::sleep(Duration::from_millis(20));
            found.extend(watch.sample(began.elapsed().as_secs_f64()));
        }
        assert!(found.iter().all(|one| one.tier.as_deref() == Some("db")), "{found:?}");
        let last = |name: &str| found.iter().rfind(|one| one.name == name).map(|one| one.points[0].1);
        let online = std::fs::read_to_string("/proc/stat").expect("it is there");
        let online = online.lines().filter(|line| line.starts_with("cpu")).count() - 1;
        assert_eq!(last("host.cpus"), Some(online as f64));
        assert!(last("host.busy_ratio").is_some_and(|ratio| (0.0..=1.0).contains(&ratio)), "{found:?}");
        assert!(last("cpu.cores").is_some() && last("threads.count").is_none(), "{found:?}");
    }

    #[test]
    fn what_tiers_beside_use_is_neither_shown_nor_foreign() {
        let own = TierJob { name: "web".to_string(), pids: vec![std::process::id()], ..TierJob::default() };
        // What is busy and not foreign, and what this process used: other tests use CPUs, too, and are foreign in both.
        let known_and_used_cores = |beside: Vec<TierJob>| {
            let used_s = || process::own_cpu_s(std::process::id()).expect("a process can read its own times");
            let mut watch = Watch::new(&Job { beside, generator: u32::MAX, ..Job::default() });
            watch.usages.clear();
            watch.sample(0.0);
            let (began, before_s) = (std::time::Instant::now(), used_s());
            while began.elapsed() < Duration::from_millis(300) || used_s() - before_s < 0.1 {
                std::hint::spin_loop();
            }
            let (took_s, spent_s) = (began.elapsed().as_secs_f64(), used_s() - before_s);
            let found = watch.sample(took_s);
            assert!(found.iter().all(|series| series.tier.is_none()), "{found:?}");
            let cores = |name| found.iter().find(|one| one.name == name).map(|one| one.points[0].1);
            let (busy, foreign) = (cores("cpu.busy_cores"), cores("cpu.foreign_cores"));
            (busy.expect("the machine tells it") - foreign.expect("what is left of it"), spent_s / took_s)
        };
        let (unknown, _) = known_and_used_cores(Vec::new());
        assert!(unknown.abs() < 1e-9, "of nobody anything is known: {unknown}");
        let (known, used) = known_and_used_cores(vec![own]);
        assert!(
            (known - used).abs() < 0.25 * used.max(0.2),
            "it is known whose these {used} cores are: {known}"
        );
    }
}
