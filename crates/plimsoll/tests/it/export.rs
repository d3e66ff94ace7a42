//! A run's figures for other programs: CSV and JSON of its series, and live metrics of a run that is being written.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Stdio};

use model::OperationKind;
use serde_json::Value as Json;
use store::{RunWriter, Runs};
use testkit::recorded::{Recorded, Specimen};

use crate::tool::{Home, wait_for};

/// Up to a moment at which all tiers are at work.
fn recorded() -> Recorded {
    Specimen::Passed.open().first(27)
}

/// A run that is being measured, all its seconds there.
fn begun(home: &Home, recorded: &Recorded) -> RunWriter {
    recorded.begin(&Runs::open(home.path()).expect("the home can be made"))
}

/// `plimsoll export`, killed with the test.
struct Exporter {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Exporter {
    fn start(home: &Home, words: &str) -> Exporter {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_plimsoll"))
            .args(words.split_whitespace())
            .env("PLIMSOLL_HOME", home.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        Exporter { child, stderr }
    }

    /// The next line that has `part`.
    fn line_with(&mut self, part: &str) -> String {
        let lines = self.stderr.by_ref().lines().map_while(Result::ok);
        lines.into_iter().find(|line| line.contains(part)).unwrap_or_else(|| panic!("it never said `{part}`"))
    }

    fn interrupt(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).expect("a process number");
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("our own child");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

/// The samples of a text in Prometheus' format by name and labels; a text that breaks a rule of the format fails.
fn parsed(text: &str) -> BTreeMap<String, f64> {
    let (mut samples, mut families) = (BTreeMap::new(), BTreeSet::new());
    let (mut family, mut kind) = (String::new(), String::new());
    assert!(text.ends_with('\n'), "the last line ends too");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a name and a text");
            assert!(
                !help.is_empty() && families.insert(name.to_string()),
                "a family stands together: {line}"
            );
            (family, kind) = (name.to_string(), String::new());
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, word) = rest.split_once(' ').expect("a name and a kind");
            assert!(name == family && kind.is_empty(), "the type follows the help: {line}");
            assert!(["gauge", "counter", "summary"].contains(&word), "{line}");
            assert!(word != "counter" || name.ends_with("_total"), "{line}");
            kind = word.to_string();
        } else {
            let (series, value) = line.rsplit_once(' ').expect("a sample has a value");
            let name = series.split('{').next().expect("a first part");
            let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            assert!(plain && name.starts_with("plimsoll_"), "{line}");
            let stem = name.strip_suffix("_sum").or(name.strip_suffix("_count"));
            assert!(name == family || (kind == "summary" && stem == Some(family.as_str())), "{line}");
            check_labels(&series[name.len()..]);
            let value = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
            assert!(samples.insert(series.to_string(), value).is_none(), "twice: {line}");
        }
    }
    samples
}

fn check_labels(text: &str) {
    let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) else {
        return assert!(text.is_empty(), "{text}");
    };
    let mut rest = inner;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("no label: {rest}"));
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
        let mut escaped = false;
        let end = after.find(|c| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        });
        rest = &after[end.expect("the value is closed") + 1..];
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}

fn sample_of(samples: &BTreeMap<String, f64>, name: &str, label: &str) -> f64 {
    let found = samples.iter().find(|(key, _)| key.starts_with(&format!("{name}{{")) && key.contains(label));
    *found.unwrap_or_else(|| panic!("{name} with {label} is not among {samples:#?}")).1
}

