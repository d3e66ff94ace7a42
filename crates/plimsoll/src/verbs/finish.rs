//! What studies of every kind share: the flags that exclude `--resume`; the end, at which the outcome and sentence are kept, its pages written, its result told.

use std::path::Path;

use model::record::Outcome;
use model::{Kind, Problem, Problems, Result};
use store::Study;

use crate::context::Context;
use crate::verbs::kept;
use runner::outcome;
use runner::progress::Progress;
use runner::trial::TrialBench;

/// Seconds that a trial takes beside its window, roughly: stop, start, warm-up, judging.
pub(crate) const BESIDE_S: f64 = 10.0;

/// How a study ended.
pub(crate) struct Ended {
    pub(crate) study: Study,
    /// What made going on senseless.
    problems: Option<Problems>,
}

/// What is measured and how stands in the study: flags that were `given` and say it again could only contradict.
pub(crate) fn refuse_beside_resume(given: Vec<&str>, why: &str) -> Result<()> {
    let problem = |flag: &str| {
        Problem::recipe(format!("{flag} and --resume exclude each other"))
            .why(why)
            .remedy("leave it out, or begin a new study")
    };
    Problems::check(given.into_iter().map(problem).collect())
}

/// What people read at the end of a study that came to an answer, and of one that was interrupted.
pub(crate) struct Sentences {
    pub(crate) completed: String,
    pub(crate) interrupted: String,
}

impl Sentences {
    /// An interrupted study says what it knows so far.
    pub(crate) fn of(sentence: String) -> Sentences {
        Sentences { interrupted: format!("interrupted; so far: {sentence}"), completed: sentence }
    }
}

/// Ends the study at `bench`, the question's answer being in its record already. `ended` is what came of measuring.
pub(crate) fn close(mut bench: TrialBench<'_>, ended: Result<()>, sentences: Sentences) -> Result<Ended> {
    let interrupted = bench.env.interrupt.count() > 0;
    let record = &mut bench.study.record;
    let how = format!("plimsoll {} --resume {}", record.question.verb(), record.id);
    let problems = match ended {
        Ok(()) => {
            record.outcome = Outcome::Completed;
            record.sentence = sentences.completed;
            None
        }
        Err(_) if interrupted => {
            record.outcome = Outcome::Interrupted;
            record.sentence = sentences.interrupted;
            bench.env.progress.note(&format!("interrupted; to go on: {how}"));
            None
        }
        Err(problems) => {
            record.outcome = Outcome::Aborted;
            let whats: Vec<&str> = problems.iter().map(|problem| problem.what.as_str()).collect();
            record.sentence = whats.join("; ");
            Some(outcome::with_remedy(problems, &how))
        }
    };
    bench.tell_end();
    let study = bench.end()?;
    Ok(Ended { study, problems })
}

impl Ended {
    /// A study for which nothing had to be measured.
    pub(crate) fn of(study: Study) -> Ended {
        Ended { study, problems: None }
    }

    /// Keeps the pages and prints nothing; the study, or what made going on senseless.
    pub(crate) fn quietly(self, context: &mut Context) -> Result<Study> {
        keep_pages(&self.study, true, context);
        self.problems.map_or(Ok(self.study), Err)
    }

    /// Keeps the pages, prints the result, and gives the exit code: that of the outcome, else `code`.
    pub(crate) fn finish(self, json: bool, code: u8, context: &mut Context) -> Result<u8> {
        print(&self.study, json, context);
        keep_pages(&self.study, json, context);
        match self.problems {
            Some(problems) => Err(problems),
            None if self.study.record().outcome == Outcome::Interrupted => Ok(Kind::Interrupted.exit_code()),
            None => Ok(code),
        }
    }
}

/// A file that was asked for beside the result.
pub(crate) struct Export<'a> {
    flag: &'static str,
    path: &'a Path,
}

impl<'a> Export<'a> {
    /// Refuses a place that no file can be written to, before hours are spent on what goes there.
    pub(crate) fn to(flag: &'static str, path: Option<&'a Path>) -> Result<Option<Export<'a>>> {
        let Some(path) = path else { return Ok(None) };
        let problem = |what: &str, remedy: String| {
            Problem::recipe(what).file(path.display().to_string()).key(flag).remedy(remedy)
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let remedy = format!("mkdir -p {}", folder.display());
            return Err(problem("the file's folder is not there", remedy).into());
        }
        if path.is_dir() {
            return Err(problem("it is a folder", "the name of a file".to_string()).into());
        }
        Ok(Some(Export { flag, path }))
    }

    /// Writes `text` there once the result was told as `told` says. It takes nothing away from the result that this
    /// fails: only a success is none then.
    pub(crate) fn write(&self, text: &str, told: Result<u8>, context: &mut Context) -> Result<u8> {
        let Err(error) = std::fs::write(self.path, text) else { return told };
        let problem = Problem::environment(format!("failed to write the file: {error}"));
        let problem = problem.file(self.path.display().to_string()).key(self.flag);
        context.console.error(&problem.to_string());
        match told {
            Ok(0) => Ok(Kind::Environment.exit_code()),
            told => told,
        }
    }
}

/// Writes report.html and results.csv into the study's directory and says where the report is, beside the result
/// unless that is for a program. The result is kept by now: what fails is told, but takes nothing away.
fn keep_pages(study: &Study, quietly: bool, context: &mut Context) {
    let csv = study.keep("results.csv", report::study::csv(study.record()).as_bytes());
    match kept::write_study_report(study) {
        Ok(path) if quietly => context.console.note(&format!("report: {}", path.display())),
        Ok(path) => context.console.result(&format!("\nReport: {}", path.display())),
        Err(problems) => context.console.problem(&problems),
    }
    if let Err(problems) = csv {
        context.console.problem(&problems);
    }
}

/// Prints a study: as JSON, or in words.
fn print(study: &Study, json: bool, context: &mut Context) {
    let record = study.record();
    let text = if json {
        report::study::json(record)
    } else {
        let (width, colour) = (context.console.width(), context.console.colour());
        report::study_terminal(record, study.directory(), width, colour)
    };
    context.console.painted(text.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_refused_where_none_can_be_written() {
        let dir = tempfile::tempdir().expect("a folder");
        let refused = |path: &Path| match Export::to("--csv", Some(path)) {
            Ok(_) => String::new(),
            Err(problems) => problems.to_string(),
        };
        assert!(refused(&dir.path().join("no/results.csv")).contains("folder is not there"));
        assert!(refused(dir.path()).contains("it is a folder"));
        assert_eq!(refused(&dir.path().join("results.csv")), "");
        assert_eq!(refused(Path::new("results.csv")), "");
        assert!(Export::to("--csv", None).is_ok_and(|none| none.is_none()));
    }
}
