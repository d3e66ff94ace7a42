//! What a study knows while it goes on, by the code that judges at its end: [`StudySoFar`]. Nothing is measured for it.

mod compare;
mod find;
mod known;
mod sweep;

pub use compare::compare;
pub use find::FindSoFar;
pub use known::StudySoFar;
pub use sweep::sweep;
