//! What another controller has to know to take a run over. It is handed out before any agent may go, so that whoever has kept it can
//! go on with every run that put users anywhere.

use model::{Problem, Result};
use serde::{Deserialize, Serialize};

use super::place::{Attending, Begun, Member};
use crate::bus::Name;
use crate::clock::Offset;
use crate::want::{Phase, Want};

/// Counts up when a reader of the old ones would misread the new ones.
const VERSION: u32 = 1;

/// A run that is about to begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Handover {
    version: u32,
    /// What is wanted once all go.
    want: Want,
    /// In the order in which their seconds are added up.
    members: Vec<Handed>,
    /// The number of them that may be lost.
    tolerated: u32,
}

/// One of its agents; its part, and that it watches, stand in what is wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Handed {
    name: String,
    cpus: Vec<usize>,
    build: String,
    low_ns: i64,
    high_ns: i64,
    agreeing: usize,
    weight: u32,
    /// What it watches.
    tiers: Vec<String>,
}

impl Handover {
    /// Of a run for which `at_ns` is set, and which may lose up to `tolerated` agents.
    pub(super) fn of(want: &Want, attending: &[Attending], (at_ns, tolerated): (i64, u32)) -> Handover {
        let handed = |Attending { member, offset, tiers, .. }: &Attending| Handed {
            name: member.name.to_string(),
            cpus: member.cpus.clone(),
            build: member.build.clone(),
            low_ns: offset.low_ns,
            high_ns: offset.high_ns,
            agreeing: offset.agreeing,
            weight: member.weight,
            tiers: tiers.clone(),
        };
        Handover {
            version: VERSION,
            want: Want { phase: Phase::Go { at_ns }, ..want.clone() },
            members: attending.iter().map(handed).collect(),
            tolerated,
        }
    }

    /// The run's name on the bus.
    ///
    /// # Errors
    /// It is none.
    pub fn run(&self) -> Result<Name> {
        Ok(Name::of(&self.want.run).map_err(damaged)?)
    }

    /// The agents that drive users.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn members(&self) -> Result<Vec<Member>> {
        let attending = self.attending()?.into_iter();
        Ok(attending.filter(|one| one.slice.is_some()).map(|one| one.member).collect())
    }

    /// The number of agents that it may lose.
    pub fn tolerated(&self) -> u32 {
        self.tolerated
    }

    /// When the first second began, by the controller's CLOCK_MONOTONIC.
    ///
    /// # Errors
    /// It is of another program.
    pub(super) fn at_ns(&self) -> Result<i64> {
        match self.want.phase {
            Phase::Go { at_ns } => Ok(at_ns),
            _ => Err(damaged("it is of a run that was not to begin").into()),
        }
    }

    /// What is wanted.
    pub(super) fn want(&self) -> &Want {
        &self.want
    }

    /// The run as whoever began it had it.
    pub(super) fn begun(&self) -> Result<Begun> {
        Ok(Begun { attending: self.attending()?, want: self.want.clone(), tolerated: self.tolerated })
    }

    fn attending(&self) -> Result<Vec<Attending>> {
        if self.version > VERSION {
            let what =
                format!("it is of version {}, and this program knows {VERSION} and older ones", self.version);
            return Err(damaged(what).into());
        }
        let attending = |handed: &Handed| {
            let lacking = || damaged(format!("agent {} has no part in its run", handed.name));
            let part = self.want.parts.get(&handed.name);
            let slice = match part {
                Some(part) => Some(part.slice().ok_or_else(lacking)?),
                None => None,
            };
            let watch = self.want.watches.get(&handed.name).map(|watch| watch.incarnation);
            let incarnation = part.map(|part| part.incarnation).or(watch).ok_or_else(lacking)?;
            let Handed { cpus, build, low_ns, high_ns, agreeing, weight, tiers, .. } = handed.clone();
            let name = Name::of(&handed.name).map_err(damaged)?;
            let member = Member { name, incarnation, cpus, build, weight };
            Ok(Attending { member, slice, offset: Offset { low_ns, high_ns, agreeing }, tiers })
        };
        self.members.iter().map(attending).collect()
    }
}

fn damaged(why: impl std::fmt::Display) -> Problem {
    Problem::environment(format!("what is needed to take the run over is damaged: {why}"))
}

#[cfg(test)]
mod tests {
    use engine::Slice;

    use super::*;

    fn handover() -> Handover {
        let slice = Slice { first: 0, lanes: 2, all: 2 };
        let member = Member {
            name: Name::of("a1").expect("a name"),
            incarnation: 7,
            cpus: vec![0, 1],
            build: "of the tests".to_string(),
            weight: 2,
        };
        let offset = Offset { low_ns: -9, high_ns: 5, agreeing: 30 };
        let drives = Attending { member: member.clone(), slice: Some(slice), offset, tiers: Vec::new() };
        let name = Name::of("db1").expect("a name");
        let watches = Attending {
            member: Member { name, incarnation: 9, ..member },
            slice: None,
            offset,
            tiers: vec!["database".to_string()],
        };
        let attending = [drives, watches];
        let parts = attending.iter().filter_map(Attending::part).collect();
        let watches = attending.iter().filter_map(Attending::watch).collect();
        let (run, bundle) = ("r-1".to_string(), "00ff".to_string());
        let want = Want { run, phase: Phase::Arm, bundle, lease_s: 15, parts, watches };
        Handover::of(&want, &attending, (12, 1))
    }

    #[test]
    fn what_is_handed_over_is_the_run_as_it_was_to_begin() {
        let written = serde_json::to_string(&handover()).expect("it is written");
        let read: Handover = serde_json::from_str(&written).expect("it is read");
        assert_eq!(read, handover());
        assert_eq!((read.at_ns(), read.run().map(|run| run.to_string())), (Ok(12), Ok("r-1".to_string())));
        let [member] = &read.members().expect("an agent")[..] else { panic!("one agent") };
        assert_eq!((member.incarnation, &member.cpus[..], member.name.as_str()), (7, &[0, 1][..], "a1"));
        let begun = read.begun().expect("it is whole");
        let places: Vec<_> = begun.places().map(|place| (place.slice.lanes, place.offset.high_ns)).collect();
        assert_eq!(places, [(2, 5)]);
        let (fleet, run) = (Name::of("lab").expect("a name"), read.run().expect("a name"));
        let watching: Vec<_> = begun.watching(&fleet, &run).collect();
        assert_eq!(
            (watching.len(), watching[0].0.incarnation, &watching[0].1[..]),
            (1, 9, &["database".to_string()][..])
        );
    }

    #[test]
    fn what_is_of_a_later_version_or_has_an_agent_without_a_part_is_refused() {
        let later = Handover { version: 2, ..handover() };
        assert!(later.begun().expect_err("it is of version 2").to_string().contains("version 2"));
        let mut lacking = handover();
        lacking.want.parts.clear();
        let said = lacking.members().expect_err("a1 has no part").to_string();
        assert!(said.contains("agent a1 has no part"), "{said}");
    }
}
