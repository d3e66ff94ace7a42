//! What is answered, and what is refused.

use axum::body::Body;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use model::outside::harmless;
use model::{Kind, Problem, Problems};
use serde::Serialize;

/// What pages may load and do: their own files, and nothing that is written into them.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                           form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// A report brings its own policy, by what its scripts say; this one keeps it out of others' frames.
const REPORT_POLICY: &str = "frame-ancestors 'none'";
/// What servers and users wrote can do nothing at all.
const FILE_POLICY: &str = "default-src 'none'; sandbox";

/// What is answered.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The JSON that the command line prints, to the byte.
    Json(String),
    /// A page.
    Page(StatusCode, String),
    /// A report of a run or a study within the page.
    Report(String),
    /// It is done, and this page shows it.
    See(String),
    /// The same, with a cookie to be kept.
    SeeWithCookie(String, String),
    /// A file as it is, never to be run or shown as anything but text.
    File { name: String, kind: &'static str, bytes: Vec<u8> },
    /// A file that is made while it is sent.
    Download { name: String, kind: &'static str, body: Body },
}

/// Why something is not done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) problems: Problems,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, problem: Problem) -> Refusal {
        Refusal { status, problems: problem.into() }
    }

    /// There is nothing of that name.
    pub(crate) fn missing(problems: Problems) -> Refusal {
        Refusal { status: StatusCode::NOT_FOUND, problems }
    }
}

impl From<Problems> for Refusal {
    fn from(problems: Problems) -> Refusal {
        let status = match problems.iter().next().map(|problem| problem.kind) {
            Some(Kind::Recipe | Kind::Qos) => StatusCode::BAD_REQUEST,
            Some(Kind::Environment | Kind::Interrupted | Kind::Invalid) => StatusCode::CONFLICT,
            Some(Kind::Bug) | None => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refusal { status, problems }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Refusal {
        Problems::from(problem).into()
    }
}

/// The text that the command line prints of `value`.
pub(crate) fn json(value: &impl Serialize) -> Result<Answer, Refusal> {
    Ok(Answer::Json(json_text(value)?))
}

/// The same as a text.
pub(crate) fn json_text(value: &impl Serialize) -> Result<String, Refusal> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Problem::bug(error.to_string()))?;
    Ok(printed(&text))
}

/// As the console prints a result: nothing in it steers a terminal.
pub(crate) fn printed(text: &str) -> String {
    format!("{}\n", harmless(text.trim_end_matches('\n'), &[]))
}

/// What is wrong, as JSON.
#[derive(Serialize)]
struct Wrong<'a> {
    problems: Vec<&'a Problem>,
}

/// Why, as the API says it.
pub(crate) fn refusal_json(refusal: &Refusal) -> String {
    let wrong = Wrong { problems: refusal.problems.iter().collect() };
    serde_json::to_string_pretty(&wrong).map(|text| printed(&text)).unwrap_or_default()
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response<Body> {
        let (status, kind, policy, body) = match self {
            Answer::Json(text) => (StatusCode::OK, "application/json", FILE_POLICY, text.into_bytes()),
            Answer::Page(status, html) => {
                (status, "text/html; charset=utf-8", PAGE_POLICY, html.into_bytes())
            }
            Answer::Report(html) => {
                (StatusCode::OK, "text/html; charset=utf-8", REPORT_POLICY, html.into_bytes())
            }
            Answer::See(place) => return see(&place),
            Answer::SeeWithCookie(place, cookie) => {
                let mut response = see(&place);
                insert(&mut response, header::SET_COOKIE, &cookie);
                return response;
            }
            Answer::File { name, kind, bytes } => return file(&name, kind, bytes.into()),
            Answer::Download { name, kind, body } => return file(&name, kind, body),
        };
        with_policy(status, kind, policy, body.into())
    }
}

/// A file under its name: shown where it is text, else kept.
fn file(name: &str, kind: &str, body: Body) -> Response<Body> {
    let mut response = with_policy(StatusCode::OK, kind, FILE_POLICY, body);
    let disposition = if kind.starts_with("text/") { "inline" } else { "attachment" };
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().map(safe).collect();
    insert(&mut response, header::CONTENT_DISPOSITION, &format!("{disposition}; filename=\"{name}\""));
    response
}

/// A redirection after something was done: the browser asks for `place`, and a reload of that does nothing again.
fn see(place: &str) -> Response<Body> {
    let mut response = with_policy(StatusCode::SEE_OTHER, "text/plain", FILE_POLICY, Body::empty());
    insert(&mut response, header::LOCATION, place);
    response
}

fn with_policy(status: StatusCode, kind: &str, policy: &str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    insert(&mut response, header::CONTENT_TYPE, kind);
    insert(&mut response, header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// Sets a header; a value that can't be one is left out.
pub(crate) fn insert(response: &mut Response<Body>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
