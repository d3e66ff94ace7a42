//! Very many users on the virtual transport.

use std::fmt;
use std::net::SocketAddr;

use engine::scenario::ConnectionPolicy;
use engine::{Audience, Program, RunOptions, Scenario, Second, Source, run_on};
use model::record::plan::Load;
use model::{Distribution, Result};

use crate::lean_net::LeanNet;
use crate::resident;

/// What a case cost.
pub(crate) struct Cost {
    users: u32,
    sessions: u64,
    grown_bytes: u64,
    took_s: f64,
}

impl fmt::Display for Cost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = self.grown_bytes as f64 / f64::from(self.users);
        write!(
            out,
            "{each:.0} bytes a user: {} users, {} sessions, {:.1} MB more than before, {:.1} s",
            self.users,
            self.sessions,
            self.grown_bytes as f64 / 1e6,
            self.took_s
        )
    }
}

struct Nobody;

impl Audience for Nobody {
    fn second(&mut self, _second: &Second<'_>) -> Result<()> {
        Ok(())
    }
}

/// Users who log in, look at what came, keep a number of their own, and think `think_s` in the mean.
pub(crate) fn scenario(think_s: f64) -> Scenario {
    let text = "function visit(user)
        operation 'Look'
        local page = get('/look', { user = user.number, n = random(1, 1000) })
        user.visits = (user.visits or 0) + 1
        check(page:has('n'), 'an answer')
    end";
    Scenario {
        think: Some(Distribution::Exponential { mean: think_s, min: 0.0, max: 10.0 * think_s }),
        ..Scenario::of(Program::Script(Source::of("session.lua", text, "visit")))
    }
}

/// Users thinking 5 s, connections kept.
pub(crate) fn open(users: u32) -> Cost {
    measured(users, 5.0, 15.0, scenario(5.0))
}

/// Users thinking 120 s that close between operations.
pub(crate) fn closed(users: u32) -> Cost {
    measured(users, 120.0, 5.0, Scenario { connections: ConnectionPolicy::PerOperation, ..scenario(120.0) })
}

/// Everybody has come within the ramp-up, and has had a session.
fn measured(users: u32, ramp_up_s: f64, steady_s: f64, scenario: Scenario) -> Cost {
    let load = Load { users, ramp_up_s, steady_s, seed: 5, ..Load::default() };
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 80));
    let options = RunOptions { drain_s: 5.0, ..RunOptions::of(scenario, load, nowhere) };
    let (before_bytes, start) = (resident::now_bytes(), std::time::Instant::now());
    let (clock, net) = LeanNet::new(5_000_000, 0);
    let totals = run_on(&options, clock, net, &mut Nobody).expect("the run works");
    assert_eq!(totals.failed.iter().sum::<u64>(), 0, "{:?}", totals.evidence);
    let sessions = totals.completed.first().copied().unwrap_or(0);
    assert!(sessions >= u64::from(users), "{sessions} sessions of {users} users");
    Cost {
        users,
        sessions,
        grown_bytes: resident::peak_bytes() - before_bytes,
        took_s: start.elapsed().as_secs_f64(),
    }
}
