//! A find as text.

use model::StudyRecord;
use model::study::{Find, Trial};

use crate::explained::Tried;
use crate::figures;
use crate::scale::Scale;
use crate::study::find::course::Course;
use crate::study::words::{self, Unit};
use crate::terminal::draw::sparkline;
use crate::terminal::holds::{self, Detail};
use crate::terminal::paint::Paint;
use crate::terminal::plain;
use crate::terminal::plot::Plot;
use crate::terminal::table::{Align, Table, wrap};

/// What only a find shows.
pub(super) fn sections(record: &StudyRecord, find: &Find, width: usize, paint: Paint) -> Vec<String> {
    let Some(course) = Course::of(record) else { return Vec::new() };
    vec![
        facts(record, find, &course, width),
        drawing(record, &course, width),
        trials(record, &course, width, paint),
        reasons(record, width),
        tiers(record, &course, width),
        errors(record, &course, width),
    ]
}

/// Where the time goes at the line, who is suspected, what to try.
fn reasons(record: &StudyRecord, width: usize) -> String {
    let reasons = |diagnosis| holds::reasons(diagnosis, Tried::of_study(record), Detail::Brief, width);
    record.diagnosis.as_ref().map(reasons).unwrap_or_default()
}

/// What the sentence leaves out: throughput there, steepness, certainty, the verdict by averages.
fn facts(record: &StudyRecord, find: &Find, course: &Course, width: usize) -> String {
    let goal = &find.goal;
    let asked = format!(
        "asked for ±{} at {} confidence within {}",
        figures::percent(Some(goal.half_width_ratio)),
        figures::percent(Some(goal.confidence_ratio)),
        figures::duration(Some(goal.budget_s))
    );
    let found = course.line.iter().flat_map(|line| {
        let there = line
            .throughput_per_s
            .map(|per_s| format!("{} operations/s at the load line", figures::number(Some(per_s))));
        there.into_iter().chain(words::by_average(record, line)).chain(words::line_facts(line))
    });
    std::iter::once(asked)
        .chain(found)
        .map(|fact| wrap(&format!("  {}", plain(&fact)), width, "    ") + "\n")
        .collect()
}

/// The target's observed value against the load.
fn drawing(record: &StudyRecord, course: &Course, width: usize) -> String {
    let Some(clause) = course.clause else { return String::new() };
    let unit = words::unit(&clause.clause);
    let observed: Vec<(&Trial, f64)> = course.observed().collect();
    let loads = || observed.iter().map(|(trial, _)| trial.load);
    let values = || observed.iter().map(|(_, value)| *value);
    let limit = std::iter::once(clause.limit);
    let log = values().all(|value| value > 0.0);
    let y =
        if log { Scale::log(values().chain(limit), 0.03) } else { Scale::from_zero(values().chain(limit)) };
    let (Some(x), Some(y), true) = (Scale::log(loads(), 0.02), y, observed.len() > 1) else {
        return String::new();
    };
    let letter = |trial: &Trial| match words::verdict(record, trial) {
        words::FEW => '△',
        "not valid" => '×',
        _ => words::letter(trial.purpose),
    };
    let plot = Plot {
        x,
        y,
        points: observed.iter().map(|(trial, value)| (trial.load, *value, letter(trial))).collect(),
        limit: Some((clause.limit, "limit")),
        band: course.line.map(|line| (line.low, line.high)),
        x_label: &|load| words::load_tick(record, load),
        y_label: &|value| axis_label(value, unit),
        unit: words::load_unit(record, 0),
    };
    let scales = if log { "both scales logarithmic" } else { "load on a logarithmic scale" };
    let band = course.line.map_or("", |_| "  ░ interval");
    let few = words::some_few(observed.iter().map(|(trial, _)| *trial));
    let few = if few { format!("  △ {}", words::FEW) } else { String::new() };
    let name = plain(words::clause_name(&clause.clause));
    format!(
        "{name} against load ({scales})\n{}  ○ ramp  ● search  ◆ confirm{few}  × not valid{band}\n",
        plot.lines(width)
    )
}

/// A round value without the digits that only a measurement has.
fn axis_label(value: f64, unit: Unit) -> String {
    if unit == Unit::Seconds { figures::duration(Some(value)) } else { words::in_unit(Some(value), unit) }
}

