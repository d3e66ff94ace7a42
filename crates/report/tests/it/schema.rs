//! `docs/reference/run.schema.json`, `hit.schema.json` and `study.schema.json`. `UPDATE_GOLDEN=1 cargo test -p report schema` writes it anew.

use std::path::Path;

use report::{json, schema};
use serde_json::Value;
use testkit::recorded::Specimen;

fn assert_current(name: &str, schema: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().expect("it has one"))
            .expect("the documentation can be written");
        std::fs::write(&path, schema).expect("the documentation can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == schema, "docs/reference/{name} is old: UPDATE_GOLDEN=1 cargo test -p report schema");
}

#[test]
fn the_schemas_in_the_documentation_are_current() {
    assert_current("run.schema.json", &schema());
    assert_current("hit.schema.json", &report::hit_schema());
    assert_current("study.schema.json", &report::study::schema());
}

#[test]
fn every_kind_of_run_is_as_the_schema_says() {
    let schema: Value = serde_json::from_str(&schema()).expect("it is JSON");
    for specimen in Specimen::ALL {
        let record: Value = serde_json::from_str(&json(&specimen.open().record)).expect("it is JSON");
        assert_eq!(mismatches(&schema, &schema, &record, "$"), [""; 0], "{specimen:?}");
    }
}

#[test]
fn every_kind_of_study_is_as_the_schema_says() {
    let schema: Value = serde_json::from_str(&report::study::schema()).expect("it is JSON");
    for (name, record) in crate::studies() {
        let record: Value = serde_json::from_str(&report::study::json(&record)).expect("it is JSON");
        assert_eq!(mismatches(&schema, &schema, &record, "$"), [""; 0], "{name}");
    }
}

#[test]
fn a_record_that_is_not_as_the_schema_says_is_noticed() {
    let schema: Value = serde_json::from_str(&schema()).expect("it is JSON");
    let good: Value = serde_json::from_str(&json(&Specimen::Passed.open().record)).expect("it is JSON");
    type Spoil = fn(&mut Value);
    let spoil: [(&str, Spoil); 5] = [
        ("$.format", |record| record["format"] = "one".into()),
        ("$.verdict", |record| _ = record.as_object_mut().unwrap().remove("verdict")),
        ("$.outcome", |record| record["outcome"] = "exploded".into()),
        ("$.operations[0].response.p95_s", |record| {
            record["operations"][0]["response"]["p95_s"] = "fast".into()
        }),
        ("$.targets[0].samples", |record| record["targets"][0]["samples"] = (-1).into()),
    ];
    for (place, spoil) in spoil {
        let mut record = good.clone();
        spoil(&mut record);
        let found = mismatches(&schema, &schema, &record, "$");
        assert!(found.iter().any(|mismatch| mismatch.starts_with(place)), "{place}: {found:?}");
    }
}

/// Where `value` is not as `schema` says: the words of JSON Schema that our own schema uses.
fn mismatches(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
        let target =
            root.pointer(path.trim_start_matches('#')).unwrap_or_else(|| panic!("{path} leads nowhere"));
        return mismatches(root, target, value, at);
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(word).and_then(Value::as_array) {
            let mut all = choices.iter().map(|choice| mismatches(root, choice, value, at));
            let fits = all.any(|found| found.is_empty());
            return if fits { Vec::new() } else { vec![format!("{at}: fits none of {word}")] };
        }
    }
    let mut found = Vec::new();
    let one_of = |words: &Value| words.as_array().is_some_and(|words| words.contains(value));
    if schema.get("const").is_some_and(|only| only != value)
        || schema.get("enum").is_some_and(|words| !one_of(words))
    {
        found.push(format!("{at}: {value} is not among the words allowed"));
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|wanted| is(wanted, value)) {
        found.push(format!("{at}: {value} is not {types:?}"));
    }
    let low = schema.get("minimum").and_then(Value::as_f64);
    if low.zip(value.as_f64()).is_some_and(|(low, number)| number < low) {
        found.push(format!("{at}: {value} is below the minimum"));
    }
    for name in
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        if value.is_object() && value.get(name).is_none() {
            found.push(format!("{at}.{name}: is missing"));
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        let known = schema.pointer(&format!("/properties/{name}")).or(schema.get("additionalProperties"));
        if let Some(known) = known {
            found.extend(mismatches(root, known, inner, &format!("{at}.{name}")));
        }
    }
    for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
        let known = schema.get("prefixItems").and_then(|items| items.get(index)).or(schema.get("items"));
        if let Some(known) = known {
            found.extend(mismatches(root, known, inner, &format!("{at}[{index}]")));
        }
    }
    found
}

fn is(wanted: &str, value: &Value) -> bool {
    match wanted {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the schema has a type that this test does not know: {other}"),
    }
}
