//! The ledger of calls as the templates see it.

use model::record::calls::{CallLedger, WaitEdge};
use model::record::diagnosis::Doing;
use serde_json::{Value, json};

use super::text::{thin, thin_groups, tier_class};
use crate::calls::{self, HEADING};
use crate::figures;
use crate::stacks::{self, SLOW_HEADING};

/// The tiers from the users to the data, as they stand in the picture; others follow.
const ORDER: [&str; 5] = ["web", "app", "cache", "db", "data"];

/// What `web/calls.html` shows.
pub(super) fn of(ledger: &CallLedger) -> Value {
    let withheld = calls::withheld(ledger);
    let shown = if withheld.is_some() { &[][..] } else { &ledger.tiers };
    let drawn = if withheld.is_some() { &[][..] } else { &ledger.stacks };
    let (slow, wakes) = match withheld {
        Some(_) => (Vec::new(), Vec::new()),
        None => (stacks::slow_rows(ledger), stacks::wakes(ledger)),
    };
    let tables = shown.iter().map(|tier| {
        let table = calls::table(tier, ledger.length_s);
        json!({
            "tier": table.tier,
            "class": tier_class(&table.tier, 0),
            "sentence": thin_groups(&table.sentence),
            "rows": table.rows.iter().map(|row| cells(row)).collect::<Vec<_>>(),
            "closing": thin_groups(&table.closing),
        })
    });
    json!({
        "sentence": thin_groups(&calls::sentence(ledger)),
        "withheld": withheld,
        "heading": HEADING,
        "tables": tables.collect::<Vec<_>>(),
        "slow_heading": SLOW_HEADING,
        "slow": slow.iter().map(|row| cells(row)).collect::<Vec<_>>(),
        "wakes": wakes.iter().map(|line| thin_groups(line)).collect::<Vec<_>>(),
        "waits_drawn": drawn.iter().any(|one| one.stack.cell.doing != Doing::Running),
        "computing_drawn": drawn.iter().any(|one| one.stack.cell.doing == Doing::Running),
        "graph": (!ledger.waits.is_empty()).then(|| graph(&ledger.waits)),
    })
}

/// Numbers stay on one line; what a call was on, in the last column, may be long.
fn cells(row: &[String]) -> Vec<String> {
    let last = row.len().saturating_sub(1);
    row.iter().enumerate().map(|(at, cell)| if at == last { thin_groups(cell) } else { thin(cell) }).collect()
}

/// Boxes in a row, and an arrow for each that waits; numbers are pixels.
const BOX: (f64, f64) = (110.0, 34.0);
const GAP: f64 = 130.0;
const LANE: f64 = 44.0;

/// Who waits for whom, drawn: tiers as boxes, on each arrow how long.
fn graph(waits: &[WaitEdge]) -> Value {
    let mut names: Vec<&str> = waits.iter().flat_map(|edge| [edge.from.as_str(), edge.to.as_str()]).collect();
    let place = |name: &str| ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
    names.sort_by_key(|name| (place(name), name.to_string()));
    names.dedup();
    let x = |name: &str| names.iter().position(|known| *known == name).unwrap_or(0) as f64 * (BOX.0 + GAP);
    let boxes = names.iter().map(|name| json!({"name": name, "x": x(name), "class": tier_class(name, 0)}));
    let most = waits.iter().map(|edge| edge.threads).fold(0.0, f64::max);
    // Arrows between neighbours run beside the boxes' middle; longer ones below, each in a lane of its own.
    let mut lanes = 0.0;
    let arrows: Vec<Value> = waits
        .iter()
        .map(|edge| {
            let (from, to) = (x(&edge.from), x(&edge.to));
            let (start, end) = if to > from { (from + BOX.0, to) } else { (from, to + BOX.0) };
            let next = (to - from).abs() <= BOX.0 + GAP + 1.0;
            let y = BOX.1 / 2.0;
            let (path, label) = if next {
                (format!("M{start} {y}H{end}"), ((start + end) / 2.0, y - 6.0))
            } else {
                lanes += 1.0;
                let below = BOX.1 + LANE * lanes;
                let (start, end) = (from + BOX.0 / 2.0, to + BOX.0 / 2.0);
                let bottom = BOX.1;
                (format!("M{start} {bottom}V{below}H{end}V{bottom}"), ((start + end) / 2.0, below - 6.0))
            };
            let time = edge.s_per_operation.map_or_else(
                || format!("{} threads", figures::number(Some(edge.threads))),
                |s| figures::time(Some(s)),
            );
            json!({
                "path": path,
                "x": label.0,
                "y": label.1,
                "label": thin(&time),
                "width": if most > 0.0 { 1.0 + 4.0 * edge.threads / most } else { 1.0 },
                "title": format!("{} waits for {}", edge.from, edge.to),
            })
        })
        .collect();
    json!({
        "width": names.len() as f64 * (BOX.0 + GAP) - GAP,
        "height": BOX.1 + LANE * lanes,
        "box": {"width": BOX.0, "height": BOX.1},
        "boxes": boxes.collect::<Vec<_>>(),
        "arrows": arrows,
        "lines": waits.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_on_one_line_and_sentences_are_broken() {
        let row = ["fsync", "1.2 ms", "disk: data and 3 more"].map(String::from);
        assert!(!cells(&row)[1].contains(' '), "{:?}", cells(&row));
        assert_eq!(cells(&row)[2], "disk: data and 3 more");
        let shown = of(&CallLedger::default());
        let sentence = shown["sentence"].as_str().expect("a sentence");
        assert!(sentence.split(' ').count() > 5, "a browser can't break it: {sentence:?}");
    }

    #[test]
    fn neighbours_are_joined_straight_and_others_below_the_boxes_between() {
        let edge = |from: &str, to: &str| WaitEdge {
            from: from.into(),
            to: to.into(),
            threads: 1.0,
            ..WaitEdge::default()
        };
        let drawn = graph(&[edge("web", "app"), edge("app", "db"), edge("web", "db")]);
        let arrows = drawn["arrows"].as_array().expect("a list");
        assert_eq!(arrows[0]["path"], "M110 17H240");
        assert_eq!(arrows[2]["path"], "M55 34V78H535V34", "from web below app to db");
        assert_eq!(drawn["boxes"].as_array().map(Vec::len), Some(3));
        assert_eq!(drawn["height"], 78.0);
    }
}
