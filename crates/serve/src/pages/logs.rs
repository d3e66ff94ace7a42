//! The files of a run: listed, looked into, and downloaded one by one or all together.

use axum::http::StatusCode;
use model::Problem;
use serde_json::{Value, json};

use crate::answer::{Answer, Refusal};
use crate::api::run_of;
use crate::app::App;
use crate::download;
use crate::endpoint::Asked;
use crate::files::{end_of, list, open_beneath};
use crate::lines;

/// A page lists no more files.
const MAX_FILES: usize = 1_000;
/// Of a file as it is, the end is sent.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// How the names of files end that are no text.
const DATABASE: &str = ".sqlite";

pub(super) fn files(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let run = run_of(app, asked.part("run"))?;
    let files: Vec<Value> = list(run.directory(), MAX_FILES)
        .into_iter()
        .map(|(name, bytes)| {
            let is_text = !name.ends_with(DATABASE);
            json!({ "address": address(&name), "is_text": is_text, "bytes": bytes, "name": name })
        })
        .collect();
    let context = json!({
        "title": format!("Files of {}", run.record().id),
        "id": run.record().id,
        "files": files,
        "bytes": run.size_bytes(),
        "directory": run.directory().display().to_string(),
    });
    Ok(app.templates.page("files.html", StatusCode::OK, app.frame("/runs", asked.role), context))
}

/// A path with each part as an address has it.
fn address(path: &str) -> String {
    let part = |part: &str| {
        url::form_urlencoded::byte_serialize(part.as_bytes()).collect::<String>().replace('+', "%20")
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

pub(super) fn file(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let run = run_of(app, asked.part("run"))?;
    let name = asked.part("file");
    let file = open_beneath(run.directory(), name);
    let (bytes, _) = file.and_then(|file| end_of(file, MAX_FILE_BYTES)).map_err(|_| missing(name))?;
    let is_data = name.ends_with(DATABASE) || bytes.contains(&0);
    let kind = if is_data { "application/octet-stream" } else { "text/plain; charset=utf-8" };
    let name = name.rsplit('/').next().unwrap_or("file").to_string();
    Ok(Answer::File { name, kind, bytes })
}

fn missing(name: &str) -> Refusal {
    let what = format!("there is no file `{}`", name.escape_debug());
    Refusal::missing(Problem::recipe(what).into())
}

/// Whether a log is searched: looking through a large file takes seconds of CPU time, its end next to none.
pub(super) fn searches(asked: &Asked) -> bool {
    asked.parameter("find").is_some()
}

/// The last lines of a file, or those with some words.
pub(super) fn log(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let find = asked.parameter("find").unwrap_or_default();
    let run = run_of(app, asked.part("run"))?;
    let name = asked.part("file");
    let place = |inner: &str| format!("/runs/{}/{inner}/{}", run.record().id, address(name));
    let open = || open_beneath(run.directory(), name);
    let bytes = open().and_then(|file| Ok(file.metadata()?.len())).map_err(|_| missing(name))?;
    let tail = open().and_then(lines::tail).map_err(|_| missing(name))?;
    let is_text = tail.is_some();
    let (mut shown, before) = tail.unwrap_or_default();
    let mut hits = Value::Null;
    let mut on = None;
    if is_text && !find.is_empty() {
        let number = |name| asked.parameter(name).and_then(|text| text.parse().ok()).unwrap_or(0);
        let search = |file| lines::search(file, find, number("from"), number("line"), lines::SEARCH_TIME);
        let found = open().and_then(search).map_err(|_| missing(name))?;
        let (from, line) = (found.bytes.to_string(), found.number.to_string());
        let pairs = [("find", find), ("from", &from), ("line", &line)];
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        on = (!found.whole).then(|| format!("{}?{query}", place("log")));
        hits = json!(found);
        shown = found.lines;
    }
    let context = json!({
        "title": name,
        "name": name,
        "id": run.record().id,
        "bytes": bytes,
        "raw": place("files"),
        "raw_bytes": MAX_FILE_BYTES,
        "address": place("log"),
        "find": find,
        "is_text": is_text,
        "lines": shown,
        "before": before,
        "hits": hits,
        "on": on,
    });
    Ok(app.templates.page("log.html", StatusCode::OK, app.frame("/runs", asked.role), context))
}

/// All files of a run in one, for another machine.
pub(super) fn archive(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let run = run_of(app, asked.part("run"))?;
    run.check_archive()?;
    let name = format!("{}.tar.gz", run.record().id);
    match download::body(&app.downloads, move |out| run.archive(out)) {
        Some(body) => Ok(Answer::Download { name, kind: "application/gzip", body }),
        None => {
            let what = format!("{} archives are being made already", download::MAX_AT_ONCE);
            let problem = Problem::environment(what).remedy("ask again in a moment");
            Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, problem))
        }
    }
}
