//! What a fleet's agents came to.

use analysis::{OverloadedAgent, limits};
use model::units::{self, percent};

const FEWER: &str = "give it fewer users (a smaller weight) or more CPUs, or add an agent";

pub(super) fn agents(agents: usize, lost: &[(String, String)], ok: bool) -> String {
    let Some((agent, why)) = lost.first() else {
        return format!("all {agents} agents told every second of their users, and their end");
    };
    let others = match lost.len() {
        1 => String::new(),
        more => format!("; {} of {agents} were lost", more),
    };
    if ok {
        let number = lost.len();
        return format!(
            "{number} of {agents} agents lost, which was tolerated (agent {agent}: {why}); from then on their users were not there"
        );
    }
    format!(
        "agent {agent} was lost: {why}; without its users it is another load{others}; look at its machine and its log, and run again"
    )
}

pub(super) fn generators(worst: Option<&OverloadedAgent>, ok: bool) -> String {
    let Some(worst) = worst else {
        return "no agent told of itself in the seconds that count".to_string();
    };
    let (agent, what, limit) = match worst {
        OverloadedAgent::Cpu(agent, used) => {
            (agent, format!("used {} of its CPUs", percent(*used)), percent(limits::GENERATOR_CPU_RATIO))
        }
        OverloadedAgent::Thread(agent, used) => {
            let limit = percent(limits::GENERATOR_THREAD_RATIO);
            (agent, format!("had a thread that used {} of a CPU", percent(*used)), limit)
        }
        OverloadedAgent::Lag(agent, lag_s) => {
            let limit = units::show_seconds(limits::SEND_LAG_P99_S);
            (agent, format!("sent {} late (the median second's p99)", units::show_seconds(*lag_s)), limit)
        }
    };
    match ok {
        true => format!("the agent that was nearest to a limit, {agent}, {what}, at most {limit} allowed"),
        false => format!("agent {agent} {what}, more than {limit}: its users waited for it; {FEWER}"),
    }
}

pub(super) fn start(worst: Option<&(f64, String)>, ok: bool) -> String {
    let Some((late_s, agent)) = worst else { return "no agent said when it began".to_string() };
    let (late, limit) = (units::show_seconds(*late_s), units::show_seconds(limits::FLEET_START_S));
    match ok {
        true => format!("all agents began within {late} of the time that was set, at most {limit} allowed"),
        false => format!(
            "agent {agent} may have begun {late} after the time that was set, more than {limit}: seconds of its users are laid on \
             seconds of others; its way to the controller is too slow or too unlike in both directions to know its clock better"
        ),
    }
}

pub(super) fn clock(worst: Option<&(f64, String)>, ok: bool) -> String {
    let Some((drift_s, agent)) = worst else {
        return "no agent was asked for its clock at the end".to_string();
    };
    let (drift, limit) = (units::show_seconds(*drift_s), units::show_seconds(limits::FLEET_CLOCK_S));
    match (ok, *drift_s > 0.0) {
        (true, false) => "no agent's clock moved further than could be told".to_string(),
        (true, true) => {
            format!("the clock of {agent} moved the most, by {drift} at least, at most {limit} allowed")
        }
        (false, _) => format!(
            "the clock of agent {agent} moved by {drift} at least against the controller's, more than {limit}: its seconds are other \
             seconds; look at what steers that machine's clock"
        ),
    }
}
