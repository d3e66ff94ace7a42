//! What is taken from the suspect and from an innocent tier, and how it is given back.

use model::catalogue::fault_file::{DelayedWait, Expected, Injection};
use model::catalogue::setting::{Apply, Values};
use model::record::diagnosis::{Change, Doing, SignalSummary, Suspect};
use model::{FaultFile, Kind, Plan, Problem, Recipe, Result, RunRecord, Value};
use testbed::Stack;

use super::windows::Window;

/// How much of a resource is left.
const LEFT_RATIO: f64 = 0.85;
/// Resources that come down to the CPU time of their tier.
const OF_CPU: [&str; 6] = ["cpu", "cpu quota", "opcache", "index", "connects", "gc"];

/// Resources that are waits: what threads do meanwhile, what can be made longer, and in which of these calls they have to be.
const WAITS: [(&str, Doing, DelayedWait, &[&str]); 3] = [
    ("sleep", Doing::Sleeping, DelayedWait::Sleep, &[]),
    ("locks", Doing::WaitingForLock, DelayedWait::Lock, &["flock"]),
    ("disk", Doing::WaitingForDisk, DelayedWait::Sync, &["fsync", "fdatasync"]),
];

/// One handicap.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum One {
    /// CPU time: what the tier could have, and how much of it is left; cores. `quota` is what a fault leaves it anyway.
    Cpu { tier: String, could_cores: f64, quota: Option<f64> },
    /// A pool's knob: its value, one that is smaller, and one that is larger where it may be.
    Pool { tier: String, knob: String, full: i64, less: i64, more: Option<i64> },
    /// A wait, each of which takes longer; and what share of the time of an operation, pauses included, it has by the ledger.
    Wait { tier: String, wait: DelayedWait, expected: f64 },
}

impl One {
    pub(super) fn tier(&self) -> &str {
        match self {
            One::Cpu { tier, .. } | One::Pool { tier, .. } | One::Wait { tier, .. } => tier,
        }
    }

    pub(super) fn left_ratio(&self) -> f64 {
        match self {
            One::Cpu { .. } | One::Wait { .. } => LEFT_RATIO,
            One::Pool { full, less, .. } => *less as f64 / *full as f64,
        }
    }

    pub(super) fn what(&self) -> String {
        match self {
            One::Cpu { could_cores, .. } => {
                format!("15 % of the {could_cores:.2} cores that it could have")
            }
            One::Pool { knob, full, less, .. } => format!("{} of {knob} {full}", full - less),
            One::Wait { wait: DelayedWait::Sleep, .. } => "each sleep".to_string(),
            One::Wait { wait: DelayedWait::Lock, .. } => "each hold of a file's lock".to_string(),
            One::Wait { wait: DelayedWait::Sync, .. } => "each fsync".to_string(),
        }
    }

    /// How it is changed when a part of it is taken.
    pub(super) fn change(&self) -> Change {
        if matches!(self, One::Wait { .. }) { Change::Lengthened } else { Change::Taken }
    }

    /// The elasticity that the ledger lets one expect.
    pub(super) fn expected(&self) -> Option<f64> {
        if let One::Wait { expected, .. } = self { Some(*expected) } else { None }
    }

    /// How much more there can be of it, as a ratio and in words; nothing where it can't.
    pub(super) fn more(&self) -> Option<(f64, String)> {
        let One::Pool { knob, full, more, .. } = self else { return None };
        let more = (*more)?;
        Some((more as f64 / *full as f64, format!("{} for {knob} {full}", more - full)))
    }

    fn set(&self, window: Window, stack: &mut Stack) -> Result<()> {
        let taken = matches!(window, Window::Suspect | Window::Innocent);
        match self {
            One::Cpu { tier, could_cores, quota } => {
                stack.set_cpu_quota(tier, if taken { Some(could_cores * LEFT_RATIO) } else { *quota })
            }
            One::Pool { tier, knob, full, less, more } => {
                let size = match window {
                    Window::More => more.unwrap_or(*full),
                    _ if taken => *less,
                    _ => *full,
                };
                stack.set_knob(tier, knob, &size.to_string())
            }
            One::Wait { tier, wait, .. } => {
                stack.set_delay(tier, *wait, if taken { 1.0 / LEFT_RATIO - 1.0 } else { 0.0 })
            }
        }
    }
}

