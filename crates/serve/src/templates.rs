//! Templates of the pages.

use axum::http::StatusCode;
use minijinja::Environment;
use serde_json::Value;

use crate::answer::Answer;

const TEMPLATES: [(&str, &str); 20] = [
    ("frame.html", include_str!("../../../web/laboratory/frame.html")),
    ("places.html", include_str!("../../../web/laboratory/places.html")),
    ("over-time.html", include_str!("../../../web/laboratory/over-time.html")),
    ("parts.html", include_str!("../../../web/laboratory/parts.html")),
    ("compare.html", include_str!("../../../web/laboratory/compare.html")),
    ("home.html", include_str!("../../../web/laboratory/home.html")),
    ("job.html", include_str!("../../../web/laboratory/job.html")),
    ("bar.html", include_str!("../../../web/laboratory/bar.html")),
    ("files.html", include_str!("../../../web/laboratory/files.html")),
    ("later.html", include_str!("../../../web/laboratory/later.html")),
    ("limits.html", include_str!("../../../web/laboratory/limits.html")),
    ("live.html", include_str!("../../../web/laboratory/live.html")),
    ("log.html", include_str!("../../../web/laboratory/log.html")),
    ("machine.html", include_str!("../../../web/laboratory/machine.html")),
    ("help.html", include_str!("../../../web/laboratory/help.html")),
    ("new.html", include_str!("../../../web/laboratory/new.html")),
    ("refusal.html", include_str!("../../../web/laboratory/refusal.html")),
    ("runs.html", include_str!("../../../web/laboratory/runs.html")),
    ("sign-in.html", include_str!("../../../web/laboratory/sign-in.html")),
    ("studies.html", include_str!("../../../web/laboratory/studies.html")),
];

/// Templates of the pages.
pub(crate) struct Templates(Environment<'static>);

impl Templates {
    pub(crate) fn new() -> Templates {
        let mut environment = report::template_environment();
        for (name, text) in TEMPLATES {
            environment.add_template(name, text).expect("the template is a constant; a test renders each");
        }
        Templates(environment)
    }

    /// A page within the frame.
    pub(crate) fn page(&self, name: &str, status: StatusCode, frame: Value, context: Value) -> Answer {
        match self.render(name, frame, context) {
            Ok(html) => Answer::Page(status, html),
            Err(error) => {
                let what = format!("{:#}", error);
                Answer::Page(StatusCode::INTERNAL_SERVER_ERROR, escaped(&what))
            }
        }
    }

    /// The text of a template; whatever it shows of others has only characters that can be seen.
    pub(crate) fn render(
        &self,
        name: &str,
        frame: Value,
        context: Value,
    ) -> Result<String, minijinja::Error> {
        let mut context = report::visible_json(context);
        context["frame"] = frame;
        let context = minijinja::Value::from(minijinja::value::Serde(context));
        self.0.get_template(name)?.render(context)
    }
}

/// A fault of a template, readable as it is.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<!doctype html><html lang=\"en\"><title>A fault of Plimsoll's own</title><pre>{text}</pre></html>"
    )
}
