//! The house rules on this repository. Each failure names file, line, rule and remedy.

use std::path::{Path, PathBuf};

use model::problem::Kind;
use tidy::{Exceptions, House};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace's root exists")
}

fn house() -> House {
    House::read(&root()).expect("the repository is readable")
}

#[test]
fn the_house_rules_hold_everywhere() {
    let house = house();
    let exceptions =
        Exceptions::read(house.text("tidy.toml").expect("tidy.toml exists")).expect("it is right");
    let (complaints, unneeded) = exceptions.apply(tidy::all(&house));
    let said: Vec<String> = complaints.iter().map(ToString::to_string).chain(unneeded).collect();
    assert!(said.is_empty(), "{} house rules broken:\n{}", said.len(), said.join("\n"));
}

#[test]
fn every_exit_code_is_documented() {
    let house = house();
    let page = house.text("docs/reference/exit-codes.md").expect("the page exists");
    let kinds = [Kind::Recipe, Kind::Environment, Kind::Invalid, Kind::Qos, Kind::Interrupted, Kind::Bug];
    for code in kinds.map(Kind::exit_code).into_iter().chain([0]) {
        assert!(
            page.contains(&format!("| {code} |")),
            "exit code {code} is not in docs/reference/exit-codes.md"
        );
    }
}

#[test]
fn every_room_is_on_the_map() {
    let house = house();
    let map = house.text("ARCHITECTURE.md").expect("the map exists");
    for room in house.folders("crates") {
        assert!(map.contains(&format!("`{room}`")), "room `{room}` is not in ARCHITECTURE.md");
    }
}
