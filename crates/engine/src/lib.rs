//! The load generator (layer 1): users, schedules, sessions, HTTP, clock, recorder. It knows bytes and time and
//! nothing else: no kits, no servers, no files.
//!
//! The principal type is the worker: one thread with its own users, timer wheel, connections, Lua state and
//! recorder; nothing is shared while running. It is generic over [`clock::Clock`] and [`transport::Transport`]: on a
//! virtual pair every claim about time is exactly testable. [`run`] starts one on each CPU and merges what they
//! record into [`model::Interval`]s, one a second.
//!
//! A worker leads between three that know nothing of one another: `users` (who is there, when something is due),
//! `program` (what they do next) and `connections` (what goes over the wire). What was seen of it the `recorder` has,
//! which is lent to each for the time that it needs it.
//!
//! Not here: what is done with the seconds (`store`, `analysis`), where sessions come from (`kit`), and which server
//! answers (`testbed`).

mod active_session;
mod arrivals;
mod barrier;
pub mod clock;
mod collector;
mod connections;
mod control;
pub mod http;
mod lendable;
mod mix;
pub mod null_server;
pub mod preflight;
mod program;
pub mod random;
mod recorder;
mod run;
pub mod scenario;
mod schedule;
pub mod script;
mod target;
pub mod time_slices;
pub mod tls;
pub mod trace;
pub mod transport;
mod under_way;
mod usage;
mod user_state;
mod users;
pub mod wheel;
mod worker;

pub use barrier::Barrier;
pub use collector::{Second, Totals};
pub use control::{Control, Stop};
pub use run::{Audience, RunOptions, Slice, run, run_on, run_on_under};
pub use scenario::{Program, Scenario, Source};
pub use target::{Endpoint, Target, Tls, Trust};
