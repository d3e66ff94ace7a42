//! Runs that are kept: found, sorted, marked, and chosen to be compared.

use std::time::Duration;

use axum::http::StatusCode;
use model::Problem;
use model::record::Outcome;
use serde_json::{Value, json};
use store::{Filter, Fold, Folded, Order, RunGroup, RunSummary, Runs, Selected, Selection, verdict_of};

use crate::answer::{Answer, Refusal};
use crate::api::{filter_of, remove_all, tag_all};
use crate::app::App;
use crate::endpoint::Asked;
use crate::quiet::look;

/// For so long runs are read that no index knows; who asks again sees more of them.
pub(super) const READ_FOR: Duration = Duration::from_millis(400);
/// Rows of a page.
const ROWS: usize = 50;

/// The columns by which runs can be sorted: the word of the order, and the heading.
const COLUMNS: [(&str, &str); 4] =
    [("started", "Run"), ("users", "Users"), ("ops", "Operations"), ("p95", "Worst p95")];
type FoldWords = (&'static str, &'static str, Option<Fold>);

/// What is folded: its word in the address, what it is called, and how.
const FOLDS: [FoldWords; 3] = [
    ("study", "Trials of a study", Some(Fold::Study)),
    ("setup", "Repeats of one setup", Some(Fold::Setup)),
    ("none", "Nothing", None),
];

/// What is asked for, as the address has it.
struct View<'a> {
    filter: &'a str,
    order: Order,
    fold: &'static (&'static str, &'static str, Option<Fold>),
    page: usize,
}

/// A page of rows, and how many there are of them.
struct Rows {
    rows: Vec<Value>,
    number: usize,
    runs: usize,
    all: usize,
    unread: usize,
}

/// Whether repeats of one setup are folded: setups are long texts, and each run is in a group of many.
pub(super) fn folds_setups(asked: &Asked) -> bool {
    fold_of(asked).2 == Some(Fold::Setup)
}

fn fold_of(asked: &Asked) -> &'static FoldWords {
    let fold = asked.parameter("fold").and_then(|word| FOLDS.iter().find(|(known, ..)| *known == word));
    fold.unwrap_or(&FOLDS[0])
}

pub(super) fn page(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let mut view = View {
        filter: asked.parameter("where").unwrap_or_default(),
        order: asked.parameter("sort").and_then(Order::read).unwrap_or(Order::NEWEST),
        fold: fold_of(asked),
        page: asked.parameter("page").and_then(|page| page.parse().ok()).unwrap_or(1).max(1),
    };
    let (filter, wrong) = match filter_of(view.filter) {
        Ok(filter) => (filter, Vec::new()),
        Err(refusal) => (Filter::default(), refusal.problems.into_vec()),
    };
    let mut found = rows(app, &view, &filter)?;
    let pages = found.number.div_ceil(ROWS).max(1);
    if view.page > pages {
        view.page = pages;
        found = rows(app, &view, &filter)?;
    }
    let context = json!({
        "title": "Runs",
        "filter": view.filter,
        "problems": wrong,
        "runs": found.rows,
        "keys": keys(&view),
        "folds": folds(&view),
        "fold": view.fold.0,
        "number": found.runs,
        "rows": found.number,
        "hidden": found.all - found.runs,
        "all": found.all,
        "unread": found.unread,
        "sort": view.order.text(),
        "page": view.page,
        "pages": pages,
        "before": (view.page > 1).then(|| View { page: view.page - 1, ..view }.address()),
        "after": (view.page < pages).then(|| View { page: view.page + 1, ..view }.address()),
        "place": asked.place,
    });
    Ok(app.templates.page("runs.html", StatusCode::OK, app.frame("/runs", asked.role), context))
}

fn rows(app: &App, view: &View<'_>, filter: &Filter) -> Result<Rows, Refusal> {
    let runs = Runs::open(app.laboratory.home())?;
    let (order, skip) = (view.order, (view.page - 1) * ROWS);
    let selection = Selection { order, skip, rows: Some(ROWS), ..Selection::of(filter.clone()) };
    let look = look(app);
    match view.fold.2 {
        None => {
            let found = runs.select(&selection, look, READ_FOR)?;
            let Selected { number, all, unread, .. } = found;
            Ok(Rows { rows: found.runs.iter().map(shown).collect(), number, runs: number, all, unread })
        }
        Some(fold) => {
            let found = runs.folded(fold, &selection, look, READ_FOR)?;
            let Folded { number, runs, all, unread, .. } = found;
            let rows = found.groups.iter().map(|group| shown_group(group, view)).collect();
            Ok(Rows { rows, number, runs, all, unread })
        }
    }
}

impl View<'_> {
    fn address(&self) -> String {
        let (sort, page) = (self.order.text(), self.page.to_string());
        let pairs =
            [("where", self.filter), ("sort", sort.as_str()), ("fold", self.fold.0), ("page", page.as_str())];
        let usual = [("fold", FOLDS[0].0), ("page", "1"), ("where", "")];
        let used = pairs.iter().filter(|pair| !usual.contains(pair));
        format!("/runs?{}", url::form_urlencoded::Serializer::new(String::new()).extend_pairs(used).finish())
    }
}

