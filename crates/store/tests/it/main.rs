//! The room as its users see it, on real files.

mod damage;
mod death;
mod golden;
mod list;
mod round_trip;
mod studies;

use std::path::Path;

use store::{RunWriter, Runs};
use testkit::sample::{Ending, Sample, Shape, run};

/// A run of a few seconds.
fn short(ending: Ending) -> Sample {
    run(Shape { ending, users: 8, ramp_up_s: 2, steady_s: 6, ramp_down_s: 1, ..Shape::default() })
}

/// Keeps everything of `sample` but its end.
fn write(runs: &Runs, sample: &Sample) -> RunWriter {
    let mut writer = runs.create(&sample.skeleton()).expect("the run can be created");
    for interval in sample.intervals() {
        writer.second(&interval, &sample.names).expect("the second can be kept");
    }
    writer.samples(&sample.series).expect("the series can be kept");
    writer.evidence(&sample.record.evidence).expect("the evidence can be kept");
    sample.events.iter().for_each(|event| writer.event(event).expect("the event can be kept"));
    writer
}

/// Keeps all of `sample` below `home`, under another id.
fn keep(home: &Path, mut sample: Sample, id: &str) -> String {
    sample.record.id = id.to_string();
    let runs = Runs::open(home).expect("the home can be made");
    write(&runs, &sample).finish(&sample.record).expect("the run can be finished");
    id.to_string()
}
