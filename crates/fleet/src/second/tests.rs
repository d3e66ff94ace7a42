use model::record::interval::{OperationKind, Pauses, SessionEnd, record_ns};

use super::*;

fn name(kind: OperationKind, name: &str) -> OperationName {
    OperationName { kind, name: name.to_string() }
}

fn names() -> Vec<OperationName> {
    vec![name(OperationKind::Session, "visit"), name(OperationKind::Operation, "Save")]
}

/// A second with something in every field that a message has.
fn full() -> Interval {
    let mut interval = Interval::empty(7);
    for (index, (_, _, put)) in FIGURES.iter().enumerate() {
        put(&mut interval, index as f64 + 1.0);
    }
    interval.busy_user_s = 0.1 + 0.2;
    for (index, (.., times)) in DISTRIBUTIONS.iter().enumerate() {
        (0..=index as u64).for_each(|n| record_ns(times(&mut interval), 1_000_000 * (n + 1)));
    }
    for row in 0..2 {
        let mut operation = OperationInterval::empty();
        (operation.completed, operation.bytes, operation.errors[2]) = (3 + row, 1_000, 2);
        (1..50).for_each(|n| record_ns(&mut operation.response, n * n * 70_000));
        (1..50).for_each(|n| record_ns(&mut operation.service, n * n * 50_000));
        interval.operations.push(operation);
    }
    interval.counters.insert("pages".to_string(), 5);
    interval.choices = vec![4, 0, 2];
    interval.pauses =
        vec![Pauses { drawn: 2, drawn_sum_s: 0.3, ended: 1, asked_sum_s: 0.1, took_sum_s: 0.1000001 }];
    interval.last_sessions = vec![SessionEnd { operation: 1, ended_ns: 7_100_000_000, took_ns: 90_000_000 }];
    interval
}

fn evidence() -> Evidence {
    Evidence {
        operation: "Save".to_string(),
        kind: "check".to_string(),
        message: "saved".to_string(),
        request: Some("POST /save".to_string()),
        answer: None,
        second: 7,
    }
}

fn message(interval: &Interval) -> Vec<u8> {
    let second = Second { interval, names: &names(), evidence: &[evidence()] };
    encode(&second, 0, &mut Encoder::default()).expect("it encodes")
}

/// What is added of it to nothing.
fn added(message: &SecondMessage) -> Interval {
    let mut sum = Interval::empty(message.second());
    sum.operations = vec![OperationInterval::empty(), OperationInterval::empty()];
    message.add_to(&mut sum, &[0, 1]).expect("it can be added");
    sum
}

/// Field by field: a histogram that differs is better named than printed.
fn assert_same(found: &Interval, expected: &Interval) {
    assert_eq!(found.second, expected.second);
    for (name, get, _) in &FIGURES {
        assert_eq!(get(found), get(expected), "{name}");
    }
    for (name, get, _) in &DISTRIBUTIONS {
        assert!(get(found) == get(expected), "histogram {name}");
    }
    assert_eq!(found.operations.len(), expected.operations.len());
    for (row, (found, expected)) in found.operations.iter().zip(&expected.operations).enumerate() {
        let counts = |of: &OperationInterval| (of.completed, of.bytes, of.errors);
        assert_eq!(counts(found), counts(expected), "row {row}");
        assert!(
            found.response == expected.response && found.service == expected.service,
            "times of row {row}"
        );
    }
    assert_eq!(found.counters, expected.counters);
    assert_eq!(found.choices, expected.choices);
    assert_eq!(found.pauses, expected.pauses);
    assert_eq!(found.last_sessions, expected.last_sessions);
}

#[test]
fn what_is_read_is_what_was_sent() {
    let sent = full();
    let message = SecondMessage::read(message(&sent)).expect("it is one of ours");
    message.check(0).expect("it is right");
    assert_eq!(message.names(), names());
    assert_eq!(message.evidence(), [evidence()]);
    assert_same(&added(&message), &sent);
}

#[test]
fn a_second_in_which_nothing_happened_takes_next_to_nothing() {
    let nothing = Interval::empty(3);
    let bytes = message(&nothing);
    assert!(bytes.len() < 400, "{} bytes", bytes.len());
    let message = SecondMessage::read(bytes).expect("it is one of ours");
    assert_eq!(message.second(), 3);
}

#[test]
fn a_message_of_a_newer_version_or_of_something_else_is_refused_with_the_reason() {
    let refused = |bytes: Vec<u8>| SecondMessage::read(bytes).expect_err("it is refused");
    let header = br#"{"version":2,"another":"form"}"#;
    let length = (header.len() as u32).to_le_bytes();
    let newer = [MAGIC, length.as_slice(), header].concat();
    assert_eq!(refused(newer), "it is of version 2, and this program knows 1 and older ones");
    assert_eq!(refused(b"GET / HTTP/1.1".to_vec()), "it is no second of an agent");
    assert_eq!(refused(b"PLF".to_vec()), "it is cut off");
    assert_eq!(refused(b"PLF1\xff\xff\xff\xff".to_vec()), "its header is cut off");
}

#[test]
fn a_message_that_does_not_follow_the_one_before_is_refused() {
    let message = SecondMessage::read(message(&full())).expect("it is one of ours");
    let what = message.check(2).expect_err("two rows were named already");
    assert!(what.contains("named row"), "{what}");
}

#[test]
fn counts_that_can_t_be_and_rows_that_come_twice_are_refused() {
    let mut absurd = full();
    absurd.operations[1].completed = u64::MAX;
    let absurd = SecondMessage::read(message(&absurd)).expect("it is a message");
    assert!(absurd.check(0).expect_err("no agent completes that number").contains("counts more than"));
    let mut twice = SecondMessage::read(message(&full())).expect("it is a message");
    twice.header.operations[1].row = 0;
    assert!(twice.check(0).expect_err("one row twice").contains("twice"));
}

#[test]
fn damage_is_found_before_anything_is_added_or_adds_up() {
    let right = message(&full());
    for at in 0..right.len() {
        for flip in [0x01, 0x20, 0x80, 0xff] {
            let mut damaged = right.clone();
            damaged[at] ^= flip;
            let Ok(message) = SecondMessage::read(damaged) else { continue };
            if message.names().len() == 2 && message.check(0).is_ok() {
                _ = added(&message);
            }
        }
    }
    for length in 0..right.len() {
        let cut = SecondMessage::read(right[..length].to_vec());
        assert!(cut.and_then(|message| message.check(0)).is_err(), "{length} of {} bytes", right.len());
    }
}

/// Messages of programs of this version must be read by all later ones; `UPDATE_GOLDEN=1` writes it anew.
#[test]
fn a_message_that_was_kept_is_read_as_ever() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/second-1.plf1");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, message(&full())).expect("the golden message is written");
    }
    let kept = SecondMessage::read(std::fs::read(path).expect("the golden message")).expect("it is read");
    kept.check(0).expect("it is right");
    assert_same(&added(&kept), &full());
}
