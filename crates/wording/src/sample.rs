//! A made-up trial, outcome and load line for the tests of this room.

use model::Check;
use model::record::study::{Confirmation, Fault, LoadLine, Measured, Purpose, Trial};
use model::record::{Margin, TargetOutcome};

/// Trial 3, a ramp trial with 20 users, with these targets, in which these checks broke.
pub(crate) fn trial(targets: Vec<TargetOutcome>, faults: &[(Check, &str)]) -> Trial {
    let fault =
        |(check, sentence): &(Check, &str)| Fault { check: check.clone(), sentence: (*sentence).to_string() };
    Trial {
        number: 3,
        arm: 0,
        block: 0,
        purpose: Purpose::Ramp,
        load: 20.0,
        run: "run".to_string(),
        began_s: 0.0,
        took_s: 10.0,
        fresh: true,
        warm_up_s: Some(1.0),
        window_s: 5.0,
        interrupted_ratio: None,
        measured: Some(Measured { targets, ..Measured::default() }),
        faults: faults.iter().map(fault).collect(),
        overloaded: Vec::new(),
        conditions: Default::default(),
    }
}

/// What was observed of a target, with its margin: it is met below 0.
pub(crate) fn outcome(text: &str, observed: f64, margin: f64) -> TargetOutcome {
    TargetOutcome {
        margin: Margin { log: Some(margin), ..Margin::default() },
        pass: margin < 0.0,
        samples_needed: 100,
        ..TargetOutcome::of(text.parse().expect("a target"), Some(observed), 100)
    }
}

/// A load line of 412 users, confirmed on both sides.
pub(crate) fn line() -> LoadLine {
    let confirmation = |trial, load| Some(Confirmation { trial, load, for_s: 90.0 });
    LoadLine {
        load: 412.0,
        low: 398.0,
        high: 421.0,
        wide: false,
        held_by: Some("Browse p95 < 300 ms".parse().expect("a target")),
        held_by_ratio: 0.97,
        slope: 9.0,
        passed: confirmation(17, 399.0),
        failed: confirmation(18, 436.0),
        contradicted: Vec::new(),
        unjudged: Vec::new(),
        conditions: Default::default(),
        confirming: 2,
        throughput_per_s: Some(940.0),
        by_average: None,
    }
}
