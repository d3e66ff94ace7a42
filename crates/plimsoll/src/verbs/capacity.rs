//! `plimsoll capacity`: whether what a kept run showed is enough for a population.

use analysis::capacity::{CONFIDENCE_RATIO, Capacity, Conclusion, Population, capacity};
use clap::Args;
use model::catalogue::kit::{DEFAULT_MIX, Metric, Per};
use model::record::RunRecord;
use model::record::study::Figure;
use model::{Kind, Problem, Result};
use serde_json::{Value as Json, json};
use store::Run;

use crate::context::Context;
use crate::verbs::kept::{self, Kept};
use runner::trial;

/// The version of what `--json` prints.
const FORMAT: u32 = 1;
/// The figure that every run has.
const THROUGHPUT: &str = "throughput";
/// A steady state of this length has the ten batches that the interval is reckoned with.
const TEN_BATCHES_S: f64 = 10.0;

/// Tell whether what a kept run showed is enough for a given number of users.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll capacity --users 10000 --per-user-per-day 24 --peak-factor 5          by the last run
  plimsoll capacity --users 10000 --per-user-per-day 24 --peak-factor 5 --run 20261121-0345
  plimsoll capacity --users 500 --per-user-per-day 200 --peak-factor 3 --run last/3 --of transactions --json

