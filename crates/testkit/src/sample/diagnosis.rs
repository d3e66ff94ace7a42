//! What holds a made-up stack: nothing in a run that passed, a row that all want in one that failed, and in others
//! something that can't be told.

use model::RunRecord;
use model::record::diagnosis::{
    Clue, Diagnosis, Doing, Handicap, Injected, Ledger, LedgerPart, Limited, Proof, Suspect, Try,
};
use model::record::interval::OperationKind;

use super::{Ending, Shape};

/// Fills in what a diagnosis would say.
pub(super) fn explain(record: &mut RunRecord, shape: &Shape) {
    record.unseen = vec![
        "Pressure of the memory is not known by tier: this kernel has no memory.pressure.".to_string(),
        "Apache does not tell its requests: ExtendedStatus is off.".to_string(),
    ];
    record.injected = (shape.ending == Ending::Failed).then(|| Injected {
        fault: "hot-row".into(),
        title: "all purchases update one row".into(),
        done: vec!["each purchase takes product 1 and holds its row for 20 ms".into()],
    });
    let operations = || record.operations.iter().filter(|row| row.kind == OperationKind::Operation);
    let completed: u64 = operations().map(|row| row.completed).sum();
    let times = operations().map(|row| row.response.mean_s.unwrap_or(0.0) * row.completed as f64);
    let response_s = times.sum::<f64>() / completed.max(1) as f64;
    record.diagnosis = match shape.ending {
        Ending::Passed => Some(headroom(response_s)),
        Ending::Failed => Some(limited(response_s)),
        Ending::Invalid => Some(unclear()),
        Ending::Interrupted | Ending::Unfinished => None,
    };
}

/// The diagnosis of a find whose stack is held by row locks.
pub(super) fn of_a_find() -> Diagnosis {
    let mut found = limited(0.082);
    found.proof = None;
    found.suspects[0].evidence.push(clue(
        "sql.row_lock_time",
        4.2,
        0.8,
        1.1,
        "the waiting for rows grows fastest with the load from 381 users on",
    ));
    found
}

fn headroom(response_s: f64) -> Diagnosis {
    Diagnosis {
        state: Limited::No,
        sentence:
            "nothing holds it: the users set the pace, and the busiest part, the stack's CPU, is used to 75 %"
                .into(),
        suspects: vec![Suspect {
            rule: "cpu".into(),
            tier: "web".into(),
            resource: "cpu".into(),
            title: "the web tier computes on all of its CPUs".into(),
            sure_ratio: 0.18,
            evidence: vec![clue("cpu.cores", 0.47, 0.3, 0.6, "the web tier used 0.47 of 1 cores")],
            tries: Vec::new(),
        }],
        ledger: Some(ledger(
            response_s,
            &[
                ("web", Doing::Running, 0.46),
                ("db", Doing::Running, 0.27),
                ("web", Doing::WaitingForCpu, 0.04),
            ],
        )),
        unseen: Vec::new(),
        proof: None,
    }
}

fn limited(response_s: f64) -> Diagnosis {
    let tries = vec![
        Try {
            knob: Some("db.innodb_flush_log_at_trx_commit".into()),
            now: Some("1".into()),
            values: vec!["2".into(), "0".into()],
            why: "a commit that does not wait for the disk lets go of its rows sooner; a crash may lose a second".into(),
        },
        Try {
            knob: None,
            now: None,
            values: Vec::new(),
            why: "take the row that all update last in the transaction, or spread it over several rows".into(),
        },
    ];
    Diagnosis {
        state: Limited::Yes,
        sentence:
            "row locks in db hold it: of a mean operation 61 % is waiting for a row that another transaction \
                   has; shorten the transactions, or try db.innodb_flush_log_at_trx_commit 2"
                .into(),
        suspects: vec![locks(tries), workers(), disk()],
        ledger: Some(ledger(
            response_s,
            &[
                ("db", Doing::WaitingForLock, 0.61),
                ("web", Doing::Running, 0.17),
                ("db", Doing::Running, 0.1),
                ("db", Doing::WaitingForDisk, 0.04),
                ("web", Doing::WaitingForCpu, 0.01),
            ],
        )),
        unseen: vec!["which row it is: innodb_status_output_locks is off".into()],
        proof: Some(Proof {
            taken_ratio: 0.15,
            window_s: 5.0,
            handicaps: vec![
                handicap("db", "15 % of its CPU time", true, 0.82, (0.61, 1.03)),
                handicap("web", "15 % of its CPU time", false, 0.06, (-0.11, 0.23)),
            ],
            left_out: None,
            sentence: "a seventh less of db costs an eighth of the throughput, a seventh less of web nothing"
                .into(),
        }),
    }
}

