//! What things are called on the bus.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longer names would make subjects that nobody can read.
const MAX_NAME: usize = 64;

/// A name of a fleet, a run or an agent: letters, digits and `-`. NATS gives a meaning to dots, stars, `>` and blanks, and `_` stands
/// between the names in a stream's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

impl Name {
    /// The name, where it is one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(text: &str) -> Result<Name, String> {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if text.is_empty() || text.len() > MAX_NAME {
            return Err(format!("`{text}` is no name: it has 1 to {MAX_NAME} letters, digits and `-`"));
        }
        match text.chars().find(|letter| !allowed(*letter)) {
            Some(letter) => Err(format!("`{text}` is no name: `{letter}` is no letter, digit or `-`")),
            None => Ok(Name(text.to_string())),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What a message tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A second ([`crate::second`]).
    Second,
    /// Something that happened.
    Event,
    /// That there are no more seconds ([`crate::totals`]).
    End,
    /// A reading of the tiers on the agent's machine (`crate::observed`).
    Observe,
}

impl Kind {
    const ALL: [(Kind, &str, u8); 4] = [
        (Kind::Second, "second", 0),
        (Kind::Event, "event", 1),
        (Kind::End, "end", 2),
        (Kind::Observe, "observe", 3),
    ];

    fn word(self) -> &'static str {
        Kind::ALL[self.byte() as usize].1
    }

    /// Before the message in a spool.
    pub(super) fn byte(self) -> u8 {
        self as u8
    }

    /// The kind and the message of what stands in a spool.
    pub(super) fn split(spooled: &[u8]) -> Option<(Kind, &[u8])> {
        let (first, message) = spooled.split_first()?;
        let (kind, ..) = Kind::ALL.iter().find(|(.., byte)| byte == first)?;
        Some((*kind, message))
    }
}

/// Who tells something: an agent of a run. One that begins again is another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Voice {
    /// Of this fleet.
    pub fleet: Name,
    /// In this run.
    pub run: Name,
    /// Who.
    pub agent: Name,
    /// In which of its lives: each has another number.
    pub incarnation: u64,
}

/// Which piece of a message this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// From 0.
    pub(super) number: u32,
    /// How many there are.
    pub(super) of: u32,
}

/// A header of a message: which part of which message of which incarnation it is.
pub(super) const PART_HEADER: &str = "Plimsoll-Part";

impl Voice {
    /// Where it tells things of that kind.
    pub(super) fn subject(&self, kind: Kind) -> String {
        format!("{}.{}.{}", subjects_of(&self.fleet, &self.run), self.agent, kind.word())
    }

    /// By which the broker knows a message that it has already: for it, two messages with the same one are the same, whoever sends
    /// them. Incarnations are known to all agents, so `secret` is what nobody else has.
    pub(super) fn id(&self, secret: u64, number: u64, part: Part) -> String {
        format!("{}.{}.{secret}.{number}.{}", self.run, self.agent, part.number)
    }

    /// The value of [`PART_HEADER`].
    pub(super) fn header(&self, number: u64, part: Part) -> String {
        format!("{} {number} {} {}", self.incarnation, part.number, part.of)
    }

    /// Who told what, by a message's subject and header.
    pub(super) fn read(
        fleet: &Name,
        run: &Name,
        (subject, header): (&str, &str),
    ) -> Option<(Voice, Kind, u64, Part)> {
        let (agent, kind) =
            subject.strip_prefix(&subjects_of(fleet, run))?.strip_prefix('.')?.split_once('.')?;
        let (kind, ..) = Kind::ALL.iter().find(|(_, word, _)| *word == kind)?;
        let numbers: Vec<u64> = header.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let [incarnation, number, part, of] = numbers[..] else { return None };
        let part = Part { number: u32::try_from(part).ok()?, of: u32::try_from(of).ok()? };
        let voice =
            Voice { fleet: fleet.clone(), run: run.clone(), agent: Name::of(agent).ok()?, incarnation };
        Some((voice, *kind, number, part))
    }
}

/// The beginning of what a run's agents tell.
pub(super) fn subjects_of(fleet: &Name, run: &Name) -> String {
    format!("pl.{fleet}.r.{run}")
}

/// The run's stream.
pub(super) fn stream_of(fleet: &Name, run: &Name) -> String {
    format!("PL_{fleet}_{run}")
}

/// The run whose stream has that name.
pub(super) fn run_of_stream(fleet: &Name, stream: &str) -> Option<Name> {
    Name::of(stream.strip_prefix(&format!("PL_{fleet}_"))?).ok()
}

