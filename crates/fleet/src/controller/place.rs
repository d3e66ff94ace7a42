//! Who has which part in a run.

use crate::bus::Name;
use crate::clock::Offset;
use crate::want::Want;

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
}

/// An agent with a part in the run.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) member: Member,
    pub(super) slice: engine::Slice,
    pub(super) offset: Offset,
}

/// A run whose agents all have the word to go.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) places: Vec<Place>,
    pub(super) want: Want,
    /// The number of agents that may be lost.
    pub(super) tolerated: u32,
}
