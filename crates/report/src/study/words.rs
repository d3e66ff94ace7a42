//! A study's numbers and names as people read them: each with its unit.

use model::QosTarget;
use model::StudyRecord;
use model::catalogue::load::{Arriving, Load};
use model::catalogue::qos::Measure;
use model::record::TargetOutcome;
use model::record::study::{By, CPU, Ceiling, Conclusion, Effect, LoadLine, Purpose, Trial, TrialVerdict};

use super::chart::Format;
use crate::figures;

/// `412 users`, `41.2 sessions/s`: a load of that arm.
pub(crate) fn load(record: &StudyRecord, arm: usize, load: f64) -> String {
    let unit = load_unit(record, arm);
    let number = load_number(record, arm, load);
    match unit {
        "users" if number == "1" => "1 user".to_string(),
        unit => format!("{number}{}{unit}", if unit.starts_with('/') { "" } else { " " }),
    }
}

/// `412`, `41.2`: a load of that arm without its unit. Users are whole.
pub(crate) fn load_number(record: &StudyRecord, arm: usize, load: f64) -> String {
    let whole = load_unit(record, arm) == "users";
    figures::number(Some(if whole { load.round() } else { load }))
}

/// `users`, `sessions/s`, `operations/s`: what that arm's loads are counted in.
pub(crate) fn load_unit(record: &StudyRecord, arm: usize) -> &'static str {
    let recipe = record.arms.get(arm).map(|arm| &arm.recipe);
    let by_rate = match record.question.kind().by() {
        Some(by) => by == By::Rate,
        None => recipe.is_some_and(|recipe| recipe.rate.is_some()),
    };
    if !by_rate {
        return "users";
    }
    let resolved = |load: &Load| load.arrivals.map(|arrivals| arrivals.arriving);
    let arriving = recipe
        .and_then(|recipe| recipe.arriving)
        .or_else(|| record.setup.load.as_ref().and_then(resolved))
        .unwrap_or_default();
    match arriving {
        Arriving::Sessions => "sessions/s",
        Arriving::Operations => "operations/s",
    }
}

/// `data set small`, `data sets 500mb, 3.3gb, mix browsing`: what the trials ran on, and which of the kit's mixes.
pub(crate) fn data_set(record: &StudyRecord) -> String {
    let kind = record.question.kind();
    let varied = |name: &str| kind.factors().iter().find(|factor| factor.name == name);
    // One that is varied is told with the factors.
    let mix = if varied("mix").is_some() { String::new() } else { crate::words::mix(&record.setup) };
    match varied("size") {
        Some(factor) => format!("data sets {}{mix}", factor.levels.join(", ")),
        None => format!("data set {}{mix}", record.setup.size),
    }
}

/// Every digit of a number, for programs; nothing where there is none.
pub(crate) fn digits(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
}

/// With a capital letter, unless it is a percentile's name.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some('p'), Some('0'..='9')) | (None, _) => text.to_string(),
        (Some(first), _) => first.to_uppercase().chain(letters).collect(),
    }
}

/// `text` on one line of a page.
pub(crate) fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{202f}")
}

/// How values of a measure stand at an axis.
pub(crate) fn axis_format(measure: Measure) -> Format {
    match measure {
        Measure::Percentile(_) | Measure::Mean | Measure::Max => Format::Duration,
        Measure::Errors | Measure::Waiting(_) => Format::Percent,
        Measure::Throughput => Format::PerS,
        Measure::Samples => Format::Number,
    }
}

/// `387/s`.
pub(crate) fn per_s(value: Option<f64>) -> String {
    match figures::number(value) {
        nothing if nothing == figures::NOTHING => nothing,
        number => format!("{number}/s"),
    }
}

/// What was observed of a target.
pub(crate) fn observed(clause: &TargetOutcome) -> String {
    figures::in_unit(clause.observed, clause.target.measure.unit())
}

/// Where averages would put the line, which a find's sentence doesn't say.
pub(crate) fn by_average(record: &StudyRecord, line: &LoadLine) -> Option<String> {
    let average = line.by_average?;
    let further = figures::percent(Some((average / line.load - 1.0).abs()));
    let way = if average >= line.load { "higher" } else { "lower" };
    Some(format!("by averages the line would be at {}, {further} {way}", load(record, 0, average)))
}

