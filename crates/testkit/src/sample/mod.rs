//! A made-up run, the same every time: record, seconds and series agree with each other.

mod diagnosis;
mod inside;
mod judgement;
mod load;
pub mod study;

use model::interval::OperationName;
use model::record::{Event, Outcome, Series};
use model::{Interval, RunRecord};

pub use load::Workload;

/// What kind of run to make up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Valid, every target met.
    Passed,
    /// Valid, with errors and a target missed whose average would have passed.
    Failed,
    /// The generator was too slow and a tier restarted.
    Invalid,
    /// The user ended it 20 s into the steady state.
    Interrupted,
    /// The tool died 20 s into the steady state: seconds, but a record without results.
    Unfinished,
}

/// The dimensions of a made-up run.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// How it ends.
    pub ending: Ending,
    /// How many operations its sessions have, 1 to 20.
    pub operations: usize,
    /// Emulated users.
    pub users: u32,
    /// Seconds.
    pub ramp_up_s: u32,
    /// Seconds.
    pub steady_s: u32,
    /// Seconds.
    pub ramp_down_s: u32,
}

impl Default for Shape {
    /// The DVD Store's four operations, 40 users, 90 s in all.
    fn default() -> Shape {
        let (ramp_up_s, steady_s, ramp_down_s) = (20, 60, 10);
        Shape { ending: Ending::Passed, operations: 4, users: 40, ramp_up_s, steady_s, ramp_down_s }
    }
}

impl Shape {
    /// The default with another ending.
    pub fn ending(ending: Ending) -> Shape {
        Shape { ending, ..Shape::default() }
    }

    /// Seconds that were measured: fewer than planned when the run was cut short.
    pub fn measured_s(&self) -> u32 {
        match self.ending {
            Ending::Interrupted | Ending::Unfinished => self.ramp_up_s + self.steady_s.min(20),
            _ => self.ramp_up_s + self.steady_s + self.ramp_down_s,
        }
    }
}

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
