//! Every series of a run, point by point, for spreadsheets, data frames and programs.

use model::record::Series;
use serde_json::json;

/// The columns of the CSV.
const COLUMNS: [&str; 5] = ["series", "tier", "unit", "second", "value"];

/// A row for each point (RFC 4180), after a heading; lines end with CR LF. `tier` is empty for what is about the whole
/// machine. Numbers have all their digits and no grouping.
pub fn series_csv(series: &[Series]) -> String {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(COLUMNS).expect("a vector takes every byte");
    for one in series {
        let tier = one.tier.as_deref().unwrap_or_default();
        for (second, value) in &one.points {
            let row = [&one.name, tier, &one.unit, &second.to_string(), &value.to_string()];
            writer.write_record(row).expect("a vector takes every byte, and each row has a heading's length");
        }
    }
    let bytes = writer.into_inner().expect("a vector takes every byte");
    String::from_utf8(bytes).expect("only text was written")
}

/// The same as JSON: the run's id and its series, each with its points as pairs of second and value.
pub fn series_json(run: &str, series: &[Series]) -> String {
    let text = serde_json::to_string_pretty(&json!({ "run": run, "series": series }));
    text.expect("names and finite numbers are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_a_row_and_comes_back_with_all_its_digits() {
        let one = |name: &str, tier: Option<&str>, points: Vec<(f64, f64)>| Series {
            name: name.into(),
            tier: tier.map(str::to_string),
            unit: "a, \"b\"".into(),
            points,
        };
        let series = [
            one("cpu.cores", Some("db"), vec![(1.000_123, 0.1 + 0.2), (2.0, 1e-9)]),
            one("cpu.steal_ratio", None, vec![(1.0, 0.0)]),
            one("never.read", None, Vec::new()),
        ];
        let text = series_csv(&series);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<Vec<String>> = reader
            .records()
            .map(|row| row.expect("right CSV").iter().map(str::to_string).collect())
            .collect();
        assert_eq!(rows.len(), 3, "{text}");
        assert_eq!(rows[0], ["cpu.cores", "db", "a, \"b\"", "1.000123", "0.30000000000000004"]);
        assert_eq!(rows[2][..2], ["cpu.steal_ratio", ""]);
        let json: serde_json::Value = serde_json::from_str(&series_json("r1", &series)).expect("JSON");
        assert_eq!(json["series"][0]["points"][0][1], 0.1 + 0.2);
        assert_eq!((json["run"].as_str(), json["series"].as_array().map(Vec::len)), (Some("r1"), Some(3)));
    }
}
