//! What is read is what was written.

use model::record::interval::{
    OperationInterval, OperationKind, OperationName, Phases, Times, Wire, record_ns,
};
use model::record::{Outcome, Series};
use model::{ErrorKind, Interval};
use store::Runs;
use testkit::recorded::Specimen;

use crate::short;

fn assert_same(read: &Interval, written: &Interval) {
    let scalars = |one: &Interval| {
        let (lag, untimed) = (model::record::interval::new_times(), model::record::interval::new_times());
        let phases = Phases::empty();
        format!("{:?}", Interval { operations: Vec::new(), lag, untimed, phases, ..one.clone() })
    };
    assert_eq!(scalars(read), scalars(written));
    assert!(read.lag == written.lag, "the lag of second {} differs", written.second);
    assert!(read.untimed == written.untimed, "what was not timed in second {} differs", written.second);
    let phases = |one: &Interval| {
        let Phases { connect, tls, first_byte, transfer } = one.phases.clone();
        [connect, tls, first_byte, transfer]
    };
    assert!(phases(read) == phases(written), "the phases of second {} differ", written.second);
    for (index, (a, b)) in read.operations.iter().zip(&written.operations).enumerate() {
        // Nothing is nothing, whatever it has room for.
        let alike = |a: &Times, b: &Times| a == b || (a.is_empty() && b.is_empty());
        let same = alike(&a.response, &b.response) && alike(&a.service, &b.service);
        assert!(same, "histograms of operation {index} in second {} differ", written.second);
        assert_eq!((a.completed, a.errors, a.bytes), (b.completed, b.errors, b.bytes));
    }
}

#[test]
fn the_seconds_for_figures_are_the_others_without_what_figures_do_not_need() {
    let home = tempfile::tempdir().expect("a directory");
    let runs = Runs::open(home.path()).expect("the home can be made");
    let sample = short(Specimen::Failed);
    sample.begin(&runs).finish(&sample.record).expect("the run can be finished");
    let run = runs.find(&sample.record.id).expect("the run is there");
    let all = run.seconds().expect("seconds");
    assert_eq!((all.count_within(0, 99), all.count_within(2, 7), all.count_within(9, 99)), (9, 5, 0));
    let figures = run.figures(2, 7).expect("seconds");
    assert_eq!(figures.len(), 5);
    for (read, whole) in figures.zip(all.skip(2)) {
        let whole = whole.expect("the second can be read");
        assert!(
            whole.operations.iter().any(|row| !row.service.is_empty()),
            "there is something to leave out"
        );
        assert_same(&read.expect("the second can be read"), &whole.for_figures(&sample.names));
    }
}

#[test]
fn what_is_read_is_what_was_written() {
    let home = tempfile::tempdir().expect("a directory");
    let runs = Runs::open(home.path()).expect("the home can be made");
    let sample = Specimen::Killed.open();
    let directory = sample.begin(&runs).finish(&sample.record).expect("the run can be finished");
    let run = runs.find(&sample.record.id).expect("the run is there");

    let text = |record: &model::RunRecord| serde_json::to_string_pretty(record).expect("it is JSON");
    let (read, written) = (text(run.record()), text(&sample.record));
    let differs = read.lines().zip(written.lines()).find(|(read, written)| read != written);
    assert!(read == written, "the first line that differs: {differs:?}");
    assert_eq!(run.series().expect("series"), sample.series);
    let last = |series: &model::record::Series| series.points.last().copied();
    let lasts: Vec<_> = sample.series.iter().filter(|series| last(series).is_some()).map(last).collect();
    assert_eq!(run.latest().expect("last points").iter().map(last).collect::<Vec<_>>(), lasts);
    assert_eq!(run.events().expect("events"), sample.events);
    assert!(!sample.record.evidence.is_empty(), "there is something to keep");
    assert_eq!(run.evidence().expect("evidence"), sample.record.evidence);
    let seconds = run.seconds().expect("seconds");
    assert_eq!(seconds.names(), sample.names);
    assert_eq!(seconds.len(), sample.intervals().count());
    for (read, written) in seconds.zip(sample.intervals()) {
        assert_same(&read.expect("the second can be read"), &written);
    }
    let files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    for gone in ["run.sqlite-wal", "run.sqlite-shm", "under-way.lock", "run.tmp"] {
        assert!(!files.iter().any(|file| file == gone), "{gone} is left behind: {files:?}");
    }
}

