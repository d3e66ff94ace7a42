//! Each declared request to its handler, on a thread that may wait for files.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::http::{Response, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{MethodFilter, MethodRouter, get, on};
use model::Problem;

use crate::access::Role;
use crate::answer::{Answer, Refusal};
use crate::app::App;
use crate::endpoint::{Asked, Method, Route};
use crate::guard::{self, Session};
use crate::refused::refused;
use crate::{api, assets, later, live, pages};

/// A form is far smaller.
const MAX_BODY_BYTES: usize = 64 << 10;
/// Whoever sends slower than this is not waited for.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// All that can be asked for.
pub(crate) fn router(app: Arc<App>) -> Router {
    let routes = pages::ROUTES.iter().chain(api::ENDPOINTS.iter().map(|endpoint| &endpoint.route));
    let mut router: Router<Arc<App>> = Router::new();
    for route in routes {
        router = router.route(route.path, method_router(route));
    }
    router
        .route("/api/v1/live", get(live::stream))
        .route("/assets/{name}", get(assets::asset))
        .fallback(missing)
        .layer(from_fn_with_state(app.clone(), guard::guard))
        .with_state(app)
}

fn method_router(route: &'static Route) -> MethodRouter<Arc<App>> {
    let filter = match route.method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Delete => MethodFilter::DELETE,
    };
    on(filter, move |State(app): State<Arc<App>>, request: Request| perform(app, route, request))
}

async fn perform(app: Arc<App>, route: &'static Route, request: Request) -> Response<Body> {
    let asked = match read(request).await {
        Ok(asked) => asked,
        Err(refusal) => return refused(&app, route.path, None, &refusal),
    };
    if route.role == Role::Runner && asked.role != Some(Role::Runner) {
        let problem =
            Problem::recipe("this link may look and change nothing").remedy("plimsoll serve --link");
        return refused(&app, route.path, asked.role, &Refusal::new(StatusCode::FORBIDDEN, problem));
    }
    let role = asked.role;
    let handled = {
        let app = app.clone();
        tokio::task::spawn_blocking(move || handled(&app, route, &asked)).await
    };
    match handled {
        Ok(Ok(answer)) => answer.into_response(),
        Ok(Err(refusal)) => refused(&app, route.path, role, &refusal),
        Err(_) => {
            let problem = Problem::bug(
                "this request met a fault of plimsoll's own; its trace stands where it was started",
            );
            refused(&app, route.path, role, &problem.into())
        }
    }
}

fn handled(app: &App, route: &Route, asked: &Asked) -> Result<Answer, Refusal> {
    if (route.is_heavy)(asked)
        && let Some(measuring) = later::disturbed(app, asked)
    {
        return later::answer(app, asked, &measuring);
    }
    (route.handler)(app, asked)
}

async fn read(request: Request) -> Result<Asked, Refusal> {
    let (mut parts, body) = request.into_parts();
    let params = RawPathParams::from_request_parts(&mut parts, &()).await.map_err(|_| nothing_there())?;
    let path = params.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let too_large = |_| {
        let what = format!("a request has at most {} KiB", MAX_BODY_BYTES >> 10);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, Problem::recipe(what))
    };
    let slow = |_| {
        let what = format!("a request comes within {} s", BODY_TIMEOUT.as_secs());
        Refusal::new(StatusCode::REQUEST_TIMEOUT, Problem::recipe(what))
    };
    let body = tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, MAX_BODY_BYTES)).await.map_err(slow)?;
    let session = parts.extensions.get::<Session>().cloned();
    let query = parts.uri.query().unwrap_or_default();
    Ok(Asked {
        place: parts.uri.path_and_query().map_or_else(String::new, ToString::to_string),
        path,
        query: url::form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
        body: body.map_err(too_large)?,
        role: session.as_ref().map(|session| session.role),
        session: session.map(|session| session.token),
    })
}

fn nothing_there() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, Problem::recipe("there is no such page"))
}

async fn missing(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    let role = request.extensions().get::<Session>().map(|session| session.role);
    refused(&app, request.uri().path(), role, &nothing_there())
}