/// Both handicaps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Take {
    suspect: One,
    innocent: Option<One>,
    quotas: Vec<(String, f64)>,
    /// No CPU quota can be set here, so that no other tier can be handicapped.
    alone: bool,
}

impl Take {
    /// What is taken to prove the first suspect of a run.
    ///
    /// # Errors
    /// A run without a suspect; a resource of which no part can be taken.
    pub(super) fn both(record: &RunRecord, plan: &Plan) -> Result<Take> {
        let suspects = record.diagnosis.iter().flat_map(|diagnosis| &diagnosis.suspects);
        let suspect = suspects.into_iter().next().ok_or_else(|| {
            Problem::invalid("the run's diagnosis names nothing that could be proved").key("--prove")
        })?;
        let quotas = quotas(plan);
        let one = of(suspect, record, plan, &quotas)?;
        let others = plan.tiers.iter().map(|tier| tier.name.as_str()).filter(|name| *name != one.tier());
        let used = |tier: &str| used_cores(record, tier).unwrap_or(0.0);
        // Of the least busy tier a part can be missed; where it can't, that tells something too.
        let innocent = others.min_by(|one, other| used(one).total_cmp(&used(other)));
        let innocent = innocent.and_then(|tier| cpu(tier, record, plan, &quotas));
        Ok(Take { suspect: one, innocent, quotas, alone: false })
    }

    pub(super) fn of(&self, window: Window) -> Option<&One> {
        match window {
            Window::Baseline => None,
            Window::Suspect => Some(&self.suspect),
            Window::More => Some(&self.suspect).filter(|one| one.more().is_some()),
            Window::Innocent => self.innocent.as_ref(),
        }
    }

    /// What windows there are.
    pub(super) fn kinds(&self) -> Vec<Window> {
        let mut kinds = vec![Window::Baseline, Window::Suspect, Window::Innocent];
        kinds.extend(self.suspect.more().map(|_| Window::More));
        kinds
    }

    /// What the plan's stack has to be started with so that it can be taken.
    pub(super) fn prepare(&self, plan: &mut Plan) {
        let One::Wait { tier, wait, .. } = &self.suspect else { return };
        let nothing = Injection::Delay { tier: tier.clone(), wait: *wait, ratio: 0.0 };
        let own = || FaultFile {
            format: 1,
            name: "proof".to_string(),
            title: "A proof by intervention".to_string(),
            why: "Waits can be made longer while the stack stands.".to_string(),
            quick: false,
            expect: Expected::Healthy,
            busy_ratio: None,
            recipe: Recipe::default(),
            injections: Vec::new(),
        };
        plan.fault.get_or_insert_with(own).injections.push(nothing);
    }

    /// Whether only the suspect can be handicapped on this machine.
    pub(super) fn is_alone(&self) -> bool {
        self.alone
    }

    /// Puts all tiers where they are when nothing is taken, from the first window on: a group of its own changes how a
    /// tier is scheduled. A pool can be proved where no group can be made, but no other tier beside it: then this gives
    /// the reason.
    ///
    /// # Errors
    /// A machine that lets no CPU quota be set, where the suspect or a fault needs one.
    pub(super) fn settle(&mut self, plan: &Plan, stack: &mut Stack) -> Result<Option<String>> {
        if matches!(self.suspect, One::Wait { .. }) {
            self.suspect.set(Window::Baseline, stack)?;
        }
        let released = plan.tiers.iter().try_for_each(|tier| self.release(&tier.name, stack));
        let Err(found) = released else { return Ok(None) };
        let needed = !self.quotas.is_empty() || matches!(self.suspect, One::Cpu { .. });
        if needed || found.iter().any(|problem| problem.kind != Kind::Environment) {
            return Err(found);
        }
        (self.innocent, self.alone) = (None, true);
        Ok(found.into_vec().into_iter().next().map(|problem| problem.what))
    }

    fn release(&self, tier: &str, stack: &mut Stack) -> Result<()> {
        let quota = self.quotas.iter().find(|(name, _)| name == tier).map(|(_, cores)| *cores);
        stack.set_cpu_quota(tier, quota)
    }

