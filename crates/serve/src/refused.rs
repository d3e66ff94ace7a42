//! What is shown where nothing else is: why something was not done, and how to sign in.

use axum::body::Body;
use axum::http::{Response, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::json;

use crate::access::Role;
use crate::answer::{Answer, Refusal, insert, refusal_json};
use crate::app::App;

/// Why, as JSON for programs and as a page for people.
pub(crate) fn refused(app: &App, path: &str, role: Option<Role>, refusal: &Refusal) -> Response<Body> {
    if path.starts_with("/api/") {
        let mut response = Response::new(Body::from(refusal_json(refusal)));
        *response.status_mut() = refusal.status;
        insert(&mut response, header::CONTENT_TYPE, "application/json");
        return response;
    }
    let problems: Vec<_> = refusal.problems.iter().collect();
    let title = refusal.status.canonical_reason().unwrap_or("It was not done");
    let context = json!({ "title": title, "status": refusal.status.as_u16(), "problems": problems });
    app.templates.page("refusal.html", refusal.status, app.frame("", role), context).into_response()
}

/// The page that asks for a link or a password, and why it is shown again.
pub(crate) fn sign_in(app: &App, status: StatusCode, why: Option<&str>) -> Answer {
    let context = json!({ "title": "Sign in", "why": why, "has_password": app.access.has_password() });
    app.templates.page("sign-in.html", status, app.frame("", None), context)
}
