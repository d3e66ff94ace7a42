//! How a run begins: everybody has the bundle, everybody's threads are ready, and all agree to one time.

use std::time::{Duration, Instant};

use engine::{Control, Stop};
use model::{Kind, Problem, Result};

use super::handover::Handover;
use super::observers::LOST_AFTER;
use super::place::{Attending, Begun, Member};
use super::{Follower, Job, News};
use crate::bundle;
use crate::bus::{Announcer, Reader, now_ns};
use crate::slices;
use crate::start::{Next, Start};
use crate::want::{Phase, Standing, Want};

/// So often an agent is asked for its clock before the run.
const QUESTIONS: usize = 32;

/// A step of the beginning takes an agent no longer than this, with a bundle of the largest size over a slow network.
const STEP_TIMEOUT: Duration = Duration::from_secs(90);

/// An agent that hasn't believed a beacon for so long won't do so later.
const BELIEF_TIMEOUT: Duration = Duration::from_secs(3);

/// How often it is looked where agents stand, where none says anything.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Takes a run to where its agents go. Nothing where the user wanted to stop before.
pub(super) fn begin(
    announcer: &Announcer,
    reader: &Reader,
    job: &Job<'_>,
    control: &Control,
    follower: &mut dyn Follower,
) -> Result<Option<Begun>> {
    let attending = attending(reader, job)?;
    let sealed = announcer.seal(&job.bundle.encode().map_err(Problem::bug)?).map_err(Problem::bug)?;
    let name = bundle::name_of(&sealed);
    announcer.put(&job.run, &name, sealed).map_err(super::of_the_bus)?;
    let want = Want {
        run: job.run.to_string(),
        phase: Phase::Prepare,
        bundle: name,
        lease_s: job.lease_s,
        parts: attending.iter().filter_map(Attending::part).collect(),
        watches: attending.iter().filter_map(Attending::watch).collect(),
    };
    let (since, tolerated) = (Instant::now(), job.tolerated);
    let mut beginning = Beginning { announcer, attending: &attending, want, tolerated, since };
    let gone = beginning.lead(control, follower);
    if !matches!(gone, Ok(true)) {
        beginning.wants(Phase::Abort);
    }
    let want = beginning.want;
    Ok(gone?.then_some(Begun { attending, want, tolerated }))
}

/// Who has which part, and by how much each clock is ahead: those who drive first, in their order.
fn attending(reader: &Reader, job: &Job<'_>) -> Result<Vec<Attending>> {
    let weights: Vec<u32> = job.members.iter().map(|member| member.weight.max(1)).collect();
    let parts = slices(&weights, job.bundle.plan.load.places());
    let tiers_of = |member: &Member| {
        let watches = job.observers.contains(member).then(|| job.bundle.watches.get(member.name.as_str()));
        let tiers = watches.flatten().map(Vec::as_slice).unwrap_or_default();
        tiers.iter().map(|one| one.tier.clone()).collect::<Vec<_>>()
    };
    let others = job.observers.iter().filter(|observer| !job.members.contains(observer));
    let mut attending = Vec::new();
    for (member, slice) in job.members.iter().zip(parts).chain(others.map(|observer| (observer, None))) {
        let tiers = tiers_of(member);
        // More agents than users: this one has none.
        if slice.is_none() && tiers.is_empty() {
            continue;
        }
        let offset = reader.clock(&member.name, QUESTIONS).ok_or_else(|| {
            let what = format!("agent {} doesn't answer for its clock, or contradicts itself", member.name);
            Problem::environment(what).why("agents can't begin at the same time without it")
        })?;
        attending.push(Attending { member: member.clone(), slice, offset, tiers });
    }
    match attending.iter().any(|one| one.slice.is_some()) {
        false => Err(Problem::environment("there is no agent that drives users").into()),
        true => Ok(attending),
    }
}

struct Beginning<'a> {
    announcer: &'a Announcer,
    attending: &'a [Attending],
    want: Want,
    /// The number of agents that may be lost.
    tolerated: u32,
    /// When the step began that agents are at.
    since: Instant,
}

