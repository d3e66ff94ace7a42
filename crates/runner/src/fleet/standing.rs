//! A fleet that stands beside the stack: it is handed each run, and says what its agents were.

use engine::{Control, Totals};
use fleet::WatchedTier;
use fleet::bundle::Bundle;
use fleet::bus::Name;
use fleet::controller::{AgentSeen, Controller, Driven, Follower, Handover, Job, Member, News, ObserverSeen};
use model::record::instrument::{AGENTS, BUS};
use model::record::interval::OperationName;
use model::record::plan::Load;
use model::record::{AgentResult, AgentSecond, FleetResult, ObserverResult};
use model::{Catalogue, OperationKind, Plan, Problem, Result, units};
use observe::TierJob;
use testbed::{Helping, Lab, Running};

use super::bundle;
use super::choice::FleetChoice;
use super::folder::Held;

/// How long an agent goes on without a word of its controller.
const LEASE_S: u64 = 15;

/// A fleet that waits for runs. Dropping it ends what was started for it.
pub(crate) struct StandingFleet {
    pub(super) choice: FleetChoice,
    /// Who drives users.
    pub(super) members: Vec<Member>,
    pub(super) observers: Vec<Observing>,
    // In the order in which they end.
    pub(super) controller: Controller,
    /// The run that it goes on with instead of a new one.
    pub(super) takes_over: Option<Handover>,
    pub(super) beside: Beside,
}

/// An agent that watches tiers of its machine.
pub(super) struct Observing {
    pub(super) member: Member,
    pub(super) tiers: Vec<WatchedTier>,
    /// Why it was given up in an earlier run: no later one waits for it.
    pub(super) lost: Option<String>,
}

impl Observing {
    fn unseen(&self) -> ObserverSeen {
        let tiers = self.tiers.iter().map(|tier| tier.tier.clone()).collect();
        let lost = self.lost.as_ref().map(|why| format!("in an earlier run: {why}"));
        ObserverSeen { agent: self.member.name.clone(), tiers, readings: 0, lost }
    }

    /// That nobody watches its tiers from the first second on.
    fn lost_before(&self) -> News {
        let ObserverSeen { agent, tiers, lost, .. } = self.unseen();
        News::ObserverLost { agent, tiers, second: 0, why: lost.unwrap_or_default() }
    }
}

/// What ends with a standing fleet.
pub(super) enum Beside {
    /// Agents and a bus that were started for it.
    Started { agents: Vec<Helping>, bus: Running, lab: Lab },
    /// The right to be the controller of a fleet that goes on without it.
    Held { _right: Held },
}

/// A run that a fleet drove.
pub(crate) struct FleetRun {
    pub(crate) totals: Totals,
    pub(crate) record: FleetRecording,
}

/// What a run's agents were, and what each told of itself.
pub(crate) struct FleetRecording {
    result: FleetResult,
    seconds: Vec<Vec<AgentSecond>>,
    cpus: Option<usize>,
    /// Another controller had begun it.
    was_taken_over: bool,
}

impl StandingFleet {
    /// Has the agents drive the plan's users against `target`, and goes on without up to `tolerated` of them.
    pub(crate) fn drive(
        &mut self,
        (plan, tolerated): (&Plan, u32),
        (target, drain_s): (&engine::Target, f64),
        (run, catalogue): (&str, &Catalogue),
        control: &Control,
        follower: &mut dyn Follower,
    ) -> Result<FleetRun> {
        let takes_over = self.takes_over.take();
        let tolerated = takes_over.as_ref().map_or(tolerated, Handover::tolerated);
        let (driven, gone) = match &takes_over {
            Some(handover) => (self.controller.resume(handover, control, follower)?, Vec::new()),
            None => {
                let bundle = bundle::of(plan, target, drain_s, catalogue)?;
                self.begin((bundle, tolerated), run, control, follower)?
            }
        };
        let result = FleetResult {
            fleet: self.choice.to_string(),
            agents: driven.agents.iter().map(agent_result).collect(),
            observers: driven.observers.into_iter().chain(gone).map(observer_result).collect(),
            tolerated,
        };
        let seconds = driven.agents.into_iter().map(|agent| agent.seconds).collect();
        let (cpus, was_taken_over) = (self.cpus(), takes_over.is_some());
        let record = FleetRecording { result, seconds, cpus, was_taken_over };
        Ok(FleetRun { totals: driven.totals, record })
    }

    /// Which fleet it is.
    pub(crate) fn choice(&self) -> &FleetChoice {
        &self.choice
    }

