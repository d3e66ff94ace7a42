//! A study's charts, drawn with letters.

use crate::figures;
use crate::scale::{Kind, Scale};
use crate::study::chart::{Axis, Chart, Drawing, Labels, Mark, Shape, Style};
use crate::terminal::draw::sparkline;
use crate::terminal::plot::Plot;
use model::outside::one_line as plain;

/// The chart below its heading; nothing of one that a terminal doesn't draw.
pub(super) fn drawing(chart: &Chart, width: usize) -> String {
    match &chart.drawing {
        None => String::new(),
        Some(Drawing::Points(heading)) => {
            points(chart, width).map(|plot| format!("{}\n{plot}", plain(heading))).unwrap_or_default()
        }
        Some(Drawing::Intervals(heading)) => format!("{}\n{}", plain(heading), intervals(chart, width)),
        Some(Drawing::Sparklines { heading, rows, unit }) => {
            format!("{}\n{}", plain(heading), sparklines(rows, unit, width))
        }
    }
}

/// A mark's letter.
pub(super) fn letter(shape: Shape, style: Style) -> char {
    match (style, shape) {
        (Style::Few, _) => '△',
        (Style::Void, _) => '×',
        (Style::Solid, Shape::Circle) => '○',
        (Style::Solid, Shape::Square | Shape::Dot) => '●',
        (Style::Solid, Shape::Diamond) => '◆',
    }
}

/// The marks as letters; logarithmic axes reach no further than these.
fn points(chart: &Chart, width: usize) -> Option<String> {
    let limit = chart.limit.as_ref().map(|(limit, _)| *limit);
    let values = || chart.marks.iter().map(|mark| mark.y).chain(limit);
    let places = || chart.marks.iter().map(|mark| mark.x);
    let x = match chart.x.scale.kind {
        Kind::Log => Scale::log(places(), 0.02),
        Kind::Linear => places().next().map(|_| chart.x.scale),
    };
    let y = match chart.y.scale.kind {
        Kind::Log => Scale::log(values(), 0.03),
        Kind::Linear if chart.y.scale.low == 0.0 => Scale::from_zero(values()),
        Kind::Linear => Some(chart.y.scale),
    };
    let letter = |mark: &Mark| letter(mark.shape, mark.style);
    let plot = Plot {
        x: x?,
        y: y?,
        points: chart.marks.iter().map(|mark| (mark.x, mark.y, letter(mark))).collect(),
        limit: limit.map(|limit| (limit, "limit")),
        band: chart.x_band,
        x_label: &|value| label(&chart.x, value),
        y_label: &|value| label(&chart.y, value),
        unit: &chart.x.unit,
    };
    Some(plot.lines(width))
}

fn label(axis: &Axis, value: f64) -> String {
    match &axis.labels {
        Labels::Round(format) => format.label(value),
        Labels::At(labels) => {
            labels.iter().find(|(at, _)| *at == value).map(|(_, label)| plain(label)).unwrap_or_default()
        }
    }
}

/// Each mark's interval on one axis, with the shaded band behind; the y axis has a name for each mark.
fn intervals(chart: &Chart, width: usize) -> String {
    let scale = chart.x.scale;
    let names: Vec<String> = chart.marks.iter().map(|mark| label(&chart.y, mark.y)).collect();
    let left = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let cells = width.saturating_sub(left + 4).max(20);
    let column = |value: f64| (scale.position(value).clamp(0.0, 1.0) * (cells - 1) as f64).round() as usize;
    let mut text = String::new();
    for (mark, name) in chart.marks.iter().zip(&names) {
        let mut line = vec![' '; cells];
        if let Some((low, high)) = chart.x_band {
            line[column(low)..=column(high)].fill('░');
        }
        if let Some((low, high)) = mark.interval.map(|(low, high)| (column(low), column(high))) {
            line[low..=high].fill('─');
            (line[low], line[high]) = ('├', '┤');
        }
        line[column(mark.x)] = '●';
        text.push_str(format!("  {name:<left$}  {}", line.into_iter().collect::<String>()).trim_end());
        text.push('\n');
    }
    let mut axis = vec![' '; cells];
    let lines = chart.lines.iter().filter_map(|line| line.points.first()).map(|point| point.0);
    for value in [scale.low, scale.high].into_iter().chain(lines) {
        let label: Vec<char> = label(&chart.x, value).chars().collect();
        let begins = column(value).saturating_sub(label.len() / 2).min(cells - label.len());
        axis[begins..begins + label.len()].copy_from_slice(&label);
    }
    let axis: String = axis.into_iter().collect();
    text + format!("  {:<left$}  {}", "", axis.trim_end()).as_str() + "\n"
}

/// A row for each name: how its values rise and fall, and between which ends.
fn sparklines(rows: &[(String, Vec<f64>)], unit: &str, width: usize) -> String {
    let widest = rows.iter().map(|(name, _)| plain(name).chars().count()).max().unwrap_or(0);
    let row = |(name, values): &(String, Vec<f64>)| {
        let (min, max) =
            values.iter().fold((f64::MAX, f64::MIN), |(min, max), value| (min.min(*value), max.max(*value)));
        let (min, max) = (figures::number(Some(min)), figures::number(Some(max)));
        let range = if min == max { max } else { format!("{min} to {max}") };
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        let line = sparkline(&values, width.saturating_sub(widest + 30));
        format!("  {:<widest$}  {line}  {range} {unit}\n", plain(name))
    };
    rows.iter().map(row).collect()
}
