//! A measurement that is asked for by a form: its fields come from the catalogue, and what is wrong stands at its field.

use axum::http::StatusCode;
use model::{Checked, Problem};
use serde_json::{Value, json};

use crate::answer::{Answer, Refusal};
use crate::app::App;
use crate::command;
use crate::endpoint::Asked;
use crate::form::{Form, field_of};
use crate::pages::fields;

/// What can be asked for, each with what it is for.
const VERBS: [(&str, &str, &str); 5] = [
    (
        "run",
        "Run",
        "One run: a kit on a stack, with a number of users. It says how fast the stack answers, and what holds it.",
    ),
    (
        "explore",
        "Explore",
        "A stack whose number of users you change while you look on. It is kept, and is no result: it says where to look.",
    ),
    (
        "find",
        "Find",
        "Looks for the most users that a stack serves within its targets, with an interval. It takes a quarter of an hour.",
    ),
    ("compare", "Compare", "Which of two stacks or settings is faster, and by how much, measured in pairs."),
    (
        "sweep",
        "Sweep",
        "A study of the catalogue: stacks, knobs and loads against each other, many beside a paper's own figures.",
    ),
];

pub(super) fn choice(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let verbs = VERBS.map(|(verb, title, what)| json!({ "verb": verb, "title": title, "what": what }));
    let context = json!({ "title": "New", "verbs": verbs, "verb": null });
    Ok(app.templates.page("new.html", StatusCode::OK, app.frame("/new", asked.role), context))
}

pub(super) fn page(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let form = Form::of(known(asked.part("verb"))?, asked.query.clone());
    shown(app, asked, &form, StatusCode::OK)
}

/// Puts what the form asks for into the queue; shows it again where something is wrong.
pub(super) fn queue(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let fields = asked.form().into_iter().filter(|(name, _)| name != "do");
    let form = Form::of(known(asked.part("verb"))?, fields);
    if asked.field("do") == "check" {
        return Ok(Answer::See(form.address()));
    }
    let checked = check(app, &form);
    if !checked.problems.is_empty() {
        return shown(app, asked, &form, StatusCode::UNPROCESSABLE_ENTITY);
    }
    app.laboratory.add(&form.command())?;
    Ok(Answer::See("/".to_string()))
}

fn known(verb: &str) -> Result<&'static str, Refusal> {
    let known = VERBS.iter().find(|(known, ..)| *known == verb).map(|(verb, ..)| *verb);
    known.ok_or_else(|| {
        let what = format!("`{}` can't be asked for here", verb.escape_debug());
        Refusal::missing(Problem::recipe(what).remedy("run, explore, find, compare, sweep").into())
    })
}

/// What is wrong with it, and what will be done.
fn check(app: &App, form: &Form) -> Checked {
    let command = form.command();
    match command::permit(&command) {
        Ok(()) => app.laboratory.check(&command),
        Err(problems) => Checked::wrong(problems),
    }
}

fn shown(app: &App, asked: &Asked, form: &Form, status: StatusCode) -> Result<Answer, Refusal> {
    let form = &fields::with_defaults(app.laboratory.catalogue(), form);
    // A form that was only opened is not scolded for what nobody wrote yet.
    let is_new = asked.query.is_empty() && asked.body.is_empty() && form.verb == "compare";
    let checked = if is_new { Checked::default() } else { check(app, form) };
    let view = fields::View::of(app.laboratory.catalogue(), form, &checked.problems)?;
    let beside: Vec<&Problem> = checked.problems.iter().filter(|problem| !view.has(problem)).collect();
    let at_fields = checked.problems.iter().filter(|problem| view.has(problem));
    let summary: Vec<Value> = at_fields
        .map(|problem| json!({ "field": field_of(problem), "what": problem.what, "remedy": problem.remedy }))
        .collect();
    let title = VERBS.iter().find(|(verb, ..)| *verb == form.verb).map_or("New", |(_, title, _)| title);
    let context = json!({
        "title": format!("New {}", title.to_lowercase()),
        "verb": form.verb,
        "verbs": VERBS.map(|(verb, title, _)| json!({ "verb": verb, "title": title })),
        "groups": view.groups,
        "number_of_settings": view.number_of_settings,
        "problems": beside,
        "at_fields": summary,
        "ok": checked.ok,
        "takes_s": checked.takes_s,
        "recipe": checked.recipe,
        "command": command::line(&form.command()),
        "is_new": is_new,
    });
    Ok(app.templates.page("new.html", status, app.frame("/new", asked.role), context))
}
