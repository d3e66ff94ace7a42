//! A comparison's charts and tables.

use model::StudyRecord;
use model::study::{Compare, Conclusion, Effect};
use serde_json::{Value, json};

use super::chart::{Axis, Chart, Labels, Line, Mark, Shape, add, rect, text, widths};
use super::escape;
use super::parts::{self, Link};
use crate::figures;
use crate::scale::{Kind, Scale};
use crate::study::compare::blocks;
use crate::study::words;

/// What only a comparison shows.
pub(super) fn of(record: &StudyRecord, compare: &Compare, link: Link<'_>) -> Value {
    let seen = blocks::of(record, compare);
    let arm = |arm: &model::study::Arm| json!({"label": arm.label, "stored_run": arm.stored_run});
    json!({
        "figures": top(compare, &seen),
        "arms": record.arms.iter().map(arm).collect::<Vec<_>>(),
        "load": compare.load,
        "unpaired": compare.unpaired,
        "window": figures::duration(Some(compare.window_s)),
        "confidence": figures::percent(Some(compare.confidence_ratio)),
        "band": figures::percent(Some(compare.band_ratio)),
        "effects": compare.effects.iter().map(|effect| row(record, effect)).collect::<Vec<_>>(),
        "forest": forest(compare),
        "blocks": course(compare, &seen),
        "by": words::figure(&compare.by, operation(compare)),
        "noise": blocks::noise_ratio(&seen).map(|noise| figures::percent(Some(noise))),
        "trials": record.trials.iter().map(|trial| parts::trial(record, trial, link)).collect::<Vec<_>>(),
    })
}

fn operation(compare: &Compare) -> Option<&str> {
    compare.effects.first().and_then(|effect| effect.operation.as_deref())
}

fn top(compare: &Compare, seen: &[blocks::Block]) -> Vec<Value> {
    let mut top = Vec::new();
    if let Some(effect) = compare.effects.first() {
        let name = words::figure(&effect.figure, effect.operation.as_deref());
        top.push(parts::figure(&format!("{name}, B against A"), &words::change(effect.ratio)));
        top.push(parts::figure(
            &format!("{} interval", figures::percent(Some(compare.confidence_ratio))),
            &words::interval(effect),
        ));
        top.push(parts::figure("Blocks", &effect.blocks.to_string()));
    }
    top.extend(
        blocks::noise_ratio(seen)
            .map(|noise| parts::figure("Noise of a block", &figures::percent(Some(noise)))),
    );
    if let Some(gate) = compare.gate_ratio {
        let held = match compare.gate_held {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "open",
        };
        top.push(parts::figure(&format!("Gate of {}", figures::percent(Some(gate))), held));
    }
    top
}

fn row(record: &StudyRecord, effect: &Effect) -> Value {
    let unit = words::load_unit(record, 0);
    let value = |value: f64| words::figure_value(&effect.figure, Some(value), unit);
    json!({
        "name": words::figure(&effect.figure, effect.operation.as_deref()),
        "a": value(effect.a),
        "b": value(effect.b),
        "ratio": format!("{:.3}", effect.ratio),
        "change": words::change(effect.ratio),
        "interval": words::interval(effect),
        "bootstrap": words::ends(effect.bootstrap),
        "blocks": effect.blocks,
        "conclusion": words::conclusion(&effect.conclusion),
        "tone": tone(&effect.conclusion),
    })
}

fn tone(conclusion: &Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Faster => "met",
        Conclusion::Slower => "missed",
        Conclusion::Same | Conclusion::Open { .. } => "quiet",
    }
}

/// Each figure's interval on one axis of ratios, the band of no difference shaded.
fn forest(compare: &Compare) -> Option<String> {
    let known: Vec<(&Effect, f64, f64)> =
        compare.effects.iter().filter_map(|effect| Some((effect, effect.low?, effect.high?))).collect();
    let band = (1.0 - compare.band_ratio, 1.0 + compare.band_ratio);
    let ends = known.iter().flat_map(|(_, low, high)| [*low, *high]).chain([band.0, band.1]);
    let scale = Scale::around(ends, 0.06).filter(|_| !known.is_empty())?;
    let scale = Scale { kind: Kind::Linear, ..scale };
    Some(widths().map(|(class, width)| drawn(&known, &scale, band, class, width)).collect())
}

