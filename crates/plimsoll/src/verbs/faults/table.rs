//! The table of faults and diagnoses: for people, and as JSON.

use std::fmt::Write as _;

use analysis::score::{FALSE_ALARMS, FIRST_RATIO, Judged, Score, THREE_RATIO, confusion};
use model::catalogue::fault_file::Expected;
use model::record::diagnosis::{Diagnosis, Suspect};
use model::{FaultFile, Problem, Result, RunRecord};

use super::{seconds, units_of};

/// A fault that was run, or could not be.
pub(super) struct Row {
    fault: String,
    expect: Expected,
    run: String,
    diagnosis: Option<Diagnosis>,
    /// The run's own verdict.
    sentence: String,
    valid: bool,
    /// Why it could not be run.
    pub(super) skipped: Option<String>,
    took_s: f64,
}

impl Row {
    pub(super) fn of(fault: &FaultFile, record: &RunRecord, took_s: f64) -> Row {
        Row {
            fault: fault.name.clone(),
            expect: fault.expect.clone(),
            run: record.id.clone(),
            diagnosis: record.diagnosis.clone(),
            sentence: record.verdict.sentence.clone(),
            valid: record.verdict.valid,
            skipped: None,
            took_s,
        }
    }

    pub(super) fn skipped(fault: &FaultFile, why: &str, took_s: f64) -> Row {
        Row {
            fault: fault.name.clone(),
            expect: fault.expect.clone(),
            run: String::new(),
            diagnosis: None,
            sentence: String::new(),
            valid: false,
            skipped: Some(format!("{}: {why}", fault.name)),
            took_s,
        }
    }

    /// What it says of the diagnosis; nothing when it was skipped.
    pub(super) fn judged(&self) -> Option<Judged> {
        let judged = || Judged::of(&self.fault, &self.run, &self.expect, self.diagnosis.as_ref());
        self.skipped.is_none().then(judged)
    }
}

/// What there is.
pub(super) fn list(faults: &[FaultFile]) -> String {
    let mut text = String::new();
    for fault in faults {
        let quick = if fault.quick { "  (quick)" } else { "" };
        let _ = writeln!(text, "{:<22} {:<22} {}{quick}", fault.name, expected(&fault.expect), fault.title);
    }
    text.trim_end().to_string()
}

/// A row as it is told when its run has ended.
pub(super) fn line(row: &Row) -> String {
    let Some(judged) = row.judged() else {
        return format!("skipped: {}", row.skipped.as_deref().unwrap_or_default());
    };
    let word = word(&judged);
    let named = judged.suspects.first().map_or("nothing".to_string(), suspect);
    let doubt = if row.valid { "" } else { " (the run is not valid)" };
    let (fault, expect) = (&row.fault, expected(&row.expect));
    format!("{fault}: {expect}; the diagnosis says {named}: {word}{doubt}, {}", seconds(row.took_s))
}

fn word(judged: &Judged) -> &'static str {
    match (judged.right, judged.among_three, judged.expected.is_some()) {
        (true, _, _) => "right",
        (false, true, _) => "among the first three",
        (false, false, true) => "wrong",
        (false, false, false) => "a false alarm",
    }
}

fn expected(expect: &Expected) -> String {
    match expect {
        Expected::Healthy => "nothing".to_string(),
        Expected::Limit { tier, resource } => format!("{tier} {resource}"),
    }
}

fn suspect(((tier, resource), sure): &((String, String), f64)) -> String {
    format!("{tier} {resource} {:.0} %", sure * 100.0)
}

