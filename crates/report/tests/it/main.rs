//! The room as its users see it: recorded runs and simulated studies, kept by the store, shown.

mod beside;
mod browser;
mod guests;
mod page;
mod playwright;
mod published;
mod schema;
mod study_data;
mod study_document;
mod study_text;
mod study_web;
mod text;
mod trend;
mod web;

use std::path::Path;
use std::sync::OnceLock;

use model::record::diagnosis::{Handicap, Proof};
use model::record::study::Fault;
use model::{SignalRegistry, StudyRecord};
use report::Page;
use store::Runs;
use testkit::recorded::{Recorded, Specimen};
use wording::ProofFacts;

/// Every kind of study, with a name for its files.
fn studies() -> Vec<(String, StudyRecord)> {
    use testkit::studies::{CompareEnding, FindEnding, SweepShape, compare, find, sweep};
    let finds = FindEnding::ALL.map(|ending| (format!("find-{}", ending.word()), find(ending)));
    let compares = CompareEnding::ALL.map(|ending| (format!("compare-{}", ending.word()), compare(ending)));
    let sweeps = SweepShape::ALL.map(|shape| (format!("sweep-{}", shape.word()), sweep(shape)));
    finds.into_iter().chain(compares).chain(sweeps).collect()
}

/// A find in which a rare operation gave too few samples in the warm-up, in a trial that passed (4) and in one that
/// missed a target (8).
fn with_few_samples() -> StudyRecord {
    use testkit::studies::{FindEnding, find};
    let mut record = find(FindEnding::LoadLine);
    for number in [1, 4, 8] {
        let sentence = "`AddEvent p90 < 2.00 s` needs 51 samples and has 2".to_string();
        record.trials[number - 1].faults = vec![Fault { check: model::Check::Samples, sentence }];
    }
    record
}

/// Fails unless `text` is what the golden file of that name holds; writes it anew with `UPDATE_GOLDEN` set.
fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        std::fs::write(&path, text).expect("it can be written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let line = golden.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(golden == text, "{name} differs, first in line {:?}:\n{text}", line.map(|line| line + 1));
}

/// The page of a recorded run, made once for all tests.
fn page(specimen: Specimen) -> &'static Page {
    static PAGES: [OnceLock<Page>; Specimen::ALL.len()] = [const { OnceLock::new() }; Specimen::ALL.len()];
    PAGES[specimen as usize].get_or_init(|| Kept::specimen(specimen).page())
}

/// A recorded run in which the server sent an answer that would rather be more than text.
fn with_a_hostile_answer() -> Recorded {
    let mut recorded = Specimen::Killed.open();
    let evidence = recorded.record.evidence.first_mut().expect("operations failed");
    let answer = "<img src=x onerror=alert(1)>Deadlock found\u{1b}[2J\u{202e}<script>window.x=1</script>";
    evidence.answer = Some(answer.into());
    recorded
}

/// The run that failed with a proof of what holds it, as `plimsoll explain --prove` adds one, with a tier of which nothing could
/// be said and with one clue the other way round.
fn proved() -> Recorded {
    let mut recorded = Specimen::Failed.open();
    let handicap = |tier: &str, suspect, elasticity, interval| Handicap {
        tier: tier.into(),
        what: "15 % of its CPU time".into(),
        change: model::record::diagnosis::Change::Taken,
        expected: None,
        suspect,
        elasticity: Some(elasticity),
        interval: Some(interval),
        pairs: 8,
        stopped: 0,
    };
    let handicaps =
        vec![handicap("db", true, 0.82, (0.61, 1.03)), handicap("web", false, 0.06, (-0.11, 0.23))];
    let facts = ProofFacts { handicaps: &handicaps, alone: false, left_out: None, windows: 32 };
    let sentence = wording::proof(&facts);
    let proof = Proof { taken_ratio: 0.15, window_s: 5.0, handicaps, left_out: None, sentence };
    let diagnosis = recorded.record.diagnosis.as_mut().expect("it has one");
    diagnosis.proof = Some(proof);
    diagnosis.unseen = vec!["which row it is: innodb_status_output_locks is off".into()];
    diagnosis.suspects[0].evidence[0].role = model::record::diagnosis::ClueRole::Against;
    recorded.record.unseen = vec!["this kernel has no memory.pressure".into()];
    recorded
}

/// A recorded run as it is after it was kept and read again.
struct Kept {
    home: tempfile::TempDir,
    recorded: Recorded,
}

impl Kept {
    fn specimen(specimen: Specimen) -> Kept {
        Kept::of(specimen.open())
    }

    fn of(recorded: Recorded) -> Kept {
        let home = tempfile::tempdir().expect("a directory");
        recorded.keep(&Runs::open(home.path()).expect("the home can be made"));
        Kept { home, recorded }
    }

    fn runs(&self) -> Runs {
        Runs::open(self.home.path()).expect("the home is there")
    }

    fn page(&self) -> Page {
        let run = self.runs().find(&self.recorded.record.id).expect("the run is there");
        let signals = observe::signals().chain(analysis::declared::signals());
        let mut page = Page::of(&run, &SignalRegistry::new(signals, []));
        page.directory = "/srv/plimsoll/runs".into();
        page
    }
}
