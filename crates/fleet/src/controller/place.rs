//! Who has which part in a run.

use crate::bus::{Name, Voice};
use crate::clock::Offset;
use crate::want::{Part, Want, Watch};

/// An agent in one of its lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: Name,
    /// Which of its lives.
    pub incarnation: u64,
    /// The CPUs on which it generates load.
    pub cpus: Vec<usize>,
    /// The build that it is of.
    pub build: String,
    /// Its share of a run's users, beside those of the others: its CPUs, unless somebody says otherwise.
    pub weight: u32,
}

/// An agent with a part in the run.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) member: Member,
    pub(super) slice: engine::Slice,
    pub(super) offset: Offset,
}

/// Somebody whose word is waited for before the run begins: who has a part in it, or watches.
#[derive(Debug)]
pub(super) struct Attending {
    pub(super) member: Member,
    pub(super) offset: Offset,
    /// Its lanes, where it drives users.
    pub(super) slice: Option<engine::Slice>,
    /// What it watches.
    pub(super) tiers: Vec<String>,
}

impl Attending {
    /// Its name and its part, where it has one.
    pub(super) fn part(&self) -> Option<(String, Part)> {
        let part = Part::of(self.member.incarnation, self.offset.middle_ns(), self.slice?);
        Some((self.member.name.to_string(), part))
    }

    /// Its name and its watch, where it watches.
    pub(super) fn watch(&self) -> Option<(String, Watch)> {
        let watch = Watch { incarnation: self.member.incarnation, offset_ns: self.offset.middle_ns() };
        (!self.tiers.is_empty()).then(|| (self.member.name.to_string(), watch))
    }
}

/// A run whose agents all have the word to go.
#[derive(Debug)]
pub(super) struct Begun {
    /// Who drives and who watches.
    pub(super) attending: Vec<Attending>,
    pub(super) want: Want,
    /// The number of agents that may be lost.
    pub(super) tolerated: u32,
}

impl Begun {
    /// Who drives, in the order in which their seconds are added up.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        let place = |one: &Attending| {
            Some(Place { member: one.member.clone(), slice: one.slice?, offset: one.offset })
        };
        self.attending.iter().filter_map(place)
    }

    /// Who watches, with the tiers of each.
    pub(super) fn watching(&self, fleet: &Name, run: &Name) -> impl Iterator<Item = (Voice, Vec<String>)> {
        let watching = self.attending.iter().filter(|one| !one.tiers.is_empty());
        watching.map(|one| {
            let (agent, incarnation) = (one.member.name.clone(), one.member.incarnation);
            let voice = Voice { fleet: fleet.clone(), run: run.clone(), agent, incarnation };
            (voice, one.tiers.clone())
        })
    }
}
