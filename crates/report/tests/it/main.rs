//! The room as its users see it: made-up runs, kept by the store, shown.

mod browser;
mod page;
mod playwright;
mod published;
mod schema;
mod study_data;
mod study_text;
mod study_web;
mod text;
mod web;

use std::path::Path;
use std::sync::OnceLock;

use model::record::Outcome;
use model::record::study::Fault;
use model::{SignalRegistry, StudyRecord};
use report::Page;
use store::Runs;
use testkit::sample::{Ending, Sample, Shape, run};

/// Every kind of made-up study, with a name for its files.
fn studies() -> Vec<(String, StudyRecord)> {
    use testkit::sample::study::{CompareEnding, FindEnding, SweepShape, compare, find, sweep};
    let finds = FindEnding::ALL.map(|ending| (format!("find-{}", ending.word()), find(ending)));
    let compares = CompareEnding::ALL.map(|ending| (format!("compare-{}", ending.word()), compare(ending)));
    let sweeps = SweepShape::ALL.map(|shape| (format!("sweep-{}", shape.word()), beside(sweep(shape))));
    finds.into_iter().chain(compares).chain(sweeps).collect()
}

/// A find in which a rare operation gave too few samples in the warm-up, in a trial that passed (5) and in one that
/// missed a target (8).
fn with_few_samples() -> StudyRecord {
    use testkit::sample::study::{FindEnding, find};
    let mut record = find(FindEnding::LoadLine);
    for number in [1, 5, 8] {
        let sentence = "`AddEvent p90 < 2.00 s` needs 51 samples and has 2".to_string();
        record.trials[number - 1].faults = vec![Fault { check: model::Check::Samples, sentence }];
    }
    record
}

/// The study with what its trials say beside what was published, as a sweep leaves it.
fn beside(mut record: StudyRecord) -> StudyRecord {
    if let model::record::study::Question::Sweep(sweep) = &mut record.question {
        analysis::published::beside(sweep, &record.trials);
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

/// The page of the default run with that ending, made once for all tests.
fn page(ending: Ending) -> &'static Page {
    static PAGES: [OnceLock<Page>; 5] = [const { OnceLock::new() }; 5];
    PAGES[ending as usize].get_or_init(|| Kept::ending(ending).page())
}

/// A made-up run as it is after it was kept and read again.
struct Kept {
    home: tempfile::TempDir,
    sample: Sample,
}

impl Kept {
    fn new(shape: Shape) -> Kept {
        Kept::of(run(shape))
    }

    fn ending(ending: Ending) -> Kept {
        Kept::new(Shape::ending(ending))
    }

    fn of(sample: Sample) -> Kept {
        let home = tempfile::tempdir().expect("a directory");
        let runs = Runs::open(home.path()).expect("the home can be made");
        let mut writer = runs.create(&sample.skeleton()).expect("the run can be created");
        for interval in sample.intervals() {
            writer.second(&interval, &sample.names).expect("the second can be kept");
        }
        writer.samples(&sample.series).expect("the series can be kept");
        writer.evidence(&sample.record.evidence).expect("the evidence can be kept");
        sample.events.iter().for_each(|event| writer.event(event).expect("the event can be kept"));
        if sample.record.outcome != Outcome::Unfinished {
            writer.finish(&sample.record).expect("the run can be finished");
        }
        Kept { home, sample }
    }

    fn runs(&self) -> Runs {
        Runs::open(self.home.path()).expect("the home is there")
    }

    fn page(&self) -> Page {
        let run = self.runs().find(&self.sample.record.id).expect("the run is there");
        let signals = observe::signals().chain(analysis::declared::signals());
        let mut page = Page::of(&run, &SignalRegistry::new(signals, []));
        page.directory = "/srv/plimsoll/runs".into();
        page
    }
}
