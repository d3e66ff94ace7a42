//! Files of the pages: styles and scripts, the same for everybody.

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, Response, StatusCode, header};
use sha2::{Digest, Sha256};

use crate::answer::insert;

/// By the name that pages ask for.
const ASSETS: &[(&str, &str, &str)] = &[
    ("icon.svg", "image/svg+xml", include_str!("../../../web/laboratory/icon.svg")),
    ("page.css", "text/css", include_str!("../../../web/page.css")),
    ("study.css", "text/css", include_str!("../../../web/study.css")),
    ("laboratory.css", "text/css", include_str!("../../../web/laboratory/laboratory.css")),
    ("uplot.css", "text/css", include_str!("../../../web/vendor/uplot/uPlot.min.css")),
    ("uplot.js", "text/javascript", include_str!("../../../web/vendor/uplot/uPlot.iife.min.js")),
    ("canvas.mjs", "text/javascript", include_str!("../../../web/canvas.mjs")),
    ("format.mjs", "text/javascript", include_str!("../../../web/format.mjs")),
    ("series.mjs", "text/javascript", include_str!("../../../web/series.mjs")),
    ("charts.mjs", "text/javascript", include_str!("../../../web/charts.mjs")),
    ("flames.mjs", "text/javascript", include_str!("../../../web/flames.mjs")),
    ("points.mjs", "text/javascript", include_str!("../../../web/points.mjs")),
    ("main.mjs", "text/javascript", include_str!("../../../web/main.mjs")),
    ("keys.mjs", "text/javascript", include_str!("../../../web/laboratory/keys.mjs")),
    ("history.mjs", "text/javascript", include_str!("../../../web/laboratory/history.mjs")),
    ("users.mjs", "text/javascript", include_str!("../../../web/laboratory/users.mjs")),
    ("elements.mjs", "text/javascript", include_str!("../../../web/laboratory/elements.mjs")),
    ("stream.mjs", "text/javascript", include_str!("../../../web/laboratory/stream.mjs")),
    ("live.mjs", "text/javascript", include_str!("../../../web/laboratory/live.mjs")),
    ("live-charts.mjs", "text/javascript", include_str!("../../../web/laboratory/live-charts.mjs")),
    ("live-study.mjs", "text/javascript", include_str!("../../../web/laboratory/live-study.mjs")),
    ("study.mjs", "text/javascript", include_str!("../../../web/study.mjs")),
    ("trials-picture.mjs", "text/javascript", include_str!("../../../web/trials-picture.mjs")),
    ("new.mjs", "text/javascript", include_str!("../../../web/laboratory/new.mjs")),
];

/// The file of that name; a browser that has it already is told that it is still the same.
pub(crate) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    let Some((_, kind, text)) = ASSETS.iter().find(|(known, ..)| *known == name) else {
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    };
    let tag = format!("\"{:x}\"", Sha256::digest(text.as_bytes()));
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        *response.body_mut() = Body::from(*text);
    }
    insert(&mut response, header::CONTENT_TYPE, &format!("{kind}; charset=utf-8"));
    insert(&mut response, header::ETAG, &tag);
    // A newer server has newer files.
    insert(&mut response, header::CACHE_CONTROL, "private, no-cache");
    response
}
