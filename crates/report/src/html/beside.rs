//! Runs side by side as the inside of a page's main part; its frame is the laboratory's.

mod courses;
mod spent;

use serde_json::{Value, json};

use super::bundle;
use super::environment::environment;
use super::text::visible_json;
use crate::beside::{Beside, Change, ComparedFigure, FileChange, FileDifference, Judged, Measure, RunBeside};
use crate::{figures, headline};

const TEMPLATE: &str = include_str!("../../../../web/beside.html");

/// Runs side by side, as a page shows them.
#[derive(Debug, Clone)]
pub struct BesideHtml {
    /// The inside of its main part, in the classes of `web/page.css` and `web/study.css`. Runs are links to `/runs/ID`.
    pub inside: String,
    /// What `web/main.mjs` draws its charts from: JSON that nothing in it can end the `<script>` of.
    pub data: String,
}

/// `beside` for a page. Whatever servers and users supplied is escaped; there is neither a script nor a style in it.
pub fn beside(beside: &Beside) -> BesideHtml {
    let charts = courses::charts(beside);
    let data = json!({ "charts": visible_json(json!(charts)) });
    let view = visible_json(context(beside, json!(charts)));
    let inside = environment()
        .render_str(TEMPLATE, minijinja::Value::from(minijinja::value::Serde(view)))
        .expect("the template is a constant and the context has every name in it; a test renders each part");
    BesideHtml { inside, data: bundle::in_script(&data.to_string()) }
}

fn context(beside: &Beside, charts: Value) -> Value {
    let runs = beside.runs.iter().enumerate().map(|(index, run)| {
        let mut view = json!(run);
        view["address"] = format!("/runs/{}", run.id).into();
        view["is_base"] = (index == beside.base).into();
        view["class"] = class_of_tone(&run.tone).into();
        view
    });
    let failed = beside.runs.iter().filter_map(|run| {
        let names = [beside.base_label(), run.label.as_str()];
        Some(headline::sentence(&wording::compare::failures_of(run.failed.as_ref()?, names)))
    });
    let no_result = beside.runs.iter().filter(|run| !run.valid).map(|run| run.label.as_str());
    let said = |run: &RunBeside| run.pinned || !run.tags.is_empty() || !run.note.is_empty();
    json!({
        "with_notes": beside.runs.iter().any(said),
        "runs": runs.collect::<Vec<_>>(),
        "base_label": beside.base_label(),
        "not_comparable": beside.not_comparable.as_deref().map(headline::sentence),
        "differences": beside.differences,
        "uncounted": beside.uncounted,
        "configuration": beside.configuration.iter().map(|file| file_view(beside, file)).collect::<Vec<_>>(),
        "figures": beside.figures.iter().map(figure_view).collect::<Vec<_>>(),
        "charts": charts,
        "inks": (0..beside.runs.len()).map(|index| courses::ink(index).json()).collect::<Vec<_>>(),
        "spent": spent::view(beside),
        "failed": failed.collect::<Vec<_>>(),
        "no_result": no_result.collect::<Vec<_>>(),
        "confidence": figures::percent(Some(beside.confidence_ratio)),
        "conditions": beside.condition_words(),
        "caveat": headline::sentence(&beside.caveat),
    })
}

fn class_of_tone(tone: &str) -> &'static str {
    match tone {
        "good" => "met",
        "bad" => "missed",
        _ => "quiet",
    }
}

fn file_view(beside: &Beside, file: &FileDifference) -> Value {
    let label = |index: &usize| beside.runs.get(*index).map_or("", |run| run.label.as_str());
    let runs = file.runs.iter().map(label).collect::<Vec<_>>().join(", ");
    let base = beside.base_label();
    let what = match file.change {
        FileChange::Changed => {
            format!("{base} to {runs}: lines added {}, removed {}", file.added, file.removed)
        }
        FileChange::Added => format!("only in {runs}"),
        FileChange::Removed => format!("in {base}, not in {runs}"),
    };
    let class = |line: &str| match line.chars().next() {
        Some('+') => "added",
        Some('-') => "removed",
        Some('@') => "quiet",
        _ => "",
    };
    let lines = file.diff.lines().map(|line| json!({ "text": line, "class": class(line) }));
    let mut view = json!(file);
    view["what"] = what.into();
    view["lines"] = lines.collect();
    view
}

fn figure_view(figure: &ComparedFigure) -> Value {
    let cells = figure.values.iter().zip(&figure.changes);
    let cells = cells.map(|(value, change)| cell(value.as_ref(), change.as_ref(), &figure.unit));
    json!({ "name": figure.name, "cells": cells.collect::<Vec<_>>() })
}

fn cell(value: Option<&Measure>, change: Option<&Change>, unit: &str) -> Value {
    let shown = |value: f64| figures::measured(value, unit);
    let ends = value.and_then(|one| one.low.zip(one.high));
    let judged = change.and_then(|one| one.judged);
    json!({
        "value": value.map_or(figures::NOTHING.to_string(), |one| shown(one.value)),
        "ends": ends.map(|(low, high)| format!("{} to {}", shown(low), shown(high))),
        "change": change.map(Change::shown),
        "change_ends": change.and_then(Change::ends),
        "judged": judged.map(Judged::word),
        "class": match judged {
            Some(Judged::Better) => "met",
            Some(Judged::Worse) => "missed",
            _ => "quiet",
        },
    })
}
