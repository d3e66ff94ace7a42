//! Everything of a result that people read as a sentence: figures with units, the recorded cause, what to try.

mod demand;
pub mod diagnosis;
mod run;

pub(crate) use demand::{arrivals, bound, mix, pauses, rare, shares};
use model::record::{ConsistencyResult, Evidence, GeneratorResult, Outcome, TargetOutcome, UntimedResult};
use model::units;
pub use model::units::{number, percent};
pub use run::invalid;
pub(crate) use run::valid;

use crate::little::Little;
use crate::validity::{LogAlarm, TierEvent, TierFault, ValidityInputs, limits};

const OWN_CPU: &str = "give the generator CPUs that nothing else uses";

pub(crate) fn tiers(events: &[TierEvent]) -> String {
    if events.is_empty() {
        return "every tier ran from start to end".to_string();
    }
    let said: Vec<String> = events.iter().map(tier_event).collect();
    format!("{}; the figures are not those of the whole stack: see its log", said.join("; "))
}

fn tier_event(event: &TierEvent) -> String {
    let (tier, second) = (&event.tier, event.second);
    let what = match &event.fault {
        TierFault::Died(how) => format!("tier {tier} died in second {second} ({how})"),
        TierFault::OutOfMemory(kill) => {
            format!("tier {tier} was {kill}, in second {second} (more: {})", kill.remedy(tier))
        }
        TierFault::Restarted => format!("tier {tier} restarted in second {second}"),
    };
    match &event.log_line {
        Some(line) => format!("{what}, its log ends with `{}`", line.trim()),
        None => what,
    }
}

/// `627 operations that the script abandoned, 12 % of all`.
pub fn abandoned(untimed: &UntimedResult) -> String {
    let plural = if untimed.count == 1 { "operation" } else { "operations" };
    let count = number(untimed.count as f64);
    format!("{count} {plural} that the script abandoned, {} of all", percent(untimed.share_ratio))
}

pub(crate) fn untimed(untimed: Option<&UntimedResult>, strictest_s: Option<f64>, ok: bool) -> String {
    let Some(untimed) = untimed else { return "the script abandoned no operation".to_string() };
    let what = abandoned(untimed);
    let Some(limit_s) = strictest_s else {
        return format!("{what}; no target has a limit on times to hold them to");
    };
    let Some(p99_s) = untimed.p99_s else {
        return format!("{what}; too few to have a p99");
    };
    let (p99, limit) = (units::show_seconds(p99_s), units::show_seconds(limit_s));
    if ok {
        return format!("{what}: p99 {p99}, at most {limit} allowed");
    }
    format!(
        "{what}: p99 {p99}, more than {limit}, the strictest limit on times, and no target sees it: users waited where \
         nothing is timed; look at what delayed them, or time these operations in the session"
    )
}

pub(crate) fn duration(inputs: &ValidityInputs<'_>, ok: bool) -> String {
    let seen = format!(
        "{} of {} steady state",
        units::show_seconds(inputs.steady_s),
        units::show_seconds(inputs.planned_steady_s)
    );
    if ok {
        return format!("{seen} recorded");
    }
    if inputs.outcome == Outcome::Completed && inputs.planned_steady_s < 1.0 {
        let took = units::show_seconds(inputs.planned_steady_s);
        return format!(
            "it was over after {took}: the instrument judges itself by whole seconds; ask for more"
        );
    }
    if let (Outcome::Completed, Some(after_s)) = (inputs.outcome, inputs.unsettled_after_s) {
        let after = units::show_seconds(after_s);
        return format!("no steady state within {after}: throughput or response times kept changing");
    }
    let why = match inputs.outcome {
        Outcome::Interrupted => "the run was interrupted",
        Outcome::Aborted => "the run was given up",
        Outcome::Unfinished => "the run did not end: the tool died or is still at it",
        Outcome::Completed => "the recording has gaps",
    };
    format!("{why} after {seen}: repeat it and let it end")
}

pub(crate) fn room(exhausted: u64) -> String {
    if exhausted == 0 {
        return "the generator's machine had room for every connection".to_string();
    }
    format!(
        "the generator's machine had no free port, descriptor or buffer for {} connections: the server got less load \
         than was asked for; keep connections, ask for fewer, or give more source addresses or descriptors (ulimit -n)",
        number(exhausted as f64)
    )
}

