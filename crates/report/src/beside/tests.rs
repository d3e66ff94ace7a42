use model::{OperationKind, RunRecord, Value};
use testkit::recorded::Specimen;

use super::*;

/// A recorded run with another id, so that it is another run.
fn specimen(which: Specimen, id: &str) -> KeptRun {
    let recorded = which.open();
    let mut run = KeptRun::read(recorded.run());
    run.record.id = id.to_string();
    run
}

fn changed(id: &str, change: impl FnOnce(&mut RunRecord)) -> KeptRun {
    let mut run = specimen(Specimen::Passed, id);
    change(&mut run.record);
    run
}

fn names(differences: &[Difference]) -> Vec<&str> {
    differences.iter().map(|one| one.name.as_str()).collect()
}

#[test]
fn two_runs_of_one_setup_differ_in_nothing_that_counts_though_paths_ports_and_seeds_do() {
    let other = changed("b", |record| {
        record.setup.seed = 7;
        for text in record.setup.tiers.iter_mut().flat_map(|tier| tier.files.values_mut()) {
            *text = text.replace("20261123-083215-dvdstore-552b", "20261127-120000-dvdstore-0001");
            *text = text.replace("127.0.0.1:42405", "127.0.0.1:37001");
        }
    });
    let beside = Beside::of(&[specimen(Specimen::Passed, "a"), other], 0).expect("two runs");
    assert_eq!(names(&beside.differences), Vec::<&str>::new());
    assert_eq!(names(&beside.uncounted), ["seed"]);
    assert_eq!(beside.configuration, []);
    assert_eq!(beside.not_comparable, None);
    assert!(beside.unpaired);
}

#[test]
fn what_somebody_set_comes_first_and_its_file_is_shown_line_by_line() {
    let set = |id: &str, workers: i64| {
        changed(id, |record| {
            record.setup.machine.insert("kernel".to_string(), "6.19".to_string());
            record.setup.users = 40;
            record.setup.load.as_mut().expect("it has a load").users = 40;
            let given = record.setup.given.get_or_insert_default();
            given.set.insert("web.MaxRequestWorkers".to_string(), Value::Int(workers));
            let web = record.setup.tiers.iter_mut().find(|tier| tier.tier == "web").expect("a web tier");
            web.values.insert("MaxRequestWorkers".to_string(), Value::Int(workers));
            let file = web.files.get_mut("conf/web/conf/httpd.conf").expect("its file");
            *file = file.replace("MaxRequestWorkers 150", &format!("MaxRequestWorkers {workers}"));
        })
    };
    let runs = [specimen(Specimen::Passed, "a"), set("b", 64), set("c", 64)];
    let beside = Beside::of(&runs, 0).expect("three runs");
    assert_eq!(names(&beside.differences), ["web.MaxRequestWorkers", "load", "kernel"]);
    assert_eq!(beside.other_conditions, ["load"], "the kernel is no processor");
    let first = &beside.differences[0];
    assert_eq!((first.kind, first.given), (DifferenceKind::Setting, true));
    assert_eq!(first.values, ["150", "64", "64"].map(|value| Some(value.to_string())));
    let [file] = &beside.configuration[..] else { panic!("one file: {:?}", beside.configuration) };
    assert_eq!((file.runs.as_slice(), file.change), ([1, 2].as_slice(), FileChange::Changed));
    assert_eq!((file.added, file.removed, file.left_out), (1, 1, 0));
    assert!(file.diff.contains("-MaxRequestWorkers 150\n+MaxRequestWorkers 64\n"), "{}", file.diff);
    assert!(!file.diff.contains("dvdstore-552b"), "{}", file.diff);
}

#[test]
fn figures_have_the_interval_of_two_kept_runs_and_the_base_no_change() {
    let slower = {
        let mut run = specimen(Specimen::Passed, "b");
        let figures = run.measured.iter_mut().flat_map(|measured| &mut measured.figures);
        figures.filter(|figure| figure.name != "throughput").for_each(|figure| figure.value *= 2.0);
        run
    };
    let beside = Beside::of(&[specimen(Specimen::Passed, "a"), slower], 0).expect("two runs");
    let of = |name: &str, operation: Option<&str>| {
        let figure = |one: &&ComparedFigure| one.figure == name && one.operation.as_deref() == operation;
        beside.figures.iter().find(figure).unwrap_or_else(|| panic!("{name} is there"))
    };
    for (name, operation) in [("p50", None), ("p95", None), ("p95", Some("Browse"))] {
        let figure = of(name, operation);
        assert_eq!(figure.changes[0], None);
        let change = figure.changes[1].expect("the other one has a change");
        assert!((change.percent - 100.0).abs() < 1e-9, "{change:?}");
        let (low, high) = change.low_percent.zip(change.high_percent).expect("an interval");
        assert!(low < 100.0 && high > 100.0, "{change:?}");
        assert_eq!(change.judged, Some(Judged::Worse), "{name}: {change:?}");
    }
    assert_eq!(of("errors", None).changes, [None, None]);
    let cpu = of("cpu", None);
    assert_eq!((cpu.tier.as_deref(), cpu.changes[1].expect("a change").judged), (Some("db"), None));
    assert!(beside.figures.iter().any(|one| one.name == "Orders per minute"));
}

