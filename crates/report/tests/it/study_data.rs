//! What programs read of a study: JSON, CSV, JUnit XML.

use model::StudyRecord;
use model::record::study::{Compare, Question};
use report::study::{csv, json, junit};
use testkit::studies::{CompareEnding, SweepShape, compare, sweep};

use crate::{assert_golden, studies};

#[test]
fn the_json_is_the_record() {
    for (name, record) in studies() {
        let read: StudyRecord = serde_json::from_str(&json(&record)).expect("its own JSON can be read");
        assert_eq!(json(&read), json(&record), "{name}");
    }
}

#[test]
fn the_csv_has_a_row_for_each_trial_with_the_records_own_figures() {
    for (name, record) in studies() {
        let text = csv(&record);
        assert!(text.lines().count() == record.trials.len() + 1 && text.ends_with("\r\n"), "{name}");
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let heading = reader.headers().expect("a heading").clone();
        let column =
            |title: &str| heading.iter().position(|one| one == title).unwrap_or_else(|| panic!("no {title}"));
        for (row, trial) in reader.records().zip(&record.trials) {
            let row = row.expect("every row has the heading's length");
            let of = |title: &str| row[column(title)].parse::<f64>().ok();
            let p95 = trial.measured.as_ref().and_then(|seen| Some(seen.figure("p95", None)?.value));
            assert_eq!((of("p95_s"), of("load")), (p95, Some(trial.load)), "{name}, trial {}", trial.number);
            assert_eq!(&row[column("valid")], trial.valid().to_string(), "{name}, trial {}", trial.number);
        }
    }
}

#[test]
fn the_csv_of_each_sweep_is_as_its_golden_file() {
    for shape in SweepShape::ALL {
        assert_golden(&format!("study/sweep-{}.csv", shape.word()), &csv(&sweep(shape)));
    }
}

#[test]
fn a_level_with_a_comma_or_a_quote_stays_one_field() {
    let mut record = sweep(SweepShape::Users);
    for arm in &mut record.arms {
        arm.levels.insert("users".into(), "a \"b\", c".into());
    }
    let text = csv(&record);
    let first = format!("\"a \"\"b\"\", c\",1,1,measure,{},users,", record.trials[0].load);
    assert!(text.lines().nth(1).is_some_and(|line| line.starts_with(&first)), "{text}");
}

#[test]
fn each_comparison_is_junit_as_its_golden_file() {
    for ending in CompareEnding::ALL {
        let text = junit(&compare(ending)).expect("a comparison has one");
        assert_golden(&format!("study/compare-{}.xml", ending.word()), &text);
    }
    assert_eq!(junit(&sweep(SweepShape::Users)), None);
}

#[test]
fn only_a_gate_that_did_not_hold_is_a_failure_and_its_counts_agree() {
    for (ending, failures) in
        [(CompareEnding::Faster, 0), (CompareEnding::Open, 0), (CompareEnding::GateFailed, 1)]
    {
        let record = compare(ending);
        let Question::Compare(asked) = &record.question else { panic!("it is a comparison") };
        let text = junit(&record).expect("a comparison has one");
        assert_eq!(text.matches("<failure").count(), failures, "{text}");
        assert_eq!(text.matches("<testcase").count(), asked.effects.len(), "{text}");
        let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", asked.effects.len());
        assert_eq!(text.matches(&counts).count(), 1, "{text}");
    }
}

#[test]
fn what_nobody_knows_is_an_error_in_the_figure_that_decides_and_never_a_success() {
    let undecided = |asked: &mut Compare| {
        asked.gate_ratio = Some(0.03);
        asked.gate_held = None;
    };
    let unseen = |asked: &mut Compare| asked.effects.iter_mut().for_each(|effect| effect.blocks = 0);
    type Change<'a> = &'a dyn Fn(&mut Compare);
    let cases: [(&str, Change<'_>); 2] = [("undecided", &undecided), ("not-valid", &unseen)];
    for (why, change) in cases {
        let mut record = compare(CompareEnding::Open);
        let Question::Compare(asked) = &mut record.question else { panic!("it is a comparison") };
        change(asked);
        let tests = asked.effects.len();
        let text = junit(&record).expect("a comparison has one");
        assert!(text.contains(&format!("tests=\"{tests}\" failures=\"0\" errors=\"1\"")), "{text}");
        let first = text.split("</testcase>").next().expect("a test case");
        let sentence = record.sentence.replace('\'', "&apos;");
        let sentence = format!("type=\"{why}\">{sentence}</error>");
        assert!(first.contains("<error message=") && first.contains(&sentence), "{text}");
        assert_eq!(text.matches("<error").count(), 1, "{text}");
    }
}

#[test]
fn a_gate_that_held_is_a_success_though_the_difference_is_open() {
    let mut record = compare(CompareEnding::Open);
    if let Question::Compare(asked) = &mut record.question {
        (asked.gate_ratio, asked.gate_held) = (Some(0.03), Some(true));
    }
    let text = junit(&record).expect("a comparison has one");
    assert!(text.contains("failures=\"0\" errors=\"0\"") && !text.contains("<error"), "{text}");
}

#[test]
fn a_comparison_without_a_conclusion_is_an_error_and_no_success() {
    let mut record = compare(CompareEnding::Open);
    record.outcome = model::record::Outcome::Interrupted;
    if let Question::Compare(asked) = &mut record.question {
        (asked.conclusion, asked.effects) = (None, Vec::new());
    }
    record.sentence = "interrupted <at once> & \"early\"".into();
    let text = junit(&record).expect("a comparison has one");
    assert!(text.contains("tests=\"1\" failures=\"0\" errors=\"1\""), "{text}");
    assert!(
        text.contains("<error message=\"interrupted &lt;at once&gt; &amp; &quot;early&quot;\""),
        "{text}"
    );
}