/// `never` is an operation of which none completed, and how many of it failed.
pub(crate) fn errors_all(
    completed: u64,
    failed: u64,
    never: Option<(&str, u64)>,
    evidence: &[Evidence],
) -> String {
    let (done, all) = (number(completed as f64), number((completed + failed) as f64));
    if let (Some((name, count)), true) = (never, completed > 0) {
        let first = evidence.iter().find(|first| first.operation == name);
        let first = first.map(|first| format!("; the first ({}): {}", first.kind, first.message.trim()));
        let count = number(count as f64);
        return format!(
            "{name} never completed, all {count} failed{}; look at one user with `plimsoll try`",
            first.unwrap_or_default()
        );
    }
    if completed > 0 && failed <= completed {
        return format!("{done} of {all} operations completed");
    }
    if failed == 0 {
        return "no operation ended in the steady state; lengthen it (--steady), or look at one user with `plimsoll \
                try`"
            .to_string();
    }
    let first = evidence.first().map(|first| {
        format!("; the first: {} failed ({}): {}", first.operation, first.kind, first.message.trim())
    });
    let first = first.unwrap_or_default();
    if completed > 0 {
        let failed = number(failed as f64);
        return format!(
            "{failed} of {all} operations failed, more than completed: the figures are those of a minority{first}; ask for \
             less load, or look at one user with `plimsoll try`"
        );
    }
    format!("all {all} operations failed{first}; look at one user with `plimsoll try`")
}

pub(crate) fn generator_cpu(generator: &GeneratorResult, ok: bool) -> String {
    let seen = percent(generator.cpu_ratio);
    let limit = percent(limits::GENERATOR_CPU_RATIO);
    if ok {
        return format!("the generator used {seen} of its CPUs, at most {limit} allowed");
    }
    format!(
        "the generator used {seen} of its CPUs, more than {limit}: it was the limit, not the stack; ask for fewer \
         users or give it more CPUs"
    )
}

pub(crate) fn generator_thread(generator: &GeneratorResult, ok: bool) -> String {
    let seen = percent(generator.busiest_thread_ratio);
    let limit = percent(limits::GENERATOR_THREAD_RATIO);
    if ok {
        return format!("its busiest thread used {seen} of a CPU, at most {limit} allowed");
    }
    format!(
        "its busiest thread used {seen} of a CPU, more than {limit}: its users waited for the generator; ask for fewer \
         users or give it more CPUs"
    )
}

pub(crate) fn send_lag(
    generator: &GeneratorResult,
    shares_cpus: bool,
    seen: Option<f64>,
    ok: bool,
) -> String {
    let limit = units::show_seconds(limits::SEND_LAG_P99_S);
    let Some(lag) = seen else {
        return "nothing was sent, so nothing was late".to_string();
    };
    let lag = units::show_seconds(lag);
    if ok {
        return format!("send lag p99 {lag}, at most {limit} allowed");
    }
    format!(
        "send lag p99 {lag}, more than {limit}: response times contain the generator's own delay; cause: {}",
        lag_cause(generator, shares_cpus)
    )
}

/// What was recorded that makes a generator late, the largest first known, and what to try against it.
fn lag_cause(generator: &GeneratorResult, shares_cpus: bool) -> String {
    let mut causes = Vec::new();
    let mut remedy = "ask for fewer users or give the generator more CPUs";
    if generator.cpu_wait_ratio >= 0.01 {
        causes
            .push(format!("its threads waited {} of the time for a CPU", percent(generator.cpu_wait_ratio)));
        remedy = OWN_CPU;
    }
    if let Some(steal) = generator.steal_ratio.filter(|steal| *steal >= 0.01) {
        causes.push(format!("the host withheld {} of the CPU time (steal)", percent(steal)));
        remedy = "repeat the run on a quieter host";
    }
    if let Some(cores) = generator.foreign_cores.filter(|cores| *cores >= 0.05) {
        causes.push(format!("foreign processes used {} cores", units::significant(cores)));
        remedy = "stop what else runs on this machine";
    }
    if generator.cpu_ratio >= 0.5 {
        causes.push(format!("the generator itself used {} of its CPUs", percent(generator.cpu_ratio)));
    }
    if shares_cpus {
        causes.push("the stack runs on the generator's CPUs".to_string());
        remedy = OWN_CPU;
    }
    if causes.is_empty() {
        causes.push(format!(
            "neither waiting for a CPU ({}), nor steal{}, nor foreign processes{}; single long pauses (worst {})",
            percent(generator.cpu_wait_ratio),
            generator.steal_ratio.map(|steal| format!(" ({})", percent(steal))).unwrap_or_default(),
            generator.foreign_cores.map(|cores| format!(" ({} cores)", number(cores))).unwrap_or_default(),
            generator.lag.max_s.map_or("unknown".to_string(), units::show_seconds),
        ));
        remedy = "repeat the run; if it stays, ask for fewer users";
    }
    format!("{}; {remedy}", causes.join(", "))
}

