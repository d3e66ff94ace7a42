//! What the engine says, held against what is known: exact on the virtual clock, and on sockets against the server's
//! own time stamps. Those on sockets have `on_sockets` in their names: the gate runs them alone (`.config/nextest.toml`),
//! so that nobody else's load is beside them.

mod coordinated_omission;
mod frozen;
mod lag;
#[path = "../memory/lean_net.rs"]
mod lean_net;
mod percentiles;
mod seen;
#[path = "../it/virtual_net.rs"]
#[allow(dead_code, reason = "other tests of it refuse and stall")]
mod virtual_net;
mod witness;
