//! A chart as data: points with their intervals, lines, a limit and shaded parts against two axes. The page's code draws
//! it, and so does the terminal.

use serde::{Serialize, Serializer};

use crate::figures;
use crate::scale::{Kind, Scale};
use crate::study::words;

/// Labels of an axis, at most: in a broad picture and in a narrow one.
const X_LABELS: [usize; 2] = [10, 5];
const Y_LABELS: [usize; 2] = [6, 5];

/// What is drawn.
#[derive(Serialize)]
pub(crate) struct Chart {
    /// Which of the page's charts it is, from 0; the page counts them.
    pub(crate) number: usize,
    /// Its heading on the page.
    pub(crate) title: String,
    /// What it shows, for those who can't see it.
    pub(crate) label: String,
    #[serde(serialize_with = "x_axis")]
    pub(crate) x: Axis,
    #[serde(serialize_with = "y_axis")]
    pub(crate) y: Axis,
    /// A part of the x axis that is shaded.
    pub(crate) x_band: Option<(f64, f64)>,
    /// A part of the y axis that is shaded.
    pub(crate) y_band: Option<(f64, f64)>,
    /// A dashed line across, with its name.
    pub(crate) limit: Option<(f64, String)>,
    pub(crate) lines: Vec<Line>,
    /// Each line bears its name where there is room for it.
    pub(crate) names: bool,
    pub(crate) marks: Vec<Mark>,
    /// What colours mean, where it has several.
    pub(crate) legend: Vec<Legend>,
    /// Of the whole picture, in pixels.
    pub(crate) height: f64,
    /// How a terminal draws it, if it does.
    #[serde(skip)]
    pub(crate) drawing: Option<Drawing>,
}

/// How a terminal draws a chart, and its heading there.
pub(crate) enum Drawing {
    /// Its points as letters between two axes.
    Points(String),
    /// A row for each mark, with its interval.
    Intervals(String),
    /// Rows of values with a name each, by height, with their range in that unit.
    Sparklines { heading: String, rows: Vec<(String, Vec<f64>)>, unit: &'static str },
}

/// An axis with what stands at its ticks.
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    pub(crate) labels: Labels,
    /// What it counts.
    pub(crate) unit: String,
}

/// What stands at an axis.
pub(crate) enum Labels {
    /// Round values.
    Round(Format),
    /// These values and no others.
    At(Vec<(f64, String)>),
}

/// How a value at an axis is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Number,
    /// Numbers without a fraction, and nothing at others: there are no half users.
    Whole,
    /// Seconds.
    Duration,
    /// A share.
    Percent,
    /// A number a second.
    PerS,
    /// A ratio as a change.
    Change,
}

/// Points in the order in which they are joined.
#[derive(Serialize)]
pub(crate) struct Line {
    /// What it is; empty where that is plain.
    pub(crate) name: String,
    /// The CSS variable of its colour.
    pub(crate) ink: String,
    pub(crate) dotted: bool,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A point with its shape.
#[derive(Serialize)]
pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) shape: Shape,
    pub(crate) style: Style,
    /// The CSS variable of its colour.
    pub(crate) ink: String,
    /// What it is in words, with its values.
    pub(crate) title: String,
    /// Its interval: along the y axis, or along the x axis where the y axis has names.
    pub(crate) interval: Option<(f64, f64)>,
}

impl Mark {
    /// Its value and both ends of its interval: what an axis has to reach.
    pub(crate) fn ends(&self) -> [f64; 3] {
        let (low, high) = self.interval.unwrap_or((self.y, self.y));
        [low, self.y, high]
    }
}

/// What a point looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shape {
    Circle,
    Square,
    Diamond,
    Dot,
}

/// How far a point counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Style {
    /// It counts.
    Solid,
    /// By too few samples.
    Few,
    /// Not at all.
    Void,
}

/// A colour and what it stands for.
#[derive(Serialize)]
pub(crate) struct Legend {
    pub(crate) ink: String,
    pub(crate) name: String,
    /// Its line is dotted.
    pub(crate) dotted: bool,
}

