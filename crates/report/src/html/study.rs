//! A study as one HTML file that needs nothing else. Its charts are drawn here, as SVG: the page has no code at all.

mod chart;
mod compare;
mod find;
mod parts;
mod published;
mod sweep;

use std::path::Path;

use model::StudyRecord;
use model::study::Question;
use serde_json::{Value, json};

use super::{bundle, environment, holds, seen, thin_groups};
use crate::explained::Tried;
use crate::study::words;
use crate::{figures, study};

const TEMPLATES: [(&str, &str); 6] = [
    ("study.html", include_str!("../../../../web/study.html")),
    ("find.html", include_str!("../../../../web/find.html")),
    ("compare.html", include_str!("../../../../web/compare.html")),
    ("sweep.html", include_str!("../../../../web/sweep.html")),
    ("published.html", include_str!("../../../../web/published.html")),
    ("trials.html", include_str!("../../../../web/trials.html")),
];

/// The study as one HTML file; `directory` is where it is kept, and `link` gives the address of a run's own report as
/// seen from the file, where there is one. Whatever servers and users supplied is escaped, and the file's own policy
/// lets no script run.
pub fn html(record: &StudyRecord, directory: &Path, link: impl Fn(&str) -> Option<String>) -> String {
    let mut environment = environment();
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("the templates are constants; a test renders each");
    }
    let context = minijinja::Value::from(minijinja::value::Serde(seen(view(record, directory, &link))));
    let page = environment.get_template("study.html").and_then(|template| template.render(context));
    page.expect(
        "the template is a constant and the view has every name in it; a test renders each kind of study",
    )
}

fn view(record: &StudyRecord, directory: &Path, link: parts::Link<'_>) -> Value {
    let headline = study::headline(record);
    let specific = match &record.question {
        Question::Find(find) => find::of(record, find, link),
        Question::Compare(compare) => compare::of(record, compare, link),
        Question::Sweep(sweep) => sweep::of(record, sweep, link),
    };
    let check = |check: &model::record::ValidityCheck| json!({"ok": check.ok, "name": check.check.title(), "sentence": check.sentence});
    let invalid = words::invalid(record).into_iter().map(|trial| parts::trial(record, trial, link));
    json!({
        "record": { "setup": record.setup, "id": record.id, "plimsoll": record.plimsoll, "started": record.started, "steps": record.steps, "checks": record.checks },
        "verb": record.question.verb(),
        "title": match &record.question {
            Question::Sweep(sweep) => sweep.title.clone(),
            _ => format!("{} on {}", record.setup.kit_title, record.setup.stack_title),
        },
        "headline": { "tone": headline.tone.word(), "word": headline.word, "sentence": thin_groups(&headline.sentence) },
        "holds": record.diagnosis.as_ref().map(|diagnosis| holds::of(diagnosis, Tried::of_study(record))),
        "trials": record.trials.len(),
        "data_set": words::data_set(record),
        "spent": figures::duration(Some(record.spent_s)),
        "of": specific,
        "errors": parts::errors(record),
        "ceiling": record.ceiling.as_ref().map(words::ceiling),
        "checks": record.checks.iter().map(check).collect::<Vec<_>>(),
        "invalid": invalid.collect::<Vec<_>>(),
        "command": words::command(&record.command),
        "directory": directory.display().to_string(),
        "style": bundle::study_style(),
    })
}

/// `text` as it can stand in an element or an attribute.
fn escape(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    escaped.chars().map(|c| if crate::terminal::hidden(c) { '·' } else { c }).collect()
}
