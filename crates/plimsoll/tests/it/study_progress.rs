//! What a study tells while it goes on, against what is kept of it at its end.

use std::fs;
use std::path::Path;

use model::progress::study::{Known, LineInterval, RepeatProgress, StudyProgress};
use model::progress::{ProgressLine, Told};
use model::record::study::{FindAnswer, Question};
use model::{StudyRecord, Trial};

use crate::tool::{Home, have};

const STACK: &str = "nginx";

/// What a study told, in a progress file.
pub(crate) fn studies_of(path: &Path) -> Vec<StudyProgress> {
    let text = fs::read_to_string(path).expect("it was written");
    let line = |text: &str| serde_json::from_str::<ProgressLine>(text).expect("a line of progress");
    let lines = text.lines().map(line);
    lines.filter_map(|line| if let Told::Study(study) = line.told { Some(*study) } else { None }).collect()
}

/// Each trial of the last sitting was told before it began, and the last line says what the record says.
#[track_caller]
pub(crate) fn expect_as_kept(studies: &[StudyProgress], record: &StudyRecord) {
    let numbers: Vec<u32> = record.trials.iter().map(|trial| trial.number).collect();
    let begun = studies.iter().flat_map(|study| study.under_way.iter().map(|trial| trial.number));
    let mut begun: Vec<u32> = begun.collect();
    begun.dedup();
    assert!(!begun.is_empty() && numbers.ends_with(&begun), "{begun:?} of {numbers:?}");
    let (last, before) = studies.split_last().expect("a study was told");
    assert!(
        last.over && before.iter().all(|study| !study.over && !study.under_way.is_empty()),
        "{studies:#?}"
    );
    assert_eq!((&last.study, &last.text, last.left_s), (&record.id, &record.sentence, 0.0));
    match (&last.known, &record.question) {
        (Known::Find(find), Question::Find(kept)) => {
            let answer = match &kept.answer {
                Some(FindAnswer::LoadLine(line)) => Some(line),
                _ => None,
            };
            assert_eq!(as_json(&find.line.as_ref()), as_json(&answer));
            expect_trials(find.trials.iter().map(|trial| (trial.number, trial.load)), &record.trials);
            assert_eq!(find.trials.last().and_then(|trial| trial.line), answer.map(LineInterval::from));
        }
        (Known::Compare(compare), Question::Compare(kept)) => {
            assert_eq!(as_json(&compare.effect.as_ref()), as_json(&kept.effects.first()));
            assert_eq!(compare.blocks.len() as u32, compare.valid + compare.spoiled);
            let blocks = kept.effects.first().map_or(0, |effect| effect.blocks);
            assert_eq!(compare.valid, blocks);
        }
        (Known::Sweep(sweep), Question::Sweep(kept)) => {
            assert_eq!((sweep.done, sweep.all), (sweep.all, kept.cells.len() * kept.repeats as usize));
            for (arm, cell) in sweep.cells.iter().enumerate() {
                let trial = record.trials.iter().rfind(|trial| trial.arm == arm).expect("it was measured");
                let figure = trial.measured.as_ref().and_then(|seen| seen.figure("throughput", None));
                let Some(RepeatProgress::Figures { throughput_per_s, .. }) = cell.repeats.last() else {
                    panic!("no figures of cell {arm}: {cell:?}");
                };
                assert_eq!(as_json(throughput_per_s), as_json(&figure.map(|figure| figure.value)));
            }
        }
        other => panic!("another kind of study: {other:#?}"),
    }
}

/// A record's targets are rounded when they are written.
fn as_json(value: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("it is JSON")
}

#[track_caller]
fn expect_trials(told: impl Iterator<Item = (u32, f64)>, kept: &[Trial]) {
    let kept = kept.iter().map(|trial| (trial.number, trial.load));
    assert_eq!(told.collect::<Vec<_>>(), kept.collect::<Vec<_>>());
}

#[test]
fn a_find_on_real_servers_tells_its_trials_and_ends_with_what_is_kept() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let words =
        "find static --size quick --stack nginx --start 4 --budget 40s --window 5s --confirm 5s --json";
    // Whatever this machine makes of it, a line or none.
    let told = home.plimsoll(words).arg("--qos=p95 < 30ms").run();
    assert!(matches!(told.code, Some(0 | 3)), "{told:#?}");
    let record: StudyRecord = serde_json::from_value(told.json()).expect("a study's record");
    let studies = studies_of(&home.path().join("measuring.jsonl"));
    expect_as_kept(&studies, &record);
    let trials = |study: &StudyProgress| match &study.known {
        Known::Find(find) => find.trials.len(),
        other => panic!("{other:?}"),
    };
    assert!(studies.windows(2).all(|pair| trials(&pair[0]) <= trials(&pair[1])), "{studies:#?}");
    home.expect_nothing_left();
}