    /// Has the agents drive a new run, beside the observers that are left; also gives those that earlier runs lost.
    fn begin(
        &mut self,
        (bundle, tolerated): (Bundle, u32),
        run: &str,
        control: &Control,
        follower: &mut dyn Follower,
    ) -> Result<(Driven, Vec<ObserverSeen>)> {
        let (gone, watching): (Vec<&Observing>, Vec<&Observing>) =
            self.observers.iter().partition(|one| one.lost.is_some());
        gone.iter().for_each(|one| follower.news(&one.lost_before()));
        let gone = gone.into_iter().map(Observing::unseen).collect();
        let watches = watching.iter().map(|one| (one.member.name.to_string(), one.tiers.clone()));
        let bundle = Bundle { watches: watches.collect(), ..bundle };
        let observers: Vec<Member> = watching.iter().map(|one| one.member.clone()).collect();
        let (run, members, lease_s) = (name_of(run)?, self.members.as_slice(), LEASE_S);
        let job = Job { run, members, observers: &observers, bundle: &bundle, lease_s, tolerated };
        let driven = self.controller.run(&job, control, follower)?;
        for seen in driven.observers.iter().filter(|seen| seen.lost.is_some()) {
            let lost = self.observers.iter_mut().find(|one| one.member.name == seen.agent);
            lost.into_iter().for_each(|one| one.lost.clone_from(&seen.lost));
        }
        Ok((driven, gone))
    }

    /// The number of CPUs of its generators, where they are others than those that the plan has for its own.
    pub(crate) fn cpus(&self) -> Option<usize> {
        let all = self.members.iter().map(|member| member.cpus.len()).sum();
        matches!(self.beside, Beside::Held { .. }).then_some(all)
    }

    /// The last run is kept: its agents and their bus may forget it.
    pub(crate) fn keep(&mut self) -> Result<()> {
        self.controller.keep()
    }

    /// What of it is on this machine, to be watched.
    pub(crate) fn jobs(&self) -> Vec<TierJob> {
        let Beside::Started { agents, bus, .. } = &self.beside else { return Vec::new() };
        let job = |name: &str, pids: Vec<u32>| TierJob { name: name.to_string(), pids, ..TierJob::default() };
        let bus = TierJob { cgroup: bus.cgroup.clone(), ..job(BUS, vec![bus.identity.pid]) };
        vec![job(AGENTS, agents.iter().map(Helping::pid).collect()), bus]
    }

    /// Ends all of it.
    pub(crate) fn close(self) -> Result<()> {
        let StandingFleet { controller, beside, .. } = self;
        drop(controller);
        let Beside::Started { agents, bus, lab } = beside else { return Ok(()) };
        drop(agents);
        let closed = lab.close();
        bus.reap();
        closed
    }
}

/// A run's name on the bus: what a run's id may have beside letters, digits and `-` becomes `-`.
fn name_of(run: &str) -> Result<Name> {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    Name::of(&run.chars().map(plain).collect::<String>()).map_err(|why| Problem::bug(why).into())
}

fn agent_result(seen: &AgentSeen) -> AgentResult {
    let seconds = |ns: i64| ns as f64 / 1e9;
    AgentResult {
        agent: seen.member.name.to_string(),
        cpus: seen.member.cpus.clone(),
        users_ratio: f64::from(seen.slice.lanes) / f64::from(seen.slice.all.max(1)),
        offset_s: seconds(seen.offset.middle_ns()),
        offset_bound_s: seconds(seen.offset.bound_ns()),
        drift_s: seen.drift_ns.map(|ns| ns as f64 / 1e9),
        late_s: seen.late_ns.map(|ns| ns as f64 / 1e9),
        seconds: seen.seconds.len() as u32,
        cpu_ratio: None,
        busiest_thread_ratio: None,
        lag_p99_s: None,
        lost: seen.lost.clone(),
    }
}

fn observer_result(seen: ObserverSeen) -> ObserverResult {
    let ObserverSeen { agent, tiers, readings, lost } = seen;
    ObserverResult { agent: agent.to_string(), tiers, readings, lost }
}

impl FleetRecording {
    /// As [`StandingFleet::cpus`].
    pub(crate) fn cpus(&self) -> Option<usize> {
        self.cpus
    }

    /// Whether an agent was given up, and the run with it.
    pub(crate) fn ended_the_run(&self) -> bool {
        self.result.lost().next().is_some() && !self.result.is_degraded()
    }

    /// Whether an agent was given up: what its users did last nobody was told.
    pub(crate) fn has_lost(&self) -> bool {
        self.result.lost().next().is_some()
    }

    /// Whether it was taken over, and its agents had stopped by themselves before all was done that `load` has.
    pub(crate) fn is_cut_short(&self, load: &Load, totals: &Totals) -> bool {
        let ended = |(row, name): (usize, &OperationName)| match name.kind {
            OperationKind::Session => totals.completed[row] + totals.failed[row],
            OperationKind::Operation | OperationKind::Request => 0,
        };
        let is_done = match load.sessions {
            Some(sessions) => totals.names.iter().enumerate().map(ended).sum::<u64>() >= sessions,
            // The last second may have begun only just.
            None => self.seconds.iter().all(|seconds| seconds.len() as f64 + 1.0 >= load.total_s()),
        };
        self.was_taken_over && !is_done
    }

