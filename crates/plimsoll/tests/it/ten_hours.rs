//! What is asked of kept runs of ten hours takes little memory.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use store::Runs;
use testkit::sample::{Shape, run};

use crate::tool::{Home, Tool, wait_within};

const TEN_HOURS_S: u32 = 36_000;
/// Seconds that are made up; the others are these again.
const MADE_UP_S: u32 = 60;
const MAX_BYTES: u64 = 200_000_000;
/// Reading two of them takes a debug build a while.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Keeps a made-up run of ten hours under that id.
fn keep(home: &Home, id: &str) {
    let shape = Shape { users: 8, ramp_up_s: 0, steady_s: MADE_UP_S, ramp_down_s: 0, ..Shape::default() };
    let mut sample = run(shape);
    sample.record.id = id.to_string();
    let runs = Runs::open(home.path()).expect("the home can be made");
    let mut writer = runs.create(&sample.skeleton()).expect("the run can be created");
    for interval in sample.intervals() {
        writer.second(&interval, &sample.names).expect("the second can be kept");
    }
    sample.record.setup.steady_s = f64::from(TEN_HOURS_S);
    let folder = writer.finish(&sample.record).expect("the run can be finished");
    lengthen(&folder.join("run.sqlite"));
}

/// Repeats the seconds of a run until they are ten hours.
fn lengthen(path: &Path) {
    let mut database = Connection::open(path).expect("the run's database");
    let all = database.transaction().expect("a transaction");
    for table in ["second", "operation_second", "failure", "counter"] {
        all.execute_batch(&format!("CREATE TEMP TABLE again AS SELECT * FROM {table}")).expect("a copy");
        for _ in 1..TEN_HOURS_S / MADE_UP_S {
            all.execute(&format!("UPDATE again SET second = second + {MADE_UP_S}"), []).expect("later");
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
