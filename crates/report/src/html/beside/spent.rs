//! The runs' ledgers side by side: a bar for each run, and the table behind them.

use model::record::diagnosis::Doing;
use serde_json::{Value, json};

use crate::beside::{Beside, SpentPart};
use crate::figures;
use crate::html::text::tier_class;

/// What `web/beside.html` shows of them; null where no run has a ledger.
pub(super) fn view(beside: &Beside) -> Value {
    if beside.spent.is_empty() {
        return Value::Null;
    }
    let bars = beside.runs.iter().enumerate().map(|(index, run)| bar(&run.label, index, &beside.spent));
    let without = beside.runs.iter().enumerate();
    let without = without.filter(|(index, _)| beside.spent.iter().all(|part| part.runs[*index].is_none()));
    json!({
        "bars": bars.collect::<Vec<_>>(),
        "rows": beside.spent.iter().map(row).collect::<Vec<_>>(),
        "without": without.map(|(_, run)| run.label.as_str()).collect::<Vec<_>>(),
    })
}

/// The parts of one run, each from where the one before ended, in percent of the whole.
fn bar(label: &str, index: usize, all: &[SpentPart]) -> Value {
    let mut from = 0.0;
    let of_run = all.iter().filter_map(|part| Some((part, part.runs.get(index)?.as_ref()?)));
    let parts = of_run.map(|(part, time)| {
        let view = json!({
            "class": class(part),
            "from": tenths(from),
            "width": tenths(time.share_ratio),
            "title": format!("{}: {}, {}", time.name, figures::time(Some(time.s_per_operation)), figures::percent(Some(time.share_ratio))),
        });
        from += time.share_ratio;
        view
    });
    json!({ "label": label, "parts": parts.collect::<Vec<_>>() })
}

fn row(part: &SpentPart) -> Value {
    let name = part.name();
    let cells = part.runs.iter().map(|time| {
        let Some(time) = time else { return Value::Null };
        json!({
            "time": figures::time(Some(time.s_per_operation)),
            "share": figures::percent(Some(time.share_ratio)),
            "name": (time.name != name).then_some(&time.name),
        })
    });
    json!({ "name": name, "class": class(part), "cells": cells.collect::<Vec<_>>() })
}

fn class(part: &SpentPart) -> String {
    let colour = part.tier.as_deref().map_or("rest".to_string(), |tier| tier_class(tier, 0));
    let waits = part.doing.filter(|doing| *doing != Doing::Running);
    waits.map_or(colour.clone(), |_| format!("{colour} waits"))
}

fn tenths(ratio: f64) -> f64 {
    (ratio * 1000.0).round() / 10.0
}