#[test]
fn names_and_series_that_appear_later_lengthen_the_lists() {
    let home = tempfile::tempdir().expect("a directory");
    let runs = Runs::open(home.path()).expect("the home can be made");
    let sample = short(Specimen::Passed);
    let mut writer = runs.create(&sample.skeleton()).expect("the run can be created");
    let name = |name: &str| OperationName { kind: OperationKind::Operation, name: name.into() };
    let names = [name("first"), name("second")];
    let mut interval = Interval::empty(0);
    interval.operations.push(OperationInterval { completed: 1, ..OperationInterval::empty() });
    writer.second(&interval, &names[..1]).expect("the first second can be kept");
    let mut interval = Interval::empty(1);
    interval.operations = vec![OperationInterval::empty(), OperationInterval::empty()];
    interval.operations[1].errors[ErrorKind::Timeout as usize] = 3;
    interval.counters.insert("orders".into(), u64::MAX);
    interval.choices = vec![3, 0, u64::MAX];
    writer.second(&interval, &names).expect("the second second can be kept");
    let one = |second: f64| Series {
        name: "cpu.cores".into(),
        tier: Some("web".into()),
        unit: "cores".into(),
        points: vec![(second, 0.5), (second + 0.5, f64::NAN)],
    };
    writer.samples(&[one(0.0)]).expect("samples can be kept");
    writer.samples(&[one(1.0), Series { tier: None, ..one(1.0) }]).expect("samples can be kept");

    let run = runs.find("last").expect("the run is there");
    let read: Vec<Interval> = run.seconds().unwrap().map(|second| second.expect("it can be read")).collect();
    assert_eq!(run.seconds().unwrap().names(), names);
    assert_eq!(read[0].operations[0].completed, 1);
    assert_eq!(read[1].operations[1].errors, interval.operations[1].errors);
    assert_eq!(read[1].counters["orders"], i64::MAX as u64, "a count beyond SQLite's integers is clipped");
    assert_eq!(read[1].choices, interval.choices);
    let series = run.series().expect("series");
    assert_eq!(series[0].points, [(0.0, 0.5), (1.0, 0.5)], "what is not a number is left out");
    assert_eq!(series[1].tier, None);
}

#[test]
fn the_same_second_twice_is_refused_and_the_first_one_stays() {
    let home = tempfile::tempdir().expect("a directory");
    let runs = Runs::open(home.path()).expect("the home can be made");
    let sample = short(Specimen::Passed);
    let mut writer = sample.begin(&runs);
    let again = sample.intervals().next().expect("a second");
    let problem = writer.second(&again, &sample.names).expect_err("a second second 0");
    assert!(problem.to_string().contains("run.sqlite"), "{problem}");
    assert_eq!(runs.find("last").unwrap().seconds().unwrap().len(), 9);
}

#[test]
fn a_run_can_be_read_while_it_is_under_way() {
    let home = tempfile::tempdir().expect("a directory");
    let runs = Runs::open(home.path()).expect("the home can be made");
    let sample = short(Specimen::Passed);
    let mut writer = sample.begin(&runs);
    let run = runs.find("last").expect("the run is there");
    assert!(run.under_way(), "its writer lives");
    assert_eq!(run.record().outcome, Outcome::Unfinished);
    writer.second(&Interval::empty(100), &sample.names).expect("a reader does not stop the writer");
    assert_eq!(run.seconds().expect("seconds").len(), 10);
    writer.finish(&sample.record).expect("the run can be finished");
    assert!(!run.under_way(), "its writer has ended");
}

#[test]
fn files_are_kept_below_the_runs_directory_only() {
    let home = tempfile::tempdir().expect("a directory");
    let runs = Runs::open(home.path()).expect("the home can be made");
    let writer = runs.create(&short(Specimen::Passed).skeleton()).expect("the run can be created");
    let path = writer.keep("conf/web/httpd.conf", b"Listen 0\n").expect("it can be kept");
    assert_eq!(std::fs::read(path).unwrap(), b"Listen 0\n");
    for outside in ["", "../x", "/etc/passwd", "conf/../../x"] {
        assert!(writer.keep(outside, b"x").is_err(), "{outside:?} must be refused");
    }
}

#[test]
fn what_happened_on_the_wire_and_how_long_it_took_is_kept() {
    let home = tempfile::tempdir().expect("a directory");
    let runs = Runs::open(home.path()).expect("the home can be made");
    let sample = short(Specimen::Passed);
    let mut writer = runs.create(&sample.skeleton()).expect("the run can be created");
    let mut interval = Interval::empty(0);
    let phases = &mut interval.phases;
    let each = [&mut phases.connect, &mut phases.tls, &mut phases.first_byte, &mut phases.transfer];
    for (times, micros) in each.into_iter().zip([80, 900, 12_000, 45]) {
        record_ns(times, micros * 1_000);
    }
    (1..=9).for_each(|ms| record_ns(&mut interval.untimed, ms * 1_000_000));
    interval.wire = Wire { handshakes: 1, redirects: 3, cache_hits: 6, exhausted: 7, ..Wire::default() };
    writer.second(&interval, &[]).expect("the second can be kept");
    writer.second(&Interval::empty(1), &[]).expect("a second in which nothing happened can be kept");

    let run = runs.find("last").expect("the run is there");
    let read: Vec<Interval> = run.seconds().unwrap().map(|second| second.expect("it can be read")).collect();
    assert_same(&read[0], &interval);
    assert_eq!(read[0].phases.first_byte.max(), 12_007, "12 ms to three digits");
    assert_same(&read[1], &Interval::empty(1));
}