    /// The fleet, each agent with what it told of itself over these seconds.
    pub(crate) fn over(&self, span_s: (f64, f64)) -> FleetResult {
        let mut result = self.result.clone();
        for (agent, seconds) in result.agents.iter_mut().zip(&self.seconds) {
            analysis::fill_in_agent(agent, seconds, span_s);
        }
        result
    }
}

/// What happened, for people.
pub(crate) fn sentence(news: &News) -> String {
    match news {
        News::Begun { ahead } => {
            format!("all agents are ready and begin in {}", units::show_seconds(ahead.as_secs_f64()))
        }
        News::TakenOver { since, goes_on } => {
            let at = units::show_seconds(since.as_secs_f64());
            match goes_on {
                true => format!("taken over {at} after the run's beginning; its agents go on"),
                false => format!(
                    "taken over {at} after the run's beginning; its agents have stopped by themselves"
                ),
            }
        }
        News::Silent { agent, silent } => {
            format!("nothing is heard of agent {agent} for {}", units::show_seconds(silent.as_secs_f64()))
        }
        News::Back { agent } => format!("agent {agent} is heard again"),
        News::Lost { agent, why, is_tolerated } => {
            let then = if *is_tolerated { "the others go on: DEGRADED" } else { "the run ends" };
            format!("agent {agent} is lost: {why}; {then}")
        }
        News::ObserverLost { .. } => {
            let what = unseen_from(news).unwrap_or_default();
            format!("{what}; the run goes on")
        }
    }
}

/// What nobody watches from then on, and why.
pub(crate) fn unseen_from(news: &News) -> Option<String> {
    let News::ObserverLost { agent, tiers, second, why } = news else { return None };
    let tier = if tiers.len() == 1 { "tier" } else { "tiers" };
    Some(format!("{tier} {}: the observer on {agent} was lost at second {second}: {why}", tiers.join(", ")))
}

#[cfg(test)]
mod tests {
    use fleet::WatchedBy;

    use super::*;

    /// A run that was taken over, of agents that told that number of seconds.
    fn taken_over(seconds: &[u32]) -> FleetRecording {
        let second = |second| AgentSecond { second, cpu_s: 0.0, busiest_thread_cpu_s: 0.0, lag_p99_s: None };
        let fleet = "lab".to_string();
        let result = FleetResult { fleet, agents: Vec::new(), observers: Vec::new(), tolerated: 0 };
        let seconds = seconds.iter().map(|all| (0..*all).map(second).collect()).collect();
        FleetRecording { result, seconds, cpus: None, was_taken_over: true }
    }

    #[test]
    fn a_run_is_cut_short_where_an_agent_stopped_before_all_was_done_that_was_planned() {
        let timed = Load { ramp_up_s: 2.0, steady_s: 10.0, ramp_down_s: 1.0, ..Load::default() };
        let is_cut = |seconds: &[u32]| taken_over(seconds).is_cut_short(&timed, &Totals::default());
        assert!(!is_cut(&[13, 14]) && !is_cut(&[12, 13]));
        assert!(is_cut(&[13, 11]) && is_cut(&[0, 13]));
        let begun_here = FleetRecording { was_taken_over: false, ..taken_over(&[3]) };
        assert!(!begun_here.is_cut_short(&timed, &Totals::default()), "nobody stopped it");
        let counted = Load { sessions: Some(100), ..timed };
        let name = |kind, name: &str| OperationName { kind, name: name.to_string() };
        let totals = |completed, failed| Totals {
            names: vec![name(OperationKind::Request, "GET /"), name(OperationKind::Session, "visit")],
            completed: vec![500, completed],
            failed: vec![0, failed],
            ..Totals::default()
        };
        assert!(!taken_over(&[3]).is_cut_short(&counted, &totals(97, 3)));
        assert!(taken_over(&[3]).is_cut_short(&counted, &totals(97, 2)));
    }

    #[test]
    fn who_was_lost_in_an_earlier_run_is_unseen_in_the_next_one_from_its_first_second() {
        let name = Name::of("db1").expect("a name");
        let member = Member { name, incarnation: 1, cpus: vec![0], build: String::new(), weight: 1 };
        let tier = WatchedTier { tier: "db".to_string(), by: WatchedBy::Unit("db.service".to_string()) };
        let one = Observing { member, tiers: vec![tier], lost: Some("it was silent".to_string()) };
        let said = "tier db: the observer on db1 was lost at second 0: in an earlier run: it was silent";
        assert_eq!(unseen_from(&one.lost_before()).as_deref(), Some(said));
        assert_eq!(one.unseen().readings, 0);
    }

    #[test]
    fn a_run_s_id_becomes_a_name_of_the_bus() {
        let name = |id: &str| name_of(id).expect("it is one").to_string();
        assert_eq!(name("20260101-000000-dvdstore-000a"), "20260101-000000-dvdstore-000a");
        assert_eq!(name("20260101-000000-find/3"), "20260101-000000-find-3");
    }
}
