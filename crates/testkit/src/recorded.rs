//! Runs of real stacks, as the tool kept them in `crates/testkit/recorded`. `scripts/record.sh` records them anew.

use std::fs;
use std::path::Path;

use model::record::interval::OperationName;
use model::record::{Event, Outcome, Series};
use model::{Interval, RunRecord};
use store::{Run, RunWriter, Runs};
use tempfile::TempDir;

/// A recorded run. All but two are the DVD Store's, whose sessions have four operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Specimen {
    /// Valid, every target met.
    Passed,
    /// Valid: all purchases update one row, injected on purpose. One target is missed that the average would have met.
    Failed,
    /// The generator had to share its CPU with somebody else: it sent too late.
    Invalid,
    /// The database was killed in the steady state: operations failed, and the tool gave up.
    Killed,
    /// The user ended it in the steady state.
    Interrupted,
    /// The tool was killed in the steady state: seconds, but a record without results.
    Unfinished,
    /// Static files, at a rate instead of with a number of users.
    ByRate,
    /// The bookstore, with fourteen operations.
    ManyOperations,
}

impl Specimen {
    /// Every recorded run.
    pub const ALL: [Specimen; 8] = [
        Specimen::Passed,
        Specimen::Failed,
        Specimen::Invalid,
        Specimen::Killed,
        Specimen::Interrupted,
        Specimen::Unfinished,
        Specimen::ByRate,
        Specimen::ManyOperations,
    ];

    /// The name of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Specimen::Passed => "passed",
            Specimen::Failed => "failed",
            Specimen::Invalid => "invalid",
            Specimen::Killed => "killed",
            Specimen::Interrupted => "interrupted",
            Specimen::Unfinished => "unfinished",
            Specimen::ByRate => "by-rate",
            Specimen::ManyOperations => "many-operations",
        }
    }

    /// What was recorded.
    pub fn open(self) -> Recorded {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded").join(self.name());
        let copy = tempfile::tempdir().expect("a directory");
        // SQLite may want to put a file beside the database.
        for file in ["run.json", "run.sqlite"] {
            fs::copy(source.join(file), copy.path().join(file)).expect("a recorded run is checked in");
        }
        let run = Run::open(copy.path()).expect("a recorded run opens");
        let seconds = run.seconds().expect("it has seconds");
        Recorded {
            record: run.record().clone(),
            names: seconds.names().to_vec(),
            series: run.series().expect("it has series"),
            events: run.events().expect("it has events"),
            max_s: seconds.len(),
            again_s: 0,
            run,
            _copy: copy,
        }
    }
}

/// A recorded run. What a test changes of it is what is kept of it.
pub struct Recorded {
    /// Its result, or the beginning of one for [`Specimen::Unfinished`].
    pub record: RunRecord,
    /// What the rows of its intervals are about.
    pub names: Vec<OperationName>,
    /// What was watched of each tier and of the host.
    pub series: Vec<Series>,
    /// What happened.
    pub events: Vec<Event>,
    max_s: usize,
    again_s: usize,
    run: Run,
    _copy: TempDir,
}

impl Recorded {
    /// The run as it was recorded, whatever a test changed.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The run without what came after its first seconds. Its record still says what came of them all.
    pub fn first(mut self, seconds: usize) -> Recorded {
        self.max_s = seconds;
        self.series.iter_mut().for_each(|one| one.points.retain(|point| point.0 <= seconds as f64));
        self.events.retain(|event| event.second <= seconds as f64);
        self
    }

    /// The run with a steady state of that many seconds, in which those that were recorded come again and again.
    pub fn with_steady_s(mut self, steady_s: u32) -> Recorded {
        let (from_s, recorded_s) = (self.record.setup.ramp_up_s, self.record.setup.steady_s);
        self.again_s = steady_s as usize - recorded_s as usize;
        self.max_s += self.again_s;
        let later_s = f64::from(steady_s) - recorded_s;
        let end_s = from_s + recorded_s;
        for one in &mut self.series {
            let points = std::mem::take(&mut one.points).into_iter();
            let (before, rest): (Vec<_>, Vec<_>) = points.partition(|(second, _)| *second < from_s);
            let (steady, after): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(second, _)| *second < end_s);
            let moved = |by_s: f64| steady.iter().map(move |(second, value)| (second + by_s, *value));
            let rounds = (0..).map(|round| f64::from(round) * recorded_s);
            let again = rounds.take_while(|by_s| *by_s < f64::from(steady_s)).flat_map(moved);
            let again = again.filter(|(second, _)| *second < from_s + f64::from(steady_s));
            let after = after.into_iter().map(|(second, value)| (second + later_s, value));
            one.points = before.into_iter().chain(again).chain(after).collect();
        }
        let after = self.events.iter_mut().filter(|event| event.second >= end_s);
        after.for_each(|event| event.second += later_s);
        self.record.setup.steady_s = f64::from(steady_s);
        self
    }

    /// Its seconds. They are read one at a time: their histograms take much room.
    pub fn intervals(&self) -> impl Iterator<Item = Interval> + '_ {
        let recorded = self.run.record();
        let (ramp_up_s, steady_s) = (recorded.setup.ramp_up_s as usize, recorded.setup.steady_s as usize);
        let all = || self.run.seconds().expect("it has seconds").map(|one| one.expect("each is whole"));
        let again = std::iter::repeat_with(move || all().skip(ramp_up_s).take(steady_s)).flatten();
        let beginning = all().take(ramp_up_s + steady_s).chain(again.take(self.again_s));
        let seconds = beginning.chain(all().skip(ramp_up_s + steady_s));
        (0..).zip(seconds).take(self.max_s).map(|(second, one)| Interval { second, ..one })
    }

    /// The record that such a run begins with: nothing measured yet.
    pub fn skeleton(&self) -> RunRecord {
        let begun = Specimen::Unfinished.open().record;
        let RunRecord { id, started, command, setup, dataset, .. } = self.record.clone();
        RunRecord { id, started, command, setup, dataset, ..begun }
    }

    /// Keeps everything but its end.
    pub fn begin(&self, runs: &Runs) -> RunWriter {
        let mut writer = runs.create(&self.skeleton()).expect("the run can be created");
        for interval in self.intervals() {
            writer.second(&interval, &self.names).expect("the second can be kept");
        }
        writer.samples(&self.series).expect("the series can be kept");
        writer.evidence(&self.record.evidence).expect("the evidence can be kept");
        self.events.iter().for_each(|event| writer.event(event).expect("the event can be kept"));
        writer
    }

    /// Keeps the run as a run is kept that ended as its record says.
    pub fn keep(&self, runs: &Runs) {
        let writer = self.begin(runs);
        if self.record.outcome != Outcome::Unfinished {
            writer.finish(&self.record).expect("the run can be finished");
        }
    }
}
