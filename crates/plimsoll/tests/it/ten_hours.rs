//! What is asked of kept runs of ten hours takes little memory.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use store::Runs;
use testkit::recorded::Specimen;

use crate::tool::{Home, Tool, wait_within};

const TEN_HOURS_S: u32 = 36_000;
const MAX_BYTES: u64 = 200_000_000;
/// Reading two of them takes a debug build a while.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Keeps a run of ten hours under that id: a recorded one, whose steady state comes again and again.
fn keep(home: &Home, id: &str) {
    let recorded = Specimen::Passed.open();
    let (ramp_up_s, steady_s) =
        (recorded.record.setup.ramp_up_s as u32, recorded.record.setup.steady_s as u32);
    let mut recorded = recorded.first((ramp_up_s + steady_s) as usize);
    recorded.record.id = id.to_string();
    let writer = recorded.begin(&Runs::open(home.path()).expect("the home can be made"));
    recorded.record.setup.steady_s = f64::from(TEN_HOURS_S);
    let folder = writer.finish(&recorded.record).expect("the run can be finished");
    lengthen(&folder.join("run.sqlite"), ramp_up_s, steady_s);
}

/// Repeats the steady state of a run until it is ten hours long.
fn lengthen(path: &Path, ramp_up_s: u32, steady_s: u32) {
    let mut database = Connection::open(path).expect("the run's database");
    let all = database.transaction().expect("a transaction");
    for table in ["second", "operation_second", "failure", "counter"] {
        let steady = format!("CREATE TEMP TABLE again AS SELECT * FROM {table} WHERE second >= {ramp_up_s}");
        all.execute_batch(&steady).expect("a copy");
        for _ in 1..TEN_HOURS_S / steady_s {
            all.execute(&format!("UPDATE again SET second = second + {steady_s}"), []).expect("later");
            all.execute(&format!("INSERT INTO {table} SELECT * FROM again"), []).expect("the same once more");
        }
        all.execute_batch("DROP TABLE again").expect("it is there");
    }
    all.commit().expect("it fits on the disk");
}

/// What a command says, and the most memory that it had.
fn measured(tool: Tool) -> (String, u64) {
    let running = tool.start();
    let status = format!("/proc/{}/status", running.pid());
    let mut peak = 0;
    wait_within(TIMEOUT, "the end of the command", || {
        // One that has ended has no memory any more.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let Some(line) = text.lines().find_map(|line| line.strip_prefix("VmHWM:")) else { return Some(()) };
        let bytes = 1024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number");
        peak = peak.max(bytes);
        None
    });
    (running.wait().expect(0).stdout, peak)
}

#[test]
fn two_runs_of_ten_hours_are_compared_and_held_against_a_population_in_200_mb() {
    let home = Home::new();
    let ids = ["20260101-000000-dvdstore-000a", "20260101-110000-dvdstore-000b"];
    ids.iter().for_each(|id| keep(&home, id));
    let compare = home.plimsoll(&format!("compare {} {}", ids[0], ids[1]));
    let capacity = "capacity --users 10 --per-user-per-day 10 --peak-factor 2 --run 20260101-00";
    for (tool, expected) in
        [(compare, "No difference larger than"), (home.plimsoll(capacity), "it carries them")]
    {
        let (said, peak) = measured(tool);
        assert!(said.contains(expected), "{said}");
        assert!(peak > 0 && peak < MAX_BYTES, "{peak} bytes: {said}");
    }
}