X users with D transactions a day each need N = X·D·F/86 400 a second at a peak of F times the day's mean. The run
showed M, the operations (or --of) per second of its steady state, with its interval; N is held against that. What a
stack could do beyond a run's load this does not know: `plimsoll find` does.
Exit codes: 0 it carries them; 2 bad input; 3 it does not, it can't be said, or the run is not valid.")]
pub(crate) struct CapacityArgs {
    /// How many users there are to be
    #[arg(long, value_name = "X", value_parser = positive)]
    users: f64,
    /// Transactions that each of them makes in a day
    #[arg(long, value_name = "D", value_parser = positive)]
    per_user_per_day: f64,
    /// How many times the day's mean the busiest time has; 1 when all of a day is alike
    #[arg(long, value_name = "F", value_parser = factor)]
    peak_factor: f64,
    /// The run: its id, the beginning of it, or `last`; STUDY/N is the run of a study's trial N
    #[arg(long, default_value = "last", value_name = "RUN")]
    run: String,
    /// What counts as a transaction: `throughput`, all operations per second, or one of the kit's metrics per second
    #[arg(long, default_value = THROUGHPUT, value_name = "FIGURE")]
    of: String,
    /// Print the answer as JSON (docs/reference/capacity-json.md)
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(args: &CapacityArgs, context: &mut Context) -> Result<u8> {
    let run = match kept::find(&args.run, context)? {
        Kept::Run(run) => run,
        Kept::Study(study) => {
            let id = &study.record().id;
            let problem = Problem::recipe("one run shows a throughput, a study has many").key("--run");
            let remedy = format!("--run {id}/N, of a trial's number N: `plimsoll show {id}` lists them");
            return Err(problem.remedy(remedy).into());
        }
    };
    let record = run.record();
    refuse_invalid(record)?;
    let figure = figure(&run, &args.of, context)?;
    let asked = Population {
        users: args.users,
        per_user_per_day: args.per_user_per_day,
        peak_factor: args.peak_factor,
    };
    let found = capacity(&asked, &figure, record.verdict.pass).ok_or_else(|| nothing(record, &args.of))?;
    if args.json {
        context.console.json(&as_json(&asked, &found, record, &args.of))?;
    } else {
        context.console.result(&wording::capacity::whole(&asked, &found, record));
    }
    Ok(if found.conclusion == Conclusion::Carries { 0 } else { Kind::Invalid.exit_code() })
}

/// Figures of a run that is not valid are those of something else.
fn refuse_invalid(record: &RunRecord) -> Result<()> {
    if record.verdict.valid {
        return Ok(());
    }
    let what = format!("run {} is not valid: {}", record.id, record.verdict.sentence);
    Err(Problem::invalid(what)
        .why("what it showed is not what its stack can do: nothing follows from it for any number of users")
        .remedy("repeat it, or name a valid one: `plimsoll runs`")
        .into())
}

/// The run has nothing that could be held against what is needed.
fn nothing(record: &RunRecord, of: &str) -> Problem {
    Problem::invalid(format!("run {} shows no {of} above 0 in its steady state", record.id))
        .key("--of")
        .why("where nothing of it completed nothing follows for any number of users")
        .remedy("--of throughput, or a run in which more of it completes")
}

/// The rate that the run showed, with its error.
fn figure(run: &Run, of: &str, context: &Context) -> Result<Figure> {
    let metrics = if of == THROUGHPUT { Vec::new() } else { vec![rate(run.record(), of, context)?] };
    let seen = trial::of_run(run, &metrics)?;
    let figure = match metrics.first() {
        None => seen.figure(THROUGHPUT, None).cloned(),
        Some(metric) => seen.metrics.iter().find(|figure| figure.name == metric.name).cloned(),
    };
    let mut figure = figure.ok_or_else(|| nothing(run.record(), of))?;
    if run.record().setup.steady_s < TEN_BATCHES_S {
        figure.log_se = None;
    }
    Ok(figure)
}

/// The kit's metric of that name, which counts something by the second.
fn rate(record: &RunRecord, of: &str, context: &Context) -> Result<Metric> {
    let setup = &record.setup;
    let name = setup.kit.split('@').next().unwrap_or_default();
    let kit = context.catalogue.kit(name)?;
    let wrong = |what: String| Problem::recipe(what).key("--of");
    if format!("{}@{}", kit.name, kit.version) != setup.kit {
        let what =
            format!("run {} is of {}, this catalogue has version {}", record.id, setup.kit, kit.version);
        return Err(wrong(what).remedy("--of throughput, or a run of this version").into());
    }
    let mix = setup.mix.as_deref().unwrap_or(DEFAULT_MIX);
    let of_mix = || kit.metrics.iter().filter(move |metric| metric.is_of(mix));
    let per_second = || of_mix().filter(|metric| metric.per == Per::Second);
    per_second().find(|metric| metric.name == of).cloned().ok_or_else(|| {
        let metrics = per_second().map(|metric| metric.name.as_str());
        let known: Vec<&str> = std::iter::once(THROUGHPUT).chain(metrics).collect();
        wrong(format!("`{of}` is no rate of kit {name}; it has {}", known.join(", "))).into()
    })
}

fn as_json(asked: &Population, found: &Capacity, record: &RunRecord, of: &str) -> Json {
    let ends = |interval: Option<(f64, f64)>| interval.map(|(low, high)| [low, high]);
    json!({
        "format": FORMAT,
        "run": record.id,
        "kit": record.setup.kit,
        "stack": record.setup.stack,
        "of": of,
        "users": asked.users,
        "per_user_per_day": asked.per_user_per_day,
        "peak_factor": asked.peak_factor,
        "needed_per_s": found.needed_per_s,
        "shown_per_s": found.shown_per_s,
        "shown_interval_per_s": ends(found.interval_per_s),
        "confidence_ratio": CONFIDENCE_RATIO,
        "margin_ratio": found.margin_ratio,
        "margin_interval_ratio": ends(found.margin_interval),
        "users_at_shown": found.users,
        "users_interval": ends(found.users_interval),
        "conclusion": word(found.conclusion),
        "sentence": wording::capacity::answer(found),
    })
}

fn word(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Carries => "carries",
        Conclusion::TooMany => "too_many",
        Conclusion::Open => "open",
        Conclusion::TargetsMissed => "targets_missed",
    }
}

/// A number above 0.
fn positive(text: &str) -> Result<f64, String> {
    let value = text.replace('_', "").parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
    value.ok_or_else(|| "a number above 0 is wanted".to_string())
}

/// A peak is no less than the mean.
fn factor(text: &str) -> Result<f64, String> {
    positive(text).ok().filter(|value| *value >= 1.0).ok_or_else(|| {
        "a number of 1 or more is wanted: the busiest time has no less than the day's mean".to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        assert_eq!(positive("10_000"), Ok(10_000.0));
        assert_eq!(positive("0.5"), Ok(0.5));
        for text in ["0", "-1", "inf", "NaN", "many", ""] {
            assert!(positive(text).is_err(), "{text}");
        }
        assert_eq!(factor("1"), Ok(1.0));
        assert!(factor("0.9").is_err_and(|why| why.contains("1 or more")));
    }
}
