//! A run by number of sessions.

use std::collections::BTreeMap;

use model::OperationKind;
use store::Runs;

use crate::tool::{Home, have, judged};

/// All sessions and operations of the last run that ended in any way, by name: also those outside of the steady state.
fn ended(home: &Home) -> BTreeMap<(OperationKind, String), u64> {
    let run = Runs::open(home.path()).and_then(|runs| runs.find("last")).expect("the run is kept");
    let seconds = run.seconds().expect("its seconds");
    let names = seconds.names().to_vec();
    let mut sums = BTreeMap::new();
    for interval in seconds {
        let rows = interval.expect("a whole second").operations;
        for (name, row) in names.iter().zip(rows).filter(|(name, _)| name.kind != OperationKind::Request) {
            *sums.entry((name.kind, name.name.clone())).or_default() += row.completed + row.failed();
        }
    }
    sums
}

#[test]
fn a_run_of_so_many_sessions_has_these_and_with_the_same_seed_the_same_operations() {
    if !have("apache-prefork-modphp-mariadb") {
        return;
    }
    let home = Home::shared();
    for load in ["--users 4", "--rate 20/s"] {
        let words = format!("run dvdstore {load} --sessions 80 --seed 5 --json");
        let run = || {
            let told = judged(|| home.plimsoll(&words).arg("--qos=p50 < 5s")).expect(0).json();
            assert_eq!(told["verdict"]["valid"], true, "{:#}", told["validity"]);
            (told, ended(home))
        };
        let (record, first) = run();
        assert_eq!(first[&(OperationKind::Session, "order_cycle".to_string())], 80, "{load}: {first:?}");
        assert_eq!(first, run().1, "{load}: the same seed");
        let steady_s = record["setup"]["steady_s"].as_f64().expect("a length");
        assert!((1.0..60.0).contains(&steady_s), "{load}: a steady state of {steady_s} s");
    }
    let refused = home.plimsoll("run dvdstore --sessions 80 --steady 10s").run().expect(2);
    refused.says("cannot be used with");
}