pub(crate) fn users(seen: f64, asked: u32, ok: bool) -> String {
    let seen = number((seen * 10.0).round() / 10.0);
    if ok {
        return format!("{seen} of {asked} users were at work");
    }
    format!(
        "{seen} of {asked} users were at work: the load was not the one asked for; lengthen the ramp-up (--ramp-up)"
    )
}

/// `waiting`: users who are never answered are what the law stumbles over, and a target says so already.
pub(crate) fn little(little: &Little, waiting: bool) -> String {
    let (what, worst) = little.worst();
    let by_count = format!(
        "{} users by time integral, {} by X·(R+Z)",
        units::significant(little.users_mean()),
        units::significant(little.users_by_little())
    );
    let ratio = |seconds: f64| percent(seconds / worst.integral_s.max(f64::MIN_POSITIVE));
    if worst.holds() {
        let allowed = if worst.integral_s > 0.0 { ratio(worst.allowed_s()) } else { "0 %".to_string() };
        return format!("Little's law holds: {by_count}; largest difference within {allowed}");
    }
    if waiting {
        let open = ratio(worst.difference_s().abs());
        return format!(
            "Little's law holds with the users who were still waiting when the steady state ended ({open} of all user \
             time): the instrument lost nothing, the stack did not answer"
        );
    }
    if worst.ended == 0 {
        return format!("none of the {what} ended within the steady state; lengthen it (--steady)");
    }
    let fault = if worst.integral_s <= 0.0 {
        "ended without having been under way".to_string()
    } else {
        format!("differ by {}, more than {}", ratio(worst.difference_s().abs()), ratio(worst.allowed_s()))
    };
    let explained = (worst.difference_s() - worst.edges_s).abs() <= limits::LITTLE_RATIO * worst.integral_s;
    let cause = match (explained, worst.difference_s() < 0.0) {
        (true, true) => {
            "those under way at the end of the steady state explain it: the stack stood still then, or users hang; \
             lengthen the steady state (--steady)"
        }
        (true, false) => {
            "those under way at the start of the steady state explain it: the ramp-up had not settled; lengthen it \
             (--ramp-up)"
        }
        (false, true) => "completed work was lost; this is a fault of the instrument, report it",
        (false, false) => "work was counted twice; this is a fault of the instrument, report it",
    };
    format!("Little's law is broken: counted and integrated {what} {fault} ({by_count}); {cause}")
}

pub(crate) fn samples(inputs: &ValidityInputs<'_>, worst: Option<&TargetOutcome>) -> String {
    let Some(target) = worst else {
        return match inputs.targets.iter().map(|target| target.samples).min() {
            Some(least) => {
                format!("every target has the samples it needs (the fewest: {})", number(least as f64))
            }
            None => "no target asks for samples".to_string(),
        };
    };
    let clause = &target.target;
    let needed = number(target.samples_needed as f64);
    if target.samples == 0 {
        let what = target.target.operation.as_deref().unwrap_or("an operation");
        return format!("`{clause}` can't be judged: {what} never completed in the steady state");
    }
    let longer_s = inputs.steady_s * target.samples_needed as f64 / target.samples as f64;
    format!(
        "`{clause}` needs {needed} samples and has {}; about {:.0} s of steady state would give them (--steady)",
        number(target.samples as f64),
        (longer_s * 1.1 / 5.0).ceil() * 5.0
    )
}

pub(crate) fn alarms(alarms: &[LogAlarm]) -> String {
    if alarms.is_empty() {
        return "no tier's log raised an alarm".to_string();
    }
    let said = |alarm: &LogAlarm| {
        let times = if alarm.count > 1 { format!(" {} times", alarm.count) } else { String::new() };
        format!("tier {} logged `{}`{times}: {}", alarm.tier, alarm.line.trim(), alarm.means)
    };
    let mut sorted: Vec<&LogAlarm> = alarms.iter().collect();
    sorted.sort_by_key(|alarm| !alarm.invalid);
    sorted.into_iter().map(said).collect::<Vec<_>>().join("; ")
}

pub(crate) fn consistency(statements: &[ConsistencyResult]) -> String {
    let broken: Vec<&ConsistencyResult> = statements.iter().filter(|statement| !statement.ok).collect();
    match (statements.len(), broken.first()) {
        (0, _) => "the kit declares no consistency check, or it was not reached".to_string(),
        (all, None) => format!("the data is consistent: {all} of {all} statements hold"),
        (all, Some(first)) => format!(
            "the data is not consistent: {} of {all} statements broken; {}: {}",
            broken.len(),
            first.name,
            first.sentence
        ),
    }
}