#[test]
fn a_run_under_way_is_served_to_prometheus_until_it_ends() {
    let (home, sample) = (Home::new(), recorded());
    let mut exporter = Exporter::start(&home, "export --prometheus 0");
    let line = exporter.line_with("metrics at");
    let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
    assert!(address.starts_with("127.0.0.1:"), "loopback, unless asked otherwise: {address}");
    assert_eq!(parsed(body(&get(address, "/metrics"))).get("plimsoll_run_under_way"), Some(&0.0));
    let writer = begun(&home, &sample);
    let wanted = sample.intervals().count() as f64;
    let samples = wait_for("all seconds are told", || {
        let samples = parsed(body(&get(address, "/metrics")));
        let told = samples.iter().find(|(key, _)| key.starts_with("plimsoll_run_seconds{"));
        (told.map(|(_, value)| *value) == Some(wanted)).then_some(samples)
    });
    for (index, name) in
        sample.names.iter().enumerate().filter(|(_, name)| name.kind == OperationKind::Operation)
    {
        let label = format!("operation=\"{}\"", name.name);
        let completed: u64 = sample.intervals().map(|second| second.operations[index].completed).sum();
        assert_eq!(sample_of(&samples, "plimsoll_operations_total", &label), completed as f64);
        assert_eq!(sample_of(&samples, "plimsoll_response_seconds_count", &label), completed as f64);
        let sum_s = sample_of(&samples, "plimsoll_response_seconds_sum", &label);
        assert!((0.0..=10.0 * completed as f64).contains(&sum_s), "{label}: {sum_s} s");
        assert_eq!(sum_s > 0.0, completed > 0, "{label}: {sum_s} s");
    }
    assert!(sample_of(&samples, "plimsoll_cpu_cores", "tier=\"db\"") > 0.0);
    assert!(sample_of(&samples, "plimsoll_sql_queries_per_second", "tier=\"db\"") > 0.0);
    assert_eq!(sample_of(&samples, "plimsoll_run_under_way", &sample.record.id), 1.0);
    assert!(sample_of(&samples, "plimsoll_run_under_way", "stack=\"") >= 0.0);

    writer.finish(&sample.record).expect("the run can be finished");
    let samples = wait_for("the end is told", || {
        let samples = parsed(body(&get(address, "/metrics")));
        (sample_of(&samples, "plimsoll_run_under_way", "run=") == 0.0).then_some(samples)
    });
    assert!(!samples.keys().any(|key| key.starts_with("plimsoll_cpu_cores")), "nothing stale: {samples:#?}");
    assert!(get(address, "/").starts_with("HTTP/1.1 404"));
    assert_eq!(exporter.interrupt(), Some(0), "Ctrl-C is its usual end");
}

fn body(answer: &str) -> &str {
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{answer}");
    answer.split_once("\r\n\r\n").expect("a head").1
}

/// The body of the next push; it is answered with `status`.
fn pushed(listener: &TcpListener, status: &str) -> Json {
    // The first connection only sees whether somebody listens.
    loop {
        let (mut stream, _) = listener.accept().expect("a push");
        let mut request = Vec::new();
        let mut buffer = [0; 65536];
        let (head, length) = loop {
            let read = stream.read(&mut buffer).expect("a request");
            if read == 0 {
                break (0, 0);
            }
            request.extend_from_slice(&buffer[..read]);
            if let Some(at) = request.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&request[..at]).into_owned();
                assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
                assert!(head.contains("Content-Type: application/json"), "{head}");
                let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
                break (at + 4, length.and_then(|length| length.parse().ok()).expect("a length"));
            }
        };
        if head == 0 {
            continue;
        }
        while request.len() < head + length {
            let read = stream.read(&mut buffer).expect("the rest");
            request.extend_from_slice(&buffer[..read]);
        }
        stream
            .write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes())
            .expect("an answer");
        return serde_json::from_slice(&request[head..]).expect("the body is JSON");
    }
}

