//! A tier that the kernel kills at the limit that was set for its memory is told from one that died otherwise.

use rustix::process::Signal;
use testkit::ending::skip;

use crate::bench::{Bench, LAMP, get};
use crate::waiting::{deaths, kill};

const LIMIT_BYTES: u64 = 256 << 20;

/// Rows in memory, a kilobyte each, far more than the limit.
const HUNGRY: &str = "/index.php?sql=SET+max_heap_table_size=4000000000;CREATE+TEMPORARY+TABLE+mysql.hungry\
                      (filler+CHAR(250)+CHARACTER+SET+utf8mb4)+ENGINE=MEMORY+AS+SELECT+REPEAT(0,250)+AS+filler+\
                      FROM+mysql.seq_1_to_3000000";

/// A stack whose database is limited, where this machine can do that.
fn limited(name: &str, bytes: &str) -> Option<(Bench, model::Plan)> {
    let bench = Bench::new(name, LAMP)?;
    let plan = bench.plan(LAMP, &[("db.cgroup.memory", bytes)]);
    match bench.lab.check_limits(&plan) {
        Ok(()) => Some((bench, plan)),
        Err(problems) => {
            skip(&problems.to_string());
            None
        }
    }
}

#[test]
fn a_server_that_is_killed_for_its_memory_says_the_limit_what_was_used_and_the_setting() {
    let Some((mut bench, plan)) = limited("hungry", "256M") else { return };
    let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let address = stack.web_address().expect("an address");
    // Its answer doesn't come: the database is gone.
    let asked = std::thread::spawn(move || get(address, HUNGRY));
    let died = deaths(&mut stack).remove(0);
    let kill = died.memory.unwrap_or_else(|| panic!("{died:?}"));
    assert_eq!((died.tier.as_str(), kill.limit_bytes), ("db", LIMIT_BYTES));
    assert!(kill.used_bytes <= LIMIT_BYTES && kill.used_bytes > LIMIT_BYTES / 10 * 9, "{kill:?}");
    let said = died.problem().to_string();
    assert!(said.contains("limit of 268 MB") && said.contains("--set db.cgroup.memory=512M"), "{said}");
    assert!(!said.contains("its log says"), "{said}");
    drop(asked.join().expect("an answer, whatever it says"));
}

#[test]
fn a_server_with_a_limit_that_is_killed_by_somebody_else_did_not_die_of_it() {
    let Some((mut bench, plan)) = limited("murdered", "512M") else { return };
    let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    kill(stack.tier("db").expect("a database").pid, Signal::KILL);
    let died = deaths(&mut stack).remove(0);
    assert_eq!(died.memory, None, "{died:?}");
    assert!(died.sentence().contains("signal: 9"), "{died:?}");
}

#[test]
fn a_server_that_can_not_start_within_its_memory_says_so() {
    let Some((mut bench, plan)) = limited("starved", "20M") else { return };
    let text = bench.start(&plan).expect_err("20 MB are too little").to_string();
    assert!(text.contains("at its memory limit of 21.0 MB"), "{text}");
    assert!(text.contains("--set db.cgroup.memory=40M"), "{text}");
}
