//! Courses as charts: a line for each run.

use serde_json::{Value, json};

use crate::beside::{Beside, Course, CourseMeasure};
use crate::figures;
use crate::scale::Scale;
use crate::study::chart::{Axis, Chart, Format, Line, Mark, Shape, Style};

/// Colours that can be told apart; the runs after them have the same again, dotted.
const INKS: usize = 6;

/// How the line of a run is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ink {
    number: usize,
    dotted: bool,
}

/// That of the run with this index.
pub(super) fn ink(index: usize) -> Ink {
    Ink { number: index % INKS + 1, dotted: index >= INKS }
}

impl Ink {
    pub(super) fn json(self) -> Value {
        json!({ "number": self.number, "dotted": self.dotted })
    }

    fn name(self) -> String {
        format!("series-{}", self.number)
    }
}

/// A chart for each course of `beside`, numbered.
pub(super) fn charts(beside: &Beside) -> Vec<Chart> {
    let all = beside.courses.iter().filter_map(|course| chart(beside, course));
    all.enumerate().map(|(number, chart)| Chart { number, ..chart }).collect()
}

fn chart(beside: &Beside, course: &Course) -> Option<Chart> {
    let points = || course.runs.iter().flatten();
    let (title, format) = match &course.measure {
        CourseMeasure::OperationsPerS => ("Operations completed per second".to_string(), Format::PerS),
        CourseMeasure::ResponseP95S => ("Response time, p95 of all operations".to_string(), Format::Duration),
        CourseMeasure::CpuCores { tier } => (format!("CPU of {tier}, cores"), Format::Number),
    };
    let x = Axis::round(
        Scale::around(points().map(|(at, _)| *at), 0.02)?,
        Format::Whole,
        "s of the steady state",
    );
    let values = points().map(|(_, value)| *value);
    // Response times of one run may be a hundred times those of another, and both are read.
    let scale = match course.measure {
        CourseMeasure::ResponseP95S => Scale::log(values, 0.05)?,
        _ => Scale::from_zero(values)?,
    };
    let y = Axis::round(scale, format, "");
    let runs = || beside.labels().zip(&course.runs).enumerate();
    let lines = runs().map(|(index, (label, points))| {
        let Ink { dotted, .. } = ink(index);
        Line { name: label.to_string(), dotted, ..Line::new(ink(index).name(), points.clone()) }
    });
    let marks = runs().flat_map(|(index, (label, points))| {
        points.iter().map(move |(at, value)| Mark {
            x: *at,
            y: *value,
            shape: Shape::Dot,
            style: Style::Solid,
            ink: ink(index).name(),
            title: format!("{label} at {} s: {}", figures::number(Some(*at)), shown(format, *value)),
            interval: None,
        })
    });
    let counted_s = beside.runs.iter().map(|run| run.steady_s).fold(f64::INFINITY, f64::min);
    Some(Chart {
        x_band: Some((0.0, counted_s)),
        lines: lines.collect(),
        marks: marks.collect(),
        height: 200.0,
        ..Chart::new(&title, format!("{title}, over the time since each steady state began"), x, y)
    })
}

/// A measured value, with the digits that it has.
fn shown(format: Format, value: f64) -> String {
    match format {
        Format::Duration => figures::time(Some(value)),
        _ => format.label(value),
    }
}
