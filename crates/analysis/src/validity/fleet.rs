//! The checks of a fleet: whether its agents are all there, each kept up by itself, and they are one instrument in time.

use model::record::{AgentResult, AgentSecond, Check, FleetResult};

use crate::finding::{CheckOutcome, Finding, OverloadedAgent};
use crate::{limits, median};

/// What an agent's generator saw of itself over the seconds from `from_s` to `to_s`, given all that it told: CPU as a share of its
/// `cpus`, that of its busiest thread as a share of one, and the median of the seconds' 99th percentiles of send lag in seconds.
/// Nothing where it told none of them.
pub fn fill_in_agent(agent: &mut AgentResult, seconds: &[AgentSecond], (from_s, to_s): (f64, f64)) {
    let is_in = |one: &&AgentSecond| {
        let begins_s = f64::from(one.second);
        begins_s >= from_s && begins_s + 1.0 <= to_s
    };
    let within: Vec<&AgentSecond> = seconds.iter().filter(is_in).collect();
    if within.is_empty() {
        return;
    }
    let mean =
        |of: fn(&AgentSecond) -> f64| within.iter().map(|one| of(one)).sum::<f64>() / within.len() as f64;
    agent.cpu_ratio = Some(mean(|one| one.cpu_s) / agent.cpus.len().max(1) as f64);
    agent.busiest_thread_ratio = Some(mean(|one| one.busiest_thread_cpu_s));
    agent.lag_p99_s = median(within.iter().filter_map(|one| one.lag_p99_s).collect());
}

/// What was left of a load to the agents that were there, given what all of them have of it between two times in seconds.
pub(crate) fn left(
    fleet: Option<&FleetResult>,
    (from_s, to_s): (f64, f64),
    of_all: &dyn Fn(f64, f64) -> f64,
) -> f64 {
    let gone = |agent: &AgentResult| {
        let since_s = f64::from(agent.seconds).max(from_s);
        if since_s < to_s { agent.users_ratio * of_all(since_s, to_s) } else { 0.0 }
    };
    of_all(from_s, to_s) - fleet.iter().flat_map(|fleet| fleet.lost()).map(gone).sum::<f64>()
}

/// All of them.
pub(super) fn checks(fleet: &FleetResult) -> [CheckOutcome; 4] {
    [agents_check(fleet), generators(fleet), start(fleet), clock(fleet)]
}

fn agents_check(fleet: &FleetResult) -> CheckOutcome {
    let lost = |agent: &AgentResult| Some((agent.agent.clone(), agent.lost.clone()?));
    let lost: Vec<(String, String)> = fleet.agents.iter().filter_map(lost).collect();
    let figures = Some((lost.len() as f64, f64::from(fleet.tolerated)));
    let ok = lost.is_empty() || fleet.is_degraded();
    let finding = Finding::FleetAgents { agents: fleet.agents.len(), lost };
    CheckOutcome::new(Check::FleetAgents, ok, figures, finding)
}

/// By the agent that is the furthest over a limit, or the closest to one.
fn generators(fleet: &FleetResult) -> CheckOutcome {
    let worst = |agent: &AgentResult| {
        let name = || agent.agent.clone();
        let of = |agent, used, limit: f64, what: fn(String, f64) -> OverloadedAgent| {
            let used: f64 = used?;
            Some((used, limit, what(agent, used)))
        };
        [
            of(name(), agent.cpu_ratio, limits::GENERATOR_CPU_RATIO, OverloadedAgent::Cpu),
            of(name(), agent.busiest_thread_ratio, limits::GENERATOR_THREAD_RATIO, OverloadedAgent::Thread),
            of(name(), agent.lag_p99_s, limits::SEND_LAG_P99_S, OverloadedAgent::Lag),
        ]
    };
    let all = fleet.agents.iter().flat_map(worst).flatten();
    let worst = all.max_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
    let ok = worst.as_ref().is_none_or(|(used, limit, _)| used <= limit);
    let figures = worst.as_ref().map(|(used, limit, _)| (*used, *limit));
    let finding = Finding::FleetGenerators(worst.map(|(_, _, what)| what));
    CheckOutcome::new(Check::FleetGenerators, ok, figures, finding)
}

fn start(fleet: &FleetResult) -> CheckOutcome {
    let late = |agent: &AgentResult| Some((agent.late_s? + agent.offset_bound_s, agent.agent.clone()));
    let worst = fleet.agents.iter().filter_map(late).max_by(|one, other| one.0.total_cmp(&other.0));
    let limit = limits::FLEET_START_S;
    let ok = worst.as_ref().is_none_or(|(late_s, _)| *late_s <= limit);
    let figures = worst.as_ref().map(|(late_s, _)| (*late_s, limit));
    CheckOutcome::new(Check::FleetStart, ok, figures, Finding::FleetStart(worst))
}

