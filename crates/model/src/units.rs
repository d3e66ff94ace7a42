//! Durations, sizes and shares as people write them: `90s`, `30mb`, `0.1%`.

use std::time::Duration;

/// Reads `90s`, `2m`, `1.5h`, `250ms` or a bare number of seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let (number, unit) = split_unit(text)?;
    let scale_s = match unit {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("`{other}` is not a unit of time; use us, ms, s, m or h")),
    };
    let seconds = number * scale_s;
    if !(0.0..=1e9).contains(&seconds) {
        return Err(format!("`{text}` is not a duration between 0 and 1e9 seconds"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Reads a rate or two, per second: `200/s`, `50:400/s`, `50/s:400/s`, `30/min`; a bare number is per second. One rate
/// is given twice.
pub fn rates(text: &str) -> Result<(f64, f64), String> {
    let rate = |text: &str| {
        let (number, unit) = split_unit(text.trim())?;
        let per_s = match unit.trim_start_matches('/').trim() {
            "" | "s" => 1.0,
            "m" | "min" => 1.0 / 60.0,
            "h" => 1.0 / 3600.0,
            other => return Err(format!("`{other}` is not a unit of rates; use /s, /min or /h")),
        };
        let rate = number * per_s;
        let sound = (1e-6..=1e7).contains(&rate);
        if sound { Ok(rate) } else { Err(format!("`{text}` is not a rate between 1e-6/s and 1e7/s")) }
    };
    match text.split_once(':') {
        None => rate(text).map(|rate| (rate, rate)),
        Some((from, to)) => {
            let unit = to.find('/').map_or("", |at| &to[at..]);
            let from =
                if from.contains('/') { rate(from)? } else { rate(&format!("{}{unit}", from.trim()))? };
            Ok((from, rate(to)?))
        }
    }
}

/// Reads `30mb`, `10 GB`, `64k` or a bare number of bytes; units are powers of 1024.
pub fn size_bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let (number, unit) = split_unit(text)?;
    let scale = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1024.0,
        "m" | "mb" => 1024.0 * 1024.0,
        "g" | "gb" => 1024.0 * 1024.0 * 1024.0,
        other => return Err(format!("`{other}` is not a unit of size; use kb, mb or gb")),
    };
    let bytes = number * scale;
    if !(0.0..=1e18).contains(&bytes) {
        return Err(format!("`{text}` is not a size"));
    }
    Ok(bytes as u64)
}

fn split_unit(text: &str) -> Result<(f64, &str), String> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number = text[..end].parse::<f64>().map_err(|_| format!("`{text}` does not start with a number"))?;
    Ok((number, text[end..].trim()))
}

/// A duration for people: three significant digits and the unit that suits: `1.42 s`, `38.5 ms`, `940 µs`; from two minutes
/// on `3 min 05 s`. The same rules as in `web/format.mjs`; the cases of both are in `web/format.cases.json`.
pub fn show_seconds(seconds: f64) -> String {
    let magnitude = seconds.abs();
    if magnitude == 0.0 {
        return "0 s".to_string();
    }
    if magnitude >= 119.5 {
        let (sign, whole) = (if seconds < 0.0 { "-" } else { "" }, magnitude.round());
        return format!("{sign}{:.0} min {:02.0} s", (whole / 60.0).floor(), whole % 60.0);
    }
    // By what is shown: 999.6 ms is a second.
    let fits = [("s", 1.0), ("ms", 1e3)].into_iter().find(|(_, scale)| shown(magnitude * scale) >= 1.0);
    let (unit, scale) = fits.unwrap_or(("µs", 1e6));
    format!("{} {unit}", significant(seconds * scale))
}

/// A whole number of processors for people: `1 CPU`, `8 CPUs`.
pub fn show_cpus(number: usize) -> String {
    format!("{number} {}", if number == 1 { "CPU" } else { "CPUs" })
}

/// A size as people write it in settings, and as it is read again: `64M`, `1536k`, `1000`; powers of 1024.
pub fn write_size(bytes: u64) -> String {
    let units = [("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)];
    let whole = units.into_iter().find(|(_, scale)| bytes >= *scale && bytes.is_multiple_of(*scale));
    whole.map_or_else(|| bytes.to_string(), |(unit, scale)| format!("{}{unit}", bytes / scale))
}

/// A size for people: `1.40 GB`, powers of 1000, as the letters say.
pub fn show_bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if shown(value) < 1000.0 {
            return format!("{} {unit}", significant(value));
        }
        value /= 1000.0;
    }
    format!("{} TB", significant(value))
}

/// Three significant digits without an exponent: 1234 stays 1234, 12.345 becomes 12.3.
pub fn significant(value: f64) -> String {
    let rounded = shown(value);
    format!("{rounded:.0$}", decimals(rounded))
}

