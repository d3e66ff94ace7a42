//! Guests side by side as the template shows them: each is a column, with a link to the report of its own run.

use model::record::GuestResult;
use serde_json::{Value, json};

use super::text::{thin, thin_groups};
use crate::guests::{self, CLONE, GuestFigure, LOAD, USE, Verdict};

/// What `web/guests.html` shows; absent for a run without guests.
pub(super) fn of(all: &[GuestResult]) -> Option<Value> {
    if all.is_empty() {
        return None;
    }
    let columns = all.iter().map(
        |guest| json!({ "number": guest.guest.number, "report": format!("runs/{}/report.html", guest.run) }),
    );
    let of = |figures: &[GuestFigure]| {
        let row = |figure: &GuestFigure| {
            row(figure.title, all.iter().map(|guest| cell(thin(&(figure.value)(guest)))).collect())
        };
        figures.iter().map(row).collect::<Vec<_>>()
    };
    let limits = row("Limits", all.iter().map(|guest| cell(thin(&guests::limits(guest)))).collect());
    let held = all.iter().any(|guest| guest.held_by.is_some());
    let held = held.then(|| row("What holds it", all.iter().map(held_by).collect()));
    let limits = guests::some_limited(all).then_some(limits);
    let rows = limits.into_iter().chain(of(&LOAD)).chain(of(&USE));
    let rows = rows.chain([row("Verdict", all.iter().map(verdict).collect())]).chain(held);
    Some(json!({
        "columns": columns.collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
        "clones": of(&CLONE),
        "apart": guests::apart(all).map(|said| thin_groups(&said)),
    }))
}

fn row(title: &str, cells: Vec<Value>) -> Value {
    json!({ "title": title, "cells": cells })
}

/// A figure, which neither praises nor blames.
fn cell(text: String) -> Value {
    json!({ "class": "", "lines": [text] })
}

fn held_by(guest: &GuestResult) -> Value {
    json!({ "class": "words", "lines": [guest.held_by.as_deref().unwrap_or(crate::figures::NOTHING)] })
}

/// The verdict's word, and below it the targets that are missed.
fn verdict(guest: &GuestResult) -> Value {
    let verdict = Verdict::of(guest);
    let class = match verdict {
        Verdict::Pass | Verdict::Valid => "met",
        _ => "missed",
    };
    let missed = guest.missed.iter().filter(|_| verdict == Verdict::Misses);
    let lines = [verdict.word().to_string()].into_iter().chain(missed.map(|target| thin_groups(target)));
    json!({ "class": class, "lines": lines.collect::<Vec<_>>() })
}
