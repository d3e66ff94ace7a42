//! Runs side by side as text: what differs, then the figures of each run against those of the base.

use model::outside::one_line as plain;

use super::paint::Paint;
use super::table::{Align, Table, wrap};
use super::width;
use crate::beside::{Beside, Difference, FileChange, FileDifference, Judged, RunBeside};
use crate::{Tone, figures};

/// Lines of a file's difference that are shown; the page and the JSON have more.
const DIFF_LINES: usize = 40;

/// Runs side by side as text for a terminal of `width` columns, what differs first. Whatever servers and users supplied is stripped
/// of control characters.
pub fn beside(beside: &Beside, width: usize, colour: bool) -> String {
    let width = width::of_lines(width);
    let paint = Paint { colour };
    let refused = beside
        .not_comparable
        .as_ref()
        .map(|why| paint.answer(Tone::Doubtful, "Not comparable", &crate::headline::sentence(why), width));
    let mut sections = vec![refused.unwrap_or_default(), runs(beside, width), differences(beside, width)];
    sections.extend(configuration(beside));
    if beside.not_comparable.is_none() {
        let others = (0..beside.runs.len()).filter(|index| *index != beside.base);
        sections.extend(others.filter_map(|index| figures_of(beside, index, width, paint)));
        sections.extend(spent(beside, width));
        sections.push(end(beside, width));
    }
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

fn runs(beside: &Beside, width: usize) -> String {
    let mut text = format!("{} runs, against {}\n", beside.runs.len(), beside.base_label());
    let mut table = Table::new(&[
        ("  ", Align::Left),
        ("run", Align::Left),
        ("verdict", Align::Left),
        ("load", Align::Right),
        ("steady", Align::Right),
        ("stack", Align::Left),
    ]);
    for run in &beside.runs {
        table.row(vec![
            format!("  {}", run.label),
            plain(&run.id),
            run.verdict.to_lowercase(),
            run.load.clone(),
            figures::duration(Some(run.steady_s)),
            plain(&run.stack),
        ]);
    }
    text += &table.lines_cut_last(width);
    for run in &beside.runs {
        let said = notes(run).map(|notes| format!("  {}: {}", run.label, plain(&notes)));
        // A run that is no result says why; what the others came to is in the figures.
        let why = (!run.valid).then(|| format!("  {} is no result: {}", run.label, plain(&run.sentence)));
        let fault = run.fault.as_ref().map(|fault| format!("  {}: {}", run.label, plain(fault)));
        for line in [said, why, fault].into_iter().flatten() {
            text += &(wrap(&line, width, "     ") + "\n");
        }
    }
    text
}

/// `pinned #night before the upgrade`.
fn notes(run: &RunBeside) -> Option<String> {
    let pinned = run.pinned.then(|| "pinned".to_string());
    let tags = run.tags.iter().map(|tag| format!("#{tag}"));
    let note = Some(run.note.clone()).filter(|note| !note.is_empty());
    let all: Vec<String> = pinned.into_iter().chain(tags).chain(note).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn differences(beside: &Beside, width: usize) -> String {
    let aside = beside.uncounted.iter().map(|one| format!("{} {}", one.name, shown(one).join(", ")));
    let aside: Vec<String> = aside.collect();
    let aside = match aside.is_empty() {
        true => String::new(),
        false => wrap(&format!("  not counted: {}", aside.join("; ")), width, "    ") + "\n",
    };
    if beside.differences.is_empty() {
        return format!("Nothing differs of how they were made.\n{aside}");
    }
    let labels: Vec<&str> = beside.labels().collect();
    let mut heading = vec![("  what differs", Align::Left)];
    heading.extend(labels.iter().map(|label| (*label, Align::Left)));
    let mut table = Table::new(&heading);
    for one in &beside.differences {
        table.row([vec![format!("  {}", plain(&one.name))], shown(one)].concat());
    }
    let text = match table.fits(width) {
        true => table.lines(width),
        false => one_below_the_other(&beside.differences, &labels, width),
    };
    format!("{text}{aside}")
}

/// Values too long for columns.
fn one_below_the_other(differences: &[Difference], labels: &[&str], width: usize) -> String {
    let mut text = "What differs\n".to_string();
    for one in differences {
        text += &format!("  {}\n", plain(&one.name));
        for (label, value) in labels.iter().zip(shown(one)) {
            text += &(wrap(&format!("    {label}  {value}"), width, "       ") + "\n");
        }
    }
    text
}

fn shown(one: &Difference) -> Vec<String> {
    one.values.iter().map(|value| value.as_deref().map_or(figures::NOTHING.to_string(), plain)).collect()
}

fn configuration(beside: &Beside) -> Vec<String> {
    let label = |index: &usize| beside.runs.get(*index).map_or("", |run| run.label.as_str());
    let one = |file: &FileDifference| {
        let runs: Vec<&str> = file.runs.iter().map(label).collect();
        let (runs, base) = (runs.join(", "), beside.base_label());
        let what = match file.change {
            FileChange::Changed => format!("+{} −{} lines, {base} to {runs}", file.added, file.removed),
            FileChange::Added => format!("only in {runs}"),
            FileChange::Removed => format!("in {base}, not in {runs}"),
        };
        let mut text = format!("{}: {what}\n", plain(&file.file));
        // The names of the files stand above.
        let lines: Vec<&str> = file.diff.lines().collect();
        lines
            .iter()
            .take(DIFF_LINES)
            .for_each(|line| text += &(format!("  {}", visible_line(line)).trim_end().to_string() + "\n"));
        text.truncate(text.trim_end().len());
        text.push('\n');
        let more = lines.len().saturating_sub(DIFF_LINES) + file.left_out;
        if more > 0 {
            text += &format!("  … {more} more lines\n");
        }
        text
    };
    // Files that came or went are a line each.
    let (whole, changed): (Vec<_>, Vec<_>) =
        beside.configuration.iter().partition(|file| file.diff.is_empty());
    let changed: Vec<String> = changed.into_iter().map(one).collect();
    let whole: String = whole.into_iter().map(one).collect();
    changed.into_iter().chain([whole]).collect()
}

/// A line of a file with its blanks, and nothing that steers a terminal.
fn visible_line(line: &str) -> String {
    let blanks = line.len() - line.trim_start().len();
    let lead: String = line[..blanks].chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
    lead + &plain(line)
}

/// The figures of one run against those of the base.
fn figures_of(beside: &Beside, index: usize, width: usize, paint: Paint) -> Option<String> {
    let run = beside.runs.get(index)?;
    let (base, own) = (beside.base_label(), run.label.as_str());
    let confidence = format!("{} interval", figures::percent(Some(beside.confidence_ratio)));
    let title = format!("{own} against {base}");
    let mut table = Table::new(&[
        (title.as_str(), Align::Left),
        (base, Align::Right),
        (own, Align::Right),
        ("change", Align::Right),
        (confidence.as_str(), Align::Right),
        ("", Align::Left),
    ]);
    for figure in &beside.figures {
        let value = |index: usize| {
            let measure = figure.values.get(index).copied().flatten();
            measure.map_or(figures::NOTHING.to_string(), |one| figures::measured(one.value, &figure.unit))
        };
        let change = figure.changes.get(index).copied().flatten();
        let judged = change.and_then(|one| one.judged);
        let cells = vec![
            format!("  {}", plain(&figure.name)),
            value(beside.base),
            value(index),
            change.map_or(figures::NOTHING.to_string(), |one| one.shown()),
            change.and_then(|one| one.ends()).unwrap_or_default(),
            judged.map_or("", Judged::word).to_string(),
        ];
        table.row_painted(cells, move |column, cell| match (column, judged) {
            (5, Some(Judged::Better)) => paint.tone(Tone::Good, cell),
            (5, Some(Judged::Worse)) => paint.bad(cell),
            _ => cell.to_string(),
        });
    }
    let mut text = table.lines(width);
    if let Some(failed) = &run.failed {
        let words = format!("  But {}.", wording::compare::failures_of(failed, [base, own]));
        text += &(paint.bad(&wrap(&words, width, "  ")) + "\n");
    }
    Some(text)
}

/// Where the time of a mean operation went, with a column for each run.
fn spent(beside: &Beside, width: usize) -> Option<String> {
    let heading = ("where a mean operation's time went", Align::Left);
    let columns = beside.labels().map(|label| (label, Align::Right));
    let mut table = Table::new(&std::iter::once(heading).chain(columns).collect::<Vec<_>>());
    for part in &beside.spent {
        let times = part.runs.iter().map(|time| {
            time.as_ref().map_or(figures::NOTHING.to_string(), |one| figures::time(Some(one.s_per_operation)))
        });
        table.row(std::iter::once(format!("  {}", plain(&part.name()))).chain(times).collect());
    }
    (!beside.spent.is_empty()).then(|| table.lines(width))
}

fn end(beside: &Beside, width: usize) -> String {
    let no_result = beside.runs.iter().filter(|run| !run.valid).map(|run| run.label.as_str());
    let no_result: Vec<&str> = no_result.collect();
    let mut text = wrap(&crate::headline::sentence(&beside.caveat), width, "") + "\n";
    text.extend(beside.condition_words().map(|words| wrap(&words, width, "") + "\n"));
    if !no_result.is_empty() {
        let words = format!("No differences are said of runs that are no result: {}.", no_result.join(", "));
        text += &(wrap(&words, width, "") + "\n");
    }
    text
}
