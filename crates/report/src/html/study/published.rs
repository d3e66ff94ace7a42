//! Published figures beside ours, on the page: a table and a chart for each.

use model::StudyRecord;
use model::study::{Published, PublishedRow, Sweep};
use serde_json::{Value, json};

use super::chart::{Axis, Chart, Labels, Mark, Shape};
use crate::figures;
use crate::scale::{Kind, Scale};
use crate::study::sweep::published::{self, Row};

/// How far the two marks of a row stand from its place, in rows.
const APART: f64 = 0.14;

/// The tables of a sweep.
pub(super) fn of(record: &StudyRecord, sweep: &Sweep) -> Vec<Value> {
    let one = |table: &Published| {
        let claims = published::claims(record, sweep, table).into_iter();
        json!({
            "title": table.title,
            "unit": table.unit,
            "of": table.of,
            "source": table.source,
            "rows": published::rows(table).iter().enumerate().map(row).collect::<Vec<_>>(),
            "base": published::base(table),
            "order": published::order(table),
            "claims": claims.map(|(says, found)| json!({"says": says, "found": found})).collect::<Vec<_>>(),
            "chart": chart(table),
        })
    };
    sweep.published.iter().map(one).collect()
}

/// What differs; empty where nothing was published.
pub(super) fn differs(record: &StudyRecord, sweep: &Sweep) -> Vec<String> {
    let wanted = !sweep.published.is_empty() || !sweep.differs.is_empty();
    if wanted { published::differs(record, sweep) } else { Vec::new() }
}

fn row((at, row): (usize, &Row)) -> Value {
    json!({
        "number": at + 1,
        "label": row.label,
        "published": row.published,
        "ours": row.ours,
        "interval": row.interval,
        "ratio": row.ratio,
        "ours_ratio": row.ours_ratio,
        "ratio_interval": row.ratio_interval,
    })
}

/// Both sides' ratios to the base row: shapes compare where absolute numbers do not.
fn chart(table: &Published) -> Option<Value> {
    let base = table.base.and_then(|base| table.rows.get(base))?;
    let mut marks = Vec::new();
    for (at, row) in table.rows.iter().enumerate() {
        let x = (at + 1) as f64;
        marks.extend(
            row.ratio.map(|ratio| mark(x - APART, ratio, Shape::Diamond, ("quiet", "published"), row, None)),
        );
        marks.extend(row.ours_ratio.map(|ours| {
            mark(x + APART, ours.value, Shape::Circle, ("plain", "ours"), row, ours.low.zip(ours.high))
        }));
    }
    let ends = marks.iter().flat_map(|mark| {
        let (low, high) = mark.whisker.unwrap_or((mark.y, mark.y));
        [low, mark.y, high]
    });
    let y = Scale::log(ends, 0.08)?;
    let places = 1..=table.rows.len();
    let chart = Chart {
        title: format!("{}: published and measured, as ratios to {}", table.title, base.label),
        x: Axis {
            scale: Scale { kind: Kind::Linear, low: 0.5, high: table.rows.len() as f64 + 0.5 },
            labels: Labels::At(places.map(|at| (at as f64, at.to_string())).collect()),
            unit: "row of the table".into(),
        },
        y: Axis {
            scale: y,
            labels: Labels::Round(Box::new(|value| figures::number(Some(value)))),
            unit: format!("ratio to {}", base.label),
        },
        band: None,
        y_band: None,
        limit: None,
        lines: Vec::new(),
        marks,
        height: 260.0,
    };
    let legend = [("even", "published"), ("ink-1", "ours, with its 95 % interval")];
    let legend = legend.map(|(class, name)| json!({"class": class, "name": name}));
    Some(json!({"title": format!("{}, as a ratio", table.title), "legend": legend, "svg": chart.svg()}))
}

fn mark(
    x: f64,
    y: f64,
    shape: Shape,
    (class, who): (&str, &str),
    row: &PublishedRow,
    whisker: Option<(f64, f64)>,
) -> Mark {
    let title = format!("{}, {who}: {}", row.label, figures::number(Some(y)));
    Mark { x, y, shape, class: class.into(), title, whisker }
}
