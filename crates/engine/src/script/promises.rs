//! What servers have promised to users: the last word on each thing, for the check of the data after a run.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

/// The maximum number of things that one thread keeps: some 40 MB of paths and tags.
const MAX_THINGS: usize = 200_000;

/// Longer names and states are not kept: who is told of a thing keeps its tag, not its body.
const MAX_TEXT_BYTES: usize = 1024;

/// What a user was told of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State<'a> {
    /// It is there, and this is it.
    Is(&'a str),
    /// It is not there.
    Gone,
    /// Nobody knows: a request that changes it has not been answered.
    Unknown,
}

/// The last word on a thing, kept.
#[derive(Debug)]
enum Word {
    Is(Box<str>),
    Gone,
    /// It is kept as well: an earlier run on the same servers may have told what no longer holds.
    Unknown,
}

/// The last word on each thing of which users were told.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    words: FxHashMap<Box<str>, Word>,
}

impl Promises {
    /// The counter of what there was no room for.
    pub(crate) const BEYOND: &'static str = "(told, but not kept)";

    /// Notes the last word; false when there is no room for it: then nobody knows.
    pub(crate) fn note(&mut self, key: &str, state: State<'_>) -> bool {
        let (word, fits) = match state {
            State::Is(value) if value.len() > MAX_TEXT_BYTES => (Word::Unknown, false),
            State::Is(value) => (Word::Is(Box::from(value)), true),
            State::Gone => (Word::Gone, true),
            State::Unknown => (Word::Unknown, true),
        };
        if let Some(kept) = self.words.get_mut(key) {
            *kept = word;
            return fits;
        }
        let room = self.words.len() < MAX_THINGS && key.len() <= MAX_TEXT_BYTES;
        if room {
            self.words.insert(Box::from(key), word);
        }
        fits && room
    }

    /// What is known of each thing, nothing for what is gone; and the things of which nobody knows. Nothing is kept any
    /// more.
    pub(crate) fn take(&mut self) -> (BTreeMap<String, Option<String>>, BTreeSet<String>) {
        let (mut known, mut unknown) = (BTreeMap::new(), BTreeSet::new());
        for (key, word) in std::mem::take(&mut self.words) {
            let key = key.into_string();
            match word {
                Word::Is(value) => _ = known.insert(key, Some(value.into_string())),
                Word::Gone => _ = known.insert(key, None),
                Word::Unknown => _ = unknown.insert(key),
            }
        }
        (known, unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_on_each_thing_counts() {
        let mut promises = Promises::default();
        for (key, state) in [
            ("a", State::Is("1")),
            ("b", State::Is("1")),
            ("a", State::Unknown),
            ("a", State::Is("2")),
            ("b", State::Gone),
            ("c", State::Is("1")),
            ("c", State::Unknown),
        ] {
            assert!(promises.note(key, state), "{key} {state:?}");
        }
        let known = [("a".to_string(), Some("2".to_string())), ("b".to_string(), None)];
        assert_eq!(promises.take(), (BTreeMap::from(known), BTreeSet::from(["c".to_string()])));
        assert_eq!(promises.take(), (BTreeMap::new(), BTreeSet::new()));
    }

    #[test]
    fn what_is_told_without_end_is_not_kept_and_what_stood_before_no_longer_holds() {
        let mut promises = Promises::default();
        let long = "x".repeat(MAX_TEXT_BYTES + 1);
        assert!(promises.note("a", State::Is("1")) && promises.note("b", State::Is(&long[1..])));
        assert!(!promises.note("a", State::Is(&long)), "the last word is not the first one");
        assert!(!promises.note(&long, State::Is("1")));
        let known = BTreeMap::from([("b".to_string(), Some(long[1..].to_string()))]);
        assert_eq!(promises.take(), (known, BTreeSet::from(["a".to_string()])));
    }

    #[test]
    fn what_there_is_no_room_for_is_not_kept_but_what_is_kept_still_changes() {
        let mut promises = Promises::default();
        assert!((0..MAX_THINGS).all(|number| promises.note(&number.to_string(), State::Gone)));
        assert!(!promises.note("one more", State::Gone));
        assert!(promises.note("7", State::Is("new")));
        assert!(promises.note("8", State::Unknown) && !promises.note("one more", State::Gone));
        let (known, unknown) = promises.take();
        assert_eq!((known["7"].as_deref(), unknown.contains("8")), (Some("new"), true));
    }
}
