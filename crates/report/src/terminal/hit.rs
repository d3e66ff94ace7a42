//! What `plimsoll hit` prints at its end.

use model::HitRecord;
use model::catalogue::load::Arrivals;
use model::record::{Outcome, TimeSummary};

use super::paint::Paint;
use super::sections;
use super::table::{Align, Table, wrap};
use super::width;
use crate::figures::count;
use crate::{Headline, Tone, figures, words};
use model::outside::one_line as plain;

/// The record as text for a terminal of `width` columns, the verdict first.
pub fn hit(record: &HitRecord, width: usize, colour: bool) -> String {
    let width = width::of_lines(width);
    let paint = Paint { colour };
    let validity = sections::checks(&record.validity, &[], width, paint);
    let mut parts = vec![
        headline(record, width, paint),
        facts(record, width, paint),
        times(record, width),
        sections::phase_table(&record.phases, width),
        sections::evidence(&record.evidence, width),
        generator(record, width),
    ];
    let place = if record.verdict.valid { parts.len() } else { 1 };
    parts.insert(place, validity);
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn headline(record: &HitRecord, width: usize, paint: Paint) -> String {
    let (tone, word) = match (record.outcome, record.verdict.valid) {
        (Outcome::Interrupted, _) => (Tone::Open, "Interrupted"),
        (_, true) => (Tone::Good, "Valid"),
        (_, false) => (Tone::Doubtful, "Not valid"),
    };
    let valid = record.verdict.valid;
    let sentence = if valid {
        let failed: u64 = record.errors.values().sum();
        let all = (record.completed + failed).max(1);
        let share = figures::percent(Some(failed as f64 / all as f64));
        let failed = if failed == 0 { String::new() } else { format!(", {share} of them failed") };
        let connections = count(record.connections.into());
        match record.arrivals {
            None => format!("{} requests/s over {connections} connections{failed}.", rate(record)),
            Some(_) => format!("{} requests/s, as many as arrived{failed}.", rate(record)),
        }
    } else {
        crate::headline::verdict_sentence(&record.verdict.sentence)
    };
    paint.headline(&Headline { tone, word, sentence, valid, by_hand: false }, width)
}

fn facts(record: &HitRecord, width: usize, paint: Paint) -> String {
    let what = format!("{} {}", record.method, record.url);
    let allowed = record.allowed.as_ref().map(|host| format!(", not this machine: --allow-target {host}"));
    let place = format!("{}{}", record.server, allowed.unwrap_or_default());
    let took = figures::time(Some(record.elapsed_s));
    let mut lines = vec![
        wrap(&plain(&what), width, "  "),
        format!("  requests     {} in {took}, {}/s", count(record.requests), rate(record)),
    ];
    if let Some(open) = record.arrivals {
        lines.push(wrap(&arrivals(open, record.connections), width, "               "));
    }
    let is_plain = record.statuses.keys().eq([&200]);
    if !is_plain && !record.statuses.is_empty() {
        let each = record.statuses.iter().map(|(status, number)| format!("{status}: {}", count(*number)));
        lines.push(wrap(
            &format!("  statuses     {}", each.collect::<Vec<_>>().join(", ")),
            width,
            "               ",
        ));
    }
    let failed: u64 = record.errors.values().sum();
    if failed > 0 {
        let kinds = words::errors(&record.errors);
        lines.push(paint.bad(&format!("  errors       {}: {kinds}", count(failed))));
    }
    if record.unanswered > 0 {
        let unknown = "sent; whether the server saw them is unknown";
        lines.push(format!("  unanswered   {} {unknown}", count(record.unanswered)));
    }
    let bytes_per_s = (record.received_bytes as f64 / record.elapsed_s.max(1e-9)) as u64;
    lines.push(format!(
        "  received     {}, {}/s",
        figures::bytes(Some(record.received_bytes)),
        figures::bytes(Some(bytes_per_s))
    ));
    lines.push(format!("  connections  {} opened to {}", count(record.connects), plain(&place)));
    if let Some(wire) = words::wire(&record.wire) {
        lines.push(wrap(&format!("  wire         {wire}"), width, "               "));
    }
    lines.join("\n") + "\n"
}

fn times(record: &HitRecord, width: usize) -> String {
    let titles = ["mean", "sd", "p50", "p90", "p99", "p99.9", "max"].map(|title| (title, Align::Right));
    let heading: Vec<(&str, Align)> = std::iter::once(("Times", Align::Left)).chain(titles).collect();
    let mut table = Table::new(&heading);
    let figures_of = |times: &TimeSummary| {
        let TimeSummary { mean_s, sd_s, p50_s, p90_s, p99_s, p999_s, max_s, .. } = *times;
        [mean_s, sd_s, p50_s, p90_s, p99_s, p999_s, max_s].map(figures::time)
    };
    let (response, service) = (figures_of(&record.response), figures_of(&record.service));
    if record.response.max_s.is_none() {
        return String::new();
    }
    let differ = response != service;
    table.row(std::iter::once("  response".to_string()).chain(response).collect());
    if differ {
        table.row(std::iter::once("  service".to_string()).chain(service).collect());
    }
    table.lines(width)
}

fn arrivals(open: Arrivals, connections: u32) -> String {
    let [from, to] = [open.from_per_s, open.to_per_s].map(|rate| figures::number(Some(rate)));
    let rate = if from == to { from } else { format!("{from} to {to}") };
    let (how, max) = (open.pattern.words(), count(connections.into()));
    format!("  arrivals     {rate} requests/s {how}, over at most {max} connections at once")
}

fn generator(record: &HitRecord, width: usize) -> String {
    let lag = &record.generator.lag;
    let cpus: Vec<String> = record.generator_cpus.iter().map(ToString::to_string).collect();
    let text = format!(
        "Generator  {} of CPU per request, {} of CPU {}; send lag p99 {}, max {}",
        figures::time(record.cpu_s_per_request),
        figures::percent(Some(record.generator.cpu_ratio)),
        cpus.join(" and "),
        figures::time(lag.p99_s.or(lag.max_s)),
        figures::time(lag.max_s),
    );
    wrap(&text, width, "           ") + "\n"
}

fn rate(record: &HitRecord) -> String {
    figures::number(Some(record.per_s))
}
