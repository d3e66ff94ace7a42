//! `plimsoll explain`: what holds the stack of a kept run or find, how one sees it, and what to try.

use clap::Args;
use model::{Problem, Result, RunRecord, StudyRecord};

use crate::bench::{diagnose, prove};
use crate::context::Context;
use crate::verbs::find::limit;
use crate::verbs::kept::{self, Kept};

/// Tell what holds the stack of a kept run or find, how one sees it, and what to try.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll explain              the last run or study
  plimsoll explain last/3       the run of the third trial of the last study
  plimsoll explain last --json
  plimsoll explain last --prove         take 15 % from the suspect and from another tier, for four minutes

It is worked out anew from what was kept, by the rules of this version (docs/method/diagnosis.md).
Exit codes: 0 it was told, 2 bad input, 3 nothing was watched that tells it.")]
pub(crate) struct ExplainArgs {
    /// The run or study: its id, the beginning of it, or `last`; STUDY/N is the run of its trial N
    #[arg(default_value = "last", value_name = "RUN|STUDY")]
    run: String,
    /// Print the diagnosis as JSON (`diagnosis` of docs/reference/run-json.md)
    #[arg(long)]
    json: bool,
    /// Stand the run's stack up again and take a part of the suspect's resource in short windows, and of another tier's:
    /// what the throughput does then proves or refutes the diagnosis; it is kept with the run
    #[arg(long)]
    prove: bool,
}

pub(crate) fn main(args: &ExplainArgs, context: &mut Context) -> Result<u8> {
    let (width, colour) = (context.console.width(), context.console.colour());
    let (text, diagnosis) = match kept::find(&args.run, context)? {
        Kept::Run(run) => {
            let mut record = of_run(run.record(), context)?;
            if args.prove {
                prove(&run, &mut record, context)?;
            }
            (report::explain(&record, width, colour), record.diagnosis)
        }
        Kept::Study(_) if args.prove => {
            let problem = Problem::recipe("one run can be proved, not a study").key("--prove");
            return Err(problem.remedy(format!("plimsoll explain {}/1 --prove", args.run)).into());
        }
        Kept::Study(study) => {
            let find = |trial: &model::Trial| study.run(trial).map(|run| run.record().clone());
            let diagnosis = limit::of(study.record(), find, &context.catalogue)?;
            let record = StudyRecord { diagnosis, ..study.record().clone() };
            (report::explain_study(&record, width, colour), record.diagnosis)
        }
    };
    if args.json {
        let json = serde_json::to_string_pretty(&diagnosis);
        context.console.result(&json.map_err(|error| Problem::bug(error.to_string()))?);
    } else {
        context.console.result(text.trim_end());
    }
    Ok(if diagnosis.is_some() { 0 } else { model::Kind::Invalid.exit_code() })
}

/// Proves what the record says of its run, and keeps that with the run.
fn prove(run: &store::Run, record: &mut RunRecord, context: &mut Context) -> Result<()> {
    let proof = prove::prove(run, record, context)?;
    if let Some(diagnosis) = &mut record.diagnosis {
        diagnosis.proof = Some(proof);
    }
    let text = serde_json::to_vec_pretty(&record).map_err(|error| Problem::bug(error.to_string()))?;
    run.keep("run.json", &text).map(|_| ())
}

/// A kept run's record with what the present rules make of it.
pub(crate) fn of_run(record: &RunRecord, context: &Context) -> Result<RunRecord> {
    let rules = context.catalogue.rules()?;
    let mut record = record.clone();
    let services = diagnose::services(&record, &context.catalogue);
    diagnose::fill_in(&mut record, &rules, &services);
    Ok(record)
}