impl Chart {
    /// A chart of nothing yet: without band, limit, lines, marks and legend.
    pub(crate) fn new(title: impl Into<String>, label: impl Into<String>, x: Axis, y: Axis) -> Chart {
        Chart {
            number: 0,
            title: title.into(),
            label: label.into(),
            x,
            y,
            x_band: None,
            y_band: None,
            limit: None,
            lines: Vec::new(),
            names: false,
            marks: Vec::new(),
            legend: Vec::new(),
            height: 240.0,
            drawing: None,
        }
    }
}

impl Axis {
    pub(crate) fn round(scale: Scale, format: Format, unit: impl Into<String>) -> Axis {
        Axis { scale, labels: Labels::Round(format), unit: unit.into() }
    }

    pub(crate) fn at(scale: Scale, labels: Vec<(f64, String)>, unit: impl Into<String>) -> Axis {
        Axis { scale, labels: Labels::At(labels), unit: unit.into() }
    }

    /// Places 1, 2, 3 … up to `last`, each named by its number.
    pub(crate) fn numbered(last: usize, unit: impl Into<String>) -> Axis {
        let scale = Scale { kind: Kind::Linear, low: 0.5, high: last as f64 + 0.5 };
        Axis::at(scale, (1..=last).map(|at| (at as f64, at.to_string())).collect(), unit)
    }

    /// At most `max` values, each with its label; labels that are fixed are all there.
    fn ticks(&self, max: usize) -> Vec<(f64, String)> {
        match &self.labels {
            Labels::At(labels) => labels.clone(),
            Labels::Round(format) => {
                self.scale.ticks(max).into_iter().map(|tick| (tick, format.label(tick))).collect()
            }
        }
    }

    fn serialize<S: Serializer>(
        &self,
        [broad, narrow]: [usize; 2],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Drawn<'a> {
            low: f64,
            high: f64,
            log: bool,
            fixed: bool,
            unit: &'a str,
            broad: Vec<(f64, String)>,
            narrow: Vec<(f64, String)>,
        }
        let Scale { kind, low, high } = self.scale;
        let (broad, narrow) = (self.ticks(broad), self.ticks(narrow));
        let fixed = matches!(self.labels, Labels::At(_));
        Drawn { low, high, log: kind == Kind::Log, fixed, unit: &self.unit, broad, narrow }
            .serialize(serializer)
    }
}

fn x_axis<S: Serializer>(axis: &Axis, serializer: S) -> Result<S::Ok, S::Error> {
    axis.serialize(X_LABELS, serializer)
}

fn y_axis<S: Serializer>(axis: &Axis, serializer: S) -> Result<S::Ok, S::Error> {
    axis.serialize(Y_LABELS, serializer)
}

impl Format {
    /// `value` as it stands at an axis: round, without the digits that only a measurement has.
    pub(crate) fn label(self, value: f64) -> String {
        match self {
            Format::Number => figures::number(Some(value)),
            Format::Whole if (value - value.round()).abs() >= 1e-6 * value.abs().max(1.0) => String::new(),
            Format::Whole => figures::number(Some(value.round())),
            Format::Duration => figures::duration(Some(value)),
            Format::Percent => figures::percent(Some(value)),
            Format::PerS => words::per_s(Some(value)),
            Format::Change => words::round_change(value),
        }
    }
}

impl Legend {
    pub(crate) fn new(ink: impl Into<String>, name: impl Into<String>) -> Legend {
        Legend { ink: ink.into(), name: name.into(), dotted: false }
    }
}

impl Line {
    pub(crate) fn new(ink: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line { name: String::new(), ink: ink.into(), dotted: false, points }
    }

    /// The line as its colour's legend has it.
    pub(crate) fn legend(&self) -> Legend {
        Legend { dotted: self.dotted, ..Legend::new(&self.ink, &self.name) }
    }
}
