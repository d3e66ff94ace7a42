//! The parts of the text, in the order in which they are read.

use analysis::signals::names::MEMORY_LIMIT;
use model::record::{
    ConsistencyResult, Evidence, OperationResult, PhaseResults, TargetOutcome, ValidityCheck,
};
use model::{OperationKind, RunRecord};

use super::draw::bar;
use super::paint::Paint;
use super::table::{Align, Table, shorten, wrap};
use crate::checks::{self, Check};
use crate::settings::Settings;
use crate::{Page, figures, fleet, words};
use model::outside::one_line as plain;

/// How many samples of errors are shown; the record has the rest.
const SAMPLES_SHOWN: usize = 5;

/// What was run.
pub(super) fn setup(page: &Page, width: usize) -> String {
    let (record, setup) = (&page.record, &page.record.setup);
    let what = format!("{} on {}", setup.kit_title, setup.stack_title);
    let load = format!(
        "{}{}, {} s ramp-up, {} s steady state, data set {}, seed {}",
        setup.load_words(),
        words::mix(setup),
        figures::number(Some(setup.ramp_up_s)),
        figures::number(Some(setup.steady_s)),
        setup.size,
        setup.seed
    );
    let id = format!("run {}, started {}", record.id, record.started);
    let lines = [
        Some(what),
        Some(load),
        record.fleet.as_ref().map(fleet::words),
        words::populations(record),
        words::freshness(setup),
        setup.guest.as_ref().map(wording::guest),
        Settings::of_run(record).and_then(|settings| settings.line()),
        file_set(record),
        Some(id),
    ];
    lines.iter().flatten().map(|line| wrap(&plain(line), width, "  ") + "\n").collect()
}

/// The kit's files: how many, what of them was in memory, and which tiers' memory was limited meanwhile.
fn file_set(record: &RunRecord) -> Option<String> {
    let set = record.file_set.as_ref()?;
    let count = figures::count(set.files);
    let mut facts = vec![format!("file set of {count} files, {}", figures::bytes(Some(set.bytes)))];
    facts.extend(set.page_cache.as_ref().map(|cache| {
        let resident = figures::bytes(Some(cache.resident_bytes));
        format!("page cache {}, {resident} of the set in memory when users started", cache.asked)
    }));
    let limits = record.signals.iter().filter(|signal| signal.name == MEMORY_LIMIT);
    facts.extend(limits.filter_map(|signal| {
        let limit = figures::bytes(Some(signal.mean as u64));
        Some(format!("memory of {} limited to {limit}", signal.tier.as_ref()?))
    }));
    Some(facts.join("; "))
}

/// Each target, with what was seen.
pub(super) fn targets(page: &Page, width: usize, paint: Paint) -> String {
    if page.record.targets.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("Targets", Align::Left),
        ("", Align::Left),
        ("observed", Align::Right),
        ("margin", Align::Right),
        ("samples", Align::Right),
    ]);
    for target in &page.record.targets {
        let cells = vec![
            format!("  {}", plain(&target.target.to_string())),
            if target.pass { "met" } else { "MISSED" }.to_string(),
            figures::in_unit(target.observed, target.target.measure.unit()),
            figures::margin(target.margin_ratio(), target.target.measure.unit()),
            figures::count(target.samples),
        ];
        let pass = target.pass;
        table.row_painted(
            cells,
            move |column, cell| {
                if column == 1 && !pass { paint.bad(cell) } else { cell.to_string() }
            },
        );
    }
    let remarks = page.record.targets.iter().filter_map(remark);
    table.lines(width) + &remarks.map(|line| wrap(&line, width, "    ") + "\n").collect::<String>()
}

/// What a target's figures alone do not say.
fn remark(target: &TargetOutcome) -> Option<String> {
    let name = plain(&target.target.to_string());
    if target.average_would_pass() {
        let average =
            target.average_s.map(|mean| format!(", {},", figures::time(Some(mean)))).unwrap_or_default();
        return Some(format!("  {name}: the average{average} would have passed"));
    }
    (!target.is_sampled()).then(|| {
        format!("  {name}: {} samples are fewer than the {} it needs", target.samples, target.samples_needed)
    })
}

