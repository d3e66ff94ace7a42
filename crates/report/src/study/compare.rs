//! What a comparison shows: what was compared, the effect on each figure, the blocks that it is made of.

mod blocks;
mod suite;

use model::StudyRecord;
use model::record::study::{Compare, Conclusion, Effect};

use super::chart::{Axis, Chart, Drawing, Format, Line, Mark, Shape, Style};
use super::page::{
    Body, Cell, Column, Content, Fact, Figure, Judged, Key, Link, On, Part, Row, Section, Table,
};
use super::view::{Answer, Suite, View};
use super::{trials, words};
use crate::scale::Scale;
use crate::{Tone, figures};
use blocks::PairRatio;

impl View for Compare {
    fn answer(&self, _: &StudyRecord) -> Answer {
        let (tone, word) = match (self.gate_held, &self.conclusion) {
            (Some(false), _) => (Tone::Bad, "Gate failed"),
            (_, None) => (Tone::Open, "Unfinished"),
            (_, Some(Conclusion::Faster)) => (Tone::Good, "Faster"),
            (_, Some(Conclusion::Slower)) => (Tone::Bad, "Slower"),
            (_, Some(Conclusion::Same)) => (Tone::Good, "Same"),
            (_, Some(Conclusion::Open { .. })) => (Tone::Open, "Open"),
        };
        Answer::new(tone, word)
    }

    fn has_answer(&self) -> bool {
        self.conclusion.is_some()
    }

    fn body(&self, record: &StudyRecord, link: Link<'_>) -> Body {
        let pairs = blocks::of(record, self);
        Body {
            figures: top(self, &pairs),
            sections: vec![
                Section::new("arms", "What was compared", arms(record, self)),
                Section::new("effects", "Effects", effects(record, self)),
                Section::new("blocks", "Blocks", course(record, self, &pairs, link)),
            ],
        }
    }

    fn junit(&self, record: &StudyRecord) -> Option<Suite> {
        Some(suite::suite(record, self))
    }
}

/// `p95 of Browse`: the figure of an effect.
fn name(effect: &Effect) -> String {
    words::figure(&effect.figure, effect.operation.as_deref())
}

/// The figure that the sentence is about.
fn by(compare: &Compare) -> String {
    let operation = compare.effects.first().and_then(|effect| effect.operation.as_deref());
    words::figure(&compare.by, operation)
}

fn top(compare: &Compare, pairs: &[PairRatio]) -> Vec<Figure> {
    let mut top = Vec::new();
    if let Some(effect) = compare.effects.first() {
        let confidence = figures::percent(Some(compare.confidence_ratio));
        top = vec![
            Figure::new(format!("{}, B against A", name(effect)), words::change(effect.ratio)),
            Figure::new(format!("{confidence} interval"), words::interval(effect)),
            Figure::new("Blocks", effect.blocks.to_string()),
        ];
    }
    let noise = blocks::noise_ratio(pairs).map(|noise| figures::percent(Some(noise)));
    top.extend(noise.map(|noise| Figure::new("Noise of a block", noise)));
    if let Some(gate) = compare.gate_ratio {
        let held = match compare.gate_held {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "open",
        };
        top.push(Figure::new(format!("Gate of {}", figures::percent(Some(gate))), held));
    }
    top
}

/// The arms, the load and, on a terminal, what the words below mean.
fn arms(record: &StudyRecord, compare: &Compare) -> Vec<Part> {
    let arms = ["A", "B"].into_iter().zip(&record.arms).map(|(name, arm)| {
        let stored = arm.stored_run.as_ref().map(|run| format!(" (stored run {run})"));
        (name.to_string(), format!("{}{}", arm.label, stored.unwrap_or_default()))
    });
    let arms: Vec<(String, String)> = arms.collect();
    let window = figures::duration(Some(compare.window_s));
    let how = match (compare.in_turn, compare.cpus_awake) {
        (true, true) => ", in turn, idle CPUs kept awake",
        (true, false) => ", in turn",
        (false, true) => ", idle CPUs kept awake",
        (false, false) => "",
    };
    let load = ("Load".to_string(), format!("{}, {window} a trial{how}", compare.load));
    let intervals = match compare.unpaired {
        true => "intervals for who looks once",
        false => "intervals that hold at every look",
    };
    let rule = format!(
        "{}, {} s a trial{how}; {} {intervals}; under {} counts as no difference",
        compare.load,
        figures::number(Some(compare.window_s)),
        figures::percent(Some(compare.confidence_ratio)),
        figures::percent(Some(compare.band_ratio))
    );
    let gate = compare.gate_ratio.map(|gate| {
        let held = match compare.gate_held {
            Some(true) => "held",
            Some(false) => "did not hold",
            None => "is open",
        };
        format!("the gate of {} {held}", figures::percent(Some(gate)))
    });
    vec![
        Content::Pairs(arms.clone()).terminal(),
        Content::Pairs(arms.into_iter().chain([load]).collect()).page(),
        Content::facts([rule].into_iter().chain(gate)).terminal(),
    ]
}

