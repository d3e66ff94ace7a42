//! `plimsoll explain`: what holds the stack of a kept run or find, how one sees it, and what to try.

mod line;

use clap::Args;
use model::record::diagnosis::Proof;
use model::{Kind, Problem, Result, RunRecord, StudyRecord};

use crate::context::Context;
use crate::verbs::find::limit;
use crate::verbs::kept::{self, Kept};
use runner::progress::Progress;
use runner::{diagnose, prove};

/// Tell what holds the stack of a kept run or find, how one sees it, and what to try.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll explain              the last run or study
  plimsoll explain last/3       the run of the third trial of the last study
  plimsoll explain last --json
  plimsoll explain last --calls         what the tiers' threads waited for, call by call
  plimsoll explain last --folded >run.txt   where threads waited and computed, for speedscope or a flame graph
  plimsoll explain last --prove         of a run: take 15 % from the suspect and from another tier, for four minutes;
                                        of a find: change what may hold its line, for about a quarter of an hour

It is worked out anew from what was kept, by the rules of this version (docs/method/diagnosis.md).
Exit codes: 0 it was told, 2 bad input, 3 nothing was watched that tells it, 105 interrupted.")]
pub(crate) struct ExplainArgs {
    /// The run or study: its id, the beginning of it, or `last`; STUDY/N is the run of its trial N
    #[arg(default_value = "last", value_name = "RUN|STUDY")]
    run: String,
    /// Tell what the tiers' threads waited for, call by call, as the kernel counted it, and who waited for whom
    #[arg(long, conflicts_with = "prove")]
    calls: bool,
    /// Print the samples of stacks as folded text, a line each: tier, thread, what it did, call, functions of the kernel or
    /// of the program, and milliseconds of all threads together
    #[arg(long, conflicts_with_all = ["prove", "calls", "json"])]
    folded: bool,
    /// Print the diagnosis as JSON (`diagnosis` of docs/reference/run-json.md; with --calls its `calls`)
    #[arg(long)]
    json: bool,
    /// Stand the run's stack up again and take a part of the suspect's resource in short windows, and of another tier's:
    /// what the throughput does then proves or refutes the diagnosis; it is kept with the run, unless one with more
    /// windows is there. Of a find: drive its stack just above the line, as it is and with full pools made larger, with less
    /// CPU time and with what the diagnosis proposes: what moves the target that is missed first holds the line
    #[arg(long)]
    prove: bool,
}

pub(crate) fn main(args: &ExplainArgs, context: &mut Context) -> Result<u8> {
    if args.calls || args.folded {
        return calls(args, context);
    }
    let (width, colour) = (context.console.width(), context.console.colour());
    let mut unkept = None;
    let (text, diagnosis) = match kept::find(&args.run, context)? {
        Kept::Run(run) => {
            let mut record = of_run(run.record(), context)?;
            if args.prove {
                unkept = prove(&run, &mut record, context)?;
            }
            (report::explain(&record, width, colour), record.diagnosis)
        }
        Kept::Study(study) => {
            let find = |trial: &model::Trial| study.run(trial).map(|run| run.record().clone());
            let diagnosis = limit::of(study.record(), find, &context.catalogue)?;
            let mut record = StudyRecord { diagnosis, ..study.record().clone() };
            if args.prove {
                line::prove(&study, &mut record, context)?;
            }
            (report::explain_study(&record, width, colour), record.diagnosis)
        }
    };
    if args.json {
        context.console.json(&diagnosis)?;
        unkept.iter().for_each(|text| context.console.note(text));
    } else {
        context.console.painted(text.trim_end());
        unkept.iter().for_each(|text| context.console.result(&format!("\n{text}")));
    }
    Ok(match diagnosis {
        _ if context.interrupt.count() > 0 => Kind::Interrupted.exit_code(),
        Some(_) => 0,
        None => Kind::Invalid.exit_code(),
    })
}

