//! The house rules, checked on the repository's own text by `tests/repository.rs`.
//!
//! The principal type is [`House`], every text file of the repository by its path. Each module of this crate is one
//! family of rules, a function from a `House` to [`Complaint`]s. Exceptions stand in `tidy.toml`, each with its
//! reason; one that is no longer needed is itself a complaint.
//!
//! Not here: what the compiler and clippy check (`Cargo.toml`, `[workspace.lints]`).

pub mod catalogue;
pub mod circles;
mod complaint;
pub mod dialect;
pub mod documents;
pub mod examples;
pub mod exceptions;
mod house;
mod imports;
pub mod kinds;
pub mod layers;
pub mod servers;
pub mod shape;
pub mod source;

pub use complaint::Complaint;
pub use exceptions::Exceptions;
pub use house::House;

/// Every rule, without regard to exceptions.
pub fn all(house: &House) -> Vec<Complaint> {
    let rules = [
        layers::check,
        circles::check,
        source::check,
        kinds::check,
        shape::check,
        dialect::check,
        catalogue::check,
        servers::check,
        documents::check,
        examples::check,
    ];
    let mut found: Vec<Complaint> = rules.iter().flat_map(|rule| rule(house)).collect();
    found.sort();
    found
}
