//! Many load machines whose results are one result (layer 2). Each of them, an agent, drives a slice of the users with the
//! engine; what it records goes to the controller second by second, which merges it as the engine merges its threads.
//!
//! The principal type is [`Merge`]: agents' messages in, the run's seconds out, each as soon as all agents have told it.
//! [`slices`] says who drives which users, [`second`] what a message is, [`spool`] where an agent keeps it until the controller
//! does, [`clock`] how far the machines' clocks are apart, [`start`] how all begin together, [`lease`] when an agent ends alone,
//! [`mod@want`] what a controller says every second, [`signed`] why it is believed, and [`duty`] what an agent does then.
//! An agent may watch tiers of its own machine as well, or do only that ([`WatchedTier`]).
//! [`Credentials`] let an agent onto a guarded bus, whose broker has a certificate of the fleet's [`Authority`] and lets everybody do
//! what is theirs ([`broker_config`]).
//!
//! Not here: what is done with the seconds (`store`, `runner`), and what a user does (`engine`, `kit`).

pub mod agent;
mod authority;
pub mod broker_config;
pub mod bundle;
pub mod bus;
pub mod clock;
pub mod controller;
mod credentials;
pub mod duty;
pub mod heartbeat;
pub mod lease;
mod merge;
mod observed;
pub mod permissions;
pub mod second;
pub mod signed;
mod split;
pub mod spool;
pub mod start;
pub mod totals;
pub mod want;
mod watched;

pub use authority::{Authority, Certificate};
pub use credentials::{Credentials, new_user_seed};
pub use merge::{Merge, Misfit};
pub use split::slices;
pub use watched::{WatchedBy, WatchedTier};
