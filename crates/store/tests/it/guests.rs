//! The runs of a run's guests.

use std::fs;
use std::path::Path;

use model::record::GuestResult;
use store::{Run, Runs};
use testkit::guests::guest;
use testkit::recorded::{Recorded, Specimen};

use crate::{keep, short};

const WHOLE: &str = "20261127-050000-dvdstore-0000";

fn run_id(number: u32) -> String {
    guest(number).run
}

/// Keeps a run that names `named` as its guests, and below it the runs of guests 1 and 2.
fn keep_whole(home: &Path, mut whole: Recorded, named: &[u32]) -> Run {
    whole.record.guests = named.iter().map(|number| guest(*number)).collect();
    keep(home, whole, WHOLE);
    let run = Runs::open(home).expect("runs").find(WHOLE).expect("it is there");
    for number in [1, 2] {
        let mut own = short(Specimen::Passed);
        own.record.setup.guest = Some(guest(number).guest);
        keep(run.directory(), own, &run_id(number));
    }
    run
}

fn refused(run: &Run, number: u32) -> String {
    run.guest_run(number).err().expect("there is no such guest").to_string()
}

#[test]
fn each_guest_has_a_run_below_the_whole_and_none_among_the_homes() {
    let home = tempfile::tempdir().expect("a directory");
    let run = keep_whole(home.path(), short(Specimen::Passed), &[1, 2]);
    let second = run.guest_run(2).expect("it is kept");
    assert_eq!(second.record().id, run_id(2));
    assert_eq!(run.guest_runs().into_keys().collect::<Vec<_>>(), [1, 2]);
    let list = Runs::open(home.path()).expect("runs").list().expect("a list");
    assert_eq!(list.iter().map(|one| (one.id.as_str(), one.guests)).collect::<Vec<_>>(), [(WHOLE, 2)]);
}

#[test]
fn a_guest_that_there_is_not_is_refused_with_those_that_there_are() {
    let home = tempfile::tempdir().expect("a directory");
    let run = keep_whole(home.path(), short(Specimen::Passed), &[1, 2]);
    let said = refused(&run, 7);
    assert!(said.contains("has no guest 7") && said.contains("its guests are 1 to 2"), "{said}");
    let alone = run.guest_run(1).expect("it is kept");
    assert!(refused(&alone, 1).contains("has no guests"));
    assert!(alone.guest_runs().is_empty());
    assert!(!alone.directory().join("runs").exists(), "nothing is made by asking");
}

#[test]
fn the_guests_of_a_run_that_was_cut_short_are_found_by_what_their_own_runs_say() {
    let home = tempfile::tempdir().expect("a directory");
    let run = keep_whole(home.path(), short(Specimen::Unfinished), &[]);
    assert_eq!(run.guest_run(2).expect("it is kept").record().id, run_id(2));
    assert!(refused(&run, 3).contains("its guests are 1 to 2"));
    fs::remove_dir_all(run.directory().join("runs").join(run_id(1))).expect("it can be removed");
    assert!(refused(&run, 1).contains("its only guest is 2"));
}

#[test]
fn a_record_can_not_point_out_of_its_run_and_a_lost_guest_hides_no_other() {
    let home = tempfile::tempdir().expect("a directory");
    let mut whole = short(Specimen::Passed);
    whole.record.guests = vec![GuestResult { run: "../../etc".into(), ..guest(1) }, guest(2)];
    keep(home.path(), whole, WHOLE);
    let run = Runs::open(home.path()).expect("runs").find(WHOLE).expect("it is there");
    keep(run.directory(), short(Specimen::Passed), &run_id(2));
    assert!(refused(&run, 1).contains("can't be the id of a run"));
    assert_eq!(run.guest_runs().into_keys().collect::<Vec<_>>(), [2]);
    fs::remove_dir_all(run.directory().join("runs")).expect("it can be removed");
    assert!(refused(&run, 2).contains(&run_id(2)), "it says which run is gone");
}
