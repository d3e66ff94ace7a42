//! The load generator (layer 1): users, schedules, sessions, HTTP, clock, recorder. It knows bytes and time and
//! nothing else: no kits, no servers, no files.
//!
//! The principal type is the worker: one thread with its own users, timer wheel, connections, Lua state and
//! recorder; nothing is shared while running. It is generic over [`clock::Clock`] and [`transport::Transport`]: on a
//! virtual pair every claim about time is exactly testable. [`run`] starts one on each CPU and merges what they
//! record into [`model::Interval`]s, one a second.
//!
//! Not here: what is done with the seconds (`store`, `analysis`), where sessions come from (`kit`), and which server
//! answers (`testbed`).

mod arrivals;
mod belongings;
pub mod clock;
mod collector;
mod connection;
pub mod foresight;
pub mod http;
mod mix;
pub mod null_server;
mod program;
pub mod random;
mod recorder;
mod run;
pub mod scenario;
mod schedule;
pub mod script;
mod target;
mod under_way;

pub mod tls;
pub mod trace;
pub mod transport;
mod usage;
mod visit;
pub mod wheel;
mod worker;

pub use collector::Second;
pub use run::{Audience, Control, RunOptions, Stop, Totals, run, run_on};
pub use scenario::{Program, Scenario, Source};
pub use target::{Endpoint, Target, Tls, Trust};