/// Sessions and operations; with the standard deviation of times where no name has to be cut for it.
pub(super) fn operations(page: &Page, width: usize, paint: Paint) -> String {
    let rows: Vec<&OperationResult> =
        page.rows(OperationKind::Operation).chain(page.rows(OperationKind::Session)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let whole = times_of(&rows, true, paint);
    let table = if whole.fits(width) { whole } else { times_of(&rows, false, paint) };
    let sessions = page.rows(OperationKind::Session).filter_map(|session| {
        let max = figures::time(Some(session.max_of_last_100_s?));
        Some(format!("  {} is the whole session; max of the last 100: {max}\n", plain(&session.name)))
    });
    table.lines(width) + &sessions.collect::<String>()
}

fn times_of(rows: &[&OperationResult], with_sd: bool, paint: Paint) -> Table {
    let (first, last) = (["completed", "/s", "errors", "mean"], ["p50", "p95", "p99", "max"]);
    let titles = first.into_iter().chain(with_sd.then_some("sd")).chain(last);
    let right = titles.map(|title| (title, Align::Right));
    let heading: Vec<(&str, Align)> = std::iter::once(("Operations", Align::Left)).chain(right).collect();
    let mut table = Table::new(&heading);
    for row in rows {
        let failed: u64 = row.errors.values().sum();
        let times = &row.response;
        let mut cells = vec![
            format!("  {}", plain(&row.name)),
            figures::count(row.completed),
            figures::number(Some(row.per_s)),
            figures::count(failed),
            figures::time(times.mean_s),
        ];
        cells.extend(with_sd.then(|| figures::time(times.sd_s)));
        cells.extend([times.p50_s, times.p95_s, times.p99_s, times.max_s].map(figures::time));
        table.row_painted(
            cells,
            move |column, cell| {
                if column == 3 && failed > 0 { paint.bad(cell) } else { cell.to_string() }
            },
        );
    }
    table
}

/// The parts of requests that occurred.
pub(super) fn phase_table(phases: &PhaseResults, width: usize) -> String {
    if phases.occurred().next().is_none() {
        return String::new();
    }
    let right = ["count", "mean", "p50", "p95", "p99", "max"].map(|title| (title, Align::Right));
    let heading = std::iter::once(("Where the time of requests goes", Align::Left)).chain(right);
    let mut table = Table::new(&heading.collect::<Vec<_>>());
    for (name, phase) in phases.occurred() {
        let mut cells = vec![format!("  {name}"), figures::count(phase.count)];
        let times = [phase.mean_s, phase.p50_s, phase.p95_s, phase.p99_s, phase.max_s];
        cells.extend(times.map(figures::time));
        table.row(cells);
    }
    table.lines(width)
}

/// Where the time of requests goes, what no row has, and what else happened on the wire.
pub(super) fn phases(page: &Page, width: usize) -> String {
    let record = &page.record;
    let mut text = phase_table(&record.phases, width);
    if let Some(untimed) = &record.untimed {
        text.push_str(&(wrap(&format!("  Not timed: {}", words::untimed(untimed)), width, "  ") + "\n"));
    }
    if let Some(wire) = words::wire(&record.wire) {
        text.push_str(&(wrap(&format!("  {wire}"), width, "  ") + "\n"));
    }
    text
}

/// The kit's own figures.
pub(super) fn metrics(page: &Page, width: usize) -> String {
    let titles = page.record.metrics.iter().map(|metric| plain(&metric.title).chars().count());
    let title_width = titles.max().unwrap_or(0);
    let line = |metric: &model::record::MetricResult| {
        let bounds = figures::bounds(metric).map(|bounds| format!("  ({bounds})")).unwrap_or_default();
        let value = figures::measured(metric.value, &metric.unit) + &bounds;
        let line = format!("{:<title_width$}  {}", plain(&metric.title), plain(&value));
        if line.chars().count() > width { wrap(&line, width, "  ") + "\n" } else { line + "\n" }
    };
    page.record.metrics.iter().map(line).collect()
}

/// CPU and memory by tier.
pub(super) fn tiers(page: &Page, width: usize) -> String {
    let tiers = &page.record.tiers;
    if tiers.is_empty() {
        return String::new();
    }
    let cpus = page.cpus().max(1);
    let name_width = tiers.iter().map(|tier| tier.tier.chars().count()).max().unwrap_or(0);
    let bar_width = width.saturating_sub(name_width + 44).clamp(8, 40);
    let mut text = format!("CPU by tier, cores of {cpus}\n");
    for tier in tiers {
        let share = tier.cpu_cores.map_or(0.0, |cores| cores / cpus as f64);
        let per = tier.cpu_s_per_operation.map(|s| format!("{} per operation", figures::time(Some(s))));
        let memory = tier.memory_bytes.map(|bytes| figures::bytes(Some(bytes)));
        let rest: Vec<String> = per.into_iter().chain(memory).collect();
        let line = format!(
            "  {:<name_width$}  {:>6}  {:<bar_width$}  {}",
            plain(&tier.tier),
            figures::number(tier.cpu_cores),
            bar(share, bar_width),
            rest.join(", ")
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    // What others used is no tier, but a reader who compares runs must see it.
    if let Some(foreign) = page.record.generator.foreign_cores.filter(|cores| *cores >= 0.05) {
        let cores = figures::number(Some(foreign));
        text.push_str(&format!("  other processes of this machine used {cores} cores meanwhile\n"));
    }
    text
}

/// Errors by operation and kind, and samples of them.
pub(super) fn errors(page: &Page, width: usize, paint: Paint) -> String {
    let (completed, failed) = page.counts;
    let evidence = &page.record.evidence;
    if failed == 0 && evidence.is_empty() {
        return String::new();
    }
    let all = figures::count(completed + failed);
    let title = format!("Errors: {} of {all} operations", figures::count(failed));
    let mut text = format!("{} ({})\n", paint.bad(&title), figures::percent(page.failed_ratio()));
    for row in page.rows(OperationKind::Operation).filter(|row| !row.errors.is_empty()) {
        text.push_str(&format!("  {}: {}\n", plain(&row.name), words::errors(&row.errors)));
    }
    text.push_str(&self::evidence(evidence, width));
    text
}

/// Samples of errors.
pub(super) fn evidence(evidence: &[Evidence], width: usize) -> String {
    let mut text = String::new();
    for sample in evidence.iter().take(SAMPLES_SHOWN) {
        let what = format!("{} s, {}, {}: {}", sample.second, sample.operation, sample.kind, sample.message);
        text.push_str(&format!("  {}\n", wrap(&plain(&what), width - 2, "    ")));
        for more in sample.request.iter().chain(&sample.answer) {
            text.push_str(&format!("      {}\n", shorten(&plain(more), width - 6)));
        }
    }
    if evidence.len() > SAMPLES_SHOWN {
        text.push_str(&format!("  and {} more samples in run.json\n", evidence.len() - SAMPLES_SHOWN));
    }
    text
}

/// The checks of the instrument: those that fail in full, those that hold in a number.
pub(super) fn checks(
    validity: &[ValidityCheck],
    consistency: &[ConsistencyResult],
    width: usize,
    paint: Paint,
) -> String {
    let checks: Vec<Check<'_>> = checks::of(validity, consistency).collect();
    if checks.is_empty() {
        return String::new();
    }
    let failed: Vec<_> = checks.iter().filter(|check| !check.ok).collect();
    match (failed.len(), checks.len()) {
        (0, 1) => return "Validity: the one check holds\n".to_string(),
        (0, all) => return format!("Validity: all {all} checks hold\n"),
        _ => {}
    }
    let mut text = paint.bad(&format!("Validity: {} of {} checks fail", failed.len(), checks.len())) + "\n";
    for check in failed {
        let line = format!("  {}: {}", plain(&check.name), plain(check.sentence));
        text.push_str(&(wrap(&line, width, "    ") + "\n"));
    }
    text
}

/// What could not be read.
pub(super) fn notes(page: &Page, width: usize) -> String {
    page.notes.iter().map(|note| wrap(&format!("Note: {}", plain(note)), width, "  ") + "\n").collect()
}

/// Where the run is kept.
pub(super) fn files(page: &Page) -> String {
    format!("Kept in {}\n", plain(&page.directory.display().to_string()))
}