#[test]
fn a_run_that_is_no_result_is_shown_without_a_difference() {
    let runs =
        [specimen(Specimen::Passed, "a"), specimen(Specimen::Invalid, "b"), specimen(Specimen::Killed, "c")];
    let beside = Beside::of(&runs, 0).expect("three runs");
    assert_eq!(beside.runs.iter().map(|run| run.valid).collect::<Vec<_>>(), [true, false, false]);
    assert!(beside.figures.iter().all(|figure| figure.changes.iter().all(Option::is_none)));
    assert!(beside.figures[0].values.iter().all(Option::is_some), "they are shown: {:?}", beside.figures[0]);
}

#[test]
fn other_work_is_refused_with_the_reason_and_what_differs_is_still_said() {
    let runs = [specimen(Specimen::Passed, "a"), specimen(Specimen::ManyOperations, "b")];
    let beside = Beside::of(&runs, 0).expect("two runs");
    let why = beside.not_comparable.as_deref().expect("a reason");
    assert!(why.contains("kit dvdstore@1 and "), "{why}");
    assert!(beside.figures.is_empty() && beside.configuration.is_empty());
    assert!(names(&beside.differences).contains(&"kit"), "{:?}", beside.differences);
}

#[test]
fn who_fails_more_is_not_the_better_one_for_what_is_left() {
    let mut failing = specimen(Specimen::Passed, "b");
    let measured = failing.measured.as_mut().expect("it has figures");
    measured.failed_ratio = 0.4;
    let times = measured.figures.iter_mut().filter(|figure| figure.name.starts_with('p'));
    times.for_each(|figure| figure.value *= 0.5);
    let runs = [specimen(Specimen::Passed, "a"), failing];
    let beside = Beside::of(&runs, 0).expect("two runs");
    assert_eq!(beside.runs[1].failed.as_ref().map(|failed| failed.arm), Some(1));
    let judged = |beside: &Beside, index: usize| {
        let p95 = beside.figures.iter().find(|one| one.figure == "p95").expect("it is there");
        p95.changes[index].expect("a change").judged
    };
    assert_eq!(judged(&beside, 1), None);
    assert_eq!(judged(&Beside::of(&runs, 1).expect("two runs"), 0), None, "A is not slower for it");
}

#[test]
fn one_run_nine_runs_or_one_twice_are_refused() {
    let run = specimen(Specimen::Passed, "a");
    let refused = |runs: &[KeptRun], base: usize| Beside::of(runs, base).expect_err("refused").to_string();
    assert!(refused(std::slice::from_ref(&run), 0).contains("2 to 8"));
    assert!(refused(&vec![run.clone(); 9], 0).contains("9 runs"));
    assert!(refused(&[run.clone(), run.clone()], 0).contains("run a is there twice"));
    assert!(refused(&[run, specimen(Specimen::Failed, "b")], 2).contains("no run 2"));
}

#[test]
fn courses_begin_at_the_steady_state_of_each_and_have_the_points_that_were_recorded() {
    let longer = changed("b", |record| record.setup.ramp_up_s += 5.0);
    let first = specimen(Specimen::Passed, "a");
    let (ramp_up_s, steady_s) = (first.record.setup.ramp_up_s, first.record.setup.steady_s);
    let operations = first.record.operations.iter().filter(|one| one.kind == OperationKind::Operation);
    let completed_per_s: f64 = operations.map(|one| one.per_s).sum();
    let beside = Beside::of(&[first, longer], 0).expect("two runs");
    let operations = beside.courses.first().expect("there are courses");
    assert_eq!(operations.measure, CourseMeasure::OperationsPerS);
    let [one, other] = operations.runs.as_slice() else { panic!("{:?}", operations.runs) };
    assert_eq!(one[0].0, -ramp_up_s);
    assert_eq!(other[0].0, -ramp_up_s - 5.0, "its steady state begins later");
    assert!((2..=60).contains(&one.len()), "{} points", one.len());
    let steady: Vec<f64> =
        one.iter().filter(|(at, _)| (0.0..steady_s - 2.0).contains(at)).map(|(_, value)| *value).collect();
    let mean = steady.iter().sum::<f64>() / steady.len() as f64;
    assert!((mean / completed_per_s - 1.0).abs() < 0.1, "{mean}/s drawn of {completed_per_s}/s");
    let cpu: Vec<&CourseMeasure> = beside.courses[2..].iter().map(|course| &course.measure).collect();
    assert!(cpu.contains(&&CourseMeasure::CpuCores { tier: "db".to_string() }), "{cpu:?}");
}

#[test]
fn a_part_of_the_time_that_one_run_shows_is_told_of_all_that_have_a_ledger() {
    let none = changed("c", |record| record.diagnosis = None);
    let runs = [specimen(Specimen::Passed, "a"), specimen(Specimen::Failed, "b"), none];
    let records: Vec<_> = runs.iter().map(|run| &run.record).collect();
    let spent = spent::of(&records, 0);
    let lock = spent.iter().find(|part| part.name() == "db: waiting for a lock").expect("b waits for locks");
    assert_eq!(lock.runs[2], None, "it has no ledger");
    let [_, Some(locked), _] = lock.runs.as_slice() else { panic!("{lock:?}") };
    assert!(locked.share_ratio > 0.1, "{locked:?}");
    let computing = spent.iter().find(|part| part.name() == "db: computing").expect("both compute");
    assert!(computing.runs[..2].iter().all(Option::is_some), "{computing:?}");
    for (index, record) in records[..2].iter().enumerate() {
        let response_s =
            record.diagnosis.as_ref().and_then(|one| one.ledger.as_ref()).expect("it has one").response_s;
        let told: f64 =
            spent.iter().filter_map(|part| Some(part.runs[index].as_ref()?.s_per_operation)).sum();
        assert!(told > 0.9 * response_s, "{told} s of {response_s} s of run {index} are told");
    }
}
