//! The statements that a database's clients are in, as they are seen once a second, and how the database carries out the
//! dearest of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::record::statements::{PlanStep, RowWait, RowWaitSeen, StatementFacts, StatementSeen};

use super::digest::digest;

/// How many of the dearest are explained.
const MAX_EXPLAINED: usize = 3;
/// One that was seen less often may be there by chance.
const MIN_SEEN: u64 = 3;
/// Looks before it is known which are the dearest.
const MIN_LOOKS: usize = 10;
/// Statements that look different; others are one.
const MAX_DIGESTS: usize = 1_000;
/// What stands for statements that had no room.
const OTHERS: &str = "other statements";

/// What was seen, shared between the thread that asks and the watch.
#[derive(Debug, Default)]
pub(super) struct Statements(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Since it was taken last.
    seen: BTreeMap<String, Looks>,
    known: BTreeMap<String, Known>,
    explained: Vec<StatementFacts>,
    asked: usize,
    looks: usize,
}

#[derive(Debug, Default)]
struct Looks {
    clients: u64,
    row_waits: BTreeMap<RowWait, u64>,
}

#[derive(Debug)]
struct Known {
    seen: u64,
    asked: bool,
    database: Option<String>,
    example: String,
}

/// A statement to be explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) digest: String,
    pub(super) database: Option<String>,
    pub(super) example: String,
}

impl Statements {
    /// A client is in `statement`, with `database` as its default, and waits for the row of `row_wait`.
    pub(super) fn add(&self, database: Option<String>, statement: String, row_wait: Option<RowWait>) {
        let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut digest = digest(&statement);
        if state.known.len() >= MAX_DIGESTS && !state.known.contains_key(&digest) {
            digest = OTHERS.to_string();
        }
        let looks = state.seen.entry(digest.clone()).or_default();
        looks.clients += 1;
        if let Some(wait) = row_wait {
            *looks.row_waits.entry(wait).or_default() += 1;
        }
        let known = state.known.entry(digest).or_insert(Known {
            seen: 0,
            asked: false,
            database,
            example: statement,
        });
        known.seen += 1;
    }

    /// The dearest that nobody has asked about, once there were looks enough; called at each look. From then on it counts as
    /// asked.
    pub(super) fn candidate(&self) -> Option<Candidate> {
        let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.looks += 1;
        if state.asked >= MAX_EXPLAINED || state.looks < MIN_LOOKS {
            return None;
        }
        let can = |(digest, known): &(&String, &mut Known)| {
            !known.asked && known.seen >= MIN_SEEN && can_be_explained(digest)
        };
        let (digest, known) = state.known.iter_mut().filter(can).max_by_key(|(_, known)| known.seen)?;
        known.asked = true;
        state.asked += 1;
        let (database, example) = (known.database.clone(), known.example.clone());
        Some(Candidate { digest: digest.clone(), database, example })
    }

    /// How the database carries it out.
    pub(super) fn explained(&self, candidate: Candidate, plan: Vec<PlanStep>) {
        let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Candidate { digest, example, .. } = candidate;
        state.explained.push(StatementFacts { tier: String::new(), digest, example, plan });
    }

    /// What is new since the last call, of the tier of that name.
    pub(super) fn take(&self, tier: &str) -> (Vec<StatementSeen>, Vec<StatementFacts>) {
        let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_tier = |(digest, looks): (String, Looks)| {
            let row_waits = looks.row_waits.into_iter();
            let row_waits = row_waits.map(|(wait, clients)| RowWaitSeen { wait, clients }).collect();
            StatementSeen { tier: tier.to_string(), digest, clients: looks.clients, row_waits }
        };
        let seen = std::mem::take(&mut state.seen).into_iter().map(of_tier).collect();
        let facts = std::mem::take(&mut state.explained).into_iter();
        (seen, facts.map(|facts| StatementFacts { tier: tier.to_string(), ..facts }).collect())
    }
}

/// Statements whose EXPLAIN doesn't carry them out.
fn can_be_explained(digest: &str) -> bool {
    let verb = digest.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    ["select", "update", "delete", "insert", "replace", "with"].contains(&verb.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dearest_statements_are_asked_about_once_each_and_those_seen_by_chance_never() {
        let statements = Statements::default();
        let add = |text: &str, times: usize| {
            (0..times).for_each(|number| statements.add(None, text.replace('N', &number.to_string()), None));
        };
        add("SELECT * FROM a WHERE id = N", 9);
        add("UPDATE b SET c = N", 12);
        add("COMMIT", 40);
        add("SELECT N", 2);
        let asked: Vec<String> =
            (0..20).filter_map(|_| statements.candidate()).map(|one| one.digest).collect();
        assert_eq!(asked, ["UPDATE b SET c = ?", "SELECT * FROM a WHERE id = ?"]);
        let (seen, _) = statements.take("db");
        let of = |digest: &str| seen.iter().find(|one| one.digest == digest).map(|one| one.clients);
        assert_eq!((of("COMMIT"), of("SELECT ?")), (Some(40), Some(2)));
        assert!(statements.take("db").0.is_empty(), "what was taken is not new");
    }
}