/// The whole table.
pub(super) fn text(rows: &[Row], judged: &[Judged], score: &Score, took_s: f64) -> String {
    let mut text = String::new();
    let header = ["fault", "expected", "first", "second", "third", "right?"].map(str::to_string);
    let mut cells = vec![header.to_vec()];
    for one in judged {
        let fault = rows.iter().find(|row| row.fault == one.fault);
        let expect = fault.map(|row| expected(&row.expect)).unwrap_or_default();
        let mut line = vec![one.fault.clone(), expect];
        let blank = || if one.blames { "–" } else { "nothing" }.to_string();
        let named = |place: usize| one.suspects.get(place).map(suspect);
        let first = if one.blames { named(0) } else { named(0).map(|name| format!("nothing ({name})")) };
        line.push(first.unwrap_or_else(blank));
        line.extend([1, 2].map(|place| named(place).unwrap_or_else(|| "–".to_string())));
        line.push(word(one).to_string());
        cells.push(line);
    }
    columns(&cells, &mut text);
    for why in rows.iter().filter_map(|row| row.skipped.as_deref()) {
        let _ = writeln!(text, "skipped  {why}");
    }
    text += "\nWhere the limit is (rows), and where the diagnosis sees it\n";
    let (named, counts) = confusion(judged);
    let mut cells = vec![[vec![String::new()], named].concat()];
    for (row, counts) in counts {
        let numbers = counts.iter().map(|count| if *count == 0 { "·".into() } else { count.to_string() });
        cells.push([row].into_iter().chain(numbers).collect());
    }
    columns(&cells, &mut text);
    text + "\n" + &marks(rows, score, took_s)
}

fn marks(rows: &[Row], score: &Score, took_s: f64) -> String {
    let invalid: Vec<&str> =
        rows.iter().filter(|row| row.skipped.is_none() && !row.valid).map(|row| row.fault.as_str()).collect();
    let mut text = format!(
        "{}: the right one first in {:.0} % (asked: {:.0} %), among the first three in {:.0} % (asked: {:.0} %)\n\
         {} controls: {} false alarms (at most {FALSE_ALARMS})\n\
         Brier score {:.3} (0 is best, 0.25 is what a coin gives); it took {}",
        units_of(score.faults),
        score.first_ratio * 100.0,
        FIRST_RATIO * 100.0,
        score.three_ratio * 100.0,
        THREE_RATIO * 100.0,
        score.controls,
        score.false_alarms,
        score.brier,
        seconds(took_s),
    );
    if !invalid.is_empty() {
        let _ = write!(text, "\nruns that were not valid: {}", invalid.join(", "));
    }
    text
}

/// Lines whose columns stand below each other.
fn columns(cells: &[Vec<String>], text: &mut String) {
    let wide = |column: usize| {
        cells.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    for line in cells {
        let mut shown = String::new();
        for (column, cell) in line.iter().enumerate() {
            let _ = write!(shown, "{cell}{}  ", " ".repeat(wide(column) - cell.chars().count()));
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
}

fn suspect_json(one: &Suspect) -> serde_json::Value {
    let Suspect { tier, resource, sure_ratio, .. } = one;
    serde_json::json!({ "tier": tier, "resource": resource, "sure_ratio": sure_ratio })
}

/// The same for programs.
pub(super) fn json(rows: &[Row], score: &Score, took_s: f64) -> Result<String> {
    let rows: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| {
            let judged = row.judged();
            serde_json::json!({
                "fault": row.fault,
                "expect": row.expect,
                "run": row.run,
                "valid": row.valid,
                "verdict": row.sentence,
                "state": row.diagnosis.as_ref().map(|diagnosis| diagnosis.state),
                "suspects": row.diagnosis.as_ref().map(|diagnosis| {
                    diagnosis.suspects.iter().take(3).map(suspect_json).collect::<Vec<_>>()
                }),
                "right": judged.as_ref().map(|judged| judged.right),
                "among_three": judged.as_ref().map(|judged| judged.among_three),
                "skipped": row.skipped,
                "took_s": row.took_s,
            })
        })
        .collect();
    let all = serde_json::json!({
        "format": 1,
        "faults": rows,
        "score": {
            "faults": score.faults,
            "first_ratio": score.first_ratio,
            "three_ratio": score.three_ratio,
            "controls": score.controls,
            "false_alarms": score.false_alarms,
            "brier": score.brier,
        },
        "took_s": took_s,
    });
    serde_json::to_string_pretty(&all).map_err(|error| Problem::bug(error.to_string()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other_whatever_their_letters() {
        let cells = [["a", "längst", "x"], ["bbb", "y", "z"]].map(|line| line.map(str::to_string).to_vec());
        let mut text = String::new();
        columns(&cells, &mut text);
        assert_eq!(text, "a    längst  x\nbbb  y       z\n");
    }
}
