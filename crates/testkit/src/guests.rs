//! Guests of a run, as its record has them.

use model::record::plan::Guest;
use model::record::{Cloned, GuestResult, Outcome};

/// One of several alike, which did well: 10 users, 100 operations/s, 100 ms each, half a core.
pub fn guest(number: u32) -> GuestResult {
    GuestResult {
        guest: Guest { number, cpu_limit_cores: Some(0.5), memory_limit_bytes: Some(2_621_440_000) },
        run: format!("20261127-050000-dvdstore-000{number}"),
        cloned: Cloned { copy_s: 0.21, start_s: 1.02, ready_s: 1.5, disk_bytes: 52_000_000 },
        users: 10,
        load_ratio: 0.5,
        outcome: Outcome::Completed,
        valid: true,
        pass: Some(true),
        missed: Vec::new(),
        per_s: 100.0,
        mean_s: Some(0.1),
        p95_s: Some(0.2),
        p99_s: Some(0.3),
        failed_ratio: 0.0,
        cpu_cores: Some(0.48),
        memory_bytes: Some(340_000_000),
        held_by: Some("web: its CPU limit is used up".into()),
    }
}
