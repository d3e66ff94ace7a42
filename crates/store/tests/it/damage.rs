//! Damaged, half and foreign files: problems, never panics, never a wrong number without a word.

use std::fs;
use std::path::Path;

use store::{Run, Runs};
use testkit::recorded::Specimen;

use crate::{keep, short};

fn read_everything(directory: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let mut note =
        |problem: Option<model::Problems>| problems.extend(problem.map(|problem| problem.to_string()));
    match Run::open(directory) {
        Err(problem) => note(Some(problem)),
        Ok(run) => {
            note(run.series().err());
            note(run.events().err());
            note(run.evidence().err());
            match run.seconds() {
                Err(problem) => note(Some(problem)),
                Ok(seconds) => seconds.for_each(|second| note(second.err())),
            }
        }
    }
    problems
}

fn stored_run() -> (tempfile::TempDir, std::path::PathBuf) {
    let home = tempfile::tempdir().expect("a directory");
    let id = keep(home.path(), short(Specimen::Failed), "20261121-034512-dvdstore-0001");
    let directory = home.path().join("runs").join(id);
    (home, directory)
}

#[test]
fn a_cut_off_database_gives_problems() {
    let (_home, directory) = stored_run();
    let path = directory.join("run.sqlite");
    let whole = fs::read(&path).unwrap();
    assert_eq!(read_everything(&directory), [""; 0]);
    for length in [0, 1, 50, 100, 4_096, whole.len() / 2, whole.len() - 4_096] {
        fs::write(&path, &whole[..length]).unwrap();
        let problems = read_everything(&directory);
        assert!(!problems.is_empty(), "{length} of {} bytes pass as whole", whole.len());
        assert!(problems[0].contains("run.sqlite"), "the file is named: {problems:?}");
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let (_home, directory) = stored_run();
    let path = directory.join("run.sqlite");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut damaged = whole.clone();
        damaged[at..(at + 3).min(whole.len())].iter_mut().for_each(|byte| *byte ^= 0x5a);
        fs::write(&path, &damaged).unwrap();
        read_everything(&directory);
    }
}

#[test]
fn a_half_record_is_named_and_does_not_hide_the_other_runs() {
    let (home, directory) = stored_run();
    keep(home.path(), short(Specimen::Passed), "20261121-034513-dvdstore-0002");
    let text = fs::read_to_string(directory.join("run.json")).unwrap();
    fs::write(directory.join("run.json"), &text[..text.len() / 2]).unwrap();
    let problem = Run::open(&directory).err().expect("half a record").to_string();
    assert!(problem.contains("run.json") && problem.contains("damaged"), "{problem}");
    let list = Runs::open(home.path()).unwrap().list().expect("a list");
    assert_eq!(list.len(), 2);
    assert!(list[0].outcome.is_none() && list[0].sentence.contains("damaged"), "{:?}", list[0]);
    assert!(list[1].valid);
}

#[test]
fn what_a_newer_plimsoll_wrote_is_refused_with_the_reason() {
    let (_home, directory) = stored_run();
    let path = directory.join("run.json");
    let mut record: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    record["format"] = 7.into();
    fs::write(&path, record.to_string()).unwrap();
    let problem = Run::open(&directory).err().expect("a newer record").to_string();
    assert!(problem.contains("format 7") && problem.contains("up to 1"), "{problem}");

    record["format"] = 1.into();
    fs::write(&path, record.to_string()).unwrap();
    let database = rusqlite::Connection::open(directory.join("run.sqlite")).unwrap();
    database.execute("UPDATE format SET version = 9", []).unwrap();
    let problem = Run::open(&directory).unwrap().seconds().err().expect("a newer database").to_string();
    assert!(problem.contains("format 9"), "{problem}");
}

#[test]
fn a_locked_database_is_a_problem_that_says_so() {
    let (_home, directory) = stored_run();
    let database = rusqlite::Connection::open(directory.join("run.sqlite")).unwrap();
    database.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;").unwrap();
    let problem = Run::open(&directory).unwrap().events().expect_err("another holds it").to_string();
    assert!(problem.contains("another process holds the file"), "{problem}");
}

#[test]
fn a_run_without_its_database_still_shows_its_record() {
    let (_home, directory) = stored_run();
    fs::remove_file(directory.join("run.sqlite")).unwrap();
    let run = Run::open(&directory).expect("the record is there");
    assert!(run.seconds().is_err());
    assert!(!run.record().operations.is_empty());
}

#[test]
fn a_directory_that_can_not_be_written_to_is_a_problem() {
    let home = tempfile::tempdir().expect("a directory");
    fs::write(home.path().join("runs"), b"a file where the directory should be").unwrap();
    let problem = Runs::open(home.path()).err().expect("no directory").to_string();
    assert!(problem.contains("runs"), "{problem}");
}