/// How steep and how certain a load line is; nothing of one that no target holds.
pub(crate) fn line_facts(line: &LoadLine) -> Vec<String> {
    let Some(target) = &line.held_by else { return Vec::new() };
    // Of a target that asks for at least something, more load raises nothing.
    let rises = line.slope.is_finite() && line.slope > 0.0 && !target.measure.at_least();
    let slope = rises.then(|| {
        let more = (1.1f64.powf(line.slope) - 1.0) * 100.0;
        format!("10 % more load raises {} by about {more:.0} % there", target.subject())
    });
    let share = figures::percent(Some(line.held_by_ratio));
    let first = format!("{} is missed first in {share} of the resampled fits", target);
    slope.into_iter().chain([first]).collect()
}

/// `Browse p95 as a share of its limit`: what is below 100 % when the target is met.
pub(crate) fn share_of_limit(target: &QosTarget) -> String {
    let name = target.subject();
    if target.measure.at_least() {
        format!("the least {name} as a share of it")
    } else {
        format!("{name} as a share of its limit")
    }
}

/// What the generator can do at most, in a sentence without its end.
pub(crate) fn ceiling(ceiling: &Ceiling) -> String {
    let threads =
        if ceiling.cpus == 1 { "1 thread".to_string() } else { format!("{} threads", ceiling.cpus) };
    format!(
        "at most {} requests/s against a server that does nothing ({threads}), {} of CPU each; send lag at a tenth of it {} (p99)",
        figures::number(Some(ceiling.requests_per_s)),
        figures::time(Some(ceiling.cpu_s_per_request)),
        figures::time(Some(ceiling.lag_p99_s))
    )
}

/// The command line as it can be pasted into a shell.
pub(crate) fn command(words: &[String]) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-_=./:@,+%".contains(c);
    let quote = |word: &String| match !word.is_empty() && word.chars().all(bare) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// `throughput`, `p95 of Browse`, `load line`: a figure's name.
pub(crate) fn figure(name: &str, operation: Option<&str>) -> String {
    let name = if name == CPU { "CPU time".to_string() } else { name.replace('_', " ") };
    operation.map_or_else(|| name.clone(), |operation| format!("{name} of {operation}"))
}

/// A figure's value in its unit; `load_unit` is that of a load line.
pub(crate) fn figure_value(name: &str, value: Option<f64>, load_unit: &str) -> String {
    match name {
        "throughput" => per_s(value),
        "load_line" => format!("{} {load_unit}", figures::number(value)).trim_end().to_string(),
        _ => figures::time(value),
    }
}

/// `-6.1 %`, `+0.4 %`, `+12 %`: what a ratio means as a change, to a tenth of a percent below ten.
pub(crate) fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if !percent.is_finite() {
        return figures::NOTHING.to_string();
    }
    let decimals = usize::from(percent.abs() < 9.95);
    match format!("{percent:+.decimals$} %").as_str() {
        "+0.0 %" | "-0.0 %" => "0.0 %".to_string(),
        text => text.to_string(),
    }
}

/// `-6 %`, `+2.5 %`: a round change without the digits that only a measurement has.
pub(crate) fn round_change(ratio: f64) -> String {
    change(ratio).replace(".0 %", " %")
}

/// `-7.7 to -4.4 %`: an effect's interval; a dash as long as there are too few blocks.
pub(crate) fn interval(effect: &Effect) -> String {
    ends(effect.low.zip(effect.high))
}

/// `-7.7 to -4.4 %`: an interval of ratios as changes.
pub(crate) fn ends(ends: Option<(f64, f64)>) -> String {
    match ends {
        Some((low, high)) => format!("{} to {}", change(low).trim_end_matches(" %"), change(high)),
        None => figures::NOTHING.to_string(),
    }
}

/// What follows for one figure, in a word or two.
pub(crate) fn conclusion(conclusion: &Conclusion) -> String {
    match conclusion {
        Conclusion::Faster => "better".to_string(),
        Conclusion::Slower => "worse".to_string(),
        Conclusion::Same => "same".to_string(),
        Conclusion::Open { .. } => "open".to_string(),
    }
}

/// `B against A -6.1 % (-7.7 to -4.4 %), A 37.0 ms, B 34.7 ms, 9 blocks: better`.
pub(crate) fn effect(effect: &Effect) -> String {
    let value = |value: f64| figure_value(&effect.figure, Some(value), "");
    format!(
        "B against A {} ({}), A {}, B {}, {} blocks: {}",
        change(effect.ratio),
        interval(effect),
        value(effect.a),
        value(effect.b),
        effect.blocks,
        conclusion(&effect.conclusion)
    )
}

