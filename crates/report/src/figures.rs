//! Numbers as they are shown, everywhere the same: with a unit, with three significant digits, a dash where there is
//! nothing.

use model::units;

/// What stands where there is no figure.
pub(crate) const NOTHING: &str = "–";

/// `38.5 ms`.
pub(crate) fn time(seconds: Option<f64>) -> String {
    finite(seconds).map_or_else(|| NOTHING.to_string(), units::show_seconds)
}

/// `0.31 %`.
pub(crate) fn percent(ratio: Option<f64>) -> String {
    finite(ratio).map_or_else(|| NOTHING.to_string(), analysis::sentence::percent)
}

/// `1 234`, `20.2`.
pub(crate) fn number(value: Option<f64>) -> String {
    finite(value).map_or_else(|| NOTHING.to_string(), analysis::sentence::number)
}

/// `1.40 GB`.
pub(crate) fn bytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| NOTHING.to_string(), units::show_bytes)
}

/// A value in the unit of a QoS target: `seconds` or `ratio`.
pub(crate) fn in_unit(value: Option<f64>, unit: &str) -> String {
    if unit == "ratio" { percent(value) } else { time(value) }
}

/// `53 % under`, `207 % over`: how a target was met or missed.
pub(crate) fn margin(ratio: Option<f64>) -> String {
    match finite(ratio) {
        None => NOTHING.to_string(),
        Some(ratio) if ratio >= 0.0 => format!("{} under", percent(Some(ratio))),
        Some(ratio) => format!("{} over", percent(Some(-ratio))),
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
        assert_eq!(margin(Some(0.5333)), "53 % under");
        assert_eq!(margin(Some(-2.07)), "207 % over");
        assert_eq!(in_unit(Some(0.0031), "ratio"), "0.31 %");
        assert_eq!(measured(1440.2, "1/min"), "1 440/min");
        assert_eq!(measured(2.04, "%"), "2.04 %");
        assert_eq!(measured(7.0, "orders"), "7 orders");
    }
}
