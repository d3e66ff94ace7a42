//! A run's record in one piece, and the scenarios that tests of truth run.

use std::net::SocketAddr;

use engine::{Audience, Program, RunOptions, Scenario, Second, Source, Totals};
use model::record::interval::{Interval, OperationInterval, OperationKind, OperationName, Times};
use model::record::plan::Load;
use model::{Distribution, Result};

/// The quantiles that are compared.
pub(crate) const QUANTILES: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0];

/// All seconds of a run as one.
#[derive(Default)]
pub(crate) struct Seen {
    whole: Option<Interval>,
    names: Vec<OperationName>,
}

impl Audience for Seen {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.whole.get_or_insert_with(|| Interval::empty(0)).merge(second.interval);
        self.names = second.names.to_vec();
        Ok(())
    }
}

impl Seen {
    pub(crate) fn operation(&self, name: &str) -> &OperationInterval {
        self.row(OperationKind::Operation, name)
    }

    pub(crate) fn session(&self, name: &str) -> &OperationInterval {
        self.row(OperationKind::Session, name)
    }

    /// What the script abandoned.
    pub(crate) fn untimed(&self) -> &Times {
        &self.whole.as_ref().expect("a run has seconds").untimed
    }

    fn row(&self, kind: OperationKind, name: &str) -> &OperationInterval {
        let wanted = OperationName { kind, name: name.to_string() };
        let row = self.names.iter().position(|name| *name == wanted);
        let row = row.unwrap_or_else(|| panic!("no {wanted:?} among {:?}", self.names));
        &self.whole.as_ref().expect("a run has seconds").operations[row]
    }

    pub(crate) fn lag(&self) -> &Times {
        &self.whole.as_ref().expect("a run has seconds").lag
    }
}

/// Users who ask for `/` in an operation `Op` again and again, for that number of seconds.
pub(crate) fn users(users: u32, steady_s: f64, target: SocketAddr) -> RunOptions {
    let source = Source::of("session.lua", "function visit() operation 'Op' get('/') end", "visit");
    let scenario = Scenario { timeout_s: 10.0, ..Scenario::of(Program::Script(source)) };
    let load = Load { users, steady_s, seed: 11, ..Load::default() };
    RunOptions { drain_s: 20.0, ..RunOptions::of(scenario, load, target) }
}

/// The same users thinking between their sessions.
pub(crate) fn thinking(options: RunOptions, think: Distribution) -> RunOptions {
    RunOptions { scenario: Scenario { think: Some(think), ..options.scenario }, ..options }
}

/// The same users starting a session at intervals of that number of seconds.
pub(crate) fn cycling(options: RunOptions, cycle_s: f64) -> RunOptions {
    let cycle = Some(Distribution::Fixed { value: cycle_s });
    RunOptions { scenario: Scenario { cycle, ..options.scenario }, ..options }
}

pub(crate) fn expect_no_failure(totals: &Totals) {
    assert_eq!(totals.failed.iter().sum::<u64>(), 0, "{:?}", totals.evidence);
}

/// The value of rank ⌈q·n⌉, which is what an HDR histogram gives; `sorted` is not empty.
pub(crate) fn quantile(sorted: &[u64], q: f64) -> u64 {
    let rank = (q * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted[rank.min(sorted.len()) - 1]
}

/// Whether a histogram's quantiles are those of the exact times in nanoseconds, to its resolution.
#[track_caller]
pub(crate) fn expect_exactly(times: &Times, mut exact_ns: Vec<u64>) {
    assert_eq!(times.len(), exact_ns.len() as u64, "one sample for each");
    exact_ns.sort_unstable();
    for q in QUANTILES {
        let expected_us = (quantile(&exact_ns, q) + 500) / 1000;
        let found_us = times.value_at_quantile(q);
        assert!(
            times.equivalent(found_us, expected_us),
            "p{}: {found_us} µs, not {expected_us} µs",
            q * 100.0
        );
    }
    let mean_us = exact_ns.iter().sum::<u64>() as f64 / exact_ns.len() as f64 / 1000.0;
    let found_us = times.mean();
    assert!((found_us - mean_us).abs() <= 0.001 * mean_us + 0.5, "mean: {found_us} µs, not {mean_us} µs");
}
