//! A chart as SVG: two axes, lines, marks of several shapes, bands and limits. Its colours are the page's, by class.

use std::fmt::Write;

use super::escape;
use crate::scale::Scale;
use crate::terminal::shorten;

/// Widths in which every chart is drawn, in pixels: for a screen or paper, and for a phone. The page shows one.
const WIDTHS: [(&str, f64); 2] = [("broad", 760.0), ("narrow", 360.0)];

/// What is drawn.
pub(super) struct Chart<'a> {
    /// What it shows, for those who can't see it.
    pub(super) title: String,
    pub(super) x: Axis<'a>,
    pub(super) y: Axis<'a>,
    /// A part of the x axis that is shaded.
    pub(super) band: Option<(f64, f64)>,
    /// A part of the y axis that is shaded.
    pub(super) y_band: Option<(f64, f64)>,
    /// A dashed line across, with its name.
    pub(super) limit: Option<(f64, String)>,
    pub(super) lines: Vec<Line>,
    pub(super) marks: Vec<Mark>,
    pub(super) height: f64,
}

/// An axis with what stands at its ticks.
pub(super) struct Axis<'a> {
    pub(super) scale: Scale,
    /// Labels: fixed ones, or made of round values.
    pub(super) labels: Labels<'a>,
    /// What it counts.
    pub(super) unit: String,
}

/// What stands at an axis.
pub(super) enum Labels<'a> {
    /// At round values.
    Round(Box<dyn Fn(f64) -> String + 'a>),
    /// At these values and no others.
    At(Vec<(f64, String)>),
}

/// Points in the order in which they are joined.
pub(super) struct Line {
    pub(super) class: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// A point with its shape.
pub(super) struct Mark {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) shape: Shape,
    pub(super) class: String,
    /// What the pointer shows.
    pub(super) title: String,
    pub(super) whisker: Option<(f64, f64)>,
}

/// What a point looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Diamond,
    Dot,
}

/// The inside of a chart, in pixels.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Chart<'_> {
    /// The chart in every width.
    pub(super) fn svg(&self) -> String {
        WIDTHS.iter().map(|(class, width)| self.in_width(class, *width)).collect()
    }

    fn in_width(&self, class: &str, width: f64) -> String {
        let narrow = width < 500.0;
        let y_ticks = self.y.ticks(if narrow { 5 } else { 6 });
        let longest = y_ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
        let left = 14.0 + 6.6 * longest as f64;
        let frame = Frame { left, top: 12.0, width: width - left - 16.0, height: self.height - 52.0 };
        let mut body = String::new();
        self.bands(&frame, &mut body);
        self.axes(&frame, &y_ticks, narrow, &mut body);
        let names: String = self.limits(&frame, &mut body);
        self.lines.iter().for_each(|line| self.line(&frame, line, &mut body));
        self.marks.iter().for_each(|mark| self.mark(&frame, mark, &mut body));
        body.push_str(&names);
        let title = escape(&self.title);
        format!(
            "<svg class=\"chart {class}\" viewBox=\"0 0 {width} {}\" role=\"img\" aria-label=\"{title}\">{body}</svg>",
            self.height
        )
    }

    fn bands(&self, frame: &Frame, body: &mut String) {
        if let Some((low, high)) = self.band {
            let inside = |x: f64| self.x_at(frame, x).clamp(frame.left, frame.left + frame.width);
            let (left, right) = (inside(low), inside(high));
            rect(body, "band", (left, frame.top), ((right - left).max(1.0), frame.height));
        }
        if let Some((low, high)) = self.y_band {
            let inside = |y: f64| self.y_at(frame, y).clamp(frame.top, frame.top + frame.height);
            let (bottom, top) = (inside(low), inside(high));
            rect(body, "band", (frame.left, top), (frame.width, (bottom - top).max(1.0)));
        }
    }

    fn axes(&self, frame: &Frame, y_ticks: &[(f64, String)], narrow: bool, body: &mut String) {
        let (right, bottom) = (frame.left + frame.width, frame.top + frame.height);
        for (value, label) in y_ticks {
            let y = self.y_at(frame, *value);
            add(body, format_args!("<path class=\"grid\" d=\"M{:.1} {y:.1}H{right:.1}\"/>", frame.left));
            text(body, "end", (frame.left - 7.0, y + 4.0), label);
        }
        add(body, format_args!("<path class=\"axis\" d=\"M{:.1} {bottom:.1}H{right:.1}\"/>", frame.left));
        let mut free = f64::MIN;
        let ticks = self.x.ticks(if narrow { 5 } else { 10 });
        // Names are cut to their share of the axis; a number that is cut would be another number.
        let room = ((frame.width / ticks.len().max(1) as f64 - 8.0) / 6.8).max(4.0) as usize;
        for (value, label) in ticks {
            let named = label.starts_with(|c: char| c.is_alphabetic());
            let label = if named { shorten(&label, room) } else { label };
            let x = self.x_at(frame, value);
            let half = 3.4 * label.chars().count() as f64;
            // A label may reach beyond the frame by the margin, but not beyond the picture.
            let middle = x.min(right + 14.0 - half).max(half);
            if label.is_empty() || middle - half < free {
                continue;
            }
            free = middle + half + 8.0;
            add(body, format_args!("<path class=\"axis\" d=\"M{x:.1} {bottom:.1}v4\"/>"));
            text(body, "middle", (middle, bottom + 18.0), &label);
        }
        text(body, "end", (right, bottom + 35.0), &self.x.unit);
        if !self.y.unit.is_empty() {
            text(body, "start", (frame.left + 6.0, frame.top + 10.0), &self.y.unit);
        }
    }

    /// Draws the limit; its name is given back, to stand above everything else.
    fn limits(&self, frame: &Frame, body: &mut String) -> String {
        let Some((limit, name)) = self.limit.as_ref().filter(|(limit, _)| self.y.scale.holds(*limit)) else {
            return String::new();
        };
        let (y, right) = (self.y_at(frame, *limit), frame.left + frame.width);
        add(body, format_args!("<path class=\"limit\" d=\"M{:.1} {y:.1}H{right:.1}\"/>", frame.left));
        let above = if y > frame.top + 26.0 { y - 6.0 } else { y + 15.0 };
        let mut label = String::new();
        add(
            &mut label,
            format_args!(
                "<text class=\"limit-name\" x=\"{:.1}\" y=\"{above:.1}\">{}</text>",
                frame.left + 6.0,
                escape(name)
            ),
        );
        label
    }

    fn line(&self, frame: &Frame, line: &Line, body: &mut String) {
        let mut path = String::new();
        for (index, (x, y)) in line.points.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let y = self.y_at(frame, *y).clamp(frame.top, frame.top + frame.height);
            add(&mut path, format_args!("{command}{:.1} {y:.1}", self.x_at(frame, *x)));
        }
        add(body, format_args!("<path class=\"line {}\" d=\"{path}\"/>", line.class));
    }

    fn mark(&self, frame: &Frame, mark: &Mark, body: &mut String) {
        let (x, y) = (self.x_at(frame, mark.x), self.y_at(frame, mark.y));
        if let Some((low, high)) = mark.whisker {
            let clamp = |value: f64| self.y_at(frame, value).clamp(frame.top, frame.top + frame.height);
            let (low, high) = (clamp(low), clamp(high));
            add(
                body,
                format_args!(
                    "<path class=\"whisker {}\" d=\"M{x:.1} {low:.1}V{high:.1}m-3 0h6M{:.1} {low:.1}h6\"/>",
                    mark.class,
                    x - 3.0
                ),
            );
        }
        add(
            body,
            format_args!(
                "<path class=\"mark {}\" d=\"{}\"><title>{}</title></path>",
                mark.class,
                mark.shape.path(x, y),
                escape(&mark.title)
            ),
        );
    }

    fn x_at(&self, frame: &Frame, x: f64) -> f64 {
        frame.left + self.x.scale.place(x).clamp(-0.02, 1.02) * frame.width
    }

    fn y_at(&self, frame: &Frame, y: f64) -> f64 {
        frame.top + (1.0 - self.y.scale.place(y).clamp(-0.02, 1.02)) * frame.height
    }
}

