//! OTLP metrics as JSON over HTTP (opentelemetry.io, "OTLP Specification", JSON Protobuf encoding: 64-bit numbers are
//! strings), one request a push.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::Endpoint;
use model::{OperationKind, Problem, Result};
use serde_json::{Value, json};

use super::follow::Followed;
use runner::server::ServerAccess;

/// How long a collector may take.
const PUSH_TIMEOUT: Duration = Duration::from_secs(2);
/// AGGREGATION_TEMPORALITY_CUMULATIVE
const CUMULATIVE: u32 = 2;

/// A collector; what goes wrong with it is told once, until it is well again.
pub(super) struct Collector {
    address: SocketAddr,
    host: String,
    path: String,
    ill: bool,
}

impl Collector {
    /// Refuses one that is not on this machine unless it was allowed by name.
    pub(super) fn find(url: &str, server: &ServerAccess) -> Result<Collector> {
        let server = server.find(url)?;
        let wrong =
            |what: &str| Problem::recipe(what.to_string()).key("--otlp").remedy("http://127.0.0.1:4318");
        if server.target.tls.is_some() {
            return Err(
                wrong("it pushes over plain HTTP only; a collector beside it can go on over TLS").into()
            );
        }
        let Endpoint::Tcp(address) = server.target.endpoint else {
            return Err(wrong("a collector is reached over TCP").into());
        };
        let path = match server.url.path() {
            "/" => "/v1/metrics".to_string(),
            path => path.to_string(),
        };
        Ok(Collector { address, host: server.target.host, path, ill: false })
    }

    /// Pushes; what is to be told about it, if anything.
    pub(super) fn push(&mut self, body: &str) -> Option<String> {
        let outcome = self.post(body);
        let was_ill = std::mem::replace(&mut self.ill, outcome.is_err());
        match outcome {
            Err(what) if !was_ill => {
                Some(format!("the collector does not take the metrics: {what}; tried on"))
            }
            Ok(()) if was_ill => Some("the collector takes the metrics again".to_string()),
            _ => None,
        }
    }

    fn post(&self, body: &str) -> Result<(), String> {
        let text = |error: std::io::Error| error.to_string();
        let mut stream = TcpStream::connect_timeout(&self.address, PUSH_TIMEOUT).map_err(text)?;
        stream.set_read_timeout(Some(PUSH_TIMEOUT)).map_err(text)?;
        stream.set_write_timeout(Some(PUSH_TIMEOUT)).map_err(text)?;
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: plimsoll\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.path,
            self.host,
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).map_err(text)?;
        let mut answer = [0; 64];
        let mut filled = 0;
        while filled < answer.len() && !answer[..filled].contains(&b'\n') {
            match stream.read(&mut answer[filled..]).map_err(text)? {
                0 => break,
                read => filled += read,
            }
        }
        let line = String::from_utf8_lossy(&answer[..filled]);
        let line = line.lines().next().unwrap_or_default();
        match line.split(' ').nth(1) {
            Some(status) if status.starts_with('2') => Ok(()),
            _ => Err(format!("it answered `{line}`")),
        }
    }
}

