//! What a run's record says, as tests ask for it.

use serde_json::Value as Json;

pub(crate) fn rows<'a>(record: &'a Json, list: &str) -> &'a [Json] {
    record[list].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[track_caller]
pub(crate) fn row<'a>(record: &'a Json, list: &str, key: &str, value: &str) -> &'a Json {
    let found = rows(record, list).iter().find(|row| row[key] == value);
    found.unwrap_or_else(|| panic!("{value} is not among the {list}: {:#}", record[list]))
}

/// The operation of that name, where there was one: a session may be called the same.
fn find<'a>(record: &'a Json, name: &str) -> Option<&'a Json> {
    let mut operations = rows(record, "operations").iter().filter(|row| row["kind"] == "operation");
    operations.find(|row| row["name"] == name)
}

#[track_caller]
pub(crate) fn operation<'a>(record: &'a Json, name: &str) -> &'a Json {
    find(record, name).unwrap_or_else(|| panic!("{name}: {:#}", record["operations"]))
}

/// How many operations of that name, if there were any, failed with that kind of error; with any other none may have.
#[track_caller]
pub(crate) fn failed(record: &Json, name: &str, kind: &str) -> u64 {
    let Some(errors) = find(record, name).and_then(|row| row["errors"].as_object()) else { return 0 };
    assert!(errors.keys().all(|known| known == kind), "{name}: {errors:?}, {:#}", record["evidence"]);
    errors.values().filter_map(Json::as_u64).sum()
}

/// How many operations failed, whatever they are called and whatever went wrong.
pub(crate) fn all_failed(record: &Json) -> u64 {
    let operations = rows(record, "operations").iter().filter(|row| row["kind"] == "operation");
    let errors = operations.filter_map(|row| row["errors"].as_object()).flat_map(|errors| errors.values());
    errors.filter_map(Json::as_u64).sum()
}

/// There are some of each of these operations, and none failed.
#[track_caller]
pub(crate) fn all_done(record: &Json, names: &[&str]) {
    for name in names {
        let row = operation(record, name);
        assert!(row["completed"].as_u64().is_some_and(|count| count > 0), "{row:#}");
        assert_eq!(failed(record, name, "none"), 0);
    }
    assert!(rows(record, "evidence").is_empty(), "{:#}", record["evidence"]);
}

/// One of the kit's own figures.
#[track_caller]
pub(crate) fn metric(record: &Json, name: &str) -> f64 {
    let row = row(record, "metrics", "name", name);
    row["value"].as_f64().unwrap_or_else(|| panic!("{name}: {row:#}"))
}

/// The run missed that target.
#[track_caller]
pub(crate) fn missed(record: &Json, target: &str) {
    let mut targets = rows(record, "targets").iter();
    let missed = targets.any(|row| row["target"] == target && row["pass"] == false);
    assert!(missed, "{:#}", record["targets"]);
}

/// The run ended when that tier was killed: it is kept, measures nothing, and says why.
#[track_caller]
pub(crate) fn ended_by_a_kill(record: &Json, tier: &str) {
    assert_eq!(record["outcome"], "aborted");
    let verdict = &record["verdict"];
    assert!(verdict["valid"] == false && verdict["pass"].is_null(), "{verdict:#}");
    let check = row(record, "validity", "check", "tiers");
    let said = check["sentence"].as_str().unwrap_or_default();
    let died = format!("tier {tier} died in second");
    assert!(check["ok"] == false && said.contains(&died) && said.contains("SIGKILL"), "{check:#}");
}

/// Every statement of the kit's check holds, and there were this number of them.
#[track_caller]
pub(crate) fn nothing_is_lost(record: &Json, at_least: usize) {
    let checked = rows(record, "consistency");
    assert!(checked.len() >= at_least, "the data was not checked: {checked:#?}");
    assert!(checked.iter().all(|row| row["ok"] == true), "{checked:#?}");
}
