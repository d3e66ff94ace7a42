//! A run that has begun: what its agents tell becomes the run's seconds, until all have ended or one is lost.

use std::time::{Duration, Instant};

use engine::{Control, Stop};
use model::{Problem, Result};

use super::observers::{LOST_AFTER, Observers, SILENT_AFTER};
use super::place::{Begun, Place};
use super::{AgentSeen, Driven, Follower, News, OpenRun, tell};
use crate::bus::{Announcer, Kind, Name, NothingTold, Told, Voice};
use crate::clock::Drift;
use crate::merge::Merge;
use crate::want::{Phase, Standing, Want};

/// So long a message is waited for before it is looked at something else.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// When nothing is to go out any more, agents are waited for so long.
const END_TIMEOUT: Duration = Duration::from_secs(20);

/// An agent tells something each second. Where nothing of it has come for so long, though it is heard, nothing will: the broker has no
/// room for it.
const TOLD_TIMEOUT: Duration = Duration::from_secs(30);

/// So often an agent is asked for its clock after the run.
const QUESTIONS: usize = 8;

/// One of the run's agents.
struct Agent {
    place: Place,
    voice: Voice,
    /// When it was heard last, by a heartbeat or by a second.
    heard: Instant,
    /// When something that it told came last.
    told: Instant,
    /// What keeps it from telling, as it says.
    problem: Option<String>,
    /// Whether it said last that it has a part in the run.
    has_part: bool,
    is_silent: bool,
    late_ns: Option<u64>,
    lost: Option<String>,
}

/// A run under way.
pub(super) struct Driving<'a> {
    announcer: &'a Announcer,
    open: &'a mut OpenRun,
    agents: Vec<Agent>,
    merge: Merge,
    observers: Observers,
    want: Want,
    /// What was said of stopping, and when.
    stopped: (Stop, Instant),
    /// The number of agents that may be lost.
    tolerated: u32,
}