    /// From one window to the next.
    pub(super) fn change(&self, before: Window, next: Window, stack: &mut Stack) -> Result<()> {
        if before == next {
            return Ok(());
        }
        self.of(before).map_or(Ok(()), |one| one.set(Window::Baseline, stack))?;
        self.of(next).map_or(Ok(()), |one| one.set(next, stack))
    }

    pub(super) fn words(&self, window: Option<Window>) -> String {
        match window.map(|window| (window, self.of(window))) {
            None => "ramp-up".to_string(),
            Some((Window::More, Some(one))) => {
                format!(
                    "{} more for tier {}",
                    one.more().map(|(_, what)| what).unwrap_or_default(),
                    one.tier()
                )
            }
            Some((_, Some(one @ One::Wait { .. }))) => {
                format!("{} of tier {} made longer", one.what(), one.tier())
            }
            Some((_, Some(one))) => format!("{} taken from tier {}", one.what(), one.tier()),
            Some((_, None)) => "nothing taken".to_string(),
        }
    }
}

fn quotas(plan: &Plan) -> Vec<(String, f64)> {
    let quota = |injection: &Injection| match injection {
        Injection::CpuQuota { tier, cores } => Some((tier.clone(), *cores)),
        _ => None,
    };
    let injected: Vec<(String, f64)> = plan.injections().iter().filter_map(quota).collect();
    let set = plan.tiers.iter().filter_map(|tier| Some((tier.name.clone(), tier.cpu_limit_cores?)));
    // What a fault leaves a tier wins: it is set after the start.
    let set = set.filter(|(name, _)| !injected.iter().any(|(held, _)| held == name)).collect::<Vec<_>>();
    injected.into_iter().chain(set).collect()
}

fn of(suspect: &Suspect, record: &RunRecord, plan: &Plan, quotas: &[(String, f64)]) -> Result<One> {
    let pool = suspect.tries.iter().find_map(|one| pool(one.knob.as_deref()?, &suspect.tier, plan));
    let wanted = if OF_CPU.contains(&suspect.resource.as_str()) {
        cpu(&suspect.tier, record, plan, quotas)
    } else {
        pool.or_else(|| wait(suspect, record))
    };
    // The generator, the observers and the host are no tiers of the plan: nothing of theirs can be taken.
    let wanted = wanted.filter(|_| plan.tier(&suspect.tier).is_some());
    wanted.ok_or_else(|| {
        let what =
            format!("no part of {} {} can be taken while the stack stands", suspect.tier, suspect.resource);
        let remedy = "change what it suggests and use `plimsoll compare`";
        Problem::invalid(what).key("--prove").remedy(remedy).into()
    })
}

/// What a tier could have: what it uses and what nobody uses, or its fair share of the CPUs if that is more. A part of
/// what it uses would be missed by any tier: CPU time goes with the throughput.
fn cpu(tier: &str, record: &RunRecord, plan: &Plan, quotas: &[(String, f64)]) -> Option<One> {
    let used = used_cores(record, tier)?;
    let quota = quotas.iter().find(|(name, _)| name == tier).map(|(_, cores)| *cores);
    let all: f64 = plan.tiers.iter().filter_map(|tier| used_cores(record, &tier.name)).sum();
    let cores = plan.placement.stack.len() as f64;
    let could_cores = (used + (cores - all).max(0.0)).max(cores / plan.tiers.len() as f64);
    let could_cores = quota.map_or(could_cores, |quota| quota.min(could_cores));
    Some(One::Cpu { tier: tier.to_string(), could_cores, quota })
}

fn used_cores(record: &RunRecord, tier: &str) -> Option<f64> {
    record.tiers.iter().find(|row| row.tier == tier)?.cpu_cores
}

/// A wait of the suspect's that can be made longer from outside, by the calls that the ledger saw it in.
fn wait(suspect: &Suspect, record: &RunRecord) -> Option<One> {
    let doing = WAITS.iter().find(|(resource, ..)| *resource == suspect.resource)?;
    let (_, doing, wait, calls) = doing;
    let ledger = record.diagnosis.as_ref()?.ledger.as_ref()?;
    let part = ledger.parts.iter().find(|part| part.tier == suspect.tier && part.doing == *doing)?;
    let call = part.mechanisms.first().map(|first| first.call.as_str());
    // Of a virtual machine nobody saw the call: its threads sleep by its own word.
    if !calls.is_empty() && !call.is_some_and(|call| calls.contains(&call)) {
        return None;
    }
    let mean = |tier: Option<&str>, name: &str| {
        let is_it = |one: &&SignalSummary| one.tier.as_deref() == tier && one.name == name;
        record.signals.iter().find(is_it).map(|signal| signal.mean)
    };
    // Whoever queues for a lock or a disk waits longer with it.
    let caused = mean(Some(&suspect.tier), &format!("caused.{}", doing.word()));
    let busy = mean(None, "run.response_share")?;
    let expected = caused.unwrap_or(part.share_ratio).min(1.0) * busy;
    Some(One::Wait { tier: suspect.tier.clone(), wait: *wait, expected })
}