fn drawn(known: &[(&Effect, f64, f64)], scale: &Scale, band: (f64, f64), class: &str, width: f64) -> String {
    let names: Vec<String> =
        known.iter().map(|(effect, ..)| words::figure(&effect.figure, effect.operation.as_deref())).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let (left, row, top) = ((7.0 * longest as f64 + 12.0).min(width * 0.4), 28.0, 8.0);
    let (inner, bottom) = (width - left - 16.0, top + row * known.len() as f64);
    let at = |ratio: f64| left + scale.place(ratio).clamp(0.0, 1.0) * inner;
    let mut body = String::new();
    rect(&mut body, "band", (at(band.0), top), (at(band.1) - at(band.0), bottom - top));
    for tick in scale.ticks(if width < 500.0 { 4 } else { 9 }) {
        let x = at(tick);
        add(&mut body, format_args!("<path class=\"grid\" d=\"M{x:.1} {top}V{bottom:.1}\"/>"));
        text(&mut body, "middle", (x, bottom + 17.0), &words::round_change(tick));
    }
    add(&mut body, format_args!("<path class=\"axis\" d=\"M{:.1} {top}V{bottom:.1}\"/>", at(1.0)));
    for (index, ((effect, low, high), name)) in known.iter().zip(&names).enumerate() {
        let y = top + row * (index as f64 + 0.5);
        let tone = tone(&effect.conclusion);
        add(
            &mut body,
            format_args!("<text class=\"name\" x=\"0\" y=\"{:.1}\">{}</text>", y + 4.0, escape(name)),
        );
        add(
            &mut body,
            format_args!("<path class=\"range {tone}\" d=\"M{:.1} {y:.1}H{:.1}\"/>", at(*low), at(*high)),
        );
        let title = escape(&format!("{name}: {}", words::effect(effect)));
        add(
            &mut body,
            format_args!(
                "<path class=\"mark {tone}\" d=\"{}\"><title>{title}</title></path>",
                Shape::Square.path(at(effect.ratio), y)
            ),
        );
    }
    text(&mut body, "end", (width - 16.0, bottom + 34.0), "B against A");
    format!(
        "<svg class=\"chart {class}\" viewBox=\"0 0 {width} {}\" role=\"img\" aria-label=\"Intervals of B against A\">{body}</svg>",
        bottom + 42.0
    )
}

/// The blocks' ratios in their order.
fn course(compare: &Compare, seen: &[blocks::Block]) -> Option<String> {
    let last = seen.last().filter(|_| seen.len() > 1)?.number;
    let band = (1.0 - compare.band_ratio, 1.0 + compare.band_ratio);
    let effect = compare.effects.first()?;
    let known = seen.iter().map(|block| block.ratio).chain([band.0, band.1, effect.ratio]);
    let mark = |block: &blocks::Block| Mark {
        x: f64::from(block.number),
        y: block.ratio,
        shape: Shape::Circle,
        class: "plain".into(),
        title: format!("block {}: {}", block.number, words::change(block.ratio)),
        whisker: None,
    };
    let x = Scale { kind: Kind::Linear, low: 0.5, high: f64::from(last) + 0.5 };
    let chart = Chart {
        title: "B against A in each block, in order".into(),
        x: Axis {
            scale: x,
            labels: Labels::At((1..=last).map(|number| (f64::from(number), number.to_string())).collect()),
            unit: "block".into(),
        },
        y: Axis {
            scale: Scale::around(known, 0.1)?,
            labels: Labels::Round(Box::new(words::round_change)),
            unit: String::new(),
        },
        band: None,
        y_band: Some(band),
        limit: None,
        lines: vec![
            Line { class: "even".into(), points: vec![(x.low, 1.0), (x.high, 1.0)] },
            Line { class: "ink-1".into(), points: vec![(x.low, effect.ratio), (x.high, effect.ratio)] },
        ],
        marks: seen.iter().map(mark).collect(),
        height: 240.0,
    };
    Some(chart.svg())
}