fn locks(tries: Vec<Try>) -> Suspect {
    Suspect {
        rule: "row_locks".into(),
        tier: "db".into(),
        resource: "row locks".into(),
        title: "transactions wait for rows that others have locked".into(),
        sure_ratio: 0.93,
        evidence: vec![
            clue("sql.row_lock_time", 4.77, 1.0, 2.4, "4.8 transactions waited for a row, on average"),
            clue("ledger.lock", 0.61, 0.9, 1.8, "61 % of a mean operation is waiting for a lock in db"),
            clue("sql.row_lock_waits", 45.2, 0.7, 0.9, "45 waits for a row per second, 0.09 per operation"),
            clue("cpu.cores", 0.284, 0.2, -0.4, "db computes on 0.28 cores: waiting, not work"),
        ],
        tries,
    }
}

fn workers() -> Suspect {
    Suspect {
        rule: "workers".into(),
        tier: "web".into(),
        resource: "workers".into(),
        title: "every Apache process is taken".into(),
        sure_ratio: 0.21,
        evidence: vec![
            clue("workers.busy", 11.0, 0.2, 0.5, "11 of 150 processes were busy"),
            clue("ledger.callee", 0.7, 0.8, -1.6, "most of them waited for db"),
        ],
        tries: vec![Try {
            knob: Some("web.MaxRequestWorkers".into()),
            now: Some("150".into()),
            values: vec!["200".into()],
            why: "more requests are served at once; each process takes 20 MB".into(),
        }],
    }
}

fn disk() -> Suspect {
    Suspect {
        rule: "disk".into(),
        tier: "db".into(),
        resource: "disk".into(),
        title: "the database waits for its disk".into(),
        sure_ratio: 0.08,
        evidence: vec![clue("disk.busy_ratio", 0.11, 0.1, 0.2, "the disk was busy 11 % of the time")],
        tries: Vec::new(),
    }
}

fn unclear() -> Diagnosis {
    Diagnosis {
        state: Limited::Unclear,
        sentence: "what holds it can't be told: the generator itself was too slow".into(),
        suspects: vec![Suspect {
            rule: "generator".into(),
            tier: "generator".into(),
            resource: "cpu".into(),
            title: "the load generator computes on all of its CPUs".into(),
            sure_ratio: 0.44,
            evidence: vec![clue("cpu.cores", 0.95, 1.0, 2.0, "the generator used 0.95 of 1 cores")],
            tries: Vec::new(),
        }],
        ledger: None,
        unseen: vec!["what the threads of web did: its processes may not be looked into".into()],
        proof: None,
    }
}

fn ledger(response_s: f64, parts: &[(&str, Doing, f64)]) -> Ledger {
    let part = |(tier, doing, share): &(&str, Doing, f64)| LedgerPart {
        tier: tier.to_string(),
        doing: *doing,
        s_per_operation: response_s * share,
        share_ratio: *share,
    };
    let rest = 1.0 - parts.iter().map(|(.., share)| share).sum::<f64>();
    Ledger { response_s, parts: parts.iter().map(part).collect(), unaccounted_s: response_s * rest.max(0.0) }
}

fn clue(signal: &str, value: f64, strength_ratio: f64, weight: f64, sentence: &str) -> Clue {
    Clue { signal: signal.into(), value, strength_ratio, weight, sentence: sentence.into() }
}

fn handicap(tier: &str, what: &str, suspect: bool, elasticity: f64, interval: (f64, f64)) -> Handicap {
    let (tier, what) = (tier.to_string(), what.to_string());
    Handicap {
        tier,
        what,
        suspect,
        elasticity: Some(elasticity),
        interval: Some(interval),
        pairs: 6,
        stopped: 0,
    }
}
