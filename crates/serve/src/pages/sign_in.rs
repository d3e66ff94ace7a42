//! Signing in, and out.

use axum::http::StatusCode;

use crate::access::Role;
use crate::answer::{Answer, Refusal};
use crate::app::App;
use crate::endpoint::Asked;
use crate::guard::cookie;
use crate::refused::sign_in;

pub(super) fn page(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    Ok(match asked.role {
        Some(_) => Answer::See("/".to_string()),
        None => sign_in(app, StatusCode::OK, None),
    })
}

/// By the password, where there is one.
pub(super) fn act(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    if app.access.is_password(&asked.field("password")) {
        let session = app.access.new_session(Role::Runner)?;
        return Ok(Answer::SeeWithCookie("/".to_string(), cookie(app, &session)));
    }
    Ok(sign_in(app, StatusCode::UNAUTHORIZED, Some("This is not the password.")))
}

pub(super) fn out(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    if let Some(session) = &asked.session {
        app.access.end(session);
    }
    Ok(Answer::See("/sign-in".to_string()))
}