/// The headings, each with the address that sorts by it, or the other way round.
fn keys(view: &View<'_>) -> [Value; 4] {
    COLUMNS.map(|(word, heading)| {
        let here = word == view.order.word();
        let next = if here && view.order.falling { word.to_string() } else { format!("-{word}") };
        let order = Order::read(&next).unwrap_or(Order::NEWEST);
        let direction = if view.order.falling { "descending" } else { "ascending" };
        let address = View { order, page: 1, ..*view }.address();
        json!({ "heading": heading, "address": address, "direction": here.then_some(direction) })
    })
}

/// What can be folded, each with its address.
fn folds(view: &View<'_>) -> Vec<Value> {
    let fold = |fold: &'static (&str, &str, _)| {
        let address = View { fold, page: 1, ..*view }.address();
        json!({ "name": fold.1, "address": address, "here": fold.0 == view.fold.0 })
    };
    FOLDS.iter().map(fold).collect()
}

/// A group as pages show it: a run that is by itself as one, others with what they have in common and how they are spread.
fn shown_group(group: &RunGroup, view: &View<'_>) -> Value {
    let mut row = shown(&group.last);
    if group.number == 1 && group.study.is_none() {
        return row;
    }
    let one = match &group.study {
        Some(study) => format!("study:{study}"),
        None => format!("like:{}", group.last.id),
    };
    // What the filter has hidden of it stays hidden, and counted.
    let filter = format!("{} {one}", view.filter);
    let open = View { filter: filter.trim(), fold: &FOLDS[2], page: 1, ..*view };
    row["folded"] = json!({
        "study": group.study,
        "number": group.number,
        "verdicts": group.verdicts,
        "operations_per_s": group.operations_per_s,
        "worst_p95_s": group.worst_p95_s,
        "open": open.address(),
    });
    row
}

/// A run as pages show it.
pub(super) fn shown(run: &RunSummary) -> Value {
    let tone = match (run.outcome, run.valid, run.pass) {
        (Some(Outcome::Completed), ..) if run.by_hand => "open",
        (Some(Outcome::Completed), true, Some(false)) => "bad",
        (Some(Outcome::Completed), true, _) => "good",
        (Some(Outcome::Completed | Outcome::Aborted), ..) => "doubtful",
        _ => "open",
    };
    let given = run.given.set.iter().map(|(name, value)| format!("{name}={value}"));
    let given = given.chain(run.given.param.iter().map(|(name, value)| format!("{name}={value}")));
    json!({
        "id": run.id,
        "study": run.study,
        "address": match &run.study {
            Some(study) => format!("/studies/{study}/runs/{}/report.html", run.id),
            None => format!("/runs/{}", run.id),
        },
        "started": run.started,
        "kit": run.kit,
        "stack": run.stack,
        "users": run.users,
        "guests": run.guests,
        "given": given.collect::<Vec<_>>(),
        "tone": tone,
        "verdict": verdict_of(run),
        "sentence": run.sentence,
        "operations_per_s": run.operations_per_s,
        "worst_p95_s": run.worst_p95_s,
        "under_way": run.under_way,
        "readable": run.outcome.is_some(),
        "notes": run.notes,
    })
}

/// Tags the runs that are chosen, takes a tag of theirs back, or removes them.
pub(super) fn act(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let chosen = asked.form().into_iter().filter(|(name, _)| name == "run").map(|(_, id)| id);
    let chosen: Vec<String> = chosen.collect();
    if chosen.is_empty() {
        return Err(Problem::recipe("no run is chosen").remedy("choose runs in the list").into());
    }
    let tag = [asked.field("tag").trim().to_string()];
    match asked.field("do").as_str() {
        "tag" => _ = tag_all(app, &chosen, &tag, &[])?,
        "untag" => _ = tag_all(app, &chosen, &[], &tag)?,
        "remove" => remove(app, &chosen, &asked.field("number"))?,
        other => {
            let what = format!("there is nothing called `{}` to be done with runs", other.escape_debug());
            return Err(Problem::recipe(what).into());
        }
    }
    let back = asked.field("back");
    // Only to this page: what a form says may be anything.
    Ok(Answer::See(if back.starts_with("/runs") { back } else { "/runs".to_string() }))
}

/// Removes runs for good, if it was written how many they are.
fn remove(app: &App, chosen: &[String], number: &str) -> Result<(), Refusal> {
    if number.trim().parse() != Ok(chosen.len()) {
        let what =
            format!("{} runs are chosen: to remove them for good, write how many they are", chosen.len());
        return Err(Problem::recipe(what).remedy(chosen.len().to_string()).into());
    }
    remove_all(app, chosen)?;
    Ok(())
}