/// Checks the shape of a message and gives its metrics by name.
fn metrics(message: &Json) -> BTreeMap<String, Json> {
    let resource = &message["resourceMetrics"][0];
    let attributes = resource["resource"]["attributes"].as_array().expect("attributes");
    assert!(attributes.contains(&serde_json::json!({
        "key": "service.name", "value": { "stringValue": "plimsoll" }
    })));
    let metrics = resource["scopeMetrics"][0]["metrics"].as_array().expect("metrics");
    for metric in metrics {
        let kinds = ["gauge", "sum", "summary"].map(|kind| metric.get(kind).is_some());
        assert_eq!(kinds.iter().filter(|is| **is).count(), 1, "one kind of data: {metric}");
        let data = ["gauge", "sum", "summary"].iter().find_map(|kind| metric.get(kind)).expect("data");
        for point in data["dataPoints"].as_array().expect("points") {
            // Numbers of 64 bits are strings in this encoding.
            for (key, value) in point.as_object().expect("a point") {
                let is_long = ["timeUnixNano", "startTimeUnixNano", "asInt", "count"].contains(&key.as_str());
                let digits =
                    value.as_str().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                assert!(!is_long || digits, "{key}: {value}");
            }
            assert!(point["timeUnixNano"].is_string() && point["attributes"].is_array(), "{point}");
        }
        if let Some(sum) = metric.get("sum") {
            assert_eq!((&sum["aggregationTemporality"], &sum["isMonotonic"]), (&2.into(), &true.into()));
        }
    }
    metrics
        .iter()
        .map(|metric| (metric["name"].as_str().expect("a name").to_string(), metric.clone()))
        .collect()
}

#[test]
fn a_run_under_way_is_pushed_to_a_collector_that_may_fail_for_a_while() {
    let (home, sample) = (Home::new(), recorded());
    let _writer = begun(&home, &sample);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let mut exporter = Exporter::start(&home, &format!("export --otlp {url}"));
    let metrics = metrics(&pushed(&listener, "503 Service Unavailable"));
    exporter.line_with("503 Service Unavailable");
    let index = sample.names.iter().position(|name| name.kind == OperationKind::Operation).expect("one");
    let completed: u64 = sample.intervals().map(|second| second.operations[index].completed).sum();
    let point = &metrics["plimsoll.operations"]["sum"]["dataPoints"][0];
    assert_eq!(point["asInt"], completed.to_string());
    assert_eq!(metrics["plimsoll.response"]["summary"]["dataPoints"][0]["count"], completed.to_string());
    let queries = &metrics["plimsoll.sql.queries"];
    assert_eq!(queries["unit"], "{queries}/s");
    assert_eq!(queries["gauge"]["dataPoints"][0]["attributes"][0]["value"]["stringValue"], "db");
    assert_eq!(exporter.interrupt(), Some(0));
}

#[test]
fn a_kept_run_is_pushed_once_and_a_foreign_collector_is_refused() {
    let (home, sample) = (Home::new(), recorded());
    begun(&home, &sample).finish(&sample.record).expect("the run can be finished");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let exporter = home.plimsoll(&format!("export --otlp {url} last")).start();
    assert!(metrics(&pushed(&listener, "200 OK")).contains_key("plimsoll.operations"));
    exporter.wait().expect(0);
    home.plimsoll("export --otlp http://192.0.2.1:4318").run().expect(2).says("--allow-target 192.0.2.1");
    home.plimsoll("export").run().expect(2);
    home.plimsoll("export --prometheus nonsense").run().expect(2).says("neither a port");
}

#[test]
fn every_point_of_a_run_comes_as_csv_and_as_json() {
    let (home, sample) = (Home::new(), recorded());
    begun(&home, &sample).finish(&sample.record).expect("the run can be finished");
    let points: usize = sample.series.iter().map(|series| series.points.len()).sum();
    let path = home.path().join("series.csv");
    home.plimsoll("show last --csv").arg(&path).run().expect(0);
    let text = std::fs::read_to_string(&path).expect("the file is there");
    assert!(text.starts_with("series,tier,unit,second,value\r\n"), "{}", &text[..60]);
    assert_eq!(text.lines().count(), points + 1);
    let json = home.plimsoll("show last --json --series").run().expect(0).json();
    let series = json["series"].as_array().expect("series");
    let told: usize = series.iter().map(|one| one["points"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!((told, json["run"].as_str()), (points, Some(sample.record.id.as_str())));
    home.plimsoll("show last --series").run().expect(2).says("--json");
}
