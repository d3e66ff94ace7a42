//! What the generator saw of itself and of its machine.

use analysis::{SendLag, limits};
use model::units::{self, number, percent};

const OWN_CPU: &str = "give the generator CPUs that nothing else uses";

pub(super) fn room(exhausted: u64) -> String {
    if exhausted == 0 {
        return "the generator's machine had room for every connection".to_string();
    }
    format!(
        "the generator's machine had no free port, descriptor or buffer for {} connections: the server got less load \
         than was asked for; keep connections, ask for fewer, or give more source addresses or descriptors (ulimit -n)",
        number(exhausted as f64)
    )
}

pub(super) fn cpu(used_ratio: f64, ok: bool) -> String {
    let used = percent(used_ratio);
    let limit = percent(limits::GENERATOR_CPU_RATIO);
    if ok {
        return format!("the generator used {used} of its CPUs, at most {limit} allowed");
    }
    format!(
        "the generator used {used} of its CPUs, more than {limit}: it was the limit, not the stack; ask for fewer \
         users or give it more CPUs"
    )
}

pub(super) fn thread(used_ratio: f64, ok: bool) -> String {
    let used = percent(used_ratio);
    let limit = percent(limits::GENERATOR_THREAD_RATIO);
    if ok {
        return format!("its busiest thread used {used} of a CPU, at most {limit} allowed");
    }
    format!(
        "its busiest thread used {used} of a CPU, more than {limit}: its users waited for the generator; ask for fewer \
         users or give it more CPUs"
    )
}

pub(super) fn send_lag(lag: &SendLag, ok: bool) -> String {
    let limit = units::show_seconds(limits::SEND_LAG_P99_S);
    let Some(lag_s) = lag.lag_s else {
        return "nothing was sent, so nothing was late".to_string();
    };
    let late = units::show_seconds(lag_s);
    if ok {
        return format!("send lag p99 {late}, at most {limit} allowed");
    }
    format!(
        "send lag p99 {late}, more than {limit}: response times contain the generator's own delay; cause: {}",
        lag_cause(lag)
    )
}

/// What was recorded that makes a generator late, the largest first known, and what to try against it.
fn lag_cause(lag: &SendLag) -> String {
    let mut causes = Vec::new();
    let mut remedy = "ask for fewer users or give the generator more CPUs";
    if lag.cpu_wait_ratio >= 0.01 {
        causes.push(format!("its threads waited {} of the time for a CPU", percent(lag.cpu_wait_ratio)));
        remedy = OWN_CPU;
    }
    if let Some(steal) = lag.steal_ratio.filter(|steal| *steal >= 0.01) {
        causes.push(format!("the host withheld {} of the CPU time (steal)", percent(steal)));
        remedy = "repeat the run on a quieter host";
    }
    if let Some(cores) = lag.foreign_cores.filter(|cores| *cores >= 0.05) {
        causes.push(format!("foreign processes used {} cores", units::significant(cores)));
        remedy = "stop what else runs on this machine";
    }
    if lag.cpu_ratio >= 0.5 {
        causes.push(format!("the generator itself used {} of its CPUs", percent(lag.cpu_ratio)));
    }
    if lag.shares_cpus {
        causes.push("the stack runs on the generator's CPUs".to_string());
        remedy = OWN_CPU;
    }
    if causes.is_empty() {
        causes.push(format!(
            "neither waiting for a CPU ({}), nor steal{}, nor foreign processes{}; single long pauses (worst {})",
            percent(lag.cpu_wait_ratio),
            lag.steal_ratio.map(|steal| format!(" ({})", percent(steal))).unwrap_or_default(),
            lag.foreign_cores.map(|cores| format!(" ({} cores)", number(cores))).unwrap_or_default(),
            lag.worst_s.map_or("unknown".to_string(), units::show_seconds),
        ));
        remedy = "repeat the run; if it stays, ask for fewer users";
    }
    format!("{}; {remedy}", causes.join(", "))
}

pub(super) fn ceiling(ceiling_per_s: f64, answer_per_s: f64, times: f64, ok: bool) -> String {
    let seen = format!(
        "the generator's ceiling, {} requests/s, is {} times the {} requests/s at the answer",
        number(ceiling_per_s),
        units::significant(times),
        number(answer_per_s)
    );
    if ok {
        return seen;
    }
    format!(
        "{seen}, not {} times: the answer may be the generator's own; give it more CPUs, or the stack fewer",
        limits::CEILING_TIMES
    )
}
