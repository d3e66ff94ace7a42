//! The JSON Schemas of everything that people write in TOML, for editors that complete and check, and of what a study
//! says.
//!
//! `UPDATE_SCHEMAS=1 cargo test -p model` writes them anew, and the table of checks in `docs/method/validity.md` too.

use std::path::Path;

use model::catalogue::extension_file::ExtensionFile;
use model::catalogue::machine_knob::MachineKnobFile;
use model::catalogue::qos::QosPreset;
use model::progress::ProgressLine;
use model::{
    FaultFile, KitManifest, LinkFile, Recipe, RuleFile, ServiceManifest, StackManifest, StudyFile,
    StudyRecord, TopologyFile,
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
    check::<LinkFile>("link");
    check::<TopologyFile>("topology");
    check::<MachineKnobFile>("machine-knobs");
    check::<ExtensionFile>("extension");
}

#[test]
fn the_schema_of_a_line_of_progress_is_current() {
    check::<ProgressLine>("progress");
}

#[test]
fn the_schema_of_what_a_study_says_is_current() {
    check::<StudyRecord>("study");
}

#[test]
fn the_table_of_checks_is_current() {
    const BEGIN: &str = "<!-- checks: from crates/model/src/record/check.rs -->\n";
    const END: &str = "<!-- end of checks -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/method/validity.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("where the table begins");
    let (table, after) = rest.split_once(END).expect("where the table ends");
    let current = model::record::checks_table();
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{current}{END}{after}"))
            .expect("the page can be written");
        return;
    }
    assert!(table == current, "docs/method/validity.md is old: UPDATE_SCHEMAS=1 cargo test -p model");
}
