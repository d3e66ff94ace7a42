//! Runs whose limit is known, as the cases that the rules are tested on (`crates/analysis/tests/diagnosis/recorded.toml`).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use model::RunRecord;
use model::catalogue::fault_file::Expected;
use model::catalogue::rules::Rule;
use model::record::calls::CallLedger;
use model::record::diagnosis::{Doing, SignalSummary};

use super::fit::{Kept, Known};
use crate::Failure;

/// Prints a case for each run: only the signals that rules and the ledger read.
pub(crate) fn record(asked: &Kept) -> Result<(), Failure> {
    let (rules, known) = asked.open()?;
    let wanted = wanted(&rules);
    for one in &known {
        print!("{}", case(one, &wanted));
    }
    Ok(())
}

/// The names of signals without what they are about.
fn wanted(rules: &[Rule]) -> BTreeSet<String> {
    let of_rules =
        rules.iter().flat_map(|rule| &rule.evidence).map(|evidence| match evidence.signal.split_once(':') {
            Some(("run" | "front", name)) => format!("run.{name}"),
            Some((_, name)) => name.to_string(),
            None => evidence.signal.clone(),
        });
    // Those of the ledger are worked out again.
    let of_rules =
        of_rules.filter(|name| !["ledger.", "work.", "caused."].iter().any(|begin| name.starts_with(begin)));
    let of_run = ["run.operations_per_s", "run.response_s", "run.connecting_s", "run.missed_targets"];
    let of_run = of_run.into_iter().chain(["run.throughput_growth"]).map(str::to_string);
    of_rules.chain(analysis::declared::wanted_by_ledger()).chain(of_run).collect()
}

fn case(known: &Known, wanted: &BTreeSet<String>) -> String {
    let record = &known.record;
    let expect = match &known.expect {
        Expected::Healthy => "[]".to_string(),
        Expected::Limit { tier, resource } => format!("[\"{tier}\", \"{resource}\"]"),
    };
    let tiers: Vec<String> =
        record.setup.tiers.iter().map(|tier| format!("[\"{}\", \"{}\"]", tier.tier, tier.service)).collect();
    let name = &known.fault;
    let mut text =
        format!("\n[{name}]\nexpect = {expect}\ntiers = [{}]\n[{name}.signals]\n", tiers.join(", "));
    for signal in record.signals.iter().filter(|signal| wanted.contains(&signal.name)) {
        let tier = signal.tier.as_deref().unwrap_or_default();
        let _ = writeln!(text, "\"{tier}:{}\" = {}", signal.name, figures(signal, counted(record, signal)));
    }
    text
}

/// The threads that did something, by the kernel's account, where it closes: the ledger believes it before looks.
fn counted(record: &RunRecord, signal: &SignalSummary) -> Option<f64> {
    let calls: &CallLedger = record.calls.as_ref()?;
    let account = calls.account(signal.tier.as_deref()?)?;
    let word = signal.name.strip_prefix("threads.")?;
    let all = [
        Doing::WaitingForCallee,
        Doing::WaitingForDisk,
        Doing::Sleeping,
        Doing::WaitingForLock,
        Doing::Other,
    ];
    let doing = all.into_iter().find(|doing| doing.word() == word)?;
    Some(account.threads_doing(doing))
}

/// `[mean, limit, per operation, largest]`; the last ones are left out where they say nothing, a limit of 0 is none.
fn figures(signal: &SignalSummary, counted: Option<f64>) -> String {
    let mean = counted.unwrap_or(signal.mean);
    let max = if counted.is_some() { mean } else { signal.max };
    let mut all = vec![mean, signal.limit.unwrap_or(0.0), signal.per_operation.unwrap_or(0.0), max];
    if max == mean {
        all.pop();
        while all.len() > 1 && all.last() == Some(&0.0) {
            all.pop();
        }
    }
    let shown: Vec<String> = all.iter().map(|value| short(*value)).collect();
    if shown.len() == 1 { shown.concat() } else { format!("[{}]", shown.join(", ")) }
}

/// Four digits.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_string();
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_told_in_as_few_figures_as_it_has() {
        let signal = |mean: f64, max: f64, limit: Option<f64>| SignalSummary {
            tier: None,
            name: "cpu".to_string(),
            unit: String::new(),
            mean,
            max,
            early: None,
            limit,
            per_operation: None,
        };
        assert_eq!(figures(&signal(0.0, 0.0, None), None), "0");
        assert_eq!(figures(&signal(1.234567, 1.234567, None), None), "1.235");
        assert_eq!(figures(&signal(12345.0, 12345.0, Some(4.0)), None), "[12345, 4]");
        assert_eq!(figures(&signal(0.0012, 7.0, None), None), "[0.0012, 0, 0, 7]");
        assert_eq!(figures(&signal(3.0, 7.0, None), Some(0.5)), "0.5", "the kernel counted");
    }
}
