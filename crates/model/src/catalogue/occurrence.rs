//! How often operations come in sessions, as far as a script shows without being run.

use std::collections::BTreeMap;

/// How often an operation comes in one session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Occurrence {
    /// On average.
    Times(f64),
    /// No more than that on average: whether it comes depends on what the session sees.
    AtMost(f64),
    /// It comes, and nobody can say how often.
    Unknown,
}

impl Occurrence {
    /// Both of them together.
    #[must_use]
    pub fn and(self, other: Occurrence) -> Occurrence {
        use Occurrence::{AtMost, Times, Unknown};
        match (self, other) {
            (Unknown, _) | (_, Unknown) => Unknown,
            (Times(one), Times(two)) => Times(one + two),
            (Times(one) | AtMost(one), Times(two) | AtMost(two)) => AtMost(one + two),
        }
    }

    /// As often for each of what comes as often as `other`.
    #[must_use]
    pub fn for_each(self, other: Occurrence) -> Occurrence {
        use Occurrence::{AtMost, Times, Unknown};
        match (self, other) {
            (Unknown, _) | (_, Unknown) => Unknown,
            (Times(one), Times(two)) => Times(one * two),
            (Times(one) | AtMost(one), Times(two) | AtMost(two)) => AtMost(one * two),
        }
    }
}

/// What is known of one session: each operation that may come in it. One that is not named doesn't.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionOperations {
    /// How often each comes.
    pub operations: BTreeMap<String, Occurrence>,
    /// It begins operations whose names are worked out when it runs, which may be any.
    pub has_others: bool,
}

/// The operations of each session, by its name.
pub type Occurrences = BTreeMap<String, SessionOperations>;