/// Each trial in a line.
fn trials(record: &StudyRecord, course: &Course, width: usize, paint: Paint) -> String {
    let unit = words::load_unit(record, 0);
    // The target of the line has a column of its own unless it is the p95 that is shown anyway.
    let name = course.clause.map(|clause| plain(words::clause_name(&clause.clause)));
    let name = name.filter(|name| name != "p95");
    let mut heading = vec![
        ("Trials", Align::Left),
        ("", Align::Left),
        (unit, Align::Right),
        ("warm-up", Align::Right),
        ("window", Align::Right),
        ("op/s", Align::Right),
        ("p95", Align::Right),
    ];
    heading.extend(name.iter().map(|name| (name.as_str(), Align::Right)));
    heading.push(("", Align::Left));
    let verdict_column = heading.len() - 1;
    let mut table = Table::new(&heading);
    for trial in &record.trials {
        let seen = trial.measured.as_ref();
        let value = |name: &str| seen.and_then(|seen| Some(seen.figure(name, None)?.value));
        let mut cells = vec![
            format!("  {}", trial.number),
            trial.purpose.word().to_string(),
            words::load_number(record, trial.arm, trial.load),
            figures::duration(trial.warm_up_s),
            figures::duration(Some(trial.window_s)),
            figures::number(value("throughput")),
            figures::time(value("p95")),
        ];
        if name.is_some() {
            let clause = seen.and_then(|seen| {
                seen.clauses
                    .iter()
                    .find(|one| Some(&one.clause) == course.clause.map(|clause| &clause.clause))
            });
            cells.push(clause.map_or_else(|| figures::NOTHING.to_string(), words::observed));
        }
        let verdict = words::verdict(record, trial);
        let good = matches!(verdict, "passed" | words::FEW | "not used");
        // The drawing above says few of what; there is no room for it here.
        cells.push(verdict.trim_end_matches(" samples").to_string());
        table.row_painted(cells, move |column, cell| {
            if column == verdict_column && !good { paint.bad(cell.trim_end()) } else { cell.to_string() }
        });
    }
    table.lines(width)
}

/// Cores by tier, from the least load to the highest.
fn tiers(record: &StudyRecord, course: &Course, width: usize) -> String {
    let names = course.tiers();
    let loads: Vec<f64> =
        course.trials.iter().filter(|(trial, _)| trial.valid()).map(|(trial, _)| trial.load).collect();
    let (Some(first), Some(last), false) = (loads.first(), loads.last(), names.is_empty()) else {
        return String::new();
    };
    let from = if first < last { words::load_number(record, 0, *first) + " to " } else { String::new() };
    let mut text = format!("CPU by tier, {from}{}\n", words::load(record, 0, *last));
    let widest = names.iter().map(|name| plain(name).chars().count()).max().unwrap_or(0);
    for name in names {
        let cores: Vec<f64> = course.cores(name).into_iter().map(|(_, cores)| cores).collect();
        let values: Vec<Option<f64>> = cores.iter().copied().map(Some).collect();
        let least = figures::number(cores.iter().copied().reduce(f64::min));
        let most = figures::number(cores.iter().copied().reduce(f64::max));
        let line = sparkline(&values, width.saturating_sub(widest + 30));
        let span = if least == most { most } else { format!("{least} to {most}") };
        text.push_str(&format!("  {:<widest$}  {line}  {span} cores\n", plain(name)));
    }
    text
}

/// Failed operations, where there were any.
fn errors(record: &StudyRecord, course: &Course, width: usize) -> String {
    let valid = course.trials.iter().filter(|(trial, _)| trial.valid());
    let Some((trial, seen)) = valid.max_by(|a, b| a.1.failed_ratio.total_cmp(&b.1.failed_ratio)) else {
        return String::new();
    };
    if seen.failed_ratio == 0.0 {
        return "Errors: no operation failed in a valid trial\n".to_string();
    }
    let share = figures::percent(Some(seen.failed_ratio));
    let load = words::load(record, trial.arm, trial.load);
    wrap(
        &format!("Errors: up to {share} of operations failed, at {load} (trial {})", trial.number),
        width,
        "  ",
    ) + "\n"
}
