//! Runs and studies that are kept.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::Problem;
use report::{Beside, KeptRun};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serializer};
use serde_json::json;
use store::{Filter, Fold, Look, Notes, Order, Run, Runs, Selection, Studies, Study};

use crate::answer::{Answer, Refusal, json, printed};
use crate::app::App;
use crate::endpoint::Asked;

pub(super) fn runs(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let (home, last) = (Runs::open(app.laboratory.home())?, last_of(asked)?);
    if last.rows.is_some() {
        let mut runs = Vec::new();
        home.each(&last, |run| runs.push(run))?;
        runs.reverse();
        return json(&runs);
    }
    // One run after the other: all of them together would take much memory.
    let all = Selection { order: Order::OLDEST, ..last };
    let bug = |error: serde_json::Error| Problem::bug(error.to_string());
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::pretty(&mut text);
    let mut list = serializer.serialize_seq(None).map_err(bug)?;
    let mut written = Ok(());
    home.each(&all, |run| {
        if written.is_ok() {
            written = list.serialize_element(&run);
        }
    })?;
    written.and_then(|()| list.end()).map_err(bug)?;
    Ok(Answer::Json(printed(&String::from_utf8_lossy(&text))))
}

pub(super) fn groups(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let fold = Fold::read(asked.parameter("fold").unwrap_or("study"))?;
    let runs = Runs::open(app.laboratory.home())?;
    let mut folded = runs.folded(fold, &last_of(asked)?, Look::All, Duration::MAX)?;
    folded.groups.reverse();
    json(&folded)
}

/// What is meant, the newest first.
fn last_of(asked: &Asked) -> Result<Selection, Refusal> {
    let rows =
        match asked.parameter("last") {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| {
                Problem::recipe(format!("`{}` is no number", text.escape_debug())).key("last")
            })?),
        };
    let filter = filter_of(asked.parameter("where").unwrap_or_default())?;
    Ok(Selection { order: Order::NEWEST, rows, ..Selection::of(filter) })
}

/// The filter that `text` says.
pub(crate) fn filter_of(text: &str) -> Result<Filter, Refusal> {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    Ok(Filter::read(text, now_s)?)
}

/// The run of that id, of the beginning of one, or the last.
pub(crate) fn run_of(app: &App, name: &str) -> Result<Run, Refusal> {
    Runs::open(app.laboratory.home())?.find(name).map_err(Refusal::missing)
}

/// The study likewise.
pub(crate) fn study_of(app: &App, name: &str) -> Result<Study, Refusal> {
    Studies::open(app.laboratory.home())?.find(name).map_err(Refusal::missing)
}

pub(super) fn run(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    Ok(Answer::Json(printed(&report::json(run_of(app, asked.part("run"))?.record()))))
}

pub(super) fn series(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let run = run_of(app, asked.part("run"))?;
    Ok(Answer::Json(printed(&report::series_json(&run.record().id, &run.series()?))))
}

/// The runs that are named, held against the first of them.
pub(super) fn beside(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    json(&beside_of(app, &asked.parameters("run"))?)
}

/// The same.
pub(crate) fn beside_of(app: &App, names: &[&str]) -> Result<Beside, Refusal> {
    let runs = names.iter().map(|name| Ok(KeptRun::read(&run_of(app, name)?)));
    Ok(Beside::of(&runs.collect::<Result<Vec<_>, Refusal>>()?, 0)?)
}

pub(super) fn run_notes(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    json(&Notes::read(run_of(app, asked.part("run"))?.directory())?)
}

pub(super) fn set_run_notes(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let notes: Notes = asked.json()?;
    notes.write(run_of(app, asked.part("run"))?.directory())?;
    json(&notes)
}

pub(super) fn remove_run(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let id = asked.part("run");
    let run = run_of(app, id)?;
    if run.record().id != id {
        let what = "a run is removed by its whole id";
        return Err(Problem::recipe(what).remedy(run.record().id.clone()).into());
    }
    let bytes = Runs::open(app.laboratory.home())?.remove(id)?;
    json(&json!({ "bytes": bytes }))
}

#[derive(Deserialize)]
struct Tagged {
    runs: Vec<String>,
    #[serde(default)]
    add: Vec<String>,
    #[serde(default)]
    remove: Vec<String>,
}

#[derive(Deserialize)]
struct Removed {
    runs: Vec<String>,
}

pub(super) fn tag_runs(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let Tagged { runs, add, remove } = asked.json()?;
    json(&tag_all(app, &runs, &add, &remove)?)
}

pub(super) fn remove_runs(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let Removed { runs } = asked.json()?;
    json(&remove_all(app, &runs)?)
}

/// Adds tags to all of these runs, and takes others back; what people say of each then.
pub(crate) fn tag_all(
    app: &App,
    runs: &[String],
    add: &[String],
    remove: &[String],
) -> Result<BTreeMap<String, Notes>, Refusal> {
    // All are found before one is changed.
    let runs = runs.iter().map(|id| run_of(app, id)).collect::<Result<Vec<_>, Refusal>>()?;
    let mut all = BTreeMap::new();
    for run in runs {
        let mut notes = Notes::read(run.directory())?;
        notes.tag(add, remove);
        notes.write(run.directory())?;
        all.insert(run.record().id.clone(), notes);
    }
    Ok(all)
}

/// Removes all of these runs, or none; gives the bytes of each.
pub(crate) fn remove_all(app: &App, runs: &[String]) -> Result<BTreeMap<String, u64>, Refusal> {
    let home = Runs::open(app.laboratory.home())?;
    let ids = home.ids()?;
    // A whole id is of one run, for good; the beginning of one may be of another by now.
    let unknown = runs.iter().filter(|id| !ids.contains(id)).map(|id| {
        Problem::recipe(format!("there is no run `{}`", id.escape_debug())).remedy("runs by their whole ids")
    });
    model::Problems::check(unknown.collect())?;
    Ok(home.remove_all(runs)?.into_iter().collect())
}

pub(super) fn studies(app: &App, _: &Asked) -> Result<Answer, Refusal> {
    json(&Studies::open(app.laboratory.home())?.list()?)
}

pub(super) fn study(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    Ok(Answer::Json(printed(&report::study::json(study_of(app, asked.part("study"))?.record()))))
}
