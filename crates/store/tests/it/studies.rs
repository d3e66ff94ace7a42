//! Studies: kept after each trial, gone on with, damaged, killed, removed.

use std::fs;
use std::path::PathBuf;

use model::StudyRecord;
use model::record::study::*;
use model::record::{Margin, Outcome, Step, TargetOutcome};
use store::{Studies, Study};
use testkit::recorded::Specimen;

use crate::{keep, short};

pub(crate) const ID: &str = "20261121-101500-find-dvdstore-7f3a";

/// A find of two trials; the figures are made up.
pub(crate) fn sample() -> StudyRecord {
    let recipe = model::Recipe { format: 1, kit: "dvdstore".into(), ..model::Recipe::default() };
    StudyRecord {
        format: STUDY_FORMAT,
        id: ID.into(),
        started: "2026-11-21T10:15:00Z".into(),
        plimsoll: "0.1.0".into(),
        command: vec!["plimsoll".into(), "find".into(), "dvdstore".into()],
        outcome: Outcome::Unfinished,
        sentence: "no answer yet: 2 trials".into(),
        question: Question::Find(Find { goal: FindGoal::default(), answer: None }),
        arms: vec![Arm {
            label: "apache-prefork-modphp-mariadb".into(),
            recipe,
            levels: Default::default(),
            stored_run: None,
            catalogue: None,
        }],
        setup: short(Specimen::Passed).record.setup,
        ceiling: Some(Ceiling {
            requests_per_s: 98_765.4,
            cpu_s_per_request: 9.8e-6,
            lag_p99_s: 0.000_1,
            cpus: 1,
        }),
        checks: Vec::new(),
        trials: vec![trial(1, 10.0), trial(2, 20.0)],
        spent_s: 40.5,
        steps: vec![Step { name: "measure the generator".into(), took_s: 3.1 }],
        servers: Default::default(),
        diagnosis: None,
    }
}

fn trial(number: u32, load: f64) -> Trial {
    let target = "p95 < 300ms".parse().expect("a target");
    let outcome = TargetOutcome {
        average_s: Some(0.01),
        margin: Margin { log: Some(-2.7), log_se: Some(0.05), batches: vec![-2.6, -2.8] },
        ..TargetOutcome::of(target, Some(0.02), 4_000)
    };
    let figure = Figure {
        name: "throughput".into(),
        operation: None,
        value: 160.5,
        log_se: Some(0.01),
        degrees: None,
    };
    Trial {
        number,
        arm: 0,
        block: 0,
        purpose: Purpose::Ramp,
        load,
        run: format!("20261121-10150{number}-dvdstore-000{number}"),
        began_s: 3.5 + 18.0 * f64::from(number),
        took_s: 17.5,
        fresh: number == 1,
        warm_up_s: Some(2.0),
        window_s: 8.0,
        interrupted_ratio: None,
        measured: Some(Measured {
            targets: vec![outcome],
            figures: vec![figure],
            tiers: vec![TierCpu { tier: "web".into(), cpu_cores: 0.4 }],
            metrics: Vec::new(),
            failed_ratio: 0.0,
            foreign_cores: None,
            only_under_way: false,
            guest_spread_ratio: None,
            signals: Vec::new(),
            response: None,
        }),
        faults: Vec::new(),
        overloaded: Vec::new(),
        conditions: Default::default(),
    }
}

pub(crate) fn json(record: &StudyRecord) -> String {
    serde_json::to_string_pretty(record).expect("it is JSON")
}

/// A home with one study, kept and let go.
fn stored_study() -> (tempfile::TempDir, Studies, PathBuf) {
    let home = tempfile::tempdir().expect("a directory");
    let studies = Studies::open(home.path()).expect("the home can be made");
    let writer = studies.create(&sample()).expect("the study can be created");
    let directory = writer.finish(&sample()).expect("the study can be ended");
    (home, studies, directory)
}

#[test]
fn what_is_read_is_what_was_written_last() {
    let home = tempfile::tempdir().expect("a directory");
    let studies = Studies::open(home.path()).expect("the home can be made");
    let mut record = StudyRecord { trials: Vec::new(), ..sample() };
    let writer = studies.create(&record).expect("the study can be created");
    for trial in sample().trials {
        record.trials.push(trial);
        writer.update(&record).expect("the record can be replaced");
        let read = studies.find("last").expect("it is there after every trial");
        assert_eq!(json(read.record()), json(&record));
        assert!(read.under_way(), "its writer lives");
    }
    record.outcome = Outcome::Completed;
    writer.finish(&record).expect("the study can be ended");
    let study = studies.find("20261121-1015").expect("by the beginning of its id");
    assert_eq!(json(study.record()), json(&record));
    assert!(!study.under_way(), "its writer has gone");
    study.keep("report.html", b"<html>").expect("a report can be kept");
    let names: Vec<String> = fs::read_dir(study.directory())
        .expect("it is a directory")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().all(|name| !name.ends_with(".tmp")), "nothing temporary is left: {names:?}");
}

