//! `plimsoll compare RUN RUN` over recorded runs.

use model::record::interval::{OperationInterval, record_ns};
use model::{ErrorKind, Interval, OperationKind};
use store::Runs;
use testkit::recorded::{Recorded, Specimen};

use crate::tool::Home;

/// Keeps a recorded run under that id, its seconds changed.
fn keep(home: &Home, id: &str, change: impl Fn(Interval, &Recorded) -> Interval) -> String {
    let mut recorded = Specimen::Passed.open();
    recorded.record.id = id.to_string();
    let runs = Runs::open(home.path()).expect("the home can be made");
    let mut writer = runs.create(&recorded.skeleton()).expect("the run can be created");
    for interval in recorded.intervals() {
        writer.second(&change(interval, &recorded), &recorded.names).expect("the second can be kept");
    }
    writer.finish(&recorded.record).expect("the run can be finished");
    id.to_string()
}

/// Of each operation nearly 40 % fail at once, and the others take half as long.
fn failing(mut interval: Interval, recorded: &Recorded) -> Interval {
    for (name, row) in recorded.names.iter().zip(&mut interval.operations) {
        if name.kind != OperationKind::Operation {
            continue;
        }
        let failed = row.completed * 2 / 5;
        let mut left = OperationInterval { completed: row.completed - failed, ..OperationInterval::empty() };
        for value in row.response.iter_recorded() {
            let took_ns = value.value_iterated_to() * 500;
            (0..value.count_at_value()).for_each(|_| record_ns(&mut left.response, took_ns));
        }
        let status = ErrorKind::ALL.iter().position(|kind| kind.word() == "status").expect("a kind");
        left.errors[status] = failed;
        *row = left;
    }
    interval
}

#[test]
fn a_run_that_fails_at_once_wins_nothing_by_being_quick_otherwise() {
    let home = Home::new();
    let a = keep(&home, "20260101-000000-dvdstore-000a", |interval, _| interval);
    let b = keep(&home, "20260101-000100-dvdstore-000b", failing);
    let told = home.plimsoll(&format!("compare {a} {b} --gate 3%")).run().expect(99);
    told.says("B is worse: of what completed")
        .says("the gate of 3 % fails")
        .says("40 % of B's operations failed");
    let json = home.plimsoll(&format!("compare {a} {b} --gate 3% --json")).run().expect(99).json();
    let compare = &json["question"]["compare"];
    let failed_ratio = compare["failed"]["b_ratio"].as_f64().expect("a share");
    assert!(failed_ratio > 0.38 && failed_ratio <= 0.4, "whole operations of each second: {failed_ratio}");
    assert_eq!(
        (&compare["conclusion"], &compare["failed"]["arm"]),
        (&"slower".into(), &1.into()),
        "{compare:#}"
    );
    // The other way round it is A that fails: B, which is slower, is not the worse one for it.
    let told = home.plimsoll(&format!("compare {b} {a}")).run().expect(0);
    told.says("Neither is better").says("40 % of A's operations failed");
}

#[test]
fn a_gate_that_one_run_of_each_holds_says_what_its_interval_leaves_out() {
    let home = Home::new();
    let a = keep(&home, "20260101-000000-dvdstore-000a", |interval, _| interval);
    let b = keep(&home, "20260101-000100-dvdstore-000b", |interval, _| interval);
    let told = home.plimsoll(&format!("compare {a} {b} --gate 40%")).run().expect(0);
    told.says("the gate of 40 % holds")
        .says("how much it changes from one start of a stack to the next is not in the interval")
        .says("intervals for who looks once");
    let json = home.plimsoll(&format!("compare {a} {b} --gate 40% --json")).run().expect(0).json();
    assert_eq!(json["question"]["compare"]["unpaired"], true);
}
