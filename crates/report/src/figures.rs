//! Numbers as they are shown, everywhere the same: with a unit, with three significant digits, a dash where there is
//! nothing.

use model::record::MetricResult;
use model::units;

/// What stands where there is no figure.
pub(crate) const NOTHING: &str = "–";

/// `38.5 ms`.
pub(crate) fn time(seconds: Option<f64>) -> String {
    finite(seconds).map_or_else(|| NOTHING.to_string(), units::show_seconds)
}

/// A length that somebody chose: `60 s`, `1.5 s`, `250 ms`, without the digits that only a measurement has.
pub(crate) fn duration(seconds: Option<f64>) -> String {
    let text = time(seconds);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// RFC 3339 as people read it: `2026-11-21 03:45 UTC`; anything else as it is.
pub(crate) fn moment(rfc3339: &str) -> String {
    match (rfc3339.get(..10), rfc3339.get(10..11), rfc3339.get(11..16), rfc3339.ends_with('Z')) {
        (Some(date), Some("T"), Some(time), true) => format!("{date} {time} UTC"),
        _ => rfc3339.to_string(),
    }
}

/// `0.31 %`.
pub(crate) fn percent(ratio: Option<f64>) -> String {
    finite(ratio).map_or_else(|| NOTHING.to_string(), units::percent)
}

/// `1 234`, `20.2`.
pub(crate) fn number(value: Option<f64>) -> String {
    finite(value).map_or_else(|| NOTHING.to_string(), units::number)
}

/// `1 234`: how many there are.
pub(crate) fn count(count: u64) -> String {
    units::number(count as f64)
}

/// `1.40 GB`.
pub(crate) fn bytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| NOTHING.to_string(), units::show_bytes)
}

/// A value in the unit of a QoS target: `seconds`, `ratio`, `1/s` or `operations`.
pub(crate) fn in_unit(value: Option<f64>, unit: &str) -> String {
    match (value, unit) {
        (value, "ratio") => percent(value),
        (Some(value), "1/s" | "operations") => measured(value, unit.trim_end_matches("operations")),
        (value, _) => time(value),
    }
}

/// `53 % under`, `207 % over`: how a target was met or missed. Of a target for at least that much, whose unit tells it,
/// under is missed and over is met.
pub(crate) fn margin(ratio: Option<f64>, unit: &str) -> String {
    let met_under = !matches!(unit, "1/s" | "operations");
    match finite(ratio) {
        None => NOTHING.to_string(),
        Some(ratio) => {
            let word = if (ratio >= 0.0) == met_under { "under" } else { "over" };
            format!("{} {word}", percent(Some(ratio.abs())))
        }
    }
}

/// A figure of a kit's own with its unit: `1 440 /min`, `2.04 %`.
pub(crate) fn measured(value: f64, unit: &str) -> String {
    match unit {
        "" | "1" => number(Some(value)),
        "s" | "seconds" => time(Some(value)),
        "ratio" => percent(Some(value)),
        "1/min" => format!("{}/min", number(Some(value))),
        "1/s" => format!("{}/s", number(Some(value))),
        unit => format!("{} {unit}", number(Some(value))),
    }
}

/// What a kit's own figure must be for the run to be valid; absent where it may be anything: `at least 6.0 %`.
pub(crate) fn bounds(metric: &MetricResult) -> Option<String> {
    let bound = |word: &str, bound: Option<f64>| Some(format!("{word} {}", measured(bound?, &metric.unit)));
    let bounds = [bound("at least", metric.at_least), bound("at most", metric.at_most)];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    (!bounds.is_empty()).then(|| bounds.join(", "))
}

/// A value of a series in the series' own unit: `1.90 MB/s`, `2 140 queries/s`, `11 %`, `4.2 workers`.
pub(crate) fn in_series_unit(value: f64, unit: &str) -> String {
    match unit {
        "bytes" | "bytes/s" => {
            let size = bytes(Some(value.max(0.0).round() as u64));
            if unit == "bytes" { size } else { format!("{size}/s") }
        }
        // A share of the time is read as one.
        "s/s" => number(Some(value)),
        unit => measured(value, unit),
    }
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_its_unit_and_no_false_digits() {
        assert_eq!(time(Some(0.0384721)), "38.5 ms");
        assert_eq!(time(None), "–");
        assert_eq!(time(Some(f64::NAN)), "–");
        assert_eq!((duration(Some(60.0)), duration(Some(1.5))), ("60 s".to_string(), "1.5 s".to_string()));
        assert_eq!(duration(Some(600.0)), "10 min 00 s");
        assert_eq!(moment("2026-11-21T03:45:12Z"), "2026-11-21 03:45 UTC");
        assert_eq!(moment("yesterday, früh"), "yesterday, früh");
        assert_eq!(margin(Some(0.5333), "seconds"), "53 % under");
        assert_eq!(margin(Some(-2.07), "ratio"), "207 % over");
        assert_eq!(margin(Some(-0.2), "1/s"), "20 % under");
        assert_eq!(in_unit(Some(0.0031), "ratio"), "0.31 %");
        assert_eq!((in_unit(Some(412.0), "1/s"), in_unit(None, "1/s")), ("412/s".into(), "–".into()));
        assert_eq!(measured(1440.2, "1/min"), "1 440/min");
        assert_eq!(measured(2.04, "%"), "2.04 %");
        assert_eq!(measured(7.0, "orders"), "7 orders");
        assert_eq!(in_series_unit(1.9e6, "bytes/s"), "1.90 MB/s");
        assert_eq!(in_series_unit(2140.2, "queries/s"), "2 140 queries/s");
        assert_eq!(
            (in_series_unit(0.11, "ratio"), in_series_unit(4.2, "s/s")),
            ("11 %".into(), "4.2".into())
        );
    }
}
