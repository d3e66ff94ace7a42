//! What a name means: a run, a study, or the run of a study's trial or of a run's guest.

use std::path::PathBuf;

use model::{Problem, Problems, Result};
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

/// The run or study of that id, of the only id that begins with `name`, or the last of all for `last`; or a run below it: that of a
/// trial, `STUDY/3`, of a guest, `RUN/2`, or of a guest of a trial's run, `STUDY/3/2`.
pub(crate) fn find(name: &str, context: &Context) -> Result<Kept> {
    let (runs, studies) = (Runs::open(&context.home)?, Studies::open(&context.home)?);
    let (name, numbers) = parts(name)?;
    let (run_ids, study_ids) = (runs.ids()?, studies.ids()?);
    let picked = if numbers.is_empty() {
        pick(name, &run_ids, &study_ids)?
    } else {
        let with_guests = runs.list()?.into_iter().filter(|run| run.guests > 0).map(|run| run.id);
        pick_whole(name, &run_ids, &with_guests.collect::<Vec<_>>(), &study_ids)?
    };
    match (picked, numbers.as_slice()) {
        (Pick::Run(id), []) => runs.find(&id).map(Kept::Run),
        (Pick::Run(id), [guest]) => runs.find(&id)?.guest_run(*guest).map(Kept::Run),
        (Pick::Study(id), []) => studies.find(&id).map(Kept::Study),
        (Pick::Study(id), [trial]) => studies.find(&id)?.run_of(*trial).map(Kept::Run),
        (Pick::Study(id), [trial, guest]) => {
            studies.find(&id)?.run_of(*trial)?.guest_run(*guest).map(Kept::Run)
        }
        (Pick::Run(id), [guest, ..]) => Err(nothing_below(&format!("{id}/{guest}"))),
        (Pick::Study(id), [trial, guest, ..]) => Err(nothing_below(&format!("{id}/{trial}/{guest}"))),
    }
}

/// The name before the first `/`, and the numbers of what is meant below it.
fn parts(name: &str) -> Result<(&str, Vec<u32>)> {
    let mut parts = name.split('/');
    let whole = parts.next().unwrap_or_default();
    let numbers = parts.map(|number| {
        number.parse().map_err(|_| {
            let what = format!("`{}` is the number of no trial and of no guest", number.escape_debug());
            let remedy = format!("{whole}/1 is the run of a study's first trial, or of a run's first guest");
            Problem::recipe(what).remedy(remedy).into()
        })
    });
    Ok((whole, numbers.collect::<Result<_>>()?))
}

fn nothing_below(guest: &str) -> Problems {
    Problem::recipe("a guest's run has no parts")
        .remedy(format!("{guest}, which is the run of a guest"))
        .into()
}

/// Writes the HTML report of a run that was just measured; its path, if it could be written. The run is kept by now: what
/// failed after it must not take it away, but is told.
pub(crate) fn keep_run_report(measured: &Measured, context: &mut Context) -> Option<PathBuf> {
    let run = &measured.run;
    let report = write_run_report(run);
    let failed = measured.problems.iter().chain(report.as_ref().err());
    failed.for_each(|problems| context.console.problem(problems));
    report.ok()
}

/// Shows a run that was just measured, as JSON or for people, and keeps its report.
pub(crate) fn show_run(measured: &Measured, json: bool, context: &mut Context) {
    let report = keep_run_report(measured, context);
    if json {
        context.console.result(&report::json(measured.run.record()));
        return;
    }
    let page = report::Page::of(&measured.run, &signals::built_in());
    let text = report::terminal(&page, context.console.width(), context.console.colour());
    context.console.painted(&text);
    if let Some(report) = report {
        context.console.result(&format!("\nReport: {}", report.display()));
    }
}

/// A run's HTML report; it links to those of its guests' runs.
pub(crate) fn run_html(run: &Run) -> String {
    report::html(&report::Page::of(run, &signals::built_in()))
}

/// Writes the HTML report of a run into its directory, and before it that of each guest's run; gives its path. A guest's run that can't
/// be read has no report.
pub(crate) fn write_run_report(run: &Run) -> Result<PathBuf> {
    for guest in run.guest_runs().values() {
        guest.keep(REPORT, run_html(guest).as_bytes())?;
    }
    run.keep(REPORT, run_html(run).as_bytes())
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

/// Writes the HTML report of a study into its directory, and of each trial's run that has none, with its guests'; gives its path. A
/// run that can't be read has no report.
pub(crate) fn write_study_report(study: &Study) -> Result<PathBuf> {
    for run in study.record().trials.iter().filter_map(|trial| study.run(trial).ok()) {
        if !run.directory().join(REPORT).exists() {
            write_run_report(&run)?;
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

/// The same where a part of it is meant: only studies and runs with guests have any.
fn pick_whole(name: &str, runs: &[String], with_guests: &[String], studies: &[String]) -> Result<Pick> {
    if let ("last", Some(run)) = (name, with_guests.last()) {
        let picked = pick(name, with_guests, studies)?;
        return Ok(if picked == Pick::Run(name.to_string()) { Pick::Run(run.clone()) } else { picked });
    }
    match (pick(name, runs, studies)?, studies.last()) {
        (Pick::Run(_), Some(study)) if name == "last" => Ok(Pick::Study(study.clone())),
        (Pick::Run(run), _) if name != "last" && !runs.iter().any(|id| id.starts_with(&run)) => {
            // Nothing is called so, and more studies than runs have parts: the nearest one is told.
            Ok(Pick::Study(run))
        }
        (picked, _) => Ok(picked),
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
    fn the_last_that_has_parts_is_a_study_or_a_run_with_guests() {
        let id = |minute: u32| format!("20261127-05{minute:02}00-dvdstore-0001");
        let picked = |name: &str, runs: &[u32], with_guests: &[u32], studies: &[u32]| {
            let ids = |minutes: &[u32]| minutes.iter().map(|minute| id(*minute)).collect::<Vec<_>>();
            pick_whole(name, &ids(runs), &ids(with_guests), &ids(studies)).expect("it is clear")
        };
        assert_eq!(picked("last", &[1, 2, 9], &[2], &[1]), Pick::Run(id(2)), "run 9 has no guests");
        assert_eq!(picked("last", &[1, 9], &[1], &[3]), Pick::Study(id(3)));
        assert_eq!(picked("last", &[9], &[], &[3]), Pick::Study(id(3)));
        assert_eq!(picked("last", &[9], &[], &[]), Pick::Run("last".into()), "which says that it has none");
        assert_eq!(picked(&id(1), &[1], &[], &[3]), Pick::Run(id(1)));
        assert_eq!(picked("other", &[1], &[], &[3]), Pick::Study("other".into()), "which names the nearest");
    }

    #[test]
    fn a_name_may_end_in_the_numbers_of_a_trial_and_of_a_guest() {
        assert_eq!(parts("last").expect("a name"), ("last", Vec::new()));
        assert_eq!(parts("20261127-05/3/2").expect("a name"), ("20261127-05", vec![3, 2]));
        let wrong = parts("last/three").expect_err("it is no number").to_string();
        assert!(
            wrong.contains("`three` is the number of no") && wrong.contains("last/1 is the run"),
            "{wrong}"
        );
        assert!(parts("last/").is_err() && parts("last/-1").is_err());
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
