//! What a name means: a run, a study, or the run of one of a study's trials.

use std::path::PathBuf;

use model::{Problem, Result};
use store::{Run, Runs, Studies, Study};

use crate::context::Context;
use runner::outcome::Measured;
use runner::progress::Progress;
use runner::signals;

/// Something that is kept. There is one at a time, so its size doesn't matter.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Kept {
    Run(Run),
    Study(Study),
}

/// The run or study of that id, of the only id that begins with `name`, the last of all for `last`, or the run of a
/// trial: `STUDY/3`.
pub(crate) fn find(name: &str, context: &Context) -> Result<Kept> {
    let (runs, studies) = (Runs::open(&context.home)?, Studies::open(&context.home)?);
    if let Some((study, number)) = name.split_once('/') {
        let number = number.parse().map_err(|_| {
            Problem::recipe(format!("`{}` is no trial's number", number.escape_debug()))
                .remedy(format!("{study}/1 is the run of its first trial"))
        })?;
        return studies.find(study)?.run_of(number).map(Kept::Run);
    }
    match pick(name, &runs.ids()?, &studies.ids()?)? {
        Pick::Run(id) => runs.find(&id).map(Kept::Run),
        Pick::Study(id) => studies.find(&id).map(Kept::Study),
    }
}

/// Writes the HTML report of a run that was just measured; its path, if it could be written. The run is kept by now: what
/// failed after it must not take it away, but is told.
pub(crate) fn keep_run_report(measured: &Measured, context: &mut Context) -> Option<PathBuf> {
    let run = &measured.run;
    let report = run.keep(REPORT, report::html(&report::Page::of(run, &signals::built_in())).as_bytes());
    let failed = measured.problems.iter().chain(report.as_ref().err());
    failed.for_each(|problems| context.console.problem(problems));
    report.ok()
}

/// A study's HTML report; it links to the reports of those of its runs that have one.
pub(crate) fn study_html(study: &Study) -> String {
    let directory = study.directory();
    let link = |run: &str| {
        let path = format!("runs/{run}/report.html");
        directory.join(&path).is_file().then_some(path)
    };
    report::study_html(study.record(), directory, link)
}

/// Writes the HTML report of a study into its directory, and of each trial's run that has none; gives its path. A run
/// that can't be read has no report.
pub(crate) fn write_study_report(study: &Study) -> Result<PathBuf> {
    for run in study.record().trials.iter().filter_map(|trial| study.run(trial).ok()) {
        if !run.directory().join(REPORT).exists() {
            run.keep(REPORT, report::html(&report::Page::of(&run, &signals::built_in())).as_bytes())?;
        }
    }
    study.keep(REPORT, study_html(study).as_bytes())
}

/// The file of a report in the directory of what it is about.
pub(crate) const REPORT: &str = "report.html";

#[derive(Debug, PartialEq)]
enum Pick {
    /// A run's name, for the runs to find it or to say what is wrong with it.
    Run(String),
    Study(String),
}

/// Which of the two a name is for. Ids begin with the time, so the larger one is the later one.
fn pick(name: &str, runs: &[String], studies: &[String]) -> Result<Pick> {
    if name == "last" {
        return Ok(match (runs.last(), studies.last()) {
            (Some(run), Some(study)) if study > run => Pick::Study(study.clone()),
            (None, Some(study)) => Pick::Study(study.clone()),
            _ => Pick::Run(name.to_string()),
        });
    }
    if runs.iter().any(|id| id == name) {
        return Ok(Pick::Run(name.to_string()));
    }
    let begin = |ids: &[String]| -> Vec<String> {
        ids.iter().filter(|id| !name.is_empty() && id.starts_with(name)).cloned().collect()
    };
    match (begin(runs).as_slice(), begin(studies).as_slice()) {
        ([], []) => Ok(Pick::Run(name.to_string())),
        (_, []) => Ok(Pick::Run(name.to_string())),
        ([], _) => Ok(Pick::Study(name.to_string())),
        ([run, ..], [study, ..]) => {
            let what = format!("`{name}` begins the names of runs and of studies");
            Err(Problem::recipe(what).remedy(format!("more of the name, such as {run} or {study}")).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(name: &str, runs: &[&str], studies: &[&str]) -> Pick {
        let own = |ids: &[&str]| ids.iter().map(|id| id.to_string()).collect::<Vec<_>>();
        pick(name, &own(runs), &own(studies)).expect("it is clear")
    }

    #[test]
    fn the_last_is_the_later_of_the_last_run_and_the_last_study() {
        let (early, late) = ("20261121-101500-dvdstore-0001", "20261121-113000-find-dvdstore-0002");
        assert_eq!(picked("last", &[early], &[late]), Pick::Study(late.into()));
        assert_eq!(picked("last", &[late], &[early]), Pick::Run("last".into()));
        assert_eq!(picked("last", &[], &[late]), Pick::Study(late.into()));
        assert_eq!(picked("last", &[], &[]), Pick::Run("last".into()), "which says that there is none");
    }

    #[test]
    fn the_beginning_of_a_name_is_enough_where_only_one_kind_has_it() {
        let (run, study) = ("20261121-101500-dvdstore-0001", "20261121-113000-find-dvdstore-0002");
        assert_eq!(picked("20261121-11", &[run], &[study]), Pick::Study("20261121-11".into()));
        assert_eq!(picked("20261121-10", &[run], &[study]), Pick::Run("20261121-10".into()));
        assert_eq!(picked("nothing", &[run], &[study]), Pick::Run("nothing".into()));
        let both = pick("2026", &[run.to_string()], &[study.to_string()]).expect_err("it is not clear");
        assert!(both.to_string().contains(run) && both.to_string().contains(study), "{both}");
    }
}