/// The effect on each figure, as a table and as intervals on one axis.
fn effects(record: &StudyRecord, compare: &Compare) -> Vec<Part> {
    let kind = if compare.unpaired {
        "the ratio of two windows with its {confidence} interval, which is for who looks only once and leaves out how \
         much a figure changes from one start of a stack to the next."
    } else {
        "the typical ratio of a block (Hodges and Lehmann) with its {confidence} interval, which holds at \
         every look; the bootstrap's, beside, is for who looks only once."
    };
    let band = words::unbroken(&figures::percent(Some(compare.band_ratio)));
    let kind =
        kind.replace("{confidence}", &words::unbroken(&figures::percent(Some(compare.confidence_ratio))));
    let lead = format!(
        "How each figure of B relates to that of A: {kind} Within the shaded band, ±{band}, a difference doesn't matter."
    );
    let forest = forest(compare);
    let key = forest.as_ref().map(|_| Key {
        mark: None,
        ink: "open",
        name: format!("no difference that matters (±{})", figures::percent(Some(compare.band_ratio))),
    });
    let mut parts = vec![Content::Lead(lead).page()];
    parts.push(match compare.effects.is_empty() {
        true => Content::Facts(vec![Fact::from("No block is complete yet.".to_string())]).page(),
        false => Content::Table(table(record, compare)).both(),
    });
    parts.extend(forest.map(|chart| Content::Chart(Box::new(chart)).both()));
    parts.extend(key.map(|key| Content::Key(vec![key]).terminal()));
    parts
}

fn table(record: &StudyRecord, compare: &Compare) -> Table {
    let unit = words::load_unit(record, 0);
    let row = |effect: &Effect| {
        let value = |value: f64| Cell::from(words::figure_value(&effect.figure, Some(value), unit));
        let conclusion = words::conclusion(&effect.conclusion);
        let worse = if effect.conclusion == Conclusion::Slower { Judged::Missed } else { Judged::Plain };
        let cells = vec![
            name(effect).into(),
            value(effect.a),
            value(effect.b),
            format!("{:.3}", effect.ratio).into(),
            words::change(effect.ratio).into(),
            words::interval(effect).into(),
            Cell::judged(words::ends(effect.bootstrap), Judged::Quiet),
            effect.blocks.to_string().into(),
            Cell::judged(conclusion.clone(), judged(&effect.conclusion)),
            Cell::judged(conclusion, worse),
        ];
        Row { cells, muted: false }
    };
    let columns = vec![
        Column::words("Figure", "Figures"),
        Column::numbers("A", "A"),
        Column::numbers("B", "B"),
        Column::numbers("B/A", "").on(On::Page),
        Column::numbers("Change", "B against A"),
        Column::numbers("Interval", "interval"),
        Column::numbers("Bootstrap", "").on(On::Page),
        Column::numbers("Blocks", "").on(On::Page),
        Column::numbers("B is", "").on(On::Page),
        Column::words("", "").on(On::Terminal),
    ];
    Table { columns, rows: compare.effects.iter().map(row).collect(), ..Table::default() }
}

fn judged(conclusion: &Conclusion) -> Judged {
    match conclusion {
        Conclusion::Faster => Judged::Met,
        Conclusion::Slower => Judged::Missed,
        Conclusion::Same | Conclusion::Open { .. } => Judged::Quiet,
    }
}

