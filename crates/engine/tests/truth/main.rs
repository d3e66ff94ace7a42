//! What the engine says, held against what is known: exact on the virtual clock, and on sockets against the server's
//! own time stamps. Tests take turns here, and have a binary of their own, so that nobody else's load is beside those on
//! sockets.

mod coordinated_omission;
mod lag;
#[path = "../memory/lean_net.rs"]
mod lean_net;
mod percentiles;
mod seen;
#[path = "../it/virtual_net.rs"]
#[allow(dead_code, reason = "other tests of it refuse and stall")]
mod virtual_net;
mod witness;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time: those on the virtual clock would take the CPU from those on sockets.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