/// A knob of the tier that bounds how many are served at once and comes into force by a reload.
fn pool(knob: &str, tier: &str, plan: &Plan) -> Option<One> {
    let name = knob.strip_prefix(tier)?.strip_prefix('.')?;
    let planned = plan.tier(tier)?;
    let setting = planned.service.knobs.iter().find(|one| one.name == name)?;
    let Some(Value::Int(full)) = planned.values.get(name) else { return None };
    let reloads = setting.apply == Apply::Reload && planned.service.reload.is_some();
    let step = step(name, &planned.values);
    let less = reduced(*full, setting.min.unwrap_or(1.0) as i64, step)?;
    let more = raised(*full, setting.max.map_or(i64::MAX, |max| max as i64), step);
    reloads.then(|| One::Pool { tier: tier.to_string(), knob: name.to_string(), full: *full, less, more })
}

/// What a pool's size is a multiple of: Apache's threaded MPMs round `MaxRequestWorkers` down to whole processes.
fn step(knob: &str, values: &Values) -> i64 {
    let prefork = matches!(values.get("mpm"), Some(Value::Text(mpm)) if mpm == "prefork");
    match values.get("ThreadsPerChild") {
        Some(Value::Int(threads)) if knob == "MaxRequestWorkers" && !prefork => (*threads).max(1),
        _ => 1,
    }
}

/// A pool's size when a part of it is taken: at least `least`, below `full`, a multiple of `step`; absent if none is.
fn reduced(full: i64, least: i64, step: i64) -> Option<i64> {
    let least = least.max(1);
    let wanted = ((full as f64 * LEFT_RATIO).floor() as i64).max(least);
    let less = wanted / step * step;
    (least..full).contains(&less).then_some(less)
}

/// A pool's size with as large a part in addition: above `full`, at most `most`, a multiple of `step`; absent if none is.
fn raised(full: i64, most: i64, step: i64) -> Option<i64> {
    let wanted = (full as f64 / LEFT_RATIO).ceil() as i64;
    let more = wanted.checked_add(step - 1)? / step * step;
    (full + 1..=most).contains(&more).then_some(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_of_threads_is_reduced_by_whole_processes() {
        let values = |mpm: &str| {
            let mpm = ("mpm".to_string(), Value::Text(mpm.to_string()));
            Values::from([mpm, ("ThreadsPerChild".to_string(), Value::Int(25))])
        };
        assert_eq!(step("MaxRequestWorkers", &values("event")), 25);
        assert_eq!(step("MaxRequestWorkers", &values("worker")), 25);
        assert_eq!(step("MaxRequestWorkers", &values("prefork")), 1);
        assert_eq!(step("pm.max_children", &Values::new()), 1);
        assert_eq!(reduced(150, 1, 25), Some(125));
        assert_eq!(reduced(50, 1, 25), Some(25), "what is said is what Apache makes of it");
        assert_eq!(reduced(25, 1, 25), None, "no process would be left");
        assert_eq!(reduced(4, 1, 1), Some(3));
        assert_eq!(reduced(1, 1, 1), None);
        assert_eq!(raised(150, 1_000, 25), Some(200));
        assert_eq!(raised(4, 1_000, 1), Some(5));
        assert_eq!(raised(4, 4, 1), None);
        let (tier, knob) = ("web".to_string(), "MaxRequestWorkers".to_string());
        let half = One::Pool { tier, knob, full: 50, less: 25, more: Some(75) };
        assert_eq!((half.what().as_str(), half.left_ratio()), ("25 of MaxRequestWorkers 50", 0.5));
        assert_eq!(half.more(), Some((1.5, "25 for MaxRequestWorkers 50".to_string())));
    }
}
