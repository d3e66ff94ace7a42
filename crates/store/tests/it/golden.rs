//! Runs and studies that older versions kept. `tests/golden/run-v1` and `study-v1` were written by format 1 and are never
//! written again: that they open is the promise.

use std::fs;
use std::path::Path;

use store::{Run, Study};
use testkit::recorded::Specimen;

use crate::studies::{ID, json, sample};
use crate::{keep, short};

/// A copy, because SQLite may want to put a file beside the database.
fn golden(name: &str) -> (tempfile::TempDir, Run) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let copy = tempfile::tempdir().expect("a directory");
    for file in ["run.json", "run.sqlite"] {
        fs::copy(source.join(file), copy.path().join(file)).expect("the golden file is checked in");
    }
    let run = Run::open(copy.path()).expect("an old run opens");
    (copy, run)
}

#[test]
fn a_run_of_format_1_opens_and_says_what_it_said() {
    let (_copy, run) = golden("run-v1");
    assert_eq!(run.record().id, "20261121-034512-dvdstore-0001");
    assert_eq!(run.record().operations.len(), 9);
    assert_eq!(run.record().operations[3].completed, 435);
    let seconds = run.seconds().expect("seconds");
    assert_eq!(seconds.names()[3].name, "Browse");
    let seconds: Vec<model::Interval> = seconds.map(|second| second.expect("each second is whole")).collect();
    assert_eq!(seconds.len(), 9);
    let steady = &seconds[2..8];
    assert_eq!(steady.iter().map(|one| one.operations[3].completed).sum::<u64>(), 435);
    assert_eq!(steady.iter().map(|one| one.operations[3].response.len()).sum::<u64>(), 435);
    assert!(steady.iter().all(|one| one.busy_user_s > 0.0 && one.lag.len() == 100));
    for second in &seconds {
        assert!(second.phases.first_byte.is_empty(), "what was not recorded then is nothing, not an error");
        assert!(second.untimed.is_empty());
        assert_eq!(second.wire, model::record::interval::Wire::default());
    }
    assert_eq!(run.record().phases, model::record::PhaseResults::default());
    assert_eq!(run.series().expect("series").len(), 5);
    assert_eq!(run.events().expect("events").len(), 3);
}

/// Writes the golden run of the current format; run it once when the format's version changes, then check it in.
#[test]
#[ignore = "writes a new golden run: only when the format's version changes"]
fn write_the_golden_run_of_the_current_format() {
    let home = tempfile::tempdir().expect("a directory");
    let id = keep(home.path(), short(Specimen::Passed), "20261121-034512-dvdstore-0001");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/run-v1");
    fs::create_dir_all(&target).unwrap();
    for file in ["run.json", "run.sqlite"] {
        fs::copy(home.path().join("runs").join(&id).join(file), target.join(file)).unwrap();
    }
}

#[test]
fn a_study_of_format_1_opens_and_says_what_it_said() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/study-v1");
    let study = Study::open(&golden).expect("an old study opens");
    let record = study.record();
    assert_eq!((record.format, record.id.as_str()), (1, ID));
    assert_eq!(record.question.verb(), "find");
    let trial = &record.trials[1];
    assert_eq!((trial.number, trial.load, trial.warm_up_s), (2, 20.0, Some(2.0)));
    let measured = trial.measured.as_ref().expect("its figures");
    assert_eq!(measured.targets[0].margin.log, Some(-2.7));
    assert_eq!(measured.figure("throughput", None).map(|figure| figure.value), Some(160.5));
    assert!(trial.valid() && trial.pass() == Some(true));
}

/// Writes the golden study of the current format; run it once when the format's version changes, then check it in.
#[test]
#[ignore = "writes a new golden study: only when the format's version changes"]
fn write_the_golden_study_of_the_current_format() {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/study-v1");
    fs::create_dir_all(&target).expect("a directory");
    fs::write(target.join("study.json"), json(&sample()) + "\n").expect("it can be written");
}