/// Where an agent hears what the controller has.
pub(crate) fn kept_subject(fleet: &Name, agent: &Name) -> String {
    format!("pl.{fleet}.kept.{agent}")
}

/// Where a fleet's agents hear what is wanted.
pub(crate) fn beacon_subject(fleet: &Name) -> String {
    format!("pl.{fleet}.beacon")
}

/// Where an agent says how it stands.
pub(crate) fn heartbeat_subject(fleet: &Name, agent: &Name) -> String {
    format!("pl.{fleet}.hb.{agent}")
}

/// Who says so there, by the subject of such a message.
pub(super) fn agent_of_heartbeat<'s>(fleet: &Name, subject: &'s str) -> Option<&'s str> {
    subject.strip_prefix(&format!("pl.{fleet}.hb."))
}

/// Where an agent is asked for its clock.
pub(crate) fn clock_subject(fleet: &Name, agent: &Name) -> String {
    format!("pl.{fleet}.clock.{agent}")
}

/// All that a fleet says to each other.
pub(crate) fn subjects_of_fleet(fleet: &Name) -> String {
    format!("pl.{fleet}.>")
}

/// Where all of them are.
pub(crate) fn clock_subjects(fleet: &Name) -> String {
    format!("pl.{fleet}.clock.*")
}

/// Where all of a fleet's agents hear what the controller has.
pub(crate) fn kept_subjects(fleet: &Name) -> String {
    format!("pl.{fleet}.kept.*")
}

/// All that all of them tell, in whichever run.
pub(crate) fn told_subjects(fleet: &Name) -> String {
    format!("pl.{fleet}.r.>")
}

/// All that an agent tells, in whichever run.
pub(crate) fn told_by(fleet: &Name, agent: &Name) -> String {
    format!("pl.{fleet}.r.*.{agent}.>")
}

/// The beginning of the subjects at which somebody is answered: of nobody else's.
pub(crate) fn inbox_of(name: &Name) -> String {
    format!("_INBOX_{name}")
}

/// Where all of a fleet's agents do.
pub(crate) fn heartbeat_subjects(fleet: &Name) -> String {
    format!("pl.{fleet}.hb.*")
}

/// What the controller has of an agent: it need not tell it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) run: String,
    pub(super) incarnation: u64,
    /// All messages below this number.
    pub(super) below: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::of(text).expect("a name")
    }

    #[test]
    fn names_that_nats_would_read_otherwise_are_refused() {
        for text in ["", "a.b", "*", "a>", "a b", "a_b", "ä", &"x".repeat(65)] {
            let refused = Name::of(text).expect_err(text);
            assert!(refused.contains("is no name"), "{refused}");
        }
        assert_eq!(name("20260101-000000-dvdstore-000a").as_str(), "20260101-000000-dvdstore-000a");
    }

    #[test]
    fn a_run_is_known_by_its_stream_s_name() {
        let of = |stream: &str| run_of_stream(&name("lab"), stream);
        assert_eq!(of(&stream_of(&name("lab"), &name("r-1"))), Some(name("r-1")));
        for other in [&stream_of(&name("lab-2"), &name("r-1")), "PL_lab_a.b", "PL_lab_", "KV_lab_r-1"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn who_told_what_is_read_from_a_message_as_it_was_written() {
        let voice = Voice { fleet: name("lab"), run: name("r-1"), agent: name("a1"), incarnation: 77 };
        for (kind, ..) in Kind::ALL {
            let part = Part { number: 1, of: 3 };
            let (subject, header) = (voice.subject(kind), voice.header(12, part));
            let read = Voice::read(&voice.fleet, &voice.run, (&subject, &header));
            assert_eq!(read, Some((voice.clone(), kind, 12, part)), "{subject} {header}");
            assert_eq!(Kind::split(&[kind.byte(), 9]), Some((kind, &[9][..])));
        }
        let of_others = [("pl.lab.r.r-2.a1.second", "77 12 1 3"), ("pl.lab.r.r-1.a1.song", "77 12 1 3")];
        let damaged = [("pl.lab.r.r-1.a1.second", "77 12 1"), ("pl.lab.r.r-1.a1.second", "77 12 1 x")];
        for message in of_others.into_iter().chain(damaged) {
            assert_eq!(Voice::read(&voice.fleet, &voice.run, message), None, "{message:?}");
        }
    }
}