fn clock(fleet: &FleetResult) -> CheckOutcome {
    let drift = |agent: &AgentResult| Some((agent.drift_s?, agent.agent.clone()));
    let worst = fleet.agents.iter().filter_map(drift).max_by(|one, other| one.0.total_cmp(&other.0));
    let limit = limits::FLEET_CLOCK_S;
    let ok = worst.as_ref().is_none_or(|(drift_s, _)| *drift_s <= limit);
    let figures = worst.as_ref().map(|(drift_s, _)| (*drift_s, limit));
    CheckOutcome::new(Check::FleetClock, ok, figures, Finding::FleetClock(worst))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str) -> AgentResult {
        AgentResult {
            agent: name.to_string(),
            cpus: vec![0, 1],
            users_ratio: 0.1,
            offset_s: 86_400.0,
            offset_bound_s: 0.0002,
            drift_s: Some(0.0),
            late_s: Some(0.0001),
            seconds: 60,
            cpu_ratio: Some(0.2),
            busiest_thread_ratio: Some(0.3),
            lag_p99_s: Some(0.0003),
            lost: None,
        }
    }

    fn fleet(agents: Vec<AgentResult>, tolerated: u32) -> FleetResult {
        FleetResult { fleet: "lab".to_string(), agents, observers: Vec::new(), tolerated }
    }

    /// Of ten agents, of which the seventh is another than the rest.
    fn broken(change: impl Fn(&mut AgentResult)) -> Vec<CheckOutcome> {
        let mut agents: Vec<AgentResult> = (1..=10).map(|number| agent(&format!("a{number}"))).collect();
        change(&mut agents[6]);
        let found = checks(&fleet(agents, 0));
        found.into_iter().filter(|check| !check.ok).collect()
    }

    #[test]
    fn one_agent_of_ten_that_does_not_keep_up_is_named() {
        assert!(broken(|_| ()).is_empty());
        for (change, what) in [
            ((|agent| agent.cpu_ratio = Some(0.81)) as fn(&mut AgentResult), "Cpu(\"a7\", 0.81)"),
            (|agent| agent.busiest_thread_ratio = Some(0.95), "Thread(\"a7\", 0.95)"),
            (|agent| agent.lag_p99_s = Some(0.006), "Lag(\"a7\", 0.006)"),
        ] {
            let found = broken(change);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].check, Check::FleetGenerators);
            assert!(format!("{:?}", found[0].finding).contains(what), "{what}: {:?}", found[0].finding);
        }
    }

    #[test]
    fn a_lost_agent_a_late_one_and_one_whose_clock_moved_each_break_a_check_of_their_own() {
        let only = |change: fn(&mut AgentResult)| {
            let found = broken(change);
            assert_eq!(found.len(), 1, "{found:?}");
            found[0].check.clone()
        };
        assert_eq!(only(|agent| agent.lost = Some("it was killed".to_string())), Check::FleetAgents);
        assert_eq!(only(|agent| agent.late_s = Some(0.0099)), Check::FleetStart);
        assert_eq!(only(|agent| agent.offset_bound_s = 0.05), Check::FleetStart);
        assert_eq!(only(|agent| agent.drift_s = Some(0.051)), Check::FleetClock);
    }

    #[test]
    fn a_run_is_degraded_while_no_more_agents_are_lost_than_it_may_lose() {
        let ok = |lost: usize, tolerated: u32| {
            let mut agents: Vec<AgentResult> = (1..=10).map(|number| agent(&format!("a{number}"))).collect();
            agents.iter_mut().take(lost).for_each(|agent| agent.lost = Some("it was killed".to_string()));
            agents_check(&fleet(agents, tolerated)).ok
        };
        assert_eq!([ok(0, 0), ok(1, 0), ok(1, 1), ok(2, 1), ok(2, 2)], [true, false, true, false, true]);
    }

    #[test]
    fn a_load_loses_an_agent_s_share_from_its_last_second_on() {
        let mut agents = vec![agent("a1"), agent("a2")];
        let lose = |agent: &mut AgentResult, after_s| {
            agent.lost = Some("it was killed".to_string());
            (agent.users_ratio, agent.seconds) = (0.25, after_s);
        };
        lose(&mut agents[0], 30);
        let fleet = fleet(agents, 1);
        let of_users = |span_s| left(Some(&fleet), span_s, &|from_s, to_s| 40.0 * (to_s - from_s));
        assert_eq!(of_users((10.0, 30.0)), 800.0, "it was there");
        assert_eq!(of_users((20.0, 40.0)), 700.0, "half of the time");
        assert_eq!(of_users((40.0, 60.0)), 600.0, "it had gone");
        assert_eq!(left(None, (0.0, 1.0), &|_, _| 7.0), 7.0, "no fleet");
    }

    #[test]
    fn an_agent_s_figures_are_those_of_the_seconds_that_count() {
        let second = |second| AgentSecond {
            second,
            cpu_s: if second < 2 { 2.0 } else { 0.4 },
            busiest_thread_cpu_s: 0.3,
            lag_p99_s: Some(if second == 5 { 9.0 } else { 0.001 }),
        };
        let seconds: Vec<AgentSecond> = (0..20).map(second).collect();
        let mut found = agent("a1");
        fill_in_agent(&mut found, &seconds, (2.0, 12.0));
        let close =
            |value: Option<f64>, wanted: f64| value.is_some_and(|value| (value - wanted).abs() < 1e-12);
        assert!(close(found.cpu_ratio, 0.2) && close(found.busiest_thread_ratio, 0.3), "{found:?}");
        assert!(close(found.lag_p99_s, 0.001), "{found:?}");
        let before = found.clone();
        fill_in_agent(&mut found, &seconds, (30.0, 40.0));
        assert_eq!(found, before, "it told nothing of them");
    }
}
