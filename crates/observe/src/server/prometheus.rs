//! The text format of Prometheus' exporters (0.0.4): lines `NAME{LABEL="VALUE",…} NUMBER`, and comments.

use super::figures::Figures;

/// Every sample by its name and labels, these in alphabetical order: `requests_total{code="5xx",proxy="app"}`; and all
/// samples of a name together by the name alone. What is no finite number is left out. Nothing where a line is none of the
/// format's, as in an answer that was cut: a sum that lacks a part would be another figure.
pub(super) fn samples(text: &str) -> Option<Figures> {
    let mut figures = Figures::new();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        let (name, labels, value) = sample(line)?;
        if !value.is_finite() {
            continue;
        }
        if !labels.is_empty() {
            figures.insert(format!("{name}{{{}}}", labels.join(",")), value);
        }
        *figures.entry(name.to_string()).or_default() += value;
    }
    (!figures.is_empty()).then_some(figures)
}

fn sample(line: &str) -> Option<(&str, Vec<String>, f64)> {
    let (name, rest) = line.split_at(line.find(['{', ' ', '\t'])?);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (Vec::new(), rest),
    };
    // The time of the sample may follow.
    let value = rest.split_whitespace().next()?.parse().ok()?;
    (!name.is_empty()).then_some((name, labels, value))
}

/// Labels up to the closing brace, as `NAME="VALUE"` in alphabetical order, and what follows it.
fn labels(text: &str) -> Option<(Vec<String>, &str)> {
    let mut labels = Vec::new();
    let mut rest = text.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            labels.sort();
            return Some((labels, after));
        }
        let (name, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_at(closing_quote(after)?);
        labels.push(format!("{}=\"{value}\"", name.trim()));
        let after = after[1..].trim_start();
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
    }
}

/// Where the first quote is that no backslash stands before.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    let ends = |(_, letter): &(usize, char)| {
        let ends = *letter == '"' && !escaped;
        escaped = *letter == '\\' && !escaped;
        ends
    };
    text.char_indices().find(ends).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_their_labels_and_a_name_alone_is_their_sum() {
        let text = "\
# HELP haproxy_process_current_connections Number of active sessions
# TYPE haproxy_process_current_connections gauge
haproxy_process_current_connections 3

haproxy_backend_http_responses_total{proxy=\"app\",code=\"2xx\"} 40
haproxy_backend_http_responses_total{code=\"5xx\", proxy=\"app\",} 2 1395066363000
odd{text=\"a \\\"quoted\\\" } and a \\\\\"} 1e3
mean_of_nothing NaN
bucket{le=\"+Inf\"} +Inf
";
        let wanted = [
            ("haproxy_backend_http_responses_total", 42.0),
            ("haproxy_backend_http_responses_total{code=\"2xx\",proxy=\"app\"}", 40.0),
            ("haproxy_backend_http_responses_total{code=\"5xx\",proxy=\"app\"}", 2.0),
            ("haproxy_process_current_connections", 3.0),
            ("odd", 1000.0),
            ("odd{text=\"a \\\"quoted\\\" } and a \\\\\"}", 1000.0),
        ];
        assert_eq!(samples(text), Some(wanted.map(|(name, value)| (name.to_string(), value)).into()));
    }

    #[test]
    fn an_answer_that_was_cut_or_is_another_page_has_no_figures() {
        for text in [
            "",
            "# only comments\n",
            "up 1\nrequests_total{proxy=\"ap",
            "up 1\nrequests_total",
            "up one\n",
            "<html><body>404 Not found</body></html>",
            "{} 1",
        ] {
            assert_eq!(samples(text), None, "{text:?}");
        }
    }
}
