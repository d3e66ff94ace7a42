//! Prometheus' text format, version 0.0.4 (prometheus.io, "Exposition formats"), and the page that serves it.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::{OperationKind, Problem, Result};

use super::follow::Followed;

/// How long a client may take to ask, and to take the answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// A request for a page is a few lines.
const REQUEST_MAX_BYTES: usize = 16 * 1024;

/// The page; its thread ends with the process.
pub(super) struct Page {
    address: SocketAddr,
    text: Arc<Mutex<String>>,
}

impl Page {
    pub(super) fn serve(address: SocketAddr) -> Result<Page> {
        let failed = |error: io::Error| {
            Problem::environment(format!("failed to listen on {address}: {error}"))
                .key("--prometheus")
                .remedy("another port")
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let text = Arc::new(Mutex::new(nothing()));
        let shown = Arc::clone(&text);
        let serve = move || {
            for stream in listener.incoming().flatten() {
                let text = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
                // A client that goes away has no answer.
                _ = answer(stream, &text);
            }
        };
        std::thread::Builder::new().name("metrics".to_string()).spawn(serve).map_err(failed)?;
        Ok(Page { address, text })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn show(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

fn answer(mut stream: TcpStream, text: &str) -> io::Result<()> {
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.windows(4).any(|four| four == b"\r\n\r\n") {
        let left = deadline.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        let read = stream.read(&mut buffer)?;
        if read == 0 || left.is_zero() || request.len() > REQUEST_MAX_BYTES {
            return Ok(());
        }
        request.extend_from_slice(&buffer[..read]);
    }
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split(|byte| *byte == b'?').next().unwrap_or_default();
    let (status, body) = match (method, path) {
        (b"GET" | b"HEAD", b"/metrics") => ("200 OK", text),
        (b"GET" | b"HEAD", _) => ("404 Not Found", "the metrics are at /metrics\n"),
        _ => ("405 Method Not Allowed", "only GET\n"),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if method == b"HEAD" { Ok(()) } else { stream.write_all(body.as_bytes()) }
}

/// Before there is a run.
fn nothing() -> String {
    let mut text = Text::default();
    text.family(
        "plimsoll_run_under_way",
        "gauge",
        "1 while the run is being measured",
        &[(String::new(), 0.0)],
    );
    text.0
}

/// Everything that is known of the run.
pub(super) fn text(followed: &Followed) -> String {
    let record = followed.record();
    let run = labels(&[("run", &record.id), ("kit", &record.setup.kit), ("stack", &record.setup.stack)]);
    let with = |more: &[(&str, &str)]| format!("{run},{}", labels(more));
    let mut text = Text::default();
    let under_way = f64::from(u8::from(followed.under_way()));
    text.family(
        "plimsoll_run_under_way",
        "gauge",
        "1 while the run is being measured",
        &[(run.clone(), under_way)],
    );
    let second = f64::from(followed.second());
    text.family(
        "plimsoll_run_seconds",
        "gauge",
        "seconds of the run that have ended",
        &[(run.clone(), second)],
    );
    let users: Vec<_> =
        followed.users().into_iter().map(|(doing, count)| (with(&[("doing", doing)]), count)).collect();
    text.family("plimsoll_users", "gauge", "users by what they did in the last second", &users);
    let connects = followed.connects() as f64;
    text.family("plimsoll_connects_total", "counter", "connections opened", &[(run.clone(), connects)]);
    for (kind, word) in [(OperationKind::Operation, "operation"), (OperationKind::Request, "request")] {
        let rows = || followed.rows().filter(move |row| row.name.kind == kind);
        let label = |name: &str| with(&[(word, name)]);
        let completed: Vec<_> = rows().map(|row| (label(&row.name.name), row.completed as f64)).collect();
        text.family(&format!("plimsoll_{word}s_total"), "counter", "completed without an error", &completed);
        let failed = rows().flat_map(|row| {
            let named = row.failures().filter(|(_, count)| *count > 0);
            named.map(|(kind, count)| (with(&[(word, &row.name.name), ("kind", kind)]), count as f64))
        });
        text.family(
            &format!("plimsoll_{word}_errors_total"),
            "counter",
            "failed, by kind",
            &failed.collect::<Vec<_>>(),
        );
    }
    let requests = followed.rows().filter(|row| row.name.kind == OperationKind::Request);
    let bytes: Vec<_> =
        requests.map(|row| (with(&[("request", &row.name.name)]), row.bytes as f64)).collect();
    text.family("plimsoll_request_received_bytes_total", "counter", "bytes of answers", &bytes);
    responses(followed, &with, &mut text);
    series(followed, &with, &mut text);
    text.0
}

/// The labels of the run and these.
type With<'a> = dyn Fn(&[(&str, &str)]) -> String + 'a;

fn responses(followed: &Followed, with: &With<'_>, text: &mut Text) {
    let name = "plimsoll_response_seconds";
    text.head(
        name,
        "summary",
        "response times from the intended start; quantiles of the last 5 to 10 seconds, sum and count of the run",
    );
    for row in followed.rows().filter(|row| row.name.kind == OperationKind::Operation) {
        let operation = ("operation", row.name.name.as_str());
        for (share, seconds) in row.quantiles() {
            text.sample(name, &with(&[operation, ("quantile", &share.to_string())]), seconds);
        }
        text.sample(&format!("{name}_sum"), &with(&[operation]), row.response_sum_s);
        text.sample(&format!("{name}_count"), &with(&[operation]), row.completed as f64);
    }
}

/// A family for each name, whatever tiers have it.
fn series(followed: &Followed, with: &With<'_>, text: &mut Text) {
    let mut families: std::collections::BTreeMap<String, (String, Vec<(String, f64)>)> = Default::default();
    for (series, value) in followed.series() {
        let tier = series.tier.as_deref().unwrap_or("host");
        let (_, samples) = families
            .entry(metric(&series.name, &series.unit))
            .or_insert_with(|| (format!("series {}, in {}", series.name, series.unit), Vec::new()));
        samples.push((with(&[("tier", tier)]), value));
    }
    for (name, (help, samples)) in families {
        text.family(&name, "gauge", &help, &samples);
    }
}

/// `sql.queries` in queries/s is `plimsoll_sql_queries_per_second`, `memory.bytes` is `plimsoll_memory_bytes`.
fn metric(name: &str, unit: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let rate = unit.ends_with("/s") && !plain.ends_with("_per_s");
    let plain = plain.strip_suffix("_per_s").map_or(plain.clone(), |stem| format!("{stem}_per_second"));
    format!("plimsoll_{plain}{}", if rate { "_per_second" } else { "" })
}

fn labels(pairs: &[(&str, &str)]) -> String {
    let escape = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let one = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escape(value));
    pairs.iter().map(one).collect::<Vec<_>>().join(",")
}

#[derive(Default)]
struct Text(String);

impl Text {
    /// A family without samples is left out.
    fn family(&mut self, name: &str, kind: &str, help: &str, samples: &[(String, f64)]) {
        if !samples.is_empty() {
            self.head(name, kind, help);
            samples.iter().for_each(|(labels, value)| self.sample(name, labels, *value));
        }
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: f64) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_says_its_unit_and_a_label_is_escaped() {
        assert_eq!(metric("sql.queries", "queries/s"), "plimsoll_sql_queries_per_second");
        assert_eq!(metric("switches.per_s", "1/s"), "plimsoll_switches_per_second");
        assert_eq!(metric("cpu0.busy_ratio", "ratio"), "plimsoll_cpu0_busy_ratio");
        assert_eq!(labels(&[("a", "x\"y\\z\n"), ("b", "")]), "a=\"x\\\"y\\\\z\\n\",b=\"\"");
    }
}
