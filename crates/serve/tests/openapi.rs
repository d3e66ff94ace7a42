//! `docs/reference/openapi.json`. `UPDATE_GOLDEN=1 cargo test -p serve --test openapi` writes it anew.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

#[test]
fn the_document_that_is_checked_in_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/openapi.json");
    let document = serve::openapi();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &document).expect("the documentation can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == document,
        "docs/reference/openapi.json is old: UPDATE_GOLDEN=1 cargo test -p serve --test openapi"
    );
}

/// Every place that a document refers to.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_string));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_schema_that_it_refers_to_is_in_it_and_every_request_says_what_it_answers() {
    let document: Value = serde_json::from_str(&serve::openapi()).expect("it is JSON");
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    let missing: Vec<&String> =
        found.iter().filter(|place| document.pointer(place.trim_start_matches('#')).is_none()).collect();
    assert!(found.len() > 20 && missing.is_empty(), "{missing:?}");
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            assert!(operation["responses"]["200"]["content"].is_object(), "{method} {path}");
            assert!(
                operation["summary"].as_str().is_some_and(|summary| summary.len() > 10),
                "{method} {path}"
            );
            let in_path = path.matches('{').count();
            let parameters = operation["parameters"]
                .as_array()
                .map_or(0, |all| all.iter().filter(|one| one["in"] == "path").count());
            assert_eq!(parameters, in_path, "{method} {path}");
        }
    }
}
