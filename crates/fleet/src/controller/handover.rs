//! What another controller has to know to take a run over. It is handed out before any agent may go, so that whoever has kept it can
//! go on with every run that put users anywhere.

use model::{Problem, Result};
use serde::{Deserialize, Serialize};

use super::place::{Begun, Member, Place};
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

/// One of its agents; its part stands in what is wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Handed {
    name: String,
    cpus: Vec<usize>,
    build: String,
    low_ns: i64,
    high_ns: i64,
    agreeing: usize,
}

impl Handover {
    /// Of a run for which `at_ns` is set, and which may lose up to `tolerated` agents.
    pub(super) fn of(want: &Want, places: &[Place], (at_ns, tolerated): (i64, u32)) -> Handover {
        let handed = |Place { member, offset, .. }: &Place| Handed {
            name: member.name.to_string(),
            cpus: member.cpus.clone(),
            build: member.build.clone(),
            low_ns: offset.low_ns,
            high_ns: offset.high_ns,
            agreeing: offset.agreeing,
        };
        Handover {
            version: VERSION,
            want: Want { phase: Phase::Go { at_ns }, ..want.clone() },
            members: places.iter().map(handed).collect(),
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

    /// The agents.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn members(&self) -> Result<Vec<Member>> {
        Ok(self.places()?.into_iter().map(|place| place.member).collect())
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
        Ok(Begun { places: self.places()?, want: self.want.clone(), tolerated: self.tolerated })
    }

    fn places(&self) -> Result<Vec<Place>> {
        if self.version > VERSION {
            let what =
                format!("it is of version {}, and this program knows {VERSION} and older ones", self.version);
            return Err(damaged(what).into());
        }
        let place = |handed: &Handed| {
            let part = self.want.parts.get(&handed.name);
            let (part, slice) = part
                .and_then(|part| Some((part, part.slice()?)))
                .ok_or_else(|| damaged(format!("agent {} has no part in its run", handed.name)))?;
            let Handed { cpus, build, low_ns, high_ns, agreeing, .. } = handed.clone();
            let name = Name::of(&handed.name).map_err(damaged)?;
            let member = Member { name, incarnation: part.incarnation, cpus, build };
            Ok(Place { member, slice, offset: Offset { low_ns, high_ns, agreeing } })
        };
        self.members.iter().map(place).collect()
    }
}

fn damaged(why: impl std::fmt::Display) -> Problem {
    Problem::environment(format!("what is needed to take the run over is damaged: {why}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use engine::Slice;

    use super::*;
    use crate::want::Part;

    fn handover() -> Handover {
        let slice = Slice { first: 0, lanes: 2, all: 2 };
        let member = Member {
            name: Name::of("a1").expect("a name"),
            incarnation: 7,
            cpus: vec![0, 1],
            build: "of the tests".to_string(),
        };
        let place = Place { member, slice, offset: Offset { low_ns: -9, high_ns: 5, agreeing: 30 } };
        let parts = BTreeMap::from([("a1".to_string(), Part::of(7, -2, slice))]);
        let (run, bundle) = ("r-1".to_string(), "00ff".to_string());
        let want = Want { run, phase: Phase::Arm, bundle, lease_s: 15, parts };
        Handover::of(&want, &[place], (12, 1))
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
        assert_eq!((begun.places[0].slice.lanes, begun.places[0].offset.high_ns), (2, 5));
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
