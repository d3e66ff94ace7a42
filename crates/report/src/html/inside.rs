//! The tiers' own figures as the template and the charts see them.

use serde::Serialize;
use serde_json::{Value, json};

use super::text::{thin, thin_groups, tier_class, visible};
use crate::{Figure, Page, figures};

/// What the small charts are drawn from; a figure in the page names its signal by the place in `signals`.
#[derive(Serialize)]
pub(super) struct Drawn<'a> {
    step_s: u32,
    at_s: &'a [u32],
    signals: Vec<DrawnSignal<'a>>,
}

#[derive(Serialize)]
struct DrawnSignal<'a> {
    unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<f64>,
    values: &'a [Option<f64>],
}

/// The figures that have a chart, in the order of the page.
fn charted(page: &Page) -> impl Iterator<Item = &Figure> {
    page.inside.tiers.iter().flat_map(|tier| tier.first.iter().chain(&tier.more))
}

/// The data of all small charts.
pub(super) fn drawn(page: &Page) -> Drawn<'_> {
    let signals = charted(page).map(|figure| DrawnSignal {
        unit: visible(&figure.unit),
        limit: figure.limit(),
        values: &figure.values,
    });
    Drawn { step_s: page.inside.step_s, at_s: &page.inside.at_s, signals: signals.collect() }
}

/// What `web/inside.html` shows: each tier with its figures.
pub(super) fn of(page: &Page) -> Vec<Value> {
    let mut index = 0;
    let mut shown = |figures: &[Figure]| -> Vec<Value> {
        let next = |figure: &Figure| {
            let value = json!({
                "index": index,
                "name": figure.name,
                "help": figure.help,
                "cited": figure.cited,
                "summary": thin_groups(&figure.summary()),
            });
            index += 1;
            value
        };
        figures.iter().map(next).collect()
    };
    let mut tiers = Vec::new();
    for (place, one) in page.inside.tiers.iter().enumerate() {
        let tier = one.tier.as_deref();
        let still = one.still.iter().map(|figure| {
            let value = figure.constant().map(|value| figures::in_series_unit(value, &figure.unit));
            json!({"name": figure.name, "value": thin(&value.unwrap_or_default())})
        });
        let service = page.record.setup.tiers.iter().find(|setup| Some(setup.tier.as_str()) == tier);
        tiers.push(json!({
            "name": tier.unwrap_or("the machine"),
            "class": tier.map(|tier| tier_class(tier, place)).unwrap_or_default(),
            "service": service.map(|setup| setup.service.as_str()),
            "first": shown(&one.first),
            "more": shown(&one.more),
            "still": still.collect::<Vec<_>>(),
        }));
    }
    tiers
}