/// `12 %`, `0.31 %`: a share with three significant digits at most.
pub fn percent(ratio: f64) -> String {
    let value = ratio * 100.0;
    if (99.95..100.0).contains(&value) {
        return "over 99.9 %".to_string();
    }
    if (99.5..99.95).contains(&value) {
        return format!("{} %", fixed(value, 1));
    }
    let text = if value.abs() >= 10.0 { fixed(value, 0) } else { significant(value) };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// A number for people: 1 234 567 in groups of three, small ones with three significant digits.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "no number".to_string();
    }
    let text = significant(value);
    if text.chars().all(|c| "-0.".contains(c)) {
        return "0".to_string();
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { grouped } else { format!("{grouped}.{fraction}") }
}

/// The value that three significant digits show.
fn shown(value: f64) -> f64 {
    fixed(value, decimals(value)).parse().unwrap_or(value)
}

/// With that number of decimals. What lies in the middle goes away from zero, as readers and JavaScript's `toFixed` have it,
/// and not to the even digit: 28.25 is 28.3.
fn fixed(value: f64, decimals: usize) -> String {
    // More digits than any double in the middle of two decimals has.
    let exact = format!("{value:.64}");
    let rest = exact.split_once('.').map_or("", |(_, digits)| digits.get(decimals..).unwrap_or(""));
    let middle = rest.strip_prefix('5').is_some_and(|rest| rest.bytes().all(|digit| digit == b'0'));
    let outward = if value < 0.0 { value.next_down() } else { value.next_up() };
    format!("{:.decimals$}", if middle { outward } else { value })
}

fn decimals(value: f64) -> usize {
    match value.abs() {
        magnitude if magnitude >= 100.0 || magnitude == 0.0 => 0,
        magnitude if magnitude >= 10.0 => 1,
        magnitude if magnitude >= 1.0 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, seconds) in [("90s", 90.0), ("2m", 120.0), ("250ms", 0.25), ("1.5h", 5400.0), ("7", 7.0)] {
            assert_eq!(duration(text).map(|d| d.as_secs_f64()), Ok(seconds), "{text}");
        }
        for text in ["", "s", "5 parsecs", "-3s", "1e99h"] {
            assert!(duration(text).is_err(), "{text} must be refused");
        }
    }

    #[test]
    fn rates_are_read_as_people_write_them() {
        assert_eq!(rates("200/s"), Ok((200.0, 200.0)));
        assert_eq!(rates("50:400/s"), Ok((50.0, 400.0)));
        assert_eq!(rates("60/min : 2/s"), Ok((1.0, 2.0)));
        assert_eq!(rates("30 / min"), Ok((0.5, 0.5)));
        assert_eq!(rates("60:120/min"), Ok((1.0, 2.0)));
        for wrong in ["", "0/s", "fast", "10/fortnight", "1:"] {
            assert!(rates(wrong).is_err(), "{wrong:?} must be refused");
        }
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(size_bytes("30MB"), Ok(30 * 1024 * 1024));
        assert_eq!(size_bytes("64k"), Ok(65536));
        assert!(size_bytes("many").is_err());
        for (bytes, text) in
            [(64 << 20, "64M"), (3 << 30, "3G"), (1536 << 10, "1536k"), (1000, "1000"), (0, "0")]
        {
            assert_eq!(write_size(bytes), text);
            assert_eq!(size_bytes(text), Ok(bytes));
        }
    }

    /// What is shown of each value of `web/format.cases.json`, which the page's own tests read too.
    fn shown_as_the_page_does(kind: &str, show: impl Fn(f64) -> String) {
        let cases: serde_json::Value =
            serde_json::from_str(include_str!("../../../web/format.cases.json")).expect("JSON");
        for case in cases[kind].as_array().expect("a list") {
            let value = case[0].as_f64().expect("a number");
            assert_eq!(Some(show(value).as_str()), case[1].as_str(), "{value}");
        }
    }

    #[test]
    fn times_numbers_shares_and_sizes_are_shown_as_on_the_page() {
        shown_as_the_page_does("time", show_seconds);
        shown_as_the_page_does("number", number);
        shown_as_the_page_does("percent", percent);
        shown_as_the_page_does("bytes", |bytes| show_bytes(bytes as u64));
    }

    #[test]
    fn what_is_no_number_says_so() {
        assert_eq!([f64::NAN, f64::INFINITY].map(number), ["no number", "no number"]);
    }

    #[test]
    fn three_digits_are_three_also_where_rounding_carries() {
        assert_eq!([9.996, 99.96, 0.9996, 12.345].map(significant), ["10.0", "100", "1.00", "12.3"]);
    }
}
