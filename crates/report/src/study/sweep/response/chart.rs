//! A panel as a picture: a rising line for each cell, from its fastest operation to its slowest.

use analysis::mixture::{curve, percentile_s};
use model::record::study::Sweep;

use super::PERCENTS;
use super::panels::{CellTimes, Panel, PublishedPercentile};
use crate::figures;
use crate::scale::{Kind, Scale};
use crate::study::chart::{Axis, Chart, Format, Line, Mark, Shape, Style};

/// Colours of lines, `series-1` to this one; further lines have the same colours and are dotted.
const INKS: usize = 6;

/// The picture; absent where no cell has as many samples as a median takes.
pub(super) fn chart(sweep: &Sweep, panel: &Panel) -> Option<Chart> {
    let lines: Vec<Line> = panel.lines.iter().map(line).collect();
    let marks: Vec<Mark> = panel.lines.iter().flat_map(marks).collect();
    let times_s = lines.iter().flat_map(|line| &line.points).map(|point| point.0);
    let x = Scale::log(times_s.chain(marks.iter().map(|mark| mark.x)), 0.02)?;
    let y = Scale { kind: Kind::Linear, low: 0.0, high: 1.0 };
    let title = match panel.title.as_str() {
        "" => sweep.title.as_str(),
        title => title,
    };
    Some(Chart {
        legend: lines.iter().map(Line::legend).collect(),
        names: true,
        lines,
        marks,
        height: 320.0,
        ..Chart::new(
            title,
            format!("{title}: the share of operations that was answered within a time"),
            Axis::round(x, Format::Duration, "response time"),
            Axis::round(y, Format::Percent, "of operations are answered within"),
        )
    })
}

fn line(cell: &CellTimes) -> Line {
    let points = curve(&cell.times).into_iter().map(|(percent, time_s)| (time_s, share(percent)));
    Line { name: cell.name.clone(), dotted: is_second(cell), ..Line::new(ink(cell), points.collect()) }
}

/// `series-1`.
fn ink(cell: &CellTimes) -> String {
    format!("series-{}", cell.look % INKS + 1)
}

/// Its colour is another line's, too.
fn is_second(cell: &CellTimes) -> bool {
    cell.look / INKS % 2 == 1
}

/// Without the digits that a division by 100 leaves.
fn share(percent: f64) -> f64 {
    (percent * 1e4).round() / 1e6
}

/// Our percentiles, small and full, and the published ones, large and hollow.
fn marks(cell: &CellTimes) -> Vec<Mark> {
    let mark = |percent: f64, time_s: f64, who: &str| Mark {
        x: time_s,
        y: share(percent),
        shape: Shape::Dot,
        style: Style::Solid,
        ink: ink(cell),
        title: format!("{who}: {percent} % within {}", figures::time(Some(time_s))),
        interval: None,
    };
    let ours = PERCENTS.iter().filter_map(|percent| {
        let time_s = percentile_s(&cell.times, *percent)?;
        Some(mark(*percent, time_s, &cell.name))
    });
    let shape = if is_second(cell) { Shape::Square } else { Shape::Diamond };
    let theirs = cell.published.iter().map(|PublishedPercentile { label, percent, time_s }| Mark {
        shape,
        style: Style::Few,
        ..mark(*percent, *time_s, &format!("{label}, published"))
    });
    ours.chain(theirs).collect()
}