impl<'a> Driving<'a> {
    pub(super) fn of(
        announcer: &'a Announcer,
        open: &'a mut OpenRun,
        begun: Begun,
        fleet: &Name,
    ) -> Driving<'a> {
        let agent = |place: Place| {
            let (agent, incarnation) = (place.member.name.clone(), place.member.incarnation);
            let voice = Voice { fleet: fleet.clone(), run: open.run.clone(), agent, incarnation };
            Agent {
                place,
                voice,
                heard: Instant::now(),
                told: Instant::now(),
                problem: None,
                has_part: true,
                is_silent: false,
                late_ns: None,
                lost: None,
            }
        };
        let observers = Observers::of(begun.watching(fleet, &open.run));
        let agents: Vec<Agent> = begun.places().map(agent).collect();
        let merge = Merge::of(agents.len());
        let stopped = (Stop::No, Instant::now());
        let (want, tolerated) = (begun.want, begun.tolerated);
        Driving { announcer, open, agents, merge, observers, want, stopped, tolerated }
    }

    /// Until all have ended.
    pub(super) fn drive(mut self, control: &Control, follower: &mut dyn Follower) -> Result<Driven> {
        let mut failed = Ok(());
        while !self.merge.is_over() || self.observers.are_waited_for() {
            match self.open.reader.next(LOOK_EVERY) {
                Ok(told) => self.take(told, follower),
                Err(NothingTold::Yet(_)) => {}
                Err(NothingTold::Ever) => return Err(Problem::bug("the thread of the bus has ended").into()),
            }
            while failed.is_ok()
                && let Some(second) = self.merge.next_second()
            {
                failed = follower.second(&second);
            }
            if failed.is_err() {
                control.ask(Stop::AtOnce);
                while self.merge.next_second().is_some() {}
            }
            self.pass_on(control.stop());
            self.look(follower);
            if self.merge.is_over() {
                self.is_over();
            }
        }
        failed?;
        let agents =
            self.agents.iter().enumerate().map(|(index, agent)| self.summary(index, agent)).collect();
        Ok(Driven { agents, totals: self.merge.into_totals(), observers: self.observers.into_seen() })
    }

    /// All users have gone: who watches says its last.
    fn is_over(&mut self) {
        if self.want.phase != Phase::Over && self.observers.are_waited_for() {
            self.observers.is_over();
            self.want.phase = Phase::Over;
            self.announcer.want(Some(self.want.clone()));
        }
    }

    fn take(&mut self, told: Told, follower: &mut dyn Follower) {
        if told.kind == Kind::Observe {
            if self.observers.take(&told, &mut |event| tell(event, follower)) {
                self.open.had.insert(told.voice, told.number + 1);
            }
            return;
        }
        // Of another life of an agent, or of none of the run's.
        let Some(index) = self.agents.iter().position(|agent| agent.voice == told.voice) else { return };
        let now = Instant::now();
        (self.agents[index].heard, self.agents[index].told) = (now, now);
        let taken = match told.kind {
            Kind::Second => self.merge.take_second(index, told.bytes),
            Kind::End => self.merge.take_end(index, &told.bytes),
            Kind::Event | Kind::Observe => Ok(()),
        };
        self.open.had.insert(told.voice, told.number + 1);
        if let Err(misfit) = taken {
            self.lose(index, format!("what it told can't be taken: {misfit}"), follower);
        }
    }

    /// Says to the agents what was asked for.
    fn pass_on(&mut self, stop: Stop) {
        let is_harder = stop as u8 > self.stopped.0 as u8;
        if is_harder {
            self.stopped = (stop, Instant::now());
            self.want.phase = if stop == Stop::AtOnce { Phase::Abort } else { Phase::Stop };
            self.announcer.want(Some(self.want.clone()));
        }
    }

    /// Looks how the agents are.
    fn look(&mut self, follower: &mut dyn Follower) {
        let heard = self.announcer.agents();
        self.observers.look(&heard, &self.want.run, &mut |event| tell(event, follower));
        for index in 0..self.agents.len() {
            // What becomes of one that has told all is nothing to this run.
            let is_waited_for = !self.merge.has_ended(index);
            let agent = &mut self.agents[index];
            let name = agent.voice.agent.clone();
            if let Some(last) = heard.get(name.as_str()) {
                let said = &last.heartbeat;
                if said.incarnation != agent.voice.incarnation && is_waited_for {
                    self.lose(index, "it ended and has begun anew".to_string(), follower);
                    continue;
                }
                agent.has_part = said.run.as_deref() == Some(self.want.run.as_str());
                if agent.has_part {
                    // One that has no part in the run any more, and hasn't told its end, won't.
                    agent.heard = agent.heard.max(last.at);
                    agent.late_ns = said.late_ns.or(agent.late_ns);
                    agent.problem.clone_from(&said.problem);
                    match &said.standing {
                        Standing::Failed { why } if is_waited_for => {
                            let why = why.clone();
                            self.lose(index, why, follower);
                            continue;
                        }
                        Standing::Missed if is_waited_for => {
                            self.lose(index, "it had no word in time to begin".to_string(), follower);
                            continue;
                        }
                        _ => {}
                    }
                }
            }
            if is_waited_for {
                self.listen_for(index, follower);
            }
        }
        let is_over_time = self.stopped.0 == Stop::AtOnce && self.stopped.1.elapsed() > END_TIMEOUT;
        if is_over_time {
            let missing: Vec<usize> = self.merge.laggards().collect();
            for index in missing {
                self.lose(index, "it has not said that it has ended".to_string(), follower);
            }
        }
    }

    fn listen_for(&mut self, index: usize, follower: &mut dyn Follower) {
        let agent = &mut self.agents[index];
        let (silent, name) = (agent.heard.elapsed(), agent.voice.agent.clone());
        if silent > LOST_AFTER {
            let why = match agent.has_part {
                true => format!("nothing was heard of it for {} s", LOST_AFTER.as_secs()),
                false => "it has no part in the run any more, and has not told its end".to_string(),
            };
            self.lose(index, why, follower);
        } else if agent.told.elapsed() > TOLD_TIMEOUT {
            let problem = agent.problem.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            let why = format!("nothing that it told has come for {} s{problem}", TOLD_TIMEOUT.as_secs());
            self.lose(index, why, follower);
        } else if silent > SILENT_AFTER && !agent.is_silent {
            agent.is_silent = true;
            follower.news(&News::Silent { agent: name, silent });
        } else if silent < SILENT_AFTER && agent.is_silent {
            agent.is_silent = false;
            follower.news(&News::Back { agent: name });
        }
    }

    /// Gives an agent up, and with it the run, unless it may be lost: what the others record is another load.
    fn lose(&mut self, index: usize, why: String, follower: &mut dyn Follower) {
        let agent = &mut self.agents[index];
        if agent.lost.is_some() {
            return;
        }
        let name = agent.voice.agent.clone();
        agent.lost = Some(why.clone());
        self.merge.give_up(index);
        let lost = self.agents.iter().filter(|agent| agent.lost.is_some()).count();
        let is_tolerated = lost <= self.tolerated as usize && lost < self.agents.len();
        follower.news(&News::Lost { agent: name.clone(), why, is_tolerated });
        if !is_tolerated {
            self.pass_on(Stop::AtOnce);
            return;
        }
        // Should it hear this controller still, it has no part in the run any more and ends.
        self.want.parts.remove(name.as_str());
        self.announcer.want(Some(self.want.clone()));
    }

    fn summary(&self, index: usize, agent: &Agent) -> AgentSeen {
        let Place { member, slice, offset } = &agent.place;
        let then = || self.open.reader.clock(&member.name, QUESTIONS);
        let now = if agent.lost.is_none() { then() } else { None };
        AgentSeen {
            member: member.clone(),
            slice: *slice,
            offset: *offset,
            drift_ns: now.map(|now| Drift::between(offset, &now).least_ns()),
            late_ns: agent.late_ns,
            seconds: self.merge.seconds(index).to_vec(),
            lost: agent.lost.clone(),
        }
    }
}