/// Each figure's interval on one axis of ratios, the band of no difference shaded.
fn forest(compare: &Compare) -> Option<Chart> {
    let known: Vec<(&Effect, (f64, f64))> =
        compare.effects.iter().filter_map(|effect| Some((effect, effect.low.zip(effect.high)?))).collect();
    let last = known.len() as f64;
    let mark = |(index, (effect, ends)): (usize, &(&Effect, (f64, f64)))| Mark {
        x: effect.ratio,
        y: last - index as f64,
        shape: Shape::Square,
        style: Style::Solid,
        ink: match judged(&effect.conclusion) {
            Judged::Met => "good",
            Judged::Missed => "bad",
            Judged::Plain | Judged::Quiet => "muted",
        }
        .into(),
        title: format!("{}: {}", name(effect), words::effect(effect)),
        interval: Some(*ends),
    };
    let marks: Vec<Mark> = known.iter().enumerate().map(mark).collect();
    let band = (1.0 - compare.band_ratio, 1.0 + compare.band_ratio);
    let ends = known.iter().flat_map(|(_, (low, high))| [*low, *high]).chain([band.0, band.1]);
    let scale = Scale::around(ends, 0.06).filter(|_| !known.is_empty())?;
    let names = known.iter().zip(&marks).map(|((effect, _), mark)| (mark.y, name(effect))).collect();
    let y = Axis::at(Axis::numbered(known.len(), "").scale, names, "");
    Some(Chart {
        x_band: Some(band),
        lines: vec![Line::new("muted", vec![(1.0, y.scale.low), (1.0, y.scale.high)])],
        marks,
        height: 28.0 * last + 58.0,
        drawing: Some(Drawing::Intervals("B against A, intervals".into())),
        ..Chart::new(
            "B against A",
            "Intervals of B against A",
            Axis::round(scale, Format::Change, "B against A"),
            y,
        )
    })
}

/// The blocks in their order, so that drift and outliers can be seen, and every trial.
fn course(record: &StudyRecord, compare: &Compare, pairs: &[PairRatio], link: Link<'_>) -> Vec<Part> {
    let by = by(compare);
    let noise = blocks::noise_ratio(pairs).map(|noise| figures::percent(Some(noise)));
    let deviation = noise.as_deref().map(|noise| {
        format!(" Noise, the standard deviation of the log ratios: {}.", words::unbroken(noise))
    });
    let lead = format!(
        "{by} of B against A in each block, in the order in which they were measured: a slope would be drift, a point \
         far off a disturbance.{}",
        deviation.unwrap_or_default()
    );
    let mut parts = vec![Content::Lead(lead).page()];
    parts.extend(ratios(compare, pairs).map(|chart| Content::Chart(Box::new(chart)).page()));
    if let Some(noise) = noise {
        let heading = format!("Blocks in order, {by} of B against A (noise {noise}, the standard deviation)");
        let changes = pairs.iter().map(|pair| words::change(pair.ratio).trim_end_matches(" %").to_string());
        let list = changes.collect::<Vec<_>>().join(", ") + " %";
        parts.extend([Content::Heading(heading).terminal(), Content::Lead(list).terminal()]);
    }
    parts.push(Content::Table(trials::table(record, "Block", link)).page());
    parts
}

/// The blocks' ratios in their order.
fn ratios(compare: &Compare, pairs: &[PairRatio]) -> Option<Chart> {
    let last = pairs.last().filter(|_| pairs.len() > 1)?.block;
    let effect = compare.effects.first()?;
    let band = (1.0 - compare.band_ratio, 1.0 + compare.band_ratio);
    let known = pairs.iter().map(|pair| pair.ratio).chain([band.0, band.1, effect.ratio]);
    let x = Axis::numbered(last as usize, "block");
    let across = |ratio: f64| vec![(x.scale.low, ratio), (x.scale.high, ratio)];
    let mark = |pair: &PairRatio| Mark {
        x: f64::from(pair.block),
        y: pair.ratio,
        shape: Shape::Circle,
        style: Style::Solid,
        ink: "ink-1".into(),
        title: format!("block {}: {}", pair.block, words::change(pair.ratio)),
        interval: None,
    };
    let y = Axis::round(Scale::around(known, 0.1)?, Format::Change, "");
    Some(Chart {
        y_band: Some(band),
        lines: vec![Line::new("muted", across(1.0)), Line::new("ink-1", across(effect.ratio))],
        marks: pairs.iter().map(mark).collect(),
        ..Chart::new("B against A, block by block", "B against A in each block, in order", x, y)
    })
}
