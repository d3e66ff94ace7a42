//! Data directories: loaded, settled, kept, copied.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use testbed::snapshot;

use crate::bench::{Bench, LAMP, get, home};

fn data_dir(bench: &Bench) -> PathBuf {
    bench.home().join("data")
}

#[test]
fn a_stack_that_starts_from_a_snapshot_has_its_rows_and_does_not_change_it() {
    let Some(mut bench) = Bench::new("snapshot", LAMP) else { return };
    let plan = bench.plan(LAMP, &[]);
    let mut first = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let address = first.web_address().expect("an address");
    for sql in
        ["CREATE DATABASE shop", "CREATE TABLE shop.fish (name TEXT)", "INSERT INTO shop.fish VALUES ('cod')"]
    {
        let page = get(address, &format!("/index.php?sql={}", sql.replace(' ', "%20")));
        assert!(page.starts_with("HTTP/1.1 200"), "{sql}: {page}");
    }
    first.stop().unwrap_or_else(|problems| panic!("{problems}"));
    let database = plan.database().and_then(|tier| tier.service.database.clone()).expect("a database");
    let from = first.tier("db").and_then(|tier| tier.data_dir.clone()).expect("a data directory");
    let temporary = bench.home().join("data.new");
    let report = snapshot::copy(&from, &temporary, &database.leave_out).expect("a copy");
    assert!(report.bytes > 10_000_000 && report.files > 50, "{report:?}");
    fs::rename(&temporary, data_dir(&bench)).expect("a name");
    drop(first);

    let count = "/index.php?ask=SELECT%20COUNT(*)%20FROM%20shop.fish";
    for _ in 0..2 {
        let data = data_dir(&bench);
        let second =
            bench.start_from(&plan, Some(&data), false).unwrap_or_else(|problems| panic!("{problems}"));
        let address = second.web_address().expect("an address");
        assert!(get(address, count).contains("answer: 1\n"), "each start sees the snapshot's one row");
        get(address, "/index.php?sql=INSERT%20INTO%20shop.fish%20VALUES('eel')");
        assert!(get(address, count).contains("answer: 2\n"));
    }
}

#[test]
fn loading_starts_the_database_alone_with_its_own_knobs_and_settles_at_the_end() {
    let Some(mut bench) = Bench::new("loading", LAMP) else { return };
    let plan = bench.plan(LAMP, &[]);
    let mut stack = bench.start_from(&plan, None, true).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(stack.tiers().iter().map(|tier| tier.name.as_str()).collect::<Vec<_>>(), ["db"]);
    let tier = stack.tier("db").expect("a tier");
    let settings = fs::read_to_string(&tier.files[0]).expect("a file");
    assert!(settings.contains("innodb_flush_log_at_trx_commit = 0\n"), "{settings}");
    let redo = tier.data_dir.clone().expect("a data directory").join("ib_logfile0");
    let size = |path: &PathBuf| fs::metadata(path).expect("the redo log").len();
    assert!(size(&redo) >= 96 << 20, "a large redo log while loading, not {}", size(&redo));
    stack.stop().unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(size(&redo), 8 << 20, "a small one in what is kept");
}

#[test]
fn a_full_disk_leaves_no_half_copy_and_says_what_to_do() {
    let home = home();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    fs::create_dir(&from).expect("a directory");
    fs::write(from.join("small"), vec![1; 1000]).expect("a file");
    fs::write(from.join("large"), vec![1; 3_000_000]).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_testbed-actor"))
        .args(["copy", from.to_str().expect("text"), to.to_str().expect("text"), "1000000"])
        .output()
        .expect("the actor runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("large") && said.contains("try: free disk space"), "{said}");
    assert!(!to.exists(), "half a copy is never left");
}
