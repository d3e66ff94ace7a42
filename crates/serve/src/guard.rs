//! Who is let in: the name that is asked for, where a change comes from, how often, and by which session.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName};
use axum::http::{Method, Response, StatusCode};
use axum::middleware::Next;
use axum::response::IntoResponse;
use model::Problem;

use crate::access::{Role, SESSION_LIFETIME};
use crate::answer::{Answer, Refusal, insert};
use crate::app::{App, Peer};
use crate::refused::{refused, sign_in};

/// The cookie that a session's token is in.
const COOKIE: &str = "plimsoll";

/// What every answer says of itself.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) role: Role,
    pub(crate) token: String,
}

/// In which proxies name whom they ask for.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Lets a request through, or says why not.
pub(crate) async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response<Body> {
    let mut response = match admit(&app, &mut request) {
        Ok(None) => next.run(request).await,
        Ok(Some(response)) => response,
        Err(refusal) => refused(&app, request.uri().path(), None, &refusal),
    };
    for (name, value) in HEADERS {
        insert(&mut response, name, value);
    }
    if !response.headers().contains_key(header::CACHE_CONTROL) {
        insert(&mut response, header::CACHE_CONTROL, "no-store");
    }
    response
}

/// Nothing where the request goes on; what is answered where it does not.
fn admit(app: &App, request: &mut Request) -> Result<Option<Response<Body>>, Refusal> {
    check_host(app, request)?;
    let peer = peer_of(app.settings.listening.behind_proxy, request);
    let path = request.uri().path().to_string();
    // Each page asks for ten of these, which cost nothing: ten tabs at once are no attack.
    let is_asset = path.starts_with("/assets/");
    if !is_asset && !app.requests.allows(peer, Instant::now()) {
        return Err(too_often("20 requests a second"));
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        check_origin(app, request.headers())?;
    }
    if let Some(session) = session_of(app, request.headers()) {
        request.extensions_mut().insert(session);
    }
    if let Some(link) = link_of(request) {
        return sign_in_by_link(app, peer, &link).map(Some);
    }
    if path == "/sign-in" && request.method() == Method::POST && !app.sign_ins.allows(peer, Instant::now()) {
        return Err(too_often("5 tries to sign in a minute"));
    }
    if is_asset || path == "/sign-in" || request.extensions().get::<Session>().is_some() {
        return Ok(None);
    }
    if path.starts_with("/api/") {
        let problem = Problem::recipe("nobody is signed in").remedy("plimsoll serve --link");
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, problem));
    }
    Ok(Some(sign_in(app, StatusCode::UNAUTHORIZED, None).into_response()))
}

/// Who asks. Behind a proxy it is whom the proxy names last: what stands before that the browser may have written itself.
fn peer_of(behind_proxy: bool, request: &Request) -> IpAddr {
    let peer = request.extensions().get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
    let named = request.headers().get_all(FORWARDED_FOR).iter().next_back();
    let last = named.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    if behind_proxy { last.unwrap_or(peer) } else { peer }
}

/// A name that somebody else has pointed at this machine is not this page's (DNS rebinding).
fn check_host(app: &App, request: &Request) -> Result<(), Refusal> {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    let host = host.unwrap_or_default().to_ascii_lowercase();
    let own = app.origin.split_once("://").map_or("", |(_, host)| host);
    if host == own || (app.settings.is_secure() && host == app.settings.host_name) {
        return Ok(());
    }
    let what = format!("this is not `{}`", host.escape_debug());
    let problem = Problem::recipe(what).remedy(format!("{}/", app.origin));
    Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, problem))
}

/// A change must come from this page itself: browsers say where it comes from, and nothing else has the cookie.
fn check_origin(app: &App, headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let own = match text("sec-fetch-site") {
        Some(site) => site == "same-origin",
        None => text("origin") == Some(app.origin.as_str()),
    };
    if own {
        return Ok(());
    }
    let problem = Problem::recipe("this change was asked for by another page")
        .remedy(format!("programs say where they ask: Origin: {}", app.origin));
    Err(Refusal::new(StatusCode::FORBIDDEN, problem))
}

fn too_often(limit: &str) -> Refusal {
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, Problem::recipe(format!("there are at most {limit}")))
}

/// The token of a link: only the first page is asked for with one.
fn link_of(request: &Request) -> Option<String> {
    if request.uri().path() != "/" || request.method() != Method::GET {
        return None;
    }
    let query = request.uri().query()?;
    url::form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "token")
        .map(|(_, value)| value.into_owned())
}

fn sign_in_by_link(app: &App, peer: IpAddr, link: &str) -> Result<Response<Body>, Refusal> {
    if !app.sign_ins.allows(peer, Instant::now()) {
        return Err(too_often("5 tries to sign in a minute"));
    }
    if let Some(session) = app.access.redeem(link)? {
        return Ok(Answer::SeeWithCookie("/".to_string(), cookie(app, &session)).into_response());
    }
    let why = "This link was used before, is older than a day, or never was one.";
    Ok(sign_in(app, StatusCode::UNAUTHORIZED, Some(why)).into_response())
}

/// What a browser keeps of a session: for this host alone, not for scripts, not for what other pages ask.
pub(crate) fn cookie(app: &App, session: &str) -> String {
    let secure = if app.settings.is_secure() { "; Secure" } else { "" };
    let lifetime = SESSION_LIFETIME.as_secs();
    format!("{COOKIE}={session}; Path=/; Max-Age={lifetime}; HttpOnly; SameSite=Lax{secure}")
}

fn session_of(app: &App, headers: &HeaderMap) -> Option<Session> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let tokens = cookies.flat_map(|line| line.split(';')).filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == COOKIE).then_some(value)
    });
    tokens.into_iter().find_map(|token| {
        let role = app.access.role_of(token)?.min(app.settings.max_role);
        Some(Session { role, token: token.to_string() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_is_whom_the_proxy_names_last_and_nobody_else_may_name_anybody() {
        let peer = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        let asks = |behind_proxy: bool, named: &[&str]| {
            let mut request = Request::new(Body::empty());
            request.extensions_mut().insert(Peer(peer));
            for value in named {
                request.headers_mut().append(FORWARDED_FOR, value.parse().expect("a header"));
            }
            peer_of(behind_proxy, &request).to_string()
        };
        assert_eq!(asks(true, &["1.2.3.4, 192.0.2.7"]), "192.0.2.7");
        assert_eq!(asks(true, &["1.2.3.4", "2001:db8::1"]), "2001:db8::1");
        assert_eq!(asks(true, &["unknown"]), "10.0.0.1");
        assert_eq!(asks(true, &[]), "10.0.0.1");
        assert_eq!(asks(false, &["192.0.2.7"]), "10.0.0.1", "a browser names itself as it likes");
    }
}