#[test]
fn a_study_goes_on_where_it_was_left_and_only_one_process_goes_on_with_it() {
    let (_home, studies, _) = stored_study();
    let (record, writer) = studies.resume("last").expect("nobody measures it");
    assert_eq!(json(&record), json(&sample()));
    let second = studies.resume(ID).err().expect("it is under way").to_string();
    assert!(second.contains("still under way") && second.contains(ID), "{second}");
    let refused = studies.remove(ID).expect_err("it is under way").to_string();
    assert!(refused.contains("still under way"), "{refused}");
    drop(writer);
    let (_, writer) = studies.resume(ID).expect("its writer died");
    drop(writer);
    assert!(studies.remove("last").is_err(), "`last` is too short a word for a removal");
    assert!(studies.remove(ID).expect("it can be removed") > 0);
    assert!(studies.list().expect("a list").is_empty());
}

#[test]
fn trials_are_runs_below_the_study_and_not_among_the_homes_runs() {
    let (home, studies, directory) = stored_study();
    let run = sample().trials[1].run.clone();
    keep(&directory, short(Specimen::Passed), &run);
    keep(&directory, short(Specimen::Unfinished), "20261121-101509-dvdstore-cut");
    let study = studies.find("last").expect("it is there");
    assert_eq!(study.run_of(2).expect("trial 2 is kept").record().id, run);
    let lost = study.run_of(1).err().expect("its directory is gone").to_string();
    assert!(lost.contains(&sample().trials[0].run), "{lost}");
    let none = study.run_of(9).err().expect("there is no such trial").to_string();
    assert!(none.contains("no trial 9") && none.contains("1 to 2"), "{none}");
    let outside = Trial { run: "../../etc".into(), ..trial(1, 1.0) };
    assert!(study.run(&outside).is_err(), "a record can't point out of its study");
    assert!(store::Runs::open(home.path()).expect("runs").list().expect("a list").is_empty());
}

#[test]
fn the_list_says_of_each_study_what_its_record_says_and_why_one_can_not_be_read() {
    let (_home, studies, directory) = stored_study();
    let broken = StudyRecord { id: "20261122-000000-sweep-dvdstore-0001".into(), ..sample() };
    let path = studies.create(&broken).expect("another").finish(&broken).expect("it ends");
    fs::write(path.join("study.json"), "{").expect("it can be damaged");
    let list = studies.list().expect("a list");
    assert_eq!(list.len(), 2, "{list:?}");
    let first = &list[0];
    assert_eq!((first.id.as_str(), first.verb.as_str(), first.trials), (ID, "find", 2));
    assert_eq!(first.arms, ["apache-prefork-modphp-mariadb"]);
    assert!(first.sentence.contains("no answer yet") && !first.under_way && first.bytes > 1_000);
    assert!(list[1].outcome.is_none() && list[1].sentence.contains("damaged"), "{:?}", list[1]);
    drop(directory);
}

#[test]
fn cut_off_changed_and_newer_records_give_problems_and_never_panic() {
    let (_home, _studies, directory) = stored_study();
    let path = directory.join("study.json");
    let whole = fs::read(&path).expect("the record");
    // The last byte is the newline after the record.
    for length in (0..whole.len() - 1).step_by(97) {
        fs::write(&path, &whole[..length]).expect("it can be cut");
        let problem = Study::open(&directory).err().expect("it is not whole").to_string();
        assert!(problem.contains("study.json") && problem.contains("damaged"), "{length}: {problem}");
    }
    for at in (0..whole.len()).step_by(41) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x5a;
        fs::write(&path, &damaged).expect("it can be damaged");
        _ = Study::open(&directory);
    }
    let text = String::from_utf8(whole).expect("text");
    fs::write(&path, text.replacen("\"format\": 1", "\"format\": 2", 1)).expect("it can be changed");
    let newer = Study::open(&directory).err().expect("it is newer").to_string();
    assert!(newer.contains("format 2") && newer.contains("up to 1"), "{newer}");
    fs::remove_file(&path).expect("it can be removed");
    assert!(Study::open(&directory).is_err());
}