/// The message of one push.
pub(super) fn body(followed: &Followed) -> Value {
    let record = followed.record();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let began = followed.began().and_then(|began| began.duration_since(UNIX_EPOCH).ok()).unwrap_or(now);
    let moment = Moment { began: began.as_nanos().to_string(), now: now.as_nanos().to_string() };
    let resource = [
        ("service.name", "plimsoll"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("plimsoll.run", &record.id),
        ("plimsoll.kit", &record.setup.kit),
        ("plimsoll.stack", &record.setup.stack),
    ];
    let metrics: Vec<Value> = moment
        .users(followed)
        .into_iter()
        .chain(moment.rows(followed))
        .chain(moment.series(followed))
        .collect();
    json!({ "resourceMetrics": [{
        "resource": { "attributes": attributes(&resource) },
        "scopeMetrics": [{
            "scope": { "name": "plimsoll", "version": env!("CARGO_PKG_VERSION") },
            "metrics": metrics,
        }],
    }] })
}

/// When what is told began and ended, in nanoseconds since 1970.
struct Moment {
    began: String,
    now: String,
}

impl Moment {
    fn point(&self, labels: &[(&str, &str)], value: f64) -> Value {
        json!({ "attributes": attributes(labels), "timeUnixNano": self.now, "asDouble": value })
    }

    fn count(&self, labels: &[(&str, &str)], count: u64) -> Value {
        json!({
            "attributes": attributes(labels), "startTimeUnixNano": self.began, "timeUnixNano": self.now,
            "asInt": count.to_string(),
        })
    }

    fn users(&self, followed: &Followed) -> Option<Value> {
        let points: Vec<Value> =
            followed.users().iter().map(|(doing, count)| self.point(&[("doing", doing)], *count)).collect();
        (!points.is_empty()).then(|| gauge("plimsoll.users", "{user}", &points))
    }

    fn rows(&self, followed: &Followed) -> Vec<Value> {
        let operations = || followed.rows().filter(|row| row.name.kind == OperationKind::Operation);
        let completed: Vec<Value> =
            operations().map(|row| self.count(&[("operation", &row.name.name)], row.completed)).collect();
        let failed: Vec<Value> = operations()
            .flat_map(|row| {
                let named = row.failures().filter(|(_, count)| *count > 0);
                named.map(|(kind, count)| self.count(&[("operation", &row.name.name), ("kind", kind)], count))
            })
            .collect();
        let responses: Vec<Value> = operations()
            .map(|row| {
                let quantiles = row.quantiles();
                let quantiles = quantiles.iter().map(|(share, s)| json!({ "quantile": share, "value": s }));
                json!({
                    "attributes": attributes(&[("operation", &row.name.name)]),
                    "startTimeUnixNano": self.began, "timeUnixNano": self.now,
                    "count": row.completed.to_string(), "sum": row.response_sum_s,
                    "quantileValues": quantiles.collect::<Vec<_>>(),
                })
            })
            .collect();
        let mut metrics = Vec::new();
        if !completed.is_empty() {
            metrics.push(sum("plimsoll.operations", "{operation}", &completed));
            let summary = json!({ "dataPoints": responses });
            metrics.push(json!({ "name": "plimsoll.response", "unit": "s", "summary": summary }));
        }
        if !failed.is_empty() {
            metrics.push(sum("plimsoll.operation_errors", "{operation}", &failed));
        }
        metrics
    }

    fn series(&self, followed: &Followed) -> Vec<Value> {
        let mut families: std::collections::BTreeMap<(&str, &str), Vec<Value>> = Default::default();
        for (series, value) in followed.series() {
            let tier = series.tier.as_deref().unwrap_or("host");
            let point = self.point(&[("tier", tier)], value);
            families.entry((&series.name, &series.unit)).or_default().push(point);
        }
        let one = |((name, unit), points): ((&str, &str), Vec<Value>)| {
            gauge(&format!("plimsoll.{name}"), ucum(unit).as_str(), &points)
        };
        families.into_iter().map(one).collect()
    }
}

fn gauge(name: &str, unit: &str, points: &[Value]) -> Value {
    json!({ "name": name, "unit": unit, "gauge": { "dataPoints": points } })
}

fn sum(name: &str, unit: &str, points: &[Value]) -> Value {
    let sum = json!({ "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points });
    json!({ "name": name, "unit": unit, "sum": sum })
}

fn attributes(pairs: &[(&str, &str)]) -> Vec<Value> {
    pairs.iter().map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } })).collect()
}

/// Units as OpenTelemetry wants them (UCUM): what is counted stands in braces.
fn ucum(unit: &str) -> String {
    match unit {
        "s" | "1/s" => unit.to_string(),
        "ratio" | "" => "1".to_string(),
        "bytes" => "By".to_string(),
        "bytes/s" => "By/s".to_string(),
        "s/s" => "1".to_string(),
        other => match other.strip_suffix("/s") {
            Some(counted) => format!("{{{counted}}}/s"),
            None => format!("{{{other}}}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_opentelemetry() {
        for (unit, expected) in [
            ("bytes/s", "By/s"),
            ("ratio", "1"),
            ("queries/s", "{queries}/s"),
            ("cores", "{cores}"),
            ("s", "s"),
        ] {
            assert_eq!(ucum(unit), expected);
        }
    }
}
