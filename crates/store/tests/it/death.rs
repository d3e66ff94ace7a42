//! `kill -9` of the tool while it measures.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use model::record::Outcome;
use store::Runs;
use testkit::recorded::Specimen;

const HOME: &str = "PLIMSOLL_TEST_HOME_OF_THE_DOOMED";

/// Not a test of its own: the process that [`all_seconds_but_the_last_survive_the_death_of_the_tool`] kills.
#[test]
fn doomed() {
    let Ok(home) = std::env::var(HOME) else { return };
    let sample = Specimen::Unfinished.open();
    let runs = Runs::open(home.as_ref()).expect("the home can be made");
    let mut writer = runs.create(&sample.record).expect("the run can be created");
    let template = sample.intervals().next().expect("a second");
    for second in 0.. {
        let interval = model::Interval { second, ..template.clone() };
        writer.second(&interval, &sample.names).expect("the second can be kept");
        println!("\nkept {second}");
    }
}

#[test]
fn all_seconds_but_the_last_survive_the_death_of_the_tool() {
    let home = tempfile::tempdir().expect("a directory");
    let mut doomed = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "death::doomed", "--nocapture"])
        .env(HOME, home.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test can be started again");
    let mut lines = BufReader::new(doomed.stdout.take().expect("a pipe")).lines();
    let kept = lines
        .by_ref()
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("kept ")?.parse::<u32>().ok());
    let last = kept.take_while(|second| *second <= 40).last().expect("it keeps seconds");
    assert!(Runs::open(home.path()).unwrap().find("last").unwrap().under_way(), "it lives");
    let seen = store::under_way(home.path()).expect("the home is there").expect("one is under way");
    let later = seen.seconds_after(Some(last - 1)).expect("its seconds can be read");
    assert_eq!(later.map(|second| second.unwrap().second).next(), Some(last), "only what is new is read");
    doomed.kill().expect("it can be killed");
    doomed.wait().expect("it is dead");

    let runs = Runs::open(home.path()).expect("the home is there");
    let run = runs.find("last").expect("the run is there");
    assert_eq!(run.record().outcome, Outcome::Unfinished);
    assert!(!run.under_way(), "its writer is dead");
    assert!(store::under_way(home.path()).expect("the home is there").is_none(), "nobody is measuring");
    let seconds = run.seconds().expect("its seconds can be read");
    assert!(seconds.len() > last as usize, "{} seconds are left of {last} and more", seconds.len());
    for second in seconds {
        second.expect("each second is whole");
    }
    assert!(runs.list().expect("a list")[0].outcome == Some(Outcome::Unfinished));
    assert!(runs.remove(&run.record().id).expect("it can be removed") > 0);
}