/// The verdict on a trial that missed no target, of which a rare operation gave too few samples.
pub(crate) const FEW: &str = TrialVerdict::PassedAsSeen.word();

/// The verdict on a trial of a search for a load line whose checks broke because the stack was overloaded: it counts as one
/// that failed.
pub(crate) const OVERLOADED: &str = TrialVerdict::Overloaded.word();

/// Whether a trial passed, in a word or three: `passed`, `missed`, `not valid`, `not used`, [`FEW`], [`OVERLOADED`].
pub(crate) fn verdict(record: &StudyRecord, trial: &Trial) -> &'static str {
    analysis::trial_verdict(&record.question, &record.trials, trial).word()
}

fn few(trial: &Trial) -> bool {
    trial.purpose != Purpose::WarmUp && trial.as_seen() == Some(true)
}

/// The trials of which figures are expected and the instrument did not hold.
pub(crate) fn invalid(record: &StudyRecord) -> Vec<&Trial> {
    judged(record, "not valid")
}

/// The trials of which the verdict is that they were [`OVERLOADED`].
pub(crate) fn overloaded(record: &StudyRecord) -> Vec<&Trial> {
    judged(record, OVERLOADED)
}

fn judged<'a>(record: &'a StudyRecord, word: &str) -> Vec<&'a Trial> {
    record.trials.iter().filter(|trial| verdict(record, trial) == word).collect()
}

/// Some trials passed as far as was seen.
pub(crate) fn some_few<'a>(mut trials: impl Iterator<Item = &'a Trial>) -> bool {
    trials.any(few)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::record::study::Fault;
    use testkit::studies::{FindEnding, SweepShape, find, sweep};

    #[test]
    fn a_trial_of_a_find_that_its_overload_broke_counts_as_failed_and_is_not_called_invalid() {
        let mut record = find(FindEnding::LoadLine);
        record.trials.iter_mut().for_each(|trial| trial.faults.clear());
        let of = |record: &StudyRecord, number: usize| verdict(record, &record.trials[number - 1]);
        assert_eq!([4, 6].map(|number| of(&record, number)), ["passed", "missed"]);
        for number in [4, 6] {
            let fault = Fault { check: model::Check::Little, sentence: "users waited".into() };
            record.trials[number - 1].faults.push(fault);
        }
        assert_eq!([4, 6].map(|number| of(&record, number)), ["not valid", OVERLOADED]);
        assert_eq!(invalid(&record).len(), 1);
        assert_eq!(overloaded(&record).iter().map(|trial| trial.number).collect::<Vec<_>>(), [6]);
    }

    #[test]
    fn a_trial_that_its_overload_broke_is_called_the_same_where_a_sweep_looks_for_load_lines() {
        let verdict_of_the_second = |shape: SweepShape| {
            let mut record = sweep(shape);
            let fault = Fault { check: model::Check::Little, sentence: "users waited".into() };
            let second = record.trials.get_mut(1).expect("it has one");
            second.faults.push(fault);
            let clauses = second.measured.iter_mut().flat_map(|seen| &mut seen.targets);
            clauses.for_each(|clause| clause.pass = false);
            verdict(&record, &record.trials[1])
        };
        assert_eq!(verdict_of_the_second(SweepShape::LoadLines), OVERLOADED);
        assert_eq!(verdict_of_the_second(SweepShape::Users), "not valid", "its figures don't count");
    }

    #[test]
    fn values_have_their_unit() {
        assert_eq!(figure_value("throughput", Some(1234.0), "users"), "1 234/s");
        assert_eq!(figure_value("load_line", Some(412.0), "users"), "412 users");
        assert_eq!([0.93934, 1.004, 1.12, 1.0001].map(change), ["-6.1 %", "+0.4 %", "+12 %", "0.0 %"]);
        assert_eq!(figure("load_line", None), "load line");
        assert_eq!(figure("p95", Some("Browse")), "p95 of Browse");
    }

    #[test]
    fn the_command_can_be_pasted_into_a_shell() {
        let words = ["plimsoll", "run", "dvdstore", "--qos", "p95 < 2s", "it's"].map(str::to_string);
        assert_eq!(command(&words), r"plimsoll run dvdstore --qos 'p95 < 2s' 'it'\''s'");
    }
}