/// The ledger of calls of a run.
fn calls(args: &ExplainArgs, context: &mut Context) -> Result<u8> {
    let Kept::Run(run) = kept::find(&args.run, context)? else {
        let option = if args.folded { "--folded" } else { "--calls" };
        let problem = Problem::recipe("calls are counted by the run, not by the study").key(option);
        return Err(problem.remedy(format!("plimsoll explain {}/1 {option}", args.run)).into());
    };
    let record = run.record();
    if args.folded {
        let text = report::folded(record);
        if text.is_empty() {
            context
                .console
                .note("no stack was sampled in this run: see `explain --calls` and `plimsoll doctor`");
            return Ok(Kind::Invalid.exit_code());
        }
        context.console.result(text.trim_end());
        return Ok(0);
    }
    if args.json {
        context.console.json(&record.calls)?;
    } else {
        let width = context.console.width();
        context.console.result(report::explain_calls(record, width).trim_end());
    }
    Ok(if record.calls.is_some() { 0 } else { Kind::Invalid.exit_code() })
}

/// Proves what the record says of its run, and keeps that with the run; if it doesn't, this says why.
fn prove(run: &store::Run, record: &mut RunRecord, context: &mut Context) -> Result<Option<String>> {
    let proof = prove::prove(run, record, &mut context.environment())?;
    let Some(diagnosis) = &mut record.diagnosis else { return Ok(None) };
    if let Some(why) = reason_not_kept(&proof, diagnosis.proof.as_ref()) {
        return Ok(Some(format!("The new proof is not kept: {why}. It says: {}", proof.sentence)));
    }
    diagnosis.proof = Some(proof);
    run.update(record)?;
    Ok(None)
}

/// Why a new proof is not worth keeping: it has no pair of windows, or fewer than the one that is kept.
fn reason_not_kept(new: &Proof, kept: Option<&Proof>) -> Option<String> {
    let pairs = |proof: &Proof| proof.handicaps.iter().map(|one| one.pairs).min().unwrap_or(0);
    let (count, before) = (pairs(new), kept.map_or(0, pairs));
    if count < before {
        return Some(format!("it has {count} whole pairs of windows, the one that is kept {before}"));
    }
    (count == 0).then(|| "no pair of its windows is whole".to_string())
}

/// A kept run's record with what the present rules make of it.
pub(crate) fn of_run(record: &RunRecord, context: &Context) -> Result<RunRecord> {
    let rules = context.catalogue.rules()?;
    let mut record = record.clone();
    let services = diagnose::services(&record, &context.catalogue);
    diagnose::fill_in(&mut record, &rules, &services);
    Ok(record)
}

#[cfg(test)]
mod tests {
    use model::record::diagnosis::Handicap;

    use super::*;

    fn proof(pairs: &[u32]) -> Proof {
        let handicap = |pairs: &u32| Handicap {
            tier: "web".to_string(),
            what: "15 % of its CPU time".to_string(),
            change: model::record::diagnosis::Change::Taken,
            expected: None,
            suspect: true,
            elasticity: None,
            interval: None,
            pairs: *pairs,
            stopped: 0,
        };
        let handicaps = pairs.iter().map(handicap).collect();
        let sentence = "Open.".to_string();
        Proof { taken_ratio: 0.15, window_s: 8.0, handicaps, left_out: None, sentence }
    }

    fn is_kept(new: &[u32], before: Option<&[u32]>) -> bool {
        reason_not_kept(&proof(new), before.map(proof).as_ref()).is_none()
    }

    #[test]
    fn a_proof_that_was_interrupted_replaces_none_with_more_pairs() {
        assert!(is_kept(&[8, 8], None));
        assert!(is_kept(&[1], None));
        assert!(is_kept(&[8, 8], Some(&[8, 8])));
        assert!(is_kept(&[3, 3], Some(&[0, 0])));
        assert!(!is_kept(&[0, 0], None), "interrupted in the ramp-up");
        assert!(!is_kept(&[], None));
        assert!(!is_kept(&[0, 0], Some(&[8, 8])));
        assert!(!is_kept(&[7, 7], Some(&[8, 8])));
    }
}
