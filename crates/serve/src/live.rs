//! What is being measured, as it is told: the lines of `measuring.jsonl` as server-sent events.
//!
//! An event's id is the file's inode and the place behind its line, so that a browser that was away goes on where it was. Nobody
//! reads the file where nobody follows it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use futures_util::stream;
use model::progress::{Begin, ProgressLine, Told};
use model::{Problem, ProcessIdentity};
use tokio::sync::OwnedSemaphorePermit;

use crate::answer::{Refusal, insert};
use crate::app::App;
use crate::refused::refused;

/// The file of what is being measured.
pub(crate) fn measuring_file(app: &App) -> PathBuf {
    store::measuring_file(app.laboratory.home())
}

/// Of what was told before somebody came, at most so much is told again.
const MAX_PAST_BYTES: u64 = 2 << 20;
/// A line is shorter.
const MAX_BEGIN_BYTES: u64 = 64 << 10;
/// A stream without an event says that it is still there.
const ALIVE_EVERY: Duration = Duration::from_secs(15);

/// The events.
pub(crate) async fn stream(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    let Ok(place) = app.streams.clone().try_acquire_owned() else {
        let problem = Problem::environment("8 browsers follow already").remedy("close one of them");
        return refused(&app, "/api/", None, &Refusal::new(StatusCode::SERVICE_UNAVAILABLE, problem));
    };
    // A browser on this machine draws on CPUs that are measured: it asks for less.
    let query = query.unwrap_or_default();
    let every_s = url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "every");
    let every_s = every_s.and_then(|(_, value)| value.parse().ok()).unwrap_or(1).clamp(1, 60);
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(Position::read);
    let follower = Follower {
        path: measuring_file(&app),
        position: last,
        every: Duration::from_secs(every_s),
        waiting: VecDeque::new(),
        began: false,
        app,
        _place: place,
    };
    let events = stream::unfold(follower, |mut follower| async move {
        let bytes = follower.next().await;
        Some((Ok::<Bytes, std::io::Error>(bytes), follower))
    });
    let mut response = Response::new(Body::from_stream(events));
    insert(&mut response, header::CONTENT_TYPE, "text/event-stream");
    response
}

/// A file, and a place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    inode: u64,
    offset: u64,
}

impl Position {
    /// `INODE-OFFSET`.
    fn read(text: &str) -> Option<Position> {
        let (inode, offset) = text.split_once('-')?;
        Some(Position { inode: inode.parse().ok()?, offset: offset.parse().ok()? })
    }
}

/// Somebody who follows.
struct Follower {
    app: Arc<App>,
    path: PathBuf,
    position: Option<Position>,
    every: Duration,
    waiting: VecDeque<Bytes>,
    /// The first look is made at once.
    began: bool,
    _place: OwnedSemaphorePermit,
}

impl Follower {
    /// The next events, or a sign of life.
    async fn next(&mut self) -> Bytes {
        let mut silent = Duration::ZERO;
        loop {
            if let Some(bytes) = self.waiting.pop_front() {
                return bytes;
            }
            if silent >= ALIVE_EVERY {
                return Bytes::from_static(b": still there\n\n");
            }
            if std::mem::replace(&mut self.began, true) {
                tokio::time::sleep(self.every).await;
                silent += self.every;
            }
            let (path, position, app) = (self.path.clone(), self.position, self.app.clone());
            let look = move || {
                let news = News::read(&path, position);
                let over = news.process.is_some_and(|process| !app.laboratory.is_alive(process));
                (news, over)
            };
            let Ok((news, over)) = tokio::task::spawn_blocking(look).await else { continue };
            if news.position != self.position && !news.text.is_empty() {
                self.waiting.push_back(Bytes::from(news.text));
            }
            if over && news.position != self.position {
                self.waiting.push_back(Bytes::from_static(b"event: over\ndata: {}\n\n"));
            }
            self.position = news.position.or(self.position);
        }
    }
}

/// What was told since the last look.
#[derive(Debug, Default, PartialEq)]
struct News {
    /// Events, ready to be sent.
    text: String,
    position: Option<Position>,
    /// Who tells.
    process: Option<ProcessIdentity>,
}

impl News {
    /// What is new behind `last`; nothing where there is no file.
    fn read(path: &Path, last: Option<Position>) -> News {
        News::try_read(path, last).unwrap_or_default()
    }

