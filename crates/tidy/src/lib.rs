//! The house rules, checked on the repository's own text by `tests/repository.rs`.
//!
//! The principal type is [`House`], every text file of the repository by its path. Each module of this crate is one
//! family of rules, a function from a `House` to [`Complaint`]s. Exceptions stand in `tidy.toml`, each with its
//! reason; one that is no longer needed is itself a complaint.
//!
//! Not here: what the compiler and clippy check (`Cargo.toml`, `[workspace.lints]`).

pub mod catalogue;
pub mod documents;
pub mod exceptions;
mod house;
pub mod kinds;
pub mod layers;
pub mod shape;
pub mod source;

pub use exceptions::Exceptions;
pub use house::House;

/// A rule that is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complaint {
    /// The rule: a key of `tidy.toml`.
    pub rule: &'static str,
    /// The file.
    pub path: String,
    /// 1-based; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong, and what is wanted instead.
    pub what: String,
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {} [{}]", self.path, self.line, self.what, self.rule)
    }
}

/// Every rule, without regard to exceptions.
pub fn all(house: &House) -> Vec<Complaint> {
    let rules =
        [layers::check, source::check, kinds::check, shape::check, catalogue::check, documents::check];
    let mut found: Vec<Complaint> = rules.iter().flat_map(|rule| rule(house)).collect();
    found.sort();
    found
}
