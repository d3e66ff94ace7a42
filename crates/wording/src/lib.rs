//! Words for people (layer 2): every sentence of a result, a verdict, a study or a diagnosis is made here, once, from
//! facts that other rooms give as types.
//!
//! A function takes facts (`analysis`, `model::record`, `model::record::study`) and gives text; it decides nothing that a result
//! depends on. Sentences are written into records when these are kept, and read from there; what a page or a terminal
//! says beside is made from here too.
//!
//! Not here: problems, which are worded where they are raised; layouts, tables and drawings (`report`); numbers with
//! their units, which problems need too (`model::units`).

mod aborted;
mod asking;
mod aspect;
pub mod capacity;
mod checks;
mod cluster;
pub mod compare;
mod diagnosis;
mod evidence;
pub mod find;
mod guest;
mod line_proof;
pub mod plan;
pub mod progress;
mod proof;
mod roughly;
mod run;
#[cfg(test)]
mod sample;
pub mod samples;
pub mod sweep;
pub mod trial;

pub use aborted::{aborted, core, not_aborted};
pub use asking::Asking;
pub use aspect::{aspect, not_comparable, runs_differ};
pub use checks::{abandoned, check, checks, no_room};
pub use cluster::{copies, outage};
pub use diagnosis::diagnosis;
pub use guest::{clones, guest, guest_limits, guest_numbers, guests_apart, guests_verdict};
pub use line_proof::{intervention, line_proof, moved_target, target_move};
pub use proof::{ProofFacts, proof};
pub use roughly::roughly;
pub use run::{VerdictInputs, invalid, load_change, verdict};
