//! The JSON Schemas of everything that people write in TOML, for editors that complete and check, and of what a study
//! says.
//!
//! `UPDATE_SCHEMAS=1 cargo test -p model` writes them anew.

use std::path::Path;

use model::qos::QosPreset;
use model::{
    FaultFile, KitManifest, Recipe, RuleFile, ServiceManifest, StackManifest, StudyFile, StudyRecord,
};
use schemars::{JsonSchema, schema_for};

fn check<T: JsonSchema>(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/reference/{name}.schema.json"));
    let schema = serde_json::to_string_pretty(&schema_for!(T)).expect("a schema is JSON") + "\n";
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, &schema).expect("the schema can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == schema, "docs/reference/{name}.schema.json is old: UPDATE_SCHEMAS=1 cargo test -p model");
}

#[test]
fn the_schemas_of_what_people_write_are_current() {
    check::<KitManifest>("kit");
    check::<ServiceManifest>("service");
    check::<StackManifest>("stack");
    check::<Recipe>("recipe");
    check::<QosPreset>("qos");
    check::<StudyFile>("study-file");
    check::<RuleFile>("rules");
    check::<FaultFile>("fault");
}

#[test]
fn the_schema_of_what_a_study_says_is_current() {
    check::<StudyRecord>("study");
}