impl Axis<'_> {
    fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        match &self.labels {
            Labels::At(labels) => labels.clone(),
            Labels::Round(label) => {
                self.scale.ticks(most).into_iter().map(|tick| (tick, label(tick))).collect()
            }
        }
    }
}

impl Shape {
    /// Its outline around a point.
    pub(super) fn path(self, x: f64, y: f64) -> String {
        match self {
            Shape::Circle => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", x - 4.0),
            Shape::Dot => format!("M{:.1} {y:.1}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0z", x - 2.5),
            Shape::Square => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
            Shape::Diamond => format!("M{x:.1} {:.1}l5.5 5.5l-5.5 5.5l-5.5 -5.5z", y - 5.5),
        }
    }
}

/// Appends to a text, which can't fail.
pub(super) fn add(body: &mut String, what: std::fmt::Arguments<'_>) {
    body.write_fmt(what).expect("a String takes every text");
}

pub(super) fn text(body: &mut String, anchor: &str, (x, y): (f64, f64), label: &str) {
    add(
        body,
        format_args!("<text text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(label)),
    );
}

pub(super) fn rect(body: &mut String, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
    add(
        body,
        format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        ),
    );
}

/// The widths for drawings that are no [`Chart`].
pub(super) fn widths() -> impl Iterator<Item = (&'static str, f64)> {
    WIDTHS.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::Kind;

    fn axis(low: f64, high: f64) -> Axis<'static> {
        let labels = Labels::Round(Box::new(|value| format!("{value}")));
        Axis { scale: Scale { kind: Kind::Linear, low, high }, labels, unit: "users".into() }
    }

    #[test]
    fn a_mark_stands_at_its_place_and_nothing_outside_of_the_picture() {
        let mark = |x: f64, y: f64| Mark {
            x,
            y,
            shape: Shape::Square,
            class: "passed".into(),
            title: "<trial>".into(),
            whisker: Some((y - 1e9, y + 1e9)),
        };
        let chart = Chart {
            title: "a \"title\"".into(),
            x: axis(0.0, 10.0),
            y: axis(0.0, 10.0),
            band: Some((2.0, 3.0)),
            y_band: None,
            limit: Some((5.0, "limit".into())),
            lines: vec![Line { class: "p95".into(), points: vec![(0.0, 0.0), (10.0, 1e12)] }],
            marks: vec![mark(0.0, 0.0), mark(10.0, 10.0)],
            height: 200.0,
        };
        let svg = chart.svg();
        assert_eq!(svg.matches("<svg").count(), 2, "one for a screen, one for a phone");
        assert!(
            svg.contains("aria-label=\"a &quot;title&quot;\"")
                && svg.contains("<title>&lt;trial&gt;</title>")
        );
        // Top left of the second mark: the frame's right end less half of it, in the broad picture.
        assert!(svg.contains("d=\"M740.5 8.5h7v7h-7z\""), "{svg}");
        assert!(!svg.contains("1e") && !svg.contains("NaN"), "{svg}");
    }
}
