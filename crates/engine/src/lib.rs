//! The load generator (layer 1): users, schedules, sessions, HTTP, clock, recorder. It knows bytes and time and
//! nothing else: no kits, no servers, no files.

pub mod clock;
pub mod http;
pub mod random;
pub mod scenario;
pub mod script;
pub mod transport;
pub mod wheel;

pub use scenario::Scenario;
