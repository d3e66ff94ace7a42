//! What holds the stack: the answer, where the time went as bars, the suspects, what to try.

use std::path::Path;

use model::RunRecord;
use model::record::Outage;
use model::record::diagnosis::{Diagnosis, Injected, Ledger, Limited, Suspect};

use super::draw::bar;
use super::paint::Paint;
use super::table::wrap;
use crate::explained::{self, Tried};
use crate::headline::sentence;
use crate::{Tone, figures, words};
use model::outside::one_line as plain;

/// How much of a diagnosis is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Beside everything else of a run or study: the evidence is left to `explain`.
    Brief,
    /// Everything.
    Full,
}

/// The answer, its word in colour.
pub(crate) fn answer(diagnosis: &Diagnosis, width: usize, paint: Paint) -> String {
    let (tone, word) = match diagnosis.state {
        Limited::Yes => (Tone::Open, "Limited"),
        Limited::No => (Tone::Good, "Headroom"),
        Limited::Unclear => (Tone::Doubtful, "Unclear"),
    };
    paint.answer(tone, word, &explained::answer(diagnosis), width)
}

/// What follows the answer: where the time went, the suspects, what to try, and in full what proved it and what could
/// not be seen.
pub(crate) fn reasons(diagnosis: &Diagnosis, tried: Tried<'_>, detail: Detail, width: usize) -> String {
    // What was tried on purpose says more than what was seen.
    let mut parts = vec![line_proof(diagnosis, width)];
    parts.extend(diagnosis.ledger.iter().map(|ledger| self::ledger(ledger, width)));
    parts.push(suspects(diagnosis, tried, detail, width));
    parts.push(proof(diagnosis, width));
    if detail == Detail::Full {
        parts.push(unseen(&diagnosis.unseen, width));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Where the time of a mean operation went, a bar a part.
fn ledger(ledger: &Ledger, width: usize) -> String {
    let parts = explained::parts(ledger);
    let names: Vec<String> = parts.iter().map(|part| plain(&part.name)).collect();
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(widest + 24).clamp(8, 40);
    let lines = parts.iter().zip(&names).map(|(part, name)| {
        let (time, share) =
            (figures::time(Some(part.s_per_operation)), figures::percent(Some(part.share_ratio)));
        format!("  {name:<widest$}  {time:>8}  {share:>6}  {}\n", bar(part.share_ratio, room))
    });
    let lines: String = lines.collect();
    wrap(&plain(&explained::ledger_sentence(ledger)), width, "  ") + "\n" + &lines
}

fn suspects(diagnosis: &Diagnosis, tried: Tried<'_>, detail: Detail, width: usize) -> String {
    let held = diagnosis.state == Limited::Yes;
    let mut text = String::new();
    let (told, others) = match detail {
        Detail::Brief => explained::suspects(diagnosis),
        Detail::Full => (diagnosis.suspects.as_slice(), [].as_slice()),
    };
    for (index, suspect) in told.iter().enumerate() {
        let rank = if index == 0 && held { "Limit" } else { "Suspect" };
        let title = format!(
            "{rank}: {} ({}), {}",
            suspect.title,
            explained::location(suspect),
            explained::sure(suspect.sure_ratio)
        );
        text.push_str(&(wrap(&plain(&title), width, "  ") + "\n"));
        if detail == Detail::Full {
            text.push_str(&evidence(suspect, width));
        }
        if index == 0 || detail == Detail::Full {
            text.push_str(&tries(suspect, tried, width));
        }
    }
    if !others.is_empty() {
        let names: Vec<String> = others.iter().map(explained::named).collect();
        text.push_str(&(wrap(&plain(&format!("Hardly likely: {}", names.join("; "))), width, "  ") + "\n"));
    }
    text
}

fn evidence(suspect: &Suspect, width: usize) -> String {
    let line = |clue: &model::record::diagnosis::Clue| {
        let direction = explained::direction(clue);
        wrap(&format!("  {direction:<16}  {}", plain(&clue.sentence)), width, "                    ") + "\n"
    };
    suspect.evidence.iter().map(line).collect()
}

fn tries(suspect: &Suspect, tried: Tried<'_>, width: usize) -> String {
    let mut text = String::new();
    for one in &suspect.tries {
        let change = explained::change(one).map_or(String::new(), |change| format!("{change}; "));
        let what = format!("    try {}", plain(&format!("{change}{}", one.why)));
        text.push_str(&(wrap(&what, width, "      ") + "\n"));
        let command = explained::try_command(tried, one);
        text.extend(command.map(|command| copied(&plain(&command), width)));
    }
    text
}

/// A command line that can be copied as it stands: broken before flags only, each line but the last with a backslash.
fn copied(command: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for (index, part) in command.split(" --").enumerate() {
        let part = if index == 0 { part.to_string() } else { format!(" --{part}") };
        let line = lines.last_mut().expect("there is a first line");
        // Inside of quotes a backslash would be one.
        let quoted = line.matches('\'').count() % 2 == 1;
        if index > 0 && !quoted && 8 + line.chars().count() + part.chars().count() > width {
            line.push_str(" \\");
            lines.push(format!("  {}", part.trim_start()));
        } else {
            line.push_str(&part);
        }
    }
    lines.iter().map(|line| format!("      {line}\n")).collect()
}

fn proof(diagnosis: &Diagnosis, width: usize) -> String {
    let Some(proof) = &diagnosis.proof else { return String::new() };
    let mut text = wrap(&format!("Proof: {}", plain(&sentence(&proof.sentence))), width, "  ") + "\n";
    for one in &proof.handicaps {
        let who = if one.suspect { "suspect" } else { "innocent" };
        let line = format!(
            "{} ({who}): {} {}, elasticity {} in {} pairs",
            one.tier,
            one.what,
            explained::changed(one.change),
            elasticity(one.elasticity, one.interval),
            one.pairs
        );
        text.push_str(&(wrap(&format!("  {}", plain(&line)), width, "    ") + "\n"));
    }
    text
}

fn line_proof(diagnosis: &Diagnosis, width: usize) -> String {
    let Some(proof) = &diagnosis.line_proof else { return String::new() };
    let mut text =
        wrap(&format!("Proof of the line: {}", plain(&sentence(&proof.sentence))), width, "  ") + "\n";
    text.push_str(&(wrap(&format!("  {}:", plain(&wording::moved_target(proof))), width, "    ") + "\n"));
    for one in &proof.moves {
        text.push_str(&(wrap(&format!("    {}", plain(&wording::target_move(one))), width, "      ") + "\n"));
    }
    text
}

/// `0.82 [0.61, 1.03]`.
pub(crate) fn elasticity(value: Option<f64>, interval: Option<(f64, f64)>) -> String {
    let two = |value: f64| format!("{value:.2}");
    match (value, interval) {
        (None, _) => figures::NOTHING.to_string(),
        (Some(value), None) => two(value),
        (Some(value), Some((low, high))) => format!("{} [{}, {}]", two(value), two(low), two(high)),
    }
}

/// What could not be seen.
pub(crate) fn unseen(sentences: &[String], width: usize) -> String {
    let line = |sentence: &String| wrap(&format!("  {}", plain(sentence)), width, "    ") + "\n";
    if sentences.is_empty() {
        String::new()
    } else {
        "Not seen\n".to_string() + &sentences.iter().map(line).collect::<String>()
    }
}

/// A fault that was injected, so that nobody takes it for the stack's own, and what came of instances that were ended.
pub(super) fn injected(injected: &Injected, outages: &[Outage], width: usize, paint: Paint) -> String {
    let name = injected.fault.as_ref().map(|fault| format!(" ({fault})")).unwrap_or_default();
    let what = format!("Injected on purpose: {}{name}", injected.title);
    let outages = outages.iter().map(wording::outage);
    let done = injected.done.iter().cloned().chain(outages);
    let done = done.map(|done| wrap(&format!("  {}", plain(&done)), width, "    ") + "\n");
    format!("{}\n{}", paint.tone(Tone::Doubtful, &wrap(&plain(&what), width, "  ")), done.collect::<String>())
}

/// The core of a server that was ended for a wait, or that none was ended.
pub(super) fn aborted(record: &RunRecord, directory: &Path, width: usize) -> String {
    let told = words::aborted(record, directory);
    told.map(|told| wrap(&plain(&told), width, "  ") + "\n").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_broken_where_a_shell_joins_it_again() {
        let command = "plimsoll compare default web.x=2 --kit dvdstore --qos 'a --b' --users 40";
        let text = copied(command, 50);
        assert_eq!(
            text,
            "      plimsoll compare default web.x=2 \\\n        --kit dvdstore --qos 'a --b' --users 40\n"
        );
        let joined: Vec<&str> = text.split_whitespace().filter(|word| *word != "\\").collect();
        assert_eq!(joined.join(" "), command);
    }
}
