//! A made-up run, the same every time: record, seconds and series agree with each other.

mod diagnosis;
mod inside;
mod judgement;
mod load;
mod shape;
pub mod study;

use model::record::interval::OperationName;
use model::record::{Event, Outcome, Series};
use model::{Interval, RunRecord};

pub use load::Workload;
pub use shape::{Ending, Shape};

/// A made-up run.
pub struct Sample {
    /// Its result, or the beginning of one for [`Ending::Unfinished`].
    pub record: RunRecord,
    /// What the rows of its intervals are about.
    pub names: Vec<OperationName>,
    /// What was watched of each tier and of the host.
    pub series: Vec<Series>,
    /// What happened.
    pub events: Vec<Event>,
    shape: Shape,
    workload: Workload,
}

impl Sample {
    /// The seconds of the run. Made one at a time: a histogram takes much room.
    pub fn intervals(&self) -> impl Iterator<Item = Interval> + '_ {
        (0..self.shape.measured_s()).map(|second| self.workload.interval(&self.shape, second))
    }

    /// The record that a run of this shape begins with: nothing measured yet.
    pub fn skeleton(&self) -> RunRecord {
        judgement::skeleton(&self.shape, &self.record.id)
    }
}

/// Makes up a run.
pub fn run(shape: Shape) -> Sample {
    let workload = Workload::new(&shape);
    let names = workload.names();
    let mut series = load::series(&shape);
    series.extend(inside::series(&shape));
    let id =
        format!("20261121-034512-dvdstore-{:04x}", shape.ending as u32 * 0x1111 + shape.operations as u32);
    let mut record = judgement::skeleton(&shape, &id);
    if shape.ending != Ending::Unfinished {
        let intervals = (0..shape.measured_s()).map(|second| workload.interval(&shape, second));
        judgement::judge(&mut record, &shape, &names, intervals, &series);
    }
    let events = events(&shape, record.outcome);
    Sample { record, names, series, events, shape, workload }
}

fn events(shape: &Shape, outcome: Outcome) -> Vec<Event> {
    let event = |second: u32, kind: &str, text: &str| Event {
        second: second.into(),
        kind: kind.into(),
        text: text.into(),
    };
    let mut events =
        vec![event(0, "phase", "ramp-up begins"), event(shape.ramp_up_s, "phase", "steady state begins")];
    match outcome {
        Outcome::Interrupted => events.push(event(shape.measured_s(), "note", "ended by the user")),
        Outcome::Unfinished => {}
        _ => events.push(event(shape.ramp_up_s + shape.steady_s, "phase", "ramp-down begins")),
    }
    if shape.ending == Ending::Invalid {
        events.push(event(shape.ramp_up_s + 31, "tier", "db restarted"));
    }
    events.sort_by(|a, b| a.second.total_cmp(&b.second));
    events
}