impl Beginning<'_> {
    /// Whether they go; not where the user wants to stop.
    fn lead(&mut self, control: &Control, follower: &mut dyn Follower) -> Result<bool> {
        let mut start = Start::of(self.attending.len());
        let round_trip_ns =
            self.attending.iter().map(|one| 2 * one.offset.bound_ns()).max().unwrap_or_default();
        self.wants(Phase::Prepare);
        loop {
            if control.stop() != Stop::No {
                return Ok(false);
            }
            self.hear(&mut start)?;
            match start.next(now_ns(), round_trip_ns) {
                Next::Wait { agent } => {
                    self.check_patience(agent)?;
                    self.announcer.wait(LOOK_EVERY);
                }
                Next::Arm => self.wants(Phase::Arm),
                Next::Set { at_ns } => {
                    follower.hands_over(&Handover::of(
                        &self.want,
                        self.attending,
                        (at_ns, self.tolerated),
                    ))?;
                    self.wants(Phase::Set { at_ns });
                }
                Next::Go { at_ns } => {
                    self.wants(Phase::Go { at_ns });
                    let ahead_ns = u64::try_from(at_ns - now_ns()).unwrap_or(0);
                    follower.news(&News::Begun { ahead: Duration::from_nanos(ahead_ns) });
                    return Ok(true);
                }
                Next::Abort { agent } => {
                    return Err(self.fails(agent, "it has not agreed in time to begin"));
                }
                Next::Gone => return Ok(true),
            }
        }
    }

    fn wants(&mut self, phase: Phase) {
        self.since = Instant::now();
        self.want.phase = phase;
        self.announcer.want(Some(self.want.clone()));
    }

    /// Takes note of where the agents stand.
    fn hear(&self, start: &mut Start) -> Result<()> {
        let heard = self.announcer.agents();
        for (index, one) in self.attending.iter().enumerate() {
            let Some(last) = heard.get(one.member.name.as_str()) else { continue };
            let said = &last.heartbeat;
            if said.incarnation != one.member.incarnation {
                return Err(self.fails(index, "it has begun anew"));
            }
            if last.at.elapsed() > LOST_AFTER {
                return Err(self.fails(index, "nothing is heard of it any more"));
            }
            if said.run.as_deref() != Some(self.want.run.as_str()) {
                continue;
            }
            match &said.standing {
                Standing::Checked | Standing::Arming => start.checked(index),
                Standing::Armed => start.armed(index),
                Standing::Agreed { at_ns } => start.agreed(index, *at_ns),
                Standing::Missed => return Err(self.fails(index, "it had no word in time to begin")),
                Standing::Failed { why } => return Err(self.fails(index, why)),
                Standing::Idle | Standing::Fetching | Standing::Running | Standing::Ended => {}
            }
        }
        Ok(())
    }

    fn check_patience(&self, agent: usize) -> Result<()> {
        let heard = self.announcer.agents();
        let last = heard.get(self.attending[agent].member.name.as_str()).map(|last| &last.heartbeat);
        let refused = last.and_then(|last| last.refused.as_ref());
        if let Some(why) = refused.filter(|_| self.since.elapsed() > BELIEF_TIMEOUT) {
            return Err(self.fails(agent, &format!("it doesn't believe its controller: {why}")));
        }
        if self.since.elapsed() < STEP_TIMEOUT {
            return Ok(());
        }
        let problem = last.and_then(|last| last.problem.clone());
        let why = problem.unwrap_or_else(|| "it says nothing of the run".to_string());
        Err(self.fails(agent, &format!("it was not ready within {} s: {why}", STEP_TIMEOUT.as_secs())))
    }

    fn fails(&self, agent: usize, why: &str) -> model::Problems {
        let Attending { member, slice, .. } = &self.attending[agent];
        let what = if slice.is_some() { "drive" } else { "watch" };
        Problem::new(Kind::Environment, format!("agent {} can't {what} the run: {why}", member.name))
            .why("a run is all of its agents', so none has begun")
            .into()
    }
}