    fn try_read(path: &Path, last: Option<Position>) -> std::io::Result<News> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let (inode, length) = (metadata.ino(), metadata.len());
        let known = last.filter(|last| last.inode == inode && last.offset <= length);
        let mut news = News { process: begin(&mut file)?.and_then(|begin| begin.process), ..News::default() };
        let from = known.map_or(length.saturating_sub(MAX_PAST_BYTES), |known| known.offset);
        if known.is_none() && from > 0 {
            let (line, end) = first_line(&mut file)?;
            news.push(&line, Position { inode, offset: end });
        }
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(length - from).read_to_end(&mut bytes)?;
        let mut offset = from;
        // A look into the middle begins behind the line that it cuts, and never ends within one.
        let mut cut = known.is_none() && from > 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            offset += line.len() as u64;
            if !std::mem::take(&mut cut) {
                news.push(&String::from_utf8_lossy(line), Position { inode, offset });
            }
        }
        news.position = Some(Position { inode, offset });
        Ok(news)
    }

    fn push(&mut self, line: &str, Position { inode, offset }: Position) {
        self.text += &format!("id: {inode}-{offset}\ndata: {}\n\n", line.trim_end());
    }
}

fn first_line(file: &mut File) -> std::io::Result<(String, u64)> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(MAX_BEGIN_BYTES).read_to_end(&mut bytes)?;
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    Ok((String::from_utf8_lossy(&bytes[..end]).into_owned(), end as u64))
}

/// Whoever tells in that file, by its first line; nothing where nothing was ever measured.
pub(crate) fn begin_of(path: &Path) -> Option<Begin> {
    begin(&mut File::open(path).ok()?).ok().flatten()
}

fn begin(file: &mut File) -> std::io::Result<Option<Begin>> {
    let line: Option<ProgressLine> = serde_json::from_str(&first_line(file)?.0).ok();
    Ok(line.and_then(|line| match line.told {
        Told::Begin(begin) => Some(begin),
        _ => None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "{\"at_s\":0.1,\"kind\":\"begin\",\"command\":[\"run\"],\"process\":{\"id\":7,\"start\":9},\
                         \"started\":\"2026-11-27T12:00:00Z\"}\n";

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().expect("a directory");
        let path = store::measuring_file(home.path());
        std::fs::write(&path, text).expect("a file");
        (home, path)
    }

    fn data(news: &News) -> Vec<&str> {
        news.text.lines().filter_map(|line| line.strip_prefix("data: ")).collect()
    }

    #[test]
    fn who_comes_back_is_told_what_came_meanwhile_and_no_half_line() {
        let (_home, path) = file(&format!("{BEGIN}{{\"a\":1}}\n{{\"b\""));
        let first = News::read(&path, None);
        assert_eq!(data(&first), [BEGIN.trim_end(), "{\"a\":1}"]);
        assert_eq!(first.process, Some(ProcessIdentity { id: 7, start: 9 }));
        std::fs::write(&path, format!("{BEGIN}{{\"a\":1}}\n{{\"b\":2}}\n")).expect("the same file");
        let id = first.text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().expect("an id");
        let again = News::read(&path, Position::read(id));
        assert_eq!(data(&again), ["{\"b\":2}"]);
        assert_eq!(data(&News::read(&path, again.position)), [""; 0]);
    }

    #[test]
    fn another_measurement_is_told_from_its_beginning() {
        let (_home, path) = file(&format!("{BEGIN}{{\"a\":1}}\n"));
        let first = News::read(&path, None);
        let other = path.with_extension("new");
        std::fs::write(&other, BEGIN).expect("a file");
        std::fs::rename(&other, &path).expect("it takes its place");
        assert_eq!(data(&News::read(&path, first.position)), [BEGIN.trim_end()]);
    }

    #[test]
    fn of_a_long_measurement_its_beginning_and_its_end_are_told() {
        let line = format!("{{\"text\":\"{}\"}}\n", "x".repeat(1_000));
        let (_home, path) = file(&format!("{BEGIN}{}", line.repeat(5_000)));
        let news = News::read(&path, None);
        let data = data(&news);
        assert_eq!(data[0], BEGIN.trim_end());
        assert!(data[1..].iter().all(|one| *one == line.trim_end()) && (2_000..2_200).contains(&data.len()));
    }

    #[test]
    fn nothing_is_told_where_nothing_was_ever_measured() {
        assert_eq!(News::read(Path::new("/nowhere/at/all"), None), News::default());
    }
}
