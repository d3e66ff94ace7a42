//! The end of a comparison or a sweep: its outcome and sentence are kept, its pages written, its result told.

use model::record::Outcome;
use model::{Kind, Problems, Result};
use store::Study;

use crate::bench::outcome;
use crate::bench::trial::TrialBench;
use crate::context::Context;

/// How a sitting ended.
pub(crate) struct Ended {
    pub(crate) study: Study,
    /// What made going on senseless.
    problems: Option<Problems>,
}

/// Ends the sitting of `bench`, the question's answer being in its record already. `ended` is what came of measuring;
/// `sentence` is what people read when it came to an answer.
pub(crate) fn close(mut bench: TrialBench<'_>, ended: Result<()>, sentence: String) -> Result<Ended> {
    let interrupted = bench.context.interrupt.count() > 0;
    let record = &mut bench.sitting.record;
    let how = format!("plimsoll {} --resume {}", record.question.verb(), record.id);
    let problems = match ended {
        Ok(()) => {
            record.outcome = Outcome::Completed;
            record.sentence = sentence;
            None
        }
        Err(_) if interrupted => {
            record.outcome = Outcome::Interrupted;
            record.sentence = format!("interrupted; so far: {sentence}");
            bench.context.console.note(&format!("interrupted; to go on: {how}"));
            None
        }
        Err(problems) => {
            record.outcome = Outcome::Aborted;
            let whats: Vec<&str> = problems.iter().map(|problem| problem.what.as_str()).collect();
            record.sentence = whats.join("; ");
            Some(outcome::with_remedy(problems, &how))
        }
    };
    let study = bench.end()?;
    Ok(Ended { study, problems })
}

impl Ended {
    /// A study that needed no sitting.
    pub(crate) fn of(study: Study) -> Ended {
        Ended { study, problems: None }
    }

    /// Keeps the pages, prints the result, and gives the exit code: that of the outcome, else `code`.
    pub(crate) fn tell(self, json: bool, code: u8, context: &mut Context) -> Result<u8> {
        keep_pages(&self.study, context);
        tell(&self.study, json, context);
        match self.problems {
            Some(problems) => Err(problems),
            None if self.study.record().outcome == Outcome::Interrupted => Ok(Kind::Interrupted.exit_code()),
            None => Ok(code),
        }
    }
}

/// Writes report.html and results.csv into the study's directory. The result is kept by now: what fails is told, but
/// takes nothing away.
pub(crate) fn keep_pages(study: &Study, context: &mut Context) {
    let record = study.record();
    let html = report::study::html(record, study.directory(), |_| None);
    let pages = [("report.html", html), ("results.csv", report::study::csv(record))];
    for (name, text) in pages {
        if let Err(problems) = study.keep(name, text.as_bytes()) {
            context.console.problem(&problems.to_string());
        }
    }
}

/// Prints a study: as JSON, or in words.
pub(crate) fn tell(study: &Study, json: bool, context: &mut Context) {
    let record = study.record();
    let text = if json {
        report::study::json(record)
    } else {
        let (width, colour) = (context.console.width(), context.console.colour());
        report::study::terminal(record, study.directory(), width, colour)
    };
    context.console.result(text.trim_end());
}
