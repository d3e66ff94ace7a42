//! A study as one HTML file that needs nothing else: what only one kind shows comes as data, and the charts are drawn
//! from it by the page's code, as those of a run are.

use std::path::Path;

use model::StudyRecord;
use model::record::study::Trial;
use serde_json::{Value, json};

use super::environment::environment;
use super::text::{thin_groups, visible_json};
use super::{bundle, holds};
use crate::checks;
use crate::explained::Tried;
use crate::study::chart::Chart;
use crate::study::page::{Body, Content, Section, Table};
use crate::study::view::view;
use crate::study::{trials, words};
use crate::{figures, study};

const TEMPLATES: [(&str, &str); 2] = [
    ("study.html", include_str!("../../../../web/study.html")),
    ("sections.html", include_str!("../../../../web/sections.html")),
];

/// The study as one HTML file; `directory` is where it is kept, and `link` gives the address of a run's own report as
/// seen from the file, where there is one. Whatever servers and users supplied is escaped, and the file's own policy
/// lets no script run but ours; without JavaScript the points of a chart are a list.
pub fn html(record: &StudyRecord, directory: &Path, link: impl Fn(&str) -> Option<String>) -> String {
    html_with_bar(record, directory, link, "")
}

/// The same with `bar`, which is HTML, above it: as the laboratory's page shows it.
pub fn html_with_bar(
    record: &StudyRecord,
    directory: &Path,
    link: impl Fn(&str) -> Option<String>,
    bar: &str,
) -> String {
    page(record, directory, view(&record.question).body(record, &link), bar)
}

/// The page of a study that shows `body`.
pub(crate) fn page(record: &StudyRecord, directory: &Path, body: Body, bar: &str) -> String {
    let mut environment = environment();
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("the templates are constants; a test renders each");
    }
    let body = for_page(body);
    let data = json!({ "charts": visible_json(charts(&body.sections).map(|chart| json!(chart)).collect()) });
    let code = bundle::code();
    let mut context = visible_json(context(record, directory, &body));
    context["bar"] = bar.into();
    context["style"] = bundle::study_style().into();
    context["script_sources"] = bundle::sources(&[bundle::TRAP, bundle::LIBRARY, &code]).into();
    context["trap"] = bundle::TRAP.into();
    context["library"] = bundle::LIBRARY.into();
    context["code"] = code.into();
    context["data"] = bundle::in_script(&data.to_string()).into();
    let context = minijinja::Value::from(minijinja::value::Serde(context));
    let page = environment.get_template("study.html").and_then(|template| template.render(context));
    page.expect(
        "the template is a constant and the view has every name in it; a test renders each kind of study",
    )
}

/// What the page shows, without what is for a terminal alone; its charts are numbered in their order, so that the page's
/// code finds the data of each.
fn for_page(mut body: Body) -> Body {
    let mut charts = 0;
    for section in &mut body.sections {
        section.parts.retain(|part| part.on.page());
        for part in &mut section.parts {
            match &mut part.content {
                Content::Chart(chart) => {
                    chart.number = charts;
                    charts += 1;
                }
                Content::Table(table) => without_terminal(table),
                _ => {}
            }
        }
    }
    body.sections.retain(|section| !section.parts.is_empty());
    body
}

fn without_terminal(table: &mut Table) {
    let shown: Vec<bool> = table.columns.iter().map(|column| column.on.page()).collect();
    for row in &mut table.rows {
        let mut shown = shown.iter();
        row.cells.retain(|_| shown.next() == Some(&true));
    }
    table.columns.retain(|column| column.on.page());
}

fn charts(sections: &[Section]) -> impl Iterator<Item = &Chart> {
    sections.iter().flat_map(|section| &section.parts).filter_map(|part| match &part.content {
        Content::Chart(chart) => Some(&**chart),
        _ => None,
    })
}

fn context(record: &StudyRecord, directory: &Path, body: &Body) -> Value {
    let headline = study::headline(record);
    json!({
        "record": { "setup": record.setup, "id": record.id, "plimsoll": record.plimsoll, "started": record.started, "steps": record.steps, "checks": record.checks },
        "verb": record.question.verb(),
        "title": study::title(record),
        "headline": { "tone": headline.tone.word(), "word": headline.word, "sentence": thin_groups(&headline.sentence) },
        "holds": record.diagnosis.as_ref().map(|diagnosis| holds::of(diagnosis, Tried::of_study(record))),
        "trials": record.trials.len(),
        "data_set": words::data_set(record),
        "spent": figures::duration(Some(record.spent_s)),
        "body": body,
        "errors": errors(record),
        "ceiling": record.ceiling.as_ref().map(words::ceiling),
        "checks": checks::of(&record.checks, &[]).collect::<Vec<_>>(),
        "invalid": words::invalid(record).into_iter().map(faults).collect::<Vec<_>>(),
        "command": words::command(&record.command),
        "directory": directory.display().to_string(),
    })
}

/// The checks that did not hold in a trial.
fn faults(trial: &Trial) -> Value {
    let names = trials::faults(trial).into_iter().zip(&trial.faults);
    let faults: Vec<Value> =
        names.map(|(name, fault)| json!({"name": name, "sentence": fault.sentence})).collect();
    json!({"number": trial.number, "faults": faults})
}

/// Failed operations in a sentence.
fn errors(record: &StudyRecord) -> String {
    let ratios =
        record.trials.iter().filter_map(|trial| Some((trial, trial.measured.as_ref()?.failed_ratio)));
    let Some((trial, max)) = ratios.max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return "Nothing was counted.".to_string();
    };
    if max == 0.0 {
        return "No operation failed in any trial.".to_string();
    }
    let share = figures::percent(Some(max));
    let load = words::load(record, trial.arm, trial.load);
    format!(
        "Up to {share} of operations failed, in trial {} at {load}. Samples of them are with each trial's run.",
        trial.number
    )
}
